import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// The consequences of a transaction happen once it has been committed, and not if it is rolled back.
final class AfterCommitTests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
  private var done: [String] = []

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private func open() throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: folder.appendingPathComponent("one").path), confirmation: .yesUp, mayMigrate: true)
  }

  func testItHappensAfterTheCommitAndInOrder() throws {
    let store = try open()
    try store.transaction { () throws(StoreError) in
      for name in ["first", "second"] {
        store.afterCommit { [unowned self] in committed(store, name) }
      }
      try store.insertServerRequest(mailbox: [1], body: [2], deduplication: [3])
      XCTAssertEqual(done, [])
    }
    XCTAssertEqual(done, ["first", "second"])
    XCTAssertEqual(try store.setting("second"), "set")
  }

  private func committed(_ store: Store, _ name: String) {
    XCTAssertEqual(try? store.serverRequests().count, 1)
    // A transaction of its own, so the first has ended.
    XCTAssertNoThrow(try store.setSetting(name, "set"))
    done.append(name)
  }

  func testItNeverHappensAfterARollback() throws {
    let store = try open()
    XCTAssertThrowsError(
      try store.transaction { () throws(StoreError) in
        store.afterCommit { [unowned self] in done.append("rolled back") }
        throw .notFound(.setting)
      })
    try store.transaction { () throws(StoreError) in
      store.afterCommit { [unowned self] in done.append("committed") }
    }
    XCTAssertEqual(done, ["committed"])
  }

  /// Transactions do not nest; a refused one leaves the enclosing one unaffected.
  func testARefusedTransactionWithinLeavesItAlone() throws {
    let store = try open()
    try store.transaction { () throws(StoreError) in
      store.afterCommit { [unowned self] in done.append("outer") }
      XCTAssertThrowsError(try store.transaction { () throws(StoreError) in })
    }
    XCTAssertEqual(done, ["outer"])
  }
}
