import PorterCrypto
import PorterPlatform

/// Where a notification server is reached: `ntf:<box public key>@<sender id of its mailbox>`, both base64url.
///
/// The key in it is what requests are sealed to, so whoever has the right link talks to the right server, whatever the
/// relay does.
package struct NotificationServerLink: Hashable, Sendable, CustomStringConvertible {
  package static let scheme = "ntf:"
  /// Bytes of an id at the relay, and of a token's id.
  package static let identifierCount = 24

  package let key: BoxPublicKey
  package let mailbox: [UInt8]

  /// Nil unless `mailbox` has the size of an id at the relay.
  package init?(key: BoxPublicKey, mailbox: [UInt8]) {
    guard mailbox.count == NotificationServerLink.identifierCount else { return nil }
    self.key = key
    self.mailbox = mailbox
  }

  /// Throws `.malformed(.link)`.
  package init(parsing text: some StringProtocol) throws(PushError) {
    guard text.hasPrefix(Self.scheme) else { throw .malformed(.link) }
    let parts = text.dropFirst(Self.scheme.count).split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let key = TextEncoding.base64URLDecoded(parts[0]).flatMap({ BoxPublicKey(bytes: $0) }),
      let mailbox = TextEncoding.base64URLDecoded(parts[1]), let link = Self(key: key, mailbox: mailbox)
    else { throw .malformed(.link) }
    self = link
  }

  package var description: String {
    Self.scheme + TextEncoding.base64URL(key.bytes) + "@" + TextEncoding.base64URL(mailbox)
  }
}
