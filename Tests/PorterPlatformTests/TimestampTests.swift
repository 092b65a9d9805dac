import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

final class TimestampTests: XCTestCase {
  /// From year 0 to 9999, the range of four digits.
  private static var milliseconds: Generator<Int64> { .number(-62_167_219_200_000...253_402_300_799_999) }

  func testWhatIsWrittenIsReadBack() {
    forAll(Self.milliseconds, runs: 2_000) { milliseconds in
      let time = WallTime(milliseconds: milliseconds)
      try expectEqual(WallTime(iso8601: time.iso8601), time, time.iso8601)
    }
  }

  /// The C library's calendar agrees with ours.
  func testTheCLibraryAgrees() {
    forAll(Self.milliseconds, runs: 2_000) { milliseconds in
      let time = WallTime(milliseconds: milliseconds)
      var seconds = time_t(time.seconds)
      var parts = tm()
      gmtime_r(&seconds, &parts)
      let expected = String(
        format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday,
        parts.tm_hour, parts.tm_min, parts.tm_sec, Int(milliseconds - time.seconds * 1_000))
      try expectEqual(time.iso8601, expected)
    }
  }

  func testExamples() {
    let examples: [(String, Int64)] = [
      ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T12:00:00.500Z", 951_825_600_500),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ]
    for (text, milliseconds) in examples {
      XCTAssertEqual(WallTime(milliseconds: milliseconds).iso8601, text)
      XCTAssertEqual(WallTime(iso8601: text)?.milliseconds, milliseconds)
    }
    let fractions = ["": 0, ".1": 100, ".12": 120, ".123": 123, ".123456789": 123, ".000999": 0] as [String: Int64]
    for (fraction, milliseconds) in fractions {
      XCTAssertEqual(WallTime(iso8601: "1970-01-01T00:00:00\(fraction)Z")?.milliseconds, milliseconds, fraction)
    }
    XCTAssertEqual(WallTime(iso8601: "2016-12-31T23:59:60Z"), WallTime(iso8601: "2017-01-01T00:00:00Z"))
  }

  func testInvalidTimestampsAreRefused() {
    for text in [
      "", "Z", "2023-01-01", "2023-01-01T00:00:00", "2023-01-01 00:00:00Z", "2023-13-01T00:00:00Z",
      "2023-00-01T00:00:00Z",
      "2023-01-32T00:00:00Z", "2023-01-00T00:00:00Z", "2023-02-29T00:00:00Z", "2023-04-31T00:00:00Z",
      "1900-02-29T00:00:00Z", "2023-01-01T24:00:00Z", "2023-01-01T00:60:00Z", "2023-01-01T00:00:61Z",
      "2023-01-01T00:00:00.Z", "2023-01-01T00:00:00.1234567890Z", "2023-01-01T00:00:00,5Z", "2023-01-01T00:00:00+01:00",
      "2023-01-01T00:00:00.5", "-023-01-01T00:00:00Z", "2023-1-01T00:00:000Z", "２023-01-01T00:00:00Z",
    ] { XCTAssertNil(WallTime(iso8601: text), text) }
    forAll(Generator<String>.text(of: "0123456789-:TZ.+", 0...32), runs: 2_000) { text in
      guard let time = WallTime(iso8601: text) else { return }
      try expectEqual(WallTime(iso8601: time.iso8601), time)
    }
  }

  /// A timestamp may come from any sender: no value traps.
  func testForeignNumbersAreWritten() {
    forAll(Generator<Int64>.number(), runs: 500) { milliseconds in
      let text = WallTime(milliseconds: milliseconds).iso8601
      try expect(text.hasSuffix("Z") && text.contains("T"))
    }
    XCTAssertTrue(WallTime(milliseconds: .min).iso8601.hasSuffix("Z"))
    XCTAssertTrue(WallTime(milliseconds: .max).iso8601.hasSuffix("Z"))
  }
}
