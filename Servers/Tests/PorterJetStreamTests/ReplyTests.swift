import Foundation
import XCTest

@testable import PorterJetStream

/// Answers of nats-server 2.9.10, as received.
final class ReplyTests: XCTestCase {
  func testAnAcknowledgement() {
    let reply = Reply(Array(#"{"stream":"box", "seq":4611686018427387904,"duplicate": true}"#.utf8))
    XCTAssertNil(reply.errorCode)
    XCTAssertEqual(reply.number("seq"), 1 << 62)
    XCTAssertTrue(reply.isTrue("duplicate"))
    XCTAssertFalse(Reply(Array(#"{"stream":"box", "seq":2}"#.utf8)).isTrue("duplicate"))
  }

  func testARefusal() {
    let reply = Reply(
      Array(
        #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"box","seq":0}"#.utf8))
    XCTAssertEqual(reply.errorCode, JetStream.Code.wrongLastSequence)
    XCTAssertEqual(reply.errorText, "wrong last sequence: 1")
  }

  func testAMessage() {
    let reply = Reply(
      Array(#"{"message":{"subject":"t.a","seq":2,"data":"AAEC/+8=","time":"2026-11-22T14:34:26Z"}}"#.utf8))
    XCTAssertEqual(reply.number("seq"), 2)
    XCTAssertEqual(reply.data("data"), [0, 1, 2, 0xff, 0xef])
    XCTAssertNil(reply.data("hdrs"))
  }

  func testTimesAreMillisecondsSince1970() {
    let times: [(text: String, expected: Int64?)] = [
      ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500), ("2000-02-29T12:00:00Z", 951_825_600_000),
      ("2001-03-01T00:00:00Z", 983_404_800_000), ("2026-11-22T14:34:26.123456789Z", 1_795_358_066_123),
      ("2024-12-31T23:59:59.999Z", 1_735_689_599_999), ("2026-11-22T14:34:26", nil), ("2026-13-22T14:34:26Z", nil),
      ("9999999999-01-01T00:00:00Z", nil), ("999999999-01-01T00:00:00Z", nil), ("", nil), ("Z", nil),
    ]
    for (text, expected) in times {
      XCTAssertEqual(Reply(Array(#"{"time":"\#(text)"}"#.utf8)).time("time"), expected, text)
    }
  }

  func testARefusalForLackOfRoomIsToldFromOthers() {
    let replies: [(text: String, expected: Bool)] = [
      (#"{"error":{"code":503,"err_code":10023,"description":"insufficient resources"},"seq":0}"#, true),
      (#"{"error":{"code":500,"err_code":10047,"description":"insufficient storage resources available"}}"#, true),
      (#"{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}"#, true),
      // Followers may have stored it.
      (#"{"error":{"code":503,"err_code":10077,"description":"no space left on device"}}"#, false),
      (#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}"#, false),
      (#"{"stream":"porter_bodies_0","seq":10023}"#, false),
    ]
    for (text, expected) in replies { XCTAssertEqual(Reply(Array(text.utf8)).lacksRoom, expected, text) }
  }

  func testAnErrorOfAnyNumberIsRead() {
    for number in ["0", "18446744073709551615", "99999999999999999999999"] {
      XCTAssertNotNil(Reply(Array(#"{"error":{"err_code":\#(number)}}"#.utf8)).errorCode, number)
    }
  }

  func testBase64IsAsTheOthers() throws {
    for count in 0..<200 {
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
      let text = Data(bytes).base64EncodedString()
      XCTAssertEqual(Reply(Array(#"{"data":"\#(text)"}"#.utf8)).data("data"), bytes)
    }
  }

  func testTextThatIsNoBase64IsNone() {
    for text in ["A", "AAAAA", "AA-A", "A A=", "AAA\u{e9}", "=A"] {
      XCTAssertNil(Reply(Array(#"{"data":"\#(text)"}"#.utf8)).data("data"), text)
    }
    XCTAssertEqual(Reply(Array(#"{"data":""}"#.utf8)).data("data"), [])
  }

  /// A server adds to numbers. The last of these has one digit too many for 64 bits, and reads as 3 if the sum wraps.
  func testANumberThatCannotBeOneIsNone() {
    for number in ["4611686018427387905", "18446744073709551615", "18446744073709551619"] {
      XCTAssertNil(Reply(Array(#"{"seq":\#(number)}"#.utf8)).number("seq"), number)
    }
  }
}
