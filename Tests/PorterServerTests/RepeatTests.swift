import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import XCTest

/// Repeated, out-of-order and malformed requests.
class RepeatTests: XCTestCase {
  func testAReplayedRequestIsAnsweredAgainButNotCarriedOutAgain() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    _ = try device.ask(.unsubscribe(token: device.token, [mailbox.notifier.bytes]))
    let recorded = try XCTUnwrap(device.sent.last)
    XCTAssertEqual(
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)]))
    try device.deliver(recorded)
    try world.run()
    XCTAssertEqual(
      try device.answer()?.result, .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .deleted)]),
      "the earlier answer")
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)]))
  }

  func testReplayingEverythingChangesNothing() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 30)).result, .done)
    for body in device.sent.reversed() { try device.deliver(body) }
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty, "no verification push")
    while try device.answer() != nil {}
    XCTAssertEqual(try device.status(), .active)
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)]))
  }

  func testRequestsOfADeletedTokenCannotBeReplayed() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    _ = try device.ask(.delete(token: device.token))
    for body in device.sent { try device.deliver(body) }
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty, "the token is not made anew")
    while try device.answer() != nil {}
    XCTAssertEqual(try device.ask(.check(token: device.token)).result, .refused(.authorization))
  }

  func testAnOldReplayGetsNoAnswerAndDoesNothing() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    _ = try device.ask(.setPeriod(token: device.token, minutes: 30))
    let recorded = try XCTUnwrap(device.sent.last)
    _ = try device.ask(.setPeriod(token: device.token, minutes: 0))
    world.clock.advance(by: .days(40))
    try world.run()
    try device.deliver(recorded)
    try world.run()
    XCTAssertNil(try device.answer())
    world.clock.advance(by: .days(1))
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty, "the period is still off")
  }

  func testACorrelationOfAnotherClientIsRefused() throws {
    let world = try World()
    let (device, other) = (try Device(world), try Device(world))
    try device.activate()
    let correlation = try device.send(.check(token: device.token))
    try world.run()
    XCTAssertEqual(try device.answer()?.result, .done)
    try other.send(other.newToken, correlation: correlation)
    try world.run()
    XCTAssertEqual(try other.answer()?.result, .refused(.authorization))
    try other.activate()
  }

  func testAnInvalidRequestDelaysNoOther_INC66() throws {
    let world = try World()
    let device = try Device(world)
    try device.send(device.newToken)
    let body = try XCTUnwrap(device.sent.last)
    XCTAssertNoThrow(try world.run())
    _ = try device.answer()
    try device.deliver([])
    try device.deliver(Array("hello".utf8))
    try device.deliver(randomness.bytes(16_384))
    try device.deliver(Array(body.dropLast()))
    var changed = body
    changed[100] ^= 1
    try device.deliver(changed)
    XCTAssertEqual(try device.register().tokenStatus, .confirmed)
  }

  func testAnUnknownRequestIsAnsweredAsSuch() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let tooMany = (0...ServerRequest.maximumBatch).map { _ in randomness.bytes(24) }
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, tooMany)).result, .refused(.syntax))
  }

  func testAClientThatReadsNoAnswersDelaysNoOther() throws {
    let world = try World()
    let (device, other) = (try Device(world), try Device(world))
    try device.activate()
    for _ in 0..<RelayLimits.undelivered + 2 {
      try device.send(.check(token: device.token))
      try world.run()
    }
    XCTAssertEqual(try other.register().tokenStatus, .registered)
  }

  // MARK: A failing relay

  /// Makes each exchange between server and relay fail in turn, and continues with the same server or a new one.
  func testTheStoryHoldsWhicheverExchangeFails() throws {
    for failure in FragilePort.Failure.allCases {
      for restarts in [false, true] {
        var number = 1
        // Two servers ask far more often than one.
        while try storyHolds(failing: number, failure, restarting: restarts) { number += World.isShared ? 7 : 1 }
        XCTAssertGreaterThan(number, 20, "the story asks the relay that often")
      }
    }
  }

  /// False if the story ends before that exchange.
  private func storyHolds(failing number: Int, _ failure: FragilePort.Failure, restarting: Bool) throws -> Bool {
    let world = try World()
    let device = try Device(world)
    let port = world.port
    port.fail(exchange: number, failure)
    var hasRestarted = false
    func goOn() throws {
      if restarting, port.hasFailed, !hasRestarted {
        hasRestarted = true
        try world.restart()
      }
    }
    func ask(_ command: ServerRequest.Command) throws -> ServerAnswer {
      let correlation = try device.send(command)
      for _ in 0..<10 {
        try world.run()
        try goOn()
        while let answer = try device.answer() {
          if answer.correlation == correlation { return answer }
        }
        world.clock.advance(by: .seconds(2))
      }
      throw NothingCame(file: #filePath, line: #line)
    }
    let registered = try ask(device.newToken)
    device.note(registered)
    XCTAssertEqual(try ask(.verify(token: device.token, device.code())).tokenStatus, .active, "exchange \(number)")
    let mailbox = try device.newMailbox()
    XCTAssertEqual(
      try ask(.subscribe(token: device.token, [mailbox.credentials])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)]), "exchange \(number)")
    try device.receive("hello", in: mailbox)
    var bundles: [NotificationBundle] = []
    for _ in 0..<4 {
      try world.run()
      try goOn()
      bundles += try world.bundles(for: device)
      world.clock.advance(by: .seconds(2))
    }
    XCTAssertEqual(bundles.last?.entries.map(\.notifier), [mailbox.notifier.bytes], "exchange \(number)")
    XCTAssertLessThanOrEqual(bundles.count, 2, "exchange \(number): at most the hint comes twice")
    return port.hasFailed
  }

  // MARK: Restarts

  func testARestartKeepsEverythingAndResumesSubscriptions() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    try device.receive("before", in: mailboxes[0])
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    let link = world.server.link

    try world.restart()
    XCTAssertEqual(world.server.link, link)
    XCTAssertEqual(try device.status(), .active)
    try device.receive("after", in: mailboxes[1])
    try world.run()
    XCTAssertEqual(
      try world.bundles(for: device).map { $0.entries.map(\.notifier) }, [mailboxes.map(\.notifier.bytes)])
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }

  func testMessagesFromADowntimeArePushedAfterwards() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("without a server", in: mailbox)
    try device.send(.check(token: device.token))
    try world.restart()
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    XCTAssertEqual(try device.answer()?.tokenStatus, .active)
  }

  func testAnInterruptedPushIsSentAfterARestart() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    try world.server.serve()
    XCTAssertNotNil(try world.server.nextPush(for: "apns_test"))
    try world.restart()
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  // MARK: Logs

  func testNoSecretIsLogged() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    let code = try device.code()
    _ = try device.ask(.verify(token: device.token, code))
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.provider.answer([.unreachable(.closed), .unreachable(.closed), .rejected(status: 413)], then: .invalid(.bad))
    for _ in 0..<4 {
      try device.receive("the text", in: mailbox)
      try world.run()
      world.clock.advance(by: .seconds(5))
    }
    try device.deliver([7])
    try world.run()
    let text = world.lines.all.joined(separator: "\n")
    XCTAssertTrue(text.contains("TVFY"), "something is logged: \(text)")
    let secrets = [
      device.pushToken.bytes, code.bytes, device.token, mailbox.notifier.bytes,
      mailbox.credentials.key.exposeForStorage(), try device.pushKey().exposeForStorage(), Array("the text".utf8),
    ]
    for secret in secrets {
      for form in [TextEncoding.hex(secret), TextEncoding.base64URL(secret), String(decoding: secret, as: UTF8.self)] {
        XCTAssertFalse(text.contains(form))
      }
    }
  }
}
