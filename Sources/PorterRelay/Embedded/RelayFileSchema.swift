import PorterStore

/// The tables, and what each version of them adds.
extension RelayFile {
  /// "NPRL" in the file's header.
  static let applicationIdentifier: Int64 = 0x4e50_524c
  static let schemaVersion: Int64 = 6

  func migrate(_ mayMigrate: Bool, isReadOnly: Bool) throws(RelayError) {
    // Another process may upgrade the file to a later version at any moment, even after it was opened here.
    if hasCurrentHeader { return }
    guard mayMigrate else { throw .storage(SQLiteError(kind: .busy)) }
    if try storage({ () throws(SQLiteError) in try isCurrent() }) { return }
    // An administrator reads the file of an earlier version, such as a backup, as it is.
    if isReadOnly, try storage({ () throws(SQLiteError) in try knownVersion() }) > 0 { return }
    // Two processes may get here at the same time; the second then finds the work done.
    try commit(.full) { () throws(RelayError) in
      try storage { () throws(SQLiteError) in
        guard try !isCurrent() else { return }
        let known = try knownVersion()
        if known == 0, try database.integer("SELECT count(*) FROM sqlite_master") != 0 {
          throw SQLiteError(kind: .schema, detail: "the file is a database, but not a relay's of this version")
        }
        for version in Self.versions.dropFirst(Int(known)) { try database.execute(version) }
      }
    }
    // Writes it into the header, where the next opening looks. Otherwise that needs a query.
    try? database.checkpoint()
  }

  /// The file's version, if it is an earlier one; otherwise 0.
  private func knownVersion() throws(SQLiteError) -> Int64 {
    let version = try database.userVersion
    return try isOfVersion(version) && (1..<Self.schemaVersion).contains(version) ? version : 0
  }

  func isCurrent() throws(SQLiteError) -> Bool { try isOfVersion(Self.schemaVersion) }

  private func isOfVersion(_ version: Int64) throws(SQLiteError) -> Bool {
    guard try database.userVersion == version else { return false }
    return try database.integer("PRAGMA application_id") == Self.applicationIdentifier
  }

  /// What each version adds to the one before.
  private static let versions = [firstVersion, secondVersion, thirdVersion, fourthVersion, fifthVersion, sixthVersion]

  /// An acknowledged message stays as a row without a body until its retention ends, so that a late resend is
  /// recognised by `attempt`.
  private static let firstVersion = """
    CREATE TABLE mailbox(
      number INTEGER PRIMARY KEY,
      recipient BLOB NOT NULL UNIQUE,
      recipient_key BLOB NOT NULL UNIQUE,
      sender BLOB NOT NULL UNIQUE,
      sender_key BLOB,
      created_at INTEGER NOT NULL
    );
    CREATE TABLE message(
      number INTEGER PRIMARY KEY,
      mailbox INTEGER NOT NULL REFERENCES mailbox ON DELETE CASCADE,
      identifier BLOB NOT NULL,
      attempt BLOB NOT NULL,
      sent_at INTEGER NOT NULL,
      notify INTEGER NOT NULL,
      body BLOB
    );
    CREATE UNIQUE INDEX message_attempt ON message(mailbox, attempt);
    CREATE INDEX message_waiting ON message(mailbox, number) WHERE body IS NOT NULL;
    CREATE TABLE notifier(
      mailbox INTEGER PRIMARY KEY REFERENCES mailbox ON DELETE CASCADE,
      identifier BLOB NOT NULL UNIQUE,
      key BLOB NOT NULL,
      recipient_box_key BLOB NOT NULL,
      relay_box_key BLOB NOT NULL,
      shared_key BLOB NOT NULL,
      service BLOB
    );
    CREATE TABLE notification(
      message INTEGER PRIMARY KEY REFERENCES message ON DELETE CASCADE,
      mailbox INTEGER NOT NULL REFERENCES notifier ON DELETE CASCADE,
      sent_at INTEGER NOT NULL,
      nonce BLOB NOT NULL UNIQUE,
      metadata BLOB NOT NULL
    );
    CREATE INDEX notification_mailbox ON notification(mailbox);
    CREATE TABLE listener(
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    );
    CREATE TABLE subscription(
      mailbox INTEGER NOT NULL REFERENCES mailbox ON DELETE CASCADE,
      listener INTEGER NOT NULL REFERENCES listener ON DELETE CASCADE,
      PRIMARY KEY(mailbox, listener)
    ) WITHOUT ROWID;
    CREATE TABLE service_subscription(
      service BLOB NOT NULL,
      listener INTEGER NOT NULL REFERENCES listener ON DELETE CASCADE,
      PRIMARY KEY(service, listener)
    ) WITHOUT ROWID;
    PRAGMA application_id=\(applicationIdentifier);
    PRAGMA user_version=1;
    """

