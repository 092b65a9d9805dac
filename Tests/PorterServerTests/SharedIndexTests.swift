import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// The records that lead to tokens, and additions repeated after a server has ended.
final class SharedIndexTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  /// Something that another server does at the worst moment.
  private struct Change: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  private func before(
    _ world: World, _ bucket: SharedKey.Bucket = .tokens, _ body: @escaping () throws -> Void
  ) throws {
    let change = Change(body: body)
    try XCTUnwrap(world.store).beforeReplacement(of: bucket) { change.run() }
  }

  private func runLong(_ world: World) throws {
    for _ in 0..<10 {
      world.clock.advance(by: .seconds(7))
      try world.run()
    }
  }

  // MARK: Devices

  func testTwoServersThatNoteOneDeviceMakeOneToken() throws {
    let world = try World()
    let device = try Device(world)
    try device.send(device.newToken)
    try before(world, .devices) {
      try device.send(device.newToken)
      try world.servers[1].serve()
    }
    try world.servers[0].serve()
    let answers = try [device.answer(), device.answer()].map { try XCTUnwrap($0) }
    XCTAssertEqual(answers[0].result, answers[1].result)
    XCTAssertEqual(world.store?.count(.tokens), 1)
  }

  func testATokenThatDoesNotReadIsReplacedByItsDevice_INC44() throws {
    let world = try World()
    let (device, other, store) = (try Device(world), try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    try other.activate()
    let (lost, key) = (device.token, TokenDocument.key(device.token))
    let record = try XCTUnwrap(try store.records([key])[0])
    _ = try store.replace([SharedChange(key, [9], revision: record.revision)])
    try device.activate()
    XCTAssertNotEqual(device.token, lost)
    XCTAssertEqual(try other.status(), .active)
  }

  // MARK: Notifiers

  func testATokenThatDoesNotReadKeepsItsNotifiers_INC44() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let key = TokenDocument.key(device.token)
    let record = try XCTUnwrap(try store.records([key])[0])
    let damaged = try XCTUnwrap(try store.replace([SharedChange(key, [9], revision: record.revision)])[0])
    world.clock.advance(by: .seconds(61))
    try device.receive("one", in: mailbox)
    try world.run()
    _ = try store.replace([SharedChange(key, record.bytes, revision: damaged)])
    try device.receive("two", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  /// Another server may have read the record earlier, and an older document.
  func testANotifierIsNotedOnceMoreAfterItsSubscriptionIsStored() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.newMailbox()
    try device.send(.subscribe(token: device.token, [mailbox.credentials]))
    try before(world) { world.clock.advance(by: .seconds(61)) }
    try world.server.serve()
    let record = try XCTUnwrap(try store.records([store.watchers(of: mailbox.notifier.bytes)])[0])
    XCTAssertEqual(
      try Watchers(decoding: record.bytes).of(mailbox.notifier.bytes).map(\.time), [world.clock.wall().milliseconds])
  }

  func testTheDailyCheckNotesWhatIsMissing() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let key = try store.watchers(of: mailbox.notifier.bytes)
    let record = try XCTUnwrap(try store.records([key])[0])
    _ = try store.replace([SharedChange(key, [], revision: record.revision)])
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  func testOnlyWhatIsSubscribedHasARecord() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.register()
    let early = try device.newMailbox()
    XCTAssertEqual(
      try device.ask(.subscribe(token: device.token, [early.credentials])).result, .refused(.authorization))
    XCTAssertEqual(store.count(.subscriptions), 0, "it is not verified")
    XCTAssertEqual(try device.ask(.verify(token: device.token, device.code())).tokenStatus, .active)
    let mailboxes = try device.subscribedMailboxes(2)
    XCTAssertEqual(store.count(.subscriptions), 2)
    _ = try device.ask(.unsubscribe(token: device.token, [mailboxes[0].notifier.bytes]))
    XCTAssertEqual(store.count(.subscriptions), 1)
    try device.receive("hello", in: mailboxes[1])
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    XCTAssertEqual(try device.ask(.delete(token: device.token)).result, .done)
    XCTAssertEqual(store.count(.subscriptions), 0)
  }

  /// A device resubscribes after that was stored and before its record is removed, or during the removal.
  func testWhatIsSubscribedAgainKeepsItsRecord() throws {
    for bucket in [SharedKey.Bucket.answers, .subscriptions] {
      let world = try World()
      let device = try Device(world)
      try device.activate()
      let mailbox = try device.subscribedMailboxes(1)[0]
      try device.send(.unsubscribe(token: device.token, [mailbox.notifier.bytes]))
      try before(world, bucket) {
        try device.send(.subscribe(token: device.token, [mailbox.credentials]))
        try world.servers[1].serve()
      }
      try world.servers[0].serve()
      while try device.answer() != nil {}
      try device.receive("hello", in: mailbox)
      try runLong(world)
      XCTAssertEqual(try world.bundles(for: device).count, 1, "\(bucket)")
    }
  }

  // MARK: Again

  func testANotificationThatTwoServersGetIsPushedOnce() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try device.receive("hello", in: try device.subscribedMailboxes(1)[0])
    try before(world) {
      let other = world.servers[1]
      try other.serve()
      let push = try XCTUnwrap(try other.nextPush(for: "apns_test"))
      try other.finish(push, world.provider.deliverWithRetry(push.push))
    }
    try world.servers[0].serve()
    try runLong(world)
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  /// The server that woke the device has stored that, and has not added what follows.
  func testWakeUpsContinueAfterAServerThatEnded() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    try device.send(.setPeriod(token: device.token, minutes: 20))
    try world.servers[0].serve()
    world.clock.advance(by: .seconds(20 * 60))
    // It takes the wake-up, reads the token, stores it, and is to add the push and the next wake-up.
    store.failNextAdd()
    try world.servers[0].serve()
    XCTAssertFalse(store.isAddFailing)
    try runLong(world)
    XCTAssertEqual(world.provider.take().count { $0.type == .background }, 1)
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(20 * 60))
      try runLong(world)
      XCTAssertEqual(world.provider.take().count { $0.type == .background }, 1)
    }
    XCTAssertEqual(store.waitingWakes, 1)
  }

  // MARK: Unused

  func testATokenThatIsNotUsedExpiresThoughItGetsNothing() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    world.clock.advance(by: .days(366))
    try world.run()
    let server = try XCTUnwrap(world.server as? SharedServer)
    try server.load([device.token])
    XCTAssertEqual(server.loaded[device.token]?.document.state, "expired")
  }
}
