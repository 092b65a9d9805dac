import PorterPlatform

/// The inviting side's secret until the other side joins: the secret halves of the two keys in its invitation.
package struct InvitationSecret: Sendable, Redacted {
  package static let storedCount = 2 * BoxSecretKey.count
  /// The inviter's identity; used only in the agreement.
  let identity: BoxKeyPair
  /// The inviter's first ratchet key.
  let ratchet: BoxKeyPair

  package static func create(randomness: some Randomness) throws(CryptoError) -> InvitationSecret {
    InvitationSecret(
      identity: try .generate(randomness: randomness), ratchet: try .generate(randomness: randomness))
  }

  /// The contents of the invitation link: 64 bytes.
  package var publicKeys: [UInt8] { identity.publicKey.bytes + ratchet.publicKey.bytes }

  /// 64 bytes, in a copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] {
    identity.secretKey.exposeForStorage() + ratchet.secretKey.exposeForStorage()
  }

  private init(identity: BoxKeyPair, ratchet: BoxKeyPair) {
    self.identity = identity
    self.ratchet = ratchet
  }

  /// From a result of `exposeForStorage`; nil unless it is 64 bytes.
  package init?(stored: [UInt8]) {
    guard stored.count == Self.storedCount, let identity = BoxSecretKey(stored: stored.prefix(BoxSecretKey.count)),
      let ratchet = BoxSecretKey(stored: stored.suffix(BoxSecretKey.count))
    else { return nil }
    self.init(identity: BoxKeyPair(secretKey: identity), ratchet: BoxKeyPair(secretKey: ratchet))
  }
}

/// Derives a ratchet for each of two sides from an invitation link. An observer who reads only the link, or only the
/// messages, cannot derive it.
package enum KeyAgreement {
  /// Bytes of public keys in an invitation, and in its answer.
  package static let publicKeysCount = 2 * BoxPublicKey.count
  private static let info = Array("Nightporter invitation v1".utf8)

  package struct Joined: Sendable {
    /// Can send immediately.
    package let ratchet: Ratchet
    /// Sent in the clear with the first message: 64 bytes.
    package let publicKeys: [UInt8]
    /// Authenticated with each message in both directions: 128 bytes.
    package let associatedData: [UInt8]
  }

  package struct Accepted: Sendable {
    /// Can send once it has received.
    package let ratchet: Ratchet
    package let associatedData: [UInt8]
  }

  /// The joining side, from the keys in the link.
  package static func join(
    invitationKeys: [UInt8], randomness: some Randomness
  ) throws(CryptoError) -> Joined {
    guard let (identity, ratchetKey) = split(invitationKeys) else { throw .malformed(.invitationKeys) }
    let first = try BoxKeyPair.generate(randomness: randomness)
    let second = try BoxKeyPair.generate(randomness: randomness)
    let secret = try derive(
      try second.secretKey.diffieHellman(with: identity), try first.secretKey.diffieHellman(with: ratchetKey),
      try second.secretKey.diffieHellman(with: ratchetKey))
    let publicKeys = first.publicKey.bytes + second.publicKey.bytes
    return Joined(
      ratchet: try Ratchet(opening: secret, remote: ratchetKey, randomness: randomness), publicKeys: publicKeys,
      associatedData: invitationKeys + publicKeys)
  }

  /// The inviting side, from its own secret and the keys that the joining side sent.
  package static func accept(
    _ invitation: InvitationSecret, joinerKeys: [UInt8]
  ) throws(CryptoError) -> Accepted {
    guard let (first, second) = split(joinerKeys) else { throw .malformed(.joinerKeys) }
    let secret = try derive(
      try invitation.identity.secretKey.diffieHellman(with: second),
      try invitation.ratchet.secretKey.diffieHellman(with: first),
      try invitation.ratchet.secretKey.diffieHellman(with: second))
    return Accepted(
      ratchet: Ratchet(awaiting: secret, ownKeys: invitation.ratchet),
      associatedData: invitation.publicKeys + joinerKeys)
  }

  /// False if one of them is not usable.
  package static func isUsable(_ publicKeys: [UInt8]) -> Bool {
    guard let (first, second) = split(publicKeys) else { return false }
    return first.isUsable && second.isUsable
  }

  private static func split(_ keys: [UInt8]) -> (BoxPublicKey, BoxPublicKey)? {
    guard keys.count == publicKeysCount, let first = BoxPublicKey(bytes: keys.prefix(BoxPublicKey.count)),
      let second = BoxPublicKey(bytes: keys.suffix(BoxPublicKey.count))
    else { return nil }
    return (first, second)
  }

  private static func derive(
    _ first: SecretBytes, _ second: SecretBytes, _ third: SecretBytes
  ) throws(CryptoError) -> SecretBytes {
    var material: [UInt8] = []
    material.reserveCapacity(first.count + second.count + third.count)
    defer { Sodium.wipe(&material) }
    material.append(exposing: first)
    material.append(exposing: second)
    material.append(exposing: third)
    return try KeyDerivation.hkdfSHA256(
      inputKeyMaterial: SecretBytes(material), salt: [UInt8](repeating: 0, count: 32), info: info, count: 32)
  }
}

extension BoxPublicKey {
  /// False for a key with which every agreement would be refused: it is of small order, so the secret would be known.
  package var isUsable: Bool {
    BoxSecretKey(stored: [UInt8](repeating: 8, count: BoxSecretKey.count))
      .map { (try? $0.diffieHellman(with: self)) != nil } ?? false
  }
}
