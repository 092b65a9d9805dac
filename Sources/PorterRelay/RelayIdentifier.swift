import PorterCrypto
import PorterPlatform

/// 24 random bytes that identify a mailbox's end, a notifier, a message, a request, or one attempt to send.
package struct RelayIdentifier: Hashable, Sendable, CustomStringConvertible {
  package static let count = 24
  package let bytes: [UInt8]

  /// Nil unless there are 24 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  package init?(base64URL text: some StringProtocol) {
    guard let bytes = TextEncoding.base64URLDecoded(text) else { return nil }
    self.init(bytes: bytes)
  }

  private init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// Throws `crypto(.randomnessFailed)` if the port returns a different number of bytes than requested.
  package static func generate(randomness: any Randomness) throws(RelayError) -> RelayIdentifier {
    guard let identifier = RelayIdentifier(bytes: randomness.bytes(count)) else { throw .crypto(.randomnessFailed) }
    return identifier
  }

  /// Used where a request could not be read far enough to find its own identifier.
  package static let zero = RelayIdentifier(checked: [UInt8](repeating: 0, count: count))

  package var base64URL: String { TextEncoding.base64URL(bytes) }
  package var description: String { base64URL }
}
