import PorterMachines
import PorterPlatform

/// The part of a chat to read; follows SimpleX's pagination.
package enum ItemPage: Sendable {
  case last(count: Int64)
  case after(item: Int64, count: Int64)
  case before(item: Int64, count: Int64)
  case around(item: Int64, count: Int64)
}

extension Store {
  private static let itemColumns =
    "item_id, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at, quote"

  private static func item(_ row: borrowing Row) -> StoredItem {
    StoredItem(
      id: row.integer(0), contactID: row.integer(1), isSent: row.flag(2), content: row.text(3),
      quote: row.optionalText(9), status: row.text(4), sharedID: row.optionalBlob(5),
      itemAt: WallTime(milliseconds: row.integer(6)),
      createdAt: WallTime(milliseconds: row.integer(7)), updatedAt: WallTime(milliseconds: row.integer(8)))
  }

  package func item(_ id: Int64) throws(StoreError) -> StoredItem {
    guard
      let item = try first("SELECT \(Self.itemColumns) FROM items WHERE item_id = ?", [.integer(id)], { Self.item($0) })
    else { throw .notFound(.item) }
    return item
  }

  /// Oldest first. With `matching`, a page counts matching items only, however far apart they lie.
  package func items(
    contactID: Int64, page: ItemPage, matching matches: ((StoredItem) -> Bool)? = nil
  ) throws(StoreError) -> [StoredItem] {
    switch page {
    case .last(let count): try before(contactID, .max, count, matches)
    case .before(let item, let count): try before(contactID, item, count, matches)
    case .after(let item, let count): try after(contactID, item, count, matches)
    case .around(let item, let count):
      try before(contactID, item, count, matches) + after(contactID, item - 1, count, matches)
    }
  }

  /// Searched in batches, so that the whole chat is never in memory. SQLite's own comparison folds case for ASCII
  /// letters only.
  private static let piece: Int64 = 256

  private func before(
    _ contactID: Int64, _ item: Int64, _ count: Int64, _ matches: ((StoredItem) -> Bool)?
  ) throws(StoreError) -> [StoredItem] {
    guard let matches else { return try itemsBefore(contactID, item, count) }
    var found: [StoredItem] = []
    var piece = try itemsBefore(contactID, item, Self.piece)
    while let oldest = piece.first, found.count < count {
      found += piece.reversed().filter(matches)
      piece = try itemsBefore(contactID, oldest.id, Self.piece)
    }
    return found.prefix(Int(clamping: max(0, count))).reversed()
  }

  private func after(
    _ contactID: Int64, _ item: Int64, _ count: Int64, _ matches: ((StoredItem) -> Bool)?
  ) throws(StoreError) -> [StoredItem] {
    guard let matches else { return try itemsAfter(contactID, item, count) }
    var found: [StoredItem] = []
    var piece = try itemsAfter(contactID, item, Self.piece)
    while let newest = piece.last, found.count < count {
      found += piece.filter(matches)
      piece = try itemsAfter(contactID, newest.id, Self.piece)
    }
    return Array(found.prefix(Int(clamping: max(0, count))))
  }

  private func itemsBefore(_ contactID: Int64, _ item: Int64, _ count: Int64) throws(StoreError) -> [StoredItem] {
    try rows(
      "SELECT \(Self.itemColumns) FROM items WHERE contact_id = ? AND item_id < ? ORDER BY item_id DESC LIMIT ?",
      [.integer(contactID), .integer(item), .integer(max(0, count))]
    ) { Self.item($0) }.reversed()
  }

  private func itemsAfter(_ contactID: Int64, _ item: Int64, _ count: Int64) throws(StoreError) -> [StoredItem] {
    try rows(
      "SELECT \(Self.itemColumns) FROM items WHERE contact_id = ? AND item_id > ? ORDER BY item_id LIMIT ?",
      [.integer(contactID), .integer(item), .integer(max(0, count))]
    ) { Self.item($0) }
  }

  package func lastItem(contactID: Int64) throws(StoreError) -> StoredItem? {
    try items(contactID: contactID, page: .last(count: 1)).first
  }

  package func firstUnreadItem(contactID: Int64) throws(StoreError) -> Int64? {
    try integer("SELECT min(item_id) FROM items WHERE contact_id = ? AND status = 'rcvNew'", [.integer(contactID)])
  }

  /// Part of the caller's transaction.
  package func insertSentItem(
    contactID: Int64, content: String, quote: String? = nil, sharedID: [UInt8]?, itemAt: WallTime, at time: WallTime
  ) throws(StoreError) -> Int64 {
    let id = try insertItem(contactID, isSent: true, content, quote, sharedID, itemAt, at: time)
    try run(
      "UPDATE contacts SET chat_at = ? WHERE contact_id = ?", [.integer(itemAt.milliseconds), .integer(contactID)])
    return id
  }

