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
    schedule.noteTrouble(at: start)
    XCTAssertEqual(looks(&schedule, 0...60), [2, 6, 15])
  }

  func testTheyCountFromTheLastFailure() {
    var schedule = RestoreSchedule()
    schedule.noteTrouble(at: start)
    XCTAssertEqual(looks(&schedule, 0...3), [2])
    schedule.noteTrouble(at: start + .seconds(4))
    XCTAssertEqual(looks(&schedule, 4...60), [6, 10, 19])
  }

  func testLooksThatWereMissedAreOne() {
    var schedule = RestoreSchedule()
    schedule.noteTrouble(at: start)
    XCTAssertTrue(schedule.takeDue(at: start + .seconds(10)))
    XCTAssertEqual(looks(&schedule, 10...60), [15])
  }

  func testOneThatWasNotFinishedIsRepeated() {
    var schedule = RestoreSchedule()
    schedule.noteTrouble(at: start)
    XCTAssertTrue(schedule.takeDue(at: start + .seconds(2)))
    schedule.noteUnfinished(at: start + .seconds(3))
    XCTAssertEqual(looks(&schedule, 3...60), [6, 15], "another one is to come")
    schedule.noteUnfinished(at: start + .seconds(60))
    XCTAssertEqual(looks(&schedule, 60...90), [65])
  }
}
