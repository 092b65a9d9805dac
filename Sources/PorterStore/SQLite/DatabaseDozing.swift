import CDozingVFS
import CSQLite
import CSealedVFS

/// Releasing every lock without closing.
extension Database {
  /// The VFS of connections that may doze.
  static func dozingVFS() throws(SQLiteError) -> String {
    let code = dozing_vfs_register()
    guard code == SQLITE_OK else { throw SQLiteError(code: code) }
    return DOZING_VFS_NAME
  }

  /// Releases all locks, and keeps the file open and the statements compiled. Until `wake()` every statement fails. False if that
  /// cannot be done: then the database is as it was, or to be closed.
  package func doze() -> Bool {
    guard let handle else { return false }
    guard dozing_vfs_doze(handle) == SQLITE_OK else { return false }
    // A plain database has nothing to wipe, and says so.
    _ = sealed_vfs_wipe(handle, "main")
    return true
  }

  /// Takes the locks again. False if the file or its log is another one now, or a process keeps it for itself: then it is to be closed.
  package func wake() -> Bool {
    guard let handle else { return false }
    return dozing_vfs_wake(handle) == SQLITE_OK
  }
}
