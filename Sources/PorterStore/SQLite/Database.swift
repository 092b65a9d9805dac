import CSQLite
import CSealedVFS
import PorterPlatform

/// One connection to an SQLite file.
///
/// Threads: created, used and closed on one thread, or handed from one to the next as a whole; SQLite's own mutex is
/// off. Only `interrupter` may be used from others. Ownership: its creator closes it; releasing the last
/// reference closes it too, but cannot report a failure. After `close()` every call throws `closed`.
package final class Database {
  package enum Access: Sendable {
    /// The file must exist.
    case readOnly
    /// The file must exist.
    case readWrite
    /// The file is created if missing; its directory is not.
    case create
  }

  /// The guarantee of a commit when it returns (`PRAGMA synchronous`, in WAL mode).
  package enum Durability: Sendable {
    /// The commit is on the disk.
    case full
    /// The commit survives the process, but not a power failure: the log is synced at checkpoints.
    case normal
  }

  package struct Options: Sendable {
    package var access: Access
    /// For all commits, unless `setDurability` says otherwise; nil for `full`, which `choose` may change for individual
    /// ones.
    package var durability: Durability?
    /// The name of a registered VFS; nil for the system's. With a key, the VFS below the seal.
    package var vfs: String?
    /// The key the file is sealed with.
    package var key: StoreKey
    /// Requires that no other connection is open, and keeps others out; otherwise `busy`. No log is written beside the
    /// file.
    package var isExclusive: Bool
    /// How long a statement waits for a lock that another connection holds; 0: not at all.
    package var busyTimeout: Span
    package var foreignKeys: Bool
    /// The page cache's limit; nil for SQLite's default, 2000.
    package var cacheKibibytes: Int?
    /// The caller reads immediately after opening, which takes SQLite's lock and detects problems with the file. Saves
    /// the statement that does both when the file is already in WAL mode.
    package var readsLater = false
    /// Otherwise files may be written to the system's temporary folder, sealed like the database.
    package var keepsTemporaryInMemory = true
    /// For a new file; nil for SQLite's default.
    package var pageSize: Int64?
    /// How many pages of log, of 4096 bytes, make a commit write the log back; nil for SQLite's default, 1000. The
    /// first connection to a file reads its whole log, so a file that is opened often should have a short one.
    package var logPages: Int?
    /// Compiles nothing to open a file whose header says that it is in WAL mode: page cache and temporary tables keep
    /// SQLite's defaults.
    package var isPlain: Bool
    /// Stops this connection's work: a wait ends with `busy`, a long statement with `interrupted`. Nil: never.
    package var stop: StopSignal?
    /// The path is the file's one canonical name, as `plainPath` returns it.
    package var isPlainPath = false
    /// Whether `doze()` must be possible, for a connection through the system's VFS.
    package var mayDoze = false
    /// For `readOnly`: also opens a file on a medium that cannot be written; see `isFrozen`.
    package var mayBeFrozen = false
    package var ports: Ports

    package init(
      access: Access = .create, durability: Durability? = .full, vfs: String? = nil, key: StoreKey = .none,
      isExclusive: Bool = false, busyTimeout: Span = .seconds(3), foreignKeys: Bool = true,
      cacheKibibytes: Int? = nil, logPages: Int? = nil, isPlain: Bool = false, stop: StopSignal? = nil,
      ports: Ports = .system
    ) {
      self.access = access
      self.durability = durability
      self.vfs = vfs
      self.key = key
      self.isExclusive = isExclusive
      self.busyTimeout = busyTimeout
      self.foreignKeys = foreignKeys
      self.cacheKibibytes = cacheKibibytes
      self.logPages = logPages
      self.isPlain = isPlain
      self.stop = stop
      self.ports = ports
    }
  }

  package enum TransactionKind: Sendable {
    /// A lock is taken when the first statement needs it. For several reads as of one point in time.
    case deferred
    /// The write lock is taken, or waited for, immediately. For everything that writes.
    case immediate
    case exclusive
  }

  /// Absolute, and through no symbolic link.
  package let path: String
  /// Stops the running statement from any thread.
  package let interrupter = DatabaseInterrupter()

  private(set) var handle: OpaquePointer?
  /// Whether the VFS, or the one below the seal, is the process's default.
  let isOnSystemVFS: Bool
  let ports: Ports
  let waiter: BusyWaiter
  private var writeLock: FairWriteLock
  var logReport: LogReport?
  /// With room for the statements of a push.
  private var statements = [StatementText: Statement](minimumCapacity: 24)
  #if DEBUG
    /// Called for each statement run, on the thread that runs it. For tests that count statements.
    package var observer: ((String) -> Void)?
    /// Instructions that SQLite's virtual machine has executed for the cached statements. About ten for each row
    /// visited: for tests that compare the work of two stores.
    package var instructions: Int { statements.values.reduce(0) { $0 + $1.instructions } }
  #endif

  // MARK: Opening and closing

  /// Opens the file in WAL mode. Fails here if the file is not a database, or needs another key.
  package init(path: String, options: Options = Options()) throws(SQLiteError) {
    let path = options.isPlainPath ? path : try Self.plainPath(path, options.ports.files)
    self.path = path
    isOnSystemVFS = options.vfs == nil
    ports = options.ports
    waiter = BusyWaiter(
      timeout: options.busyTimeout, interrupter: interrupter, stop: options.stop, ports: options.ports)
    writeLock = FairWriteLock(beside: path, files: options.ports.files)
    let handle = try Self.open(path, options)
    self.handle = handle
    waiter.install(on: handle)
    interrupter.attach(handle)
    do throws(SQLiteError) {
      try configure(options)
    } catch {
      try? close()
      throw error
    }
  }

  deinit { try? close() }

  package var isOpen: Bool { handle != nil }

  /// Finalizes all statements and closes the file. Afterwards the process has no lock on the file or its log through
  /// this connection. Does nothing if already closed.
  ///
  /// With `checkpoint: false` the last connection leaves the log beside the file instead of writing it back, which
  /// saves two syncs; the next connection reads it.
  package func close(checkpoint: Bool = true) throws(SQLiteError) {
    guard let handle else { return }
    waiter.observesStop = false
    defer { waiter.observesStop = true }
    for statement in statements.values { statement.finalize() }
    statements.removeAll()
    // A transaction left open must not keep the file open.
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    sqlite3_db_config_integer(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, checkpoint ? 0 : 1)
    interrupter.detach()
    writeLock.close()
    let code = sqlite3_close(handle)
    guard code == SQLITE_OK else {
      interrupter.attach(handle)
      throw SQLiteError(code: code, in: handle)
    }
    self.handle = nil
  }

  private func configure(_ options: Options) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    // Settings with their own C function need no statement to be compiled.
    sqlite3_db_config_integer(handle, SQLITE_DBCONFIG_ENABLE_FKEY, options.foreignKeys ? 1 : 0)
    let header = header
    if let pages = options.logPages {
      let size = header?.pageSize ?? options.pageSize ?? 4_096
      sqlite3_wal_autocheckpoint(handle, Int32(clamping: max(1, Int64(pages) * 4_096 / size)))
    }
    if options.isPlain, header?.isInWALMode == true { return }
    var sql = ""
    if options.access == .create, header == nil, let size = options.pageSize { sql += "PRAGMA page_size=\(size);" }
    // Temporary tables and sorts stay in memory where there is room.
    if options.keepsTemporaryInMemory { sql += "PRAGMA temp_store=MEMORY;" }
    if options.isExclusive { sql += "PRAGMA locking_mode=EXCLUSIVE;" }
    if let limit = options.cacheKibibytes { sql += "PRAGMA cache_size=-\(max(0, limit));" }
    if options.access != .readOnly {
      if !sql.isEmpty { try execute(sql) }
      if let durability = options.durability ?? (isFullByDefault ? nil : .full) { try setDurability(durability) }
      if options.readsLater, header?.isInWALMode == true { return }
      // Two processes may create the file at the same time: SQLite reports `busy` to the second without waiting.
      try waiter.retrying { () throws(SQLiteError) in try enterWAL() }
    } else {
      // Reading the version reads the file's header, so a wrong file or key is reported here and not later.
      try execute(sql + "PRAGMA user_version;")
    }
  }

  /// Does nothing if the file is already in WAL mode.
  private func enterWAL() throws(SQLiteError) {
    let mode = try compile("PRAGMA journal_mode=WAL", persistent: false).first { $0.text(0) }
    // A VFS without shared memory leaves the mode unchanged, and reports no error.
    guard mode == "wal" else { throw SQLiteError(kind: .cannotOpen, detail: "no WAL mode here") }
  }

  // MARK: Statements

  /// Runs all statements of `sql`, which has no parameters; rows are ignored.
  package func execute(_ sql: String) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let interruptions = interrupter.interruptions
    waiter.interruptionsBefore = interruptions
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code != SQLITE_OK else { return }
    if code & 0xff == SQLITE_BUSY, interrupter.interruptions != interruptions {
      throw SQLiteError(code: SQLITE_INTERRUPT)
    }
    // Nothing can be bound here, so the parser's message can quote only the statement.
    throw code & 0xff == SQLITE_ERROR
      ? SQLiteError(code: code, detail: String(cString: sqlite3_errmsg(handle)))
      : SQLiteError(code: code, in: handle)
  }

  /// The prepared form of one statement, kept until the database is closed.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    let text = StatementText(sql: sql)
    if let statement = statements[text] { return statement }
    let statement = try compile(sql, persistent: true)
    statements[text] = statement
    return statement
  }

  /// Runs one statement to its end; returns the number of rows it changed.
  @discardableResult
  package func run(_ sql: String, _ bindings: [Binding] = []) throws(SQLiteError) -> Int {
    try idle(sql).run(bindings)
  }

  /// Calls `each` for every row. `each` may use the database, even with the same statement.
  package func query(
    _ sql: String, _ bindings: [Binding] = [], _ each: (borrowing Row) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try idle(sql).query(bindings, each)
  }

  /// Like `query`, for a closure that throws an error of the caller's layer.
  package func query<Failure: SQLiteFailure>(
    _ sql: String, _ bindings: [Binding] = [], throwing failure: Failure.Type,
    _ each: (borrowing Row) throws(Failure) -> Void
  ) throws(Failure) {
    let statement = try Failure.carrying { () throws(SQLiteError) in try idle(sql) }
    try statement.query(bindings, throwing: failure, each)
  }

  /// The result of `map` for each row.
  package func rows<Result>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> [Result] {
    var results: [Result] = []
    try query(sql, bindings) { (row) throws(SQLiteError) in results.append(try map(row)) }
    return results
  }

  /// The result of `map` for the first row; nil if there is none.
  package func first<Result>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result? {
    try idle(sql).first(bindings, map)
  }

  /// The first column of the first row; nil if there is no row or it is null.
  package func integer(_ sql: String, _ bindings: [Binding] = []) throws(SQLiteError) -> Int64? {
    try idle(sql).first(bindings) { $0.optionalInteger(0) } ?? nil
  }

  /// The prepared statement, or a second one with the same text if the caller is still iterating over its rows.
  private func idle(_ sql: String) throws(SQLiteError) -> Statement {
    #if DEBUG
      observer?(sql)
    #endif
    let statement = try prepare(sql)
    return statement.isRunning ? try compile(sql, persistent: false) : statement
  }

  private func compile(_ sql: String, persistent: Bool) throws(SQLiteError) -> Statement {
    guard let handle else { throw SQLiteError(kind: .closed) }
    var compiled: OpaquePointer?
    waiter.interruptionsBefore = interrupter.interruptions
    let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let (code, isOne) = sql.withCString { text in
      var rest: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(handle, text, -1, flags, &compiled, &rest)
      return (code, rest == nil || rest?.pointee == 0)
    }
    guard code == SQLITE_OK else {
      throw code & 0xff == SQLITE_ERROR
        ? SQLiteError(code: code, detail: String(cString: sqlite3_errmsg(handle)))
        : SQLiteError(code: code, in: handle)
    }
    // SQLite would silently ignore a second statement.
    guard isOne, let compiled else {
      sqlite3_finalize(compiled)
      throw SQLiteError(kind: .misuse, detail: "not exactly one statement")
    }
    return Statement(handle: compiled, waiter: waiter, interrupter: interrupter)
  }

  // MARK: Transactions

  /// Runs a transaction of one statement; returns the number of rows it changed.
  package func commit(_ sql: String, _ bindings: [Binding]) throws(SQLiteError) -> Int {
    waiter.interruptionsBefore = interrupter.interruptions
    waiter.takeTurn(at: &writeLock)
    defer { writeLock.leave() }
    return try run(sql, bindings)
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws. Transactions do not nest.
  @discardableResult
  package func transaction<Result>(
    _ kind: TransactionKind = .immediate, _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try transaction(kind, throwing: SQLiteError.self, body)
  }

  /// Like `transaction`, for a body that throws an error of the caller's layer.
  @discardableResult
  package func transaction<Result, Failure: SQLiteFailure>(
    _ kind: TransactionKind = .immediate, throwing failure: Failure.Type, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try beginTransaction(kind, throwing: failure)
    let result: Result
    do throws(Failure) {
      result = try body()
    } catch {
      rollBack()
      throw error
    }
    // If interrupted at its end, a successful commit would be reported as failed.
    waiter.observesStop = false
    defer { waiter.observesStop = true }
    do throws(SQLiteError) {
      try run("COMMIT")
    } catch {
      rollBack()
      throw Failure(error)
    }
    waiter.noteCommit()
    return result
  }

  /// For tests that interrupt short statements as well as long ones.
  func lookForStops(every instructions: Int32) {
    if let handle { waiter.install(on: handle, instructions: instructions) }
  }

  package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  private func beginTransaction<Failure: SQLiteFailure>(
    _ kind: TransactionKind, throwing failure: Failure.Type
  ) throws(Failure) {
    guard !isInTransaction else { throw Failure(SQLiteError(kind: .misuse, detail: "transactions do not nest")) }
    let sql =
      switch kind {
      case .deferred: "BEGIN DEFERRED"
      case .immediate: "BEGIN IMMEDIATE"
      case .exclusive: "BEGIN EXCLUSIVE"
      }
    guard kind != .deferred, isOpen else { return try begin(sql, throwing: failure) }
    waiter.interruptionsBefore = interrupter.interruptions
    waiter.takeTurn(at: &writeLock)
    defer { writeLock.leave() }
    try begin(sql, throwing: failure)
  }

  private func begin<Failure: SQLiteFailure>(_ sql: String, throwing failure: Failure.Type) throws(Failure) {
    do throws(SQLiteError) {
      try run(sql)
    } catch {
      // Even if interrupted at its end, the transaction has begun.
      rollBack()
      throw Failure(error)
    }
  }

  /// SQLite rolls back some failures by itself (a full disk); then nothing is left to do. If this fails, `close()` does
  /// it.
  private func rollBack() {
    guard isInTransaction else { return }
    waiter.observesStop = false
    defer { waiter.observesStop = true }
    _ = try? run("ROLLBACK")
  }
}
