import CSQLite
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

#if canImport(Glibc)
  import Glibc
#endif

final class SQLiteErrorTests: SQLiteTestCase {
  func testFileThatIsNotADatabaseIsReportedWhenOpened() throws {
    try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: file()))
    assertFails(.notADatabase) { try self.open() }
    assertFails(.notADatabase) { try self.open("test.db", Database.Options(access: .readOnly)) }
    XCTAssertEqual(
      try Data(contentsOf: URL(fileURLWithPath: file())), Data(repeating: 0x41, count: 8_192), "left as it was")
  }

  func testDamagedDatabaseIsCorruptNotACrash() throws {
    let database = try openWithTable()
    try database.transaction { () throws(SQLiteError) in
      for number in 0..<500 {
        try database.run("INSERT INTO item(name, data) VALUES(?1, zeroblob(500))", [.text("name \(number)")])
      }
    }
    try database.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file()))
    for page in 2..<(bytes.count / 4_096) { for at in 0..<64 { bytes[page * 4_096 + at] = 0xa5 } }
    try bytes.write(to: URL(fileURLWithPath: file()))
    let damaged = try open()
    assertFails(.corrupt) { try damaged.rows("SELECT name, data FROM item ORDER BY name") { $0.text(0) } }
    XCTAssertFalse(try damaged.integrityCheck().isEmpty)
  }

  func testMissingFileDirectoryAndHostilePathsCannotBeOpened() throws {
    assertFails(.cannotOpen) { try Database(path: self.file(), options: .init(access: .readWrite)) }
    assertFails(.cannotOpen) { try Database(path: self.file(), options: .init(access: .readOnly)) }
    assertFails(.cannotOpen) { try Database(path: self.directory) }
    assertFails(.cannotOpen) { try Database(path: self.directory + "/no/such/place.db") }
    assertFails(.cannotOpen) { try Database(path: "") }
    assertFails(.cannotOpen) { try Database(path: self.file() + "\0.db") }
    XCTAssertFalse(FileManager.default.fileExists(atPath: file()))
    XCTAssertThrowsError(try Database(path: file(), options: .init(vfs: "no such vfs")))
  }

  func testDirectoryThatMayNotBeWritten() throws {
    try openWithTable().close()
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file())
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory)
    // The superuser may write anywhere, so the attempt is made as another user.
    let isSuperuser = geteuid() == 0
    if isSuperuser { XCTAssertEqual(seteuid(65_534), 0) }
    defer { if isSuperuser { seteuid(0) } }
    XCTAssertThrowsError(
      try { try open().run("INSERT INTO item(name) VALUES('a')") }()
    ) { error in
      let kind = (error as? SQLiteError)?.kind
      XCTAssertTrue(kind == .cannotOpen || kind == .readOnly, "\(error)")
    }
    assertFails(.cannotOpen) { try self.open("new.db") }
  }

  func testFullDiskKeepsWhatWasCommittedAndTheConnectionUsable() throws {
    let database = try openWithTable()
    try database.run("INSERT INTO item(name) VALUES('before')")
    let pages = try XCTUnwrap(try database.integer("PRAGMA page_count"))
    try database.execute("PRAGMA max_page_count=\(pages + 2)")
    assertFails(.full) {
      try database.transaction { () throws(SQLiteError) in
        try database.run("INSERT INTO item(name) VALUES('also before')")
        try database.run("INSERT INTO item(name, data) VALUES('big', zeroblob(100000))")
      }
    }
    XCTAssertFalse(database.isInTransaction)
    XCTAssertEqual(try database.rows("SELECT name FROM item") { $0.text(0) }, ["before"])
    try database.run("INSERT INTO item(name) VALUES('small')")
    XCTAssertEqual(try database.integrityCheck(), [])
  }

  func testConstraintsAreToldApart() throws {
    let database = try open()
    try database.execute(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY);
      CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, must TEXT NOT NULL, size INT CHECK(size < 10),
        parent INT REFERENCES parent);
      CREATE TRIGGER fence BEFORE DELETE ON item BEGIN SELECT RAISE(ABORT, 'stale'); END;
      INSERT INTO item(id, name, must) VALUES(1, 'a', 'b');
      """)
    let cases: [(String, SQLiteError.Constraint)] = [
      ("INSERT INTO item(name, must) VALUES('a', 'b')", .unique),
      ("INSERT INTO item(id, must) VALUES(1, 'b')", .unique),
      ("INSERT INTO item(name) VALUES('c')", .notNull), ("INSERT INTO item(must, size) VALUES('c', 10)", .check),
      ("INSERT INTO item(must, parent) VALUES('c', 9)", .foreignKey), ("DELETE FROM item", .trigger),
    ]
    for (sql, constraint) in cases {
      XCTAssertThrowsError(try database.run(sql)) { error in
        XCTAssertEqual((error as? SQLiteError)?.kind, .constraint)
        XCTAssertEqual((error as? SQLiteError)?.constraint, constraint, sql)
      }
    }
  }

  func testNoErrorQuotesABoundValue() throws {
    let secret = "hunter2-secret"
    let database = try openWithTable()
    try database.execute("CREATE TABLE checked(value TEXT CHECK(length(value) < 3))")
    var statements = [
      "INSERT INTO checked VALUES(?1)", "SELECT json_extract(?1, '$.a')", "SELECT abs(-9223372036854775808), ?1",
    ]
    // A host's own SQLite may lack it.
    if sqlite3_compileoption_used("ENABLE_FTS5") == 1 {
      try database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
      statements.append("SELECT * FROM words WHERE words MATCH ?1")
    }
    for sql in statements {
      XCTAssertThrowsError(try database.run(sql, [.text("\"\(secret)")]), sql) { error in
        XCTAssertFalse("\(error)".contains(secret), "\(error)")
        XCTAssertFalse(String(reflecting: error).contains(secret))
      }
    }
  }

  func testInvalidSQLIsExplained() throws {
    let database = try openWithTable()
    for attempt in [{ try database.execute("SELEC 1") }, { _ = try database.run("SELECT * FROM nowhere") }] {
      XCTAssertThrowsError(try attempt()) { error in
        XCTAssertEqual((error as? SQLiteError)?.kind, .schema)
        XCTAssertNotNil((error as? SQLiteError)?.detail)
      }
    }
  }

  func testEveryKindHasItsOwnText() {
    let texts = SQLiteError.Kind.allCases.map { "\(SQLiteError(kind: $0))" }
    XCTAssertEqual(Set(texts).count, texts.count)
  }
}
