import CSQLite
import CSealedVFS
import PorterCrypto
import Synchronization

/// The sealed VFS between the wrapper and SQLite, registered when the first key is used and never before.
enum Sealing {
  /// One opening at a time: the C registry has one key per path, and two controllers may use different ones.
  private static let opening = Mutex<Void>(())

  /// The VFS that seals over `base` (nil: the system's).
  static func vfs(over base: String?) throws(SQLiteError) -> String {
    let name = base.map { "\(SEALED_VFS_NAME)-\($0)" } ?? SEALED_VFS_NAME
    let code = sealed_vfs_register(name, base)
    guard code == SQLITE_OK else { throw SQLiteError(code: code) }
    return name
  }

  /// Runs `body`, which opens or creates the file, while its key is registered. Afterwards only the connections opened
  /// hold the key.
  static func withKey<Value: Sendable>(
    _ key: StoreKey, path: String, _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    if case .none = key { return try body() }
    let key = try derived(key, for: path)
    return try opening.withLock { _ in registered(key, path, body) }.get()
  }

  /// Like `withKey`, for a path that no other caller in this process can use, since the caller holds a lock on it.
  /// `body` may take long: no other opening waits for it.
  static func withKey<Value>(
    _ key: StoreKey, ownPath path: String, _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    if case .none = key { return try body() }
    return try registered(try derived(key, for: path), path, body).get()
  }

  private static func registered<Value>(
    _ key: StoreKey, _ path: String, _ body: () throws(SQLiteError) -> Value
  ) -> Result<Value, SQLiteError> {
    let code = register(key, path)
    guard code == SQLITE_OK else { return .failure(SQLiteError(code: code)) }
    defer { sealed_vfs_forget_key(path) }
    return Result { () throws(SQLiteError) in try body() }
  }

  private static func register(_ key: StoreKey, _ path: String) -> Int32 {
    switch key {
    case .none: SQLITE_OK
    case .raw(let bytes):
      bytes.withExposedBytes { sealed_vfs_set_key(path, $0.bindMemory(to: UInt8.self).baseAddress, 0) }
    case .passphrase(let passphrase):
      passphrase.bytes.withExposedBytes {
        sealed_vfs_set_passphrase(path, $0.bindMemory(to: CChar.self).baseAddress, $0.count, 0)
      }
    }
  }

  /// The raw key instead of a passphrase, if the file exists; otherwise the passphrase itself: the salt is created with
  /// the file, so that two processes that create it at the same time agree.
  private static func derived(_ key: StoreKey, for path: String) throws(SQLiteError) -> StoreKey {
    guard case .passphrase(let passphrase) = key else { return key }
    do throws(SealError) {
      guard let raw = try passphrase.key(for: path) else { return key }
      return .raw(raw)
    } catch {
      throw SQLiteError(kind: .outOfMemory, finding: error)
    }
  }

  /// Rejects a sealed file that is opened without a key, before plain SQLite touches its log or journal.
  static func refuseSealed(_ database: OpaquePointer) throws(SQLiteError) {
    let finding: SealError
    switch sealed_vfs_inspect(database) {
    case SEALED_VFS_NOTHING: finding = .keyMissing
    case SEALED_VFS_NEWER_FORMAT: finding = .newerFormat
    case SEALED_VFS_CIPHER_UNAVAILABLE: finding = .cipherUnavailable
    case SEALED_VFS_DAMAGED: finding = .damaged(.init(file: .store, page: 1, frame: 0))
    default: return
    }
    throw SQLiteError(kind: .notADatabase, finding: finding)
  }

  // MARK: Findings

  /// Called by the thread that is about to open a file: earlier findings are about another one.
  static func forgetFindings() { sealed_vfs_clear_report() }

  /// The VFS's finding, on this thread, that made SQLite return `code`; nil if the cause was different.
  static func finding(for code: Int32) -> SealError? {
    switch code & 0xff {
    case SQLITE_NOTADB, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOMEM, SQLITE_AUTH: break
    default: return nil
    }
    var report = sealed_vfs_report()
    sealed_vfs_last_report(&report)
    guard let finding = SealError(report) else { return nil }
    sealed_vfs_clear_report()
    return finding
  }
}

extension SealError {
  /// Nil for a report that is not an error of an existing file.
  fileprivate init?(_ report: sealed_vfs_report) {
    switch report.kind {
    case SEALED_VFS_NO_KEY: self = .keyMissing
    case SEALED_VFS_WRONG_KEY: self = .keyWrong
    case SEALED_VFS_NOT_SEALED: self = .notSealed
    case SEALED_VFS_NOT_A_DATABASE: self = .notADatabase
    case SEALED_VFS_NEWER_FORMAT: self = .newerFormat
    case SEALED_VFS_CIPHER_UNAVAILABLE: self = .cipherUnavailable
    case SEALED_VFS_DAMAGED, SEALED_VFS_FOREIGN: self = .damaged(Place(report))
    case SEALED_VFS_TRUNCATED: self = .truncated(Place(report))
    case SEALED_VFS_NO_MEMORY: self = .noMemory
    default: return nil
    }
  }
}

extension SealError.Place {
  fileprivate init(_ report: sealed_vfs_report) {
    let file: File
    switch report.file {
    case SEALED_VFS_FILE_WAL: file = .log
    case SEALED_VFS_FILE_JOURNAL: file = .journal
    case SEALED_VFS_FILE_TEMPORARY: file = .temporary
    default: file = .store
    }
    self.init(file: file, page: Int64(clamping: report.page), frame: Int64(clamping: report.frame))
  }
}
