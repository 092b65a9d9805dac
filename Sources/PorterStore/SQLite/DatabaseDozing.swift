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

  /// Releases all locks, but keeps the file open and the statements compiled. Until `wake()` every statement fails.
  /// False if this is not possible: then the database is either unchanged or must be closed.
  package func doze() -> Bool {
    guard let handle else { return false }
    guard dozing_vfs_doze(handle) == SQLITE_OK else { return false }
    // A plain database has nothing to wipe, and reports that.
    _ = sealed_vfs_wipe(handle, "main")
    return true
  }

  /// Takes the locks again. False if the file or its log has been replaced, or a process holds it exclusively: then it
  /// must be closed.
  package func wake() -> Bool {
    guard let handle else { return false }
    return dozing_vfs_wake(handle) == SQLITE_OK
  }
}
