import PorterCrypto
import PorterPlatform
import PorterStore
import Synchronization

/// Records of a shared store that this process knows, in a file of its own, because there may be millions. Nothing in
/// it is needed afterwards: it begins empty, and whatever fails empties it.
///
/// Threads: any; calls wait for each other. A call reads or writes one or two pages, and syncs nothing.
public final class RecordFile: Sendable {
  /// `@unchecked Sendable`: accessed only under the lock.
  private final class Contents: @unchecked Sendable {
    var database: Database?
    /// The number of the last period of either kind.
    var last: Int64 = 1
    /// Records of earlier periods count as absent.
    var period: Int64 = 1
    /// Of the records found by a scan, which count from its end on. Nil if there was none.
    var scan: Int64?
    var isScanned = false
    /// After a failure, the calls that do nothing.
    var skipped = 0
    var losses = 0
    var isClosed = false

    var counted: [Binding] { [.integer(period), .integer(isScanned ? scan ?? period : period)] }
  }

  /// A record takes some two kilobytes: several of them in a page waste less of it.
  private static let pageSize: Int64 = 16_384
  private static let cacheKibibytes = 8_192
  /// A full disk would fail each call, and each would make the file anew.
  private static let skippedAfterFailure = 10_000

  private let path: String
  private let contents = Mutex(Contents())
  /// A damaged record would be stored in the cluster with its next change.
  private let key = AuthenticationKey(stored: (0..<AuthenticationKey.count).map { _ in .random(in: .min ... .max) })

  /// Replaces the file that an earlier process left there.
  public init(path: String) { self.path = path }

  deinit { close() }

  /// Nil if unknown. `name` is unique among all records.
  public func record(_ name: String) -> SharedRecord? {
    use { (database, contents) throws(SQLiteError) in
      try self.row(of: name, "AND name = ?2 AND period IN (?3, ?4)", [.text(name)] + contents.counted, in: database)?
        .record
    } ?? nil
  }

  /// Its revision; nil if unknown.
  public func revision(_ name: String) -> UInt64? { record(name)?.revision }

  /// Replaces what is known of it. Of two with the same place, the later one is kept.
  public func note(_ name: String, _ record: SharedRecord) {
    _ = use { (database, contents) throws(SQLiteError) in
      try write(Row(name: name, record: record, replaced: 0, period: contents.period), in: database)
    }
  }

  public func forget(_ name: String) {
    _ = use { (database, _) throws(SQLiteError) in
      try database.run("DELETE FROM record WHERE place = ?1 AND name = ?2", [.integer(Self.place(name)), .text(name)])
    }
  }

  /// Takes no time, however many there are.
  public func forgetAll() {
    contents.withLock { contents in
      contents.last += 1
      (contents.period, contents.scan, contents.isScanned) = (contents.last, nil, false)
    }
  }

  /// How often everything was lost, because of a full disk or damage.
  public var losses: Int { contents.withLock { $0.losses } }

  // MARK: Scans

  /// Records noted by `noteScanned` from now on do not count before `endScan`.
  public func beginScan() {
    contents.withLock { contents in
      contents.last += 1
      (contents.scan, contents.isScanned) = (contents.last, false)
    }
  }

  /// A version that the scan has found. Kept unless the record is known, or a version that replaces a later one was
  /// found before.
  public func noteScanned(_ name: String, _ record: SharedRecord, replaced: UInt64) {
    _ = use { (database, contents) throws(SQLiteError) in
      guard let scan = contents.scan else { return 0 }
      if let present = try self.row(of: name, in: database) {
        let isFound = present.period == scan && present.name == name
        if present.period == contents.period || (isFound && present.replaced >= replaced) { return 0 }
      }
      return try write(Row(name: name, record: record, replaced: replaced, period: scan), in: database)
    }
  }

  public func endScan() { contents.withLock { $0.isScanned = $0.scan != nil } }

  /// Removes the file. Nothing is known afterwards.
  public func close() {
    contents.withLock { contents in
      contents.isClosed = true
      remove(contents)
    }
  }

