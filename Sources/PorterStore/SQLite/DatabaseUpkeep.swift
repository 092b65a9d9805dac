import CLogSync
import CSQLite
import CSealedVFS
import PorterPlatform

/// The connection, its file and its log.
extension Database {
  /// How long a statement waits for a lock that another connection holds; 0: not at all.
  package var busyTimeout: Span {
    get { waiter.timeout }
    set { waiter.timeout = newValue }
  }

  /// Applies to later commits. Not inside a transaction, where SQLite refuses it.
  package func setDurability(_ durability: Durability) throws(SQLiteError) {
    // Not a cached statement: SQLite executes this pragma while preparing it, so a second run would do nothing.
    try execute(durability == .full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
  }

  /// Sets the guarantee of each transaction's commit from here on, on a connection whose commits are otherwise `full`.
  /// No statement is compiled for it.
  package func choose(_ durability: Durability) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let code = log_sync_choose(
      handle, durability == .full ? 1 : 0, isOnSystemVFS ? synchronizeLog : nil,
      Unmanaged.passUnretained(self).toOpaque())
    // Without a log each commit is on the disk anyway.
    guard code == SQLITE_OK || code == SQLITE_NOTFOUND else { throw SQLiteError(code: code, in: handle) }
  }

  /// Waits until everything committed is on the disk.
  package func synchronize() throws(SQLiteError) {
    guard isOpen else { throw SQLiteError(kind: .closed) }
    do throws(SystemError) { try ports.files.synchronizeContents(of: path + "-wal") } catch {
      throw SQLiteError(kind: .ioError, systemError: error.code, detail: "the log cannot be synced")
    }
  }

  /// The rowid of the last insert through this connection.
  package var lastInsertedRow: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// Rows changed by the last statement that changed any.
  package var changes: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// Stops the running statement; see `interrupter`, which other threads hold.
  package func interrupt() { interrupter.interrupt() }

  /// The schema's number in the file's header; the owner of the schema defines its meaning.
  package var userVersion: Int64 {
    get throws(SQLiteError) { try integer("PRAGMA user_version") ?? 0 }
  }

  /// Part of the running transaction, if there is one.
  package func setUserVersion(_ version: Int32) throws(SQLiteError) {
    try execute("PRAGMA user_version=\(version)")
  }

  /// Problems that SQLite finds in the file; empty if there are none. `quick` skips the comparison of indexes with
  /// their tables.
  package func integrityCheck(quick: Bool = false) throws(SQLiteError) -> [String] {
    do throws(SQLiteError) {
      let lines = try rows(quick ? "PRAGMA quick_check" : "PRAGMA integrity_check") { $0.text(0) }
      return lines == ["ok"] ? [] : lines
    } catch {
      // Damage can stop the check itself; that is a finding too.
      guard error.kind == .corrupt else { throw error }
      return [error.description]
    }
  }

  /// Writes the log back into the file as far as readers allow, without waiting for them.
  package func checkpoint() throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, in: handle) }
  }

  /// Makes commits leave the log as it is, however long it becomes, and `hasLongLog` report when it exceeds this many
  /// pages.
  package func reportLog(longerThan pages: Int) {
    guard let handle else { return }
    let report = LogReport(limit: pages)
    logReport = report
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context { Unmanaged<LogReport>.fromOpaque(context).takeUnretainedValue().note(Int(pages)) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(report).toOpaque())
  }

  /// Whether the last commit left more pages than `reportLog` was called with.
  package var hasLongLog: Bool { logReport?.isDue ?? false }

  /// Called when the log was written back as far as others allow. If it could not be restarted, it is reported again
  /// after as many more pages.
  package func forgetLongLog() { logReport?.postpone() }

  /// The size of the log's file, which does not shrink when the log has been written back and restarted.
  package var logBytes: Int {
    (try? ports.files.status(at: path + "-wal", followingLinks: true)).map { Int($0.size) } ?? 0
  }

  /// Writes the log back and empties its file, if that is larger than `bytes`.
  ///
  /// A commit does so only if the log has been written back, as far as this connection knows. The first commit after an
  /// opening never knows, because the log does not record what was written back before. So a file that is opened for
  /// one commit at a time would have a log that grows without bound.
  ///
  /// Waits for other connections' locks for `patience` in total; after that, leaves their log as it is.
  package func cutLog(longerThan bytes: Int, waitingAtMost patience: Span) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    guard logBytes > bytes else { return }
    let before = waiter.timeout
    waiter.timeout = min(before, patience)
    waiter.interruptionsBefore = interrupter.interruptions
    defer { waiter.timeout = before }
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, in: handle) }
  }

  /// Makes the database, and copies of it, leave room for a seal in each page.
  func reserveRoomForSeal() throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let code = sealed_vfs_prepare(handle, "main")
    guard code == SQLITE_OK else { throw SQLiteError(code: code, in: handle) }
  }
}

/// The length of the log.
final class LogReport {
  private let limit: Int
  private var pages = 0
  private var due: Int

  init(limit: Int) { (self.limit, due) = (limit, limit) }

  var isDue: Bool { pages > due }

  func note(_ pages: Int) {
    self.pages = pages
    if pages < limit { due = limit }
  }

  func postpone() { due = pages + limit }
}

/// Called by SQLite while the connection in `context` has its log open. Closing any descriptor of a file ends the
/// process's POSIX locks on it, but the log has no locks.
private let synchronizeLog: @convention(c) (UnsafeMutableRawPointer?) -> Bool = { context in
  guard let context else { return false }
  let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
  do throws(SystemError) {
    try database.ports.files.synchronizeContents(of: database.path + "-wal")
  } catch { return false }
  return true
}
