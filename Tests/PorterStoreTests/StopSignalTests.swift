import Foundation
import PorterPlatform
import Synchronization
import XCTest

@testable import PorterStore

/// A connection whose owner is asked to stop: waits and long work end, and later work is unaffected.
final class StopSignalTests: SealedStoreTestCase {
  /// Also during a release, when nothing stops the thread.
  func testTimeIsLeftUntilTheEarliestDeadline() {
    let (clock, stop) = (SystemClock(), StopSignal(clock: SystemClock()))
    XCTAssertTrue(stop.leaves(.seconds(1_000)))
    stop.set(.push, clock.now() + .seconds(500))
    XCTAssertTrue(stop.leaves(.seconds(100)))
    XCTAssertFalse(stop.leaves(.seconds(1_000)))
    stop.set(.command, clock.now())
    stop.withReleaseBudget(.seconds(1)) { XCTAssertFalse(stop.leaves(.milliseconds(1))) }
    stop.set(.command, nil)
    stop.raise()
    stop.withReleaseBudget(.seconds(1)) { XCTAssertFalse(stop.leaves(.milliseconds(1))) }
    stop.lower()
    stop.withReleaseBudget(.seconds(1)) { XCTAssertTrue(stop.leaves(.seconds(100))) }
  }

  /// A wait that nothing stops takes 60 s of this clock's time.
  private let clock = PausedClock()
  private lazy var signal = StopSignal(clock: clock)
  /// `BusyWaiter`'s.
  private static let longestPause = Span.milliseconds(3)

  private func database(_ busyTimeout: Span = .seconds(60)) throws -> Database {
    let database = try Database(
      path: file("test.db"), options: .init(busyTimeout: busyTimeout, stop: signal, ports: Ports(clock: clock)))
    try database.execute("CREATE TABLE IF NOT EXISTS item(id INTEGER PRIMARY KEY, name TEXT)")
    return database
  }

  private func raiseSoon(after time: UInt32 = 100_000) -> XCTestExpectation {
    let raised = expectation(description: "raised")
    let signal = signal
    Thread.detachNewThread {
      usleep(time)
      signal.raise()
      raised.fulfill()
    }
    return raised
  }

  private func assertFails(
    _ kind: SQLiteError.Kind, line: UInt = #line, _ body: () throws -> Void
  ) {
    XCTAssertThrowsError(try body(), line: line) { error in
      XCTAssertEqual((error as? SQLiteError)?.kind, kind, "\(error)", line: line)
    }
  }

  private let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

  func testAWaitForALockEndsAndTheNextOneDoesNotBegin() throws {
    let (holder, waiter) = (try database(), try database())
    clock.atPause(100) { [signal] in signal.raise() }
    try holder.transaction { () throws(SQLiteError) in
      assertFails(.busy) { try waiter.transaction { () throws(SQLiteError) in } }
      XCTAssertEqual(clock.pauses, 100, "the one in which it was raised is the last")
      assertFails(.busy) { try waiter.transaction { () throws(SQLiteError) in } }
    }
    XCTAssertEqual(clock.pauses, 100)
    signal.lower()
    try waiter.transaction { () throws(SQLiteError) in try waiter.run("INSERT INTO item(name) VALUES('a')") }
  }

  func testAMomentThatPassesEndsAWait() throws {
    let (holder, waiter) = (try database(), try database())
    for due in StopSignal.DeadlineKind.allCases {
      let end = clock.now() + .seconds(1)
      signal.set(due, end)
      try holder.transaction { () throws(SQLiteError) in
        assertFails(.busy) { try waiter.transaction { () throws(SQLiteError) in } }
      }
      XCTAssertGreaterThanOrEqual(clock.now(), end)
      XCTAssertLessThan(clock.now() - end, Self.longestPause, "the pause in which it passes is the last")
      signal.set(due, nil)
    }
    XCTAssertFalse(signal.isRaised)
  }

  func testALongStatementEndsAndItsTransactionIsRolledBack() throws {
    let database = try database()
    let raised = raiseSoon()
    assertFails(.interrupted) {
      try database.transaction { () throws(SQLiteError) in
        try database.run("INSERT INTO item(name) VALUES('a')")
        try database.run(endless)
      }
    }
    wait(for: [raised], timeout: 10)
    XCTAssertFalse(database.isInTransaction)
    signal.lower()
    XCTAssertEqual(try database.integer("SELECT count(*) FROM item"), 0)
  }

