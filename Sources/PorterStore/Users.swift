import PorterPlatform

extension Store {
  static let userColumns = """
    users.user_id, users.display_name, users.full_name, active, active_order, show_notifications, users.unread,
    users.created_at, users.profile, users.sends_receipts, view_hash, view_salt
    """

  package func users() throws(StoreError) -> [StoredUser] {
    try rows("SELECT \(Self.userColumns) FROM users ORDER BY user_id") { StoredUser($0) }
  }

  package func activeUser() throws(StoreError) -> StoredUser? {
    try first("SELECT \(Self.userColumns) FROM users WHERE active = 1") { StoredUser($0) }
  }

  package func user(_ id: Int64) throws(StoreError) -> StoredUser {
    let text = "SELECT \(Self.userColumns) FROM users WHERE user_id = ?"
    guard let user = try first(text, [.integer(id)], { StoredUser($0) }) else { throw .notFound(.user) }
    return user
  }

  /// Not found if reachable only by its password.
  package func visibleUser(_ id: Int64) throws(StoreError) -> StoredUser {
    let user = try user(id)
    guard !user.isOutOfSight else { throw .notFound(.user) }
    return user
  }

  /// Not found if its profile is reachable only by the password.
  package func visibleContact(_ id: Int64) throws(StoreError) -> StoredContact {
    let contact = try contact(id)
    guard try !user(contact.userID).isOutOfSight else { throw .notFound(.contact) }
    return contact
  }

  /// Not found if its profile is reachable only by the password.
  package func visibleContactRequest(_ id: Int64) throws(StoreError) -> StoredContactRequest {
    let request = try contactRequest(id)
    guard try !user(request.userID).isOutOfSight else { throw .notFound(.request) }
    return request
  }

  /// The new user becomes the active one.
  package func createUser(
    displayName: String, fullName: String, profile: String? = nil, at time: WallTime
  ) throws(StoreError) -> StoredUser {
    let id = try transaction { () throws(StoreError) in
      guard try integer("SELECT 1 FROM users WHERE display_name = ?", [.text(displayName)]) == nil else {
        throw .duplicate(.user)
      }
      let id = try insert(
        "INSERT INTO users (display_name, full_name, profile, created_at) VALUES (?, ?, ?, ?)",
        [.text(displayName), .text(fullName), .optional(profile), .integer(time.milliseconds)])
      try makeActive(id)
      return id
    }
    return try user(id)
  }

  package func setActiveUser(_ id: Int64) throws(StoreError) -> StoredUser {
    try transaction { () throws(StoreError) in
      _ = try user(id)
      try makeActive(id)
    }
    return try user(id)
  }

  /// Part of the caller's transaction.
  package func makeActive(_ id: Int64) throws(StoreError) {
    try run("UPDATE users SET active = 0 WHERE active = 1")
    try run(
      """
      UPDATE users SET active = 1, active_order = (SELECT max(active_order) + 1 FROM users) WHERE user_id = ?
      """, [.integer(id)])
  }

  /// Part of the caller's transaction.
  package func setUserProfile(
    _ id: Int64, displayName: String, fullName: String, profile: String?
  ) throws(StoreError) {
    let namesake = "SELECT 1 FROM users WHERE display_name = ? AND user_id <> ?"
    guard try integer(namesake, [.text(displayName), .integer(id)]) == nil else { throw .duplicate(.user) }
    try run(
      "UPDATE users SET display_name = ?, full_name = ?, profile = ? WHERE user_id = ?",
      [.text(displayName), .text(fullName), .optional(profile), .integer(id)])
  }

  package func setUserNotifications(_ id: Int64, shown: Bool) throws(StoreError) -> StoredUser {
    try transaction { () throws(StoreError) in
      try run("UPDATE users SET show_notifications = ? WHERE user_id = ?", [.flag(shown), .integer(id)])
      noteSilence()
      noteScreenOutdated()
    }
    return try user(id)
  }

  /// Hides the profile, or shows it again. A hidden profile is muted, so that it does not count in the badge, and its
  /// notifications on screen are withdrawn.
  package func setViewPassword(_ id: Int64, _ password: StoredPassword?) throws(StoreError) -> StoredUser {
    try transaction { () throws(StoreError) in
      try run(
        "UPDATE users SET view_hash = ?, view_salt = ?, show_notifications = ? WHERE user_id = ?",
        [.optional(password?.hash), .optional(password?.salt), .flag(password == nil), .integer(id)])
      if password != nil { try removeNotifications(userID: id) }
      noteSilence()
      noteScreenOutdated()
    }
    return try user(id)
  }

  /// Deletes the profile with its contacts. The caller ends its connections first. Part of the caller's transaction.
  package func deleteUser(_ id: Int64) throws(StoreError) {
    try keepNumbers()
    try run("DELETE FROM users WHERE user_id = ?", [.integer(id)])
    noteScreenOutdated()
  }

  /// `overridesContacts`: also for contacts that have a setting of their own.
  package func setUserReceipts(_ id: Int64, sent: Bool, overridesContacts: Bool) throws(StoreError) {
    try transaction { () throws(StoreError) in
      _ = try user(id)
      try run("UPDATE users SET sends_receipts = ? WHERE user_id = ?", [.flag(sent), .integer(id)])
      if overridesContacts {
        try run("UPDATE contacts SET sends_receipts = NULL WHERE user_id = ?", [.integer(id)])
      }
    }
  }

  /// Unread items over all profiles: the badge (INC-60).
  package func badge() throws(StoreError) -> Int64 { try overview(badge: true).badge }

  // MARK: Settings

  package func setting(_ name: String) throws(StoreError) -> String? {
    try first("SELECT value FROM settings WHERE name = ?", [.text(name)]) { $0.text(0) }
  }

  package func setSetting(_ name: String, _ value: String?) throws(StoreError) { try setSettings([name: value]) }

  /// Sets all of them or none.
  package func setSettings(_ settings: KeyValuePairs<String, String?>) throws(StoreError) {
    try transaction { () throws(StoreError) in
      for (name, value) in settings {
        if let value {
          try run(
            "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
            [.text(name), .text(value)])
        } else {
          try run("DELETE FROM settings WHERE name = ?", [.text(name)])
        }
      }
    }
  }
}
