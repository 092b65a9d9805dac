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
    let found = use { (database, contents) throws(SQLiteError) in
      try database.first(
        "SELECT revision, bytes, tag FROM record WHERE place = ?1 AND name = ?2 AND period IN (?3, ?4)",
        [.integer(Self.place(name)), .text(name)] + contents.counted
      ) { (record: SharedRecord(bytes: $0.blob(1), revision: UInt64(bitPattern: $0.integer(0))), tag: $0.blob(2)) }
    }
    guard let (record, tag) = found ?? nil else { return nil }
    guard key?.verifies(tag, of: record.bytes) ?? false else {
      forget(name)
      return nil
    }
    return record
  }

  /// Its revision; nil if unknown.
  public func revision(_ name: String) -> UInt64? {
    use { (database, contents) throws(SQLiteError) in
      try database.integer(
        "SELECT revision FROM record WHERE place = ?1 AND name = ?2 AND period IN (?3, ?4)",
        [.integer(Self.place(name)), .text(name)] + contents.counted)
    }.flatMap(\.self).map { UInt64(bitPattern: $0) }
  }

  /// Replaces what is known of it. Of two with the same place, the later one is kept.
  public func note(_ name: String, _ record: SharedRecord) {
    _ = use { (database, contents) throws(SQLiteError) in
      try database.run(
        """
        INSERT OR REPLACE INTO record (place, name, revision, replaced, period, bytes, tag)
        VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6)
        """,
        [
          .integer(Self.place(name)), .text(name), .integer(Int64(bitPattern: record.revision)),
          .integer(contents.period), .blob(record.bytes), .optional(key?.tag(record.bytes)),
        ])
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
      return try database.run(
        """
        INSERT INTO record (place, name, revision, replaced, period, bytes, tag) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8)
        ON CONFLICT DO UPDATE SET
          name = excluded.name, revision = excluded.revision, replaced = excluded.replaced, period = excluded.period,
          bytes = excluded.bytes, tag = excluded.tag
        WHERE record.period <> ?7
          AND (record.period <> ?5 OR record.name <> excluded.name OR record.replaced < excluded.replaced)
        """,
        [
          .integer(Self.place(name)), .text(name), .integer(Int64(bitPattern: record.revision)),
          .integer(Int64(bitPattern: replaced)), .integer(scan), .blob(record.bytes),
          .integer(contents.period), .optional(key?.tag(record.bytes)),
        ])
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
