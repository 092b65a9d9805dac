import CSQLite
import Foundation
import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterStore

/// A folder with stores under keys.
class SealedStoreTestCase: SQLiteTestCase {
  static let secret = "the text that must not be found"
  let first = SealedStoreTestCase.key(1)
  let second = SealedStoreTestCase.key(2)

  static func key(_ number: UInt8) -> StoreKey {
    let bytes = [UInt8](repeating: number, count: 32)
    return bytes.withUnsafeBytes { GuardedBytes($0) }.map { .raw($0) } ?? .none
  }

  var prefix: String { file("store") }

  func openStore(_ key: StoreKey, at prefix: String? = nil, mayMigrate: Bool = true) throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: prefix ?? self.prefix), key: key, confirmation: .yesUp, mayMigrate: mayMigrate,
      busyTimeout: .zero)
  }

  /// Creates a store with the secret in its log and in its file.
  func make(_ key: StoreKey, at prefix: String? = nil) throws {
    let store = try openStore(key, at: prefix)
    for number in 0..<100 { try store.setSetting("name \(number)", Self.secret + String(repeating: ".", count: 500)) }
    try store.database.checkpoint()
    try store.setSetting("name", Self.secret)
    try store.close(checkpoint: false)
  }

  func assertHoldsSecret(
    _ key: StoreKey, at prefix: String? = nil, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let store = try openStore(key, at: prefix)
    XCTAssertEqual(try store.setting("name"), Self.secret, file: file, line: line)
    XCTAssertEqual(
      try store.integer("SELECT count(*) FROM settings WHERE name LIKE 'name %'"), 100, file: file, line: line)
    XCTAssertEqual(try store.database.integrityCheck(), [], file: file, line: line)
    try store.close(checkpoint: false)
  }

  func assertOpening(
    _ key: StoreKey, fails expected: SealError, at prefix: String? = nil, file: StaticString = #filePath,
    line: UInt = #line
  ) {
    XCTAssertThrowsError(try openStore(key, at: prefix), file: file, line: line) { error in
      XCTAssertEqual(error as? StoreError, .seal(expected), "\(error)", file: file, line: line)
    }
  }

  /// Every file of the store by name; the lock beside it is empty.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: file(name)))
    }
    return files
  }

  /// INC-02: a system reads this header to see that the holder of a lock has a database, and must not be killed.
  func assertHeaderIsPlain(file: StaticString = #filePath, line: UInt = #line) throws {
    let header = try XCTUnwrap(try files()["store_chat.db"]).prefix(24)
    XCTAssertEqual(
      Array(header), Array("SQLite format 3\0".utf8) + [0x08, 0, 2, 2, 64, 64, 32, 32], file: file, line: line)
  }

  func assertNothingIsPlain(file: StaticString = #filePath, line: UInt = #line) throws {
    for (name, bytes) in try files() {
      for words in [Self.secret, "CREATE TABLE", "settings"] {
        XCTAssertNil(bytes.range(of: Data(words.utf8)), "\(words) in \(name)", file: file, line: line)
      }
    }
  }
}

final class SealedStoreTests: SealedStoreTestCase {
  func testSealedStoreIsWrittenAndReadAndNeverInPlainText() throws {
    try make(first)
    XCTAssertGreaterThan(try XCTUnwrap(files()["store_chat.db-wal"]).count, 4096)
    try assertNothingIsPlain()
    try assertHeaderIsPlain()
    try assertHoldsSecret(first)
    let store = try openStore(first)
    try store.database.execute("VACUUM")
    try store.database.checkpoint()
    try assertNothingIsPlain()
    try assertHeaderIsPlain()
    try store.close(checkpoint: true)
    try assertHeaderIsPlain()
    try assertHoldsSecret(first)
  }

  /// Opened for one commit at a time, as a push does.
  func testTheLogIsCutWhenAStoreIsClosed() throws {
    for key in [StoreKey.none, first] {
      let prefix = file(key.isNone ? "plain" : "sealed")
      try make(key, at: prefix)
      var longest = 0
      for number in 0..<150 {
        let store = try openStore(key, at: prefix, mayMigrate: false)
        try store.setSetting("filler", String(repeating: ".", count: 20_000 + number))
        try store.close(checkpoint: false, cutsLog: true)
        let status = try FileManager.default.attributesOfItem(atPath: prefix + "_chat.db-wal")
        longest = max(longest, status[.size] as? Int ?? 0)
      }
      XCTAssertGreaterThan(longest, Store.longestLog / 2, "or too little was written")
      XCTAssertLessThanOrEqual(longest, Store.longestLog)
      try assertHoldsSecret(key, at: prefix)
    }
  }

