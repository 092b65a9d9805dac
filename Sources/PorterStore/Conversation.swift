import PorterCrypto
import PorterPlatform

/// A connection with everything needed to receive a message on it, read with one statement.
package struct Conversation: Sendable {
  /// With its `reading`.
  package var connection: StoredConnection
  /// The ledger entry of the requested message.
  package var knownEntry: StoredLedgerEntry?
}

/// Everything here is one statement, compiled once: a push runs it to look up a mailbox, to ask whether the message is
/// known, and under the fence.
extension Store {
  private static let conversationText = """
    SELECT \(connectionColumns), ratchet, associated_data,
      (SELECT max(sequence) FROM skipped_keys WHERE skipped_keys.connection_id = connections.connection_id),
      (SELECT entry_id FROM ledger WHERE ledger.connection_id = connections.connection_id AND message_id = ?3),
      \(userColumns), \(contactColumnsBesideUser)
    FROM connections JOIN users ON users.user_id = connections.user_id
      LEFT JOIN contacts ON contacts.contact_id = connections.contact_id
    WHERE connections.connection_id = coalesce(?1, (SELECT connection_id FROM connections WHERE notifier_id = ?2))
    """
  private static let ratchetColumn = connectionColumnCount
  private static let knownColumn = ratchetColumn + 3
  private static let userColumn = ratchetColumn + 4
  private static let contactColumn = userColumn + 12

  package func connection(notifierID: [UInt8]) throws(StoreError) -> StoredConnection? {
    try only(Self.conversationText, [.null, .blob(notifierID)]) { (row) throws(StoreError) in
      try StoredConnection(row)
    }
  }

  /// A message's ledger entry; identifies repeats (INC-34).
  package func ledgerEntry(connectionID: Int64, messageID: [UInt8]) throws(StoreError) -> StoredLedgerEntry? {
    let known = try only(Self.conversationText, [.integer(connectionID), .null, .blob(messageID)]) {
      $0.optionalInteger(Self.knownColumn)
    }
    guard let entry = known ?? nil else { return nil }
    return try ledgerEntry(entry)
  }

  /// A transaction that commits only if `claim` is still the connection's latest, and receives a message. The check is
  /// inside the transaction, so the database itself refuses a stale owner and reports the current one.
  package func transaction<Result>(
    under claim: Claim, receiving messageID: [UInt8], _ body: (Conversation) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction { () throws(StoreError) in
      let found = try only(Self.conversationText, [.integer(claim.connectionID), .null, .blob(messageID)]) {
        (row) throws(StoreError) in
        guard row.integer(StoredConnection.epochColumn) == claim.epoch else {
          throw .staleEpoch(owner: Self.ownership(row, at: StoredConnection.epochColumn).owner)
        }
        let connection = try StoredConnection(row, reading: Self.reading(row))
        return (connection: connection, known: row.optionalInteger(Self.knownColumn))
      }
      guard let found else { throw .notFound(.connection) }
      var conversation = Conversation(connection: found.connection)
      if let known = found.known { conversation.knownEntry = try ledgerEntry(known) }
      return try body(conversation)
    }
  }

  private static func reading(_ row: borrowing Row) -> StoredConnection.Reading {
    var contact: StoredContact?
    // A damaged contact is reported when it is needed.
    if row.optionalInteger(contactColumn) != nil { contact = try? Self.contact(row, at: contactColumn) }
    return StoredConnection.Reading(
      ratchet: row.optionalBlob(ratchetColumn), associatedData: row.optionalBlob(ratchetColumn + 1),
      newestSkippedKey: row.optionalInteger(ratchetColumn + 2), contact: contact, user: StoredUser(row, at: userColumn))
  }
}

extension Optional {
  /// The record already read, or the result of `read`. Swift's own operator loses the type of the error.
  package func or(_ read: () throws(StoreError) -> Wrapped) throws(StoreError) -> Wrapped {
    if let self { return self }
    return try read()
  }
}
