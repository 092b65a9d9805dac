import PorterCrypto
import PorterPlatform

/// The link that one user gives another out of band so that the two can connect:
/// `porter:/invitation#1.<sender id>.<public keys>.<peer key>`, each part base64url.
struct InvitationLink: Equatable, Sendable {
  static let version = "1"
  private static let prefix = "porter:/invitation#"

  /// Where the joining side leaves its confirmation.
  let senderID: [UInt8]
  /// The inviting side's half of the key agreement.
  let publicKeys: [UInt8]
  /// Verifies what the inviting side leaves in the joining side's mailbox.
  let peerKey: SigningPublicKey

  enum Failure: Error, Hashable {
    case notAnInvitation
    case unsupportedVersion
  }

  init(senderID: [UInt8], publicKeys: [UInt8], peerKey: SigningPublicKey) {
    self.senderID = senderID
    self.publicKeys = publicKeys
    self.peerKey = peerKey
  }

  init(parsing text: String) throws(Failure) {
    guard text.hasPrefix(Self.prefix) else { throw .notAnInvitation }
    let parts = text.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard let version = parts.first else { throw .notAnInvitation }
    guard version == Self.version else { throw .unsupportedVersion }
    guard parts.count == 4,
      let senderID = TextEncoding.base64URLDecoded(parts[1]), senderID.count == 24,
      let publicKeys = TextEncoding.base64URLDecoded(parts[2]), KeyAgreement.isUsable(publicKeys),
      let peerKey = TextEncoding.base64URLDecoded(parts[3]).flatMap({ SigningPublicKey(bytes: $0) })
    else { throw .notAnInvitation }
    self.init(senderID: senderID, publicKeys: publicKeys, peerKey: peerKey)
  }

  var text: String {
    Self.prefix
      + [
        Self.version, TextEncoding.base64URL(senderID), TextEncoding.base64URL(publicKeys),
        TextEncoding.base64URL(peerKey.bytes),
      ].joined(separator: ".")
  }
}
