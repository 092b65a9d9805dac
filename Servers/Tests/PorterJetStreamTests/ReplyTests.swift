import Foundation
import XCTest

@testable import PorterJetStream

/// Answers of nats-server 2.9.10, as they come.
final class ReplyTests: XCTestCase {
  func testAnAcknowledgement() {
    let reply = Reply(Array(#"{"stream":"box", "seq":18446744073709551615,"duplicate": true}"#.utf8))
    XCTAssertNil(reply.errorCode)
    XCTAssertEqual(reply.number("seq"), .max)
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

  func testBase64IsAsTheOthers() throws {
    for count in 0..<200 {
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
      let text = Data(bytes).base64EncodedString()
      XCTAssertEqual(Reply(Array(#"{"data":"\#(text)"}"#.utf8)).data("data"), bytes)
    }
  }

  func testWhatWasCutOrChangedIsReadWithoutACrash() {
    let whole = Array(#"{"error":{"err_code":1},"seq":12,"data":"AAEC","x": true}"#.utf8)
    for _ in 0..<20_000 {
      var changed = Array(whole.prefix(.random(in: 0...whole.count)))
      if let index = changed.indices.randomElement() { changed[index] = .random(in: .min ... .max) }
      let reply = Reply(changed)
      _ = (reply.errorCode, reply.errorText, reply.number("seq"), reply.data("data"), reply.isTrue("x"))
    }
  }
}
