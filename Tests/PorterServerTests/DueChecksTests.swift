import PorterPlatform
import XCTest

@testable import PorterServer

/// The tokens that a server checks because they have changed.
final class DueChecksTests: XCTestCase {
  private let begin = Moment(nanoseconds: 0)

  func testEachIsTakenOnceInOrder() {
    var checks = DueChecks()
    for id in [1, 2, 1, 3] as [UInt8] { checks.insert([id], now: begin) }
    XCTAssertFalse(checks.isEmpty)
    XCTAssertEqual((0..<4).map { _ in checks.take(now: begin) }, [[1], [2], [3], nil])
    XCTAssertTrue(checks.isEmpty)
  }

  /// Otherwise one that cannot be checked would be tried without pause.
  func testOneThatWasTakenIsTakenAgainAfterTenMinutes() {
    var checks = DueChecks()
    checks.insert([1], now: begin)
    XCTAssertEqual(checks.take(now: begin), [1])
    checks.insert([1], now: begin + .seconds(599))
    XCTAssertTrue(checks.isEmpty)
    checks.insert([2], now: begin + .seconds(599))
    checks.insert([1], now: begin + .seconds(600))
    XCTAssertEqual((0..<2).map { _ in checks.take(now: begin + .seconds(600)) }, [[2], [1]])
  }

  func testItIsBounded() {
    var checks = DueChecks()
    for number in 0..<5_000 { checks.insert([UInt8(number >> 8), UInt8(number & 0xff)], now: begin) }
    var taken = 0
    while checks.take(now: begin) != nil { taken += 1 }
    XCTAssertEqual(taken, 4_096)
  }
}
