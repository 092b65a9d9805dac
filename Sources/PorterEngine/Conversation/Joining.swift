import PorterCrypto
import PorterStore

/// The use of another user's invitation, from its reservation to the connection: everything that is needed to finish it.
struct Joining {
  let userID: Int64
  let link: InvitationLink
  /// Of our mailbox.
  let recipientKey: SigningKeyPair
  /// With which we sign what we leave in the other side's.
  let peerKey: SigningKeyPair
  /// Nil for one that another process has.
  var reservation: Reservation?

  /// The user's number in eight bytes, the two keys, the link.
  static func material(
    user: Int64, link: InvitationLink, recipientKey: SigningKeyPair, peerKey: SigningKeyPair
  ) -> SecretBytes {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: user >> (8 * $0)) }
    return SecretBytes(
      number + recipientKey.exposeForStorage() + peerKey.exposeForStorage() + Array(link.text.utf8))
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
      let link = try? InvitationLink(parsing: String(decoding: bytes[keys...], as: UTF8.self))
    else { return nil }
    userID = (0..<8).reduce(0) { $0 | Int64(bytes[$1]) << (8 * $1) }
    (self.link, self.recipientKey, self.peerKey) = (link, recipientKey, peerKey)
  }
}
