import CSodium
import PorterPlatform

/// X25519 and XSalsa20-Poly1305, combined as in NaCl's `crypto_box`.
package enum Box {
  /// Bytes that sealing adds to a plaintext.
  package static let overhead = 16
}

/// 24 bytes, never used twice with one shared key; random ones do not collide in practice.
package struct BoxNonce: Hashable, Sendable {
  package static let count = 24
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  private init(checked bytes: [UInt8]) { self.bytes = bytes }

  package static func generate(randomness: some Randomness) throws(CryptoError) -> BoxNonce {
    let bytes = randomness.bytes(count)
    guard bytes.count == count else { throw .randomnessFailed }
    return BoxNonce(checked: bytes)
  }
}

/// An X25519 public key. Any 32 bytes are accepted; keys of low order are refused when a secret is agreed on.
package struct BoxPublicKey: Hashable, Sendable {
  package static let count = 32
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  fileprivate init(of secret: SecretBytes) {
    var bytes = [UInt8](repeating: 0, count: Self.count)
    // Multiplication of the base point cannot fail.
    _ = secret.withPointer { crypto_scalarmult_base(&bytes, $0) }
    self.bytes = bytes
  }
}

package struct BoxSecretKey: Sendable, Equatable, Redacted {
  package static let count = 32
  let scalar: SecretBytes

  /// From a result of `exposeForStorage`; nil unless it is 32 bytes.
  package init?(stored: [UInt8]) { self.init(stored: stored[...]) }

  package init?(stored: ArraySlice<UInt8>) {
    guard stored.count == Self.count else { return nil }
    scalar = SecretBytes(stored)
  }

  private init(scalar: SecretBytes) { self.scalar = scalar }

  static func generate(randomness: some Randomness) throws(CryptoError) -> BoxSecretKey {
    BoxSecretKey(scalar: try SecretBytes.random(count, randomness: randomness))
  }

  /// A copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] { scalar.exposeForStorage() }

  /// Computed on each call; keep a `BoxKeyPair` where it is needed often.
  package var publicKey: BoxPublicKey { BoxPublicKey(of: scalar) }

  /// The key that both sides derive, each from its own secret and the other's public key.
  package func agree(with remote: BoxPublicKey) throws(CryptoError) -> BoxSharedKey {
    try Sodium.initialize()
    let shared = SecretBytes.filled(count: BoxSharedKey.count) { result in
      scalar.withPointer { crypto_box_beforenm(result, remote.bytes, $0) == 0 }
    }
    guard let shared else { throw .publicKeyRefused }
    return BoxSharedKey(key: shared)
  }

  /// The plain X25519 result, which must go through a key derivation before it is used as a key.
  func diffieHellman(with remote: BoxPublicKey) throws(CryptoError) -> SecretBytes {
    try Sodium.initialize()
    let shared = SecretBytes.filled(count: 32) { result in
      scalar.withPointer { crypto_scalarmult(result, $0, remote.bytes) == 0 }
    }
    guard let shared else { throw .publicKeyRefused }
    return shared
  }
}

package struct BoxKeyPair: Sendable, Redacted {
  package let publicKey: BoxPublicKey
  package let secretKey: BoxSecretKey

  package init(secretKey: BoxSecretKey) {
    self.secretKey = secretKey
    publicKey = secretKey.publicKey
  }

  package static func generate(randomness: some Randomness) throws(CryptoError) -> BoxKeyPair {
    try Sodium.initialize()
    return BoxKeyPair(secretKey: try .generate(randomness: randomness))
  }
}

/// The result of an agreement (NaCl's `beforenm`): seals and opens without repeating the curve multiplication.
package struct BoxSharedKey: Sendable, Equatable, Redacted {
  package static let count = 32
  let key: SecretBytes

  fileprivate init(key: SecretBytes) { self.key = key }

  /// From a result of `exposeForStorage`; nil unless it is 32 bytes.
  package init?(stored: [UInt8]) {
    guard stored.count == Self.count else { return nil }
    key = SecretBytes(stored)
  }

  /// A copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] { key.exposeForStorage() }

  /// The tag's 16 bytes come first, as in `crypto_box_easy`.
  package func seal(_ plaintext: [UInt8], nonce: BoxNonce) throws(CryptoError) -> [UInt8] {
    try Sodium.initialize()
    var sealed = [UInt8](repeating: 0, count: plaintext.count + Box.overhead)
    let status = key.withPointer {
      crypto_box_easy_afternm(&sealed, plaintext, UInt64(plaintext.count), nonce.bytes, $0)
    }
    guard status == 0 else { throw .malformed(.plaintext) }
    return sealed
  }

  package func open(_ sealed: [UInt8], nonce: BoxNonce) throws(CryptoError) -> [UInt8] {
    try Sodium.initialize()
    guard sealed.count >= Box.overhead else { throw .malformed(.message) }
    var status: Int32 = -1
    let plaintext = [UInt8](unsafeUninitializedCapacity: sealed.count - Box.overhead) { plaintext, count in
      status = key.withPointer {
        crypto_box_open_easy_afternm(plaintext.baseAddress, sealed, UInt64(sealed.count), nonce.bytes, $0)
      }
      if status == 0 { count = sealed.count - Box.overhead }
    }
    guard status == 0 else { throw .authenticationFailed }
    return plaintext
  }

  /// `seal` of the plaintext padded to `count` bytes; the result is always `count + Box.overhead` bytes long.
  package func sealPadded(_ plaintext: [UInt8], to count: Int, nonce: BoxNonce) throws(CryptoError) -> [UInt8] {
    try seal(try Padding.pad(plaintext, to: count), nonce: nonce)
  }

  package func openPadded(_ sealed: [UInt8], nonce: BoxNonce) throws(CryptoError) -> [UInt8] {
    try Padding.unpad(try open(sealed, nonce: nonce))
  }
}
