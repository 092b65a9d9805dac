import PorterCrypto
import PorterPlatform

/// One row of `connections`.
package final class StoredConnection: Sendable, CustomStringConvertible {
  package let id: Int64
  package let userID: Int64
  package let contactID: Int64?
  package let agentID: [UInt8]
  /// A state of the machine `connection`.
  package let status: String
  /// Whether the other side made the invitation.
  package let isInitiated: Bool
  package let recipientID: [UInt8]
  package let recipientKey: SigningKeyPair
  package let senderID: [UInt8]
  package let isSecured: Bool
  package let peerSenderID: [UInt8]?
  package let peerKey: SigningKeyPair
  package let invitation: SecretBytes?
  package let link: String?
  /// The key with which the other side signs what it leaves in our mailbox.
  package let peerPublicKey: [UInt8]?
  package let notifierID: [UInt8]?
  package let notifierKey: SigningKeyPair?
  package let notifierBoxKey: BoxSecretKey?
  package let notifierSecret: BoxSharedKey?
  /// A state of the machine `subscription`.
  package let subscription: String
  /// The profile that the other side sees instead of the user's own, as JSON.
  package let incognito: String?
  /// Set for a connection requested through another user's address.
  package let request: AddressRequest?
  package let localAlias: String
  package let createdAt: WallTime
  package let updatedAt: WallTime
  /// The newest ledger entry of a placeholder on screen, when the record was read.
  package let newestAnnounced: Int64?
  package let ownership: OwnershipRecord
  /// Set only when read by `Conversation`.
  package let reading: Reading?

  /// The data needed to open one message, besides the connection itself; read in the same transaction. Not for a second
  /// message.
  package struct Reading: Sendable {
    let ratchet: [UInt8]?
    let associatedData: [UInt8]?
    let newestSkippedKey: Int64?
    /// Also nil for a damaged record.
    package let contact: StoredContact?
    package let user: StoredUser
  }

  /// The last two columns are the epoch and its owner.
  static let epochColumn = Store.connectionColumnCount - 2

  /// From `Store.connectionColumns`, at the start of the row.
  init(_ row: borrowing Row, reading: Reading? = nil) throws(StoreError) {
    guard let recipientKey = SigningKeyPair(stored: row.blob(7)), let peerKey = SigningKeyPair(stored: row.blob(11))
    else {
      throw .damaged(.connection)
    }
    (id, userID, contactID) = (row.integer(0), row.integer(1), row.optionalInteger(2))
    (agentID, status, isInitiated) = (row.blob(3), row.text(4), row.flag(5))
    (recipientID, self.recipientKey) = (row.blob(6), recipientKey)
    (senderID, isSecured) = (row.blob(8), row.flag(9))
    (peerSenderID, self.peerKey, peerPublicKey) = (row.optionalBlob(10), peerKey, row.optionalBlob(14))
    (invitation, link) = (row.optionalBlob(12).map { SecretBytes($0) }, row.optionalText(13))
    notifierID = row.optionalBlob(15)
    notifierKey = row.optionalBlob(16).flatMap { SigningKeyPair(stored: $0) }
    notifierSecret = row.optionalBlob(17).flatMap { BoxSharedKey(stored: $0) }
    notifierBoxKey = row.optionalBlob(21).flatMap { BoxSecretKey(stored: $0) }
    subscription = row.text(18)
    createdAt = WallTime(milliseconds: row.integer(19))
    updatedAt = WallTime(milliseconds: row.integer(20))
    (incognito, localAlias) = (row.optionalText(22), row.text(26))
    request = AddressRequest(mailbox: row.optionalBlob(23), key: row.optionalBlob(24), person: row.optionalBlob(25))
    newestAnnounced = row.optionalInteger(27)
    ownership = Store.ownership(row, at: Self.epochColumn)
    self.reading = reading
  }

  package var description: String { "connection \(id)" }

  /// Copies it without its reading.
  private init(_ other: StoredConnection) {
    (id, userID, contactID, agentID) = (other.id, other.userID, other.contactID, other.agentID)
    (status, isInitiated) = (other.status, other.isInitiated)
    (recipientID, recipientKey) = (other.recipientID, other.recipientKey)
    (senderID, isSecured) = (other.senderID, other.isSecured)
    (peerSenderID, peerKey, peerPublicKey) = (other.peerSenderID, other.peerKey, other.peerPublicKey)
    (invitation, link) = (other.invitation, other.link)
    (notifierID, notifierKey) = (other.notifierID, other.notifierKey)
    (notifierSecret, notifierBoxKey) = (other.notifierSecret, other.notifierBoxKey)
    (subscription, incognito) = (other.subscription, other.incognito)
    (request, localAlias) = (other.request, other.localAlias)
    (createdAt, updatedAt) = (other.createdAt, other.updatedAt)
    (newestAnnounced, ownership) = (other.newestAnnounced, other.ownership)
    reading = nil
  }

  /// For the work that follows the message of the reading.
  package var withoutReading: StoredConnection { reading == nil ? self : StoredConnection(self) }
}

/// Where a connection was requested: another user's address.
package struct AddressRequest: Hashable, Sendable {
  package var mailbox: [UInt8]
  /// Seals what is left in the mailbox.
  package var key: [UInt8]
  /// Our name there; identifies repeats.
  package var person: [UInt8]

  package init(mailbox: [UInt8], key: [UInt8], person: [UInt8]) {
    (self.mailbox, self.key, self.person) = (mailbox, key, person)
  }

  init?(mailbox: [UInt8]?, key: [UInt8]?, person: [UInt8]?) {
    guard let mailbox, let key, let person else { return nil }
    self.init(mailbox: mailbox, key: key, person: person)
  }
}
