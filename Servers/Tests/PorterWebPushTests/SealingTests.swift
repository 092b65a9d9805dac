import CWebPush
import Foundation
import PushStandIns
import XCTest

/// The encryption of messages, checked against the RFC's own example and third-party libraries.
final class SealingTests: XCTestCase {
  /// RFC 8291, section 5 and appendix A.
  func testTheExampleOfTheRFC() throws {
    let text = Array("When I grow up, I want to be a watermelon".utf8)
    let receiver = try bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    let secret = try bytes("BTBZMqHH6r4Tts7J_aSIgg")
    var body = [UInt8](repeating: 0, count: text.count + Int(WEB_PUSH_OVERHEAD))
    let status = web_push_seal(
      receiver, secret, try bytes("DGv6ra1nlYgDCS1FRnbzlw"), try bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
      text,
      text.count, &body)
    XCTAssertEqual(status, 0)
    XCTAssertEqual(
      body,
      try bytes(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
          + "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
    var opened = [UInt8](repeating: 0, count: body.count)
    let count = web_push_open(
      try bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), secret, body, body.count, &opened)
    XCTAssertEqual(Array(opened.prefix(max(0, count))), text)
  }

  func testWhatIsChangedIsNotOpened() throws {
    let own = try bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
    let receiver = try bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    let secret = try bytes("BTBZMqHH6r4Tts7J_aSIgg")
    var body = [UInt8](repeating: 0, count: 5 + Int(WEB_PUSH_OVERHEAD))
    XCTAssertEqual(web_push_seal(receiver, secret, nil, nil, Array("hello".utf8), 5, &body), 0)
    var text = [UInt8](repeating: 0, count: body.count)
    XCTAssertEqual(web_push_open(own, secret, body, body.count, &text), 5)
    // The record size may be larger; everything else counts.
    for index in body.indices where !(16..<20).contains(index) {
      var changed = body
      changed[index] ^= 1
      XCTAssertEqual(web_push_open(own, secret, changed, changed.count, &text), -1, "byte \(index)")
    }
    for count in 0..<body.count { XCTAssertEqual(web_push_open(own, secret, body, count, &text), -1) }
    var other = secret
    other[0] ^= 1
    XCTAssertEqual(web_push_open(own, other, body, body.count, &text), -1)
  }

  func testAKeyThatIsNoPointAndATextThatIsTooLongAreRefused() throws {
    var body = [UInt8](repeating: 0, count: 5_000)
    let secret = [UInt8](repeating: 1, count: 16)
    var receiver = try bytes(
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    XCTAssertEqual(web_push_seal(receiver, secret, nil, nil, body, 3_993, &body), 0)
    XCTAssertEqual(web_push_seal(receiver, secret, nil, nil, body, 3_994, &body), 1)
    receiver[64] ^= 1
    XCTAssertEqual(web_push_seal(receiver, secret, nil, nil, body, 5, &body), 1)
    receiver = [UInt8](repeating: 0, count: 65)
    XCTAssertEqual(web_push_seal(receiver, secret, nil, nil, body, 5, &body), 1)
  }

  func testWhatPywebpushSendsIsOpened() throws {
    struct Message: Decodable {
      let own: String
      let secret: String
      let text: String
      let body: String
    }
    let counts = [1, 2, 15, 16, 17, 1_000, 3_992, 3_993]
    // Two records, which RFC 8291 does not allow.
    let lines = try PythonLines.run("webpush_sender.py", input: (counts + [5_000]).map { "\($0)\n" }.joined())
    XCTAssertEqual(lines.count, counts.count + 1)
    for (line, count) in zip(lines, counts + [-1]) {
      let message = try JSONDecoder().decode(Message.self, from: line)
      let body = try hex(message.body)
      var text = [UInt8](repeating: 0, count: body.count)
      let opened = web_push_open(try hex(message.own), try hex(message.secret), body, body.count, &text)
      XCTAssertEqual(opened, count)
      if count >= 0 { XCTAssertEqual(Array(text.prefix(count)), try hex(message.text)) }
    }
  }

  private func hex(_ text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map {
      try XCTUnwrap(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
    }
  }

  private func bytes(_ text: String) throws -> [UInt8] {
    var padded = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    padded += String(repeating: "=", count: -text.utf8.count & 3)
    return Array(try XCTUnwrap(Data(base64Encoded: padded)))
  }
}
