import PorterCrypto
import PorterPlatform

/// The contents of a verification push: 32 random bytes that the client sends back with TVFY.
package struct VerificationCode: Sendable, Redacted {
  package static let count = 32
  /// Verification and message pushes are sealed with the same key; their fixed, different sizes keep either from
  /// passing for the other.
  static let paddedCount = 128

  /// For the request TVFY, and for a store.
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  package static func generate(randomness: some Randomness) throws(PushError) -> VerificationCode {
    guard let code = VerificationCode(bytes: randomness.bytes(count)) else { throw .crypto(.randomnessFailed) }
    return code
  }

  /// Takes a time that does not depend on the bytes.
  package func matches(_ other: VerificationCode) -> Bool { ConstantTime.equal(bytes, other.bytes) }

  package func push(sealedWith key: BoxSharedKey, nonce: BoxNonce) throws(PushError) -> PushPayload {
    let ciphertext = try PushError.carrying { () throws(CryptoError) in
      try key.sealPadded(bytes, to: Self.paddedCount, nonce: nonce)
    }
    return .verification(nonce: nonce, ciphertext: ciphertext)
  }

  package init(opening ciphertext: [UInt8], nonce: BoxNonce, with key: BoxSharedKey) throws(PushError) {
    guard ciphertext.count == Self.paddedCount + Box.overhead else { throw .malformed(.verification) }
    let opened = try PushError.carrying { () throws(CryptoError) in try key.openPadded(ciphertext, nonce: nonce) }
    guard let code = VerificationCode(bytes: opened) else { throw .malformed(.verificationCode) }
    self = code
  }
}
