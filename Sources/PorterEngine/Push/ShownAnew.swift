import PorterMachines
import PorterNotifications
import PorterStore

/// A notification shown again under its identifier, such as a message replacing its placeholder, is a new notification:
/// what the user did with the earlier one does not count for it.
extension PushPresentation {
  /// The entry's notification is shown. Part of the caller's transaction.
  static func recordShown(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    try store.raise(.present, entry)
    try forgetEarlier(entry, store)
  }

  /// By the user's choice the entry is not shown, and nothing is left on screen of it. Part of the caller's
  /// transaction.
  static func recordSilenced(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    try store.raise(.silence, entry)
    try forgetEarlier(entry, store)
  }

  private static func forgetEarlier(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    guard entry.isShownAnew else { return }
    do throws(StoreError) {
      try forgetResponses(to: entry, try store.connection(entry.connectionID), store)
    } catch .damaged, .notFound {
      // Not shown in that case.
    }
  }

  /// Part of the caller's transaction.
  static func forgetResponses(
    to entry: StoredLedgerEntry, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) {
    try store.forgetOpened(notificationIdentifier(of: entry, connection).description)
  }
}
