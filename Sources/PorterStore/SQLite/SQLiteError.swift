import CSQLite

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A failure of SQLite, in our words and with its own code.
///
/// SQLite's message text is left out on purpose: it may quote bound values (a full-text query, a constraint's value),
/// and errors end up in logs. The one exception is `detail`, the parser's complaint about a statement that is not valid
/// SQL; nothing has been bound by then.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, Sendable, CaseIterable {
    /// Another connection holds the lock, and still held it at the end of the busy timeout.
    case busy
    /// Another statement of this same connection is in the way.
    case locked
    /// The file or its directory may not be written.
    case readOnly
    /// The disk, or the limit set on the file, is full.
    case full
    /// The file is not a database, or is sealed with another key.
    case notADatabase
    /// The file is a database, but damaged.
    case corrupt
    /// The file cannot be opened: it is missing, is a directory, or access is denied.
    case cannotOpen
    /// A UNIQUE, NOT NULL, CHECK or foreign key constraint, or a trigger, refused the change; see `constraint`.
    case constraint
    /// `interrupt()` stopped it.
    case interrupted
    /// The operating system failed a read, write or sync; `systemError` has its errno.
    case ioError
    /// The statement does not match the schema, or is not SQL.
    case schema
    case outOfMemory
    /// A value or a statement is larger than SQLite accepts.
    case tooBig
    /// The wrapper was used wrongly: a transaction inside a transaction, a parameter that does not exist.
    case misuse
    /// The database has been closed.
    case closed
    /// Anything else; see `code`.
    case other
  }

  package enum Constraint: Sendable {
    case unique
    case notNull
    case check
    case foreignKey
    /// `RAISE` in a trigger.
    case trigger
    case other
  }

  package let kind: Kind
  /// SQLite's extended result code; 0 if SQLite was not asked.
  package let code: Int32
  /// The underlying errno; 0 if there is none.
  package let systemError: Int32
  /// Why a statement's text was rejected; never contains values.
  package let detail: String?
  /// The sealed VFS's finding about the file; nil if the cause was different.
  package let finding: SealError?

  package init(
    kind: Kind, code: Int32 = 0, systemError: Int32 = 0, detail: String? = nil, finding: SealError? = nil
  ) {
    self.kind = kind
    self.code = code
    self.systemError = systemError
    self.detail = detail
    self.finding = finding
  }

  init(code: Int32, systemError: Int32 = 0, detail: String? = nil, finding: SealError? = nil) {
    // Some of SQLite's files, such as the log's index, fail with their own code when the disk is full.
    let isFull = code & 0xff == SQLITE_IOERR && (systemError == ENOSPC || systemError == EDQUOT)
    self.init(
      kind: isFull ? .full : Kind(code: code), code: code, systemError: systemError, detail: detail, finding: finding)
  }

  /// The failure that `database` reports for `code`.
  init(code: Int32, in database: OpaquePointer?) {
    let primary = code & 0xff
    let fromSystem = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL
    self.init(
      code: code, systemError: fromSystem ? sqlite3_system_errno(database) : 0, finding: Sealing.finding(for: code))
  }

  /// For a file beside the database that the system could not open.
  init(opening reason: Int32) {
    let kind: Kind =
      switch reason {
      case ENOSPC, EDQUOT: .full
      case EACCES, EPERM, EROFS: .readOnly
      default: .cannotOpen
      }
    self.init(kind: kind, systemError: reason)
  }

  /// Whether the file could not be opened because this process, or the system, is out of file descriptors: nothing is
  /// wrong with the file, and no other process is using it.
  package var isOutOfDescriptors: Bool {
    kind == .cannotOpen && (systemError == EMFILE || systemError == ENFILE)
  }

  /// The constraint that failed; nil for other errors.
  package var constraint: Constraint? {
    guard kind == .constraint else { return nil }
    switch code {
    case Extended.unique, Extended.primaryKey, Extended.rowIdentifier: return .unique
    case Extended.notNull: return .notNull
    case Extended.check: return .check
    case Extended.foreignKey: return .foreignKey
    case Extended.trigger: return .trigger
    default: return .other
    }
  }

  /// Whether the same call may succeed later without any intervention.
  package var isTemporary: Bool { kind == .busy || kind == .locked || kind == .interrupted }

  package var description: String {
    if let finding { return finding.description }
    var text = "\(words) (sqlite \(code)"
    if systemError != 0 { text += ", errno \(systemError)" }
    text += ")"
    if let detail { text += ": \(detail)" }
    return text
  }

  private var words: String {
    switch kind {
    case .busy: "the database is in use elsewhere"
    case .locked: "another statement of the same connection is in the way"
    case .readOnly: "the database cannot be written"
    case .full: "the disk is full"
    case .notADatabase: "the file is not a database, or has another key"
    case .corrupt: "the database is damaged"
    case .cannotOpen: "the database file cannot be opened"
    case .constraint: "a constraint of the schema refused the change"
    case .interrupted: "the work was interrupted"
    case .ioError: "reading or writing the database file failed"
    case .schema: "the statement does not fit the schema"
    case .outOfMemory: "out of memory"
    case .tooBig: "a value is too big"
    case .misuse: "the database was used wrongly"
    case .closed: "the database is closed"
    case .other: "the database failed"
    }
  }
}

extension SQLiteError.Kind {
  init(code: Int32) {
    switch code & 0xff {
    case SQLITE_BUSY: self = .busy
    case SQLITE_LOCKED: self = .locked
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: self = .readOnly
    case SQLITE_FULL: self = .full
    case SQLITE_NOTADB: self = .notADatabase
    case SQLITE_CORRUPT: self = .corrupt
    case SQLITE_CANTOPEN: self = .cannotOpen
    case SQLITE_CONSTRAINT: self = .constraint
    case SQLITE_INTERRUPT, SQLITE_ABORT: self = .interrupted
    case SQLITE_IOERR, SQLITE_NOLFS, SQLITE_PROTOCOL: self = .ioError
    case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH: self = .schema
    case SQLITE_NOMEM: self = .outOfMemory
    case SQLITE_TOOBIG: self = .tooBig
    case SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
    default: self = .other
    }
  }
}

/// The extended codes are macros with arithmetic in them, which Swift does not import.
private enum Extended {
  static let check = SQLITE_CONSTRAINT | 1 << 8
  static let foreignKey = SQLITE_CONSTRAINT | 3 << 8
  static let notNull = SQLITE_CONSTRAINT | 5 << 8
  static let primaryKey = SQLITE_CONSTRAINT | 6 << 8
  static let trigger = SQLITE_CONSTRAINT | 7 << 8
  static let unique = SQLITE_CONSTRAINT | 8 << 8
  static let rowIdentifier = SQLITE_CONSTRAINT | 10 << 8
}

/// An error type of a layer above that can carry SQLite's, so that a transaction's body may throw its own errors.
package protocol SQLiteFailure: Error {
  init(_ error: SQLiteError)
}

extension SQLiteFailure {
  /// Runs `body`, and converts the errors it throws to this type.
  @discardableResult
  package static func carrying<Result>(_ body: () throws(SQLiteError) -> Result) throws(Self) -> Result {
    do throws(SQLiteError) { return try body() } catch { throw Self(error) }
  }
}

extension SQLiteError: SQLiteFailure {
  package init(_ error: SQLiteError) { self = error }
}
