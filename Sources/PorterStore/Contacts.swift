import PorterPlatform

extension Store {
  /// All columns but the last.
  private static let contactRecordColumns = """
    contacts.contact_id, contacts.user_id, local_name, contacts.display_name, contacts.full_name, notifications, favorite,
    connections.unread, marked_unread, contacts.created_at, contacts.updated_at,
    coalesce(chat_at, kept_chat_at, contacts.created_at) AS recent, contacts.profile,
    contacts.sends_receipts, unread_mentions, contacts.local_alias, custom_data, user_preferences,
    kept_chat_at IS NOT NULL
    """
  private static let usersPreferences =
    "CASE WHEN json_valid(users.profile) THEN json_extract(users.profile, '$.preferences') END"
  static let contactColumns = """
    \(contactRecordColumns), (SELECT \(usersPreferences) FROM users WHERE users.user_id = contacts.user_id)
    """
  /// For queries that join the contact's user.
  static let contactColumnsBesideUser = "\(contactRecordColumns), \(usersPreferences)"
  static let contactColumnCount: Int32 = 20
  private static let contactTables = "contacts LEFT JOIN connections ON connections.contact_id = contacts.contact_id"

  /// Reads the columns starting at `first`.
  static func contact(_ row: borrowing Row, at first: Int32 = 0) throws(StoreError) -> StoredContact {
    guard let notifications = NotificationSetting(rawValue: row.text(first + 5)) else { throw .damaged(.contact) }
    return StoredContact(
      id: row.integer(first), userID: row.integer(first + 1), localName: row.text(first + 2),
      displayName: row.text(first + 3), fullName: row.text(first + 4), profile: row.optionalText(first + 12),
      notifications: notifications, isFavorite: row.flag(first + 6),
      sendsReceipts: row.optionalInteger(first + 13).map { $0 != 0 },
      unread: row.integer(first + 7), unreadMentions: row.integer(first + 14),
      isMarkedUnread: row.flag(first + 8), createdAt: WallTime(milliseconds: row.integer(first + 9)),
      updatedAt: WallTime(milliseconds: row.integer(first + 10)),
      chatAt: WallTime(milliseconds: row.integer(first + 11)),
      localAlias: row.text(first + 15), customData: row.optionalText(first + 16),
      preferences: row.optionalText(first + 17), isKept: row.flag(first + 18),
      usersPreferences: row.optionalText(first + 19))
  }

  package func contact(_ id: Int64) throws(StoreError) -> StoredContact {
    let found = try first(
      "SELECT \(Self.contactColumns) FROM \(Self.contactTables) WHERE contacts.contact_id = ?", [.integer(id)]
    ) { (row) throws(StoreError) in try Self.contact(row) }
    guard let found else { throw .notFound(.contact) }
    return found
  }

  /// Most recent chat first. Omits damaged contacts, which are reported when requested individually.
  package func contacts(userID: Int64, limit: Int64 = -1) throws(StoreError) -> [StoredContact] {
    let found = try rows(
      """
      SELECT \(Self.contactColumns) FROM \(Self.contactTables) WHERE contacts.user_id = ?
      ORDER BY recent DESC, contacts.contact_id DESC LIMIT ?
      """, [.integer(userID), .integer(limit)]
    ) { (row) throws(StoreError) -> StoredContact? in
      do throws(StoreError) { return try Self.contact(row) } catch .damaged { return nil }
    }
    return found.compactMap { $0 }
  }

  package func contact(userID: Int64, localName: String) throws(StoreError) -> StoredContact? {
    try first(
      "SELECT \(Self.contactColumns) FROM \(Self.contactTables) WHERE contacts.user_id = ? AND local_name = ?",
      [.integer(userID), .text(localName)]
    ) { (row) throws(StoreError) in try Self.contact(row) }
  }

  /// Part of the caller's transaction. A second contact with the same name gets a local name with a number appended.
  package func insertContact(
    userID: Int64, displayName: String, fullName: String, profile: String? = nil, at time: WallTime
  ) throws(StoreError) -> Int64 {
    let localName = try freeLocalName(displayName, userID: userID)
    return try insert(
      """
      INSERT INTO contacts (user_id, local_name, display_name, full_name, created_at, updated_at, profile)
      VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
      """,
      [
        .integer(userID), .text(localName), .text(displayName), .text(fullName), .integer(time.milliseconds),
        .optional(profile),
      ])
  }

  private func freeLocalName(_ displayName: String, userID: Int64) throws(StoreError) -> String {
    var localName = displayName
    var number = 1
    while try integer(
      "SELECT 1 FROM contacts WHERE user_id = ? AND local_name = ?", [.integer(userID), .text(localName)]) != nil
    {
      localName = "\(displayName)_\(number)"
      number += 1
    }
    return localName
  }

  /// Gives a name to a contact that had none of its own.
  package func nameContact(_ id: Int64, userID: Int64, displayName: String) throws(StoreError) {
    try run(
      "UPDATE contacts SET local_name = ? WHERE contact_id = ?",
      [.text(try freeLocalName(displayName, userID: userID)), .integer(id)])
  }

