import PorterNotifications
import PorterSchema
import PorterStore

/// Calls of which the user must be notified now: they do not wait as long as a message may (INC-43).
extension Calls {
  /// Whether the user is notified of this contact's calls: neither it nor its profile is muted or hidden.
  static func reachUser(contactID: Int64, _ store: Store) throws(StoreError) -> Bool {
    let contact = try store.contact(contactID)
    let owner = NotificationEvent.Owner(UserRecord(try store.user(contact.userID)))
    return NotificationPolicy.showsCalls(to: owner, NotificationFilter(contact.notifications))
  }

  /// Whether this is the entry of a ringing call that the user must be notified of and that was not shown yet. A call
  /// with damaged records counts as one, as when it is committed, and keeps no other from being found.
  func waitsForUser(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) -> Bool {
    guard entry.kind == .call, entry.waitsToBeShown, let itemID = entry.itemID, let contactID = entry.contactID else {
      return false
    }
    do throws(StoreError) {
      guard try ringing(itemID: itemID, store) != nil else { return false }
      return try Self.reachUser(contactID: contactID, store)
    } catch .damaged {
      return true
    }
  }

  /// Whether any call waits for the user.
  func anyWaitsForUser(_ store: Store) throws(StoreError) -> Bool {
    guard try store.overview().hasCalls else { return false }
    for entry in try store.callsToPresent() where try waitsForUser(entry, store) { return true }
    return false
  }
}
