import PorterCrypto
import PorterJSON
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterPush

final class PushPayloadTests: XCTestCase {
  func testEveryBundleFitsThePlatformsLimitAndHasOneSize_INC69() throws {
    let keys = try TokenKeys()
    let size = try NotificationBundle([]).push(sealedWith: keys.server, nonce: nonce()).encoded().utf8.count
    XCTAssertLessThanOrEqual(size, 4_096)
    forAll(Generator<NotificationBundle.Entry>.entry.array(0...6), runs: 300) { entries in
      let push = try NotificationBundle(entries).push(sealedWith: keys.server, nonce: nonce())
      try expectEqual(try push.encoded().utf8.count, size)
    }
  }

  func testTheLargestBundleFits_INC69() throws {
    let keys = try TokenKeys()
    let largest = NotificationBundle.Entry(
      notifier: identifier(), seconds: NotificationBundle.latestSecond, metadataNonce: try nonce(),
      sealedMetadata: randomness.bytes(NotificationBundle.maximumMetadataCount))
    let entries = Array(repeating: largest, count: NotificationBundle.maximumEntries)
    let push = try NotificationBundle(entries).push(sealedWith: keys.server, nonce: nonce())
    let json = try push.encoded()
    XCTAssertLessThanOrEqual(json.utf8.count, PushPayload.maximumCount)
    XCTAssertEqual(try PushPayload(decoding: json.utf8), push)
  }

  func testBundlesArriveAsTheyWereSent() throws {
    let keys = try TokenKeys()
    forAll(Generator<NotificationBundle.Entry>.entry.array(0...6), runs: 200) { entries in
      let text = try NotificationBundle(entries).push(sealedWith: keys.server, nonce: nonce()).encoded().text
      guard case .message(let nonce, let ciphertext, _) = try PushPayload(decoding: text) else {
        return try expect(false, "not a message push")
      }
      let bundle = try NotificationBundle(opening: ciphertext, nonce: nonce, with: keys.device)
      try expectEqual(bundle.entries, entries)
      try expectEqual(bundle.damagedEntries, 0)
    }
  }

  func testAnyFlippedBitFails() throws {
    let keys = try TokenKeys()
    let entry = NotificationBundle.Entry(
      notifier: identifier(), seconds: 1_700_000_000, metadataNonce: try nonce(), sealedMetadata: randomness.bytes(144))
    guard
      case .message(let nonce, let ciphertext, _) = try NotificationBundle([entry]).push(
        sealedWith: keys.server, nonce: nonce())
    else { return XCTFail("not a message push") }
    forAll(Generator<Int>.number(0...(ciphertext.count * 8 - 1)), runs: 300) { bit in
      var changed = ciphertext
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      do {
        _ = try NotificationBundle(opening: changed, nonce: nonce, with: keys.device)
        try expect(false, "opened")
      } catch let error as PushError {
        try expectEqual(error, .notAuthentic)
      }
    }
  }

  func testAPayloadForAnotherTokenFails() throws {
    let (keys, others) = (try TokenKeys(), try TokenKeys())
    guard
      case .message(let nonce, let ciphertext, _) = try NotificationBundle([]).push(
        sealedWith: keys.server, nonce: nonce())
    else { return XCTFail("not a message push") }
    XCTAssertEqual(
      pushError { try NotificationBundle(opening: ciphertext, nonce: nonce, with: others.device) }, .notAuthentic)
  }

  func testAMoreThanFullBundleAndAWrongEntryAreRefused() throws {
    let entry = NotificationBundle.Entry(
      notifier: identifier(), seconds: 1, metadataNonce: try nonce(), sealedMetadata: randomness.bytes(144))
    XCTAssertEqual(pushError { try NotificationBundle(Array(repeating: entry, count: 7)) }, .malformed(.bundle))
    for change in [
      { (entry: inout NotificationBundle.Entry) in entry.notifier.removeLast() },
      { $0.seconds = -1 },
      { $0.seconds = NotificationBundle.latestSecond + 1 },
      { $0.sealedMetadata = randomness.bytes(15) },
      { $0.sealedMetadata = randomness.bytes(NotificationBundle.maximumMetadataCount + 1) },
    ] {
      var changed = entry
      change(&changed)
      XCTAssertEqual(pushError { try NotificationBundle([changed]) }, .malformed(.bundleEntry))
    }
  }

  func testADamagedEntryDoesNotAffectItsNeighbours_INC44() throws {
    let entries = try (0..<2).map { number in
      NotificationBundle.Entry(
        notifier: identifier(), seconds: Int64(number), metadataNonce: try nonce(),
        sealedMetadata: randomness.bytes(144))
    }
    let parts = try entries.map { try NotificationBundle([$0]).text }
    let bundle = try NotificationBundle(text: "\(parts[0]);what is this;;\(parts[1])")
    XCTAssertEqual(bundle.entries, entries)
    XCTAssertEqual(bundle.damagedEntries, 2)
    XCTAssertEqual(pushError { try NotificationBundle(text: ";;;;;;") }, .malformed(.bundle))
  }

