import Foundation
import PorterPlatform
import PorterProcesses
import Synchronization
import XCTest

@testable import PorterStore

final class SQLiteLockTests: SQLiteTestCase {
  private let clock = SystemClock()

  func testHeldLockEndsInBusyAtTheTimeout() throws {
    let holder = try openWithTable()
    let waiter = try open("test.db", Database.Options(busyTimeout: .milliseconds(60)))
    try holder.transaction { () throws(SQLiteError) in
      let start = clock.now()
      do throws(SQLiteError) {
        try waiter.transaction { () throws(SQLiteError) in }
        XCTFail("two writers at the same time")
      } catch {
        XCTAssertEqual(error.kind, .busy)
        XCTAssertTrue(error.isTemporary)
      }
      XCTAssertGreaterThanOrEqual(clock.now() - start, .milliseconds(60))
      waiter.busyTimeout = .zero
      XCTAssertThrowsError(try waiter.transaction { () throws(SQLiteError) in })
      // A reader blocks no writer.
      XCTAssertEqual(try waiter.integer("SELECT count(*) FROM item"), 0)
    }
    try waiter.transaction { () throws(SQLiteError) in try waiter.run("INSERT INTO item(name) VALUES('later')") }
  }

  func testWaiterContinuesAsSoonAsTheLockIsFree() throws {
    let holder = try openWithTable()
    let path = file()
    let held = DispatchSemaphore(value: 0)
    let entered = Mutex<Moment?>(nil)
    let done = onThread {
      let waiter = try Database(path: path)
      held.wait()
      try waiter.transaction { () throws(SQLiteError) in
        entered.withLock { $0 = SystemClock().now() }
        try waiter.run("INSERT INTO item(name) VALUES('waited')")
      }
    }
    let released = try holder.transaction { () throws(SQLiteError) in
      held.signal()
      usleep(30_000)
      return clock.now()
    }
    wait(for: [done], timeout: 60)
    XCTAssertGreaterThanOrEqual(try XCTUnwrap(entered.withLock { $0 }), released)
    XCTAssertEqual(try holder.integer("SELECT count(*) FROM item"), 1)
  }

  func testWritersSideBySideLoseNothing() throws {
    try openWithTable().close()
    let path = file()
    let threads = (0..<4).map { writer in
      onThread {
        let database = try Database(path: path, options: .init(durability: .normal, busyTimeout: .seconds(30)))
        for number in 0..<100 {
          try database.transaction { () throws(SQLiteError) in
            try database.run("INSERT INTO item(name) VALUES(?1)", [.text("\(writer)-\(number)")])
          }
        }
        try database.close()
      }
    }
    wait(for: threads, timeout: 60)
    XCTAssertEqual(try open().integer("SELECT count(*) FROM item"), 400)
  }

  /// A process that commits without a pause queues behind the waiting ones each time.
  func testWritersTakeTurns() throws {
    try openWithTable().close()
    let path = file()
    let commits = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    let busy = onThread {
      let database = try Database(path: path, options: .init(durability: .normal, busyTimeout: .seconds(30)))
      while !isOver.load(ordering: .relaxed) {
        try database.transaction { () throws(SQLiteError) in
          try database.run("INSERT INTO item(data) VALUES(zeroblob(100))")
          usleep(1_000)
        }
        commits.add(1, ordering: .relaxed)
      }
    }
    let database = try Database(path: path, options: .init(durability: .normal, busyTimeout: .seconds(30)))
    while commits.load(ordering: .relaxed) == 0 { usleep(1_000) }
    var waits: [Int] = []
    for _ in 0..<60 {
      usleep(2_000)
      let before = commits.load(ordering: .relaxed)
      try database.transaction { () throws(SQLiteError) in waits.append(commits.load(ordering: .relaxed) - before) }
    }
    isOver.store(true, ordering: .relaxed)
    wait(for: [busy], timeout: 30)
    // The median, because a busy machine may keep this thread from trying at all for a while.
    XCTAssertLessThanOrEqual(waits.sorted()[waits.count / 2], 3, "\(waits)")
  }

  /// A process frozen inside the write lock does not delay others for long.
  func testATurnThatNeverEndsIsSkipped() throws {
    let database = try openWithTable()
    var frozen = FairWriteLock(beside: file(), files: SystemFiles())
    frozen.enter(clock, limit: .zero) { _ in false }
    let start = clock.now()
    try database.transaction { () throws(SQLiteError) in try database.run("INSERT INTO item(name) VALUES('a')") }
    XCTAssertGreaterThanOrEqual(clock.now() - start, FairWriteLock.patience)
    frozen.leave()
  }

