import Foundation
import Synchronization
import XCTest

@testable import PorterTelemetry

final class TelemetryTests: XCTestCase {
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  func testEachJSONLineIsAnObject() throws {
    let lines = Lines()
    let log = LogWriter(minimum: .info, form: .json) { lines.add($0) }
    log(.debug, "not written")
    log(.error, "a \"quoted\" message", ["reason": "tab\tand\nline \u{1} ü"])
    XCTAssertEqual(lines.all.count, 1)
    let object = try XCTUnwrap(
      try JSONSerialization.jsonObject(with: Data(lines.all[0].utf8)) as? [String: String])
    XCTAssertEqual(object["level"], "error")
    XCTAssertEqual(object["message"], "a \"quoted\" message")
    XCTAssertEqual(object["reason"], "tab\tand\nline \u{1} ü")
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    XCTAssertNotNil(formatter.date(from: object["time"] ?? ""))
  }

  func testLogfmtQuotesWhatNeedsIt() {
    let lines = Lines()
    LogWriter(form: .logfmt) { lines.add($0) }(.info, "ready", ["port": "443", "empty": "", "text": "a=b c"])
    XCTAssertTrue(
      lines.all[0].hasSuffix(" level=info message=ready port=443 empty=\"\" text=\"a=b c\"\n"), lines.all[0])
  }

  /// A library's lines have their values apart too.
  func testALibrarysValuesAreFields() throws {
    let lines = Lines()
    let json = LogWriter(minimum: .info, form: .json) { lines.add($0) }
    json.line("debug", "not written")
    json.line("warning", "cannot connect", [(name: "reason", value: "its certificate has expired")])
    LogWriter(form: .logfmt) { lines.add($0) }.line("info", "push", [("kind", "message"), ("outcome", "later 30")])
    XCTAssertEqual(lines.all.count, 2)
    let object = try XCTUnwrap(
      try JSONSerialization.jsonObject(with: Data(lines.all[0].utf8)) as? [String: String])
    XCTAssertEqual(object["level"], "warning")
    XCTAssertEqual(object["message"], "cannot connect")
    XCTAssertEqual(object["reason"], "its certificate has expired")
    XCTAssertTrue(
      lines.all[1].hasSuffix(" level=info message=push kind=message outcome=\"later 30\"\n"), lines.all[1])
  }

  func testMetricsAreInPrometheusForm() {
    let metrics = Metrics(buckets: ["seconds": [0.1, 1]])
    metrics.declare(counter: "things_total", help: "Things.")
    metrics.declare(histogram: "seconds", help: "Time.")
    metrics.declare(gauge: "open", help: "Open.") { 2.5 }
    metrics.count("things_total", "kind=\"a\"")
    metrics.count("things_total", "kind=\"a\"", by: 2)
    metrics.count("unknown_total")
    for value in [0.05, 0.5, 5] { metrics.observe("seconds", value) }
    XCTAssertEqual(
      metrics.text,
      """
      # HELP seconds Time.
      # TYPE seconds histogram
      seconds_bucket{le="0.1"} 1
      seconds_bucket{le="1.0"} 2
      seconds_bucket{le="+Inf"} 3
      seconds_sum 5.55
      seconds_count 3
      # HELP things_total Things.
      # TYPE things_total counter
      things_total{kind="a"} 3
      # HELP open Open.
      # TYPE open gauge
      open 2.5

      """)
  }
}
