import PorterPlatform
import PorterStore

/// A notification server's state, in one SQLite file that only its owner can read, because it holds keys.
///
/// Single-threaded. Changes that belong together are one transaction, which is durable when it returns unless it is a
/// `normal` one.
package final class ServerState {
  package enum Access: Sendable {
    /// Creates the file if it is missing, and keeps other servers out.
    case serve
    /// Reads alongside a running server, also the file of an earlier version, such as a backup.
    case look
    /// Like `look`, and changes single records.
    case alter
    /// Like `serve`, for a file with nothing worth keeping when it is opened, so that no commit waits for the disk.
    case work
  }

  /// Identifies the file among SQLite files: "NPsv".
  private static let applicationIdentifier: Int64 = 0x4E50_7376

  /// Pages kept in memory: the inner ones of each table and index, so that a query reads only the one page that has its
  /// answer, however many tokens there are.
  private static let cacheKibibytes = 64 << 10

  let database: Database
  /// Found since the file was opened, and not repaired since.
  var damaged = DamagedRecords()
  var log = Log.silent
  /// On a separate file: SQLite loses its locks whenever the process closes any descriptor of the database.
  private var lock: FileLock?
  private let access: Access

  package init(path: String, access: Access, ports: Ports = .system) throws(ServerError) {
    let path = try Self.canonical(path, ports.files)
    self.access = access
    switch access {
    case .serve, .work:
      lock = try FileLock(path + ".lock", ports.files)
      try PrivateFile.make(path, ports.files)
    case .look, .alter:
      lock = nil
    }
    var options = Database.Options(
      access: access == .look ? .readOnly : .readWrite, busyTimeout: .seconds(3),
      cacheKibibytes: access == .serve ? Self.cacheKibibytes : nil, ports: ports)
    options.mayBeFrozen = true
    options.isExclusive = access == .work
    do throws(SQLiteError) { database = try Database(path: path, options: options) } catch {
      switch error.kind {
      case .notADatabase: throw .notServerState
      case .cannotOpen: throw Self.cannotOpen(path, access, error, ports.files)
      default: throw .storage(error)
      }
    }
    try migrate(access)
    guard access == .work else { return }
    try storage { () throws(SQLiteError) in try database.execute("PRAGMA synchronous = OFF; DELETE FROM identity") }
    try beginWork()
  }

  /// Resolves the path, so that two servers given the same state under different names find the same lock.
  private static func canonical(_ path: String, _ files: any Files) throws(ServerError) -> String {
    do throws(SystemError) { return try files.canonicalPath(path) } catch {
      throw .cannotOpenState(systemError: error.code)
    }
  }

  private static func cannotOpen(
    _ path: String, _ access: Access, _ error: SQLiteError, _ files: any Files
  ) -> ServerError {
    let isMissing = (try? files.status(at: path, followingLinks: true)) == nil
    return access == .look && isMissing ? .neverRan : .cannotOpenState(systemError: error.systemError)
  }

  /// Closes the file, freeing it for another server.
  package func close() throws(ServerError) {
    defer { lock = nil }
    try storage { () throws(SQLiteError) in try database.close() }
  }

  /// After a `normal` transaction, a power failure leaves the file as it was before or after it. Anything that depends
  /// on it must not become durable before `synchronize`, or any later transaction, has returned.
  func transaction<Result>(
    _ durability: Database.Durability = .full, _ body: () throws(ServerError) -> Result
  ) throws(ServerError) -> Result {
    guard durability != .full else { return try database.transaction(.immediate, throwing: ServerError.self, body) }
    try storage { () throws(SQLiteError) in try database.choose(durability) }
    let outcome: Swift.Result<Result, ServerError>
    do throws(ServerError) {
      outcome = .success(try database.transaction(.immediate, throwing: ServerError.self, body))
    } catch {
      outcome = .failure(error)
    }
    try storage { () throws(SQLiteError) in try database.choose(.full) }
    return try outcome.get()
  }

  /// Waits until everything committed is on disk.
  func synchronize() throws(ServerError) {
    if access == .work { return }
    try storage { () throws(SQLiteError) in try database.synchronize() }
  }

  /// Runs several queries against one point in time.
  func reading<Result>(_ body: () throws(ServerError) -> Result) throws(ServerError) -> Result {
    try database.transaction(.deferred, throwing: ServerError.self, body)
  }

  /// Converts SQLite's errors to the server's.
  @discardableResult
  func storage<Result>(_ body: () throws(SQLiteError) -> Result) throws(ServerError) -> Result {
    try ServerError.carrying(body)
  }

  // MARK: Schema

  /// Only upgrades; the schema's number counts its migrations.
  private func migrate(_ access: Access) throws(ServerError) {
    let known = Int64(Self.migrations.count)
    switch access {
    case .look, .alter:
      // An operator's queries and changes concern only what the first version had. An upgrade is the server's: an
      // earlier one may be running.
      guard try reading(version) > 0 else { throw .neverRan }
    case .serve, .work:
      try transaction { () throws(ServerError) in
        let version = try version()
        guard version < known else { return }
        try storage { () throws(SQLiteError) in
          for migration in Self.migrations[Int(version)...] { try database.execute(migration) }
          try database.execute("PRAGMA application_id = \(Self.applicationIdentifier)")
          try database.setUserVersion(Int32(known))
        }
      }
    }
  }

  /// The file's; 0 if it is empty. Throws if it is not a server's, or a later version's.
  private func version() throws(ServerError) -> Int64 {
    let (version, application, tables) = try storage { () throws(SQLiteError) in
      (
        try database.userVersion, try database.integer("PRAGMA application_id") ?? 0,
        try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
      )
    }
    let isNew = version == 0 && tables == 0
    guard isNew || application == Self.applicationIdentifier else { throw .notServerState }
    guard version <= Int64(Self.migrations.count) else { throw .newerState(version: version) }
    return version
  }

  static let migrations = [
    """
    CREATE TABLE identity (
      number INTEGER PRIMARY KEY CHECK (number = 1),
      -- What requests are sealed to.
      box_key BLOB NOT NULL,
      -- Owns the server's mailbox at the relay.
      recipient_key BLOB NOT NULL,
      -- Whom the relay gives notifications to.
      service_key BLOB NOT NULL,
      -- Null until the relay has made the mailbox.
      recipient BLOB,
      sender BLOB
    ) STRICT;

    CREATE TABLE token (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      provider TEXT NOT NULL,
      push_token BLOB NOT NULL,
      -- Grows when the push token is replaced, so that the outcome of a push to the old one is not taken for the new one's.
      generation INTEGER NOT NULL,
      signing_key BLOB NOT NULL,
      client_box_key BLOB NOT NULL,
      box_key BLOB NOT NULL,
      push_key BLOB NOT NULL,
      code BLOB NOT NULL,
      -- A state of the machine server_token, by name.
      state TEXT NOT NULL,
      -- Minutes; 0 for no wake-ups.
      period INTEGER NOT NULL DEFAULT 0,
      -- Milliseconds since 1970.
      woken_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX token_address ON token (push_token, provider);
    CREATE INDEX token_signer ON token (signing_key);

    CREATE TABLE subscription (
      number INTEGER PRIMARY KEY,
      token INTEGER NOT NULL REFERENCES token ON DELETE CASCADE,
      notifier BLOB NOT NULL,
      key BLOB NOT NULL,
      status TEXT NOT NULL,
      UNIQUE (token, notifier)
    ) STRICT;
    CREATE INDEX subscription_notifier ON subscription (notifier);

    -- The newest of each subscription.
    CREATE TABLE notification (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      token INTEGER NOT NULL REFERENCES token ON DELETE CASCADE,
      subscription INTEGER NOT NULL UNIQUE REFERENCES subscription ON DELETE CASCADE,
      -- Since 1970.
      seconds INTEGER NOT NULL,
      nonce BLOB NOT NULL,
      metadata BLOB NOT NULL
    ) STRICT;
    CREATE INDEX notification_token ON notification (token, sequence);

    -- Pushes that are due. A message push carries the newest notifications at the time it is sent, so one a token is enough.
    CREATE TABLE push (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      token INTEGER NOT NULL REFERENCES token ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('verification', 'message', 'wake')),
      -- Grows when the push falls due again while it is under way.
      version INTEGER NOT NULL DEFAULT 0,
      UNIQUE (token, kind)
    ) STRICT;

    -- Requests that were carried out, so that a repeat is not.
    CREATE TABLE request (
      correlation BLOB PRIMARY KEY,
      signer BLOB NOT NULL,
      -- Null when it is too old to be given again.
      answer BLOB,
      answered_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX request_signer ON request (signer);
    CREATE INDEX request_age ON request (answered_at);
    """,
    // Each of the loop's queries uses an index, so that none slows down as tokens grow in number.
    """
    CREATE INDEX token_wake ON token (woken_at + period * 60000) WHERE period > 0 AND state = 'active';
    CREATE INDEX token_woken ON token (woken_at) WHERE period > 0 AND state = 'active';
    CREATE INDEX token_used ON token (used_at) WHERE state <> 'expired';
    DROP INDEX request_age;
    CREATE INDEX request_answered ON request (answered_at) WHERE answer IS NOT NULL;
    -- The token's, so that each provider has a queue of its own.
    ALTER TABLE push ADD COLUMN provider TEXT NOT NULL DEFAULT '';
    UPDATE push SET provider = (SELECT provider FROM token WHERE number = push.token);
    CREATE INDEX push_provider ON push (provider, sequence);
    """,
    // Wake-ups in a narrow table, ordered by due time: each changes the pages of those due with it, and no token's
    // pages.
    """
    -- The next of each token that has a period. One of another series than its token's is dropped when it is due.
    CREATE TABLE wake (
      -- Milliseconds since 1970.
      due_at INTEGER NOT NULL,
      token INTEGER NOT NULL,
      series INTEGER NOT NULL,
      -- The one before it, or when the series began.
      woken_at INTEGER NOT NULL,
      PRIMARY KEY (due_at, token, series)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX wake_woken ON wake (woken_at);
    INSERT INTO wake (due_at, token, series, woken_at)
      SELECT woken_at + period * 60000, number, number, woken_at FROM token WHERE period > 0;

    -- No series is given to two tokens, also when one gets the number of another that was deleted.
    CREATE TABLE wake_series (last INTEGER NOT NULL) STRICT;
    INSERT INTO wake_series (last) SELECT coalesce(max(number), 0) FROM token;
    ALTER TABLE token ADD COLUMN wake_series INTEGER NOT NULL DEFAULT 0;
    UPDATE token SET wake_series = number WHERE period > 0;
    DROP INDEX token_wake;
    DROP INDEX token_woken;
    ALTER TABLE token DROP COLUMN woken_at;
    """,
    // Pushes that their provider deferred; and when each token was registered, to compare with its provider's report.
    """
    -- Milliseconds since 1970; 0: unknown.
    ALTER TABLE token ADD COLUMN registered_at INTEGER NOT NULL DEFAULT 0;

    -- Milliseconds since 1970; 0: now.
    ALTER TABLE push ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
    DROP INDEX push_provider;
    CREATE INDEX push_provider ON push (provider, sequence) WHERE due_at = 0;
    CREATE INDEX push_deferred ON push (due_at) WHERE due_at > 0;
    """,
    // When a token was last used, by a clock that cannot be set.
    """
    -- How old the file is: see `StateAge`. Tokens that it had before count as used when it began.
    CREATE TABLE age (
      number INTEGER PRIMARY KEY CHECK (number = 1),
      boot TEXT NOT NULL,
      -- Nanoseconds of that boot.
      moment INTEGER NOT NULL,
      -- Milliseconds.
      age INTEGER NOT NULL
    ) STRICT;
    -- In a file that shared state is worked on in, milliseconds since 1970 by the cluster's clock.
    ALTER TABLE token ADD COLUMN used_age INTEGER NOT NULL DEFAULT 0;
    DROP INDEX token_used;
    CREATE INDEX token_used ON token (used_age) WHERE state <> 'expired';
    """,
    // The number of tokens: counting them would take longer the more there are.
    """
    CREATE TABLE token_count (number INTEGER PRIMARY KEY CHECK (number = 1), count INTEGER NOT NULL) STRICT;
    INSERT INTO token_count (number, count) SELECT 1, count(*) FROM token;
    CREATE TRIGGER token_added AFTER INSERT ON token BEGIN UPDATE token_count SET count = count + 1; END;
    CREATE TRIGGER token_removed AFTER DELETE ON token BEGIN UPDATE token_count SET count = count - 1; END;
    """,
    // Tokens that get no pushes are deleted. Most tokens are in neither index.
    """
    CREATE INDEX token_unusable ON token (used_age) WHERE state <> 'active' AND state <> 'expired';
    CREATE INDEX token_expired ON token (used_age) WHERE state = 'expired';
    """,
    // Notifications of one second may come in another order than their messages.
    """
    -- Since 1970, like `seconds`; 0: unknown.
    ALTER TABLE notification ADD COLUMN milliseconds INTEGER NOT NULL DEFAULT 0;
    """,
  ]
}
