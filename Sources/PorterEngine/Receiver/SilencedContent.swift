import PorterNotifications
import PorterSchema
import PorterStore

extension OpenedMessage.Content {
  /// Whether an app on screen shows nothing of it, by the user's choice: then it does not count as presented, and is
  /// not withdrawn later. The connection is as the transaction has read it.
  func isSilenced(on connection: StoredConnection, _ store: Store) throws(StoreError) -> Bool {
    switch self {
    case .item(let item):
      return try !NotificationPolicy.showsMessage(
        to: Self.owner(of: connection, store), Self.filter(item.contactID, connection, store),
        mentionsUser: item.mentionsUser)
    case .call(_, let contactID, _):
      return try !NotificationPolicy.showsCalls(
        to: Self.owner(of: connection, store), Self.filter(contactID, connection, store))
    case .connected, .request:
      return try !NotificationPolicy.showsRequests(to: Self.owner(of: connection, store))
    case .changed, .updated, .left, .connecting, .requestWithdrawn, .application, .nothingToShow, .quarantined:
      return false
    }
  }

  private static func owner(
    of connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> NotificationEvent.Owner {
    let user = try (connection.reading?.user).or { () throws(StoreError) in try store.user(connection.userID) }
    return NotificationEvent.Owner(UserRecord(user))
  }

  private static func filter(
    _ contactID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> NotificationFilter {
    let known = connection.reading?.contact
    let contact = known?.id == contactID ? known : nil
    return NotificationFilter(try contact.or { () throws(StoreError) in try store.contact(contactID) }.notifications)
  }
}
