import PorterPlatform
import PorterSchema
import PorterStore

/// What `/connect` answers without using the invitation.
extension Engine {
  /// For an invitation that this store has used: the contact that came of it, or the connection that still waits for the
  /// other side. An invitation that another profile used, or whose contact was deleted, cannot be used any more.
  func repeated(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) -> Answer {
    let store = try requireStore()
    let connection = try stored { () throws(StoreError) in try store.connection(peerSenderID: link.senderID) }
    guard let connection, connection.userID == user.id else { throw .nightporter(.invitationUsed) }
    guard let contactID = connection.contactID else {
      return .result(.sentConfirmation(UserRecord(user), PendingConnectionRecord(connection)))
    }
    let contact = try stored { () throws(StoreError) in try store.contact(contactID) }
    return .result(.contactAlreadyExists(UserRecord(user), ContactRecord(contact, connection: connection)))
  }

  /// Throws if `link` leads to a mailbox of this user's.
  func requireOthers(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) {
    let store = try requireStore()
    let connections = try stored { () throws(StoreError) in try store.connections() }
    if connections.contains(where: { $0.userID == user.id && $0.senderID == link.senderID }) {
      throw .nightporter(.invitationOwn)
    }
  }
}
