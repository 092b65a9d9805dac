import CSQLite
import PorterPlatform

extension Database {
  /// Copies a snapshot of the file to a new file. All pages are copied in one read transaction: writers do not wait for
  /// it, and their commits do not make it start over.
  ///
  /// For files that are not sealed. The copy is not in WAL mode, so that it can be read where nothing can be written.
  /// Deletes the partial copy if it cannot be completed.
  package func backUp(to path: String) throws(SQLiteError) {
    guard let handle else { throw SQLiteError(kind: .closed) }
    let path = try Self.plainPath(path, ports.files)
    // Created here: SQLite would create it with permissions for others, or write into an existing one.
    do throws(SystemError) { ports.files.close(try ports.files.open(path, for: .creating)) } catch {
      throw SQLiteError(kind: .cannotOpen, systemError: error.code)
    }
    do throws(SQLiteError) {
      let copy = try Self.open(path, Options(access: .readWrite, ports: ports))
      defer { sqlite3_close(copy) }
      try Self.copyPages(of: handle, to: copy)
      try Self.leaveWAL(copy)
      try carryingBackup { () throws(SystemError) in try ports.files.synchronize(path) }
      try carryingBackup { () throws(SystemError) in try ports.files.synchronize(Self.directory(of: path)) }
    } catch {
      try? ports.files.remove(path)
      throw error
    }
  }

  private static func copyPages(of source: OpaquePointer, to copy: OpaquePointer) throws(SQLiteError) {
    guard let backup = sqlite3_backup_init(copy, "main", source, "main") else {
      throw SQLiteError(code: sqlite3_errcode(copy), in: copy)
    }
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else { throw SQLiteError(code: code, in: copy) }
  }

  /// Damage is copied like everything else; the caller finds it when it verifies the copy.
  private static func leaveWAL(_ copy: OpaquePointer) throws(SQLiteError) {
    let code = sqlite3_exec(copy, "PRAGMA journal_mode=DELETE", nil, nil, nil)
    guard code == SQLITE_OK || code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB else {
      throw SQLiteError(code: code, in: copy)
    }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private func carryingBackup(_ body: () throws(SystemError) -> Void) throws(SQLiteError) {
    do throws(SystemError) { try body() } catch { throw SQLiteError(kind: .ioError, systemError: error.code) }
  }

  /// Rows that refer to missing rows, as `table: number`; empty if there are none.
  package func foreignKeyCheck() throws(SQLiteError) -> [String] {
    let tables = try rows("PRAGMA foreign_key_check") { $0.text(0) }
    var counts = [String: Int]()
    for table in tables { counts[table, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
  }
}