  /// Nor is it waited for repeatedly: the next attempt comes after 5 s, then after 10, and so on.
  func testATurnThatNeverEndsIsWaitedForOnce() {
    let time = SteppedClock()
    var frozen = FairWriteLock(beside: file(), files: SystemFiles())
    var writeLock = FairWriteLock(beside: file(), files: SystemFiles())
    func pauses() -> Int {
      var count = 0
      writeLock.enter(time, limit: .seconds(3)) { _ in
        count += 1
        time.advance(.milliseconds(1))
        return true
      }
      writeLock.leave()
      return count
    }
    frozen.enter(time, limit: .zero) { _ in false }
    for seconds in [5, 10, 20, 40, 80, 80] as [Int64] {
      XCTAssertEqual(pauses(), 100)
      for _ in 0..<50 { XCTAssertEqual(pauses(), 0) }
      time.advance(.seconds(seconds) - .milliseconds(1))
      XCTAssertEqual(pauses(), 0)
      time.advance(.milliseconds(1))
    }
    // Thawed: the turn arrives, and everything is as in the beginning.
    frozen.leave()
    XCTAssertEqual(pauses(), 0)
    frozen.enter(time, limit: .zero) { _ in false }
    XCTAssertEqual(pauses(), 100)
    time.advance(.seconds(5))
    XCTAssertEqual(pauses(), 100)
    // A writer with too short a limit draws no conclusion.
    time.advance(.seconds(10))
    for _ in 0..<2 {
      var count = 0
      writeLock.enter(time, limit: .milliseconds(15)) { _ in
        count += 1
        time.advance(.milliseconds(1))
        return true
      }
      XCTAssertEqual(count, 15)
    }
    frozen.leave()
  }

  func testInterruptStopsARunningStatement() throws {
    let database = try openWithTable()
    try withInterrupts(of: database) {
      assertFails(.interrupted) {
        try database.run("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")
      }
    }
    XCTAssertEqual(try database.integer("SELECT 5"), 5, "what begins later is not affected")
  }

  func testInterruptStopsAWaitForALock() throws {
    let holder = try openWithTable()
    let waiter = try open("test.db", Database.Options(busyTimeout: .seconds(30)))
    try holder.transaction { () throws(SQLiteError) in
      _ = try? withInterrupts(of: waiter) {
        assertFails(.interrupted) { try waiter.transaction { () throws(SQLiteError) in } }
      }
    }
  }

  func testInterruptAfterCloseIsHarmless() throws {
    let database = try openWithTable()
    let interrupter = database.interrupter
    try database.close()
    interrupter.interrupt()
    database.interrupt()
  }

  /// Interrupts repeatedly, because an interrupt before the statement has begun is lost.
  private func withInterrupts(of database: Database, _ body: () -> Void) throws {
    let interrupter = database.interrupter
    let stop = DispatchSemaphore(value: 0)
    let done = onThread {
      while stop.wait(timeout: .now() + .milliseconds(20)) == .timedOut { interrupter.interrupt() }
    }
    body()
    stop.signal()
    wait(for: [done], timeout: 60)
  }

  // MARK: Closing

  func testClosedDatabaseAnswersClosed() throws {
    let database = try openWithTable()
    let statement = try database.prepare("SELECT 1")
    XCTAssertTrue(try statement.step())
    try database.close()
    try database.close()
    XCTAssertFalse(database.isOpen)
    assertFails(.closed) { try statement.step() }
    assertFails(.closed) { try statement.bind(Int64(1), at: 1) }
    assertFails(.closed) { try statement.run() }
    assertFails(.closed) { try database.run("SELECT 1") }
    assertFails(.closed) { try database.execute("SELECT 1") }
    assertFails(.closed) { try database.transaction { () throws(SQLiteError) in } }
    assertFails(.closed) { try database.checkpoint() }
    XCTAssertEqual(database.changes, 0)
    XCTAssertEqual(database.lastInsertedRow, 0)
  }

  func testReleasingADatabaseClosesItAndRollsBack() throws {
    var database: Database? = try openWithTable()
    try database?.execute("BEGIN IMMEDIATE; INSERT INTO item(name) VALUES('a')")
    database = nil
    XCTAssertEqual(try open().integer("SELECT count(*) FROM item"), 0)
  }

  func testCloseWithoutCheckpointLeavesTheLogAndLosesNothing() throws {
    let database = try openWithTable()
    try database.run("INSERT INTO item(name) VALUES('a')")
    try database.close(checkpoint: false)
    XCTAssertTrue(FileManager.default.fileExists(atPath: file() + "-wal"))
    let again = try open()
    XCTAssertEqual(try again.integer("SELECT count(*) FROM item"), 1)
    try again.close()
    XCTAssertFalse(FileManager.default.fileExists(atPath: file() + "-wal"))
  }

  #if os(Linux)
    func testINC01ClosedDatabaseHoldsNoLock() throws {
      for checkpoint in [true, false] {
        let database = try openWithTable()
        let other = try open()
        let statement = try database.prepare("SELECT * FROM sqlite_schema")
        try database.execute("BEGIN IMMEDIATE; INSERT INTO item(name) VALUES('never committed')")
        XCTAssertTrue(try statement.step())
        XCTAssertGreaterThan(try locksHeld(), 0, "or this test sees nothing")
        try database.close(checkpoint: checkpoint)
        try other.close(checkpoint: checkpoint)
        XCTAssertEqual(try locksHeld(), 0)
        XCTAssertEqual(try openDescriptors(), [])
      }
    }

    /// This process's locks on the files in the test's directory.
    private func locksHeld() throws -> Int {
      try HeldLock.all(of: getpid()).count { $0.path.hasPrefix(directory) }
    }

    private func openDescriptors() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }.filter { $0.hasPrefix(directory) }
    }
  #endif
}

/// A clock that stands still until it is advanced.
private final class SteppedClock: Clock {
  private let moment = Atomic<Int64>(1_000_000_000)

  func now() -> Moment { Moment(nanoseconds: moment.load(ordering: .relaxed)) }
  func wall() -> WallTime { WallTime(milliseconds: 0) }
  func pause(_ span: Span) { advance(span) }
  func advance(_ span: Span) { moment.add(span.nanoseconds, ordering: .relaxed) }
}
