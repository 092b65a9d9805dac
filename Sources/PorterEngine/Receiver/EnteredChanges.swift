import PorterMachines
import PorterPlatform
import PorterStore

/// Changes that no message of a contact carries, but that an app's host must still receive.
extension CommittedChanges {
  /// Enters the change into the ledger. So an app's host receives it whichever process commits it, and again if the app
  /// ends before its host has taken the event. Part of the caller's transaction.
  func enter(
    _ kind: StoredLedgerEntry.Kind, connectionID: Int64, contactID: Int64, _ store: Store, _ change: ItemChange? = nil
  ) throws(StoreError) {
    let now = context.clock.wall()
    try store.enter(
      NewLedgerEntry(
        connectionID: connectionID, messageID: context.randomness.bytes(24), messageAt: now, kind: kind,
        contactID: contactID, detail: change?.stored), after: [.read], at: now)
    store.afterCommit { [weak self] in self?.reportEntered() }
  }

  /// Not immediately: the transaction may be that of a message, which the committing process reports.
  func reportEntered() {
    guard reportsEntries else { return announce() }
    context.later { [weak self] in self?.report() }
  }
}
