import XCTest

@testable import PorterJetStream

final class RecordTests: XCTestCase {
  func testWhatAMessageReplacesIsInItsHeader() {
    XCTAssertEqual(JetStream.replaced("NATS/1.0\r\nPorter-Replaces: 4611686018427387904\r\n\r\n"), 1 << 62)
    XCTAssertEqual(JetStream.replaced("NATS/1.0\r\nPorter-Replaces: 18446744073709551615\r\n\r\n"), 0)
    XCTAssertEqual(
      JetStream.replaced("NATS/1.0\r\nPorter-Replaces: 12\r\nNats-Expected-Last-Subject-Sequence: 13\r\n\r\n"), 12)
    for header in [
      "", "NATS/1.0\r\n\r\n", "NATS/1.0\r\nPorter-Replaces: x\r\n\r\n", "NATS/1.0\r\nX-Porter-Replaces: 3\r\n",
    ] {
      XCTAssertEqual(JetStream.replaced(header), 0, header)
    }
  }

  func testOutdatedMessagesAreDeletedLateAndOnce() {
    let (versions, begin) = (OutdatedMessages(), ContinuousClock.now)
    versions.note(.init("a", "a.x", 1, .replaced(by: 3), now: begin))
    versions.note(.init("b", "b.x", 2, .replaced(by: 4), now: begin + .seconds(1)))
    XCTAssertEqual(versions.due(now: begin + .seconds(2)).count, 0, "another relay may be comparing with it")
    XCTAssertEqual(versions.due(now: begin + .milliseconds(5_500)).map(\.sequence), [1])
    XCTAssertEqual(versions.due("a", now: begin + .seconds(9)).count, 0)
    XCTAssertEqual(versions.due("b", now: begin + .seconds(9)).map(\.stream), ["b"])
    XCTAssertEqual(versions.due(now: begin + .seconds(9)).count, 0)
  }

  func testAPostponedMessageKeepsNoOtherFromBeingDeleted() {
    let (versions, begin) = (OutdatedMessages(), ContinuousClock.now)
    versions.postpone(
      [.init("a", "a.x", 1, .replaced(by: 3), now: begin)], until: begin + .seconds(20))
    versions.note(.init("a", "a.x", 2, .replaced(by: 4), now: begin))
    XCTAssertEqual(versions.lateness("a", now: begin + .seconds(6)), .seconds(1))
    XCTAssertEqual(versions.due("a", now: begin + .seconds(6)).map(\.sequence), [2])
    XCTAssertNil(versions.lateness("a", now: begin + .seconds(19)))
    XCTAssertEqual(versions.due("a", now: begin + .seconds(20)).map(\.sequence), [1])
  }

  /// A node loads a whole file for a message that is deleted late: so each is loaded for many.
  func testGatheredMessagesAreDeletedInOrderOfNumberInRounds() {
    let (versions, begin) = (OutdatedMessages(span: .seconds(100)), ContinuousClock.now)
    func gather(_ numbers: [UInt64], at second: Int) {
      for number in numbers {
        let now = begin + .seconds(second)
        versions.gather(.init("a", "a.x", number, .replaced(by: 1_000), now: now), now: now)
      }
    }
    func due(_ second: Int) -> [UInt64] { versions.due("a", now: begin + .seconds(second)).map(\.sequence) }
    gather([9, 3, 12], at: 0)
    gather([5], at: 60)
    XCTAssertNil(versions.lateness("a", now: begin + .seconds(104)))
    XCTAssertEqual(due(104), [])
    XCTAssertEqual(versions.lateness("a", now: begin + .seconds(105)), .zero)
    // The round takes as long as gathering has, and begins after the pause.
    XCTAssertEqual(due(105), [])
    gather([1, 4], at: 106)
    XCTAssertEqual(due(110), [3])
    XCTAssertEqual(due(163), [5, 9])
    XCTAssertEqual(due(300), [12])
    XCTAssertEqual(due(300), [], "the next round begins")
    XCTAssertEqual(due(305), [1])
    XCTAssertEqual(due(1_000), [4])
    gather([7], at: 1_000)
    versions.forgetVersions("a")
    XCTAssertEqual(due(5_000), [])
    XCTAssertEqual(due(6_000), [])
  }

  func testARoundBeginsEarlyIfManyAreGatheredAndNoMoreAreKept() {
    let (versions, begin) = (OutdatedMessages(), ContinuousClock.now)
    for number in (1...131_072 as ClosedRange<UInt64>).reversed() {
      versions.gather(.init("a", "a.x", number, .replaced(by: 1), now: begin), now: begin)
    }
    XCTAssertEqual(versions.due("a", now: begin + .seconds(1)).count, 0)
    let first = versions.due("a", now: begin + .seconds(7))
    XCTAssertEqual(first.map(\.sequence), Array(1...131_072), "gathered in a second, they are due within one")
    for number in 1...262_145 as ClosedRange<UInt64> {
      versions.gather(.init("a", "a.x", number, .replaced(by: 1), now: begin), now: begin)
    }
    XCTAssertEqual(versions.due("a", now: begin + .seconds(1)).count, 0)
    XCTAssertEqual(versions.due("a", now: begin + .seconds(7)).last?.sequence, 262_144)
  }

