import CSQLite

/// A prepared statement. Belongs to its `Database`: same thread, and unusable (`closed`) once that is closed.
///
/// Most callers use `Database.run` and `Database.query`, which keep statements prepared by their text. Holding a
/// `Statement` saves the look-up.
package final class Statement {
  /// Nil once the database is closed.
  private(set) var handle: OpaquePointer?
  private let waiter: BusyWaiter
  private let interrupter: DatabaseInterrupter

  init(handle: OpaquePointer, waiter: BusyWaiter, interrupter: DatabaseInterrupter) {
    self.handle = handle
    self.waiter = waiter
    self.interrupter = interrupter
  }

  deinit { finalize() }

  func finalize() {
    guard let handle else { return }
    sqlite3_finalize(handle)
    self.handle = nil
  }

  /// Whether the statement is in the middle of its rows.
  var isRunning: Bool { handle.map { sqlite3_stmt_busy($0) != 0 } ?? false }

  #if DEBUG
    var instructions: Int { handle.map { Int(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_VM_STEP, 0)) } ?? 0 }
  #endif

  // MARK: Whole executions

  /// Runs the statement to its end, ignoring rows; returns the number of rows it changed (0 for a statement that
  /// changes none).
  @discardableResult
  package func run(_ bindings: [Binding] = []) throws(SQLiteError) -> Int {
    try bind(bindings)
    defer { reset() }
    while try step() {}
    guard let handle, sqlite3_stmt_readonly(handle) == 0 else { return 0 }
    return Int(sqlite3_changes(sqlite3_db_handle(handle)))
  }

  /// Calls `each` for every row.
  package func query(
    _ bindings: [Binding] = [], _ each: (borrowing Row) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try query(bindings, throwing: SQLiteError.self, each)
  }

  /// Calls `each`, which may throw an error of the caller's layer, for every row.
  package func query<Failure: SQLiteFailure>(
    _ bindings: [Binding] = [], throwing failure: Failure.Type, _ each: (borrowing Row) throws(Failure) -> Void
  ) throws(Failure) {
    try Failure.carrying { () throws(SQLiteError) in try bind(bindings) }
    defer { reset() }
    while try Failure.carrying({ () throws(SQLiteError) in try step() }), let handle {
      try each(Row(of: handle))
    }
  }

  /// The result of `map` for the first row; nil if there is none.
  package func first<Result>(
    _ bindings: [Binding] = [], _ map: (borrowing Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result? {
    try bind(bindings)
    defer { reset() }
    guard try step(), let handle else { return nil }
    return try map(Row(of: handle))
  }

  // MARK: By hand

  /// Binds all parameters in order; the remaining ones are null.
  package func bind(_ bindings: [Binding]) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    guard bindings.count <= Int(sqlite3_bind_parameter_count(handle)) else { throw SQLiteError(kind: .misuse) }
    sqlite3_clear_bindings(handle)
    var position: Int32 = 1
    for binding in bindings {
      switch binding {
      case .null: break
      case .integer(let value): try bind(value, at: position)
      case .real(let value): try bind(value, at: position)
      case .text(let value): try bind(value, at: position)
      case .blob(let value): try bind(value, at: position)
      }
      position += 1
    }
  }

  /// Parameters are numbered from 1, as in `?1`.
  package func bind(_ value: Int64, at position: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, position, value))
  }

  package func bind(_ value: Double, at position: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, position, value))
  }

  /// SQLite copies the text, once.
  package func bind(_ value: String, at position: Int32) throws(SQLiteError) {
    var value = value
    let code = value.withUTF8 { bytes in
      // An empty buffer may have no address, which SQLite would take for null.
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map {
          sqlite3_bind_text64(handle, position, $0, UInt64(characters.count), transient, UInt8(SQLITE_UTF8))
        } ?? sqlite3_bind_text(handle, position, "", 0, nil)
      }
    }
    try check(code)
  }

  /// SQLite copies the bytes, once.
  package func bind(_ value: [UInt8], at position: Int32) throws(SQLiteError) {
    let code = value.withUnsafeBytes { bytes in
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, position, 0)
        : sqlite3_bind_blob64(handle, position, bytes.baseAddress, UInt64(bytes.count), transient)
    }
    try check(code)
  }

  /// True if the statement is now on a row, false at the end. After an error it is reset.
  package func step() throws(SQLiteError) -> Bool {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let interruptions = interrupter.interruptions
    waiter.interruptionsBefore = interruptions
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    let error =
      code & 0xff == SQLITE_BUSY && interrupter.interruptions != interruptions
      ? SQLiteError(code: SQLITE_INTERRUPT) : SQLiteError(code: code, in: sqlite3_db_handle(handle))
    sqlite3_reset(handle)
    throw error
  }

  /// Returns it to its start, which releases its read lock. Parameters are cleared, so that no secret stays bound.
  package func reset() {
    guard let handle else { return }
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code != SQLITE_OK else { return }
    guard let handle else { throw SQLiteError(kind: .closed) }
    throw SQLiteError(code: code, in: sqlite3_db_handle(handle))
  }
}

/// Tells SQLite to copy bound values before the call returns (its SQLITE_TRANSIENT, a cast that Swift does not import).
private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

/// The text of a cached statement. Texts have hundreds of characters, and a push looks up about a hundred: their
/// lengths and ends distinguish nearly all of them.
struct StatementText: Hashable {
  let sql: String

  func hash(into hasher: inout Hasher) {
    let end = sql.utf8.withContiguousStorageIfAvailable { text in
      text.suffix(16).reduce(UInt64(truncatingIfNeeded: text.count)) { $0 &* 31 &+ UInt64($1) }
    }
    hasher.combine(end ?? UInt64(truncatingIfNeeded: sql.utf8.count))
  }
}
