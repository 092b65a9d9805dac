import Foundation
import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterStore

#if os(Linux)
  import Glibc
#endif

final class RekeyingTests: SealedStoreTestCase {
  private var directions: [(name: String, from: StoreKey, to: StoreKey)] {
    [("seal", .none, first), ("another key", first, second), ("unseal", first, .none), ("a new salt", first, first)]
  }

  private func startAfresh() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      try FileManager.default.removeItem(atPath: file(name))
    }
  }

  /// The other files next to them are locks, which are empty.
  private func filesWithContent() throws -> [String] { try files().filter { !$0.value.isEmpty }.keys.sorted() }

  private func rekey(
    _ from: StoreKey, _ to: StoreKey, reached: (Rekeying.Stage) -> Void = { _ in }
  ) throws {
    try Rekeying.run(StoreLocation(prefix: prefix), from: from, to: to, busyTimeout: .zero, reached: reached)
  }

  private func assertRekeying(
    _ from: StoreKey, fails expected: StoreError, file: StaticString = #filePath, line: UInt = #line
  ) {
    XCTAssertThrowsError(try rekey(from, Self.key(9)), file: file, line: line) { error in
      XCTAssertEqual(error as? StoreError, expected, "\(error)", file: file, line: line)
    }
  }

  func testCipherIsChangedWithTheKeyOrWithoutIt() throws {
    defer { XCTAssertTrue(StoreCipher.fastest.prefer()) }
    let ciphers = [StoreCipher.xchacha20Poly1305, .aegis256].filter { $0.prefer() }
    XCTAssertTrue(ciphers.contains(.xchacha20Poly1305))
    for from in ciphers {
      for to in ciphers {
        for key in [first, second] {
          try startAfresh()
          XCTAssertTrue(from.prefer())
          try make(first)
          XCTAssertTrue(to.prefer())
          XCTAssertEqual(StoreCipher(ofFile: prefix + "_chat.db"), from)
          try rekey(first, key)
          XCTAssertEqual(StoreCipher(ofFile: prefix + "_chat.db"), to)
          try assertNothingIsPlain()
          try assertHeaderIsPlain()
          try assertHoldsSecret(key)
        }
      }
    }
  }

  func testStoreIsTheSameUnderItsNewKey() throws {
    for (name, from, to) in directions {
      try startAfresh()
      try make(from)
      try rekey(from, to)
      XCTAssertEqual(try filesWithContent(), ["store_chat.db"], name)
      if !to.isNone {
        try assertNothingIsPlain()
        try assertHeaderIsPlain()
        assertOpening(Self.key(9), fails: .keyWrong)
        assertOpening(.none, fails: .keyMissing)
      } else {
        assertOpening(first, fails: .notSealed)
      }
      try assertHoldsSecret(to)
      // Numbered rows continue their sequences, and the store can be written to as before.
      let store = try openStore(to)
      try store.setSetting("after", "yes")
      try store.close(checkpoint: true)
      try assertHoldsSecret(to)
    }
  }

  /// A store larger than the cache: pages of the copy leave the cache and are read again before its first page is
  /// written, which comes last.
  func testAStoreThatDoesNotFitTheCache() throws {
    try make(.none)
    let path = StoreLocation(prefix: prefix).file
    let source = try Database(path: path, options: .init(cacheKibibytes: 8))
    try source.execute(
      """
      CREATE TABLE large(id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000)
      INSERT INTO large(name, data) SELECT hex(randomblob(20)), randomblob(200 + x % 3000) FROM n;
      """)
    try source.close()
    let exclusive = try Database(path: path, options: .init(isExclusive: true, cacheKibibytes: 8))
    try exclusive.vacuum(into: file("copy"), key: first)
    try exclusive.close()
    let copy = try Database(path: file("copy"), options: .init(key: first))
    XCTAssertEqual(try copy.integrityCheck(), [])
    XCTAssertEqual(try copy.integer("SELECT count(*) FROM large"), 20_000)
    try copy.close()
  }

  func testPassphrases() throws {
    let (one, two) = (try StoreKey.parse("one"), try StoreKey.parse("two"))
    try make(one)
    guard case .passphrase(let phrase) = one else { return XCTFail("no passphrase") }
    let before = try Store.derivedKey(of: StoreLocation(prefix: prefix), passphrase: phrase)
    try rekey(one, two)
    assertOpening(one, fails: .keyWrong)
    try assertHoldsSecret(two)
    try rekey(two, one)
    try assertHoldsSecret(one)
    // The salt has changed, and so has the key.
    XCTAssertNotEqual(try Store.derivedKey(of: StoreLocation(prefix: prefix), passphrase: phrase), before)
    assertOpening(.raw(before), fails: .keyWrong)
  }

  func testWrongKeysAndFilesChangeNothing() throws {
    try make(first)
    let before = try files()["store_chat.db"]
    assertRekeying(second, fails: .seal(.keyWrong))
    assertRekeying(.none, fails: .seal(.keyMissing))
    XCTAssertEqual(try files()["store_chat.db"], before)
    try assertHoldsSecret(first)
    try startAfresh()
    assertRekeying(first, fails: .seal(.missing))
    XCTAssertEqual(try filesWithContent(), [])
    try make(.none)
    assertRekeying(first, fails: .seal(.notSealed))
    try assertHoldsSecret(.none)
    try startAfresh()
    try Database(path: prefix + "_chat.db", options: Database.Options(key: first)).execute("CREATE TABLE theirs(a)")
    assertRekeying(first, fails: .foreign)
  }

  func testDamagedStoreIsNotCopied() throws {
    try make(first)
    try openStore(first).close(checkpoint: true)
    let url = URL(fileURLWithPath: prefix + "_chat.db")
    var bytes = try Data(contentsOf: url)
    let page = bytes.count / 2048
    bytes[(page - 1) * 2048 + 17] ^= 4
    try bytes.write(to: url)
    assertRekeying(first, fails: .seal(.damaged(.init(file: .store, page: Int64(page), frame: 0))))
    XCTAssertEqual(try Data(contentsOf: url), bytes)
    XCTAssertEqual(try filesWithContent(), ["store_chat.db"])
    try bytes.prefix(2048 * (page - 2)).write(to: url)
    XCTAssertThrowsError(try rekey(first, second))
  }

  // MARK: Others

  func testAnotherOpenConnectionIsRefused() throws {
    for (name, from, to) in directions {
      try startAfresh()
      try make(from)
      let other = try openStore(from)
      XCTAssertThrowsError(try rekey(from, to), name) { error in
        guard case .sqlite(let error) = error as? StoreError else { return XCTFail("\(error)") }
        XCTAssertEqual(error.kind, .busy)
      }
      // It has lost nothing, and can continue.
      try other.setSetting("meanwhile", "written")
      try other.close(checkpoint: true)
      try rekey(from, to)
      let store = try openStore(to)
      XCTAssertEqual(try store.setting("meanwhile"), "written")
      try store.close(checkpoint: true)
    }
  }

  #if os(Linux)
    /// Closing any descriptor of a file drops all locks that its process holds on it (POSIX): other processes would
    /// then conclude that the store is not open.
    func testLocksOfAnotherConnectionOfThisProcessStay() throws {
      try make(first)
      let other = try openStore(first)
      defer { try? other.close(checkpoint: true) }
      let probe = Glibc.open(prefix + "_chat.db", O_RDWR | O_CLOEXEC)
      XCTAssertGreaterThanOrEqual(probe, 0)
      defer { Glibc.close(probe) }
      // SQLite's lock bytes for readers, as seen from another process.
      func isLocked() -> Bool {
        let ofOpenFile: Int32 = 36  // F_OFD_GETLK
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        XCTAssertEqual(fcntl(probe, ofOpenFile, &lock), 0)
        return lock.l_type != F_UNLCK
      }
      XCTAssertTrue(isLocked(), "before")
      // Even if the copy cannot be made. Otherwise SQLite, which finds the store in use, would take the lock again.
      try FileManager.default.createDirectory(
        atPath: Rekeying.copy(of: prefix + "_chat.db"), withIntermediateDirectories: false)
      XCTAssertThrowsError(try rekey(first, second))
      XCTAssertTrue(isLocked(), "after")
    }
  #endif

  func testOpeningMeanwhileIsRefused() throws {
    try make(first)
    var refused = 0
    try rekey(first, second) { stage in refused += turnedAway(at: stage) }
    XCTAssertEqual(refused, 3 * Rekeying.Stage.allCases.count)
    try assertHoldsSecret(second)
  }

  private func turnedAway(at stage: Rekeying.Stage) -> Int {
    XCTAssertThrowsError(try rekey(first, Self.key(7)), "a second one at \(stage)")
    return [first, second, .none].count { key in
      do throws(StoreError) {
        _ = try Store.open(
          at: StoreLocation(prefix: prefix), key: key, confirmation: .yesUp, mayMigrate: true, busyTimeout: .zero)
      } catch {
        if case .sqlite(let error) = error { return error.kind == .busy }
      }
      return false
    }
  }

  // MARK: The file itself

  /// The same users may read the store afterwards, and no others at any time.
  func testOwnerAndPermissionsStay() throws {
    let path = prefix + "_chat.db"
    for (mode, owner) in [(0o600, 0), (0o640, 1234), (0o664, 1234)] as [(mode_t, uid_t)] {
      try startAfresh()
      try make(first)
      XCTAssertEqual(chmod(path, mode), 0)
      if getuid() == 0 { XCTAssertEqual(chown(path, owner, owner + 1), 0) }
      var before = stat()
      XCTAssertEqual(stat(path, &before), 0)
      try rekey(first, .none) { stage in
        guard stage == .copied else { return }
        var copy = stat()
        XCTAssertEqual(stat(Rekeying.copy(of: path), &copy), 0)
        XCTAssertEqual(copy.st_mode, before.st_mode, "the copy")
      }
      var after = stat()
      XCTAssertEqual(stat(path, &after), 0)
      XCTAssertEqual(after.st_mode, before.st_mode)
      XCTAssertEqual([after.st_uid, after.st_gid], [before.st_uid, before.st_gid])
      XCTAssertNotEqual(after.st_ino, before.st_ino)
      try assertHoldsSecret(.none)
    }
  }

  /// The lock file was deleted, so other processes may have opened the store since.
  func testStoreIsNotReplacedUnderADeletedLock() throws {
    try make(first)
    XCTAssertThrowsError(
      try rekey(first, second) { stage in
        if stage == .synced { unlink(prefix + "_chat.db-lock") }
      }
    ) { error in
      guard case .sqlite(let error) = error as? StoreError else { return XCTFail("\(error)") }
      XCTAssertEqual(error.kind, .busy)
    }
    try assertHoldsSecret(first)
    try rekey(first, second)
    try assertHoldsSecret(second)
  }

  /// A copy left by a killed process may be plain: the next process to open the store removes it.
  func testExtensionRemovesALeftoverCopy() throws {
    try make(first)
    try Data(Self.secret.utf8).write(to: URL(fileURLWithPath: prefix + "_chat.db-rekey"))
    try openStore(first, mayMigrate: false).close(checkpoint: false)
    XCTAssertFalse(try files().keys.contains("store_chat.db-rekey"))
    try assertHoldsSecret(first)
  }

  // MARK: Ends in the middle

  /// The files on disk when the process is killed at any stage: the old store or the new one, and the next opening
  /// removes a leftover copy.
  func testAWholeStoreExistsAtEachStage() throws {
    for (name, from, to) in directions {
      try startAfresh()
      try make(from)
      var images: [(stage: Rekeying.Stage, files: [String: Data])] = []
      try rekey(from, to) { stage in images.append((stage, (try? files()) ?? [:])) }
      XCTAssertEqual(images.map(\.stage), Rekeying.Stage.allCases, name)
      for image in images {
        try startAfresh()
        for (name, bytes) in image.files { try bytes.write(to: URL(fileURLWithPath: file(name))) }
        try assertHoldsSecret(image.stage == .renamed ? to : from)
        XCTAssertTrue(try files().keys.allSatisfy { !$0.contains("rekey") }, "\(name), \(image.stage)")
        // The change is repeated after an interruption.
        if image.stage != .renamed { try rekey(from, to) }
        try assertHoldsSecret(to)
      }
    }
  }

  func testLeftoverCopiesBlockNoProcess() throws {
    try make(first)
    for suffix in ["", "-journal", "-wal", "-shm"] {
      try Data("left behind".utf8).write(to: URL(fileURLWithPath: prefix + "_chat.db-rekey" + suffix))
    }
    try rekey(first, second)
    XCTAssertEqual(try filesWithContent(), ["store_chat.db"])
    try assertHoldsSecret(second)
  }

  /// An attacker tries to have the copy, which may be plain, written elsewhere.
  func testLinkInPlaceOfTheCopyIsNotFollowed() throws {
    try make(first)
    for target in ["elsewhere", "precious"] {
      try Data("mine".utf8).write(to: URL(fileURLWithPath: file("precious")))
      try FileManager.default.createSymbolicLink(
        atPath: prefix + "_chat.db-rekey", withDestinationPath: file(target))
      try rekey(target == "elsewhere" ? first : .none, target == "elsewhere" ? .none : second)
      XCTAssertEqual(try filesWithContent(), ["precious", "store_chat.db"])
      XCTAssertEqual(try files()["precious"], Data("mine".utf8))
    }
    try assertHoldsSecret(second)
  }

  /// Any sequence of keys, with writes in between: always the same content, under the last key and no other.
  func testSequencesOfKeys() throws {
    let keys = [StoreKey.none, first, second, Self.key(3)]
    forAll(Generator<[UInt8]>.bytes(1...6), runs: 12) { [self] bytes in
      let sequence = bytes.map { Int($0 % 4) }
      try startAfresh()
      try make(.none)
      var current = 0
      for (step, next) in sequence.enumerated() {
        try rekey(keys[current], keys[next])
        current = next
        let store = try openStore(keys[current])
        try expectEqual(try store.setting("name"), Self.secret)
        try expectEqual(try store.setting("step"), step == 0 ? nil : "\(step - 1)")
        try store.setSetting("step", "\(step)")
        try store.close(checkpoint: step % 2 == 0)
        for (number, key) in keys.enumerated() where number != current {
          try expectThrows { _ = try openStore(key) }
        }
        if current != 0 { try assertHeaderIsPlain() }
      }
    }
  }
}
