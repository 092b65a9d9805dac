import PorterMachines
import PorterPlatform

/// One of the host's own pushes.
package struct StoredApplicationPush: Sendable {
  package var id: Int64
  package var scopeID: Int64
  /// The name that the service gave it.
  package var envelopeID: [UInt8]
  /// A state of the machine `application_push`.
  package var state: String
  /// JSON; nil once the host has settled the push.
  package var envelope: String?
  package var expiresAt: WallTime
  /// When the relay received it.
  package var messageAt: WallTime
}

/// An envelope that opened.
package struct NewApplicationPush: Sendable {
  package var scopeID: Int64
  package var envelopeID: [UInt8]
  package var messageID: [UInt8]
  package var envelope: String
  package var expiresAt: WallTime
  package var messageAt: WallTime

  package init(
    scopeID: Int64, envelopeID: [UInt8], messageID: [UInt8], envelope: String, expiresAt: WallTime, messageAt: WallTime
  ) {
    self.scopeID = scopeID
    self.envelopeID = envelopeID
    self.messageID = messageID
    self.envelope = envelope
    self.expiresAt = expiresAt
    self.messageAt = messageAt
  }
}

extension Store {
  private static let applicationPushColumns = """
    application_pushes.push_id, application_pushes.scope_id, application_pushes.envelope_id, application_pushes.state,
    application_pushes.envelope, application_pushes.expires_at, application_pushes.message_at
    """

  private func applicationPushes(
    _ condition: String, _ bindings: [Binding]
  ) throws(StoreError) -> [StoredApplicationPush] {
    try rows("SELECT \(Self.applicationPushColumns) FROM application_pushes \(condition)", bindings) { row in
      StoredApplicationPush(
        id: row.integer(0), scopeID: row.integer(1), envelopeID: row.blob(2), state: row.text(3),
        envelope: row.optionalText(4), expiresAt: WallTime(milliseconds: row.integer(5)),
        messageAt: WallTime(milliseconds: row.integer(6)))
    }
  }

  /// Identifies repeats.
  package func applicationPush(scopeID: Int64, envelopeID: [UInt8]) throws(StoreError) -> StoredApplicationPush? {
    try applicationPushes("WHERE scope_id = ? AND envelope_id = ?", [.integer(scopeID), .blob(envelopeID)]).first
  }

  package func applicationPush(_ id: Int64) throws(StoreError) -> StoredApplicationPush {
    guard let found = try applicationPushes("WHERE push_id = ?", [.integer(id)]).first else {
      throw .notFound(.applicationPush)
    }
    return found
  }

  /// The push that this relay message carried.
  package func applicationPush(
    connectionID: Int64, messageID: [UInt8]
  ) throws(StoreError) -> StoredApplicationPush? {
    try applicationPushes(
      """
      JOIN scopes ON scopes.scope_id = application_pushes.scope_id
      WHERE application_pushes.message_id = ? AND scopes.connection_id = ?
      """, [.blob(messageID), .integer(connectionID)]
    ).first
  }

  /// The pushes that the host has not settled, oldest first.
  package func unsettledApplicationPushes(scopeID: Int64) throws(StoreError) -> [StoredApplicationPush] {
    try applicationPushes("WHERE scope_id = ? AND envelope IS NOT NULL ORDER BY push_id", [.integer(scopeID)])
  }

  package func countUnsettledApplicationPushes(scopeID: Int64) throws(StoreError) -> Int64 {
    try integer(
      "SELECT count(*) FROM application_pushes WHERE scope_id = ? AND envelope IS NOT NULL", [.integer(scopeID)]) ?? 0
  }

  // All of these are part of the caller's transaction.

  package func insertApplicationPush(_ new: NewApplicationPush, state: String) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO application_pushes (scope_id, envelope_id, message_id, state, envelope, expires_at, message_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(new.scopeID), .blob(new.envelopeID), .blob(new.messageID), .text(state), .text(new.envelope),
        .integer(new.expiresAt.milliseconds), .integer(new.messageAt.milliseconds),
      ])
  }

  package func setApplicationPush(_ id: Int64, state: String) throws(StoreError) {
    try run("UPDATE application_pushes SET state = ? WHERE push_id = ?", [.text(state), .integer(id)])
  }

  package func eraseEnvelope(ofApplicationPush id: Int64) throws(StoreError) {
    try run("UPDATE application_pushes SET envelope = NULL WHERE push_id = ?", [.integer(id)])
  }

  /// Deletes pushes whose repeats would no longer be valid, and erases envelopes that were handed to the host long ago
  /// and never settled, except the newest `kept`.
  package func pruneApplicationPushes(
    scopeID: Int64, expiredBefore time: WallTime, keeping kept: Int64
  ) throws(StoreError) {
    try run(
      "DELETE FROM application_pushes WHERE scope_id = ? AND expires_at < ?",
      [.integer(scopeID), .integer(time.milliseconds)])
    let handed = [ApplicationPush.State.handed, .offered].map { "'\($0.name)'" }.joined(separator: ", ")
    try run(
      """
      UPDATE application_pushes SET envelope = NULL WHERE push_id IN (
        SELECT push_id FROM application_pushes WHERE scope_id = ? AND envelope IS NOT NULL AND state IN (\(handed))
        ORDER BY push_id DESC LIMIT -1 OFFSET ?)
      """, [.integer(scopeID), .integer(kept)])
  }

  /// Deletes a scope's finished messages, except the newest `kept`: repeats, messages that did not open, and those
  /// handed over.
  package func pruneScopeEntries(connectionID: Int64, keeping kept: Int64) throws(StoreError) {
    try run(
      """
      DELETE FROM ledger WHERE entry_id IN (
        SELECT entry_id FROM ledger WHERE connection_id = ? AND removal_due = 0 AND state <> 'committed'
          AND NOT EXISTS (
            SELECT 1 FROM application_pushes
            WHERE application_pushes.message_id = ledger.message_id
              AND application_pushes.state IN ('waiting', 'offered'))
        ORDER BY entry_id DESC LIMIT -1 OFFSET ?)
      """, [.integer(connectionID), .integer(kept)])
  }
}
