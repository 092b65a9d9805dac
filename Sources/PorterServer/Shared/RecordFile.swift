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
  private static let cacheKibibytes = 32_768
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
      try database.first(
        Self.countedQuery, Self.bindings(name, contents)
      ) { (row) throws(SQLiteError) in
        let (head, bytes) = (try self.head(row), row.blob(5))
        guard self.key?.verifies(row.blob(6), of: Self.authenticated(head.tag, bytes)) == true else {
          throw SQLiteError(kind: .corrupt)
        }
        return SharedRecord(bytes: bytes, revision: head.revision)
      }
    } ?? nil
  }

  /// Its revision; nil if unknown. Does not read its contents, which may be damaged.
  public func revision(_ name: String) -> UInt64? {
    use { (database, contents) throws(SQLiteError) in
      try database.first(
        Self.countedHeadQuery, Self.bindings(name, contents)
      ) { (row) throws(SQLiteError) in try self.head(row).revision }
    } ?? nil
  }

  /// Replaces what is known of it. Of two with the same place, the later one is kept.
  public func note(_ name: String, _ record: SharedRecord) {
    _ = use { (database, contents) throws(SQLiteError) in
      try write(Head(name: name, revision: record.revision, period: contents.period), record.bytes, in: database)
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
      let present = try database.first(
        Self.headQuery, [.integer(Self.place(name))],
        { (row) throws(SQLiteError) in try self.head(row) })
      if let present {
        let isFound = present.period == scan && present.name == name
        if present.period == contents.period || (isFound && present.replaced >= replaced) { return 0 }
      }
      let head = Head(name: name, revision: record.revision, replaced: replaced, period: scan)
      return try write(head, record.bytes, in: database)
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

  /// What a row says of its record.
  private struct Head {
    var name: String
    var revision: UInt64
    var replaced: UInt64 = 0
    var period: Int64
    var tag: [UInt8] = []

    /// A damaged revision would replace a later version, a damaged period return to what was forgotten.
    var authenticated: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(24 + name.utf8.count)
      for number in [revision, replaced, UInt64(bitPattern: period)] {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
      }
      bytes.append(contentsOf: name.utf8)
      return bytes
    }
  }

  private static let headQuery = "SELECT name, revision, replaced, period, head_tag FROM record WHERE place = ?1"
  private static let countedHeadQuery = headQuery + counted
  private static let countedQuery =
    "SELECT name, revision, replaced, period, head_tag, bytes, tag FROM record WHERE place = ?1" + counted
  private static let counted = " AND name = ?2 AND period IN (?3, ?4)"

  private static func bindings(_ name: String, _ contents: Contents) -> [Binding] {
    [.integer(place(name)), .text(name)] + contents.counted
  }

  /// If it is damaged, nothing in the file counts: a scan could find an earlier version, and nothing would say that there
  /// was a later one.
  private func head(_ row: borrowing Row) throws(SQLiteError) -> Head {
    let head = Head(
      name: row.text(0), revision: UInt64(bitPattern: row.integer(1)), replaced: UInt64(bitPattern: row.integer(2)),
      period: row.integer(3), tag: row.blob(4))
    guard key?.verifies(head.tag, of: head.authenticated) == true else { throw SQLiteError(kind: .corrupt) }
    return head
  }

  private func write(_ head: Head, _ bytes: [UInt8], in database: Database) throws(SQLiteError) -> Int {
    guard let key else { return 0 }
    let headTag = key.tag(head.authenticated)
    return try database.run(
      """
      INSERT OR REPLACE INTO record (place, name, revision, replaced, period, head_tag, tag, bytes)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """,
      [
        .integer(Self.place(head.name)), .text(head.name), .integer(Int64(bitPattern: head.revision)),
        .integer(Int64(bitPattern: head.replaced)), .integer(head.period), .blob(headTag),
        .blob(key.tag(Self.authenticated(headTag, bytes))), .blob(bytes),
      ])
  }

  /// The contents, and which record they are of.
  private static func authenticated(_ headTag: [UInt8], _ bytes: [UInt8]) -> [UInt8] { headTag + bytes }

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
        replaced INTEGER NOT NULL, period INTEGER NOT NULL, head_tag BLOB NOT NULL,
        tag BLOB NOT NULL, bytes BLOB NOT NULL);
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
