import PorterMachines
import PorterPlatform

/// A new item's attributes besides its content.
package struct ItemTraits: Sendable {
  package var isLive: Bool
  package var secondsToLive: Int64?
  package var mentionsUser: Bool
  /// Created by an edit that arrived before its message.
  package var hasOvertaken: Bool

  package init(
    isLive: Bool = false, secondsToLive: Int64? = nil, mentionsUser: Bool = false, hasOvertaken: Bool = false
  ) {
    self.isLive = isLive
    self.secondsToLive = secondsToLive
    self.mentionsUser = mentionsUser
    self.hasOvertaken = hasOvertaken
  }
}

/// When an item disappears: by the wall clock, which is shown, and by the clock since this boot, which decides
/// (INC-14).
package struct Disappearance: Sendable {
  package var at: WallTime
  package var boot: String
  package var moment: Moment

  package init(at: WallTime, boot: String, moment: Moment) {
    self.at = at
    self.boot = boot
    self.moment = moment
  }
}

/// An item's new content.
package struct ItemEdit: Sendable {
  package var content: String
  package var mentionsUser: Bool
  package var isLive: Bool

  package init(content: String, mentionsUser: Bool, isLive: Bool) {
    self.content = content
    self.mentionsUser = mentionsUser
    self.isLive = isLive
  }
}

// Except for reads, all of these are part of the caller's transaction.
extension Store {
  /// The item that both sides know by this name. A contact may send several; returns the first to arrive.
  package func item(contactID: Int64, sharedID: [UInt8]) throws(StoreError) -> StoredItem? {
    try rows(
      "SELECT \(Self.itemColumns) FROM items WHERE contact_id = ? AND shared_id = ? ORDER BY item_id LIMIT 1",
      [.integer(contactID), .blob(sharedID)]
    ) { Self.item($0) }.first
  }

  // MARK: Edits

  /// Changes an item's content. A notification that shows the earlier text must be replaced, and an unread item counts
  /// as a mention by its new content.
  package func edit(_ item: StoredItem, _ edit: ItemEdit, at time: WallTime) throws(StoreError) {
    try run(
      """
      UPDATE items SET content = ?, edited = max(coalesce(edited, 0), ?), live = ?, mentions_user = ?, updated_at = ? WHERE item_id = ?
      """,
      [
        // Growth of a live message is not an edit.
        .text(edit.content), .flag(!item.isLive), .flag(edit.isLive), .flag(edit.mentionsUser),
        .integer(time.milliseconds),
        .integer(item.id),
      ])
    guard !item.isSent else { return }
    for entry in try ledgerEntries(itemID: item.id) where entry.kind == .message { try raise(.edit, entry) }
    guard item.status == "rcvNew", edit.mentionsUser != item.mentionsUser else { return }
    let contact = try contact(item.contactID)
    _ = try setUnread(
      contact, to: contact.unread, mentions: contact.unreadMentions + (edit.mentionsUser ? 1 : -1))
  }

  /// Records that the edited message has arrived; the item stays as the edit left it.
  package func completeOvertaken(_ itemID: Int64, quote: String?, itemAt: WallTime) throws(StoreError) {
    try run(
      "UPDATE items SET overtook = 0, quote = ?, item_at = ? WHERE item_id = ?",
      [.optional(quote), .integer(itemAt.milliseconds), .integer(itemID)])
  }

  // MARK: Deletions

  /// Deletes an item with its reactions. Its notifications are withdrawn (INC-46), and it no longer counts as unread
  /// (INC-60). Messages that arrive later under its name are not shown, nor are its contact's edits if it was the
  /// user's own.
  package func remove(_ item: StoredItem) throws(StoreError) {
    // For a damaged contact, what counts is unknown; its messages go like any others.
    do throws(StoreError) { try withdraw(item) } catch .damaged {}
    if let sharedID = item.sharedID {
      try noteRemoved(contactID: item.contactID, sharedID: sharedID)
      try run(
        "DELETE FROM reactions WHERE contact_id = ? AND shared_id = ?",
        [.integer(item.contactID), .blob(sharedID)])
    }
    // A message already on its way is still sent; it no longer has an item to report on.
    try run("UPDATE outbox SET item_id = NULL WHERE item_id = ?", [.integer(item.id)])
    try keepNumbers()
    try run("DELETE FROM items WHERE item_id = ?", [.integer(item.id)])
  }

