import NIOCore
import PorterServer
import XCTest

@testable import PorterWebPush

/// The effect of a push service's answers, tested without a push service.
final class StandingTests: XCTestCase {
  private enum Step {
    case accepted, answered, failed, refused
    /// It failed, and asked for this much time.
    case asked(Int64)
    /// This many seconds pass.
    case after(Int64)
  }

  private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

  private func take(_ steps: [Step]) -> (standing: ServiceStanding, pause: Int64?) {
    var standing = ServiceStanding()
    var now: Int64 = 1
    for step in steps {
      switch step {
      case .accepted: standing.accepted(at(now))
      case .answered: standing.answered(at(now))
      case .failed: _ = standing.failed(at(now), .closed, asked: nil)
      case .asked(let seconds): _ = standing.failed(at(now), .closed, asked: .seconds(seconds))
      case .refused: _ = standing.refusedKey(at(now))
      case .after(let seconds): now += seconds
      }
    }
    return (standing, standing.pauseLeft(at(now)).map { $0.nanoseconds / 1_000_000_000 })
  }

  func testWhatAServiceAnswersDecidesWhetherItIsLeftAlone() {
    let table: [([Step], state: ServiceStanding.State, pause: Int64?)] = [
      ([], .new, nil),
      ([.accepted], .answering, nil),
      ([.answered], .answering, nil),
      // A key is refused: a service that has accepted one is not left alone, whatever came in between.
      ([.refused], .refusingKey, 30),
      ([.refused, .after(30)], .refusingKey, nil),
      ([.refused, .after(30), .refused], .refusingKey, 30),
      ([.refused, .after(10), .refused], .refusingKey, 20),
      ([.answered, .refused], .refusingKey, 30),
      ([.refused, .accepted], .answering, nil),
      ([.accepted, .refused], .answering, nil),
      ([.accepted, .failed, .after(30), .refused], .answering, nil),
      ([.refused, .accepted, .refused, .refused], .answering, nil),
      // Failures in a row.
      ([.failed], .failing(.closed), 30),
      ([.accepted, .failed], .failing(.closed), 30),
      ([.failed, .failed], .failing(.closed), 30),
      ([.failed, .after(30), .failed], .failing(.closed), 60),
      ([.failed, .after(30), .answered, .failed], .failing(.closed), 30),
      ([.failed, .after(30), .refused], .refusingKey, 30),
      ([.failed, .after(10), .refused], .failing(.closed), 20),
      ([.failed, .after(30), .refused, .failed], .failing(.closed), 30),
      ([.asked(200)], .failing(.closed), 200),
      ([.asked(7)], .failing(.closed), 30),
      // Pushes under way when it failed may still be accepted.
      ([.asked(200), .accepted], .answering, 200),
    ]
    for (steps, state, pause) in table {
      let (standing, left) = take(steps)
      XCTAssertEqual(standing.state, state, "\(steps)")
      XCTAssertEqual(left, pause, "\(steps)")
      XCTAssertEqual(standing.isProven, state == .answering, "\(steps)")
    }
  }

  func testWhatAServiceHasFailedAtOrAcceptedIsNotForgotten() {
    let table: [([Step], isForgettable: Bool)] = [
      ([], true), ([.answered], true), ([.accepted], false), ([.failed], false), ([.refused], false),
      ([.failed, .answered], true), ([.refused, .accepted, .refused], false),
    ]
    for (steps, isForgettable) in table {
      XCTAssertEqual(take(steps).standing.isForgettable, isForgettable, "\(steps)")
    }
  }

  func testPausesDoubleToAnHour() {
    var backoff = Backoff()
    var now: Int64 = 1
    for seconds: Int64 in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
      XCTAssertEqual(backoff.failed(at(now)), .seconds(seconds))
      XCTAssertEqual(backoff.failed(at(now + 10)), .seconds(seconds - 10), "the same attempt")
      now += seconds
      XCTAssertNil(backoff.left(at(now)))
    }
    for _ in 0..<100 {
      XCTAssertEqual(backoff.failed(at(now)), .seconds(3_600))
      now += 3_600
    }
  }

  func testOnlySoManySubscriptionsAreRemembered() {
    var refused = RefusedSubscriptions(most: 2)
    XCTAssertEqual(refused.refused("a", at(1)), .seconds(30))
    XCTAssertEqual(refused.refused("b", at(1)), .seconds(30))
    XCTAssertEqual(refused.refused("a", at(31)), .seconds(60))
    XCTAssertEqual(refused.pauseLeft("a", at(31)), .seconds(60))
    XCTAssertNil(refused.pauseLeft("b", at(31)))
    refused.answered("a")
    XCTAssertEqual(refused.refused("a", at(31)), .seconds(30))
    XCTAssertEqual(refused.refused("c", at(31)), .seconds(30))
    XCTAssertNil(refused.pauseLeft("a", at(31)), "the others begin anew")
    XCTAssertEqual(refused.refused("c", at(61)), .seconds(60))
  }
}
