import PorterCrypto
import PorterPlatform
import PorterStore

/// The embedded relay's SQLite file: opens it, and carries out requests on it. One thread at a time.
///
/// A client's mistake is thrown as the error the relay answers with; a failure of the file as `storage`.
final class RelayFile {
  /// An answer, and the sockets to wake now that it is committed.
  struct Reply {
    var answer: RelayAnswer
    var recipients: [String] = []
    var services: [String] = []
  }

  let database: Database
  let ports: Ports
  let log: Log
  /// The durability of the connection's commits; nil before the first transaction.
  private var durability: Database.Durability?
  private var nextSweep = Moment(nanoseconds: .min)
  private var decoyKey: SigningPublicKey?
  private var decoyCheckKey: RelayCheckKey?
  private var age: RelayAge?
  /// Whether several requests are being carried out in one transaction.
  private var isGathering = false
  /// Called with the entity of a request signed by its key: throws if the entity has used up its share.
  var admission: ((RelayIdentifier) throws(RelayError) -> Void)?
  private let cacheKibibytes: Int
  private let isBrief: Bool
  private var foundLongLog = false
  /// Number of messages dropped since the file was opened.
  private var dropped = 0
  /// The last message given to a recipient.
  var given: Given?

  struct Given {
    let message: RelayIdentifier
    let number: Int64
    /// Whether a service had yet to take its notification. Once there is none, there never will be.
    let notifies: Bool
  }

  /// A short log keeps the first opening after a crash, or after `releaseFiles()`, fast: the whole log is read.
  static let logPages = 256
  /// For a process opened for one push.
  private static let mostCacheKibibytes = 128
  /// For a process that leaves the work to an exchange that may wait: some hundred messages.
  private static let mostLogPages = 1_024

  var clock: any Clock { ports.clock }
  var randomness: any Randomness { ports.randomness }

  init(
    path: String, access: Database.Access = .create, ports: Ports, log: Log,
    busyTimeout: Span = .seconds(3), cacheKibibytes: Int = 512, logPages: Int = RelayFile.logPages,
    isBrief: Bool = false, mayDoze: Bool = false, mayMigrate: Bool = true, stop: StopSignal? = nil
  ) throws(RelayError) {
    self.ports = ports
    self.log = log
    self.cacheKibibytes = cacheKibibytes
    self.isBrief = isBrief
    var options = Database.Options(
      access: access, durability: nil, busyTimeout: busyTimeout, cacheKibibytes: cacheKibibytes,
      logPages: logPages, isPlain: isBrief, stop: stop, ports: ports)
    options.mayDoze = mayDoze
    do throws(SQLiteError) { database = try Database(path: path, options: options) } catch {
      throw .storage(error)
    }
    if isBrief {
      database.reportLog(longerThan: Self.mostLogPages)
      lookAtLog()
    }
    do throws(RelayError) {
      try migrate(mayMigrate)
    } catch {
      // Otherwise closing would write the log back.
      try? database.close(checkpoint: false)
      throw error
    }
  }

  /// Releases every lock, and keeps the file open. Returns false if the file must be closed.
  func doze() -> Bool {
    (given, dropped) = (nil, 0)
    return database.doze()
  }

  /// Takes the locks again. Returns false if the file must be closed and reopened: it was replaced, or a later version
  /// of this library changed it.
  func wake() -> Bool {
    guard database.wake(), hasCurrentHeader else { return false }
    lookAtLog()
    return true
  }

  /// Whether a brief opening found the log long, or made it long: then a caller that may wait must write it back.
  var hasLongLog: Bool { foundLongLog || database.hasLongLog }

  private func lookAtLog() { foundLongLog = database.logBytes > EmbeddedRelay.longestLog }

  /// Does as much as other processes allow; the next opening retries.
  func writeLogBack(waitingAtMost patience: Span) {
    lookAtLog()
    guard hasLongLog else { return }
    foundLongLog = false
    // SQLite opens the log on the first read, and does not write back a log it has not opened. An interruption that
    // came while idle would end the work; it ends with the next statement.
    _ = try? isCurrent()
    try? database.cutLog(longerThan: EmbeddedRelay.longestLog, waitingAtMost: patience)
    database.forgetLongLog()
  }

