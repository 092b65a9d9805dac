import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import PorterEngine

/// When failed work is retried.
final class RetryTests: XCTestCase {
  private final class ManualClock: Clock {
    private let time = Mutex(Moment(nanoseconds: 0))
    func now() -> Moment { time.withLock { $0 } }
    func wall() -> WallTime { WallTime(milliseconds: 0) }
    func pause(_ span: Span) { advance(span) }
    func advance(_ span: Span) { time.withLock { $0 = $0 + span } }
  }

  /// The relay's file is free again: a pause that had grown to minutes ends.
  func testAHastenedTimerIsDueImmediately() {
    let clock = ManualClock()
    let timers = Timers(clock: clock)
    var fired: [String] = []
    timers.set(TimerName.outbox, after: .seconds(180)) { fired.append("outbox") }
    timers.set(TimerName.tokenCheck, after: .seconds(180)) { fired.append("check") }
    timers.hasten(TimerName.outbox)
    timers.hasten(TimerName.subscribe)
    timers.runDue()
    XCTAssertEqual(fired, ["outbox"])
    timers.hasten(TimerName.outbox)
    timers.runDue()
    XCTAssertEqual(fired, ["outbox"], "a timer fires once")
    clock.advance(.seconds(180))
    timers.runDue()
    XCTAssertEqual(fired, ["outbox", "check"])
  }

  /// If each access to the store takes seconds and fails, a command waits for one piece of work, not for everything
  /// due.
  func testAfterATimerThatTookLongTheOthersAreAnotherTurns() {
    let clock = ManualClock()
    let timers = Timers(clock: clock)
    var fired: [String] = []
    for name in ["slow", "quick", "last"] {
      timers.set(name, after: .zero) {
        fired.append(name)
        if name == "slow" { clock.advance(.seconds(10)) }
      }
    }
    XCTAssertTrue(timers.runDue())
    XCTAssertEqual(fired, ["slow"])
    XCTAssertLessThanOrEqual(try XCTUnwrap(timers.nextDue), clock.now(), "the next turn is due now")
    XCTAssertTrue(timers.runDue())
    XCTAssertEqual(fired, ["slow", "quick", "last"])
  }

  func testAfterAPieceOfWorkThatTookLongTheOthersAreLaterTurns() {
    let clock = ManualClock()
    var turns: [() -> Void] = []
    let work = PiecewiseWork(clock: clock) { turns.append($0) }
    var done: [Int] = []
    let seconds = [0, 0, 10, 10, 0, 0]
    let pieces = seconds.indices.map { index in
      {
        done.append(index)
        clock.advance(.seconds(Int64(seconds[index])))
      }
    }
    work.begin(pieces)
    XCTAssertEqual(done, [0, 1, 2])
    XCTAssertTrue(work.isUnderWay)
    turns.removeFirst()()
    XCTAssertEqual(done, [0, 1, 2, 3])
    work.repeatAfterwards()
    while !turns.isEmpty { turns.removeFirst()() }
    XCTAssertEqual(done, Array(0..<6) + Array(0..<6))
    XCTAssertFalse(work.isUnderWay)

    done = []
    work.begin(pieces)
    work.end()
    while !turns.isEmpty { turns.removeFirst()() }
    XCTAssertEqual(done, [0, 1, 2], "the chat has suspended meanwhile")
    work.begin(pieces)
    work.begin([pieces[5]])
    while !turns.isEmpty { turns.removeFirst()() }
    XCTAssertEqual(done, [0, 1, 2, 0, 1, 2, 5])
  }

  /// Failures for one purpose slow only that purpose, and simultaneous failures count once.
  func testEachPurposeHasItsOwnPauses() {
    let clock = ManualClock()
    let timers = Timers(clock: clock)
    let retries = Retries(timers: timers, storeAccess: StoreAccess(), log: .silent)
    func pause(_ name: String) -> Span? {
      retries.retry(name) {}
      retries.retry(name) {}
      defer { timers.cancel(name) }
      return timers.nextDue.map { $0 - clock.now() }
    }
    for _ in 0..<20 { _ = pause(TimerName.tokenRetry) }
    XCTAssertEqual(pause(TimerName.tokenRetry), Durations.lastRetry)
    XCTAssertEqual(pause(TimerName.replies), Durations.firstRetry)
    XCTAssertEqual(pause(TimerName.replies), Durations.firstRetry + Durations.firstRetry)
    retries.reset(TimerName.replies)
    XCTAssertEqual(pause(TimerName.tokenRetry), Durations.lastRetry)
    XCTAssertEqual(pause(TimerName.replies), Durations.firstRetry)
  }

  /// A record that cannot be read does not slow anything else.
  func testBackoffOfOneRecordDoesNotAffectAnother() {
    var backoffs = NamedBackoffs()
    for _ in 0..<20 { _ = backoffs.next(TimerName.tokenRetry) }
    XCTAssertEqual(backoffs.next(TimerName.tokenRetry), Durations.lastRetry)
    XCTAssertEqual(backoffs.next(TimerName.outbox), Durations.firstRetry)
    backoffs.reset(TimerName.outbox)
    XCTAssertEqual(backoffs.next(TimerName.tokenRetry), Durations.lastRetry)
    backoffs.reset(TimerName.tokenRetry)
    XCTAssertEqual(backoffs.next(TimerName.tokenRetry), Durations.firstRetry)
  }

  /// A store that cannot be read does not slow the relay's retries of the same work.
  func testBackoffOfReadingDoesNotAffectTheRelays() {
    let clock = ManualClock()
    let timers = Timers(clock: clock)
    let retries = Retries(timers: timers, storeAccess: StoreAccess(), log: .silent)
    for _ in 0..<20 { retries.later(TimerName.outbox) {} }
    timers.cancel(TimerName.outbox)
    retries.retry(TimerName.outbox) {}
    XCTAssertEqual(timers.nextDue, clock.now() + Durations.firstRetry)
  }
}

/// The relay setting cannot be read for a moment: that is no reason to choose another relay.
final class UnreadRelayTests: XCTestCase {
  func testARelayThatCannotBeReadYetIsNotMissing() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute("ALTER TABLE settings RENAME TO unreadable")
    pair.alice.send("/_app activate").assert("cmdOk")
    let refused = pair.alice.send("/_connect 1")
    XCTAssertEqual(refused["error"]["np"]["code"].text, "relayUnavailable", refused.description)
    try store.execute("ALTER TABLE unreadable RENAME TO settings")
    awaitThat("the relay is open") { pair.alice.send("/_connect 1")["result"]["type"].text == "invitation" }
  }
}

/// INC-21: the results of a closed relay belong to its own cycle.
final class UnderWayTests: XCTestCase {
  func testINC21ALateEndLeavesTheMarkOfALaterRequest() {
    var underWay = UnderWay<Int64>()
    let first = underWay.begin([1, 2])
    XCTAssertTrue(underWay.contains(2))
    underWay.giveUp()
    XCTAssertFalse(underWay.contains(1))
    let second = underWay.begin(1)
    underWay.end(first)
    XCTAssertTrue(underWay.contains(1), "the second is still in progress")
    underWay.end(second)
    XCTAssertFalse(underWay.contains(1))
  }
}
