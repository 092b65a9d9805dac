import PorterCrypto
import PorterPlatform
import PorterRelay

/// Where the tokens that watch a notifier are noted. Notifiers share a fixed number of records: a node's memory and the time in which it
/// starts grow with the number of records.
struct WatcherIndex: Sendable {
  static let key = SharedKey(.settings, "watchers")
  private static let version: UInt8 = 1
  /// What the first server decides: 2^18 records, each of which names 38 of ten million subscriptions in 2 KB.
  private static let bits: UInt8 = 18
  private static let mostBits: UInt8 = 24

  private let bits: UInt8
  /// Clients give notifiers. Without the key they cannot choose those of one record.
  private let secret: AuthenticationKey

  /// With a new key; what the first server stores.
  static func new(randomness: any Randomness) -> [UInt8] {
    [version, bits] + randomness.bytes(AuthenticationKey.count)
  }

  init(decoding bytes: [UInt8]) throws(ServerError) {
    guard bytes.count > 2, bytes[0] == Self.version, bytes[1] <= Self.mostBits,
      let secret = AuthenticationKey(stored: Array(bytes.dropFirst(2)))
    else { throw .otherLayout }
    (bits, self.secret) = (bytes[1], secret)
  }

  /// The record of this notifier and of others.
  func key(of notifier: [UInt8]) -> SharedKey {
    let number = secret.tag(notifier).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> (32 - UInt32(bits))
    return SharedKey(.subscriptions, String(number))
  }

  func grouped(_ notifiers: some Collection<[UInt8]>) -> [(key: SharedKey, notifiers: [[UInt8]])] {
    Dictionary(grouping: Set(notifiers), by: key).map { ($0, $1) }
  }

  /// What is stored of these notifiers. Nothing that was stored before the call is missing.
  func records(
    of notifiers: some Collection<[UInt8]>, in store: any SharedStore
  ) throws(SharedStoreFailure) -> [WatcherRecord] {
    let groups = grouped(notifiers)
    guard !groups.isEmpty else { return [] }
    let records = try store.records(groups.map(\.key))
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
  /// Nil if it does not read.
  let watchers: Watchers?

  /// The tokens that watch one of the notifiers.
  var ids: [[UInt8]] { notifiers.flatMap { watchers?.of($0).map(\.id) ?? [] } }

  /// The notifiers that do not lead to this token.
  func missing(_ id: [UInt8]) -> [[UInt8]] {
    notifiers.filter { notifier in watchers?.of(notifier).contains { $0.id == id } != true }
  }

  /// What removes these tokens; nil if nothing has to be removed, or nothing can be read. Nothing is removed if the record has
  /// changed since it was read.
  func removal(_ outdated: (_ notifier: [UInt8]) -> Set<[UInt8]>) -> SharedChange? {
    guard let watchers else { return nil }
    var left = watchers
    for notifier in notifiers { left.remove(outdated(notifier), of: notifier) }
    return left == watchers ? nil : SharedChange(key, left.encoded(), revision: revision)
  }
}

/// What one record says: which tokens watch which notifiers. It may name too many, which their documents show; never too few.
struct Watchers: Equatable, Sendable {
  struct Watcher: Equatable {
    let id: [UInt8]
    /// When that was noted.
    let time: Int64
  }

  /// Of one notifier.
  static let mostTokens = 256
  /// A message of the cluster has 1 MB at most.
  static let most = 16_384
  private static let version: UInt8 = 1
  private static let count = RelayIdentifier.count
  /// Notifier, token and time.
  private static let size = 2 * count + 8

  /// Each as it is stored, in the order of their times.
  private var entries: ArraySlice<UInt8> = []

  init() {}

  init(decoding bytes: [UInt8]) throws(ServerError) {
    guard let version = bytes.first else { return }
    guard version == Self.version, bytes.count > 1, (bytes.count - 1).isMultiple(of: Self.size) else {
      throw .damaged(.subscription)
    }
    entries = bytes.dropFirst()
  }

  /// Without any the record is removed.
  func encoded() -> [UInt8] { entries.isEmpty ? [] : [Self.version] + entries }

  /// The tokens that watch a notifier.
  func of(_ notifier: [UInt8]) -> [Watcher] {
    starts.filter { entries[$0..<$0 + Self.count].elementsEqual(notifier) }.map { start in
      let time = entries[start + 2 * Self.count..<start + Self.size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Watcher(id: Array(id(start)), time: Int64(bitPattern: time))
    }
  }

  /// Where there is no room, those make it that were noted first.
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