  func testAVerificationArrivesAndNeitherKindPassesForTheOther() throws {
    let keys = try TokenKeys()
    let code = try VerificationCode.generate(randomness: randomness)
    let push = try code.push(sealedWith: keys.server, nonce: nonce())
    guard case .verification(let nonce, let sealed) = try PushPayload(decoding: push.encoded().text) else {
      return XCTFail("not a verification push")
    }
    XCTAssertTrue(try VerificationCode(opening: sealed, nonce: nonce, with: keys.device).matches(code))
    XCTAssertEqual(
      pushError { try NotificationBundle(opening: sealed, nonce: nonce, with: keys.device) }, .malformed(.bundle))
    guard case .message(_, let message, _) = try NotificationBundle([]).push(sealedWith: keys.server, nonce: nonce)
    else {
      return XCTFail("not a message push")
    }
    XCTAssertEqual(
      pushError { try VerificationCode(opening: message, nonce: nonce, with: keys.device) }, .malformed(.verification))
    XCTAssertFalse(String(reflecting: code).contains(TextEncoding.hex(code.bytes)))
  }

  func testHeadersFollowTheKind() throws {
    let keys = try TokenKeys()
    let message = try NotificationBundle([]).push(sealedWith: keys.server, nonce: nonce())
    let verification = try VerificationCode.generate(randomness: randomness).push(
      sealedWith: keys.server, nonce: nonce())
    XCTAssertEqual(message.pushType, .alert)
    XCTAssertEqual(message.priority, 10)
    XCTAssertEqual(try message.encoded()["aps"]?["mutable-content"], 1)
    XCTAssertEqual(try message.encoded()["aps"]?["category"], "NTF_CAT_CHECK_MESSAGE")
    for push in [verification, .checkMessages] {
      XCTAssertEqual(push.pushType, .background)
      XCTAssertEqual(push.priority, 5)
      XCTAssertEqual(try push.encoded()["aps"], ["content-available": 1])
    }
    XCTAssertEqual(try PushPayload(decoding: PushPayload.checkMessages.encoded().utf8), .checkMessages)
  }

  func testPayloadsTooLongForThePlatformAreNotWritten_INC69() throws {
    let push = PushPayload.message(nonce: try nonce(), ciphertext: randomness.bytes(3_072 + 16))
    guard case .oversized(let length, 4_096) = pushError({ try push.encoded() }) else { return XCTFail("written") }
    XCTAssertGreaterThan(length, 4_096)
  }

  func testEveryTruncationIsTyped() throws {
    let keys = try TokenKeys()
    let bytes = try VerificationCode.generate(randomness: randomness).push(sealedWith: keys.server, nonce: nonce())
      .encoded().utf8
    for length in 0..<bytes.count {
      XCTAssertEqual(
        pushError { try PushPayload(decoding: Array(bytes.prefix(length))) }, .truncated(length: length))
    }
    XCTAssertNoThrow(try PushPayload(decoding: bytes))
  }

  func testWrongInputIsTyped() throws {
    let nonce = TextEncoding.base64URL(try nonce().bytes)
    let ciphertext = TextEncoding.base64URL(randomness.bytes(40))
    func data(_ members: String) -> String { #"{"aps":{},"notificationData":{\#(members)}}"# }
    let cases: [(String, PushError)] = [
      (String(repeating: " ", count: 4_097), .oversized(length: 4_097, limit: 4_096)),
      ("[]", .missing(.aps)),
      ("7", .missing(.aps)),
      (#"{"aps":7}"#, .malformed(.aps)),
      (#"{"aps":{}}"#, .missing(.notificationData)),
      (#"{"aps":{},"notificationData":"x"}"#, .malformed(.notificationData)),
      (data(""), .unknownKind),
      (data(#""checkMessages":false"#), .unknownKind),
      (data(#""nonce":"\#(nonce)","somethingNew":"\#(ciphertext)""#), .unknownKind),
      (data(#""message":"\#(ciphertext)""#), .missing(.nonce)),
      (data(#""message":"\#(ciphertext)","nonce":7"#), .malformed(.nonce)),
      (data(#""message":"\#(ciphertext)","nonce":"AAAA""#), .malformed(.nonce)),
      (data(#""verification":"","nonce":"\#(nonce)""#), .malformed(.ciphertext)),
      (data(#""verification":"*","nonce":"\#(nonce)""#), .malformed(.ciphertext)),
      (data(#""verification":null,"nonce":"\#(nonce)""#), .malformed(.ciphertext)),
      (
        data(#""verification":"\#(ciphertext)","message":"\#(ciphertext)","nonce":"\#(nonce)""#),
        .malformed(.notificationData)
      ),
      (data(#""checkMessages":true,"message":"\#(ciphertext)""#), .malformed(.notificationData)),
    ]
    for (text, error) in cases { XCTAssertEqual(pushError { try PushPayload(decoding: text) }, error, text) }
    guard case .notJSON = pushError({ try PushPayload(decoding: "hello") }) else { return XCTFail("taken for JSON") }
  }

  func testNoBytesMakeTheDecoderTrap() {
    forAll(Generator<[UInt8]>.bytes(0...200), runs: 2_000) { bytes in
      do { _ = try PushPayload(decoding: bytes) } catch is PushError {}
    }
  }
}
