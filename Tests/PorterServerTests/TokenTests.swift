import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterServer
import XCTest

class TokenTests: XCTestCase {
  func testARegisteredTokenIsVerifiedByAPushAndBecomesActive() throws {
    let world = try World()
    let device = try Device(world)
    XCTAssertEqual(try device.register().tokenStatus, .registered)
    // By now the provider has accepted the verification push.
    XCTAssertEqual(try device.status(), .confirmed)
    let answer = try device.ask(.verify(token: device.token, device.code()))
    XCTAssertEqual(answer.result, .done)
    XCTAssertEqual(answer.tokenStatus, .active)
    XCTAssertEqual(try device.status(), .active)
  }

  func testAWrongCodeIsRefused() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    let answer = try device.ask(.verify(token: device.token, .generate(randomness: randomness)))
    XCTAssertEqual(answer.result, .refused(.authorization))
    XCTAssertEqual(answer.tokenStatus, .confirmed)
    // The right code still works.
    XCTAssertEqual(try device.ask(.verify(token: device.token, device.code())).tokenStatus, .active)
  }

  func testRegisteringAgainKeepsTheTokenAndSendsTheSameCodeAgain() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    let (first, token) = (try device.code(), device.token)
    try device.register()
    XCTAssertEqual(device.token, token)
    XCTAssertTrue(try device.code().matches(first))
  }

  func testRegisteringAgainWithAnotherBoxKeyIsRefused() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    let other = try BoxKeyPair.generate(randomness: randomness)
    let answer = try device.ask(
      .newToken(device.pushToken, signingKey: device.signingKey.publicKey, boxKey: other.publicKey))
    XCTAssertEqual(answer.result, .refused(.authorization))
  }

  func testABoxKeyOfLowOrderIsRefused() throws {
    let world = try World()
    let device = try Device(world)
    let key = try XCTUnwrap(BoxPublicKey(bytes: [UInt8](repeating: 0, count: 32)))
    let answer = try device.ask(.newToken(device.pushToken, signingKey: device.signingKey.publicKey, boxKey: key))
    XCTAssertEqual(answer.result, .refused(.syntax))
  }

  func testOnlyTheTokensOwnerIsServed() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let stranger = try SigningKeyPair.generate(randomness: randomness)
    let commands: [ServerRequest.Command] = [
      .check(token: device.token), .delete(token: device.token), .setPeriod(token: device.token, minutes: 20),
      .replace(token: device.token, with: device.pushToken), .subscribe(token: device.token, []),
      .verify(token: device.token, try .generate(randomness: randomness)), device.newToken,
    ]
    for command in commands {
      let answer = try device.ask(command, signedBy: stranger)
      XCTAssertEqual(answer.result, .refused(.authorization))
      XCTAssertNil(answer.tokenStatus, "a stranger learns nothing about the token")
    }
    XCTAssertEqual(try device.status(), .active)
  }

  func testAnUnknownTokenIsRefused() throws {
    let world = try World()
    let device = try Device(world)
    XCTAssertEqual(try device.ask(.check(token: randomness.bytes(24))).result, .refused(.authorization))
  }

  func testAProviderWithoutCredentialsIsRefused() throws {
    let world = try World()
    let device = try Device(world, provider: "apns_prod")
    XCTAssertEqual(try device.ask(device.newToken).result, .refused(.noCredentials))
    let other = try Device(world)
    try other.activate()
    let answer = try other.ask(.replace(token: other.token, with: device.pushToken))
    XCTAssertEqual(answer.result, .refused(.noCredentials))
    XCTAssertEqual(answer.tokenStatus, .active)
  }

  func testAReplacedPushTokenIsVerifiedAnewAndKeepsItsSubscriptions() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    device.pushToken = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    let answer = try device.ask(.replace(token: device.token, with: device.pushToken))
    XCTAssertEqual(answer.tokenStatus, .registered)
    guard case .token(device.token, _) = answer.result else { return XCTFail("another token: \(answer)") }
    XCTAssertEqual(try device.ask(.verify(token: device.token, device.code())).tokenStatus, .active)
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).last?.entries.map(\.notifier), [mailbox.notifier.bytes])
  }

  func testTheOutcomeOfAPushToAReplacedTokenSaysNothingAboutTheNewOne() throws {
    let world = try World()
    let device = try Device(world)
    try device.send(device.newToken)
    try world.server.serve()
    let pending = try XCTUnwrap(try world.server.nextPush(for: "apns_test"))
    guard case .token(let id, _)? = try device.answer()?.result else { return XCTFail("not registered") }
    let replacement = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    try device.send(.replace(token: id, with: replacement))
    try world.server.serve()
    try world.server.finish(pending, .invalid(.unregistered))
    XCTAssertEqual(try device.answer()?.tokenStatus, .registered)
    // The new token's own verification push is still to come, and will confirm it.
    let next = try XCTUnwrap(try world.server.nextPush(for: "apns_test"))
    XCTAssertEqual(next.push.pushToken, replacement)
    try world.server.finish(next, .accepted)
    XCTAssertEqual(try device.ask(.check(token: id)).tokenStatus, .confirmed)
  }

  func testADeletedTokenIsGone() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let answer = try device.ask(.delete(token: device.token))
    XCTAssertEqual(answer.result, .done)
    XCTAssertNil(answer.tokenStatus)
    XCTAssertEqual(try device.ask(.check(token: device.token)).result, .refused(.authorization))
    try device.receive("no device listens", in: mailbox)
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  func testVerifyingDeletesOtherTokensOfTheDevice() throws {
    let world = try World()
    let before = try Device(world)
    try before.activate()
    let after = try Device(world, pushToken: before.pushToken.bytes)
    try after.activate()
    XCTAssertEqual(try before.ask(.check(token: before.token)).result, .refused(.authorization))
    XCTAssertEqual(try after.status(), .active)
  }

  func testARefusedTokenReportsItsReasonAtTheNextContact_INC63() throws {
    let reasons: [(PushOutcome, ServerTokenStatus)] = [
      (.init(status: 400, reason: "BadDeviceToken"), .invalidBad),
      (.init(status: 400, reason: "DeviceTokenNotForTopic"), .invalidTopic),
      (.init(status: 410, reason: "ExpiredToken"), .invalidExpired),
      (.init(status: 410, reason: "Unregistered"), .invalidUnregistered),
    ]
    for (outcome, status) in reasons {
      let world = try World()
      let device = try Device(world)
      try device.activate()
      let mailbox = try device.subscribedMailboxes(1)[0]
      world.provider.answer(then: outcome)
      try device.receive("hello", in: mailbox)
      try world.run()
      // Whatever it asks, the answer reports it.
      XCTAssertEqual(try device.ask(.checkSubscriptions(token: device.token, [])).tokenStatus, status)
      let attempts = world.provider.attempts
      try device.receive("and again", in: mailbox)
      try world.run()
      XCTAssertEqual(world.provider.attempts, attempts, "nothing more is pushed to a token that is invalid")
      // It registers again, and everything works.
      world.provider.answer(then: .accepted)
      try device.activate()
      try device.receive("now it works", in: mailbox)
      try world.run()
      XCTAssertEqual(try world.bundles(for: device).count, 1)
    }
  }

  func testAVerificationThatTheProviderRefusesLeavesNoToken() throws {
    let world = try World()
    let device = try Device(world)
    world.provider.answer(then: .invalid(.bad))
    try device.register()
    XCTAssertEqual(try device.status(), .invalidBad)
  }

  func testATokenNotUsedForAYearExpires() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    world.clock.advance(by: .days(364))
    try world.run()
    XCTAssertEqual(try device.status(), .active, "it was used now")
    world.clock.advance(by: .days(366))
    try world.run()
    XCTAssertEqual(try device.status(), .expired)
  }

  func testAWebPushTokenIsOneOnlyWithAnEndpoint() throws {
    let keys = [4] + [UInt8](repeating: 7, count: 80)
    XCTAssertNil(PushToken(provider: "webpush", bytes: keys))
    XCTAssertNil(PushToken(provider: "webpush", bytes: keys + Array("http://push.example/a".utf8)))
    // Longer than any device token.
    let endpoint = "https://push.example/" + String(repeating: "a", count: 400)
    let token = try XCTUnwrap(PushToken(provider: "webpush", bytes: keys + Array(endpoint.utf8)))
    XCTAssertEqual(token.webPush?.endpoint, endpoint)
    XCTAssertNil(try XCTUnwrap(PushToken(provider: "apns_test", bytes: keys)).webPush)
  }

  /// The plaintext fits into one Web Push record.
  func testEachPushFitsAMessageOfWebPush() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    for mailbox in try device.subscribedMailboxes(6) { try device.receive("hello", in: mailbox) }
    try world.run()
    XCTAssertLessThanOrEqual(try XCTUnwrap(world.provider.take().last).payload.utf8.count, 3_993)
  }

  /// Apple reports since when a device has been gone.
  func testATokenThatWasRegisteredAgainSinceItWasMissedStays() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let missed = world.clock.wall().milliseconds
    world.clock.advance(by: .seconds(60))
    // The same token, as on each start of an app.
    try device.register()
    _ = world.provider.take()
    world.provider.answer([.ended(.unregistered, since: missed)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try device.status(), .active)
    try device.receive("again", in: mailbox)
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)

    world.provider.answer([.ended(.unregistered, since: world.clock.wall().milliseconds)], then: .accepted)
    try device.receive("gone", in: mailbox)
    try world.run()
    XCTAssertEqual(try device.status(), .invalidUnregistered)
  }

  func testARegistrationInTheFutureDoesNotKeepATokenThatIsGone() throws {
    let world = try World()
    world.clock.stepWall(by: .days(10))
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.clock.stepWall(by: .days(-10))
    world.provider.answer([.ended(.unregistered, since: world.clock.wall().milliseconds)], then: .accepted)
    try device.receive("gone", in: mailbox)
    try world.run()
    XCTAssertEqual(try device.status(), .invalidUnregistered)
  }
}
