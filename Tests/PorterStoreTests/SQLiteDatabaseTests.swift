import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// Each test has its own directory, removed afterwards.
class SQLiteTestCase: XCTestCase {
  private(set) var directory = ""

  override func setUpWithError() throws {
    directory = NSTemporaryDirectory() + "porter-sqlite-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
    try FileManager.default.removeItem(atPath: directory)
  }

  func file(_ name: String = "test.db") -> String { directory + "/" + name }

  func open(_ name: String = "test.db", _ options: Database.Options = Database.Options()) throws -> Database {
    try Database(path: file(name), options: options)
  }

  /// Runs `body` on its own thread, because a connection belongs to one thread.
  func onThread(_ body: @escaping @Sendable () throws -> Void) -> XCTestExpectation {
    let done = expectation(description: "thread")
    Thread.detachNewThread {
      do { try body() } catch { XCTFail("\(error)") }
      done.fulfill()
    }
    return done
  }

  func openWithTable() throws -> Database {
    let database = try open()
    try database.execute(
      "CREATE TABLE IF NOT EXISTS item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB, weight REAL)")
    return database
  }

  func assertFails<Result>(
    _ kind: SQLiteError.Kind, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Result
  ) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
      XCTAssertEqual((error as? SQLiteError)?.kind, kind, "\(error)", file: file, line: line)
    }
  }
}

final class SQLiteDatabaseTests: SQLiteTestCase {
  /// Relies on how SQLite is compiled (SECURE_DELETE): none of the store's statements asks for it.
  func testWhatIsDeletedIsOverwritten() throws {
    let secrets = ["a name that nobody is to read", String(repeating: "a key that nobody is to read ", count: 1_000)]
    let database = try openWithTable()
    for secret in secrets { try database.run("INSERT INTO item(name) VALUES(?1)", [.text(secret)]) }
    try database.run("INSERT INTO item(name) VALUES('a name that stays')")
    try database.run("DELETE FROM item WHERE name <> 'a name that stays'")
    try database.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file()))
    XCTAssertNotNil(bytes.range(of: Data("that stays".utf8)))
    XCTAssertNil(bytes.range(of: Data("that nobody is to read".utf8)))
  }

  func testValuesComeBackAsTheyWereBound() throws {
    let database = try openWithTable()
    let texts = ["", "a", "naïve ✉️", String(repeating: "x", count: 40_000)]
    let blobs: [[UInt8]] = [[], [0], [UInt8](repeating: 0xfe, count: 20_000), [0, 1, 0]]
    for (text, blob) in zip(texts, blobs) {
      try database.run(
        "INSERT INTO item(name, data, weight) VALUES(?1, ?2, ?3)", [.text(text), .blob(blob), .real(0.1)])
      let id = database.lastInsertedRow
      try database.query("SELECT name, data, weight, id, NULL FROM item WHERE id = ?1", [.integer(id)]) { row in
        XCTAssertEqual(row.text(0), text)
        XCTAssertEqual(row.blob(1), blob)
        XCTAssertFalse(row.isNull(1))
        XCTAssertEqual(row.real(2), 0.1)
        XCTAssertEqual(row.integer(3), id)
        XCTAssertNil(row.optionalBlob(4))
        XCTAssertNil(row.optionalText(9), "a column that does not exist is null")
      }
    }
    for number in [Int64.min, -1, 0, .max] {
      XCTAssertEqual(try database.integer("SELECT ?1", [.integer(number)]), number)
    }
  }

  func testUnboundParametersAreNullNotThoseOfTheLastRun() throws {
    let database = try openWithTable()
    XCTAssertEqual(try database.integer("SELECT ?1 IS NULL AND ?2 = 5", [nil, 5]), 1)
    XCTAssertEqual(try database.integer("SELECT ?1 IS NULL AND ?2 = 5", [nil]), nil)
    assertFails(.misuse) { try database.run("SELECT ?1", [1, 2]) }
  }

  func testRunReturnsTheNumberOfChangedRows() throws {
    let database = try openWithTable()
    for name in ["a", "b", "c"] {
      XCTAssertEqual(try database.run("INSERT INTO item(name) VALUES(?1)", [.text(name)]), 1)
    }
    XCTAssertEqual(try database.run("UPDATE item SET weight = 1 WHERE name > 'a'"), 2)
    XCTAssertEqual(try database.run("SELECT * FROM item"), 0, "not the last statement's number")
    XCTAssertEqual(try database.run("DELETE FROM item"), 3)
  }

  func testTransactionCommitsOrLeavesNothing() throws {
    struct Refused: SQLiteFailure, Equatable {
      init() {}
      init(_ error: SQLiteError) {}
    }
    let database = try openWithTable()
    try database.transaction { () throws(SQLiteError) in try database.run("INSERT INTO item(name) VALUES('kept')") }
    XCTAssertThrowsError(
      try database.transaction(.immediate, throwing: Refused.self) { () throws(Refused) in
        try Refused.carrying { () throws(SQLiteError) in
          try database.run("INSERT INTO item(name) VALUES('dropped')")
        }
        throw Refused()
      }
    ) { XCTAssertTrue($0 is Refused) }
    XCTAssertFalse(database.isInTransaction)
    XCTAssertEqual(try database.rows("SELECT name FROM item") { $0.text(0) }, ["kept"])
  }

  func testTransactionsDoNotNest() throws {
    let database = try openWithTable()
    assertFails(.misuse) {
      try database.transaction { () throws(SQLiteError) in
        try database.transaction { () throws(SQLiteError) in try database.run("DELETE FROM item") }
      }
    }
    XCTAssertFalse(database.isInTransaction)
  }

  func testStatementMayBeUsedInsideItsOwnRows() throws {
    let database = try openWithTable()
    for name in ["a", "b"] { try database.run("INSERT INTO item(name) VALUES(?1)", [.text(name)]) }
    var pairs: [String] = []
    try database.query("SELECT name FROM item ORDER BY id") { (outer) throws(SQLiteError) in
      let first = outer.text(0)
      try database.query("SELECT name FROM item ORDER BY id") { inner in pairs.append(first + inner.text(0)) }
    }
    XCTAssertEqual(pairs, ["aa", "ab", "ba", "bb"])
  }

  func testUserVersionAndIntegrity() throws {
    let database = try openWithTable()
    XCTAssertEqual(try database.userVersion, 0)
    try database.transaction { () throws(SQLiteError) in try database.setUserVersion(7) }
    XCTAssertEqual(try database.userVersion, 7)
    XCTAssertEqual(try database.integrityCheck(), [])
    try database.close()
    XCTAssertEqual(try open().userVersion, 7)
  }

  func testReadOnlyConnectionReadsAndCannotWrite() throws {
    let writer = try openWithTable()
    try writer.run("INSERT INTO item(name) VALUES('a')")
    let reader = try open("test.db", Database.Options(access: .readOnly))
    XCTAssertEqual(try reader.integer("SELECT count(*) FROM item"), 1)
    assertFails(.readOnly) { try reader.run("DELETE FROM item") }
  }

  func testOneStatementAtATime() throws {
    let database = try openWithTable()
    assertFails(.misuse) { try database.run("DELETE FROM item; DELETE FROM item") }
    assertFails(.misuse) { try database.run("") }
    XCTAssertEqual(try database.run("DELETE FROM item;"), 0)
  }
}
