import PorterPlatform
import XCTest

final class BackoffTests: XCTestCase {
  func testPausesDoubleUpToTheLimit() {
    var backoff = Backoff(first: .milliseconds(500), last: .seconds(3))
    XCTAssertEqual((0..<5).map { _ in backoff.next().milliseconds }, [500, 1_000, 2_000, 3_000, 3_000])
  }

  func testASuccessResetsThePause() {
    var backoff = Backoff(first: .milliseconds(500), last: .seconds(180))
    for _ in 0..<20 { _ = backoff.next() }
    backoff.reset()
    XCTAssertEqual((0..<2).map { _ in backoff.next().milliseconds }, [500, 1_000])
  }
}
