import NIOCore
import XCTest

@testable import PorterPushClient

/// RFC 9110's own dates, and invalid ones.
final class RetryAfterTests: XCTestCase {
  /// 6 November 1994, 08:49:37.
  private let moment: Int64 = 784_111_777

  func testTheThreeFormsOfADate() {
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      XCTAssertEqual(RetryAfter.seconds(of: text, now: moment), moment, text)
      XCTAssertEqual(RetryAfter.pause(text, date: nil, now: moment - 90), .seconds(90), text)
    }
  }

  func testADateIsCountedFromTheAnswersOwn() {
    let pause = RetryAfter.pause(
      "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:30 GMT", now: moment + 3_600)
    XCTAssertEqual(pause, .seconds(7), "the clocks differ by an hour")
    XCTAssertEqual(RetryAfter.pause("Sun, 06 Nov 1994 08:49:37 GMT", date: "soon", now: moment - 5), .seconds(5))
  }

  func testDatesOfTheCalendar() {
    for (text, expected) in [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
      ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800), ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
    ] as [(String, Int64)] {
      XCTAssertEqual(RetryAfter.seconds(of: text, now: moment), expected, text)
    }
  }

  /// A two-digit year is the nearest that is not more than 50 years ahead.
  func testYearsOfTwoDigits() {
    let now: Int64 = 1_800_000_000
    XCTAssertEqual(RetryAfter.seconds(of: "Sunday, 06-Nov-94 08:49:37 GMT", now: now), moment)
    XCTAssertEqual(RetryAfter.seconds(of: "Sunday, 06-Nov-33 00:00:00 GMT", now: now), 2_014_848_000)
  }

  func testNumbersAndBounds() {
    XCTAssertEqual(RetryAfter.pause("0", date: nil, now: moment), .seconds(0))
    XCTAssertEqual(RetryAfter.pause("120", date: nil, now: moment), .seconds(120))
    XCTAssertEqual(RetryAfter.pause("99999999999999999999", date: nil, now: moment), .hours(24))
    XCTAssertEqual(RetryAfter.pause("Sun, 06 Nov 1994 08:49:37 GMT", date: nil, now: moment + 5), .seconds(0))
    XCTAssertEqual(RetryAfter.pause("Fri, 06 Nov 2094 08:49:37 GMT", date: nil, now: moment), .hours(24))
  }

  func testWhatIsNoPause() {
    for text in [
      "", " ", "-1", "+3", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
      "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
      "Sun Nov  6 08:49:37 99999", "Sun, 06 Nov 9223372036854775807 08:49:37 GMT",
    ] {
      XCTAssertNil(RetryAfter.pause(text, date: nil, now: moment), text)
    }
  }
}
