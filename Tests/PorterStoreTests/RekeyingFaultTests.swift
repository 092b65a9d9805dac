import CFaultyVFS
import CSQLite
import CSealedVFS
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// The nth read, write, sync or lock fails while a store gets another key, for each n until all goes well: a typed
/// error, and the old store or the new one, whole, for whoever comes next.
final class RekeyingFaultTests: SealedStoreTestCase {
  private static let styles: [(name: String, operation: operation, sticky: Bool, code: Int32)] = [
    ("read", OP_READ, false, SQLITE_IOERR), ("reads", OP_READ, true, SQLITE_IOERR),
    ("write", OP_WRITE, false, SQLITE_IOERR), ("full disk", OP_WRITE, true, SQLITE_FULL),
    ("sync", OP_SYNC, false, SQLITE_IOERR), ("syncs", OP_SYNC, true, SQLITE_IOERR),
    ("truncation", OP_TRUNCATE, false, SQLITE_IOERR), ("size", OP_SIZE, false, SQLITE_IOERR),
    ("open", OP_OPEN, false, SQLITE_CANTOPEN), ("opens", OP_OPEN, true, SQLITE_CANTOPEN),
    ("delete", OP_DELETE, true, SQLITE_IOERR), ("lock", OP_LOCK, false, SQLITE_BUSY),
    ("locks", OP_LOCK, true, SQLITE_BUSY), ("log map", OP_SHM_MAP, false, SQLITE_IOERR),
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

  /// A whole store under the one key or the other, and under that alone.
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
        faults_arm(style.operation, nth, style.sticky, false, style.code, directory)
        var failure: StoreError?
        do throws(StoreError) {
          try Rekeying.run(prefix: prefix, from: from, to: to, busyTimeout: .milliseconds(15))
        } catch {
          failure = error
        }
        let hasFired = faults_fired()
        faults_reset()
        let isNew = try assertWhole(from, or: to, context)
        // Said to be done is done, and said to have failed has changed nothing.
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

  func testEachFailureWhileAStoreIsSealed() throws { try eachFailure(from: .none, to: first) }
  func testEachFailureWhileASealedStoreGetsAnotherKey() throws { try eachFailure(from: first, to: second) }
  func testEachFailureWhileAStoreIsMadePlain() throws { try eachFailure(from: first, to: .none) }
}
