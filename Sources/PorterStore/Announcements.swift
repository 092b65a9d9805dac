import PorterMachines
import PorterPlatform

/// What is in the ledger before its content is: placeholders, and what did not open yet.
extension Store {
  private typealias State = PorterMachines.LedgerEntry.State

  /// Enters a message that a push named and that could not be fetched. False if the ledger has it already. Part of the
  /// caller's transaction.
  package func announce(_ new: NewLedgerEntry, at time: WallTime) throws(StoreError) -> Bool {
    guard try ledgerEntry(connectionID: new.connectionID, messageID: new.messageID) == nil else { return false }
    let step = PorterMachines.LedgerEntry.storedStep(
      PorterMachines.LedgerEntry.initial, .announce, of: Self.subject(new.connectionID, new.messageID), log)
    try insertLedgerEntry(new, state: step.next, removalDue: false, at: time)
    return true
  }

  /// A contact's placeholders that are on screen.
  func announcedEntries(contactID: Int64) throws(StoreError) -> [StoredLedgerEntry] {
    try readableLedgerEntries(
      """
      SELECT \(Self.ledgerColumns) FROM ledger
      WHERE connection_id = (SELECT connection_id FROM connections WHERE connections.contact_id = ?1)
        AND contact_id = ?1 AND state = 'announced'
      """, [.integer(contactID)])
  }

  /// Contacts that have placeholders on screen.
  package func announcedContacts() throws(StoreError) -> Set<Int64> {
    let contacts = try rows("SELECT contact_id FROM ledger WHERE state = 'announced' AND contact_id IS NOT NULL") {
      $0.integer(0)
    }
    return Set(contacts)
  }

  // MARK: Quarantine

  /// A message that did not open, as it came.
  package struct QuarantinedMessage: Sendable {
    package let entry: StoredLedgerEntry
    package let body: [UInt8]
  }

  /// How often a message is tried again, and of how many of a connection the bodies are kept for that.
  private static let attempts: Int64 = 3
  private static let bodiesKept: Int64 = 16

  /// The connection's messages that did not open and may be tried again, oldest first.
  package func quarantinedMessages(connectionID: Int64) throws(StoreError) -> [QuarantinedMessage] {
    let found = try rows(
      """
      SELECT \(Self.ledgerColumns), body FROM ledger
      WHERE connection_id = ? AND state = 'quarantined' AND attempts < ? AND body IS NOT NULL
      ORDER BY entry_id LIMIT ?
      """, [.integer(connectionID), .integer(Self.attempts), .integer(Self.bodiesKept)]
    ) { row in
      let body = row.blob(Self.ledgerColumnCount)
      return Self.readableLedgerEntry(row).map { QuarantinedMessage(entry: $0, body: body) }
    }
    return found.compactMap { $0 }
  }

  /// A contact that sends what does not open must not fill the store.
  func dropOldBodies(connectionID: Int64) throws(StoreError) {
    try run(
      """
      UPDATE ledger SET body = NULL WHERE body IS NOT NULL AND state = 'quarantined' AND connection_id = ?1
        AND entry_id <= (
          SELECT entry_id FROM ledger WHERE connection_id = ?1 AND state = 'quarantined'
          ORDER BY entry_id DESC LIMIT 1 OFFSET ?2)
      """, [.integer(connectionID), .integer(Self.bodiesKept)])
  }
}

extension StoredLedgerEntry {
  /// Whether the message itself has come, whatever became of it. A placeholder stands for one that has not.
  package var isReceived: Bool { state != PorterMachines.LedgerEntry.State.announced.name }

  /// Whether it is a message that did not open.
  package var isQuarantined: Bool { state == PorterMachines.LedgerEntry.State.quarantined.name }

  /// Whether a placeholder is on screen that its own notification would replace.
  package var mayHavePlaceholder: Bool { state == PorterMachines.LedgerEntry.State.upgraded.name }

  /// Whether another notification may be on screen that its own would replace: a placeholder, or what it said before an edit.
  package var isShownAnew: Bool { mayHavePlaceholder || state == PorterMachines.LedgerEntry.State.outdated.name }

  /// Whether its notification waits to be shown.
  package var waitsToBeShown: Bool {
    switch PorterMachines.LedgerEntry.State(name: state) {
    case .committed, .upgraded: true
    case .seen, .announced, .presented, .outdated, .silenced, .lapsed, .read, .quarantined, .withdrawn, nil: false
    }
  }
}
