import PorterPlatform

/// One side of a conversation under the Double Ratchet (Signal's specification, revision 1), without header encryption.
///
/// A value: its owner stores it in the transaction that stores the message (INC-10), and discards it when that
/// transaction fails. A call that throws leaves it unchanged. A message may leave the process only after the state
/// behind it is stored: message keys fix their nonces, so one key must never seal two texts.
package struct Ratchet: Sendable, Redacted {
  /// The most message keys that one message may make the receiver derive and keep, in each of the (at most two) chains
  /// that it advances.
  package static let maximumSkippedPerStep: UInt32 = 1_000
  /// A message key is discarded once this many later ones have been kept, so that no more than this are kept in total.
  package static let maximumSkippedInAll = 2_000
  /// Bytes that encryption adds to a plaintext: header and tag.
  package static let overhead = RatchetHeader.count + MessageCipher.overhead

  /// A symmetric chain: the key of its next step and that step's number.
  struct Chain: Sendable, Equatable {
    var key: SecretBytes
    var next: UInt32
  }

  /// The chains that exist. The joining side begins as `opening`, the inviting side as `awaiting`.
  enum Conversation: Sendable, Equatable {
    case awaiting
    case opening(remote: BoxPublicKey, sending: Chain)
    case established(remote: BoxPublicKey, sending: Chain, receiving: Chain)
  }

  var rootKey: SecretBytes
  var ownSecret: BoxSecretKey
  var conversation: Conversation
  /// Length of the sending chain before the current one; "PN" in the specification.
  var previousCount: UInt32
  var retired: RetiredKeys
  var skipped: SkippedKeys

  /// The side that sends first and knows the other's ratchet key.
  init(opening secret: SecretBytes, remote: BoxPublicKey, randomness: some Randomness) throws(CryptoError) {
    let ownKeys = try BoxKeyPair.generate(randomness: randomness)
    let (rootKey, chainKey) = try Self.rootStep(
      rootKey: secret, agreement: try ownKeys.secretKey.diffieHellman(with: remote))
    self.init(
      rootKey: rootKey, ownSecret: ownKeys.secretKey,
      conversation: .opening(remote: remote, sending: Chain(key: chainKey, next: 0)), previousCount: 0,
      retired: RetiredKeys(), skipped: SkippedKeys())
  }

  /// The side that receives first, with the ratchet key it published.
  init(awaiting secret: SecretBytes, ownKeys: BoxKeyPair) {
    self.init(
      rootKey: secret, ownSecret: ownKeys.secretKey, conversation: .awaiting, previousCount: 0, retired: RetiredKeys(),
      skipped: SkippedKeys())
  }

  init(
    rootKey: SecretBytes, ownSecret: BoxSecretKey, conversation: Conversation, previousCount: UInt32,
    retired: RetiredKeys,
    skipped: SkippedKeys
  ) {
    self.rootKey = rootKey
    self.ownSecret = ownSecret
    self.conversation = conversation
    self.previousCount = previousCount
    self.retired = retired
    self.skipped = skipped
  }

  /// Our current ratchet key. Its public half is computed each time: a message that opens does not need it.
  var ownKeys: BoxKeyPair { BoxKeyPair(secretKey: ownSecret) }

  /// Header, ciphertext and tag. `associatedData` is authenticated with the message but not part of it.
  package mutating func encrypt(_ plaintext: [UInt8], associatedData: [UInt8]) throws(CryptoError) -> [UInt8] {
    var sending: Chain
    switch conversation {
    case .awaiting: throw .notEstablished
    case .opening(_, let chain), .established(_, let chain, _): sending = chain
    }
    let header = RatchetHeader(ratchetKey: ownSecret.publicKey, previousCount: previousCount, number: sending.next)
    let messageKey = try sending.step()
    let encoded = header.encoded
    let sealed = try MessageCipher.seal(plaintext, key: messageKey, associatedData: associatedData + encoded)
    switch conversation {
    case .awaiting: throw .notEstablished
    case .opening(let remote, _): conversation = .opening(remote: remote, sending: sending)
    case .established(let remote, _, let receiving):
      conversation = .established(remote: remote, sending: sending, receiving: receiving)
    }
    return encoded + sealed
  }

  /// Returns the plaintext. Throws `.duplicate` for a message whose key is used up, `.tooManySkipped` for a gap beyond
  /// the bounds, and `.authenticationFailed` for any change; when it throws, the state is unchanged. `randomness`
  /// provides our next ratchet key when the message brings a new one from the other side.
  package mutating func decrypt(
    _ message: ArraySlice<UInt8>, associatedData: [UInt8], randomness: some Randomness
  ) throws(CryptoError) -> [UInt8] {
    let header = try RatchetHeader(message)
    var next = self
    let messageKey = try next.messageKey(for: header, randomness: randomness)
    let plaintext = try MessageCipher.open(
      message.dropFirst(RatchetHeader.count), key: messageKey,
      associatedData: associatedData + message.prefix(RatchetHeader.count))
    self = next
    return plaintext
  }

  /// Like `decrypt` of a slice, but for a whole array.
  package mutating func decrypt(
    _ message: [UInt8], associatedData: [UInt8], randomness: some Randomness
  ) throws(CryptoError) -> [UInt8] {
    try decrypt(message[...], associatedData: associatedData, randomness: randomness)
  }

  private mutating func messageKey(
    for header: RatchetHeader, randomness: some Randomness
  ) throws(CryptoError) -> SecretBytes {
    precondition(skipped.isLookedUp, "this ratchet was loaded to send")
    if let key = skipped.take(ratchetKey: header.ratchetKey, number: header.number) { return key }
    guard !retired.contains(header.ratchetKey) else { throw .duplicate }
    try turn(to: header, randomness: randomness)
    guard case .established(let remote, let sending, var receiving) = conversation else { throw .authenticationFailed }
    guard header.number >= receiving.next else { throw .duplicate }
    guard header.number - receiving.next <= Self.maximumSkippedPerStep else { throw .tooManySkipped }
    try skipped.keep(&receiving, of: remote, upTo: header.number)
    let key = try receiving.step()
    conversation = .established(remote: remote, sending: sending, receiving: receiving)
    return key
  }

  /// The Diffie-Hellman step, if the message is the first seen under a new ratchet key from the other side.
  private mutating func turn(to header: RatchetHeader, randomness: some Randomness) throws(CryptoError) {
    var sentCount: UInt32 = 0
    switch conversation {
    case .awaiting: break
    case .opening(let remote, let sending):
      // Nothing has been received yet, so there is no chain under the published key, and an honest peer never starts
      // one.
      guard remote != header.ratchetKey else { throw .authenticationFailed }
      sentCount = sending.next
    case .established(let remote, let sending, var receiving):
      guard remote != header.ratchetKey else { return }
      sentCount = sending.next
      // A gap beyond the bound is abandoned, not refused: each later message from the other side repeats the same
      // count, so refusing it would end the conversation.
      if header.previousCount > receiving.next,
        header.previousCount - receiving.next <= Self.maximumSkippedPerStep
      {
        try skipped.keep(&receiving, of: remote, upTo: header.previousCount)
      }
      retired.append(remote)
    }
    let (receivingRoot, receivingKey) = try Self.rootStep(
      rootKey: rootKey, agreement: try ownSecret.diffieHellman(with: header.ratchetKey))
    ownSecret = try BoxSecretKey.generate(randomness: randomness)
    let (sendingRoot, sendingKey) = try Self.rootStep(
      rootKey: receivingRoot, agreement: try ownSecret.diffieHellman(with: header.ratchetKey))
    previousCount = sentCount
    rootKey = sendingRoot
    conversation = .established(
      remote: header.ratchetKey, sending: Chain(key: sendingKey, next: 0), receiving: Chain(key: receivingKey, next: 0))
  }

  /// KDF_RK in the specification.
  private static func rootStep(
    rootKey: SecretBytes, agreement: SecretBytes
  ) throws(CryptoError) -> (rootKey: SecretBytes, chainKey: SecretBytes) {
    let derived = try KeyDerivation.hkdfSHA256(
      inputKeyMaterial: agreement, salt: rootKey, info: Array("Nightporter ratchet root v1".utf8), count: 64)
    return (derived.slice(0..<32), derived.slice(32..<64))
  }
}

extension Ratchet.Chain {
  /// KDF_CK in the specification: returns this step's message key and advances to the next.
  mutating func step() throws(CryptoError) -> SecretBytes {
    let (following, overflow) = next.addingReportingOverflow(1)
    guard !overflow else { throw .chainExhausted }
    guard let messageKey = KeyDerivation.chainStep(key: key, constant: 1),
      let chainKey = KeyDerivation.chainStep(key: key, constant: 2)
    else { throw .malformed(.ratchetState) }
    key = chainKey
    next = following
    return messageKey
  }
}
