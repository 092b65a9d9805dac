import PorterCrypto
import PorterStore

/// The acceptance of another user's invitation, from its reservation to the connection: everything needed to finish it.
struct Joining {
  let userID: Int64
  let link: InvitationLink
  /// The profile that the other side sees instead of the user's own, as JSON.
  let incognito: String?
  /// The key of our mailbox.
  let recipientKey: SigningKeyPair
  /// Signs what we leave in the other side's mailbox.
  let peerKey: SigningKeyPair
  /// Nil if another process has the reservation.
  var reservation: Reservation?

  /// The user's ID in eight bytes, the two keys, the link, and, after a newline, the incognito profile.
  static func material(
    user: Int64, link: InvitationLink, incognito: String?, recipientKey: SigningKeyPair, peerKey: SigningKeyPair
  ) -> SecretBytes {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: user >> (8 * $0)) }
    return SecretBytes(
      number + recipientKey.exposeForStorage() + peerKey.exposeForStorage() + Array(link.text.utf8)
        + (incognito.map { Array("\n\($0)".utf8) } ?? []))
  }

  /// The material to store instead if the other side should see a different profile; nil if it is the same. The keys
  /// stay, and with them the mailbox that they may already have created.
  func material(asking user: Int64, _ incognito: String?) -> SecretBytes? {
    // One generated profile is as good as another.
    guard userID != user || (self.incognito == nil) != (incognito == nil) else { return nil }
    return Self.material(user: user, link: link, incognito: incognito, recipientKey: recipientKey, peerKey: peerKey)
  }

  init?(_ reservation: Reservation) {
    self.init(reservation.material)
    self.reservation = reservation
  }

  init?(_ material: SecretBytes) {
    let bytes = material.exposeForStorage()
    let keys = 8 + 2 * SigningKeyPair.storedCount
    guard bytes.count > keys else { return nil }
    let middle = 8 + SigningKeyPair.storedCount
    guard let recipientKey = SigningKeyPair(stored: bytes[8..<middle]),
      let peerKey = SigningKeyPair(stored: bytes[middle..<keys]),
      case let texts = bytes[keys...].split(separator: UInt8(ascii: "\n"), maxSplits: 1),
      let text = texts.first, let link = try? InvitationLink(parsing: String(decoding: text, as: UTF8.self))
    else { return nil }
    userID = (0..<8).reduce(0) { $0 | Int64(bytes[$1]) << (8 * $1) }
    incognito = texts.count > 1 ? String(decoding: texts[1], as: UTF8.self) : nil
    (self.link, self.recipientKey, self.peerKey) = (link, recipientKey, peerKey)
  }
}
