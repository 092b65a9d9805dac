import PorterCrypto
import PorterPlatform
import PorterSchema

/// The address at which a host's own service leaves pushes for one scope:
/// `scope:<box public key>@<sender id of its mailbox>`, both base64url. spec/protocol/scopes.md has the form of these
/// pushes.
package struct ScopeAddress: Hashable, Sendable, CustomStringConvertible {
  package static let form = "scope:<key, base64url>@<mailbox, base64url>"
  private static let prefix = "scope:"

  package let key: BoxPublicKey
  package let mailbox: [UInt8]

  /// Nil unless `mailbox` has the size of an id at the relay.
  package init?(key: BoxPublicKey, mailbox: [UInt8]) {
    guard mailbox.count == NotificationServerLink.identifierCount else { return nil }
    self.key = key
    self.mailbox = mailbox
  }

  package init?(parsing text: String) {
    guard text.utf8.count <= 128, text.hasPrefix(Self.prefix) else { return nil }
    let parts = text.dropFirst(Self.prefix.count).split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let key = TextEncoding.base64URLDecoded(parts[0]).flatMap({ BoxPublicKey(bytes: $0) }),
      let mailbox = TextEncoding.base64URLDecoded(parts[1])
    else { return nil }
    self.init(key: key, mailbox: mailbox)
  }

  package var description: String {
    "\(Self.prefix)\(TextEncoding.base64URL(key.bytes))@\(TextEncoding.base64URL(mailbox))"
  }
}
