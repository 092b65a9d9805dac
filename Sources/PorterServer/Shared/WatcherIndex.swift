import PorterCrypto
import PorterPlatform
import PorterRelay

/// Locates the records of the tokens that watch a notifier, and of the tokens of a device. Notifiers share a fixed
/// number of records, and so do devices: a node's memory and startup time grow with the number of records.
struct WatcherIndex: Sendable {
  static let key = SharedKey(.settings, "watchers")
  /// In version 1 each device had a record of its own. A server that only knows that must not start: it would not find
  /// them.
  private static let version: UInt8 = 2
  /// Chosen by the first server: 2^18 records, each of which names 38 of ten million subscriptions in 2 KB.
  private static let bits: UInt8 = 18
  private static let mostBits: UInt8 = 24

  private let bits: UInt8
  /// Clients supply notifiers and device tokens. Without the key they cannot pick ones that share a record.
  private let secret: AuthenticationKey

  /// An index with a new key, for the first server to store.
  static func new(randomness: any Randomness) -> [UInt8] {
    [version, bits] + randomness.bytes(AuthenticationKey.count)
  }

  /// The same index in the current version; nil if it is.
  static func upgraded(_ bytes: [UInt8]) -> [UInt8]? {
    bytes.first == 1 ? [version] + bytes.dropFirst() : nil
  }

  init(decoding bytes: [UInt8]) throws(ServerError) {
    guard bytes.count > 2, 1...Self.version ~= bytes[0], bytes[1] <= Self.mostBits,
      let secret = AuthenticationKey(stored: Array(bytes.dropFirst(2)))
    else { throw .otherLayout }
    (bits, self.secret) = (bytes[1], secret)
  }

  /// The record that this notifier shares with others.
  func key(of notifier: [UInt8]) -> SharedKey { SharedKey(.subscriptions, String(number(of: notifier))) }

  /// The record that this device shares with others.
  func key(of device: DeviceName) -> SharedKey {
    SharedKey(.devices, String(number(of: Array("device".utf8) + device.digest)))
  }

  private func number(of name: [UInt8]) -> UInt32 {
    secret.tag(name).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> (32 - UInt32(bits))
  }

  func grouped(_ notifiers: some Collection<[UInt8]>) -> [(key: SharedKey, notifiers: [[UInt8]])] {
    Dictionary(grouping: Set(notifiers), by: key).map { ($0, $1) }
  }

  /// The stored records of these notifiers. Includes everything stored before the probe, or else before the call.
  func records(
    of notifiers: some Collection<[UInt8]>, in store: any SharedStore, asOf probe: SharedProbe? = nil
  ) throws(SharedStoreFailure) -> [WatcherRecord] {
    let groups = grouped(notifiers)
    guard !groups.isEmpty else { return [] }
    let keys = groups.map(\.key)
    let records = if let probe { try store.records(keys, asOf: probe) } else { try store.records(keys) }
    return zip(groups, records).map { group, record in
      WatcherRecord(
        key: group.key, notifiers: group.notifiers, revision: record?.revision ?? 0,
        watchers: try? Watchers(decoding: record?.bytes ?? []))
    }
  }
}

/// A record as it was read, with those of its notifiers that were asked for.
struct WatcherRecord {
  let key: SharedKey
  let notifiers: [[UInt8]]
  let revision: UInt64
  /// Nil if it is unreadable.
  let watchers: Watchers?

  /// The tokens that watch one of the notifiers.
  var ids: [[UInt8]] { notifiers.flatMap { watchers?.of($0).map(\.id) ?? [] } }

  /// The notifiers that do not lead to this token.
  func missing(_ id: [UInt8]) -> [[UInt8]] {
    notifiers.filter { notifier in watchers?.of(notifier).contains { $0.id == id } != true }
  }

  /// The change that removes these tokens; nil if there is nothing to remove, or the record is unreadable. It has no
  /// effect if the record has changed since it was read.
  func removal(_ outdated: (_ notifier: [UInt8]) -> Set<[UInt8]>) -> SharedChange? {
    guard let watchers else { return nil }
    var left = watchers
    for notifier in notifiers { left.remove(outdated(notifier), of: notifier) }
    return left == watchers ? nil : SharedChange(key, left.encoded(), revision: revision)
  }
}

/// The content of one record: which tokens watch which notifiers. It may name too many, which their documents reveal,
/// but never too few.
struct Watchers: Equatable, Sendable {
  struct Watcher: Equatable {
    let id: [UInt8]
    /// When it was noted.
    let time: Int64
  }

  /// Per notifier.
  static let mostTokens = 256
  /// A message of the cluster is limited to 1 MB.
  static let most = 16_384
  private static let version: UInt8 = 1
  private static let count = RelayIdentifier.count
  /// Notifier, token and time.
  private static let size = 2 * count + 8

  /// Entries as stored, in order of time.
  private var entries: ArraySlice<UInt8> = []

  init() {}

  init(decoding bytes: [UInt8]) throws(ServerError) {
    guard let version = bytes.first else { return }
    guard version == Self.version, bytes.count > 1, (bytes.count - 1).isMultiple(of: Self.size) else {
      throw .damaged(.subscription)
    }
    entries = bytes.dropFirst()
  }

  /// Empty if there are no entries, which removes the record.
  func encoded() -> [UInt8] { entries.isEmpty ? [] : [Self.version] + entries }

  /// The tokens that watch a notifier.
  func of(_ notifier: [UInt8]) -> [Watcher] {
    starts.filter { entries[$0..<$0 + Self.count].elementsEqual(notifier) }.map { start in
      let time = entries[start + 2 * Self.count..<start + Self.size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Watcher(id: Array(id(start)), time: Int64(bitPattern: time))
    }
  }

  /// When room is short, the entries noted first make way.
  mutating func note(_ id: [UInt8], _ notifiers: [[UInt8]], at time: WallTime) {
    for notifier in notifiers where notifier.count == Self.count && id.count == Self.count {
      let others = of(notifier).map(\.id).filter { $0 != id }
      remove(Set(others.dropLast(Self.mostTokens - 1) + [id]), of: notifier)
      var entry = notifier + id
      entry.append(signed64: time.milliseconds)
      entries += entry
    }
    entries = entries.suffix(Self.most * Self.size)
  }

  mutating func remove(_ ids: Set<[UInt8]>, of notifier: [UInt8]) {
    guard !ids.isEmpty else { return }
    let removed = starts.filter { start in
      entries[start..<start + Self.count].elementsEqual(notifier) && ids.contains(Array(id(start)))
    }
    for start in removed.reversed() { entries.removeSubrange(start..<start + Self.size) }
  }

  private var starts: StrideTo<Int> { stride(from: entries.startIndex, to: entries.endIndex, by: Self.size) }

  private func id(_ start: Int) -> ArraySlice<UInt8> { entries[start + Self.count..<start + 2 * Self.count] }
}
