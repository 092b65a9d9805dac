import PorterCrypto
import PorterPlatform

/// A link people publish so that others can ask to become a contact: `porter:/contact#1.<sender id>.<key>`, each part
/// base64url.
struct AddressLink: Equatable, Sendable {
  private static let prefix = "porter:/contact#"

  /// The mailbox where a request is left.
  let senderID: [UInt8]
  /// The key that seals it.
  let key: BoxPublicKey

  init(senderID: [UInt8], key: BoxPublicKey) {
    self.senderID = senderID
    self.key = key
  }

  init(parsing text: String) throws(InvitationLink.Failure) {
    guard text.hasPrefix(Self.prefix) else { throw .notAnInvitation }
    let parts = text.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard let version = parts.first else { throw .notAnInvitation }
    guard version == InvitationLink.version else { throw .unsupportedVersion }
    guard parts.count == 3, let senderID = TextEncoding.base64URLDecoded(parts[1]), senderID.count == 24,
      let key = TextEncoding.base64URLDecoded(parts[2]).flatMap({ BoxPublicKey(bytes: $0) }), key.isUsable
    else { throw .notAnInvitation }
    self.init(senderID: senderID, key: key)
  }

  var text: String {
    Self.prefix
      + [InvitationLink.version, TextEncoding.base64URL(senderID), TextEncoding.base64URL(key.bytes)]
      .joined(separator: ".")
  }
}

/// Either kind of link that `/connect` accepts.
enum ConnectionLink: Equatable, Sendable {
  case invitation(InvitationLink)
  case address(AddressLink)

  init(parsing text: String) throws(InvitationLink.Failure) {
    do throws(InvitationLink.Failure) {
      self = .invitation(try InvitationLink(parsing: text))
    } catch .notAnInvitation {
      self = .address(try AddressLink(parsing: text))
    } catch {
      throw error
    }
  }
}
