import PorterCrypto
import PorterMachines
import PorterPlatform

package struct StoredCall: Sendable, CustomStringConvertible {
  package var id: Int64
  package var contactID: Int64
  package var state: PorterMachines.Call.State
  package var isIncoming: Bool
  package var sharedID: [UInt8]
  package var uuid: String
  /// JSON.
  package var type: String
  package var secret: BoxSecretKey?
  package var sharedKey: SecretBytes?
  package var itemID: Int64?
  package var invitationID: Int64?
  package var calledAt: WallTime
  package var connectedAt: WallTime?
  package var boot: String
  package var deadline: Moment

  package var description: String { "call \(id)" }

  package init(
    contactID: Int64, isIncoming: Bool, sharedID: [UInt8], uuid: String, type: String, secret: BoxSecretKey?,
    sharedKey: SecretBytes?, calledAt: WallTime, boot: String, deadline: Moment
  ) {
    (id, state) = (0, PorterMachines.Call.initial)
    self.contactID = contactID
    self.isIncoming = isIncoming
    self.sharedID = sharedID
    self.uuid = uuid
    self.type = type
    self.secret = secret
    self.sharedKey = sharedKey
    self.calledAt = calledAt
    self.boot = boot
    self.deadline = deadline
  }

  fileprivate init(_ row: borrowing Row) throws(StoreError) {
    guard let state = PorterMachines.Call.State(name: row.text(2)) else { throw .damaged(.call) }
    self.init(
      contactID: row.integer(1), isIncoming: row.flag(3), sharedID: row.blob(4), uuid: row.text(5), type: row.text(6),
      secret: row.optionalBlob(7).flatMap { BoxSecretKey(stored: $0) },
      sharedKey: row.optionalBlob(8).map { SecretBytes($0) }, calledAt: WallTime(milliseconds: row.integer(11)),
      boot: row.text(13), deadline: Moment(nanoseconds: row.integer(14)))
    (id, self.state) = (row.integer(0), state)
    (itemID, invitationID) = (row.optionalInteger(9), row.optionalInteger(10))
    connectedAt = row.optionalInteger(12).map { WallTime(milliseconds: $0) }
  }

  /// After a system restart no caller is still waiting.
  package func isOver(boot: String, now: Moment) -> Bool { self.boot != boot || now >= deadline }
}

/// A call event that the host has not taken.
package struct StoredCallEvent: Sendable {
  package var id: Int64
  package var contactID: Int64
  package var kind: String
  /// JSON.
  package var content: String
}

extension Store {
  private static let callColumns = """
    call_id, contact_id, state, incoming, shared_id, uuid, type, secret, shared_key, item_id, invitation_id, called_at,
    connected_at, boot, deadline
    """

  /// The contact's last call, even if it is over.
  package func call(contactID: Int64) throws(StoreError) -> StoredCall? {
    try first("SELECT \(Self.callColumns) FROM calls WHERE contact_id = ?", [.integer(contactID)]) {
      (row) throws(StoreError) in try StoredCall(row)
    }
  }

  package func call(itemID: Int64) throws(StoreError) -> StoredCall? {
    try first("SELECT \(Self.callColumns) FROM calls WHERE item_id = ?", [.integer(itemID)]) {
      (row) throws(StoreError) in try StoredCall(row)
    }
  }

  /// Calls in one of these states, oldest first.
  package func calls(in states: [PorterMachines.Call.State]) throws(StoreError) -> [StoredCall] {
    // Most stores have none.
    guard try overview().hasCalls else { return [] }
    let places = states.map { _ in "?" }.joined(separator: ", ")
    return try rows(
      "SELECT \(Self.callColumns) FROM calls WHERE state IN (\(places)) ORDER BY call_id", states.map { .text($0.name) }
    ) { (row) throws(StoreError) in try StoredCall(row) }
  }