  /// Cut off at its end, a commit would be reported as failed, and a transaction would be left open. Many runs, because
  /// SQLite checks only once every few thousand steps of each statement.
  func testACommitReportedAsFailedWasNotCommitted() throws {
    let database = try database()
    try database.setDurability(.normal)
    signal.raise()
    var (committed, failed) = (0, 0)
    for _ in 0..<10_000 {
      do throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in try database.run("INSERT INTO item(name) VALUES('a')") }
        committed += 1
      } catch {
        XCTAssertEqual(error.kind, .interrupted)
        failed += 1
      }
    }
    XCTAssertGreaterThan(failed, 0, "or this test sees nothing")
    XCTAssertFalse(database.isInTransaction)
    try database.execute("BEGIN; INSERT INTO item(name) VALUES('b')")
    try database.close()
    signal.lower()
    XCTAssertEqual(try self.database().integer("SELECT count(*) FROM item"), Int64(committed))
  }

  func testAReleaseWaitsWithinItsBudgetAndIsNotStopped() throws {
    let (holder, waiter) = (try database(), try database())
    signal.raise()
    let budget = Span.milliseconds(100)
    let start = clock.now()
    try holder.transaction { () throws(SQLiteError) in
      signal.withReleaseBudget(budget) {
        XCTAssertFalse(signal.isRaised)
        for _ in 0..<100 { assertFails(.busy) { try waiter.transaction { () throws(SQLiteError) in } } }
      }
    }
    XCTAssertGreaterThanOrEqual(clock.now() - start, budget)
    XCTAssertLessThan(clock.now() - start, budget + Self.longestPause, "all waits together")
    XCTAssertTrue(signal.isRaised)
    signal.lower()
    XCTAssertFalse(signal.skipsOptionalWork)
  }

  func testOpeningDoesNotWaitForAReplacementOfTheStore() throws {
    try make(.none)
    let lock = try OpeningLock(file: StoreLocation(prefix: prefix).file, .exclusive, creates: true, timeout: .zero)
    clock.atPause(5) { [signal] in signal.raise() }
    XCTAssertThrowsError(
      try Store.open(
        at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: false, busyTimeout: .seconds(60),
        stop: signal, ports: Ports(clock: clock))
    ) { error in
      guard case .sqlite(let error) = error as? StoreError else { return XCTFail("\(error)") }
      XCTAssertEqual(error.kind, .busy)
    }
    XCTAssertEqual(clock.pauses, 5)
    withExtendedLifetime(lock) {}
  }

  /// Whatever the stage at which it is cancelled, the store is whole, under the old key or the new one, and the result
  /// says which.
  func testAKeyChangeCanBeCancelledUntilItIsInPlace() throws {
    for stage in Rekeying.Stage.allCases {
      for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        try FileManager.default.removeItem(atPath: file(name))
      }
      try make(.none)
      let filler = try Database(path: StoreLocation(prefix: prefix).file)
      try filler.execute(
        """
        CREATE TABLE filler(data BLOB);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 40000)
        INSERT INTO filler SELECT randomblob(100) FROM n;
        """)
      try filler.close()
      var failure: (any Error)?
      do {
        try Rekeying.run(StoreLocation(prefix: prefix), from: .none, to: first, stop: signal) {
          if $0 == stage { signal.raise() }
        }
      } catch {
        failure = error
      }
      signal.lower()
      XCTAssertFalse(FileManager.default.fileExists(atPath: Rekeying.copy(of: StoreLocation(prefix: prefix).file)))
      switch stage {
      case .locked, .logWrittenBack, .copied:
        guard case .sqlite(let error) = failure as? StoreError else {
          XCTFail("\(stage): \(String(describing: failure))")
          continue
        }
        XCTAssertEqual(error.kind, .interrupted, "\(stage)")
        try assertHoldsSecret(.none)
        try Rekeying.run(StoreLocation(prefix: prefix), from: .none, to: first, stop: signal)
        try assertHoldsSecret(first)
      case .checked, .synced, .renamed:
        XCTAssertNil(failure, "\(stage)")
        try assertHoldsSecret(first)
      }
    }
  }

  /// A running check is ended too, although SQLite does not call back during it.
  func testACheckIsInterruptedWhileItRunsAndNotLater() throws {
    let calls = Atomic<Int>(0)
    // Without its own signal, so that nothing else ends it.
    let database = try Database(path: file("test.db"))
    let interrupter = database.interrupter
    var raised: XCTestExpectation?
    assertFails(.interrupted) {
      try signal.interrupting(by: {
        calls.add(1, ordering: .relaxed)
        interrupter.interrupt()
      }) { () throws(SQLiteError) in
        // An interruption before the statement begins has no effect.
        raised = raiseSoon(after: 500_000)
        _ = try database.integer(endless)
      }
    }
    wait(for: [try XCTUnwrap(raised)], timeout: 10)
    XCTAssertEqual(calls.load(ordering: .relaxed), 1)
    signal.raise()
    XCTAssertEqual(calls.load(ordering: .relaxed), 1, "it is over")
  }
}
