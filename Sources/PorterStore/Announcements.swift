import PorterMachines
import PorterPlatform

/// Ledger entries without content: placeholders, contacts that connected, and messages that did not open.
extension Store {
  private typealias State = PorterMachines.LedgerEntry.State

  /// Enters a message that a push named but that could not be fetched. False if the ledger already has it. Part of the
  /// caller's transaction.
  package func announce(_ new: NewLedgerEntry, at time: WallTime) throws(StoreError) -> Bool {
    guard try ledgerEntry(connectionID: new.connectionID, messageID: new.messageID) == nil else { return false }
    let step = PorterMachines.LedgerEntry.storedStep(
      PorterMachines.LedgerEntry.initial, .announce, of: Self.subject(new.connectionID, new.messageID), log)
    try insertLedgerEntry(new, state: step.next, removalDue: false, at: time)
    return true
  }

  /// Withdraws placeholders of messages that will not come: their source has nothing for the connection, asked after
  /// these entries were announced. `entry` is the newest of them; a later one may be about what arrived since.
  package func noteVanished(connectionID: Int64, through entry: Int64) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      let announced = try readableLedgerEntries(
        """
        SELECT \(Self.ledgerColumns) FROM ledger WHERE connection_id = ? AND entry_id <= ? AND state = 'announced'
        """, [.integer(connectionID), .integer(entry)])
      for entry in announced { try raise(.vanish, entry) }
    }
  }

  /// The newest placeholder of each connection that has any.
  package func newestAnnounced() throws(StoreError) -> [Int64: Int64] {
    let found = try rows(
      "SELECT connection_id, max(entry_id) FROM ledger WHERE state = 'announced' GROUP BY connection_id"
    ) { (connection: $0.integer(0), entry: $0.integer(1)) }
    return Dictionary(found.map { ($0.connection, $0.entry) }) { first, _ in first }
  }

  /// A contact's placeholders on screen.
  func announcedEntries(contactID: Int64) throws(StoreError) -> [StoredLedgerEntry] {
    try readableLedgerEntries(
      """
      SELECT \(Self.ledgerColumns) FROM ledger
      WHERE connection_id = (SELECT connection_id FROM connections WHERE connections.contact_id = ?1)
        AND contact_id = ?1 AND state = 'announced'
      """, [.integer(contactID)])
  }

  /// The entries that say a contact has connected, unless they were read. Such an entry is among a connection's first,
  /// which the index finds without visiting the rows of a long chat.
  func connectedEntries(contactID: Int64) throws(StoreError) -> [StoredLedgerEntry] {
    try readableLedgerEntries(
      """
      SELECT \(Self.ledgerColumns) FROM ledger
      WHERE entry_id IN (
        SELECT entry_id FROM ledger
        WHERE connection_id = (SELECT connection_id FROM connections WHERE connections.contact_id = ?1)
        ORDER BY entry_id LIMIT 64) AND contact_id = ?1 AND kind = 'connected'
        AND state NOT IN ('read', 'withdrawn')
      """, [.integer(contactID)])
  }

  /// Whether reading the chat changes something that its counts do not include.
  package func hasUncountedEntries(contactID: Int64) throws(StoreError) -> Bool {
    if try !announcedEntries(contactID: contactID).isEmpty { return true }
    return try !connectedEntries(contactID: contactID).isEmpty
  }

  // MARK: Quarantine

  /// A message that did not open, as received.
  package struct QuarantinedMessage: Sendable {
    package let entry: StoredLedgerEntry
    package let body: [UInt8]
  }

  /// How often a message is retried, and for how many of a connection's messages the bodies are kept.
  private static let attempts: Int64 = 3
  private static let bodiesKept: Int64 = 16
  /// How many of them stay in the ledger.
  private static let quarantinedKept: Int64 = 128

  /// The connection's messages that did not open and may be retried, oldest first.
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

  /// Nobody may fill the store with messages that do not open: a contact, the holder of an unused invitation, or the
  /// relay with repeats under new names. One that comes again after its entry was deleted still does not open.
  func dropOldQuarantined(connectionID: Int64) throws(StoreError) {
    try run(
      """
      DELETE FROM ledger WHERE state = 'quarantined' AND removal_due = 0 AND connection_id = ?1
        AND entry_id <= (
          SELECT entry_id FROM ledger WHERE connection_id = ?1 AND state = 'quarantined'
          ORDER BY entry_id DESC LIMIT 1 OFFSET ?2)
      """, [.integer(connectionID), .integer(Self.quarantinedKept)])
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
  /// Whether the message itself has arrived, whatever its outcome. A placeholder stands for one that has not.
  package var isReceived: Bool {
    switch PorterMachines.LedgerEntry.State(name: state) {
    case .announced, .vanished: false
    case .seen, .committed, .upgraded, .presented, .outdated, .silenced, .lapsed, .read, .quarantined, .withdrawn, nil:
      true
    }
  }

  /// Whether it is a message that did not open.
  package var isQuarantined: Bool { state == PorterMachines.LedgerEntry.State.quarantined.name }

  /// Whether its own notification would replace a placeholder on screen.
  package var mayHavePlaceholder: Bool { state == PorterMachines.LedgerEntry.State.upgraded.name }

  /// Whether its own notification may replace another on screen: a placeholder, or the text before an edit.
  package var isShownAnew: Bool { mayHavePlaceholder || state == PorterMachines.LedgerEntry.State.outdated.name }

  /// Whether it was shown, in a notification or by the app itself.
  package var isShown: Bool {
    switch PorterMachines.LedgerEntry.State(name: state) {
    case .presented, .outdated: true
    case .seen, .announced, .vanished, .committed, .upgraded, .silenced, .lapsed, .read, .quarantined, .withdrawn, nil:
      false
    }
  }

  /// Whether its notification is waiting to be shown.
  package var waitsToBeShown: Bool {
    switch PorterMachines.LedgerEntry.State(name: state) {
    case .committed, .upgraded: true
    case .seen, .announced, .vanished, .presented, .outdated, .silenced, .lapsed, .read, .quarantined, .withdrawn, nil:
      false
    }
  }
}