  package func setContactAlias(_ id: Int64, _ alias: String) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try run("UPDATE contacts SET local_alias = ? WHERE contact_id = ?", [.text(alias), .integer(id)])
    }
  }

  package func setCustomData(_ id: Int64, _ data: String?) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try run("UPDATE contacts SET custom_data = ? WHERE contact_id = ?", [.optional(data), .integer(id)])
    }
  }

  /// Part of the caller's transaction.
  package func setContactPreferences(_ id: Int64, _ preferences: String?) throws(StoreError) {
    try run("UPDATE contacts SET user_preferences = ? WHERE contact_id = ?", [.optional(preferences), .integer(id)])
  }

  package func setContactProfile(
    _ id: Int64, displayName: String, fullName: String, profile: String?, at time: WallTime
  ) throws(StoreError) {
    try run(
      "UPDATE contacts SET display_name = ?, full_name = ?, profile = ?, updated_at = ? WHERE contact_id = ?",
      [.text(displayName), .text(fullName), .optional(profile), .integer(time.milliseconds), .integer(id)])
  }

  /// Muting takes the chat's unread items out of the badge, and unmuting puts them back, in one transaction.
  package func setChatSettings(
    _ id: Int64, _ setting: NotificationSetting, isFavorite: Bool, sendsReceipts: Bool?
  ) throws(StoreError) {
    try transaction { () throws(StoreError) in
      let before = try contact(id)
      var after = before
      after.notifications = setting
      try run(
        "UPDATE contacts SET notifications = ?, favorite = ?, sends_receipts = ? WHERE contact_id = ?",
        [.text(setting.rawValue), .flag(isFavorite), .optional(sendsReceipts.map { $0 ? Int64(1) : 0 }), .integer(id)])
      try addUnread(after.countedUnread - before.countedUnread, userID: before.userID)
      if setting != before.notifications { noteSilence() }
    }
  }

  package func markChatUnread(_ id: Int64, _ unread: Bool) throws(StoreError) {
    try transaction { () throws(StoreError) in
      _ = try contact(id)
      try run("UPDATE contacts SET marked_unread = ? WHERE contact_id = ?", [.flag(unread), .integer(id)])
    }
  }

  /// Deletes the contact with its items. The caller ends its connection first. Part of the caller's transaction.
  package func deleteContact(_ id: Int64) throws(StoreError) {
    let contact = try contact(id)
    try addUnread(-contact.countedUnread, userID: contact.userID)
    try keepNumbers()
    try run("DELETE FROM contacts WHERE contact_id = ?", [.integer(id)])
  }

  /// Keeps the conversation as it is: read, with nothing unfinished or still waiting to be sent. The caller ends the
  /// contact's connection next. Part of the caller's transaction.
  package func keepConversation(
    contactID: Int64, at time: WallTime, until end: (_ seconds: Int64) -> Disappearance?
  ) throws(StoreError) {
    try recordRead(contactID: contactID, only: nil, at: time, until: end)
    _ = try endLive(contactID: contactID, at: time, until: end)
    let (contact, now) = (Binding.integer(contactID), Binding.integer(time.milliseconds))
    try run(
      """
      UPDATE items SET status = 'sndErrorAuth', updated_at = ?2
      WHERE item_id IN (SELECT item_id FROM outbox WHERE connection_id = (
        SELECT connection_id FROM connections WHERE contact_id = ?1))
      """, [contact, now])
    try run("UPDATE contact_requests SET contact_id = NULL WHERE contact_id = ?", [contact])
    try run(
      """
      UPDATE contacts SET updated_at = ?2, kept_chat_at = coalesce(
        (SELECT chat_at FROM connections WHERE connections.contact_id = contacts.contact_id), created_at)
      WHERE contact_id = ?1
      """, [contact, now])
  }

  /// Sets a chat's unread counts, and with them the badge (INC-60). Part of the caller's transaction.
  func setUnread(
    _ contact: StoredContact, to unread: Int64, mentions: Int64
  ) throws(StoreError) -> StoredContact {
    var after = contact
    (after.unread, after.unreadMentions) = (max(0, unread), max(0, mentions))
    try run(
      "UPDATE connections SET unread = ?, unread_mentions = ? WHERE contact_id = ?",
      [.integer(after.unread), .integer(after.unreadMentions), .integer(contact.id)])
    try addUnread(after.countedUnread - contact.countedUnread, userID: contact.userID)
    return after
  }

  func addUnread(_ count: Int64, userID: Int64) throws(StoreError) {
    guard count != 0 else { return }
    try run("UPDATE users SET unread = max(0, unread + ?) WHERE user_id = ?", [.integer(count), .integer(userID)])
    noteScreenOutdated()
  }
}

extension StoredContact {
  /// The chat's share of the badge: all unread items, those that mention the user, or none.
  var countedUnread: Int64 {
    switch notifications {
    case .all: unread
    case .mentions: unreadMentions
    case .none: 0
    }
  }
}
