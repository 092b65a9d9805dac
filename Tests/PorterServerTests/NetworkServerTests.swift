import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import XCTest

@testable import PorterServer

// Everything that holds next to a relay holds with one on the network, whose question after a turn acknowledges what
// was stored in it. Inherited tests are found in a class that has one of its own.

final class NetworkRepeatTests: RepeatTests {
  override func setUp() { World.relay = .network }
  override func tearDown() { World.relay = .local }
  override func testTheStoryHoldsWhicheverExchangeFails() throws { try super.testTheStoryHoldsWhicheverExchangeFails() }
}

final class EarlierRelayRepeatTests: RepeatTests {
  override func setUp() { World.relay = .earlier }
  override func tearDown() { World.relay = .local }
  override func testTheStoryHoldsWhicheverExchangeFails() throws { try super.testTheStoryHoldsWhicheverExchangeFails() }
}

final class NetworkHeldPushTests: HeldPushTests {
  override func setUp() { World.relay = .network }
  override func tearDown() { World.relay = .local }
  override func testNoPushIsLostWhenTheRelayFailsInThePause() throws {
    try super.testNoPushIsLostWhenTheRelayFailsInThePause()
  }
}

final class NetworkMessagePushTests: MessagePushTests {
  override func setUp() { World.relay = .network }
  override func tearDown() { World.relay = .local }

  private struct Night {
    let world: World
    let device: Device
    let mailboxes: [Device.Mailbox]
    let server: NotificationServer

    init() throws {
      world = try World()
      device = try Device(world)
      try device.activate()
      mailboxes = try device.subscribedMailboxes(5)
      try world.run()
      _ = world.provider.take()
      server = try XCTUnwrap(world.server as? NotificationServer)
      world.port.fail(exchange: .max, .requestLost)
    }

    func notificationsAtTheRelay() throws -> Int64? {
      let relay = try Database(path: world.relayPath)
      defer { XCTAssertNoThrow(try relay.close()) }
      return try relay.integer("SELECT count(*) FROM notification")
    }

    /// The number of entries that one push carries to the device now.
    func entries() throws -> Int {
      let pending = try XCTUnwrap(try server.nextPush(for: "apns_test"))
      try server.finish(pending, world.provider.deliverWithRetry(pending.push))
      let bundles = try world.bundles(for: device)
      XCTAssertEqual(bundles.count, 1)
      return try XCTUnwrap(bundles.first).entries.count
    }
  }

  func testEachTurnHasOneExchange() throws {
    let night = try Night()
    for (number, mailbox) in night.mailboxes.enumerated() {
      try night.device.receive("hello", in: mailbox)
      try night.server.serve()
      XCTAssertEqual(night.world.port.count, number + 1)
      XCTAssertEqual(try night.notificationsAtTheRelay(), 1, "those before are acknowledged, this one is not yet")
      XCTAssertTrue(night.server.hasMoreToDo)
    }
    try night.server.serve()
    XCTAssertEqual(night.world.port.count, 6)
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
    XCTAssertFalse(night.server.hasMoreToDo)
    XCTAssertEqual(try night.entries(), 5)
  }

  /// Whichever of these exchanges fails, and however: stored notifications are acknowledged by the next one that
  /// succeeds.
  func testWhatWasStoredIsAcknowledgedThoughAQuestionFails() throws {
    for failure in FragilePort.Failure.allCases {
      for number in 1...3 {
        let night = try Night()
        night.world.port.fail(exchange: number, failure)
        for turn in 0..<6 {
          if turn < 3 { try night.device.receive("hello", in: night.mailboxes[turn]) }
          let before = night.server.unacknowledged
          try night.server.serve()
          if turn + 1 == number {
            XCTAssertEqual(night.server.unacknowledged, before, "\(failure) of exchange \(number)")
          } else {
            XCTAssertTrue(Set(before).isDisjoint(with: night.server.unacknowledged), "given again")
          }
          night.world.clock.advance(by: .seconds(1))
        }
        XCTAssertEqual(try night.notificationsAtTheRelay(), 0, "\(failure) of exchange \(number)")
        XCTAssertEqual(try night.entries(), 3, "\(failure) of exchange \(number)")
      }
    }
  }

  /// Both arrived while the server was busy: the request was accepted first. Served second, it would have deleted the
  /// push as well.
  func testARequestThatCameFirstIsServedFirst() throws {
    let night = try Night()
    var order: [String] = []
    night.world.state.database.observer = { sql in
      for table in ["DELETE FROM token", "INTO notification"] where sql.contains(table) { order.append(table) }
    }
    defer { night.world.state.database.observer = nil }
    try night.device.send(.delete(token: night.device.token))
    try night.device.receive("hello", in: night.mailboxes[0])
    try night.server.takePushes(isWoken: true)
    XCTAssertNil(try night.server.nextPush(for: "apns_test"))
    XCTAssertNotNil(try night.device.answer())
    XCTAssertEqual(order, ["DELETE FROM token"])
  }

  /// A cluster gives it to no server for some seconds, so it is kept.
  func testWhatWasGivenIsKeptThoughARequestCannotBeServed() throws {
    for failure in FragilePort.Failure.allCases {
      let night = try Night()
      try night.device.send(.check(token: night.device.token))
      try night.device.receive("hello", in: night.mailboxes[0])
      // First the question, then the request.
      night.world.port.fail(exchange: 2, failure)
      try night.server.serve()
      XCTAssertNil(try night.server.nextPush(for: "apns_test"))
      XCTAssertEqual(night.server.given.count, 1)
      let relay = try Database(path: night.world.relayPath)
      XCTAssertEqual(try relay.run("UPDATE notification SET nonce = zeroblob(24)"), 1)
      try relay.close()
      night.world.clock.advance(by: ServerTimes.firstRetry)
      try night.server.serve()
      XCTAssertNotNil(try night.device.answer())
      XCTAssertEqual(try night.entries(), 1)
      XCTAssertTrue(night.server.given.isEmpty)
    }
  }

  /// A failing relay would hold up the stop; a full disk does not.
  func testAServerThatStopsAsksNoRelayThatFails() throws {
    for (failure, left) in [(ServerError.relay(.offline), 1), (.storage(SQLiteError(kind: .full)), 0)] {
      let night = try Night()
      try night.device.receive("hello", in: night.mailboxes[0])
      try night.server.serve()
      night.server.times.relayFailed(failure, now: night.world.clock.now())
      night.server.leave()
      XCTAssertEqual(try night.notificationsAtTheRelay(), Int64(left))
    }
  }

  /// Otherwise they would be pushed again after the next start.
  func testAServerThatStopsLeavesNothingUnacknowledged() throws {
    let night = try Night()
    try night.device.receive("hello", in: night.mailboxes[0])
    let stop = try XCTUnwrap(WakeDescriptor())
    stop.raise()
    try ServerLoop(
      server: night.server, providers: ["apns_test": night.world.provider], stop: stop, clock: SystemClock()
    )
    .run()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
  }
}
