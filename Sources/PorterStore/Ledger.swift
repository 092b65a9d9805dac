import PorterMachines
import PorterPlatform

extension Store {
  static let ledgerColumns =
    "entry_id, connection_id, message_id, message_at, state, kind, contact_id, item_id, detail, summary, request_id, removal_due"

  static let ledgerColumnCount: Int32 = 12

  static func ledgerEntry(_ row: borrowing Row) throws(StoreError) -> StoredLedgerEntry {
    guard let kind = StoredLedgerEntry.Kind(rawValue: row.text(5)) else { throw .damaged(.ledgerEntry) }
    return StoredLedgerEntry(
      id: row.integer(0), connectionID: row.integer(1), messageID: row.blob(2),
      messageAt: WallTime(milliseconds: row.integer(3)), state: row.text(4), kind: kind,
      contactID: row.optionalInteger(6), itemID: row.optionalInteger(7), detail: row.optionalText(8),
      summary: row.optionalText(9), requestID: row.optionalInteger(10), isRemovalDue: row.flag(11))
  }

  /// Omits damaged records, so that bulk work covers the others (INC-44). `sql` selects `ledgerColumns`.
  func readableLedgerEntries(_ sql: String, _ bindings: [Binding]) throws(StoreError) -> [StoredLedgerEntry] {
    let found = try rows(sql, bindings) { row in Self.readableLedgerEntry(row) }
    return found.compactMap { entry in
      entry.flatMap { PorterMachines.LedgerEntry.State(name: $0.state) == nil ? nil : $0 }
    }
  }

  /// Nil for a damaged record.
  static func readableLedgerEntry(_ row: borrowing Row) -> StoredLedgerEntry? { try? ledgerEntry(row) }

