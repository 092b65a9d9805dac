import CSodium

/// The cleartext part of a message: version, the sender's ratchet key, the length of its previous chain, and the number
/// in this one.
struct RatchetHeader: Equatable {
  static let version: UInt8 = 1
  static let count = 1 + BoxPublicKey.count + 4 + 4

  let ratchetKey: BoxPublicKey
  let previousCount: UInt32
  let number: UInt32

  init(ratchetKey: BoxPublicKey, previousCount: UInt32, number: UInt32) {
    self.ratchetKey = ratchetKey
    self.previousCount = previousCount
    self.number = number
  }

  init(_ message: ArraySlice<UInt8>) throws(CryptoError) {
    guard let version = message.first else { throw .malformed(.message) }
    guard version == Self.version else { throw .unsupportedVersion(version) }
    guard message.count >= Ratchet.overhead else { throw .malformed(.message) }
    var reader = ByteReader(message.dropFirst())
    guard let ratchetKey = reader.take(BoxPublicKey.count).flatMap({ BoxPublicKey(bytes: $0) }),
      let previousCount = reader.takeUInt32(), let number = reader.takeUInt32()
    else { throw .malformed(.message) }
    self.init(ratchetKey: ratchetKey, previousCount: previousCount, number: number)
  }

  var encoded: [UInt8] {
    var bytes = [Self.version]
    bytes.reserveCapacity(Self.count)
    bytes += ratchetKey.bytes
    bytes.append(bigEndian: previousCount)
    bytes.append(bigEndian: number)
    return bytes
  }
}

/// XChaCha20-Poly1305 with key and nonce both derived from a message key, which therefore may seal only once.
enum MessageCipher {
  static let overhead = 16
  private static let keyCount = 32
  private static let nonceCount = 24

  static func seal(
    _ plaintext: [UInt8], key: SecretBytes, associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try Sodium.initialize()
    let derived = try keyAndNonce(from: key)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + overhead)
    let status = derived.withPointer {
      crypto_aead_xchacha20poly1305_ietf_encrypt(
        &sealed, nil, plaintext, UInt64(plaintext.count), associatedData, UInt64(associatedData.count), nil,
        $0 + keyCount, $0)
    }
    guard status == 0 else { throw .malformed(.plaintext) }
    return sealed
  }

  static func open(
    _ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try Sodium.initialize()
    guard sealed.count >= overhead else { throw .malformed(.message) }
    let derived = try keyAndNonce(from: key)
    var status: Int32 = -1
    let plaintext = [UInt8](unsafeUninitializedCapacity: sealed.count - overhead) { plaintext, count in
      status = sealed.withUnsafeBufferPointer { sealed in
        guard let start = sealed.baseAddress else { return -1 }
        return derived.withPointer {
          crypto_aead_xchacha20poly1305_ietf_decrypt(
            plaintext.baseAddress, nil, nil, start, UInt64(sealed.count), associatedData, UInt64(associatedData.count),
            $0 + keyCount, $0)
        }
      }
      if status == 0 { count = sealed.count - overhead }
    }
    guard status == 0 else { throw .authenticationFailed }
    return plaintext
  }

  private static func keyAndNonce(from key: SecretBytes) throws(CryptoError) -> SecretBytes {
    try KeyDerivation.hkdfSHA256(
      inputKeyMaterial: key, salt: [UInt8](), info: Array("Nightporter message key v1".utf8),
      count: keyCount + nonceCount)
  }
}