  /// Marks an item as deleted, and keeps it. Its notifications are withdrawn, and it no longer counts as unread. If it
  /// disappears, its time starts now unless already running: the item will be neither read nor completed. `end` returns
  /// when the time is up.
  package func markDeleted(
    _ item: StoredItem, at time: WallTime, until end: (_ seconds: Int64) -> Disappearance?
  ) throws(StoreError) {
    try withdraw(item)
    try run(
      "UPDATE items SET deleted_at = ?1, live = 0, updated_at = ?1 WHERE item_id = ?2",
      [.integer(time.milliseconds), .integer(item.id)])
    if item.status == "rcvNew" { try setItemStatus(item.id, "rcvRead", at: time) }
    guard item.disappearsAt == nil, let end = item.secondsToLive.flatMap(end) else { return }
    try startDisappearing(item.id, end)
  }

  private func withdraw(_ item: StoredItem) throws(StoreError) {
    var uncounted: Int64 = 0
    for entry in try ledgerEntries(itemID: item.id) where try raise(.withdraw, entry).isUncounted { uncounted += 1 }
    guard uncounted > 0, item.status == "rcvNew" else { return }
    let contact = try contact(item.contactID)
    _ = try setUnread(
      contact, to: contact.unread - uncounted, mentions: contact.unreadMentions - (item.mentionsUser ? uncounted : 0))
  }

  /// Records that a message by this name was deleted, perhaps before it arrived.
  package func noteRemoved(contactID: Int64, sharedID: [UInt8]) throws(StoreError) {
    let id = try insert(
      "INSERT OR REPLACE INTO removed_messages (contact_id, shared_id) VALUES (?, ?)",
      [.integer(contactID), .blob(sharedID)])
    // A contact that keeps sending deletions must not fill the disk.
    try run(
      "DELETE FROM removed_messages WHERE contact_id = ? AND removed_id <= ?",
      [.integer(contactID), .integer(id - Self.removalsKept)])
  }

  func noteRemoved(lastOf contactID: Int64) throws(StoreError) {
    try run(
      """
      INSERT OR IGNORE INTO removed_messages (contact_id, shared_id)
      SELECT contact_id, shared_id FROM items WHERE contact_id = ? AND shared_id IS NOT NULL
      ORDER BY item_id DESC LIMIT 1000
      """, [.integer(contactID)])
  }

  private static let removalsKept: Int64 = 10_000

  package func isRemoved(contactID: Int64, sharedID: [UInt8]) throws(StoreError) -> Bool {
    try integer(
      "SELECT 1 FROM removed_messages WHERE contact_id = ? AND shared_id = ?", [.integer(contactID), .blob(sharedID)])
      != nil
  }

  /// Earlier events about a message that a contact has just sent.
  package enum Overtaken: Sendable {
    case nothing
    /// It was deleted before it arrived.
    case deleted
    /// An edit arrived first, and stands for it.
    case edited(itemID: Int64)
    /// Reactions to it arrived first.
    case reacted
  }

  /// A single statement, since a push pays for each.
  package func overtaken(contactID: Int64, sharedID: [UInt8]) throws(StoreError) -> Overtaken {
    try only(
      """
      SELECT EXISTS (SELECT 1 FROM removed_messages WHERE contact_id = ?1 AND shared_id = ?2),
        (SELECT item_id FROM items INDEXED BY items_shared
          WHERE contact_id = ?1 AND shared_id = ?2 AND overtook = 1),
        EXISTS (SELECT 1 FROM reactions WHERE contact_id = ?1 AND shared_id = ?2)
      """, [.integer(contactID), .blob(sharedID)]
    ) { row in
      if row.flag(0) { return .deleted }
      return row.optionalInteger(1).map { .edited(itemID: $0) } ?? (row.flag(2) ? .reacted : .nothing)
    } ?? .nothing
  }

  /// Whether the contact gets delivery receipts: by the contact's setting, or else by the profile's.
  package func sendsReceipts(contactID: Int64) throws(StoreError) -> Bool {
    try integer(
      """
      SELECT coalesce(contacts.sends_receipts, users.sends_receipts) FROM contacts JOIN users USING (user_id)
      WHERE contact_id = ?
      """, [.integer(contactID)]) == 1
  }

  // MARK: Reactions

  /// One side's reactions to the message by this name, which may not have arrived yet.
  package func reactions(contactID: Int64, sharedID: [UInt8], isOwn: Bool) throws(StoreError) -> [String] {
    try rows(
      "SELECT reaction FROM reactions WHERE contact_id = ? AND shared_id = ? AND own = ?",
      [.integer(contactID), .blob(sharedID), .flag(isOwn)]
    ) { $0.text(0) }
  }

