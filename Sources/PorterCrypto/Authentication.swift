import CSodium

/// Authentication under a key that both sides share: keyed BLAKE2b (RFC 7693), libsodium's `crypto_generichash`.
package struct AuthenticationKey: Sendable, Redacted {
  package static let count = 32
  private let bytes: SecretBytes

  /// Nil unless there are 32 bytes.
  package init?(stored: [UInt8]) {
    guard stored.count == Self.count else { return nil }
    bytes = SecretBytes(stored)
  }

  package static let tagCount = 32

  /// 32 bytes over `message`.
  package func tag(_ message: some Collection<UInt8>) -> [UInt8] {
    let message = Array(message)
    var tag = [UInt8](repeating: 0, count: Self.tagCount)
    _ = bytes.withPointer { key in
      crypto_generichash(&tag, tag.count, message, UInt64(message.count), key, Self.count)
    }
    return tag
  }

  /// Takes time that does not depend on the tag.
  package func verifies(_ tag: some Collection<UInt8>, of message: some Collection<UInt8>) -> Bool {
    ConstantTime.equal(Array(tag), self.tag(message))
  }
}
