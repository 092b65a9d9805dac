import Synchronization
import XCTest

@testable import PorterTelemetry

/// Reports about a wall clock that is set.
final class ClockWatchTests: XCTestCase {
  /// `wall` is the system clock's reading while `steady` seconds have passed.
  private final class Clocks: Sendable {
    private let reading = Mutex(ClockWatch.Reading(wall: 1_000_000, steady: 50))

    var now: ClockWatch.Reading { reading.withLock { $0 } }

    func pass(_ seconds: Int) {
      reading.withLock { $0 = .init(wall: $0.wall + seconds, steady: $0.steady + seconds) }
    }

    func move(_ seconds: Int) { reading.withLock { $0.wall += seconds } }
  }

  private let clocks = Clocks()

  func testAClockThatRunsIsNoProblem() {
    let watch = ClockWatch { [clocks] in clocks.now }
    for _ in 0..<1_000 {
      clocks.pass(5)
      // As time servers correct it.
      clocks.move([0, 1, -1, 2, -2].randomElement() ?? 0)
      if abs(clocks.now.wall - 1_000_000 - clocks.now.steady + 50) > 30 {
        clocks.move(-clocks.now.wall + 999_950 + clocks.now.steady)
      }
      XCTAssertNil(watch.look())
    }
    XCTAssertNil(watch.problem)
  }

  func testTheDistanceIsTheSameAtEachMomentOfASecond() {
    let distances = (0..<100).map { hundredth -> Int in
      let wall = 1_700_000_000_300_000_000 + hundredth * 10_000_000
      let steady = 5_700_000_000 + hundredth * 10_000_000
      let billion = 1_000_000_000
      let reading = ClockWatch.Reading(
        wall: (wall / billion, wall % billion), steady: (steady / billion, steady % billion))
      return reading.wall - reading.steady
    }
    XCTAssertEqual(Set(distances), [1_699_999_995])
  }

  func testAClockThatIsMovedIsSaidUntilItIsBack() {
    let watch = ClockWatch { [clocks] in clocks.now }
    clocks.move(31_536_000)
    XCTAssertEqual(watch.look(), .moved(seconds: 31_536_000))
    XCTAssertEqual(watch.problem, "clock: moved by 31536000 s")
    clocks.pass(5)
    XCTAssertNil(watch.look(), "it is said once")
    clocks.move(-31_536_000)
    XCTAssertEqual(watch.look(), .returned)
    XCTAssertNil(watch.problem)
    clocks.move(-3_600)
    XCTAssertEqual(watch.look(), .moved(seconds: -3_600))
    XCTAssertEqual(watch.problem, "clock: moved by -3600 s")
  }

  func testAClockThatStaysIsTakenToBeRight() {
    let watch = ClockWatch { [clocks] in clocks.now }
    clocks.move(-86_400)
    XCTAssertEqual(watch.look(), .moved(seconds: -86_400))
    clocks.pass(55)
    // Moved once more: the time starts again.
    clocks.move(40_000)
    XCTAssertEqual(watch.look(), .moved(seconds: -46_400))
    clocks.pass(59)
    XCTAssertNil(watch.look())
    XCTAssertNotNil(watch.problem)
    clocks.pass(1)
    XCTAssertEqual(watch.look(), .settled)
    XCTAssertNil(watch.problem)
    clocks.move(46_400)
    XCTAssertEqual(watch.look(), .moved(seconds: 46_400))
  }
}
