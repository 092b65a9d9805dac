import NIOCore
import PorterMutation
import PorterPushClient
import PorterServer
import XCTest

@testable import PorterWebPush

/// Endpoints from clients and answers from providers are read without a trap and mean what they say. `make verify` runs
/// this with the address sanitizer and many more inputs; PORTER_FUZZ_SEED repeats a run.
final class AnswerFuzzTests: XCTestCase {
  private var mutator = Mutator()

  override func setUp() { print("seed \(mutator.seed)") }

  /// An endpoint leads to the host that is checked, and reading the text of its origin gives the same origin.
  func testEndpointsAreReadOrRefused() {
    let seeds = [
      "https://push.example.org/one", "https://push.example.org:8443/?a=/b", "https://[2606:4700::1111]:443/x",
      "https://127.0.0.1/up", "https://[::ffff:10.0.0.1]/",
    ]
    var read = 0
    for _ in 0..<mutator.runs {
      let endpoint = mutator.text(like: seeds[Int.random(in: 0..<seeds.count, using: &mutator)])
      guard let origin = WebPushOrigin(of: endpoint) else { continue }
      read += 1
      XCTAssertTrue((1...65_535).contains(origin.port), endpoint)
      XCTAssertFalse(origin.host.isEmpty, endpoint)
      XCTAssertFalse(origin.host.contains { "/[]".contains($0) }, endpoint)
      XCTAssertEqual(WebPushOrigin(of: origin.text + "/"), origin, endpoint)
      XCTAssertEqual(WebPushOrigin.path(of: endpoint)?.first, "/", endpoint)
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
    XCTAssertLessThan(read, mutator.runs)
  }

  /// The system's functions would read a different host from the one that is compared and recorded.
  func testEndpointsWithOtherThanVisibleCharactersAreRefused() {
    for endpoint in [
      "https://[::1\u{0}ff.10]/", "https://push.example.org\u{0}.internal/", "https://push.example.org /x",
      "https://push.example.org/x\r\nhost: other", "https://b\u{fc}cher.example/", "https://push.example.org/\u{7f}",
    ] {
      XCTAssertNil(WebPushOrigin(of: endpoint), endpoint.debugDescription)
    }
    XCTAssertNotNil(WebPushOrigin(of: "https://xn--bcher-kva.example/~x?a=%20"))
  }

  func testPausesAreBounded() {
    let seeds = [
      "120", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ]
    var read = 0
    for _ in 0..<mutator.runs {
      let field = mutator.text(like: seeds[Int.random(in: 0..<seeds.count, using: &mutator)])
      let date = mutator.text(like: seeds[Int.random(in: 1..<seeds.count, using: &mutator)])
      let now = Int64.random(in: 0...253_402_300_799, using: &mutator)
      guard let pause = RetryAfter.pause(field, date: date, now: now) else { continue }
      read += 1
      XCTAssertTrue((.zero ... .hours(24)).contains(pause), "\(field), \(date), \(now): \(pause)")
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
    XCTAssertLessThan(read, mutator.runs)
  }

  func testAnswersOfAPNsAreRead() {
    let seeds = [
      #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Unregistered","timestamp":1700000000000}"#, "",
      #"{"reason":{"reason":"é😀"},"timestamp":[9223372036854775807]}"#,
    ]
    var reasons = 0
    for _ in 0..<mutator.runs {
      let body = mutator.bytes(like: Array(seeds[Int.random(in: 0..<seeds.count, using: &mutator)].utf8))
      let status = [200, 400, 403, 410, 429, 503][Int.random(in: 0..<6, using: &mutator)]
      let answer = PushAnswer(status: status, body: body)
      if answer.reason != nil { reasons += 1 }
      XCTAssertGreaterThanOrEqual(answer.timestamp ?? 0, 0)
      switch answer.outcome {
      case .accepted: XCTAssertEqual(status, 200)
      case .invalid, .ended: XCTAssertTrue(status == 400 || status == 410, "\(answer)")
      case .unreachable: XCTAssertEqual(status, 503)
      case .failed: XCTAssertEqual(status, 410)
      case .refused, .later, .rejected: XCTAssertNotEqual(status, 200)
      }
    }
    XCTAssertGreaterThan(reasons, mutator.runs / 20)
  }
}
