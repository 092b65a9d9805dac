import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import XCTest

class MessagePushTests: XCTestCase {
  func testAMessageIsPushedWithMetadataThatOnlyTheOwnerReads() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let message = try device.receive("hello", in: mailbox)
    try world.run()
    let push = try XCTUnwrap(world.provider.take().last)
    XCTAssertEqual(push.type, .alert)
    XCTAssertEqual(push.priority, 10)
    XCTAssertLessThanOrEqual(push.payload.utf8.count, 4_096)
    guard case .message(let nonce, let ciphertext, _) = try PushPayload(decoding: push.payload.utf8) else {
      return XCTFail("not a message push")
    }
    let bundle = try NotificationBundle(opening: ciphertext, nonce: nonce, with: device.pushKey())
    let entry = try XCTUnwrap(bundle.entries.first)
    XCTAssertEqual(bundle.entries.count, 1)
    XCTAssertEqual(entry.notifier, mailbox.notifier.bytes)
    XCTAssertEqual(entry.seconds, world.clock.wall().seconds)
    let metadata = try RelayMessageMetadata(
      opening: entry.sealedMetadata, with: mailbox.metadataKey, nonce: entry.metadataNonce)
    XCTAssertEqual(metadata.message, message)
    XCTAssertEqual(metadata.timestamp, world.clock.wall())
  }

  func testAMessageThatAsksForNoNotificationIsNotPushed() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("a receipt", in: mailbox, notify: false)
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  /// The server was down or busy: both wait, and are taken in one turn.
  func testAMessageAfterAVerificationThatWaitsIsPushed() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let replacement = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    _ = try device.ask(.replace(token: device.token, with: replacement))
    device.pushToken = replacement
    try device.send(.verify(token: device.token, device.code()))
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try device.answer()?.tokenStatus, .active)
    XCTAssertEqual(try world.bundles(for: device).map(\.entries.count), [1])
  }

  func testAPushNamesTheSixNewestMailboxesOldestFirst_INC38() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(8)
    for mailbox in mailboxes {
      world.clock.advance(by: .seconds(1))
      try device.receive("hello", in: mailbox)
      try world.run()
    }
    let bundles = try world.bundles(for: device)
    XCTAssertEqual(bundles.map(\.entries.count), [1, 2, 3, 4, 5, 6, 6, 6])
    XCTAssertEqual(bundles.last?.entries.map(\.notifier), mailboxes.suffix(6).map(\.notifier.bytes))
    XCTAssertEqual(bundles.last?.entries.map(\.seconds), bundles.last?.entries.map(\.seconds).sorted())
  }

  func testABurstWhileAPushIsUnderWayIsOneMorePush_INC35() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(3)
    try device.receive("first", in: mailboxes[0])
    try world.server.serve()
    let underWay = try XCTUnwrap(try world.server.nextPush(for: "apns_test"))
    for mailbox in mailboxes { try device.receive("more", in: mailbox) }
    try world.server.serve()
    try world.server.finish(underWay, .accepted)
    try world.run()
    let bundles = try world.bundles(for: device)
    XCTAssertEqual(bundles.map { $0.entries.map(\.notifier) }, [mailboxes.map(\.notifier.bytes)])
  }

  func testAMailboxIsNamedOnceWithItsNewestMessage() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    try device.receive("one", in: mailboxes[0])
    try device.receive("two", in: mailboxes[1])
    try device.receive("three", in: mailboxes[0])
    try world.run()
    let bundle = try XCTUnwrap(try world.bundles(for: device).last)
    XCTAssertEqual(bundle.entries.map(\.notifier), [mailboxes[1], mailboxes[0]].map(\.notifier.bytes))
  }

  func testTokensThatAreNotActiveGetNoMessagesAndMayNotSubscribe() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    let mailbox = try device.newMailbox()
    XCTAssertEqual(
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result, .refused(.authorization))
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result,
      .refused(.authorization))
    _ = world.provider.take()
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  func testSubscribingNeedsTheNotifiersKey() throws {
    let world = try World()
    let (device, thief) = (try Device(world), try Device(world))
    try device.activate()
    try thief.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let forged = try XCTUnwrap(
      NotifierCredentials(notifier: mailbox.notifier.bytes, key: .generate(randomness: randomness)))
    XCTAssertEqual(
      try thief.ask(.subscribe(token: thief.token, [forged])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .refused)]))
    try device.receive("hello", in: mailbox)
    try world.run()
    // The device must be able to read it, or the test fails.
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  func testSubscriptionsAreCheckedAndDeleted_INC67() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    let (kept, dropped, unknown) = (mailboxes[0].notifier.bytes, mailboxes[1].notifier.bytes, randomness.bytes(24))
    XCTAssertEqual(
      try device.ask(.unsubscribe(token: device.token, [dropped, unknown])).result,
      .subscriptions([.init(notifier: dropped, status: .deleted), .init(notifier: unknown, status: .deleted)]))
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [kept, dropped])).result,
      .subscriptions([.init(notifier: kept, status: .active), .init(notifier: dropped, status: .refused)]))
    try device.receive("hello", in: mailboxes[1])
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  /// A user turns pushes off while the code for a new device token is on its way: the client does not ask again.
  func testSubscriptionsAreDeletedWhileTheTokenIsNotProven() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let replacement = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    _ = try device.ask(.replace(token: device.token, with: replacement))
    XCTAssertEqual(
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result, .refused(.authorization))
    XCTAssertEqual(
      try device.ask(.unsubscribe(token: device.token, [mailbox.notifier.bytes])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .deleted)]))
  }

  func testANotifierThatTheRelayForgotShowsAtTheDailyCheck_INC67() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.relay.disableNotifier(mailbox.ends.recipient, key: mailbox.key)
    world.clock.advance(by: .days(2))
    try world.run()
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .refused)]))
  }

  // MARK: Providers

  func testAFailedPushIsRetriedExactlyOnce() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let before = world.provider.attempts
    world.provider.answer([.failed(status: 410)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 2)
    XCTAssertEqual(try world.bundles(for: device).count, 1)

    world.provider.answer([.failed(status: 410), .invalid(.expired)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 4)
    XCTAssertEqual(try device.status(), .invalidExpired)
  }

  func testARejectedPushIsNotRetried() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let before = world.provider.attempts
    world.provider.answer([.rejected(status: 413)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 1)
    XCTAssertEqual(try device.status(), .active)
  }

  func testAnUnreachableProviderGetsThePushWhenItIsBack() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    world.provider.answer(then: .unreachable(.certificateExpired))
    let before = world.provider.attempts
    try device.receive("hello", in: mailboxes[0])
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 2, "one retry, and then a pause")
    try device.receive("hello", in: mailboxes[1])
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 2)
    let retry = try XCTUnwrap(world.server.nextProviderAttempt)
    world.clock.advance(by: retry - world.clock.now())
    try world.run()
    XCTAssertEqual(world.provider.attempts - before, 4)
    XCTAssertEqual(
      world.servers.flatMap(\.problems).map(\.description),
      ["provider apns_test: cannot be reached (its certificate has expired)"])
    XCTAssertTrue(
      world.lines.all.contains {
        $0.hasPrefix("warning a push provider cannot be reached provider=apns_test reason=its certificate has expired")
      })
    XCTAssertFalse(world.lines.all.contains { $0.contains("works again") })
    XCTAssertEqual(try device.status(), .active)

    world.provider.answer(then: .accepted)
    world.clock.advance(by: .seconds(60))
    try world.run()
    XCTAssertEqual(
      try world.bundles(for: device).map { $0.entries.map(\.notifier) }, [mailboxes.map(\.notifier.bytes)],
      "one push names everything")
    XCTAssertNil(world.server.nextProviderAttempt)
    XCTAssertEqual(world.servers.flatMap(\.problems), [])
    XCTAssertEqual(world.lines.all.count { $0 == "info a push provider works again provider=apns_test" }, 1)
  }

  /// The push that a paused provider is tried with is another one each time.
  func testAPushThatAlwaysFailsKeepsNoProviderPaused() throws {
    let world = try World()
    let devices = try (0..<2).map { _ in try Device(world) }
    for device in devices { try device.activate() }
    let mailboxes = try devices.map { try $0.subscribedMailboxes(1)[0] }
    world.provider.fail(for: devices[0].pushToken)
    for (device, mailbox) in zip(devices, mailboxes) {
      try device.receive("hello", in: mailbox)
      try world.run()
    }
    for _ in 0..<2 {
      world.clock.advance(by: .seconds(60))
      try world.run()
    }
    XCTAssertEqual(try world.bundles(for: devices[1]).count, 1)
  }

  func testARefusalOfTheServersCredentialsIsReportedAsSuch() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.provider.answer(then: .refused(.answer(status: 403, reason: "InvalidProviderToken")))
    try device.receive("hello", in: mailbox)
    for _ in 0..<3 {
      try world.run()
      world.clock.advance(by: .seconds(60))
    }
    let server = try XCTUnwrap(world.servers.first { !$0.problems.isEmpty })
    XCTAssertEqual(
      server.problems.map(\.description),
      ["provider apns_test: refuses the provider token or topic (403 InvalidProviderToken)"])
    XCTAssertLessThanOrEqual(
      world.lines.all.count { $0.hasPrefix("error") && $0.contains("refuses the provider token or topic") },
      world.servers.count, "once")
    world.provider.answer(then: .accepted)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  func testAPNsAnswersAreMappedToOutcomes() {
    let cases: [(Int, String?, PushOutcome)] = [
      (200, nil, .accepted), (400, "BadDeviceToken", .invalid(.bad)), (400, "DeviceTokenNotForTopic", .invalid(.topic)),
      (400, "TopicDisallowed", .rejected(status: 400)), (400, nil, .rejected(status: 400)),
      (403, "ExpiredProviderToken", .rejected(status: 403)), (403, "InvalidProviderToken", .rejected(status: 403)),
      (410, "ExpiredToken", .invalid(.expired)), (410, "Unregistered", .invalid(.unregistered)),
      (410, "Else", .failed(status: 410)), (413, "PayloadTooLarge", .rejected(status: 413)),
      (429, "TooManyRequests", .rejected(status: 429)),
      (503, "ServiceUnavailable", .unreachable(.answer(status: 503, reason: "ServiceUnavailable"))),
      (503, "Words of a stranger", .unreachable(.answer(status: 503, reason: nil))),
      (500, nil, .rejected(status: 500)),
    ]
    for (status, reason, outcome) in cases { XCTAssertEqual(PushOutcome(status: status, reason: reason), outcome) }
    XCTAssertEqual(PushOutcome(status: 410, reason: "Unregistered", timestamp: 7), .ended(.unregistered, since: 7))
    XCTAssertEqual(PushOutcome(status: 410, reason: "ExpiredToken", timestamp: 7), .ended(.expired, since: 7))
    XCTAssertEqual(PushOutcome(status: 400, reason: "BadDeviceToken", timestamp: 7), .invalid(.bad))
  }

  // MARK: Wake-ups

  func testADeviceIsWokenAtItsPeriodWhileItsTokenIsActive() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 19)).result, .refused(.quota))
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
    for _ in 0..<3 {
      let due = try world.server.nextDeadline() - world.clock.now()
      XCTAssertLessThanOrEqual(due, .seconds(20 * 60))
      world.clock.advance(by: .seconds(20 * 60))
      try world.run()
      let pushes = world.provider.take()
      XCTAssertEqual(try pushes.map { try PushPayload(decoding: $0.payload.utf8) }, [.checkMessages])
      XCTAssertEqual(pushes.map(\.type), [.background])
    }
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 0)).result, .done)
    world.clock.advance(by: .days(1))
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  func testAWallClockThatGoesBackDelaysNoWakeUp_INC14() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    world.clock.stepWall(by: .seconds(-3_600))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }
}