  private var hasCurrentHeader: Bool {
    guard let header = database.header else { return false }
    return header.applicationIdentifier == Self.applicationIdentifier && header.userVersion == Self.schemaVersion
  }

  /// The age of the file, in milliseconds; see `RelayAge`.
  func now() throws(SQLiteError) -> Int64 { try readAge().value(at: clock.now()) }

  /// Messages stored at a lower age of the file are past their retention.
  func oldestKept() throws(SQLiteError) -> Int64 { Self.oldestKept(at: try now()) }

  static func oldestKept(at age: Int64) -> Int64 { age &- RelayLimits.retentionDays * 86_400_000 }

  /// Like `now`, for a caller that has read the stored values; nil if there are none.
  func age(stored: RelayAge.Stored?) throws(SQLiteError) -> Int64 {
    try readAge { () throws(SQLiteError) in stored }.value(at: clock.now())
  }

  private func readAge() throws(SQLiteError) -> RelayAge {
    try readAge { () throws(SQLiteError) in try RelayAge.stored(in: database) }
  }

  private func readAge(_ stored: () throws(SQLiteError) -> RelayAge.Stored?) throws(SQLiteError) -> RelayAge {
    if let age { return age }
    let read = try RelayAge(try stored(), of: database, ports: ports)
    // Until something is stored, each process would count from its own start.
    if read.isStored { age = read }
    return read
  }

  // MARK: Transactions

  /// Runs `body` in a transaction of the given durability.
  func commit<Result>(
    _ durability: Database.Durability, _ body: () throws(RelayError) -> Result
  ) throws(RelayError) -> Result {
    if isGathering { return try database.nested(throwing: RelayError.self, body) }
    try set(durability)
    return try database.transaction(.immediate, throwing: RelayError.self, body)
  }

  /// Runs `body`, which carries out several requests, in one transaction of the given durability. If one is refused,
  /// its changes are undone.
  func gather<Result>(
    _ durability: Database.Durability, _ body: () throws(RelayError) -> Result
  ) throws(RelayError) -> Result {
    try set(durability)
    return try database.transaction(.immediate, throwing: RelayError.self) { () throws(RelayError) in
      isGathering = true
      defer { isGathering = false }
      return try body()
    }
  }

  /// Likewise for one statement. Returns the number of rows changed.
  @discardableResult
  func commit(
    _ durability: Database.Durability, _ sql: String, _ bindings: [Binding]
  ) throws(RelayError) -> Int {
    if !isGathering { try set(durability) }
    return try storage { () throws(SQLiteError) in
      isGathering ? try database.run(sql, bindings) : try database.commit(sql, bindings)
    }
  }

  private func set(_ durability: Database.Durability) throws(RelayError) {
    guard durability != self.durability else { return }
    try storage { () throws(SQLiteError) in
      // A brief opening does without the statement.
      if isBrief, database.isFullByDefault {
        try database.choose(durability)
      } else {
        try database.setDurability(durability)
      }
    }
    self.durability = durability
  }

  /// Makes savings that a brief opening skips until the second dropped message, since before that they cost more than
  /// they save. The cache is limited, and the pages of a dropped body are not overwritten with zeros, because it is
  /// sealed.
  func saveForMany() throws(RelayError) {
    guard isBrief else { return }
    dropped += 1
    guard dropped == 2 else { return }
    try storage { () throws(SQLiteError) in
      try database.execute(
        "PRAGMA cache_size=-\(min(cacheKibibytes, Self.mostCacheKibibytes)); PRAGMA secure_delete=OFF;")
    }
  }

  /// Converts SQLite's errors to the relay's.
  @discardableResult
  func storage<Result>(_ body: () throws(SQLiteError) -> Result) throws(RelayError) -> Result {
    try RelayError.carrying(body)
  }

  // MARK: Who may

  /// Throws `auth` unless `key` signed the request. Without a key, as for a nonexistent entity, does the same work
  /// without a result, so that the time taken does not reveal which case it was.
  func authorize(_ request: RelayRequest, key: SigningPublicKey?) throws(RelayError) {
    try authorize(request.signature, of: request.signedBytes, key: key)
  }

  func authorize(_ signature: [UInt8]?, of bytes: [UInt8], key: SigningPublicKey?) throws(RelayError) {
    guard let signature else { throw .auth }
    let claimed: SigningPublicKey
    if let key { claimed = key } else { claimed = try someKey() }
    guard claimed.isValid(signature: signature, for: bytes), key != nil else { throw .auth }
  }

