import NIOCore
import XCTest

@testable import PorterPushClient

final class WaitingPushesTests: XCTestCase {
  private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

  /// Pushes 1, 2 and 3 join at 0, 5 and 5 s, and may wait for 15 s.
  private func line(answered: Int64?) -> WaitingPushes {
    var waiting = WaitingPushes(limit: .seconds(15))
    waiting.append(1, at(0))
    waiting.append(2, at(5))
    waiting.append(3, at(5))
    if let answered { waiting.answered(at(answered)) }
    return waiting
  }

  func testWhatWaitsForTooLongDependsOnWhetherThePeerAnswers() {
    let table: [(answered: Int64?, now: Int64, expected: WaitingPushes.Overdue, left: [Int])] = [
      (nil, 0, .none, [1, 2, 3]), (nil, 14, .none, [1, 2, 3]), (nil, 15, .stuck([1, 2, 3]), []),
      (0, 15, .stuck([1, 2, 3]), []), (1, 15, .slow([1]), [2, 3]), (1, 16, .stuck([1, 2, 3]), []),
      (10, 19, .slow([1]), [2, 3]), (10, 20, .slow([1, 2, 3]), []), (10, 25, .stuck([1, 2, 3]), []),
    ]
    for (answered, now, expected, left) in table {
      var waiting = line(answered: answered)
      XCTAssertEqual(waiting.removeOverdue(at(now)), expected, "\(answered ?? -1) \(now)")
      XCTAssertEqual(waiting.removeAll(), left, "\(answered ?? -1) \(now)")
    }
  }

  func testTheDeadlineIsThatOfThePushThatHasWaitedLongest() {
    var waiting = line(answered: nil)
    XCTAssertEqual(waiting.deadline, at(15))
    // Again, and so on for the whole time.
    XCTAssertEqual(waiting.popFirst(), 1)
    waiting.prepend(1, at(12))
    XCTAssertEqual(waiting.deadline, at(20))
    XCTAssertEqual(waiting.removeAll(), [1, 2, 3])
    XCTAssertNil(waiting.deadline)
    XCTAssertTrue(waiting.isEmpty)
  }
}
