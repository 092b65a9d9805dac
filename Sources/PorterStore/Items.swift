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
  static let itemColumns = """
    item_id, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at, quote, edited, deleted_at,
    live, ttl, delete_at, mentions_user, overtook,
    (SELECT group_concat(own || reaction, char(10)) FROM reactions
      WHERE reactions.contact_id = items.contact_id AND reactions.shared_id = items.shared_id),
    sent_boot, sent_moment
    """

  static func item(_ row: borrowing Row) -> StoredItem {
    StoredItem(
      id: row.integer(0), contactID: row.integer(1), isSent: row.flag(2), content: row.text(3),
      quote: row.optionalText(9), status: row.text(4), sharedID: row.optionalBlob(5),
      itemAt: WallTime(milliseconds: row.integer(6)),
      createdAt: WallTime(milliseconds: row.integer(7)), updatedAt: WallTime(milliseconds: row.integer(8)),
      isEdited: row.flag(10), deletedAt: row.optionalInteger(11).map { WallTime(milliseconds: $0) },
      isLive: row.flag(12), secondsToLive: row.optionalInteger(13),
      disappearsAt: row.optionalInteger(14).map { WallTime(milliseconds: $0) }, mentionsUser: row.flag(15),
      hasOvertaken: row.flag(16), reactions: row.optionalText(17).map { reactions($0) } ?? [],
      sentMoment: row.optionalText(18).map { BootMoment(boot: $0, moment: Moment(nanoseconds: row.integer(19))) })
  }

  /// JSON contains no line break of its own, so one can separate two reactions.
  private static func reactions(_ text: String) -> [StoredReaction] {
    text.split(separator: "\n").map { StoredReaction(isOwn: $0.first == "1", reaction: String($0.dropFirst())) }
  }

  package func item(_ id: Int64) throws(StoreError) -> StoredItem {
    guard
      let item = try first("SELECT \(Self.itemColumns) FROM items WHERE item_id = ?", [.integer(id)], { Self.item($0) })
    else { throw .notFound(.item) }
    return item
  }

  /// The part of an item that a notification shows.
  package func shownItem(_ id: Int64) throws(StoreError) -> ShownItem {
    let found = try only(
      "SELECT content, sent, deleted_at IS NOT NULL, mentions_user FROM items WHERE item_id = ?", [.integer(id)]
    ) {
      ShownItem(content: $0.text(0), isSent: $0.flag(1), isDeleted: $0.flag(2), mentionsUser: $0.flag(3))
    }
    guard let found else { throw .notFound(.item) }
    return found
  }

  /// Items, oldest first. With `matching`, a page counts only matching items, however far apart they lie.
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

  /// The batch size of searches, so that the whole chat is never in memory. SQLite's own comparison folds case only for
  /// ASCII letters.
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
    try items(contactID, "item_id < ?2", order: "DESC", item, count).reversed()
  }

  private func itemsAfter(_ contactID: Int64, _ item: Int64, _ count: Int64) throws(StoreError) -> [StoredItem] {
    try items(contactID, "item_id > ?2", order: "ASC", item, count)
  }

  /// The index keeps read and unread items apart. Merges both in order, as far as needed.
  private func items(
    _ contactID: Int64, _ range: String, order: String, _ item: Int64, _ count: Int64
  ) throws(StoreError) -> [StoredItem] {
    let half = { (isUnread: Int) in
      "SELECT item_id FROM items WHERE contact_id = ?1 AND (status = 'rcvNew') = \(isUnread) AND \(range)"
    }
    return try rows(
      """
      SELECT \(Self.itemColumns) FROM items WHERE item_id IN (
        \(half(0)) UNION ALL \(half(1)) ORDER BY item_id \(order) LIMIT ?3)
      ORDER BY item_id \(order)
      """, [.integer(contactID), .integer(item), .integer(max(0, count))]
    ) { Self.item($0) }
  }

  package func lastItem(contactID: Int64) throws(StoreError) -> StoredItem? {
    try items(contactID: contactID, page: .last(count: 1)).first
  }

  package func firstUnreadItem(contactID: Int64) throws(StoreError) -> Int64? {
    try integer(
      "SELECT min(item_id) FROM items WHERE contact_id = ? AND (status = 'rcvNew') = 1", [.integer(contactID)])
  }

  /// `moment` is when the user sends it, from which its age is counted. Part of the caller's transaction.
  package func insertSentItem(
    contactID: Int64, content: String, quote: String? = nil, sharedID: [UInt8]?, itemAt: WallTime, at time: WallTime,
    moment: BootMoment, traits: ItemTraits = ItemTraits()
  ) throws(StoreError) -> Int64 {
    let id = try insertItem(contactID, sent: moment, content, quote, sharedID, itemAt, at: time, traits)
    try run(
      "UPDATE connections SET chat_at = ? WHERE contact_id = ?", [.integer(itemAt.milliseconds), .integer(contactID)])
    return id
  }

  /// Part of the caller's transaction. The item's ledger entry counts it as unread (`enter`). Returns the item as
  /// stored, except for reactions that arrived before it (`Overtaken`).
  package func insertReceivedItem(
    contactID: Int64, content: String, quote: String? = nil, sharedID: [UInt8]?, itemAt: WallTime, at time: WallTime,
    traits: ItemTraits = ItemTraits()
  ) throws(StoreError) -> StoredItem {
    let id = try insertItem(contactID, sent: nil, content, quote, sharedID, itemAt, at: time, traits)
    return StoredItem(
      id: id, contactID: contactID, isSent: false, content: content, quote: quote, status: Self.unreadStatus,
      sharedID: sharedID, itemAt: itemAt, createdAt: time, updatedAt: time,
      isEdited: traits.hasOvertaken && !traits.isLive,
      isLive: traits.isLive, secondsToLive: traits.secondsToLive, mentionsUser: traits.mentionsUser,
      hasOvertaken: traits.hasOvertaken, reactions: [])
  }

  private static let unreadStatus = "rcvNew"

  /// Counts a received item as unread in its chat, and in the badge according to the chat's setting. Moves the chat up
  /// by the time the relay took the item: the sender's clock may be far behind. Returns the updated contact.
  func countUnread(
    _ before: StoredContact, messageAt: WallTime, mentionsUser: Bool
  ) throws(StoreError) -> StoredContact {
    var after = before
    after.chatAt = max(before.chatAt, messageAt)
    after.unread &+= 1
    if mentionsUser { after.unreadMentions &+= 1 }
    try run(
      "UPDATE connections SET unread = ?, unread_mentions = ?, chat_at = ? WHERE contact_id = ?",
      [
        .integer(after.unread), .integer(after.unreadMentions), .integer(after.chatAt.milliseconds),
        .integer(before.id),
      ])
    try addUnread(after.countedUnread - before.countedUnread, userID: before.userID)
    return after
  }

  private func insertItem(
    _ contactID: Int64, sent: BootMoment?, _ content: String, _ quote: String?, _ sharedID: [UInt8]?,
    _ itemAt: WallTime, at time: WallTime, _ traits: ItemTraits
  ) throws(StoreError) -> Int64 {
    let isSent = sent != nil
    return try insert(
      """
      INSERT INTO items (item_id, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at, quote,
        live, ttl, mentions_user, overtook, edited, sent_boot, sent_moment)
      VALUES ((SELECT max(items, coalesce((SELECT max(item_id) FROM items), 0)) + 1 FROM store),
        ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11, ?12, ?12 > ?9, ?13, ?14)
      """,
      [
        .integer(contactID), .flag(isSent), .text(content), .text(isSent ? "sndNew" : Self.unreadStatus),
        .optional(sharedID), .integer(itemAt.milliseconds), .integer(time.milliseconds), .optional(quote),
        .flag(traits.isLive), .optional(traits.secondsToLive), .flag(traits.mentionsUser), .flag(traits.hasOvertaken),
        .optional(sent?.boot), .optional(sent?.moment.nanoseconds),
      ])
  }

  /// Deletes a chat's items; notifications shown for them must be withdrawn (INC-46).
  package func deleteItems(contactID: Int64) throws(StoreError) {
    try transaction { () throws(StoreError) in
      let contact = try contact(contactID)
      let entries = try readableLedgerEntries(
        """
        SELECT \(Self.ledgerColumns) FROM ledger
        WHERE entry_id IN (SELECT ledger_entry FROM items WHERE items.contact_id = ?1) AND contact_id = ?1
        """, [.integer(contactID)])
      for entry in entries { try raise(.withdraw, entry) }
      // Messages already on their way are still sent; they no longer have an item to report on.
      try run(
        "UPDATE outbox SET item_id = NULL WHERE item_id IN (SELECT item_id FROM items WHERE contact_id = ?)",
        [.integer(contactID)])
      try noteRemoved(lastOf: contactID)
      try keepNumbers()
      try run("DELETE FROM items WHERE contact_id = ?", [.integer(contactID)])
      try run("DELETE FROM reactions WHERE contact_id = ?", [.integer(contactID)])
      try run("UPDATE contacts SET marked_unread = 0 WHERE contact_id = ?", [.integer(contactID)])
      _ = try setUnread(contact, to: 0, mentions: 0)
    }
  }

  /// Keeps the numbers of the newest item and entry from being reused, though these are deleted. Called before each
  /// deletion that may include the newest: a count at each insertion would cost each push a page of log. Part of the
  /// caller's transaction.
  func keepNumbers() throws(StoreError) {
    try run(
      """
      UPDATE store SET items = max(items, coalesce((SELECT max(item_id) FROM items), 0)),
        entries = max(entries, coalesce((SELECT max(entry_id) FROM ledger), 0))
      """)
  }

  package func setItemStatus(_ id: Int64, _ status: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE items SET status = ?, updated_at = ? WHERE item_id = ?",
      [.text(status), .integer(time.milliseconds), .integer(id)])
  }

  /// Marks items as read, together with their ledger entries, the chat's count and the badge. `only`: these items; nil:
  /// the whole chat. Starts the time of those that disappear if `end` returns when it is up. Returns the items that
  /// were unread.
  @discardableResult
  package func markRead(
    contactID: Int64, only: [Int64]?, at time: WallTime, until end: (_ seconds: Int64) -> Disappearance? = { _ in nil }
  ) throws(StoreError) -> [Int64] {
    try transaction { () throws(StoreError) in
      try recordRead(contactID: contactID, only: only, at: time, until: end)
    }
  }

  /// Like `markRead`, as part of the caller's transaction.
  @discardableResult
  package func recordRead(
    contactID: Int64, only: [Int64]?, at time: WallTime, until end: (_ seconds: Int64) -> Disappearance?
  ) throws(StoreError) -> [Int64] {
    let contact = try contact(contactID)
    let unread = try rows(
      "SELECT item_id, mentions_user, ttl FROM items WHERE contact_id = ? AND (status = 'rcvNew') = 1 ORDER BY item_id",
      [.integer(contactID)]
    ) { (id: $0.integer(0), mentionsUser: $0.flag(1), secondsToLive: $0.optionalInteger(2)) }
    let wanted = only.map(Set.init)
    let read = unread.filter { wanted?.contains($0.id) ?? true }
    var (uncounted, mentions): (Int64, Int64) = (0, 0)
    for item in read {
      try setItemStatus(item.id, "rcvRead", at: time)
      if let end = item.secondsToLive.flatMap(end) { try startDisappearing(item.id, end) }
      for entry in try ledgerEntries(itemID: item.id) where try raise(.read, entry).isUncounted {
        uncounted += 1
        if item.mentionsUser { mentions += 1 }
      }
    }
    if only == nil {
      for entry in try announcedEntries(contactID: contactID) { try raise(.read, entry) }
      for entry in try connectedEntries(contactID: contactID) { try raise(.read, entry) }
      // A chat read as a whole has no unread items left, whatever the count said.
      try run("UPDATE contacts SET marked_unread = 0 WHERE contact_id = ?", [.integer(contactID)])
      _ = try setUnread(contact, to: 0, mentions: 0)
    } else {
      _ = try setUnread(contact, to: contact.unread - uncounted, mentions: contact.unreadMentions - mentions)
    }
    return read.map(\.id)
  }
}
