import XCTest

@testable import PorterRelayServer

final class OverloadTests: XCTestCase {
  func testItLastsUntilAQuarterIsFree() {
    let steps: [(most: Int, counts: [Int], expected: [Bool])] = [
      (8, [0, 7, 8, 7, 6, 7, 8, 6], [false, false, true, true, false, false, true, false]),
      (4, [3, 4, 3], [false, true, false]),
      (2, [1, 2, 1], [false, true, false]),
      (1, [0, 1, 0], [false, true, false]),
      // Jobs that are never refused, such as the end of a stream, come on top.
      (4, [9, 4, 3], [true, true, false]),
    ]
    for (most, counts, expected) in steps {
      var overload = Overload(most: most)
      let found = counts.map { count in
        overload.note(count)
        return overload.isOverloaded
      }
      XCTAssertEqual(found, expected, "\(most): \(counts)")
      XCTAssertEqual(counts.map { overload.hasRoom(beside: $0) }, counts.map { $0 < most })
    }
  }
}