  /// Part of the caller's transaction. It is counted as unread by its ledger entry (`enter`).
  package func insertReceivedItem(
    contactID: Int64, content: String, quote: String? = nil, sharedID: [UInt8]?, itemAt: WallTime, at time: WallTime
  ) throws(StoreError) -> Int64 {
    try insertItem(contactID, isSent: false, content, quote, sharedID, itemAt, at: time)
  }

  /// Counts a received item as unread in its chat, and in the badge unless the chat is muted. Returns the contact as it is
  /// afterwards.
  func countUnread(_ contactID: Int64, itemAt: WallTime) throws(StoreError) -> StoredContact {
    var contact = try contact(contactID)
    contact.chatAt = itemAt
    contact.unread += 1
    try run(
      "UPDATE contacts SET unread = unread + 1, chat_at = ? WHERE contact_id = ?",
      [.integer(itemAt.milliseconds), .integer(contactID)])
    if contact.notifications == .all { try addUnread(1, userID: contact.userID) }
    return contact
  }

  private func insertItem(
    _ contactID: Int64, isSent: Bool, _ content: String, _ quote: String?, _ sharedID: [UInt8]?, _ itemAt: WallTime,
    at time: WallTime
  ) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO items (contact_id, sent, content, status, shared_id, item_at, created_at, updated_at, quote)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
      """,
      [
        .integer(contactID), .flag(isSent), .text(content), .text(isSent ? "sndNew" : "rcvNew"),
        .optional(sharedID), .integer(itemAt.milliseconds), .integer(time.milliseconds), .optional(quote),
      ])
  }

  /// The item that both sides know by this name, if it is among the last of the chat. Looking up an unknown name costs
  /// no more than scanning those.
  package func recentItem(contactID: Int64, sharedID: [UInt8]) throws(StoreError) -> Int64? {
    try integer(
      """
      SELECT item_id FROM (SELECT item_id, shared_id FROM items WHERE contact_id = ? ORDER BY item_id DESC LIMIT 1000)
      WHERE shared_id = ? LIMIT 1
      """, [.integer(contactID), .blob(sharedID)])
  }

  /// Deletes a chat's items; notifications shown for them are to be withdrawn (INC-46).
  package func deleteItems(contactID: Int64) throws(StoreError) {
    try transaction { () throws(StoreError) in
      let contact = try contact(contactID)
      let entries = try rows(
        "SELECT \(Self.ledgerColumns) FROM ledger WHERE item_id IN (SELECT item_id FROM items WHERE contact_id = ?)",
        [.integer(contactID)]
      ) { (row) throws(StoreError) in try Self.ledgerEntry(row) }
      for entry in entries { try raise(.withdraw, entry) }
      // Messages already on their way are still sent; they have no item to report on any more.
      try run(
        "UPDATE outbox SET item_id = NULL WHERE item_id IN (SELECT item_id FROM items WHERE contact_id = ?)",
        [.integer(contactID)])
      try run("DELETE FROM items WHERE contact_id = ?", [.integer(contactID)])
      try run("UPDATE contacts SET unread = 0, marked_unread = 0 WHERE contact_id = ?", [.integer(contactID)])
      if contact.notifications == .all { try addUnread(-contact.unread, userID: contact.userID) }
    }
  }

  package func setItemStatus(_ id: Int64, _ status: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE items SET status = ?, updated_at = ? WHERE item_id = ?",
      [.text(status), .integer(time.milliseconds), .integer(id)])
  }

  /// Marks items as read, together with their ledger entries, the chat's count and the badge. `only`: these items; nil:
  /// the whole chat. Returns the items that were unread.
  @discardableResult
  package func markRead(contactID: Int64, only: [Int64]?, at time: WallTime) throws(StoreError) -> [Int64] {
    try transaction { () throws(StoreError) in try recordRead(contactID: contactID, only: only, at: time) }
  }

  /// What `markRead` does, as part of the caller's transaction.
  @discardableResult
  package func recordRead(contactID: Int64, only: [Int64]?, at time: WallTime) throws(StoreError) -> [Int64] {
    let contact = try contact(contactID)
    let unread = try rows(
      "SELECT item_id FROM items WHERE contact_id = ? AND status = 'rcvNew'", [.integer(contactID)]
    ) { $0.integer(0) }
    let wanted = only.map(Set.init)
    let read = unread.filter { wanted?.contains($0) ?? true }
    var uncounted: Int64 = 0
    for id in read {
      try setItemStatus(id, "rcvRead", at: time)
      for entry in try ledgerEntries(itemID: id) where try raise(.read, entry).isUncounted {
        uncounted += 1
      }
    }
    if only == nil {
      for entry in try announcedEntries(contactID: contactID) { try raise(.read, entry) }
    }
    // A chat that was read as a whole has no unread items left, whatever the count said.
    let left = only == nil ? 0 : max(0, contact.unread - uncounted)
    try run(
      "UPDATE contacts SET unread = ?, marked_unread = CASE WHEN ? THEN 0 ELSE marked_unread END WHERE contact_id = ?",
      [.integer(left), .flag(only == nil), .integer(contactID)])
    if contact.notifications == .all { try addUnread(left - contact.unread, userID: contact.userID) }
    return read
  }
}
