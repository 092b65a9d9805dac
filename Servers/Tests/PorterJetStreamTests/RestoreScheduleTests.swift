import XCTest

@testable import PorterJetStream

final class RestoreScheduleTests: XCTestCase {
  private let start = ContinuousClock.now

  /// The seconds among these at which it looks.
  private func looks(_ schedule: inout RestoreSchedule, _ seconds: ClosedRange<Int>) -> [Int] {
    seconds.filter { schedule.takeDue(at: start + .seconds($0)) }
  }

  func testAFailureIsFollowedByEarlyLooksAndALateOne() {
    var schedule = RestoreSchedule()
    XCTAssertEqual(looks(&schedule, 0...60), [])
    schedule.note(trouble: start)
    XCTAssertEqual(looks(&schedule, 0...60), [2, 6, 15])
  }

  func testTheyCountFromTheLastFailure() {
    var schedule = RestoreSchedule()
    schedule.note(trouble: start)
    XCTAssertEqual(looks(&schedule, 0...3), [2])
    schedule.note(trouble: start + .seconds(4))
    XCTAssertEqual(looks(&schedule, 4...60), [6, 10, 19])
  }

  /// Without the first failure of several, the last one would always postpone the check.
  func testFailuresThatDoNotEndPostponeNoneForLong() {
    var schedule = RestoreSchedule()
    let looks = (0...60).filter { second in
      schedule.note(trouble: start + .seconds(second))
      return schedule.takeDue(at: start + .seconds(second))
    }
    XCTAssertEqual(looks, [10, 21, 32, 43, 54])
    XCTAssertEqual(self.looks(&schedule, 61...120), [62, 66, 75], "counted from the last one")
  }

  func testAFailureCountsOnce() {
    var schedule = RestoreSchedule()
    schedule.note(trouble: nil)
    let looks = (0...60).filter { second in
      schedule.note(trouble: start)
      return schedule.takeDue(at: start + .seconds(second))
    }
    XCTAssertEqual(looks, [2, 6, 15])
  }

  func testLooksThatWereMissedAreOne() {
    var schedule = RestoreSchedule()
    schedule.note(trouble: start)
    XCTAssertTrue(schedule.takeDue(at: start + .seconds(10)))
    XCTAssertEqual(looks(&schedule, 10...60), [15])
  }

  func testOneThatWasNotFinishedIsRepeated() {
    var schedule = RestoreSchedule()
    schedule.note(trouble: start)
    XCTAssertTrue(schedule.takeDue(at: start + .seconds(2)))
    schedule.noteUnfinished(at: start + .seconds(3))
    XCTAssertEqual(looks(&schedule, 3...60), [6, 15], "another one is to come")
    schedule.noteUnfinished(at: start + .seconds(60))
    XCTAssertEqual(looks(&schedule, 60...90), [65])
  }
}
