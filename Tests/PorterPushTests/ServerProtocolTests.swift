import PorterCrypto
import PorterJSON
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterPush

final class ServerProtocolTests: XCTestCase {
  private struct Ends {
    let server: BoxKeyPair
    let client: ServerConversation
    let signingKey: SigningKeyPair
  }

  private func ends() throws -> Ends {
    let server = try BoxKeyPair.generate(randomness: randomness)
    let link = try XCTUnwrap(NotificationServerLink(key: server.publicKey, mailbox: identifier()))
    return Ends(
      server: server,
      client: try ServerConversation(server: link, key: try BoxKeyPair.generate(randomness: randomness)),
      signingKey: try SigningKeyPair.generate(randomness: randomness))
  }

  private func request(_ command: ServerRequest.Command) throws -> ServerRequest {
    ServerRequest(
      correlation: try CorrelationID.generate(randomness: randomness), replyMailbox: identifier(), command: command)
  }

  private func credentials() throws -> NotifierCredentials {
    try XCTUnwrap(
      NotifierCredentials(notifier: identifier(), key: try SigningKeyPair.generate(randomness: randomness)))
  }

  private func commands() throws -> [ServerRequest.Command] {
    let pushToken = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    let largest = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(PushToken.maximumCount)))
    let notifiers = (0..<ServerRequest.maximumBatch).map { _ in identifier() }
    let token = identifier()
    return [
      .newToken(
        pushToken, signingKey: try SigningKeyPair.generate(randomness: randomness).publicKey,
        boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey),
      .verify(token: token, try VerificationCode.generate(randomness: randomness)),
      .check(token: token), .replace(token: token, with: largest), .delete(token: token),
      .setPeriod(token: token, minutes: 0), .setPeriod(token: token, minutes: 20),
      .subscribe(token: token, try (0..<ServerRequest.maximumBatch).map { _ in try credentials() }),
      .subscribe(token: token, []),
      .checkSubscriptions(token: token, notifiers), .unsubscribe(token: token, notifiers),
    ]
  }

  func testEveryRequestArrivesAsItWasSentAndAllHaveOneSize() throws {
    let ends = try ends()
    var sizes: Set<Int> = []
    for command in try commands() {
      let request = try request(command)
      let body = try ends.client.seal(request, signedBy: ends.signingKey, randomness: randomness)
      sizes.insert(body.count)
      let signed = try SignedRequest(opening: body, with: ends.server)
      XCTAssertTrue(signed.isSigned(by: ends.signingKey.publicKey), request.commandName)
      XCTAssertFalse(signed.isSigned(by: try SigningKeyPair.generate(randomness: randomness).publicKey))
      XCTAssertEqual(try signed.request.get().json, request.json, request.commandName)
      XCTAssertEqual(try signed.request.get().token, request.token)
      XCTAssertEqual(signed.correlation, request.correlation)
      XCTAssertEqual(signed.replyMailbox, request.replyMailbox)
    }
    XCTAssertEqual(sizes.count, 1)
    XCTAssertLessThanOrEqual(try XCTUnwrap(sizes.first), 16_384, "a relay takes no longer messages")
  }

  func testEveryAnswerArrivesAsItWasSentAndAllHaveOneSize() throws {
    let ends = try ends()
    let asked = try request(.check(token: identifier()))
    let signed = try SignedRequest(
      opening: try ends.client.seal(asked, signedBy: ends.signingKey, randomness: randomness), with: ends.server)
    let subscriptions = (0..<ServerRequest.maximumBatch).map { number in
      ServerAnswer.Subscription(
        notifier: identifier(), status: SubscriptionStatus.allCases[number % SubscriptionStatus.allCases.count])
    }
    let results: [ServerAnswer.Result] =
      [
        .token(id: identifier(), boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey), .done,
        .subscriptions(subscriptions), .subscriptions([]),
      ] + ServerRefusal.allCases.map { .refused($0) }
    var sizes: Set<Int> = []
    for result in results {
      for status in ServerTokenStatus.allCases.map(Optional.some) + [nil] {
        let answer = ServerAnswer(correlation: asked.correlation, result: result, tokenStatus: status)
        let body = try signed.seal(answer, randomness: randomness)
        sizes.insert(body.count)
        XCTAssertEqual(try ends.client.open(body), answer)
      }
    }
    XCTAssertEqual(sizes.count, 1)
  }

  func testAnyFlippedBitOfARequestFails() throws {
    let ends = try ends()
    let body = try ends.client.seal(
      try request(.check(token: identifier())), signedBy: ends.signingKey, randomness: randomness)
    forAll(Generator<Int>.number(0...(body.count * 8 - 1)), runs: 300) { bit in
      var changed = body
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      // X25519 ignores the topmost bit of a public key, so flipping it changes nothing.
      if bit / 8 == 32, bit % 8 == 7 { return }
      do {
        _ = try SignedRequest(opening: changed, with: ends.server)
        try expect(false, "opened")
      } catch let error as PushError {
        let isVersion = bit / 8 == 0
        try expect(isVersion ? error == .unsupportedVersion(changed[0]) : error == .notAuthentic, "\(error)")
      }
    }
  }

  func testAnAnswerToAnotherKeyFails() throws {
    let (ends, others) = (try ends(), try ends())
    let asked = try request(.check(token: identifier()))
    let signed = try SignedRequest(
      opening: try ends.client.seal(asked, signedBy: ends.signingKey, randomness: randomness), with: ends.server)
    let body = try signed.seal(
      ServerAnswer(correlation: asked.correlation, result: .done, tokenStatus: .active), randomness: randomness)
    XCTAssertEqual(pushError { try others.client.open(body) }, .notAuthentic)
  }

  func testARequestCannotBePassedOnToAnotherServerNorSentBackAsAnAnswer() throws {
    let (ends, others) = (try ends(), try ends())
    let request = try request(.delete(token: identifier()))
    let body = try ends.client.seal(request, signedBy: ends.signingKey, randomness: randomness)
    // The first server has opened it, and seals its content to the second.
    let opened = try SignedRequest(opening: body, with: ends.server)
    XCTAssertEqual(pushError { try SignedRequest(opening: body, with: others.server) }, .notAuthentic)
    let forged = try others.client.seal(opened.request.get(), signedBy: others.signingKey, randomness: randomness)
    XCTAssertFalse(try SignedRequest(opening: forged, with: others.server).isSigned(by: ends.signingKey.publicKey))
    // The relay puts it into the reply mailbox, with and without the client's key.
    XCTAssertEqual(pushError { try ends.client.open(body) }, .malformed(.envelope))
    let withoutKey = [body[0]] + body.dropFirst(33)
    guard case .notJSON = pushError({ try ends.client.open(withoutKey) }) else { return XCTFail("taken for an answer") }
  }

  func testABatchThatIsTooLargeIsRefused() throws {
    let ends = try ends()
    let command = ServerRequest.Command.checkSubscriptions(
      token: identifier(), (0...ServerRequest.maximumBatch).map { _ in identifier() })
    let body = try ends.client.seal(try request(command), signedBy: ends.signingKey, randomness: randomness)
    let signed = try SignedRequest(opening: body, with: ends.server)
    XCTAssertEqual(pushError { try signed.request.get() }, .oversized(length: 49, limit: 48))
    let huge = ServerRequest.Command.checkSubscriptions(token: identifier(), (0..<400).map { _ in identifier() })
    guard
      case .oversized? = pushError({
        try ends.client.seal(try request(huge), signedBy: ends.signingKey, randomness: randomness)
      })
    else { return XCTFail("sealed") }
  }

  func testMissingAndMalformedMembersAreNamed() throws {
    let whole: [String: JSONValue] = [
      "correlation": .string(TextEncoding.base64URL(identifier())),
      "reply": .string(TextEncoding.base64URL(identifier())),
      "token": .string(TextEncoding.base64URL(identifier())), "command": "TCRN", "minutes": 30,
    ]
    func error(_ change: (inout [String: JSONValue]) -> Void) -> PushError? {
      var members = whole
      change(&members)
      return pushError { try ServerRequest(json: .object(JSONObject(members.map { ($0.key, $0.value) }))) }
    }
    XCTAssertNoThrow(try ServerRequest(json: .object(JSONObject(whole.map { ($0.key, $0.value) }))))
    XCTAssertEqual(error { $0["correlation"] = nil }, .missing(.correlation))
    XCTAssertEqual(error { $0["correlation"] = "AAAA" }, .malformed(.correlation))
    XCTAssertEqual(error { $0["reply"] = nil }, .missing(.replyMailbox))
    XCTAssertEqual(error { $0["reply"] = "AAAA" }, .malformed(.replyMailbox))
    XCTAssertEqual(error { $0["token"] = nil }, .missing(.tokenID))
    XCTAssertEqual(error { $0["command"] = nil }, .missing(.command))
    XCTAssertEqual(error { $0["command"] = 7 }, .malformed(.command))
    XCTAssertEqual(error { $0["command"] = "TXXX" }, .unknownKind)
    XCTAssertEqual(error { $0["minutes"] = nil }, .missing(.minutes))
    XCTAssertEqual(error { $0["minutes"] = -1 }, .malformed(.minutes))
    XCTAssertEqual(error { $0["command"] = "TVFY" }, .missing(.code))
    XCTAssertEqual(error { $0["command"] = "TRPL" }, .missing(.pushToken))
    XCTAssertEqual(error { $0["command"] = "SNEW" }, .missing(.notifiers))
    XCTAssertEqual(
      error {
        $0["command"] = "SCHK"
        $0["notifiers"] = ["AAAA"]
      }, .malformed(.notifier))
    XCTAssertEqual(pushError { try ServerRequest(json: 7) }, .malformed(.request))
    XCTAssertEqual(pushError { try ServerAnswer(json: []) }, .malformed(.answer))
  }

  func testNoBytesMakeTheDecodersTrap() throws {
    let ends = try ends()
    forAll(Generator<[UInt8]>.bytes(0...300), runs: 1_000) { bytes in
      do { _ = try SignedRequest(opening: bytes, with: ends.server) } catch is PushError {}
      do { _ = try ends.client.open(bytes) } catch is PushError {}
    }
  }

  func testLinksAreWrittenAndReadBack() throws {
    let key = try BoxKeyPair.generate(randomness: randomness).publicKey
    let link = try XCTUnwrap(NotificationServerLink(key: key, mailbox: identifier()))
    XCTAssertEqual(try NotificationServerLink(parsing: "\(link)"), link)
    XCTAssertTrue("\(link)".hasPrefix("ntf:"))
    XCTAssertNil(NotificationServerLink(key: key, mailbox: randomness.bytes(23)))
    for text in ["", "ntf:", "ntf:@", "https://x", "\(link)@", "\(link)A", String("\(link)".dropLast()), "ntf:\(link)"]
    {
      XCTAssertEqual(pushError { try NotificationServerLink(parsing: text) }, .malformed(.link), text)
    }
    forAll(.text(0...90)) { text in
      do { _ = try NotificationServerLink(parsing: "ntf:" + text) } catch is PushError {}
    }
  }

  func testPushTokensAreBoundedAndNeverPrinted() throws {
    let token = try XCTUnwrap(PushToken(provider: "apns_test", bytes: [0xab, 0xcd]))
    XCTAssertEqual("\(token)", "redacted")
    XCTAssertEqual(String(reflecting: token), "redacted")
    for (provider, count) in [
      ("", 1), ("Apns", 1), ("a b", 1), (String(repeating: "a", count: 33), 1), ("a", 0), ("a", 257),
    ] {
      XCTAssertNil(PushToken(provider: provider, bytes: randomness.bytes(count)), provider)
    }
  }
}
