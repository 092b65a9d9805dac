import PorterMachines
import PorterPlatform

/// The user's action on a notification, as reported by a host.
package struct NewResponse: Sendable {
  package var action: String
  /// The notification's; nil if it is not ours.
  package var identifier: String?
  /// Covers the text and the connection.
  package var digest: [UInt8]
  package var text: String?
  package var userID: Int64?
  package var chatID: String?
  package var requestID: Int64?
  /// The agent's name for the notification's connection, base64url.
  package var connection: String?

  package init(
    action: String, identifier: String?, digest: [UInt8], text: String?, userID: Int64?, chatID: String?,
    requestID: Int64?, connection: String?
  ) {
    self.action = action
    self.identifier = identifier
    self.digest = digest
    self.text = text
    self.userID = userID
    self.chatID = chatID
    self.requestID = requestID
    self.connection = connection
  }
}

package struct StoredResponse: Sendable {
  package var id: Int64
  package var state: PorterMachines.NotificationResponse.State
  package var action: String
  package var identifier: String?
  package var text: String?
  package var userID: Int64?
  package var chatID: String?
  package var requestID: Int64?
  package var connection: String?
  package var reason: String?
  package var createdAt: WallTime
}

extension Store {
  private static let responseColumns =
    "response_id, state, action, identifier, text, user_id, chat_id, request_id, connection, reason, created_at"

  private static func response(_ row: borrowing Row) throws(StoreError) -> StoredResponse {
    guard let state = NotificationResponse.State(name: row.text(1)) else { throw .damaged(.response) }
    return StoredResponse(
      id: row.integer(0), state: state, action: row.text(2), identifier: row.optionalText(3),
      text: row.optionalText(4), userID: row.optionalInteger(5), chatID: row.optionalText(6),
      requestID: row.optionalInteger(7), connection: row.optionalText(8), reason: row.optionalText(9),
      createdAt: WallTime(milliseconds: row.integer(10)))
  }

  package func response(_ id: Int64) throws(StoreError) -> StoredResponse {
    let found = try first("SELECT \(Self.responseColumns) FROM responses WHERE response_id = ?", [.integer(id)]) {
      (row) throws(StoreError) in try Self.response(row)
    }
    guard let found else { throw .notFound(.response) }
    return found
  }

  /// The earlier record of the same response, if any.
  package func response(like new: NewResponse) throws(StoreError) -> StoredResponse? {
    guard let identifier = new.identifier else { return nil }
    return try first(
      "SELECT \(Self.responseColumns) FROM responses WHERE identifier = ? AND action = ? AND digest = ?",
      [.text(identifier), .text(new.action), .blob(new.digest)]
    ) { (row) throws(StoreError) in try Self.response(row) }
  }

  /// Called when another notification is shown under this identifier: opening that one is not a repeat, even while the
  /// opening of the earlier one still waits for the app, which needs no identifier. Actions that change something
  /// remain repeats, since a platform may repeat them late, and a reply must not be sent twice. Part of the caller's
  /// transaction.
  package func forgetOpened(_ identifier: String) throws(StoreError) {
    try run("UPDATE responses SET identifier = NULL WHERE identifier = ? AND action = 'open'", [.text(identifier)])
  }

  /// Part of the caller's transaction, which takes the step to `state`.
  package func insertResponse(
    _ new: NewResponse, _ state: NotificationResponse.State, at time: WallTime
  ) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO responses (state, action, identifier, digest, text, user_id, chat_id, request_id, connection, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(state.name), .text(new.action), .optional(new.identifier), .blob(new.digest), .optional(new.text),
        .optional(new.userID), .optional(new.chatID), .optional(new.requestID), .optional(new.connection),
        .integer(time.milliseconds),
      ])
  }

  /// Part of the caller's transaction.
  package func setResponseState(_ id: Int64, _ state: NotificationResponse.State) throws(StoreError) {
    try run("UPDATE responses SET state = ? WHERE response_id = ?", [.text(state.name), .integer(id)])
  }

  /// Records how a response ended and where it leads, and queues the event about it. Part of the caller's transaction.
  package func endResponse(
    _ id: Int64, userID: Int64?, chatID: String?, reason: String?
  ) throws(StoreError) {
    try run(
      "UPDATE responses SET user_id = ?, chat_id = ?, reason = ?, text = NULL WHERE response_id = ?",
      [.optional(userID), .optional(chatID), .optional(reason), .integer(id)])
    try run("INSERT OR IGNORE INTO response_events (response_id) VALUES (?)", [.integer(id)])
    // Kept to recognise repeats; the platform repeats within minutes, if at all.
    try run(
      """
      DELETE FROM responses WHERE response_id <= (SELECT max(response_id) FROM responses) - \(Self.responsesKept)
        AND state NOT IN ('waiting', 'applying') AND response_id NOT IN (SELECT response_id FROM response_events)
      """)
  }

  private static let responsesKept = 1_000

  /// Responses that have not ended, oldest first.
  package func openResponses() throws(StoreError) -> [StoredResponse] {
    try rows(
      """
      SELECT \(Self.responseColumns) FROM responses WHERE state IN ('waiting', 'applying') ORDER BY response_id
      """
    ) { (row) throws(StoreError) in try Self.response(row) }
  }

  package func countOpenResponses() throws(StoreError) -> Int64 {
    try integer("SELECT count(*) FROM responses WHERE state IN ('waiting', 'applying')") ?? 0
  }

  /// Responses that have ended but whose event the host has not taken, oldest first. A damaged one does not keep others
  /// from being reported (INC-44).
  package func unreportedResponses() throws(StoreError) -> (readable: [StoredResponse], damaged: [Int64]) {
    let found = try rows(
      """
      SELECT \(Self.responseColumns) FROM responses JOIN response_events USING (response_id) ORDER BY response_id
      """
    ) { (id: $0.integer(0), response: try? Self.response($0)) }
    return (found.compactMap(\.response), found.compactMap { $0.response == nil ? $0.id : nil })
  }

  /// Deletes the events about these responses, which the host has taken. If a power failure loses this, they are
  /// repeated.
  package func forgetResponseEvents(_ ids: [Int64]) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      for id in ids { try run("DELETE FROM response_events WHERE response_id = ?", [.integer(id)]) }
    }
  }

  /// Unread items up to this one, which the user saw before reacting to its notification.
  package func unreadItems(contactID: Int64, through item: Int64) throws(StoreError) -> [Int64] {
    try rows(
      "SELECT item_id FROM items WHERE contact_id = ? AND status = 'rcvNew' AND item_id <= ?",
      [.integer(contactID), .integer(item)]
    ) { $0.integer(0) }
  }
}
