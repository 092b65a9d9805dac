import NIOCore
import PorterServer
import XCTest

@testable import PorterWebPush

/// The operator's view of push services.
final class TallyTests: XCTestCase {
  private enum Service {
    /// Accepted a push at this second.
    case good(Int64)
    /// Accepted one at second 0, and failed at this one.
    case failed(Int64)
    /// Its name did not resolve at this second, and never has.
    case strange(Int64)
    /// Refused connections at this second, and always.
    case closed(Int64)
    /// Refused the key at this second.
    case refusing(Int64)
    case new
  }

  private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

  private func standing(_ service: Service) -> ServiceStanding {
    var standing = ServiceStanding()
    switch service {
    case .good(let time): standing.accepted(at(time))
    case .failed(let time):
      standing.accepted(at(0))
      _ = standing.failed(at(time), .noAnswer(seconds: 15), asked: nil)
    case .strange(let time): _ = standing.failed(at(time), .unresolved, asked: nil)
    case .closed(let time): _ = standing.failed(at(time), .connectionRefused, asked: nil)
    case .refusing(let time): _ = standing.refusedKey(at(time))
    case .new: break
    }
    return standing
  }

  func testTroubleIsAProblemWhenNoServiceInUseWorks() {
    let table: [([Service], now: Int64, trouble: String?, isProblem: Bool)] = [
      ([], 1, nil, false),
      ([.new], 1, nil, false),
      ([.good(1)], 1, nil, false),
      ([.good(1), .failed(1)], 1, "push services in use: 2, failing: 1 (no answer for 15 s: 1)", false),
      ([.failed(1), .failed(2)], 2, "push services in use: 2, failing: 2 (no answer for 15 s: 2)", true),
      // A service that only one client has chosen.
      ([.good(1), .strange(2)], 2, nil, false),
      ([.good(1), .refusing(2)], 2, nil, false),
      ([.failed(1), .strange(2)], 2, "push services in use: 1, failing: 1 (no answer for 15 s: 1)", true),
      // None has ever accepted anything.
      ([.strange(1)], 1, "push services in use: 1, failing: 1 (its name does not resolve: 1)", true),
      (
        [.strange(1), .closed(1), .strange(1)], 1,
        "push services in use: 3, failing: 3 (its name does not resolve: 2, connection refused: 1)", true
      ),
      (
        [.refusing(1), .strange(2), .new], 2,
        "push services in use: 2, failing: 1 (its name does not resolve: 1), refusing the VAPID token: 1", true
      ),
      // A service not tried for a long time.
      ([.failed(1)], 3_900, "push services in use: 1, failing: 1 (no answer for 15 s: 1)", true),
      ([.failed(1)], 3_901, nil, false),
      ([.good(1), .failed(10)], 3_901, "push services in use: 1, failing: 1 (no answer for 15 s: 1)", true),
      ([.good(1), .strange(5_000)], 5_000, nil, false),
    ]
    for (services, now, trouble, isProblem) in table {
      let tally = ServiceTally(services.map(standing), at(now))
      XCTAssertEqual(tally.trouble, trouble, "\(services) \(now)")
      XCTAssertEqual(tally.areAllInTrouble, isProblem, "\(services) \(now)")
    }
  }
}