  /// Messages of the first version are kept for another 21 days.
  private static let secondVersion = """
    CREATE TABLE age(
      age_id INTEGER PRIMARY KEY CHECK (age_id = 1),
      boot TEXT NOT NULL,
      moment INTEGER NOT NULL,
      age INTEGER NOT NULL
    );
    -- The file's age when the message was stored; `sent_at` is shown to people.
    ALTER TABLE message ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
    PRAGMA user_version=2;
    """

  private static let thirdVersion = """
    -- Nanoseconds of the running boot; see `NotificationHold`.
    ALTER TABLE notification ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX notification_held ON notification(held_until) WHERE held_until > 0;
    ALTER TABLE listener ADD COLUMN unanswered_since INTEGER;
    PRAGMA user_version=3;
    """

  private static let fourthVersion = """
    -- Null until its owner has shared one.
    ALTER TABLE mailbox ADD COLUMN check_key BLOB;
    PRAGMA user_version=4;
    """

  private static let fifthVersion = """
    -- Notifications that a service took while the message's recipient listened. They are apart from those that wait, which a service
    -- asks for all the time.
    CREATE TABLE taken_notification(
      message INTEGER PRIMARY KEY REFERENCES message ON DELETE CASCADE,
      mailbox INTEGER NOT NULL REFERENCES notifier ON DELETE CASCADE,
      sent_at INTEGER NOT NULL,
      nonce BLOB NOT NULL,
      metadata BLOB NOT NULL
    );
    CREATE INDEX taken_notification_mailbox ON taken_notification(mailbox);
    -- A listener ends with all its subscriptions, and one of many is found by it.
    CREATE INDEX subscription_listener ON subscription(listener);
    PRAGMA user_version=5;
    """

  private static let sixthVersion = """
    -- Its notifier's: a service's notifications are found without looking through those of others.
    ALTER TABLE notification ADD COLUMN service BLOB;
    UPDATE notification SET service = (SELECT service FROM notifier WHERE notifier.mailbox = notification.mailbox);
    CREATE INDEX notification_service ON notification(service, message) WHERE service IS NOT NULL;
    CREATE INDEX notification_due ON notification(service, held_until) WHERE held_until > 0;
    -- Also for a process of an earlier version that has the file open.
    CREATE TRIGGER notification_named AFTER INSERT ON notification WHEN new.service IS NULL BEGIN
      UPDATE notification SET service = (SELECT service FROM notifier WHERE notifier.mailbox = new.mailbox)
      WHERE message = new.message;
    END;
    CREATE TRIGGER notifier_taken AFTER UPDATE OF service ON notifier BEGIN
      UPDATE notification SET service = new.service WHERE mailbox = new.mailbox;
    END;
    CREATE INDEX service_subscription_listener ON service_subscription(listener);
    -- Mailboxes without a name, whose messages are deleted a few at a time.
    CREATE TABLE deleted_mailbox(mailbox INTEGER PRIMARY KEY REFERENCES mailbox ON DELETE CASCADE);
    PRAGMA user_version=\(schemaVersion);
    """
}
