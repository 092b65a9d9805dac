/// The key of a message that was skipped and may still arrive. Stored separately from the ratchet, one row each.
package struct SkippedKey: Sendable, Equatable, Redacted {
  package static let storedCount = BoxPublicKey.count + 4 + 32
  /// Grows with each key that a ratchet keeps, so it identifies the oldest; names the key within its ratchet.
  package let sequence: Int64
  let ratchetKey: BoxPublicKey
  let number: UInt32
  let messageKey: SecretBytes

  init(sequence: Int64, ratchetKey: BoxPublicKey, number: UInt32, messageKey: SecretBytes) {
    self.sequence = sequence
    self.ratchetKey = ratchetKey
    self.number = number
    self.messageKey = messageKey
  }

  /// From its stored form; nil unless `sequence` is one that a ratchet assigns and `stored` is 68 bytes.
  package init?(sequence: Int64, stored: [UInt8]) {
    guard stored.count == Self.storedCount, (0..<Int64.max).contains(sequence) else { return nil }
    var reader = ByteReader(stored[...])
    guard let ratchetKey = reader.take(BoxPublicKey.count).flatMap({ BoxPublicKey(bytes: $0) }),
      let number = reader.takeUInt32(), let messageKey = reader.takeSecret(32)
    else { return nil }
    self.init(sequence: sequence, ratchetKey: ratchetKey, number: number, messageKey: messageKey)
  }

  /// The size of the name by which a store finds the key: the first 36 of its stored bytes.
  package static let nameCount = BoxPublicKey.count + 4

  /// The name of the key that would open `message`, if the message was skipped; nil if it is not a message.
  package static func name(opening message: ArraySlice<UInt8>) -> [UInt8]? {
    guard let header = try? RatchetHeader(message) else { return nil }
    var name = header.ratchetKey.bytes
    name.append(bigEndian: header.number)
    return name
  }

  /// 68 bytes, in a copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] {
    var bytes = ratchetKey.bytes
    bytes.reserveCapacity(Self.storedCount)
    bytes.append(bigEndian: number)
    bytes.append(exposing: messageKey)
    return bytes
  }
}

/// The kept keys, oldest first, and their changes since they were last stored.
struct SkippedKeys: Sendable, Equatable {
  private(set) var keys: [SkippedKey] = []
  /// Sequences of keys that are stored but no longer kept.
  private(set) var removed: [Int64] = []
  private var nextSequence: Int64 = 0
  /// Keys from this one on are not stored yet.
  private var firstUnstored: Int64 = 0
  /// False for a ratchet that only sends, for which nothing was looked up.
  private(set) var isLookedUp = true

  init() {}

  /// The input for one message: its own key, if it was skipped, and the newest stored sequence.
  init(found: SkippedKey?, newest: Int64?) throws(CryptoError) {
    let newest = newest ?? -1
    guard (-1..<Int64.max).contains(newest), found?.sequence ?? -1 <= newest else { throw .malformed(.skippedKeys) }
    keys = found.map { [$0] } ?? []
    nextSequence = newest + 1
    firstUnstored = nextSequence
  }

  static var notLookedUp: SkippedKeys {
    var keys = SkippedKeys()
    keys.isLookedUp = false
    return keys
  }

  /// The keys as a store returns them, in any order. Throws if one occurs twice.
  init(stored: [SkippedKey]) throws(CryptoError) {
    keys = stored.sorted { $0.sequence < $1.sequence }
    guard zip(keys, keys.dropFirst()).allSatisfy({ $0.sequence < $1.sequence }) else { throw .malformed(.skippedKeys) }
    nextSequence = (keys.last?.sequence ?? -1) + 1
    firstUnstored = nextSequence
    evict()
  }

  /// Keys before this one are not kept.
  var firstKept: Int64 { max(0, nextSequence - Int64(Ratchet.maximumSkippedInAll)) }

  var added: [SkippedKey] { Array(keys[(keys.firstIndex { $0.sequence >= firstUnstored } ?? keys.endIndex)...]) }

  mutating func markStored() {
    removed = []
    firstUnstored = nextSequence
  }

  /// Returns a key, only once.
  mutating func take(ratchetKey: BoxPublicKey, number: UInt32) -> SecretBytes? {
    guard let index = keys.firstIndex(where: { $0.number == number && $0.ratchetKey == ratchetKey }) else { return nil }
    let key = keys.remove(at: index)
    forget(key)
    return key.messageKey
  }

  /// Advances `chain` to `number` and keeps the message keys on the way.
  mutating func keep(_ chain: inout Ratchet.Chain, of ratchetKey: BoxPublicKey, upTo number: UInt32) throws(CryptoError)
  {
    while chain.next < number {
      let (following, overflow) = nextSequence.addingReportingOverflow(1)
      guard !overflow else { throw .tooManySkipped }
      let skippedNumber = chain.next
      keys.append(
        SkippedKey(
          sequence: nextSequence, ratchetKey: ratchetKey, number: skippedNumber, messageKey: try chain.step()))
      nextSequence = following
    }
    evict()
  }

  private mutating func evict() {
    let oldest = firstKept
    let surplus = keys.prefix { $0.sequence < oldest }
    for key in surplus { forget(key) }
    keys.removeFirst(surplus.count)
  }

  private mutating func forget(_ key: SkippedKey) {
    if key.sequence < firstUnstored { removed.append(key.sequence) }
  }
}

/// Fingerprints of the ratchet keys that the other side used most recently before the current one, which distinguish a
/// late repeat of a message from one of those chains from a forgery. The keys themselves would take four times the
/// space in each stored state.
struct RetiredKeys: Sendable, Equatable {
  static let maximum = 8
  static let fingerprintCount = 8
  private(set) var fingerprints: [[UInt8]] = []

  init() {}

  init(fingerprints: [[UInt8]]) { self.fingerprints = fingerprints }

  func contains(_ key: BoxPublicKey) -> Bool { !fingerprints.isEmpty && fingerprints.contains(Self.fingerprint(key)) }

  mutating func append(_ key: BoxPublicKey) {
    fingerprints.append(Self.fingerprint(key))
    if fingerprints.count > Self.maximum { fingerprints.removeFirst() }
  }

  private static func fingerprint(_ key: BoxPublicKey) -> [UInt8] {
    Array(Digest.sha256(key.bytes).prefix(fingerprintCount))
  }
}
