import CSQLite
import CSealedVFS
import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Changes, sets or removes a store's key: a copy under the new key takes the file's place.
///
/// At any moment the path leads to either the old store or the new one, whole: the copy is made beside it, checked, and
/// synced before `rename`, which is atomic in the file system. A leftover copy is deleted by the next process to open
/// the store. The old file's blocks are returned to the disk without being overwritten.
///
/// No other process may have the store open; fails with `busy` otherwise. A process that tries to open it in the
/// meantime waits, up to its own busy timeout; a later one with the old key gets the error for a wrong key.
package enum Rekeying {
  /// Points at which a test kills the process, or fills the disk.
  package enum Stage: String, Sendable, CaseIterable {
    case locked, logWrittenBack, copied, checked, synced, renamed
  }

  /// The path of the copy while it is being made.
  static func copy(of file: String) -> String { file + "-rekey" }

  /// The store must exist and not be open in this process. Throws the same errors as `Store.open`. If `stop` is raised
  /// before the copy is in place, throws `interrupted` or `busy`, and the old store is unchanged.
  package static func run(
    _ location: StoreLocation, from current: StoreKey, to new: StoreKey, busyTimeout: Span = .seconds(3),
    stop: StopSignal? = nil, ports: Ports = .system, reached: (Stage) -> Void = { _ in }
  ) throws(StoreError) {
    let file = try location.resolved(ports.files).file
    let lock = try StoreError.carrying { () throws(SQLiteError) in
      try OpeningLock(file: file, .exclusive, creates: true, timeout: busyTimeout, stop: stop, ports: ports)
    }
    defer { withExtendedLifetime(lock) {} }
    removeCopy(of: file, ports.files)
    reached(.locked)
    let options = Database.Options(access: .readWrite, key: current, busyTimeout: busyTimeout, stop: stop, ports: ports)
    try writeBackLog(file, options)
    reached(.logWrittenBack)
    do throws(SQLiteError) {
      try replace(file, options, by: new, under: lock, reached: reached)
    } catch {
      removeCopy(of: file, ports.files)
      throw StoreError(error)
    }
  }

  /// Deletes the files left behind by a process killed while making a copy. The caller holds the opening lock. The
  /// journals go first, so that the copy exists as long as any of the files does.
  static func removeCopy(of file: String, _ files: any Files) {
    let copy = copy(of: file)
    // A dangling link would be in the way too.
    guard (try? files.status(at: copy)) != nil else { return }
    for suffix in ["-journal", "-wal", "-shm", ""] { try? files.remove(copy + suffix) }
  }

  /// An ordinary opening, which detects every problem with the file and the key.
  private static func writeBackLog(_ file: String, _ options: Database.Options) throws(StoreError) {
    let source: Database
    do throws(SQLiteError) { source = try Database(path: file, options: options) } catch {
      throw StoreError(error, opening: file, creates: false, options.ports.files)
    }
    let application = try StoreError.carrying { () throws(SQLiteError) in
      try source.integer("PRAGMA application_id")
    }
    guard application == Schema.applicationID else { throw .foreign }
    try StoreError.carrying { () throws(SQLiteError) in try source.close() }
  }

  private static func replace(
    _ file: String, _ options: Database.Options, by new: StoreKey, under lock: OpeningLock, reached: (Stage) -> Void
  ) throws(SQLiteError) {
    let files = options.ports.files
    var options = options
    options.isExclusive = true
    let copy = copy(of: file)
    let source = try Database(path: file, options: options)
    try makeEmpty(copy, like: file, files)
    try interruptible(source, options.stop) { () throws(SQLiteError) in try source.vacuum(into: copy, key: new) }
    let version = try source.userVersion
    try source.close()
    reached(.copied)

    try check(copy, key: new, version: version, stop: options.stop, ports: options.ports)
    reached(.checked)
    try carrying(.ioError) { () throws(SystemError) in try files.synchronize(copy) }
    reached(.synced)
    // A log that could not be written back or deleted belongs to the old file: beside the new one it would be another
    // database's log, and a journal would be rolled back into it.
    guard isGone(file + "-wal", files), isGone(file + "-journal", files) else { throw SQLiteError(kind: .ioError) }
    guard lock.isCurrent else { throw SQLiteError(kind: .busy) }
    try carrying(.cannotOpen) { () throws(SystemError) in try files.rename(copy, to: file) }
    reached(.renamed)
    // If this fails, a power failure may bring back the old store, as whole as it was.
    try? files.synchronize(Store.directory(of: file))
  }

  /// Whether the file holds nothing that the next opening of the store would read.
  private static func isGone(_ path: String, _ files: any Files) -> Bool {
    do throws(SystemError) { return try files.status(at: path).size == 0 } catch { return error.code == ENOENT }
  }

  private static func carrying(
    _ kind: SQLiteError.Kind, _ body: () throws(SystemError) -> Void
  ) throws(SQLiteError) {
    do throws(SystemError) { try body() } catch { throw SQLiteError(kind: kind, systemError: error.code) }
  }

  /// Creates the copy's file, still empty, with the owner and permissions of the store's file. The latter is not opened
  /// for this: closing it would drop the POSIX locks of this process's connections, including another controller's.
  /// Where that cannot be avoided, the opening lock keeps other processes away.
  private static func makeEmpty(_ copy: String, like file: String, _ files: any Files) throws(SQLiteError) {
    do throws(SystemError) {
      // Only one of its names would lead to the copy. Under any other the store would be unchanged, plain or under the
      // old key.
      guard try files.status(at: file, followingLinks: true).links == 1 else { throw SystemError(EMLINK) }
      let new = try files.open(copy, for: .creating)
      defer { files.close(new) }
      try files.copyAttributes(of: file, to: new)
    } catch {
      guard error.code != EMLINK else {
        throw SQLiteError(kind: .misuse, detail: "the file has another name, a hard link")
      }
      throw failure(error.code)
    }
  }

  private static func failure(_ reason: Int32) -> SQLiteError {
    switch reason {
    case ENOSPC, EDQUOT: SQLiteError(kind: .full, systemError: reason)
    case EACCES, EPERM, EROFS: SQLiteError(kind: .readOnly, systemError: reason)
    default: SQLiteError(kind: .cannotOpen, systemError: reason)
    }
  }

  /// Reads the whole copy. Also brings it into WAL mode, so that the next process to open it need not write.
  private static func check(
    _ copy: String, key: StoreKey, version: Int64, stop: StopSignal?, ports: Ports
  ) throws(SQLiteError) {
    let database = try Database(
      path: copy, options: Database.Options(access: .readWrite, key: key, stop: stop, ports: ports))
    let application = try database.integer("PRAGMA application_id")
    let copied = try database.userVersion
    let complaints = try interruptible(database, stop) { () throws(SQLiteError) in try database.integrityCheck() }
    guard application == Schema.applicationID, copied == version, complaints.isEmpty else {
      throw SQLiteError(kind: .corrupt)
    }
    try database.close()
    // Everything must be in the one file that is renamed.
    guard !ports.files.exists(copy + "-wal") else { throw SQLiteError(kind: .ioError) }
  }

  /// For the two statements that read the whole store, during which SQLite checks too rarely whether to stop.
  private static func interruptible<Result>(
    _ database: Database, _ stop: StopSignal?, _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    guard let stop else { return try body() }
    let interrupter = database.interrupter
    return try stop.interrupting(by: { interrupter.interrupt() }) { () throws(SQLiteError) in
      if stop.cutsOff { throw SQLiteError(kind: .interrupted) }
      return try body()
    }
  }
}

extension Database {
  /// A copy of the database in a new or empty file, under its own key. No other caller may use this path.
  func vacuum(into path: String, key: StoreKey) throws(SQLiteError) {
    let vfs: String
    if key.isNone {
      guard let name = sqlite3_vfs_find(nil)?.pointee.zName else { throw SQLiteError(kind: .other) }
      vfs = String(cString: name)
    } else {
      vfs = try Sealing.vfs(over: nil)
      try reserveRoomForSeal()
    }
    let address = "file:\(Self.percentEncoded(path))?vfs=\(Self.percentEncoded(vfs))"
    // The caller's opening lock makes the path its own.
    try Sealing.withKey(key, ownPath: path) { () throws(SQLiteError) in
      _ = try run("VACUUM INTO ?", [.text(address)])
    }
  }

  /// For a path in a URI, even one with spaces, question marks or characters beyond ASCII.
  private static func percentEncoded(_ path: String) -> String {
    var result = ""
    for byte in path.utf8 {
      switch byte {
      case 0x2d...0x39, 0x41...0x5a, 0x5f, 0x61...0x7a: result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%" + TextEncoding.hex([byte])
      }
    }
    return result
  }
}
