import Foundation
import PorterStore

/// The file of one store, read while its processes run or after they have ended.
final class StoreContents {
  let name: String
  let database: Database
  private let store: Store
  private let tally: Tally

  init(_ prefix: String, _ key: String, _ tally: Tally) throws {
    name = URL(fileURLWithPath: prefix).lastPathComponent
    store = try Store.open(
      at: StoreLocation(prefix: prefix), key: StoreKey.parse(key), confirmation: .error, mayMigrate: false)
    database = store.database
    self.tally = tally
  }

  func close() { try? store.close(checkpoint: false) }

  func number(_ sql: String) throws -> Int64 { try database.integer(sql) ?? 0 }

  func openResponses() throws -> Int64 {
    try number("SELECT count(*) FROM responses WHERE state NOT IN ('applied', 'stale')")
  }

  func callsUnderWay(_ condition: String = "true") throws -> Int64 {
    try number(
      "SELECT count(*) FROM calls WHERE \(condition) AND state NOT IN ('ended', 'missed', 'rejected', 'failed')")
  }

  func expect(_ what: String, _ sql: String, _ wanted: Int64) throws {
    let found = try database.integer(sql) ?? -1
    if found != wanted { tally.problem("\(name): \(what): \(found), not \(wanted)") }
  }

  /// It is sound, and its tables agree.
  func inspect(badge: Int64?) throws {
    let integrity = try database.rows("PRAGMA integrity_check") { $0.text(0) }
    if integrity != ["ok"] { tally.problem("\(name): integrity_check: \(integrity.prefix(5))") }
    let foreign = try database.rows("PRAGMA foreign_key_check") { $0.text(0) }
    if !foreign.isEmpty { tally.problem("\(name): foreign_key_check: \(foreign.prefix(5))") }

    let received = try database.integer("SELECT count(*) FROM items WHERE sent = 0") ?? -1
    try expect("messages in the ledger", "SELECT count(*) FROM ledger WHERE kind IN ('message', 'call')", received)
    try expect(
      "items in the ledger",
      """
      SELECT count(DISTINCT item_id) FROM ledger JOIN items USING (item_id)
      WHERE sent = 0 AND ledger.kind IN ('message', 'call')
      """, received)
    try expect("quarantined", "SELECT count(*) FROM ledger WHERE state = 'quarantined'", 0)
    let unread = try database.integer("SELECT count(*) FROM items WHERE status = 'rcvNew'") ?? -1
    try expect("unread of chats", "SELECT coalesce(sum(unread), 0) FROM connections", unread)
    try expect("badge", "SELECT sum(unread) FROM users WHERE show_notifications", unread)
    try expect(
      "read in the ledger and not in the chat",
      """
      SELECT count(*) FROM ledger JOIN items USING (item_id) WHERE ledger.kind IN ('message', 'call')
        AND (ledger.state IN ('read', 'withdrawn')) <> (items.status = 'rcvRead')
      """, 0)
    try expect(
      "withdrawn in the ledger and not deleted in the chat",
      """
      SELECT count(*) FROM ledger JOIN items USING (item_id) WHERE ledger.kind IN ('message', 'call')
        AND (ledger.state = 'withdrawn') <> (items.deleted_at IS NOT NULL)
      """, 0)
    try expect("waiting for the relay", "SELECT count(*) FROM outbox", 0)
    try inspectCalls()
    if let badge, badge != unread { tally.problem("\(name): the badge said \(badge), unread are \(unread)") }
    tally.count("messages in \(name)'s store", Int(received))
  }

  /// Nothing rings, in the chat or on the screen.
  private func inspectCalls() throws {
    try expect(
      "calls under way",
      "SELECT count(*) FROM calls WHERE state NOT IN ('ended', 'missed', 'rejected', 'failed')", 0)
    try expect(
      "calls that never ended in their chat",
      """
      SELECT count(*) FROM items WHERE content LIKE '{"type":"call"%'
        AND json_extract(content, '$.status') NOT IN ('ended', 'missed', 'rejected', 'error')
      """, 0)
    try expect(
      "calls whose notification still rings",
      // One that was missed has taken its place.
      """
      SELECT count(*) FROM ledger LEFT JOIN items USING (item_id)
      WHERE ledger.kind = 'call' AND ledger.state NOT IN ('lapsed', 'read', 'withdrawn')
        AND (ledger.state NOT IN ('presented', 'silenced') OR json_extract(items.content, '$.status') IS NOT 'missed')
      """, 0)
  }

  /// The final state of a message.
  struct Message {
    let item: Int64
    let shared: [UInt8]
    let key: String
    let text: String
    let isDeleted: Bool
    let reactions: [Reaction]

    struct Reaction: Hashable {
      let isOwn: Bool
      let text: String
    }
  }

  /// Oldest first.
  func messages(contact: Int64, sent: Bool) throws -> [Message] {
    let reactions = try database.rows(
      "SELECT shared_id, own, reaction FROM reactions WHERE contact_id = ?", [.integer(contact)]
    ) { ($0.blob(0), Message.Reaction(isOwn: $0.flag(1), text: $0.text(2))) }
    let byName = Dictionary(grouping: reactions) { $0.0 }
    return try database.rows(
      """
      SELECT item_id, shared_id, coalesce(json_extract(content, '$.text'), ''), deleted_at IS NOT NULL FROM items
      WHERE contact_id = ? AND sent = ? AND shared_id IS NOT NULL ORDER BY item_id
      """, [.integer(contact), .flag(sent)]
    ) { row in
      let (shared, text) = (row.blob(1), row.text(2))
      return Message(
        item: row.integer(0), shared: shared, key: Promises.key(of: text), text: text, isDeleted: row.flag(3),
        reactions: (byName[shared] ?? []).map(\.1))
    }
  }

  /// The states of calls in a chat, oldest first.
  func calls(contact: Int64, sent: Bool) throws -> [String] {
    try database.rows(
      """
      SELECT json_extract(content, '$.status') FROM items
      WHERE contact_id = ? AND sent = ? AND content LIKE '{"type":"call"%' ORDER BY item_id
      """, [.integer(contact), .flag(sent)]
    ) { $0.text(0) }
  }
}
