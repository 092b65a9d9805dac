import NIOCore
import XCTest

@testable import PorterRelayServer

final class RateLimiterTests: XCTestCase {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  func testABurstIsAllowedAndThenTheRate() {
    let limiter = RateLimiter<Int>(Allowance(rate: 2, burst: 3), now: start)
    for _ in 0..<3 { XCTAssertNil(limiter.take(1, now: start)) }
    XCTAssertEqual(limiter.take(1, now: start), 1)
    XCTAssertNil(limiter.take(2, now: start), "another key")
    XCTAssertNotNil(limiter.take(1, now: start + .milliseconds(400)))
    XCTAssertNil(limiter.take(1, now: start + .milliseconds(600)))
    XCTAssertNotNil(limiter.take(1, now: start + .milliseconds(600)))
    // It never holds more than a burst.
    for _ in 0..<3 { XCTAssertNil(limiter.take(1, now: start + .hours(1))) }
    XCTAssertNotNil(limiter.take(1, now: start + .hours(1)))
  }

  /// A large one is never refused for its size alone, but delays what follows.
  func testAnActionMayCostMore() {
    let limiter = RateLimiter<Int>(Allowance(rate: 2, burst: 3), now: start)
    XCTAssertNil(limiter.take(1, cost: 2, now: start))
    XCTAssertNil(limiter.take(1, cost: 6, now: start))
    XCTAssertEqual(limiter.take(1, now: start), 3, "five are missing, and one is needed")
    XCTAssertEqual(limiter.take(1, cost: 6, now: start), 3)
    XCTAssertNil(limiter.take(1, now: start + .seconds(3)))
  }

  func testTheWaitIsSaidInSecondsFromOneToThreeHundred() {
    let slow = RateLimiter<Int>(Allowance(rate: 0.1, burst: 1), now: start)
    XCTAssertNil(slow.take(1, now: start))
    XCTAssertEqual(slow.take(1, now: start), 10)
    let none = RateLimiter<Int>(Allowance(rate: 0, burst: 1), now: start)
    XCTAssertNil(none.take(1, now: start))
    XCTAssertEqual(none.take(1, now: start), 300)
    let glacial = RateLimiter<Int>(Allowance(rate: 0.0001, burst: 1), now: start)
    XCTAssertNil(glacial.take(1, now: start))
    XCTAssertEqual(glacial.take(1, now: start), 300)
  }

  func testItsMemoryIsBoundedAndAFrequentKeyStaysLimited() {
    let limiter = RateLimiter<Int>(Allowance(rate: 0.01, burst: 2), capacity: 100, now: start)
    XCTAssertNil(limiter.take(-1, now: start))
    XCTAssertNil(limiter.take(-1, now: start))
    for key in 0..<1_000 {
      _ = limiter.take(key, now: start)
      if key.isMultiple(of: 20) { XCTAssertNotNil(limiter.take(-1, now: start), "\(key)") }
    }
    XCTAssertLessThanOrEqual(limiter.count, 100)
  }

  func testSourcesOfOneNetworkAreOne() throws {
    func source(_ text: String) throws -> Source { Source(try SocketAddress(ipAddress: text, port: 1)) }
    XCTAssertEqual(try source("2001:db8::1"), try source("2001:db8::2:3:4:5"))
    XCTAssertNotEqual(try source("2001:db8::1"), try source("2001:db8:0:1::1"))
    XCTAssertNotEqual(try source("192.0.2.1"), try source("192.0.2.2"))
    XCTAssertEqual(try source("::ffff:192.0.2.1"), try source("192.0.2.1"))
  }
}
