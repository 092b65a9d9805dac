import XCTest

@testable import PorterJetStream

/// How a relay detects that it may have missed something.
final class HeartbeatTests: XCTestCase {
  func testBeatsWithoutAGapMissNothing() {
    let (one, two) = (Heartbeat(), Heartbeat())
    for _ in 0..<5 { XCTAssertFalse(two.hear(one.next())) }
  }

  func testAGapIsNoticedOnce() {
    let (one, two) = (Heartbeat(), Heartbeat())
    XCTAssertFalse(two.hear(one.next()))
    _ = one.next()
    XCTAssertTrue(two.hear(one.next()))
    XCTAssertFalse(two.hear(one.next()))
  }

  func testARelayThatWasNeverHeardHasToHaveJustBegun() {
    let (one, two) = (Heartbeat(), Heartbeat())
    _ = one.next()
    XCTAssertTrue(two.hear(one.next()))
  }

  func testOneThatHasEndedIsForgottenAndGarbageIsNoBeat() {
    let (one, two, three) = (Heartbeat(), Heartbeat(), Heartbeat())
    let now = ContinuousClock.now
    XCTAssertFalse(three.hear(one.next(), now: now))
    XCTAssertFalse(three.hear(two.next(), now: now + .seconds(61)))
    XCTAssertTrue(three.hear(one.next(), now: now + .seconds(62)), "it is new again")
    for garbage in ["", " ", "x", "x y", "x 1 2", "x 99999999999999999999999"] {
      XCTAssertFalse(three.hear(Array(garbage.utf8)))
    }
    for number in ["18446744073709551615", "18446744073709551614"] {
      XCTAssertTrue(three.hear(Array("x \(number)".utf8)), "none comes after the greatest number")
    }
  }
}
