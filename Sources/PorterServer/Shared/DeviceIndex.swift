import PorterCrypto
import PorterPlatform
import PorterRelay

/// A device: a provider, and its name for the device.
struct DeviceName: Hashable, Sendable {
  /// So that reading the records does not suffice to send pushes.
  let digest: [UInt8]

  init(provider: String, pushToken: [UInt8]) {
    digest = Digest.sha256(Array(provider.utf8) + [0] + pushToken)
  }

  /// The record that earlier versions had for each device.
  var earlierKey: SharedKey { SharedKey(.devices, TextEncoding.base64URL(digest)) }
}

extension TokenDocument {
  var device: DeviceName { DeviceName(provider: provider, pushToken: pushToken) }
}

/// The content of one record: the tokens of the devices that share it. It may name too many, which their documents
/// reveal, but never too few.
struct DeviceTokens: Equatable, Sendable {
  struct Entry: Equatable {
    let id: [UInt8]
    /// The search key of the token: a digest of its signing key.
    let detail: [UInt8]
  }

  /// Per device.
  static let mostTokens = 256
  /// A message of the cluster is limited to 1 MB.
  static let most = 16_384
  private static let version: UInt8 = 1
  private static let nameCount = 16
  private static let detailCount = 8
  /// Token and digest of its key.
  private static let entryCount = RelayIdentifier.count + detailCount
  private static let size = nameCount + entryCount

  /// Entries as stored, each after the first bytes of its device's digest; in order of time.
  private var entries: ArraySlice<UInt8> = []

  init() {}

  init(decoding bytes: [UInt8]) throws(ServerError) {
    guard let version = bytes.first else { return }
    guard version == Self.version, bytes.count > 1, (bytes.count - 1).isMultiple(of: Self.size) else {
      throw .damaged(.device)
    }
    entries = bytes.dropFirst()
  }

  func encoded() -> [UInt8] { entries.isEmpty ? [] : [Self.version] + entries }

  static func detail(ofKey key: [UInt8]) -> [UInt8] { Array(Digest.sha256(key).prefix(detailCount)) }

  /// The tokens of a device, the newest last.
  func of(_ device: DeviceName) -> [Entry] { starts(of: device).map { entry($0 + Self.nameCount, entries) } }

  /// The tokens in a record of an earlier version, which is that of one device.
  static func earlier(_ bytes: [UInt8]) -> [Entry] {
    stride(from: 0, to: bytes.count - entryCount + 1, by: entryCount).map { DeviceTokens().entry($0, bytes[...]) }
  }

  private func entry(_ start: Int, _ bytes: ArraySlice<UInt8>) -> Entry {
    let detail = start + RelayIdentifier.count
    return Entry(id: Array(bytes[start..<detail]), detail: Array(bytes[detail..<detail + Self.detailCount]))
  }

  /// When room is short, the tokens noted first make way.
  mutating func note(_ tokens: [Entry], of device: DeviceName) {
    let ids = Set(tokens.map(\.id))
    let known = (of(device).filter { !ids.contains($0.id) } + tokens).suffix(Self.mostTokens)
    for start in starts(of: device).reversed() { entries.removeSubrange(start..<start + Self.size) }
    for each in known { entries += device.digest.prefix(Self.nameCount) + each.id + each.detail }
    entries = entries.suffix(Self.most * Self.size)
  }

  private func starts(of device: DeviceName) -> [Int] {
    stride(from: entries.startIndex, to: entries.endIndex, by: Self.size).filter {
      entries[$0..<$0 + Self.nameCount].elementsEqual(device.digest.prefix(Self.nameCount))
    }
  }
}

extension DeviceTokens.Entry {
  init(_ document: TokenDocument) {
    self.init(id: document.id, detail: DeviceTokens.detail(ofKey: document.signingKey))
  }
}

/// A device's tokens as they were read.
struct DeviceRecord {
  let device: DeviceName
  let key: SharedKey
  let revision: UInt64
  /// Those of all devices that share the record. Nil if it is unreadable.
  let tokens: DeviceTokens?
  /// The record of an earlier version, and what it says.
  let earlier: SharedRecord?

  /// The newest last.
  var entries: [DeviceTokens.Entry] {
    let own = tokens?.of(device) ?? []
    let ids = Set(own.map(\.id))
    return (earlier.map { DeviceTokens.earlier($0.bytes) } ?? []).filter { !ids.contains($0.id) } + own
  }

  /// Whether it leads to this token.
  func has(_ document: TokenDocument) -> Bool { entries.contains(DeviceTokens.Entry(document)) }

  /// Whether it lacks something that can be noted. A device with too many tokens keeps those it has.
  func lacks(_ document: TokenDocument) -> Bool {
    let (own, entry) = (tokens?.of(device) ?? [], DeviceTokens.Entry(document))
    if earlier != nil { return true }
    if let known = own.first(where: { $0.id == entry.id }) { return known != entry }
    return own.count < DeviceTokens.mostTokens
  }

  /// The change that notes this token, and what the record of an earlier version says. It has no effect if the record
  /// has changed since it was read.
  func noting(_ document: TokenDocument) -> SharedChange {
    var tokens = tokens ?? DeviceTokens()
    tokens.note(entries.filter { $0.id != document.id } + [.init(document)], of: device)
    return SharedChange(key, tokens.encoded(), revision: revision)
  }
}

extension WatcherIndex {
  /// The stored record of this device. Includes everything stored before the call.
  func device(_ device: DeviceName, in store: any SharedStore) throws(SharedStoreFailure) -> DeviceRecord {
    let key = key(of: device)
    var records = try store.records([key, device.earlierKey])
    // Between the two reads a server may have moved what an earlier version noted: from the second to the first.
    var tokens = try? DeviceTokens(decoding: records[0]?.bytes ?? [])
    if records[1] == nil, tokens?.of(device).isEmpty ?? false {
      records[0] = try store.records([key])[0]
      tokens = try? DeviceTokens(decoding: records[0]?.bytes ?? [])
    }
    return DeviceRecord(
      device: device, key: key, revision: records[0]?.revision ?? 0, tokens: tokens, earlier: records[1])
  }
}
