import PorterMachines
import PorterNotifications
import PorterStore

/// What is shown anew under its identifier, such as a message in place of its placeholder, is another notification: what the user
/// did with the earlier one does not count for it.
extension PushPresentation {
  /// The entry's notification is shown. Part of the caller's transaction.
  static func recordShown(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    try store.raise(.present, entry)
    try forgetEarlier(entry, store)
  }

  /// By the user's choice the entry is not shown, nor is anything left on screen of it. Part of the caller's transaction.
  static func recordSilenced(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    try store.raise(.silence, entry)
    try forgetEarlier(entry, store)
  }

  private static func forgetEarlier(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    guard entry.isShownAnew else { return }
    do throws(StoreError) {
      try forgetResponses(to: entry, try store.connection(entry.connectionID), store)
    } catch .damaged, .notFound {
      // It is not shown then.
    }
  }

  /// Part of the caller's transaction.
  static func forgetResponses(
    to entry: StoredLedgerEntry, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) {
    try store.forgetOpened(notificationIdentifier(of: entry, connection).description)
  }
}