  func testPassphraseAndTheKeyThatItMakes() throws {
    guard case .passphrase(let passphrase) = try StoreKey.parse("correct horse") else {
      return XCTFail("no passphrase")
    }
    try make(.passphrase(passphrase))
    let raw = try Store.derivedKey(of: StoreLocation(prefix: prefix), passphrase: passphrase)
    XCTAssertEqual(raw.count, 32)
    try assertHoldsSecret(.raw(raw))
    try assertHoldsSecret(try StoreKey.parse("correct horse"))
    try assertNothingIsPlain()
    assertOpening(try StoreKey.parse("incorrect horse"), fails: .keyWrong)
    guard case .passphrase(let wrong) = try StoreKey.parse("wrong") else { return XCTFail("no passphrase") }
    XCTAssertThrowsError(try Store.derivedKey(of: StoreLocation(prefix: prefix), passphrase: wrong)) { error in
      XCTAssertEqual(error as? StoreError, .seal(.keyWrong))
    }
    XCTAssertThrowsError(try Store.derivedKey(of: StoreLocation(prefix: file("none")), passphrase: wrong)) { error in
      XCTAssertEqual(error as? StoreError, .seal(.missing))
    }
    try make(.none, at: file("plain"))
    XCTAssertThrowsError(try Store.derivedKey(of: StoreLocation(prefix: file("plain")), passphrase: wrong)) { error in
      XCTAssertEqual(error as? StoreError, .seal(.notSealed))
    }
  }

  func testWrongKeyNoKeyAndKeyForAPlainStore() throws {
    try make(first)
    assertOpening(second, fails: .keyWrong)
    assertOpening(.none, fails: .keyMissing)
    try assertHoldsSecret(first)
    try make(.none, at: file("plain"))
    assertOpening(first, fails: .notSealed, at: file("plain"))
    try assertHoldsSecret(.none, at: file("plain"))
  }

  /// SQLite takes an unreadable log for an empty one, and deletes it on closing.
  func testRefusedOpeningLeavesTheLogAlone() throws {
    try make(first)
    let before = try files()
    for key in [.none, second] { XCTAssertThrowsError(try openStore(key)) }
    XCTAssertEqual(try files(), before)
    try make(.none, at: file("plain"))
    let plain = try files()
    XCTAssertThrowsError(try openStore(first, at: file("plain")))
    XCTAssertEqual(try files(), plain)
  }

  func testTwoConnectionsWithOneKeyAndOneWithAnother() throws {
    let one = try openStore(first)
    let two = try openStore(first)
    XCTAssertThrowsError(try openStore(second))
    XCTAssertThrowsError(try openStore(.none))
    try one.setSetting("a", "1")
    XCTAssertEqual(try two.setting("a"), "1")
    try one.close(checkpoint: true)
    try two.setSetting("a", "2")
    XCTAssertEqual(try two.setting("a"), "2")
    try two.close(checkpoint: true)
  }

  // MARK: Unexpected files

  func testMissingAndEmptyFiles() throws {
    XCTAssertThrowsError(try openStore(first, mayMigrate: false)) { error in
      XCTAssertEqual(error as? StoreError, .seal(.missing))
    }
    XCTAssertThrowsError(try openStore(first, at: file("no/such/folder"))) { error in
      XCTAssertEqual(error as? StoreError, .seal(.missing))
    }
    try Data().write(to: URL(fileURLWithPath: prefix + "_chat.db"))
    try make(first)
    try assertHoldsSecret(first)
  }

  func testForeignFiles() throws {
    let noise = Data((0..<8192).map { _ in UInt8.random(in: 0...255) })
    try noise.write(to: URL(fileURLWithPath: prefix + "_chat.db"))
    assertOpening(first, fails: .notADatabase)
    XCTAssertThrowsError(try openStore(.none))
    XCTAssertEqual(try files()["store_chat.db"], noise)
    // A sealed database that is not a store.
    let other = try Database(path: file("other_chat.db"), options: Database.Options(key: first))
    try other.execute("CREATE TABLE somebody_elses(a)")
    try other.close()
    XCTAssertThrowsError(try openStore(first, at: file("other"))) { error in
      XCTAssertEqual(error as? StoreError, .foreign)
    }
  }

