/// The stored form of a ratchet: its core state as one value of at most 239 bytes, each skipped key as its own row, so
/// that a commit writes only what changed.
extension Ratchet {
  /// The changes that a transaction must write. After it has committed, call `markStored`; if it fails, discard the
  /// ratchet and load it again.
  package struct Changes: Sendable, Redacted {
    /// Replaces the stored core state.
    package let core: SecretBytes
    package let added: [SkippedKey]
    /// Sequences of stored keys to delete.
    package let removed: [Int64]
    /// With `added`: delete stored keys of lower sequences.
    package let firstKept: Int64
  }

  package var changes: Changes {
    Changes(
      core: serialized(), added: skipped.added, removed: skipped.removed, firstKept: skipped.firstKept)
  }

  package mutating func markStored() { skipped.markStored() }

  /// All keys kept for skipped messages, oldest first.
  package var skippedKeys: [SkippedKey] { skipped.keys }

  private static let storedVersion: UInt8 = 1
  private enum Stage: UInt8 {
    case awaiting = 0
    case opening = 1
    case established = 2
  }

  /// The core state, without the skipped keys.
  package func serialized() -> SecretBytes {
    var bytes: [UInt8] = []
    // One allocation, so that growing the buffer leaves no copy behind.
    bytes.reserveCapacity(256)
    defer { Sodium.wipe(&bytes) }
    bytes.append(Self.storedVersion)
    let stage: Stage
    switch conversation {
    case .awaiting: stage = .awaiting
    case .opening: stage = .opening
    case .established: stage = .established
    }
    bytes.append(stage.rawValue)
    bytes.append(exposing: rootKey)
    bytes.append(exposing: ownSecret.scalar)
    bytes.append(bigEndian: previousCount)
    switch conversation {
    case .awaiting: break
    case .opening(let remote, let sending):
      bytes += remote.bytes
      sending.append(to: &bytes)
    case .established(let remote, let sending, let receiving):
      bytes += remote.bytes
      sending.append(to: &bytes)
      receiving.append(to: &bytes)
    }
    bytes.append(UInt8(truncatingIfNeeded: retired.fingerprints.count))
    for fingerprint in retired.fingerprints { bytes += fingerprint }
    return SecretBytes(bytes)
  }

  /// From `serialized()` and the stored skipped keys, in any order. Throws for data that is truncated, too long, or of
  /// another version.
  package init(serialized: [UInt8], skippedKeys: [SkippedKey]) throws(CryptoError) {
    try self.init(serialized: serialized, skipped: try SkippedKeys(stored: skippedKeys))
  }

  /// For opening one message: from `serialized()`, the message's own skipped key if one is stored (`SkippedKey.name`),
  /// and the newest stored sequence. `changes` then also names keys to delete by `firstKept`.
  package init(serialized: [UInt8], found: SkippedKey?, newest: Int64?) throws(CryptoError) {
    try self.init(serialized: serialized, skipped: try SkippedKeys(found: found, newest: newest))
  }

  /// For sending only: opening a message with it is a programming error.
  package init(toSend serialized: [UInt8]) throws(CryptoError) {
    try self.init(serialized: serialized, skipped: .notLookedUp)
  }

  private init(serialized: [UInt8], skipped: SkippedKeys) throws(CryptoError) {
    var reader = ByteReader(serialized[...])
    guard let version = reader.takeByte() else { throw .malformed(.ratchetState) }
    guard version == Self.storedVersion else { throw .unsupportedVersion(version) }
    guard let stage = reader.takeByte().flatMap({ Stage(rawValue: $0) }), let rootKey = reader.takeSecret(32),
      let ownSecret = reader.take(BoxSecretKey.count).flatMap({ BoxSecretKey(stored: $0) }),
      let previousCount = reader.takeUInt32(), let conversation = Self.conversation(stage, from: &reader),
      let retired = RetiredKeys(from: &reader), reader.remaining.isEmpty
    else { throw .malformed(.ratchetState) }
    try Sodium.initialize()
    self.init(
      rootKey: rootKey, ownSecret: ownSecret, conversation: conversation,
      previousCount: previousCount, retired: retired, skipped: skipped)
  }

  private static func conversation(_ stage: Stage, from reader: inout ByteReader) -> Conversation? {
    switch stage {
    case .awaiting: return .awaiting
    case .opening:
      guard let remote = reader.take(BoxPublicKey.count).flatMap({ BoxPublicKey(bytes: $0) }),
        let sending = Chain(from: &reader)
      else { return nil }
      return .opening(remote: remote, sending: sending)
    case .established:
      guard let remote = reader.take(BoxPublicKey.count).flatMap({ BoxPublicKey(bytes: $0) }),
        let sending = Chain(from: &reader), let receiving = Chain(from: &reader)
      else { return nil }
      return .established(remote: remote, sending: sending, receiving: receiving)
    }
  }
}

extension Ratchet.Chain {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(exposing: key)
    bytes.append(bigEndian: next)
  }

  fileprivate init?(from reader: inout ByteReader) {
    guard let key = reader.takeSecret(32), let next = reader.takeUInt32() else { return nil }
    self.init(key: key, next: next)
  }
}

extension RetiredKeys {
  fileprivate init?(from reader: inout ByteReader) {
    guard let count = reader.takeByte(), count <= Self.maximum else { return nil }
    var fingerprints: [[UInt8]] = []
    for _ in 0..<count {
      guard let fingerprint = reader.take(Self.fingerprintCount) else { return nil }
      fingerprints.append(Array(fingerprint))
    }
    self.init(fingerprints: fingerprints)
  }
}
