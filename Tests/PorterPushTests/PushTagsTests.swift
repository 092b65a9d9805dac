import PorterCrypto
import PorterJSON
import PorterPlatform
import PropertyTesting
import PythonPeer
import XCTest

@testable import PorterPush

final class PushTagsTests: XCTestCase {
  private func tags(_ entries: [NotificationBundle.Entry], _ key: BoxSharedKey, _ nonce: BoxNonce) throws -> PushTags {
    let push = try NotificationBundle(entries).push(sealedWith: key, nonce: nonce)
    guard case .message(_, _, let tags?) = try PushPayload(decoding: push.encoded().utf8) else {
      throw PushError.missing(.notificationData)
    }
    return tags
  }

  /// Computed by an implementation that shares nothing with this one.
  func testTheTagsAreThoseOfAnIndependentImplementation() throws {
    let (device, server) = (
      try BoxKeyPair.generate(randomness: randomness), try BoxKeyPair.generate(randomness: randomness)
    )
    let key = try server.secretKey.agree(with: device.publicKey)
    for count in 0...6 {
      let entries = try (0..<count).map { _ in
        NotificationBundle.Entry(
          notifier: identifier(), seconds: 1_700_000_000, metadataNonce: try nonce(),
          sealedMetadata: randomness.bytes(144))
      }
      let push = try NotificationBundle(entries).push(sealedWith: key, nonce: nonce()).encoded()
      let request: JSONValue = [
        "payload": push, "secret": .string(TextEncoding.hex(device.secretKey.exposeForStorage())),
        "public": .string(TextEncoding.hex(server.publicKey.bytes)),
      ]
      let answer = try JSONValue(parsing: Array(try runPeer("push_tags.py", input: request.text).utf8))
      XCTAssertEqual(answer["entries"], JSONValue(Int64(count)))
      let own = push["notificationData"]?["tags"]?.stringValue.flatMap { TextEncoding.base64URLDecoded($0) }
      XCTAssertEqual(answer["tags"]?.stringValue, own.map { TextEncoding.hex($0) }, "\(count) entries")
    }
  }

  /// A device computes them from what it knows; without the handles they reveal nothing, not even how many entries
  /// there are.
  func testEachEntryHasItsTagAndTheOtherPlacesArePads() throws {
    let keys = try TokenKeys()
    let key = MailboxTagKey(of: keys.device)
    forAll(Generator<NotificationBundle.Entry>.entry.array(0...6), runs: 100) { entries in
      let nonce = try nonce()
      let all = try XCTUnwrap(try tags(entries, keys.server, nonce).all)
      try expectEqual(all.count, 7)
      for (place, tag) in all.enumerated() {
        let expected =
          place < entries.count
          ? key.handle(of: entries[place].notifier).tag(nonce) : key.pad.tag(nonce, place: place)
        try expectEqual(tag, expected)
      }
    }
  }

  /// No two pushes, places or tokens share a tag.
  func testTagsDoNotRepeat() throws {
    let notifier = identifier()
    var seen = Set<MailboxTag>()
    for _ in 0..<4 {
      let keys = try TokenKeys()
      for _ in 0..<4 {
        let entry = NotificationBundle.Entry(
          notifier: notifier, seconds: 1, metadataNonce: try nonce(), sealedMetadata: randomness.bytes(16))
        seen.formUnion(try XCTUnwrap(try tags([entry], keys.server, try nonce()).all))
      }
    }
    XCTAssertEqual(seen.count, 4 * 4 * 7)
  }

  /// A push from an earlier server, with the size it pads to, and a push with malformed tags: each opens as before.
  func testAPushWithoutTagsIsRead() throws {
    let keys = try TokenKeys()
    let nonce = try nonce()
    let text = try NotificationBundle([]).push(sealedWith: keys.server, nonce: nonce).encoded()
    for tags in [nil, JSONValue(7), "", "AAAA", .string(String(repeating: "*", count: 75))] as [JSONValue?] {
      let data = JSONValue.compact([
        "nonce": text["notificationData"]?["nonce"], "message": text["notificationData"]?["message"], "tags": tags,
      ])
      let payload: JSONValue = ["aps": ["mutable-content": 1], "notificationData": data]
      guard case .message(_, let sealed, let read) = try PushPayload(decoding: payload.utf8) else {
        return XCTFail("not a message push")
      }
      XCTAssertNil(read?.all, "\(tags ?? "none")")
      XCTAssertEqual(try NotificationBundle(opening: sealed, nonce: nonce, with: keys.device).entries, [])
    }
    let earlier = try keys.server.sealPadded([], to: 2_816, nonce: nonce)
    XCTAssertEqual(try NotificationBundle(opening: earlier, nonce: nonce, with: keys.device).entries, [])
    for size in [2_687, 2_689, 2_815, 2_817] {
      let other = try keys.server.sealPadded([], to: size, nonce: nonce)
      XCTAssertEqual(
        pushError { try NotificationBundle(opening: other, nonce: nonce, with: keys.device) }, .malformed(.bundle))
    }
  }

  /// Both platforms' limits, with the largest possible entries.
  func testTheWholePushFitsAPNsAndWebPush_INC69() throws {
    let keys = try TokenKeys()
    let largest = NotificationBundle.Entry(
      notifier: identifier(), seconds: NotificationBundle.latestSecond, metadataNonce: try nonce(),
      sealedMetadata: randomness.bytes(NotificationBundle.maximumMetadataCount))
    let bundle = try NotificationBundle(Array(repeating: largest, count: 6))
    XCTAssertEqual(bundle.text.utf8.count, 2_657)
    XCTAssertEqual(try bundle.push(sealedWith: keys.server, nonce: nonce()).encoded().utf8.count, 3_881)
  }
}
