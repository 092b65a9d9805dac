import PorterPlatform
import XCTest

@testable import PorterServer

final class WorkLooksTests: XCTestCase {
  private let begin = Moment(nanoseconds: 1)

  func testAnEmptyQueueIsLookedAtOnceASecond() {
    var looks = WorkLooks()
    XCTAssertTrue(looks.isDue("a", now: begin))
    looks.noteEmpty("a", now: begin)
    XCTAssertFalse(looks.isDue("a", now: begin + .milliseconds(999)))
    XCTAssertTrue(looks.isDue("a", now: begin + .seconds(1)))
    XCTAssertTrue(looks.isDue("b", now: begin), "another queue")
  }

  func testAddedWorkIsTakenImmediately() {
    var looks = WorkLooks()
    for queue in ["a", "b"] { looks.noteEmpty(queue, now: begin) }
    looks.noteWork("a")
    XCTAssertTrue(looks.isDue("a", now: begin))
    XCTAssertFalse(looks.isDue("b", now: begin))
  }

  func testPostponedWorkIsTakenWhenItComesBack() {
    var looks = WorkLooks()
    for span in [Span.milliseconds(20), .milliseconds(10), .seconds(90)] { looks.notePostponed(until: begin + span) }
    XCTAssertEqual(looks.nextPostponed, begin + .milliseconds(10))
    for milliseconds in [Int64(10), 20] {
      looks.noteEmpty("a", now: begin)
      looks.takePostponed(now: begin + .milliseconds(milliseconds - 1))
      XCTAssertFalse(looks.isDue("a", now: begin + .milliseconds(milliseconds - 1)))
      looks.takePostponed(now: begin + .milliseconds(milliseconds))
      XCTAssertTrue(looks.isDue("a", now: begin + .milliseconds(milliseconds)))
    }
    XCTAssertEqual(looks.nextPostponed, begin + .seconds(90))
  }

  /// What is postponed beyond that is found by looking.
  func testTimesTakeBoundedMemory() {
    var looks = WorkLooks()
    for nanoseconds in 1...5_000 { looks.notePostponed(until: Moment(nanoseconds: Int64(nanoseconds))) }
    looks.takePostponed(now: Moment(nanoseconds: 1_024))
    XCTAssertNil(looks.nextPostponed)
  }
}
