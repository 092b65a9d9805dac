import PorterCrypto
import PorterPlatform

/// The one store that app and extension share: an SQLite file in WAL mode.
///
/// Threads: belongs to its controller's engine thread. Ownership: `close()` releases every file and lock. No method
/// waits for anything but the disk and, within `busyTimeout` and until `stop` is raised, another process's transaction.
package final class Store {
  package enum Confirmation: String, Sendable {
    case yesUp, yesUpDown, console, error
  }

  /// Bytes of log that closing leaves behind. A process that opens the store alone reads the whole log, and decrypts it
  /// if the store is sealed: with a limit of 1 MB a push into a sealed store took 0.8 ms longer on average. Cutting it
  /// costs two syncs, which fall on one push in twelve.
  package static let longestLog = 1 << 18
  /// How long cutting the log waits for other processes' locks.
  private static let cuttingPatience = Span.milliseconds(20)

  /// A commit that leaves more pages of log than this, of 4 KB each, writes it back. More than `longestLog`: a process
  /// that keeps the store open does not reread the log.
  private static let logPages = 256

  /// For new stores. A push changes a few hundred bytes in each of nine pages, and its log contains the whole pages.
  private static let pageSize: Int64 = 2_048

  /// Limits of the page cache, in KiB; an opening that may create the store is the app's. Pages not in the cache are
  /// decrypted again: SQLite's own speed test takes 1.7 times as long on a sealed store with 2 MB, 1.25 with 8. An
  /// extension has little memory, and a push rereads few pages. Its limit is in the file's header, where a connection
  /// that has set none finds it without a statement. An SQLite with OMIT_DEPRECATED does not look there, and uses its
  /// own default.
  private static let appCache = 8_192, extensionCache: Int64 = 512

  /// Part of the migration's transaction.
  func limitCache() throws(StoreError) {
    let size = try integer("PRAGMA page_size") ?? Self.pageSize
    try execute("PRAGMA default_cache_size=\(Self.extensionCache * 1_024 / size)")
  }

  package let database: Database
  /// Asked before each transaction; without one, every transaction may begin.
  package weak var gate: (any TransactionGate)?
  /// The durability of the connection's commits.
  private var durability = Database.Durability.full
  /// Actions waiting for the commit of the running transaction.
  private var awaitingCommit: [() -> Void] = []
  /// Called after a commit that leaves shown notifications to be removed, or may have changed the badge.
  package var screenOutdated: (() -> Void)?
  /// Called after a commit that makes a removal no longer due, with the numbers in `StoredWithdrawal`: an answer has
  /// named it, or its entry is on screen again.
  package var removalOver: ((_ entry: Int64?, _ id: Int64?) -> Void)?
  /// For the steps of machines whose states are rows.
  package var log = Log.silent
  private var silence = SilentFile.isRight

  private let stop: StopSignal?
  private let busyTimeout: Span
  /// As it was when the store was opened.
  private let header: Header
  var knownChannelKey: AuthenticationKey? { header.channelKey }

  private init(database: Database, header: Header, busyTimeout: Span, stop: StopSignal?) {
    self.database = database
    self.header = header
    self.busyTimeout = busyTimeout
    self.stop = stop
  }

  /// Opens the store, and creates or migrates it if `mayMigrate` and `confirmation` allow it. An extension never may
  /// (INC-23).
  ///
  /// The key is not kept here. Problems with the key or with a sealed file are reported as `StoreError.seal`.
  package static func open(
    at location: StoreLocation, key: StoreKey = .none, confirmation: Confirmation, mayMigrate: Bool,
    mayDoze: Bool = false, busyTimeout: Span = .seconds(3), stop: StopSignal? = nil, ports: Ports = .system
  ) throws(StoreError) -> Store {
    let store = try connect(
      to: location.resolved(ports.files).file, key: key, create: mayMigrate, mayDoze: mayDoze, busyTimeout: busyTimeout,
      stop: stop, ports: ports)
    do throws(StoreError) {
      try store.bringUpToDate(confirmation: confirmation, mayMigrate: mayMigrate)
    } catch {
      try? store.database.close(checkpoint: false)
      throw error
    }
    return store
  }

  /// Throws if the key or the file's first page is wrong. Opens the file, but reads nothing more.
  package static func check(_ location: StoreLocation, key: StoreKey, ports: Ports = .system) throws(StoreError) {
    let file = try location.resolved(ports.files).file
    do throws(SQLiteError) {
      try Database.check(path: file, options: Database.Options(access: .readOnly, key: key, ports: ports))
    } catch {
      throw StoreError(error, opening: file, creates: false, ports.files)
    }
  }

  /// The raw key of a store sealed with this passphrase. Takes 64 MB and about 0.1 s.
  package static func derivedKey(
    of location: StoreLocation, passphrase: Passphrase, ports: Ports = .system
  ) throws(StoreError) -> GuardedBytes {
    let location = try location.resolved(ports.files)
    let derived: GuardedBytes?
    do throws(SealError) { derived = try passphrase.key(for: location.file) } catch { throw .seal(error) }
    // Also reports why there is no key: the file is missing, plain, or not a database.
    try check(location, key: derived.map { .raw($0) } ?? .passphrase(passphrase), ports: ports)
    guard let derived else { throw .seal(.missing) }
    return derived
  }

  static func directory(of file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "." }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  private static func connect(
    to file: String, key: StoreKey, create: Bool, mayDoze: Bool, busyTimeout: Span, stop: StopSignal?, ports: Ports
  ) throws(StoreError) -> Store {
    do throws(SQLiteError) {
      // Held until SQLite's own lock is taken, which each connection that uses a log holds until it is closed.
      let lock = try OpeningLock(
        file: file, .shared, creates: create, timeout: busyTimeout, stop: stop, ports: ports)
      defer { withExtendedLifetime(lock) {} }
      // An extension does this too: the leftover may be a plain copy of a sealed store.
      if lock.isHeld { Rekeying.removeCopy(of: file, ports.files) }
      var options = Database.Options(
        access: create ? .create : .readWrite, durability: nil, key: key, busyTimeout: busyTimeout,
        cacheKibibytes: create ? Self.appCache : nil, logPages: Self.logPages, stop: stop, ports: ports)
      options.isPlainPath = true
      options.pageSize = Self.pageSize
      options.keepsTemporaryInMemory = create
      options.readsLater = true
      options.mayDoze = mayDoze
      let database = try Database(path: file, options: options)
      return Store(database: database, header: try Header(of: database), busyTimeout: busyTimeout, stop: stop)
    } catch {
      throw StoreError(error, opening: file, creates: create, ports.files)
    }
  }

  /// An extension leaves the log for the next process: writing it back would cost two syncs. But with `cutsLog` any
  /// process writes back a log that has grown long, even while others have the store open.
  package func close(checkpoint: Bool, cutsLog: Bool = false) throws(StoreError) {
    if cutsLog { cutLog() }
    do throws(SQLiteError) { try database.close(checkpoint: checkpoint) } catch { throw StoreError(error) }
  }

  /// Releases every lock but keeps the store's files open, for an extension between two pushes. Must be followed by
  /// `wake()` or `close()`. False if this is not possible; then the store must be closed. `cutsLog` as for `close`.
  package func doze(cutsLog: Bool) -> Bool {
    if cutsLog { cutLog() }
    return database.doze()
  }

  /// Takes the locks again. False if the store's file or schema has been replaced since, or is temporarily out of
  /// reach: then the store must be closed and opened again.
  package func wake() -> Bool {
    let file = database.path
    do throws(SQLiteError) {
      // As when opening: no process replaces the file while this is held.
      let lock = try OpeningLock(
        file: file, .shared, creates: false, timeout: busyTimeout, stop: stop, ports: database.ports)
      defer { withExtendedLifetime(lock) {} }
      if lock.isHeld { Rekeying.removeCopy(of: file, database.ports.files) }
      guard database.wake() else { return false }
    } catch {
      return false
    }
    guard let header = try? Header(of: database) else { return false }
    return header.application == Schema.applicationID && header.version == Int64(Schema.migrations.count)
  }

  /// Cuts the log as far as other processes and `stop` allow; the next process to close the store tries again.
  private func cutLog() {
    let cut = { [database] () throws(SQLiteError) in
      try database.cutLog(longerThan: Self.longestLog, waitingAtMost: Self.cuttingPatience)
    }
    let interrupter = database.interrupter
    if let stop {
      try? stop.interrupting(by: { interrupter.interrupt() }, cut)
    } else {
      try? cut()
    }
  }

  // MARK: Migrations

  private func bringUpToDate(confirmation: Confirmation, mayMigrate: Bool) throws(StoreError) {
    let version = try schemaVersion(header)
    let newest = Int64(Schema.migrations.count)
    guard version >= 0 else { throw .foreign }
    if version > newest { throw .newerSchema(version: version) }
    if version == newest { return }
    let isNew = version == 0
    let pending = Schema.migrations[Int(version)...]
    // A new file holds nothing that a migration could harm, so creating one needs no confirmation.
    guard mayMigrate, isNew || confirmation != .error else { throw .needsMigration(names: pending.map(\.name)) }
    try transaction { () throws(StoreError) in
      // Two processes may create one store at the same time; the second finds the work done.
      let current = try schemaVersion(StoreError.carrying { () throws(SQLiteError) in try Header(of: database) })
      guard current < newest else { return }
      guard current >= 0 else { throw .foreign }
      if current == 0 {
        try makeTables()
      } else {
        for migration in Schema.migrations[Int(current)...] {
          try execute(migration.sql)
          try migration.step?(self)
        }
      }
      try execute("PRAGMA application_id=\(Schema.applicationID); PRAGMA user_version=\(newest);")
    }
  }

  private func makeTables() throws(StoreError) {
    try execute(Schema.withoutComments(Schema.newest))
    let key = try newChannelKey()
    try run("INSERT INTO store (store_id, channel_key, items, entries) VALUES (1, ?, 0, 0)", [.blob(key)])
    try limitCache()
  }

  /// The kind of database in a file.
  private struct Header {
    let application: Int64
    let version: Int64
    /// Set only for the newest version.
    var channelKey: AuthenticationKey?

    init(of database: Database) throws(SQLiteError) {
      version = try database.integer("PRAGMA user_version") ?? 0
      if version == Schema.migrations.count, let key = try Self.key(in: database) {
        application = Schema.applicationID
        channelKey = AuthenticationKey(stored: key)
      } else {
        application = try database.integer("PRAGMA application_id") ?? 0
      }
    }

    /// Nil if there is no such table: its presence tells a store from another program's database.
    private static func key(in database: Database) throws(SQLiteError) -> [UInt8]? {
      do throws(SQLiteError) { return try database.first("SELECT channel_key FROM store") { $0.blob(0) } } catch {
        guard error.kind == .schema else { throw error }
        return nil
      }
    }
  }

  /// 0 for an empty file.
  private func schemaVersion(_ header: Header) throws(StoreError) -> Int64 {
    if header.application == Schema.applicationID { return header.version }
    let tables = try integer("SELECT count(*) FROM sqlite_schema") ?? 0
    guard header.application == 0, header.version == 0, tables == 0 else { throw .foreign }
    return 0
  }

  // MARK: Access with this layer's error

  @discardableResult
  package func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try transaction(.full, body)
  }

  /// A transaction that survives the process, but perhaps not a power failure: for changes that are harmless to lose
  /// because they would be made again. Saves one sync.
  @discardableResult
  package func lightTransaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    // The next write that must be durable takes care of it.
    try transaction(.normal, body)
  }

  /// Calls `action` once the running transaction has been committed, and never if it is rolled back. Must be called
  /// inside a transaction.
  package func afterCommit(_ action: @escaping () -> Void) {
    assert(database.isInTransaction, "nothing is to be committed")
    awaitingCommit.append(action)
  }

  private func transaction<Result>(
    _ durability: Database.Durability, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // Actions of a transaction in which this one was wrongly begun, and which refuses it.
    let before = awaitingCommit.count
    let result: Result
    do throws(StoreError) { result = try gatedTransaction(durability, body) } catch {
      awaitingCommit.removeSubrange(before...)
      throw error
    }
    let actions = awaitingCommit
    awaitingCommit = []
    for action in actions { action() }
    return result
  }

  private func gatedTransaction<Result>(
    _ durability: Database.Durability, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let gate = gate
    guard gate?.transactionBegins() ?? true else { throw .sqlite(SQLiteError(kind: .closed)) }
    defer { gate?.transactionEnded() }
    try require(durability)
    do throws(StoreError) {
      let result = try database.transaction(.immediate, throwing: StoreError.self) { () throws(StoreError) in
        let result = try body()
        try settleSilence()
        return result
      }
      if silence == .isToBeChanged { silence = .isRight }
      return result
    } catch {
      // It may have been written for changes that were not committed.
      if silence == .isToBeChanged, !database.isInTransaction { silence = .isToBeRepaired }
      throw error
    }
  }

  /// The work due on the file of silent mailboxes before the next commit.
  private enum SilentFile {
    case isRight
    /// By the running transaction, which does not commit without it.
    case isToBeChanged
    /// By any transaction that can: nothing else depends on the file.
    case isToBeRepaired
  }

  private func settleSilence() throws(StoreError) {
    switch silence {
    case .isRight: break
    case .isToBeChanged:
      try writeSilentMailboxes()
      gate?.silenceWritten()
    case .isToBeRepaired:
      do throws(StoreError) { try writeSilentMailboxes() } catch { return }
      silence = .isRight
    }
  }

  /// Has `SilentMailboxes` rewritten before the running transaction is committed.
  func noteSilence() {
    assert(database.isInTransaction, "nothing is to be committed")
    silence = .isToBeChanged
  }

  /// Sets the durability of the connection's commits from now on.
  private func require(_ durability: Database.Durability) throws(StoreError) {
    guard durability != self.durability else { return }
    // A transaction in which this one was wrongly begun keeps its own.
    guard !database.isInTransaction else {
      throw .sqlite(SQLiteError(kind: .misuse, detail: "transactions do not nest"))
    }
    do throws(SQLiteError) { try database.choose(durability) } catch { throw StoreError(error) }
    self.durability = durability
  }

  /// For a statement that may be a transaction of its own.
  private func requireFullOutsideOfTransactions() throws(StoreError) {
    if durability != .full, !database.isInTransaction { try require(.full) }
  }

  func execute(_ sql: String) throws(StoreError) {
    try requireFullOutsideOfTransactions()
    do throws(SQLiteError) { try database.execute(sql) } catch { throw StoreError(error) }
  }

  @discardableResult
  func run(_ sql: String, _ bindings: [Binding] = []) throws(StoreError) -> Int {
    try requireFullOutsideOfTransactions()
    do throws(SQLiteError) {
      let changes = try database.run(sql, bindings)
      if !database.isInTransaction { database.waiter.noteCommit() }
      return changes
    } catch { throw StoreError(error) }
  }

  func insert(_ sql: String, _ bindings: [Binding]) throws(StoreError) -> Int64 {
    try run(sql, bindings)
    return database.lastInsertedRow
  }

  func integer(_ sql: String, _ bindings: [Binding] = []) throws(StoreError) -> Int64? {
    do throws(SQLiteError) { return try database.integer(sql, bindings) } catch { throw StoreError(error) }
  }

  func rows<Result>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    var results: [Result] = []
    try database.query(sql, bindings, throwing: StoreError.self) { (row) throws(StoreError) in
      results.append(try map(row))
    }
    return results
  }

  func first<Result>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try only(sql + " LIMIT 1", bindings, map)
  }

  /// Like `first`, for a statement with at most one row. An array would need its own type for each kind of result.
  func only<Result>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    var result: Result?
    try database.query(sql, bindings, throwing: StoreError.self) { (row) throws(StoreError) in result = try map(row) }
    return result
  }
}
