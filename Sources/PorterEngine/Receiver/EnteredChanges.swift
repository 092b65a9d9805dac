import PorterMachines
import PorterPlatform
import PorterStore

/// What no message of a contact says, and an app's host is to hear of all the same.
extension CommittedChanges {
  /// Enters it into the ledger. So the host of an app hears of it whichever process commits it, and again if the app ends before its
  /// host has taken the event. Part of the caller's transaction.
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

  /// Not immediately: the transaction may be that of a message, which is reported by the process that commits it.
  func reportEntered() {
    guard reportsEntries else { return announce() }
    context.later { [weak self] in self?.report() }
  }
}
