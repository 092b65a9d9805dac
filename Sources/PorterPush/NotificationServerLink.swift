import PorterCrypto
import PorterSchema

/// The address of a notification server: `ntf:<box public key>@<sender id of its mailbox>`, both base64url.
///
/// Requests are sealed to the key in it, so a client with the right link talks to the right server, whatever the relay
/// does.
package struct NotificationServerLink: Hashable, Sendable, CustomStringConvertible {
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
  package init(parsing text: String) throws(PushError) {
    guard let address = ServerAddress(parsing: text), let key = BoxPublicKey(bytes: address.key),
      let link = Self(key: key, mailbox: address.mailbox)
    else { throw .malformed(.link) }
    self = link
  }

  package var description: String { ServerAddress(key: key.bytes, mailbox: mailbox).description }
}