  package func setReaction(
    _ reaction: StoredReaction, contactID: Int64, sharedID: [UInt8], isAdded: Bool, at time: WallTime
  ) throws(StoreError) {
    if isAdded {
      try run(
        "INSERT OR IGNORE INTO reactions (contact_id, shared_id, own, reaction, reacted_at) VALUES (?, ?, ?, ?, ?)",
        [
          .integer(contactID), .blob(sharedID), .flag(reaction.isOwn), .text(reaction.reaction),
          .integer(time.milliseconds),
        ])
    } else {
      try run(
        "DELETE FROM reactions WHERE contact_id = ? AND shared_id = ? AND own = ? AND reaction = ?",
        [.integer(contactID), .blob(sharedID), .flag(reaction.isOwn), .text(reaction.reaction)])
    }
  }

  /// The number of reactions in the contact's chat whose message is missing. Bounds what a contact can have stored.
  package func reactionsWithoutItem(contactID: Int64) throws(StoreError) -> Int64 {
    try integer(
      """
      SELECT count(*) FROM reactions WHERE contact_id = ?1 AND NOT EXISTS (
        SELECT 1 FROM items WHERE items.contact_id = ?1 AND items.shared_id = reactions.shared_id)
      """, [.integer(contactID)]) ?? 0
  }

  // MARK: Disappearing

  /// Starts an item's time, unless it is already running.
  package func startDisappearing(_ itemID: Int64, _ end: Disappearance) throws(StoreError) {
    try run(
      """
      UPDATE items SET delete_at = ?, delete_boot = ?, delete_moment = ?
      WHERE item_id = ? AND ttl IS NOT NULL AND delete_at IS NULL
      """, [.integer(end.at.milliseconds), .text(end.boot), .integer(end.moment.nanoseconds), .integer(itemID)])
  }

  /// Completes the user's unfinished messages as they are: nothing more is sent to the contact. Starts the time of
  /// those that disappear. Returns the completed messages.
  package func endLive(
    contactID: Int64, at time: WallTime, until end: (_ seconds: Int64) -> Disappearance?
  ) throws(StoreError) -> [Int64] {
    let unfinished = try rows(
      "SELECT item_id, ttl FROM items INDEXED BY items_unfinished WHERE contact_id = ? AND live = 1 AND sent = 1",
      [.integer(contactID)]
    ) { (id: $0.integer(0), secondsToLive: $0.optionalInteger(1)) }
    for item in unfinished {
      try run(
        "UPDATE items SET live = 0, updated_at = ? WHERE item_id = ?", [.integer(time.milliseconds), .integer(item.id)])
      if let end = item.secondsToLive.flatMap(end) { try startDisappearing(item.id, end) }
    }
    return unfinished.map(\.id)
  }

  /// After a boot only the wall clock knows how much time is left; from then on the clock since boot decides.
  package func continueDisappearing(boot: String, now: Moment, wall: WallTime) throws(StoreError) {
    let old = "delete_at IS NOT NULL AND delete_boot <> ?"
    guard try integer("SELECT 1 FROM items WHERE \(old) LIMIT 1", [.text(boot)]) != nil else { return }
    try transaction { () throws(StoreError) in
      try run(
        """
        UPDATE items SET delete_moment = ?2 + min(max(0, delete_at - ?3), ttl * 1000) * 1000000, delete_boot = ?1
        WHERE delete_at IS NOT NULL AND delete_boot <> ?1
        """, [.text(boot), .integer(now.nanoseconds), .integer(wall.milliseconds)])
    }
  }

  /// Items whose time is up, oldest first.
  package func disappeared(by now: Moment, limit: Int64) throws(StoreError) -> [StoredItem] {
    try rows(
      """
      SELECT \(Self.itemColumns) FROM items WHERE delete_at IS NOT NULL AND delete_moment <= ?
      ORDER BY delete_moment LIMIT ?
      """, [.integer(now.nanoseconds), .integer(limit)]
    ) { Self.item($0) }
  }

  /// When the next item disappears.
  package func nextDisappearance() throws(StoreError) -> Moment? {
    try integer("SELECT min(delete_moment) FROM items WHERE delete_at IS NOT NULL").map { Moment(nanoseconds: $0) }
  }
}
