import CFaultyVFS
import CSQLite
import CSealedVFS
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// The nth read, write, sync or lock fails while a store is rekeyed, for each n until there is no failure: the result
/// is a typed error, and the next opening finds the old store or the new one, whole.
final class RekeyingFaultTests: SealedStoreTestCase {
  private struct Style {
    var name: String
    var operation: operation
    var sticky: Bool
    var code: Int32
    /// The end of the path of the only file that fails; nil for all.
    var file: String?

    init(_ name: String, _ operation: operation, _ sticky: Bool, _ code: Int32, file: String? = nil) {
      (self.name, self.operation, self.sticky, self.code, self.file) = (name, operation, sticky, code, file)
    }
  }

  private static let styles: [Style] = [
    Style("read", OP_READ, false, SQLITE_IOERR), Style("reads", OP_READ, true, SQLITE_IOERR),
    Style("write", OP_WRITE, false, SQLITE_IOERR), Style("writes", OP_WRITE, true, SQLITE_IOERR),
    Style("full disk", OP_WRITE, true, SQLITE_FULL),
    Style("sync", OP_SYNC, false, SQLITE_IOERR), Style("syncs", OP_SYNC, true, SQLITE_IOERR),
    Style("truncation", OP_TRUNCATE, false, SQLITE_IOERR), Style("size", OP_SIZE, false, SQLITE_IOERR),
    Style("open", OP_OPEN, false, SQLITE_CANTOPEN), Style("opens", OP_OPEN, true, SQLITE_CANTOPEN),
    Style("deletion", OP_DELETE, false, SQLITE_IOERR),
    Style("deletions", OP_DELETE, true, SQLITE_IOERR), Style("lock", OP_LOCK, false, SQLITE_BUSY),
    Style("locks", OP_LOCK, true, SQLITE_BUSY), Style("log map", OP_SHM_MAP, false, SQLITE_IOERR),
    // The log cannot be written back, or cannot be deleted, and the copy is made anyway.
    Style("writes to the store", OP_WRITE, true, SQLITE_IOERR, file: "_chat.db"),
    Style("truncations of the store", OP_TRUNCATE, true, SQLITE_IOERR, file: "_chat.db"),
    Style("syncs of the store", OP_SYNC, true, SQLITE_IOERR, file: "_chat.db"),
    Style("deletion of the log", OP_DELETE, false, SQLITE_IOERR, file: "_chat.db-wal"),
    Style("deletions of the log", OP_DELETE, true, SQLITE_IOERR, file: "_chat.db-wal"),
  ]

  override func setUpWithError() throws {
    try super.setUpWithError()
    XCTAssertEqual(faulty_vfs_register(true), SQLITE_OK)
    takeSealedAway()
    XCTAssertEqual(sealed_vfs_register(nil, "faulty"), SQLITE_OK)
    faults_reset()
  }

  override func tearDownWithError() throws {
    faults_reset()
    takeSealedAway()
    XCTAssertEqual(sqlite3_vfs_register(sqlite3_vfs_find("unix"), 1), SQLITE_OK)
    try super.tearDownWithError()
  }

  private func takeSealedAway() {
    if let sealed = sqlite3_vfs_find(SEALED_VFS_NAME) { XCTAssertEqual(sqlite3_vfs_unregister(sealed), SQLITE_OK) }
  }

  /// The store is whole under exactly one of the two keys.
  private func assertWhole(_ from: StoreKey, or to: StoreKey, _ context: String) throws -> Bool {
    let isNew = (try? openStore(to).close(checkpoint: false)) != nil
    try assertHoldsSecret(isNew ? to : from)
    XCTAssertThrowsError(try openStore(isNew ? from : to), context)
    XCTAssertFalse(try files().keys.contains { $0.contains("rekey") }, context)
    return isNew
  }

  private func eachFailure(from: StoreKey, to: StoreKey) throws {
    var (fired, survived) = (0, 0)
    for style in Self.styles {
      var nth = 1
      while true {
        let context = "\(style.name) \(nth)"
        for name in try files().keys { try FileManager.default.removeItem(atPath: file(name)) }
        try make(from)
        faults_arm(
          style.operation, nth, style.sticky, false, style.code, style.file.map { $0 + "$" } ?? directory)
        var failure: StoreError?
        do throws(StoreError) {
          try Rekeying.run(StoreLocation(prefix: prefix), from: from, to: to, busyTimeout: .milliseconds(15))
        } catch {
          failure = error
        }
        let hasFired = faults_fired()
        faults_reset()
        let isNew = try assertWhole(from, or: to, context)
        // Reported as done, it is done; reported as failed, nothing has changed.
        XCTAssertEqual(isNew, failure == nil, "\(context): \(failure.map { "\($0)" } ?? "no failure")")
        if let failure { XCTAssertTrue(hasFired, "\(context): \(failure)") } else if hasFired { survived += 1 }
        guard hasFired else { break }
        fired += 1
        nth += nth < 12 ? 1 : nth / 4
      }
    }
    XCTAssertGreaterThan(fired, 50)
    print("\(fired) faults in giving a store another key; \(survived) did it no harm")
  }

  /// Other stores of the process can be opened while one is being copied, however long that takes.
  func testOtherStoresAreOpenedMeanwhile() throws {
    try make(first)
    try make(second, at: file("other"))
    faults_hold_writes("_chat.db-rekey")
    let (prefix, other, one, two, third) = (self.prefix, file("other"), first, second, Self.key(3))
    let copied = onThread { try Rekeying.run(StoreLocation(prefix: prefix), from: one, to: third) }
    let end = Date().addingTimeInterval(30)
    while !faults_hold_one(), Date() < end { usleep(1_000) }
    XCTAssertTrue(faults_hold_one())
    let opened = onThread {
      try Store.open(at: StoreLocation(prefix: other), key: two, confirmation: .error, mayMigrate: false).close(
        checkpoint: false)
    }
    wait(for: [opened], timeout: 20)
    faults_hold_writes(nil)
    wait(for: [copied], timeout: 60)
    try assertHoldsSecret(third)
  }

  func testEachFailureWhileAStoreIsSealed() throws { try eachFailure(from: .none, to: first) }
  func testEachFailureWhileASealedStoreGetsAnotherKey() throws { try eachFailure(from: first, to: second) }
  func testEachFailureWhileAStoreIsMadePlain() throws { try eachFailure(from: first, to: .none) }
}
