import CSQLite
import PorterPlatform

extension Database {
  /// Whether this SQLite was built to sync each commit by default.
  package var isFullByDefault: Bool {
    sqlite3_compileoption_used("DEFAULT_SYNCHRONOUS=2") != 0
      && sqlite3_compileoption_used("DEFAULT_WAL_SYNCHRONOUS=2") != 0
  }
}

/// Turns a path, options and a key into an SQLite handle.
extension Database {
  /// Opens the file, which reads its header, and closes it. Throws if the file or the key is wrong.
  static func check(path: String, options: Options) throws(SQLiteError) {
    sqlite3_close(try open(try plainPath(path, options.ports.files), options))
  }

  /// The name by which SQLite opens the file. It begins with a slash, so SQLite does not interpret it, as it would
  /// `file:` and `:memory:`. It has no links: SQLite follows them recursively, deeper than a thread's stack may allow.
  package static func plainPath(_ path: String, _ files: any Files = SystemFiles()) throws(SQLiteError) -> String {
    guard !path.isEmpty else { throw SQLiteError(kind: .cannotOpen) }
    do throws(SystemError) {
      return try files.canonicalPath(path)
    } catch {
      throw SQLiteError(opening: error.code)
    }
  }

  /// Opens a `plainPath`. The caller closes it.
  static func open(_ path: String, _ options: Options) throws(SQLiteError) -> OpaquePointer {
    var access =
      switch options.access {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    // For `vacuum(into:key:)`, which names the copy's VFS in a URI.
    if options.isExclusive { access |= SQLITE_OPEN_URI }
    let below = options.mayDoze && options.vfs == nil ? try dozingVFS() : options.vfs
    if options.key.isNone {
      var handle = try open(path, access, below)
      if options.access == .readOnly, options.mayBeFrozen, isFrozen(handle, path, options.ports.files) {
        sqlite3_close(handle)
        handle = try open(immutable(path), access | SQLITE_OPEN_URI, below)
      }
      do throws(SQLiteError) {
        try Sealing.refuseSealed(handle)
      } catch {
        sqlite3_close(handle)
        throw error
      }
      return handle
    }
    let vfs = try Sealing.vfs(over: below)
    Sealing.forgetFindings()
    let address = try Sealing.withKey(options.key, path: path) { () throws(SQLiteError) in
      UInt(bitPattern: try open(path, access, vfs))
    }
    guard let handle = OpaquePointer(bitPattern: address) else { throw SQLiteError(kind: .outOfMemory) }
    return handle
  }

  private static func open(_ path: String, _ access: Int32, _ vfs: String?) throws(SQLiteError) -> OpaquePointer {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, vfs)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteError(code: code == SQLITE_OK ? SQLITE_NOMEM : code, in: handle)
      sqlite3_close(handle)
      throw error
    }
    sqlite3_extended_result_codes(handle, 1)
    return handle
  }

  /// Whether the file is in WAL mode, on a medium where the log's index cannot be created, and has no log. A process
  /// that used the file would have created both beside it, so nothing changes it.
  private static func isFrozen(_ handle: OpaquePointer, _ path: String, _ files: any Files) -> Bool {
    let code = sqlite3_exec(handle, "PRAGMA user_version", nil, nil, nil)
    guard code & 0xff == SQLITE_CANTOPEN || code == readOnlyDirectory else { return false }
    let log = try? files.status(at: path + "-wal", followingLinks: true)
    let index = try? files.status(at: path + "-shm", followingLinks: true)
    return index == nil && log.map { $0.size == 0 } ?? true
  }

  /// `SQLITE_READONLY_DIRECTORY`, which Swift does not import.
  private static let readOnlyDirectory = SQLITE_READONLY | 6 << 8

  /// The URI that makes SQLite read a file without locks, log and index.
  private static func immutable(_ path: String) -> String {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    let encoded = path.utf8.flatMap { byte in
      plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return "file:" + String(decoding: encoded, as: UTF8.self) + "?immutable=1"
  }
}
