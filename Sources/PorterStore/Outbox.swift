import PorterPlatform

extension OutboxEntry {
  package static let requestPurpose = "request"

  /// Whether it requests the connection at another user's address, instead of going to the other side's mailbox.
  package var isRequest: Bool { purpose == Self.requestPurpose }
  package static let confirmationPurpose = "confirmation"
  /// Whether it accepts an invitation, or a request through an address.
  package var isConfirmation: Bool { purpose == Self.confirmationPurpose }
  /// Whether the connection cannot exist for the other side without it.
  package var isFirstMessage: Bool { isRequest || isConfirmation }
}

extension Store {
  /// Part of the transaction that advances the ratchet: a message is encrypted exactly once (INC-10), and sent until
  /// the relay has it.
  package func insertOutbox(
    connectionID: Int64, itemID: Int64?, purpose: String, isSigned: Bool, notifies: Bool, body: [UInt8],
    deduplication: [UInt8]
  ) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO outbox (connection_id, item_id, purpose, signed, notify, body, deduplication) VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(connectionID), .optional(itemID), .text(purpose), .flag(isSigned), .flag(notifies), .blob(body),
        .blob(deduplication),
      ])
  }

  /// Entries newer than `last`, oldest first. Bodies are read one at a time.
  package func outboxEntries(after last: Int64) throws(StoreError) -> [(id: Int64, connectionID: Int64)] {
    // Each push asks, usually in vain.
    guard try overview().hasOutbox else { return [] }
    return try rows(
      "SELECT outbox_id, connection_id FROM outbox WHERE outbox_id > ? ORDER BY outbox_id", [.integer(last)]
    ) { (id: $0.integer(0), connectionID: $0.integer(1)) }
  }

  /// Nil once it was sent, or deleted with its connection.
  package func outboxEntry(_ id: Int64) throws(StoreError) -> OutboxEntry? {
    try first(
      """
      SELECT outbox_id, connection_id, item_id, purpose, signed, notify, body, deduplication, attempts FROM outbox
      WHERE outbox_id = ?
      """, [.integer(id)]
    ) {
      OutboxEntry(
        id: $0.integer(0), connectionID: $0.integer(1), itemID: $0.optionalInteger(2), purpose: $0.text(3),
        isSigned: $0.flag(4), notifies: $0.flag(5), body: $0.blob(6), deduplication: $0.blob(7),
        attempts: $0.integer(8))
    }
  }

  /// The parts of the first message to the other side; nil once the relay has it.
  package func waitingConfirmation(connectionID: Int64) throws(StoreError) -> (body: [UInt8], deduplication: [UInt8])? {
    try rows(
      "SELECT body, deduplication FROM outbox WHERE connection_id = ? AND purpose = ?",
      [.integer(connectionID), .text(OutboxEntry.confirmationPurpose)]
    ) { (body: $0.blob(0), deduplication: $0.blob(1)) }.first
  }

  package func hasOutbox(connectionID: Int64) throws(StoreError) -> Bool {
    try integer("SELECT 1 FROM outbox WHERE connection_id = ? LIMIT 1", [.integer(connectionID)]) != nil
  }

  /// Whether fewer than `limit` entries wait on this connection.
  package func outboxHasRoom(connectionID: Int64, limit: Int64) throws(StoreError) -> Bool {
    // Usually nothing waits, and a push has compiled this statement.
    guard try overview().hasOutbox else { return true }
    let waiting = try integer(
      "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE connection_id = ? LIMIT ?)",
      [.integer(connectionID), .integer(limit)])
    return (waiting ?? 0) < limit
  }

  /// Deletes an entry that the relay has, or will never take. If a power failure loses this, the message is sent again
  /// and the relay recognises it. Returns false, and changes nothing, when another process has finished it: a later
  /// refusal says nothing about the message. Part of the caller's transaction.
  package func finishOutbox(
    _ entry: OutboxEntry, itemStatus: String, at time: WallTime
  ) throws(StoreError) -> Bool {
    guard try run("DELETE FROM outbox WHERE outbox_id = ?", [.integer(entry.id)]) > 0 else { return false }
    // A receipt may arrive before the relay's answer, and says more.
    guard let item = entry.itemID else { return true }
    try run(
      "UPDATE items SET status = ?, updated_at = ? WHERE item_id = ? AND status <> 'sndRcvd'",
      [.text(itemStatus), .integer(time.milliseconds), .integer(item)])
    return true
  }

  package func countOutboxAttempt(_ id: Int64) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run("UPDATE outbox SET attempts = attempts + 1 WHERE outbox_id = ?", [.integer(id)])
    }
  }
}