  /// Replaces the contact's earlier call. Part of the caller's transaction.
  package func insertCall(_ call: StoredCall) throws(StoreError) -> Int64 {
    try run("DELETE FROM calls WHERE contact_id = ?", [.integer(call.contactID)])
    return try insert(
      """
      INSERT INTO calls (contact_id, state, incoming, shared_id, uuid, type, secret, shared_key, called_at, boot, deadline)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(call.contactID), .text(call.state.name), .flag(call.isIncoming), .blob(call.sharedID),
        .text(call.uuid), .text(call.type), .optional(call.secret?.exposeForStorage()),
        .optional(call.sharedKey?.exposeForStorage()), .integer(call.calledAt.milliseconds), .text(call.boot),
        .integer(call.deadline.nanoseconds),
      ])
  }

  /// Writes the columns that steps change. Part of the caller's transaction.
  package func update(_ call: StoredCall) throws(StoreError) {
    try run(
      """
      UPDATE calls SET state = ?, secret = ?, shared_key = ?, item_id = ?, invitation_id = ?, connected_at = ?
      WHERE call_id = ?
      """,
      [
        .text(call.state.name), .optional(call.secret?.exposeForStorage()),
        .optional(call.sharedKey?.exposeForStorage()), .optional(call.itemID), .optional(call.invitationID),
        .optional(call.connectedAt?.milliseconds), .integer(call.id),
      ])
  }

  package func setItemContent(_ id: Int64, _ content: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE items SET content = ?, updated_at = ? WHERE item_id = ?",
      [.text(content), .integer(time.milliseconds), .integer(id)])
  }

  // MARK: The outbox

  /// The newest entry waiting for the relay on this connection. Part of the caller's transaction.
  package func newestOutboxEntry(connectionID: Int64) throws(StoreError) -> Int64? {
    try integer("SELECT max(outbox_id) FROM outbox WHERE connection_id = ?", [.integer(connectionID)])
  }

  /// Deletes an entry, which may already be on its way to the relay. Part of the caller's transaction.
  package func withdrawOutboxEntry(_ id: Int64) throws(StoreError) {
    try run("DELETE FROM outbox WHERE outbox_id = ?", [.integer(id)])
  }

  // MARK: Events

  package func queueCallEvent(contactID: Int64, kind: String, content: String) throws(StoreError) {
    try run(
      "INSERT INTO call_events (contact_id, kind, content) VALUES (?, ?, ?)",
      [.integer(contactID), .text(kind), .text(content)])
  }

  /// Whether the contact's waiting events of this kind are fewer than `count`, and have fewer than `bytes` together.
  package func hasRoomForCallEvent(
    contactID: Int64, kind: String, count: Int64, bytes: Int64
  ) throws(StoreError) -> Bool {
    try integer(
      """
      SELECT count(*) < ?3 AND coalesce(sum(length(CAST(content AS BLOB))), 0) < ?4 FROM call_events
      WHERE contact_id = ?1 AND kind = ?2
      """, [.integer(contactID), .text(kind), .integer(count), .integer(bytes)]) == 1
  }

  /// Deletes events about the contact's calls that the host has not taken. With `kind`: only those after the last event
  /// of this kind, such as the end of an earlier call. Part of the caller's transaction.
  package func dropCallEvents(contactID: Int64, after kind: String? = nil) throws(StoreError) {
    try run(
      """
      DELETE FROM call_events WHERE contact_id = ?
      AND event_id > coalesce((SELECT max(event_id) FROM call_events WHERE contact_id = ? AND kind = ?), 0)
      """, [.integer(contactID), .integer(contactID), kind.map { .text($0) } ?? .null])
  }

  package func callEvents() throws(StoreError) -> [StoredCallEvent] {
    try rows("SELECT event_id, contact_id, kind, content FROM call_events ORDER BY event_id") {
      StoredCallEvent(id: $0.integer(0), contactID: $0.integer(1), kind: $0.text(2), content: $0.text(3))
    }
  }

  /// Deletes events that the host has taken. If a power failure loses this, they are repeated.
  package func forgetCallEvents(_ ids: [Int64]) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      for id in ids { try run("DELETE FROM call_events WHERE event_id = ?", [.integer(id)]) }
    }
  }
}
