import PorterMachines
import XCTest

/// The machine `round`: one round at a time, and no request is lost.
final class RoundTests: XCTestCase {
  func testARoundRequestedMeanwhileBeginsAfterTheCurrentOne() {
    var round = MachineRunner<Round>()
    func begins(_ event: Round.Event) -> Bool { round.handle(event).effects.contains(.beginRound) }
    XCTAssertTrue(begins(.wanted))
    XCTAssertFalse(begins(.wanted))
    XCTAssertFalse(begins(.wanted))
    XCTAssertTrue(begins(.ended), "something may have come after the first had looked")
    XCTAssertFalse(begins(.ended), "however often it was wanted, one more is enough")
    XCTAssertTrue(begins(.wanted))
  }

  /// Whatever the order of requests and ends: after the last request a round begins, and never two at the same time.
  func testEveryRequestIsFollowedByARound() {
    for bits in 0..<(1 << 12) {
      var round = MachineRunner<Round>()
      var (going, wish) = (false, false)
      for place in 0..<12 {
        let event: Round.Event = bits >> place & 1 == 0 ? .wanted : .ended
        guard event == .wanted || going else { continue }
        if event == .ended { going = false } else { wish = true }
        if round.handle(event).effects.contains(.beginRound) {
          XCTAssertFalse(going, "two at a time")
          (going, wish) = (true, false)
        }
        XCTAssertTrue(going || !wish, "a wish is lost")
      }
    }
  }
}
