import PorterPlatform
import PorterSchema
import PorterStore

/// What a response is about, as currently stored. A notification may be older than anything in the store: what it names
/// may be deleted, belong to another profile, or have come back from a backup with a reused number.
enum ResponseTarget {
  /// The app as a whole, for example for a summary of several chats. Without a profile if it is not known to be the
  /// same as before.
  case app(user: StoredUser?)
  /// Without a connection if its record is damaged.
  case contact(StoredUser, StoredContact, StoredConnection?)
  case request(StoredUser, StoredContactRequest)
  case gone(ResponseReport.Reason)

  static func find(_ response: StoredResponse, _ store: Store) throws(StoreError) -> ResponseTarget {
    guard let userID = response.userID else { return .app(user: nil) }
    // Hidden after the notification was shown: only its password makes a profile active or reveals that it exists.
    guard let user = try unlessMissing({ () throws(StoreError) in try store.user(userID) }),
      !user.isOutOfSight
    else { return .gone(.noSuchUser) }
    if let id = response.requestID {
      guard let request = try unlessMissing({ () throws(StoreError) in try store.contactRequest(id) }),
        request.userID == user.id
      else { return .gone(.noSuchRequest) }
      if let named = response.connection, named != TextEncoding.base64URL(request.person) { return .gone(.otherStore) }
      return .request(user, request)
    }
    guard let chat = response.chatID else {
      return .app(user: try isOwn(response.connection, of: user, store) ? user : nil)
    }
    guard chat.hasPrefix("@"), let contactID = Int64(chat.dropFirst()) else { return .gone(.noSuchChat) }
    return try contact(contactID, user, response, store)
  }

  /// Whether the profile has the connection named by the notification, if any. In a store restored from a backup, its
  /// number may belong to another profile; the connection may also have been deleted.
  private static func isOwn(_ connection: String?, of user: StoredUser, _ store: Store) throws(StoreError) -> Bool {
    guard let connection else { return true }
    guard let agentID = TextEncoding.base64URLDecoded(connection) else { return false }
    return try store.userID(agentID: agentID) == user.id
  }

  private static func contact(
    _ id: Int64, _ user: StoredUser, _ response: StoredResponse, _ store: Store
  ) throws(StoreError) -> ResponseTarget {
    guard let contact = try unlessMissing({ () throws(StoreError) in try store.contact(id) }) else {
      return .gone(.noSuchChat)
    }
    var connection: StoredConnection?
    let agentID: [UInt8]?
    do throws(StoreError) {
      let found = try store.connection(contactID: id)
      (connection, agentID) = (found, found.agentID)
    } catch .notFound {
      return .gone(.noSuchChat)
    } catch .damaged {
      agentID = try store.agentID(contactID: id)
    }
    guard contact.userID == user.id else {
      let owner = try store.user(contact.userID)
      return .gone(owner.isOutOfSight ? .noSuchChat : .otherUser)
    }
    // Numbers are reused by a store restored from a backup; the agent's names never are.
    if let named = response.connection, named != agentID.map({ TextEncoding.base64URL($0) }) {
      return .gone(.otherStore)
    }
    return .contact(user, contact, connection)
  }

  private static func unlessMissing<Value>(
    _ read: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value? {
    do throws(StoreError) { return try read() } catch .notFound { return nil }
  }
}
