import XCTest

@testable import PorterRelayServer

final class ResetLimitTests: XCTestCase {
  func testAClientMayResetAsManyStreamsAsItMayMakeRequests() {
    let cases: [(rate: Double, burst: Double, isTrusted: Bool, resets: Int, String)] = [
      (50, 500, false, 2_000, "half a minute's requests"),
      (1, 1, false, 200, "no fewer than SwiftNIO allows"),
      (1_000_000, 1_000_000, false, 10_000_000, "no more than a trusted source"),
      (1, 1, true, 10_000_000, "a trusted source has no rate"),
    ]
    for (rate, burst, isTrusted, resets, name) in cases {
      var options = RelayServerOptions()
      options.sourceAllowance = Allowance(rate: rate, burst: burst)
      XCTAssertEqual(options.resets(ofTrusted: isTrusted), resets, name)
    }
  }
}