  func testLeftVersionsAreThosePresentThatWereReplaced() {
    XCTAssertEqual(JetStream.common([1, 4, 6, 9, 12], [9, 0, 4, 5, 4, 13]), [4, 9])
    XCTAssertEqual(JetStream.common([], [1]), [])
    XCTAssertEqual(JetStream.common([1, 2], []), [])
  }

  func testANumberIsSettledFiveSecondsAfterItWasAcknowledged() {
    let (numbers, begin) = (SettledNumbers(), ContinuousClock.now)
    XCTAssertEqual(numbers.number("a", now: begin), 0)
    for second in 0..<20 { numbers.note("a", UInt64(100 + second), now: begin + .seconds(second)) }
    numbers.note("a", 500, now: begin + .milliseconds(19_500))
    XCTAssertEqual(numbers.number("a", now: begin + .seconds(19)), 114)
    XCTAssertEqual(numbers.number("a", now: begin + .milliseconds(23_900)), 118)
    XCTAssertEqual(numbers.number("a", now: begin + .seconds(1_000)), 119)
    XCTAssertEqual(numbers.number("b", now: begin + .seconds(1_000)), 0)
    numbers.note("a", 400, now: begin + .seconds(1_000))
    XCTAssertEqual(numbers.number("a", now: begin + .seconds(1_001)), 119, "acknowledgements come in any order")
    numbers.forget("a")
    numbers.note("a", 3, now: begin + .seconds(1_000))
    XCTAssertEqual(numbers.number("a", now: begin + .seconds(1_004)), 0, "made anew")
    XCTAssertEqual(numbers.number("a", now: begin + .seconds(1_005)), 3)
  }

  func testALeaderIsKnownByItsAcknowledgementsWithoutAPause() {
    let (numbers, begin) = (SettledNumbers(), ContinuousClock.now)
    func at(_ seconds: Double) -> ContinuousClock.Instant { begin + .seconds(seconds) }
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(0), now: at(0)))
    for second in 0..<20 { numbers.note("a", UInt64(second), now: at(Double(second))) }
    XCTAssertTrue(numbers.hasOneLeader("a", since: at(0), now: at(20)))
    XCTAssertFalse(numbers.hasOneLeader("b", since: at(0), now: at(20)))
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(-1), now: at(20)), "it is not known who led then")
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(0), now: at(22)), "another may have begun to lead")
    numbers.note("a", 30, now: at(22))
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(19), now: at(22)))
    XCTAssertTrue(numbers.hasOneLeader("a", since: at(22), now: at(22)))
    numbers.noteTrouble(now: at(22.5))
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(22), now: at(22.6)))
    numbers.note("a", 31, now: at(23))
    XCTAssertFalse(numbers.hasOneLeader("a", since: at(22), now: at(23)))
    XCTAssertTrue(numbers.hasOneLeader("a", since: at(23), now: at(23)))
  }

  func testNoNumberIsSettledForAFirstVersionForFifteenSecondsAfterAFailure() {
    let (numbers, begin) = (SettledNumbers(), ContinuousClock.now)
    numbers.note("a", 3, now: begin)
    XCTAssertEqual(numbers.numberWithoutTrouble("a", now: begin + .seconds(5)), 3)
    numbers.noteTrouble(now: begin + .seconds(6))
    XCTAssertEqual(numbers.numberWithoutTrouble("a", now: begin + .milliseconds(20_900)), 0)
    XCTAssertEqual(numbers.number("a", now: begin + .milliseconds(20_900)), 3)
    XCTAssertEqual(numbers.numberWithoutTrouble("a", now: begin + .seconds(21)), 3)
  }

  func testNamesAreForgottenAfterAMinute() {
    let (names, begin) = (RecentNames(), ContinuousClock.now)
    names.insert("a", now: begin)
    names.insert("a", now: begin + .seconds(59))
    XCTAssertTrue(names.contains("a"))
    names.insert("b", now: begin + .seconds(61))
    XCTAssertFalse(names.contains("a"))
    XCTAssertTrue(names.contains("b"))
  }

  func testAStreamThatGoesBackIsNoticed() {
    let reports = Reports()
    let watch = StreamWatch { reports.append($0) }
    let before = watch.marks
    XCTAssertTrue(watch.acknowledged("one", 5, after: before))
    // Two that were under way at the same time may be acknowledged in either order.
    XCTAssertTrue(watch.acknowledged("one", 4, after: before))
    XCTAssertTrue(watch.acknowledged("two", 1, after: watch.marks))
    XCTAssertNil(watch.problem())
    XCTAssertFalse(watch.acknowledged("one", 5, after: watch.marks))
    XCTAssertEqual(watch.problem(), "one: the cluster has lost messages that it had acknowledged")
    XCTAssertTrue(watch.acknowledged("one", 6, after: watch.marks))
    watch.lost("one")
    XCTAssertEqual(reports.all, ["one"], "said once")
    XCTAssertNil(watch.problem(now: .now + .seconds(3_700)))
  }
}

private final class Reports: @unchecked Sendable {
  private(set) var all: [String] = []
  func append(_ stream: String) { all.append(stream) }
}