  /// A condition on rows with a kind: the kind can be read.
  private static let hasKnownKind =
    "kind IN (" + StoredLedgerEntry.Kind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ") + ")"

  /// Nil if the entry does not exist, or no longer does.
  func ledgerEntry(_ id: Int64) throws(StoreError) -> StoredLedgerEntry? {
    try first("SELECT \(Self.ledgerColumns) FROM ledger WHERE entry_id = ?", [.integer(id)]) {
      (row) throws(StoreError) in try Self.ledgerEntry(row)
    }
  }

  /// Enters a committed message, after `events`. `earlier` is the entry it replaces, of a message that was announced or
  /// did not open. The new entry is still the ledger's newest, so that it is news to readers that know the earlier one.
  /// Part of the transaction that commits the message's content; `contact` is the contact's record, if the same
  /// transaction has read it and has not counted since. Returns the contact as counting left it.
  @discardableResult
  package func enter(
    _ new: NewLedgerEntry, inPlaceOf earlier: StoredLedgerEntry? = nil,
    after events: [PorterMachines.LedgerEntry.Event], mentionsUser: Bool = false, contact: StoredContact? = nil,
    at time: WallTime
  ) throws(StoreError) -> StoredContact? {
    var state = try Self.state(of: earlier)
    var change = LedgerChange(
      new.kind, contactID: new.contactID, messageAt: Self.orderTime(new.messageAt, at: time),
      mentionsUser: mentionsUser, contact: contact?.id == new.contactID ? contact : nil)
    for event in [.commit] + events {
      let step = PorterMachines.LedgerEntry.storedStep(
        state, event, of: Self.subject(new.connectionID, new.messageID), log)
      try PorterMachines.LedgerEntry.record(step, by: LedgerRecorder(store: self), &change)
      state = step.next
    }
    if change.dropsPlaceholder { try removePlaceholder(of: new) }
    if change.isRemovalDue { noteScreenOutdated() }
    try insertLedgerEntry(new, state: state, removalDue: change.isRemovalDue, replaces: earlier != nil, at: time)
    if let item = new.itemID {
      try run(
        "UPDATE items SET ledger_entry = ? WHERE item_id = ?", [.integer(database.lastInsertedRow), .integer(item)])
    }
    return change.countedContact
  }

  /// The relay's time, by which chats are ordered, within a day of ours: a time far in the future would keep its chat
  /// above all others for as long. Either clock may be wrong (INC-14). With a day's allowance a clock here that is slow
  /// by less changes nothing; one that is slow by more misplaces chats only until it is right again.
  private static func orderTime(_ relayed: WallTime, at now: WallTime) -> WallTime {
    min(relayed, WallTime(milliseconds: now.milliseconds + 86_400_000))
  }

  private static func state(of earlier: StoredLedgerEntry?) throws(StoreError) -> PorterMachines.LedgerEntry.State {
    guard let earlier else { return PorterMachines.LedgerEntry.initial }
    guard let state = PorterMachines.LedgerEntry.State(name: earlier.state) else { throw .damaged(.ledgerEntry) }
    return state
  }

  /// From this entry on, entries may be waiting to be shown; late ones may be earlier. No index helps, and SQLite
  /// considers each of them when it compiles a statement.
  private static let firstWaiting =
    "(SELECT coalesce(waiting_from, entry_id) FROM ledger NOT INDEXED ORDER BY entry_id DESC LIMIT 1)"

  /// The values for a new entry: the next number, and the first waiting entry.
  private static let entryPlace = """
    (SELECT max(entries, coalesce((SELECT max(entry_id) FROM ledger), 0)) + 1 FROM store),
    (SELECT min(entry_id) FROM ledger NOT INDEXED
      WHERE entry_id >= \(firstWaiting) AND state IN ('committed', 'upgraded') AND late IS NULL)
    """

  /// `replaces`: an entry of the same message.
  func insertLedgerEntry(
    _ new: NewLedgerEntry, state: PorterMachines.LedgerEntry.State, removalDue: Bool, replaces: Bool = false,
    at time: WallTime
  ) throws(StoreError) {
    try run(
      """
      INSERT \(replaces ? "OR REPLACE " : "")INTO ledger
        (entry_id, waiting_from, connection_id, message_id, message_at, state, kind, contact_id, item_id, created_at,
          removal_due, detail, request_id)
      VALUES (\(Self.entryPlace), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(new.connectionID), .blob(new.messageID), .integer(new.messageAt.milliseconds),
        .text(state.name), .text(new.kind.rawValue), .optional(new.contactID), .optional(new.itemID),
        .integer(time.milliseconds), .flag(removalDue), .optional(new.detail), .optional(new.requestID),
      ])
  }

  /// Marks an entry that could not be shown now, so that later pushes need not scan everything that came since. Part of
  /// the caller's transaction.
  package func postpone(_ entry: StoredLedgerEntry) throws(StoreError) {
    try run("UPDATE ledger SET late = 1 WHERE entry_id = ? AND late IS NULL", [.integer(entry.id)])
  }

  /// The new notification has a different identifier from the placeholder.
  private func removePlaceholder(of new: NewLedgerEntry) throws(StoreError) {
    noteScreenOutdated()
    try run(
      """
      INSERT INTO removals (agent_id, message_id, kind, user_id, contact_id)
      SELECT agent_id, ?2, ?3, user_id, contact_id FROM connections WHERE connection_id = ?1
      """,
      [.integer(new.connectionID), .blob(new.messageID), .text(StoredLedgerEntry.Kind.message.rawValue)])
  }

  /// Keeps a message that could not be opened, with the reason. It is never shown, and its neighbours are processed as
  /// usual (INC-41, INC-66).
  package func quarantine(
    connectionID: Int64, messageID: [UInt8], messageAt: WallTime, reason: String, body: [UInt8], detail: String? = nil,
    inPlaceOf earlier: StoredLedgerEntry? = nil, at time: WallTime
  ) throws(StoreError) {
    var change = LedgerChange(.silent, quarantineReason: reason)
    let step = PorterMachines.LedgerEntry.storedStep(
      try Self.state(of: earlier), .quarantine, of: Self.subject(connectionID, messageID), log)
    try PorterMachines.LedgerEntry.record(step, by: LedgerRecorder(store: self), &change)
    try run(
      """
      INSERT OR \(earlier == nil ? "IGNORE" : "REPLACE") INTO ledger
        (entry_id, waiting_from, connection_id, message_id, message_at, state, kind, reason, body, created_at,
          removal_due, detail)
      VALUES (\(Self.entryPlace), ?, ?, ?, ?, 'silent', ?, ?, ?, ?, ?)
      """,
      [
        .integer(connectionID), .blob(messageID), .integer(messageAt.milliseconds), .text(step.next.name),
        .optional(change.reason), .blob(body), .integer(time.milliseconds), .flag(change.isRemovalDue),
        .optional(detail),
      ])
    if change.isRemovalDue { noteScreenOutdated() }
    try dropOldQuarantined(connectionID: connectionID)
  }

  /// The reason for the entry's quarantine; nil if it is not quarantined.
  package func quarantineReason(_ entry: Int64) throws(StoreError) -> String? {
    try first("SELECT reason FROM ledger WHERE entry_id = ? AND state = 'quarantined'", [.integer(entry)]) {
      (row) throws(StoreError) in row.optionalText(0)
    } ?? nil
  }

  /// 0 when the ledger is empty.
  package func newestLedgerEntry() throws(StoreError) -> Int64 {
    try integer("SELECT coalesce(max(entry_id), 0) FROM ledger") ?? 0
  }

  /// The entries after `entry`, oldest first, without damaged records. These do not count towards the limit: a caller
  /// that gets fewer takes them for the last.
  package func ledgerEntries(
    after entry: Int64, through last: Int64, limit: Int = .max
  ) throws(StoreError) -> [StoredLedgerEntry] {
    let found = try rows(Self.committedBetween, [.integer(entry), .integer(last), .integer(Int64(limit))]) { row in
      Self.readableLedgerEntry(row)
    }
    return found.compactMap { $0 }
  }

  private static let committedBetween = """
    SELECT \(ledgerColumns) FROM ledger WHERE entry_id > ? AND entry_id <= ? AND \(hasKnownKind)
    ORDER BY entry_id LIMIT ?
    """

  /// Committed entries not yet shown, oldest first, including those left by a killed process (INC-38), and entries on
  /// screen that must be shown again because their text was edited. Of more than `limit`, returns the newest: of
  /// thousands of notifications a user wants to see those. The others follow once these are recorded as shown. Includes
  /// when their chats last made a sound since `boot`. `overview`: as read by the running transaction.
  package func entriesToPresent(
    limit: Int64, boot: String? = nil, asOf overview: StoreOverview? = nil
  ) throws(StoreError) -> [StoredLedgerEntry] {
    let overview = try overview.or { () throws(StoreError) in try self.overview() }
    let text = overview.hasLate ? Self.presentableWithLate : Self.presentable
    return try presentable(text, limit, boot).reversed()
  }

  /// The calls among them, newest first, however many other entries are newer: a call does not wait for room in an
  /// answer.
  package func callsToPresent(limit: Int64 = 16, boot: String? = nil) throws(StoreError) -> [StoredLedgerEntry] {
    try presentable(Self.waiting + " AND kind = 'call'" + Self.newestFirst, limit, boot)
  }

  private func presentable(
    _ text: String, _ limit: Int64, _ boot: String?
  ) throws(StoreError) -> [StoredLedgerEntry] {
    let found = try rows(text, [.integer(limit), .optional(boot)]) { (row) -> StoredLedgerEntry? in
      var entry = Self.readableLedgerEntry(row)
      entry?.lastSound = row.optionalInteger(Self.ledgerColumnCount).map { Moment(nanoseconds: $0) }
      return entry
    }
    let readable = found.compactMap { $0 }
    // Damaged entries must not displace others (INC-44).
    if readable.isEmpty, limit > 0, found.count == limit { return try presentable(text, limit * 16, boot) }
    return readable
  }

  private static let presentableColumns = """
    \(ledgerColumns),
    (SELECT sounded_at FROM connections WHERE connections.connection_id = ledger.connection_id AND sounded_boot = ?2)
    """
  private static let waiting = """
    SELECT \(presentableColumns) FROM ledger
    WHERE entry_id >= \(firstWaiting) AND state IN ('committed', 'upgraded') AND late IS NULL
    """
  private static let newestFirst = " ORDER BY entry_id DESC LIMIT ?1"
  /// Usually no entry is late, and a push is spared the other half.
  private static let presentable = waiting + newestFirst
  private static let presentableWithLate = """
    \(waiting) UNION ALL SELECT \(presentableColumns) FROM ledger
    WHERE (state = 'outdated' OR late = 1) AND state IN ('committed', 'upgraded', 'outdated') \(newestFirst)
    """

  /// Steps an entry's machine; part of the caller's transaction. A shown notification that has become obsolete is noted
  /// for the next answer to a push (INC-46).
  @discardableResult
  package func raise(
    _ event: PorterMachines.LedgerEntry.Event, _ entry: StoredLedgerEntry
  ) throws(StoreError) -> LedgerChange {
    guard let state = PorterMachines.LedgerEntry.State(name: entry.state) else { throw .damaged(.ledgerEntry) }
    let step = PorterMachines.LedgerEntry.storedStep(
      state, event, of: Self.subject(entry.connectionID, entry.messageID), log)
    var change = LedgerChange(entry.kind, contactID: entry.contactID)
    try PorterMachines.LedgerEntry.record(step, by: LedgerRecorder(store: self), &change)
    if change.isRemovalDue { noteScreenOutdated() }
    if step.next != state, !change.isRemovalDue, !change.isAttempt {
      // The case of a shown entry, which a push waits for.
      try run(
        "UPDATE ledger SET state = ?, late = ? WHERE entry_id = ?",
        [.text(step.next.name), change.isLate ? .integer(1) : .null, .integer(entry.id)])
    } else if change.isRemovalDue || change.isAttempt {
      try run(
        """
        UPDATE ledger SET state = ?, removal_due = max(removal_due, ?), attempts = attempts + ?, late = NULL
        WHERE entry_id = ?
        """,
        [.text(step.next.name), .flag(change.isRemovalDue), .flag(change.isAttempt), .integer(entry.id)])
    }
    // Nothing in a summary is shown again.
    if change.isKept, entry.isRemovalDue, entry.summary == nil {
      try run("UPDATE ledger SET removal_due = 0 WHERE entry_id = ?", [.integer(entry.id)])
      noteRemovalOver(entry: entry.id)
    }
    return change
  }

  /// Must be called inside a transaction.
  func noteScreenOutdated() {
    if let screenOutdated { afterCommit(screenOutdated) }
  }

  private func noteRemovalOver(entry: Int64?, id: Int64? = nil) {
    if let removalOver { afterCommit { removalOver(entry, id) } }
  }

  /// Notifications still on screen although their subject was read, withdrawn or deleted; at most `limit` of them,
  /// newest first, until they are marked as withdrawn.
  package func withdrawals(limit: Int64, asOf overview: StoreOverview? = nil) throws(StoreError) -> [StoredWithdrawal] {
    // Each push asks, usually in vain.
    guard try overview.or({ () throws(StoreError) in try self.overview() }).hasWithdrawals else { return [] }
    return try rows(
      """
      SELECT ledger.entry_id, NULL, connections.agent_id, ledger.message_id, ledger.kind, connections.user_id,
        ledger.contact_id, ledger.summary, ledger.request_id
      FROM ledger JOIN connections ON connections.connection_id = ledger.connection_id
      WHERE ledger.removal_due = 1 AND ledger.\(Self.hasKnownKind)
      UNION ALL
      SELECT NULL, removal_id, agent_id, message_id, kind, user_id, contact_id, summary, request_id FROM removals
      WHERE \(Self.hasKnownKind)
      ORDER BY 1 DESC, 2 DESC LIMIT ?
      """, [.integer(limit)]
    ) { (row) throws(StoreError) in
      guard let kind = StoredLedgerEntry.Kind(rawValue: row.text(4)) else { throw .damaged(.ledgerEntry) }
      return StoredWithdrawal(
        entryID: row.optionalInteger(0), id: row.optionalInteger(1), agentID: row.blob(2), messageID: row.blob(3),
        kind: kind, userID: row.integer(5), contactID: row.optionalInteger(6), requestID: row.optionalInteger(8),
        summary: row.optionalText(7))
    }
  }

  /// Part of the caller's transaction.
  package func markWithdrawn(_ withdrawal: StoredWithdrawal) throws(StoreError) {
    if let entry = withdrawal.entryID {
      try run("UPDATE ledger SET removal_due = 0, summary = NULL WHERE entry_id = ?", [.integer(entry)])
    } else if let id = withdrawal.id {
      try run("DELETE FROM removals WHERE removal_id = ?", [.integer(id)])
    }
    noteRemovalOver(entry: withdrawal.entryID, id: withdrawal.id)
  }

  /// Called before the connection is deleted: notifications shown for it must still be withdrawn (INC-46).
  /// Part of the caller's transaction.
  package func withdrawEntries(connectionID: Int64) throws(StoreError) {
    let shown = try readableLedgerEntries(
      """
      SELECT \(Self.ledgerColumns) FROM ledger
      WHERE connection_id = ? AND kind <> 'application' AND state IN ('presented', 'outdated', 'announced', 'upgraded')
      """, [.integer(connectionID)])
    for entry in shown { try raise(.withdraw, entry) }
    try run(
      """
      INSERT INTO removals (agent_id, message_id, kind, user_id, contact_id, summary, request_id)
      SELECT connections.agent_id, ledger.message_id, ledger.kind, connections.user_id, ledger.contact_id, ledger.summary,
        ledger.request_id
      FROM ledger JOIN connections ON connections.connection_id = ledger.connection_id
      WHERE ledger.connection_id = ? AND ledger.removal_due = 1 AND ledger.\(Self.hasKnownKind)
      """, [.integer(connectionID)])
  }

  /// Marks this profile's notifications on screen for removal. Their entries keep their state: nothing was read. Part
  /// of the caller's transaction.
  func removeNotifications(userID: Int64) throws(StoreError) {
    noteScreenOutdated()
    try run(
      """
      UPDATE ledger SET removal_due = 1 WHERE state IN ('presented', 'outdated', 'announced', 'upgraded')
        AND kind <> 'application' AND connection_id IN (SELECT connection_id FROM connections WHERE user_id = ?)
      """, [.integer(userID)])
  }

  package func ledgerEntries(itemID: Int64) throws(StoreError) -> [StoredLedgerEntry] {
    try readableLedgerEntries(
      """
      SELECT \(Self.ledgerColumns) FROM ledger
      WHERE entry_id = (SELECT ledger_entry FROM items WHERE items.item_id = ?1) AND item_id = ?1
      """, [.integer(itemID)])
  }

  package func ledgerEntries(requestID: Int64) throws(StoreError) -> [StoredLedgerEntry] {
    try readableLedgerEntries("SELECT \(Self.ledgerColumns) FROM ledger WHERE request_id = ?", [.integer(requestID)])
  }

  /// Keeps a push that does not open, with the reason; the last twenty are kept.
  package func quarantinePush(reason: String, payload: String, at time: WallTime) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run(
        "INSERT INTO quarantined_pushes (reason, payload, created_at) VALUES (?, ?, ?)",
        [.text(reason), .text(payload), .integer(time.milliseconds)])
      try run(
        """
        DELETE FROM quarantined_pushes WHERE push_id <= (SELECT max(push_id) FROM quarantined_pushes) - 20
        """)
    }
  }
}

extension StoredLedgerEntry {
  /// An entry as its commit leaves it, for a caller that has just entered it and does not need its number.
  package static func committed(
    connectionID: Int64, messageID: [UInt8], messageAt: WallTime, kind: Kind, contactID: Int64?, itemID: Int64?,
    requestID: Int64? = nil
  ) -> StoredLedgerEntry {
    StoredLedgerEntry(
      id: 0, connectionID: connectionID, messageID: messageID, messageAt: messageAt,
      state: PorterMachines.LedgerEntry.State.committed.name, kind: kind, contactID: contactID, itemID: itemID,
      requestID: requestID)
  }
}