  private func someKey() throws(RelayError) -> SigningPublicKey {
    if let decoyKey { return decoyKey }
    let key = try RelayError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      try SigningKeyPair.generate(randomness: randomness).publicKey
    }
    decoyKey = key
    return key
  }

  /// Stands in for a key that a mailbox does not have.
  func someCheckKey() throws(RelayError) -> RelayCheckKey {
    if let decoyCheckKey { return decoyCheckKey }
    guard let key = RelayCheckKey(bytes: randomness.bytes(RelayCheckKey.count)) else { throw .unavailable }
    decoyCheckKey = key
    return key
  }

  // MARK: Retention

  /// Removes some of the messages past their retention: rarely, and never more at a time than a sender can wait for.
  func sweep() throws(RelayError) {
    let now = clock.now()
    guard now >= nextSweep else { return }
    let most = 64
    if try removeDeleted(most) { return }
    // Oldest first: messages are numbered in order of arrival.
    let removed = try storage { () throws(SQLiteError) in
      try readAge().store(in: database, ports: ports)
      return try database.run(
        """
        DELETE FROM message WHERE stored_at < ?1 AND number IN (SELECT number FROM message ORDER BY number LIMIT ?2)
        """, [.integer(try oldestKept()), .integer(Int64(most))])
    }
    if removed < most { nextSweep = now + .seconds(3_600) }
    if removed > 0 { log(.info, "relay: removed messages past their retention", ["count": String(removed)]) }
  }

  /// Removes messages of a deleted mailbox, and the mailbox with its last ones. Returns whether there was one.
  private func removeDeleted(_ most: Int) throws(RelayError) -> Bool {
    try storage { () throws(SQLiteError) in
      guard let mailbox = try database.integer("SELECT mailbox FROM deleted_mailbox LIMIT 1") else { return false }
      let removed = try database.run(
        "DELETE FROM message WHERE number IN (SELECT number FROM message WHERE mailbox = ?1 LIMIT ?2)",
        [.integer(mailbox), .integer(Int64(most))])
      if removed < most { try database.run("DELETE FROM mailbox WHERE number = ?1", [.integer(mailbox)]) }
      return true
    }
  }

  /// The next message that is sent continues to remove what was deleted.
  func sweepSoon() { nextSweep = Moment(nanoseconds: .min) }
}

// MARK: Schema

extension RelayFile {
  /// "NPRL" in the file's header.
  private static let applicationIdentifier: Int64 = 0x4e50_524c
  private static let schemaVersion: Int64 = 6

  private func migrate(_ mayMigrate: Bool) throws(RelayError) {
    // Another process may upgrade the file to a later version at any moment, even after it was opened here.
    if hasCurrentHeader { return }
    guard mayMigrate else { throw .storage(SQLiteError(kind: .busy)) }
    if try storage({ () throws(SQLiteError) in try isCurrent() }) { return }
    // Two processes may get here at the same time; the second then finds the work done.
    try commit(.full) { () throws(RelayError) in
      try storage { () throws(SQLiteError) in
        guard try !isCurrent() else { return }
        let version = try database.userVersion
        let isKnown = try isOfVersion(version) && (1..<Self.schemaVersion).contains(version)
        let known = isKnown ? version : 0
        if known == 0, try database.integer("SELECT count(*) FROM sqlite_master") != 0 {
          throw SQLiteError(kind: .schema, detail: "the file is a database, but not a relay's of this version")
        }
        for version in Self.versions.dropFirst(Int(known)) { try database.execute(version) }
      }
    }
    // Writes it into the header, where the next opening looks. Otherwise that needs a query.
    try? database.checkpoint()
  }

  private func isCurrent() throws(SQLiteError) -> Bool { try isOfVersion(Self.schemaVersion) }

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
    CREATE INDEX service_subscription_listener ON service_subscription(listener);
    -- Mailboxes without a name, whose messages are deleted a few at a time.
    CREATE TABLE deleted_mailbox(mailbox INTEGER PRIMARY KEY REFERENCES mailbox ON DELETE CASCADE);
    PRAGMA user_version=\(schemaVersion);
    """
}