  func testNewerFormatAndNewerSchema() throws {
    try make(first)
    let store = try openStore(first)
    try store.database.setUserVersion(1000)
    try store.close(checkpoint: true)
    XCTAssertThrowsError(try openStore(first)) { error in
      XCTAssertEqual(error as? StoreError, .newerSchema(version: 1000))
    }
    try change { $0[2048 - 64] = 3 }
    assertOpening(first, fails: .newerFormat)
    assertOpening(.none, fails: .newerFormat)
  }

  func testACipherThatLibsodiumLacksIsNamed() throws {
    defer { XCTAssertTrue(StoreCipher.fastest.prefer()) }
    XCTAssertTrue(StoreCipher.xchacha20Poly1305.prefer())
    try make(first)
    try openStore(first).close(checkpoint: true)
    let path = prefix + "_chat.db"
    XCTAssertEqual(StoreCipher(ofFile: path), .xchacha20Poly1305)
    try change { $0[2048 - 63] = 2 }
    XCTAssertEqual(StoreCipher(ofFile: path), .aegis256)
    let sealed = try Data(contentsOf: URL(fileURLWithPath: path))
    let isAvailable = StoreCipher.aegis256.prefer()
    assertOpening(first, fails: isAvailable ? .keyWrong : .cipherUnavailable)
    assertOpening(.none, fails: isAvailable ? .keyMissing : .cipherUnavailable)
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: path)), sealed)
    try make(.none, at: file("plain"))
    XCTAssertNil(StoreCipher(ofFile: file("plain") + "_chat.db"))
  }

  func testDamagedAndMissingPagesAreNamed() throws {
    try make(first)
    try openStore(first).close(checkpoint: true)
    let whole = try Data(contentsOf: URL(fileURLWithPath: prefix + "_chat.db"))
    let pages = whole.count / 2048
    for page in [1, 2, pages / 2, pages] {
      try whole.write(to: URL(fileURLWithPath: prefix + "_chat.db"))
      try change { $0[(page - 1) * 2048 + 1000] ^= 1 }
      XCTAssertThrowsError(try readEverything(), "page \(page)") { error in
        XCTAssertEqual(
          error as? StoreError, .seal(.damaged(.init(file: .store, page: Int64(page), frame: 0))), "\(error)")
      }
    }
    for kept in stride(from: 1, to: pages, by: 3) {
      try whole.prefix(kept * 2048).write(to: URL(fileURLWithPath: prefix + "_chat.db"))
      XCTAssertThrowsError(try readEverything(), "\(kept) pages are left") { error in
        XCTAssertEqual(
          error as? StoreError, .seal(.truncated(.init(file: .store, page: Int64(kept) + 1, frame: 0))), "\(error)")
      }
    }
  }

  func testPathsWithSpacesAndUnicode() throws {
    for name in ["two words", "naïve ✉️ 'quoted' \"?#%&=", "file:odd"] {
      let folder = file("in \(name)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let prefix = folder + "/" + name
      try make(first, at: prefix)
      try Rekeying.run(StoreLocation(prefix: prefix), from: first, to: second)
      try assertHoldsSecret(second, at: prefix)
      try Rekeying.run(StoreLocation(prefix: prefix), from: second, to: .none)
      try assertHoldsSecret(.none, at: prefix)
    }
  }

  private func readEverything() throws {
    let store = try openStore(first)
    defer { try? store.close(checkpoint: false) }
    _ = try store.rows("SELECT name, value FROM settings") { $0.text(1) }
    for table in try store.rows("SELECT name FROM sqlite_schema WHERE type='table'", [], { $0.text(0) }) {
      _ = try store.integer("SELECT count(*) FROM \(table) NOT INDEXED")
    }
    let complaints = try StoreError.carrying { () throws(SQLiteError) in try store.database.integrityCheck() }
    if !complaints.isEmpty { throw StoreError.sqlite(SQLiteError(kind: .corrupt)) }
  }

  private func change(_ body: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: prefix + "_chat.db")
    var bytes = try Data(contentsOf: url)
    body(&bytes)
    try bytes.write(to: url)
  }
}
