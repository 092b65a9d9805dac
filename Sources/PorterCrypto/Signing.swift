import CSodium
import PorterPlatform

/// An Ed25519 public key. Any 32 bytes are accepted here; those that are not a valid point verify nothing.
package struct SigningPublicKey: Hashable, Sendable {
  package static let count = 32
  package static let signatureCount = 64
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  fileprivate init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// False for a signature of another length, by another key, over another message, or not in canonical form.
  package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
    signature.count == Self.signatureCount
      && crypto_sign_verify_detached(signature, message, UInt64(message.count), bytes) == 0
  }
}

/// An Ed25519 key pair.
package struct SigningKeyPair: Sendable, Redacted {
  package static let seedCount = 32
  /// Seed and public key: deriving the latter from the former costs 25 µs, and a push reads some thirty keys.
  package static let storedCount = 64
  package let publicKey: SigningPublicKey
  /// In the form that libsodium signs with; also the stored form.
  private let secret: SecretBytes

  private init(secret: SecretBytes) {
    self.secret = secret
    publicKey = SigningPublicKey(checked: secret.withExposedBytes { Array($0[Self.seedCount...]) })
  }

  private init?(seed: SecretBytes) {
    var publicBytes = [UInt8](repeating: 0, count: SigningPublicKey.count)
    let secret = SecretBytes.filled(count: Self.storedCount) { result in
      seed.withPointer { crypto_sign_seed_keypair(&publicBytes, result, $0) == 0 }
    }
    guard let secret else { return nil }
    self.init(secret: secret)
  }

  /// From a result of `exposeSeed`, or a peer's; nil unless it is 32 bytes.
  package init?(seed: [UInt8]) {
    guard seed.count == Self.seedCount else { return nil }
    self.init(seed: SecretBytes(seed))
  }

  /// Only from a result of `exposeForStorage`: an attacker who could choose the public half could learn the secret one
  /// from signatures. Nil unless it is 64 bytes.
  package init?(stored: [UInt8]) { self.init(stored: stored[...]) }

  package init?(stored: ArraySlice<UInt8>) {
    guard stored.count == Self.storedCount else { return nil }
    self.init(secret: SecretBytes(stored))
  }

  package static func generate(randomness: some Randomness) throws(CryptoError) -> SigningKeyPair {
    try Sodium.initialize()
    guard let pair = SigningKeyPair(seed: try SecretBytes.random(seedCount, randomness: randomness)) else {
      throw .unavailable
    }
    return pair
  }

  /// A copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] { secret.exposeForStorage() }

  /// The seed, in a copy that is not wiped: for handing the key over inside a box.
  package func exposeSeed() -> [UInt8] { secret.slice(0..<Self.seedCount).exposeForStorage() }

  /// 32 bytes derived from the key that reveal nothing about it, different for each purpose: BLAKE2b under the seed.
  package func derive(for purpose: [UInt8]) -> [UInt8] {
    var derived = [UInt8](repeating: 0, count: AuthenticationKey.tagCount)
    _ = secret.withPointer {
      crypto_generichash(&derived, derived.count, purpose, UInt64(purpose.count), $0, Self.seedCount)
    }
    return derived
  }

  /// 64 bytes; always the same for the same message (RFC 8032).
  package func sign(_ message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: SigningPublicKey.signatureCount)
    // Signing cannot fail: the types fix the lengths of key and signature.
    _ = secret.withPointer { crypto_sign_detached(&signature, nil, message, UInt64(message.count), $0) }
    return signature
  }
}
