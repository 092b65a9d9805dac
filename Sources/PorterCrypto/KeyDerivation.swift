import CSodium

/// Derives keys from other secrets.
package enum KeyDerivation {
  private static let hashCount = 32

  /// HKDF with SHA-256 (RFC 5869). Implemented here because libsodium has it only since 1.0.19, and Debian 12 ships
  /// 1.0.18. At most 255 × 32 bytes can be derived; an empty salt stands for 32 zeros.
  package static func hkdfSHA256(
    inputKeyMaterial: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
  ) throws(CryptoError) -> SecretBytes {
    try hkdfSHA256(inputKeyMaterial: inputKeyMaterial, salt: SecretBytes(salt), info: info, count: count)
  }

  /// HKDF with a salt that is itself secret, as the root key of a ratchet is.
  package static func hkdfSHA256(
    inputKeyMaterial: SecretBytes, salt: SecretBytes, info: [UInt8], count: Int
  ) throws(CryptoError) -> SecretBytes {
    guard (1...255 * hashCount).contains(count) else { throw .malformed(.derivedKey) }
    let extracted = SecretBytes.filled(count: hashCount) { result in
      authenticate(key: salt, result) { update in inputKeyMaterial.withExposedBytes(update) }
      return true
    }
    guard let extracted, let derived = expand(extracted, info: info, count: count) else {
      throw .malformed(.derivedKey)
    }
    return derived
  }

  /// One step of a chain: HMAC with SHA-256 over a single byte, under a 32-byte key.
  static func chainStep(key: SecretBytes, constant: UInt8) -> SecretBytes? {
    guard key.count == crypto_auth_hmacsha256_KEYBYTES else { return nil }
    return SecretBytes.filled(count: hashCount) { result in
      key.withPointer { crypto_auth_hmacsha256(result, [constant], 1, $0) == 0 }
    }
  }

  /// Each block is the code over the previous block, `info`, and the block's number starting from 1.
  private static func expand(_ key: SecretBytes, info: [UInt8], count: Int) -> SecretBytes? {
    let blockCount = (count + hashCount - 1) / hashCount
    let blocks = SecretBytes.filled(count: blockCount * hashCount) { result in
      for index in 0..<blockCount {
        let block = result + index * hashCount
        authenticate(key: key, block) { update in
          if index > 0 { update(UnsafeRawBufferPointer(start: block - hashCount, count: hashCount)) }
          info.withUnsafeBytes(update)
          withUnsafeBytes(of: UInt8(truncatingIfNeeded: index + 1), update)
        }
      }
      return true
    }
    return blocks?.slice(0..<count)
  }

  /// HMAC with SHA-256 (RFC 2104) over all parts: 32 bytes, written to `code`.
  static func authenticate(
    key: SecretBytes, _ code: UnsafeMutablePointer<UInt8>, parts: ((UnsafeRawBufferPointer) -> Void) -> Void
  ) {
    var state = crypto_auth_hmacsha256_state()
    defer { sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size) }
    _ = key.withPointer { crypto_auth_hmacsha256_init(&state, $0, key.count) }
    parts { part in
      guard let start = part.baseAddress else { return }
      crypto_auth_hmacsha256_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(part.count))
    }
    crypto_auth_hmacsha256_final(&state, code)
  }
}

/// Unkeyed hashes.
package enum Digest {
  /// 32 bytes.
  package static func sha256(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    crypto_hash_sha256(&digest, message, UInt64(message.count))
    return digest
  }

  /// 64 bytes.
  package static func sha512(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 64)
    crypto_hash_sha512(&digest, message, UInt64(message.count))
    return digest
  }

  /// The result of `chat_password_hash` before base64url: SHA-512 of the password followed by the salt, 64 bytes. It
  /// only checks the password of a hidden profile; a key for data must be derived with Argon2id.
  package static func password(_ password: [UInt8], salt: [UInt8]) -> [UInt8] {
    var message = password + salt
    defer { Sodium.wipe(&message) }
    return sha512(message)
  }
}