  // MARK: Rows

  private struct Row {
    var name: String
    var record: SharedRecord
    var replaced: UInt64
    var period: Int64
    var tag: [UInt8] = []
  }

  /// The row with this name's place; `condition` may say more of it. If it is damaged, nothing in the file counts: a
  /// scan could find an earlier version, and nothing would say that there was a later one.
  private func row(
    of name: String, _ condition: String = "", _ bindings: [Binding] = [], in database: Database
  ) throws(SQLiteError) -> Row? {
    let row = try database.first(
      "SELECT name, revision, replaced, period, bytes, tag FROM record WHERE place = ?1 \(condition)",
      [.integer(Self.place(name))] + bindings
    ) {
      Row(
        name: $0.text(0), record: SharedRecord(bytes: $0.blob(4), revision: UInt64(bitPattern: $0.integer(1))),
        replaced: UInt64(bitPattern: $0.integer(2)), period: $0.integer(3), tag: $0.blob(5))
    }
    if let row, key?.verifies(row.tag, of: Self.authenticated(row)) != true { throw SQLiteError(kind: .corrupt) }
    return row
  }

  private func write(_ row: Row, in database: Database) throws(SQLiteError) -> Int {
    try database.run(
      """
      INSERT OR REPLACE INTO record (place, name, revision, replaced, period, bytes, tag)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """,
      [
        .integer(Self.place(row.name)), .text(row.name), .integer(Int64(bitPattern: row.record.revision)),
        .integer(Int64(bitPattern: row.replaced)), .integer(row.period), .blob(row.record.bytes),
        .optional(key?.tag(Self.authenticated(row))),
      ])
  }

  /// All that a row says: a damaged revision would replace a later version, a damaged period return to what was forgotten.
  private static func authenticated(_ row: Row) -> [UInt8] {
    var bytes = row.record.bytes
    for number in [row.record.revision, row.replaced, UInt64(bitPattern: row.period)] {
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: row.name.utf8)
    return bytes
  }

  /// Different in each process, so nobody can choose names with the same place.
  private static func place(_ name: String) -> Int64 {
    var hasher = Hasher()
    hasher.combine(name)
    return Int64(hasher.finalize())
  }

  private func use<Value: Sendable>(
    _ body: (_ database: Database, _ contents: Contents) throws(SQLiteError) -> Value
  ) -> Value? {
    contents.withLock { contents in
      guard !contents.isClosed else { return nil }
      guard contents.skipped == 0 else {
        contents.skipped -= 1
        return nil
      }
      do throws(SQLiteError) {
        let database = if let open = contents.database { open } else { try open(contents) }
        return try body(database, contents)
      } catch {
        // A disk may be full, or the file damaged: nothing in it counts.
        remove(contents)
        contents.losses += 1
        (contents.skipped, contents.scan, contents.isScanned) = (Self.skippedAfterFailure, nil, false)
        return nil
      }
    }
  }

  private func open(_ contents: Contents) throws(SQLiteError) -> Database {
    remove(contents)
    var options = Database.Options(durability: .normal, isExclusive: true, cacheKibibytes: Self.cacheKibibytes)
    options.pageSize = Self.pageSize
    let database = try Database(path: path, options: options)
    contents.database = database
    // After a crash, the file is not read again. So nothing is ever committed: pages are written when memory is needed.
    try database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
    try database.execute(
      """
      CREATE TABLE record (
        place INTEGER PRIMARY KEY, name TEXT NOT NULL, revision INTEGER NOT NULL,
        replaced INTEGER NOT NULL, period INTEGER NOT NULL, bytes BLOB NOT NULL,
        tag BLOB NOT NULL);
      BEGIN
      """)
    return database
  }

  private func remove(_ contents: Contents) {
    try? contents.database?.close(checkpoint: false)
    contents.database = nil
    for suffix in ["", "-wal", "-journal"] { try? Ports.system.files.remove(path + suffix) }
  }
}
