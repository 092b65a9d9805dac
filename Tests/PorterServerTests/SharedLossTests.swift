import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Pushes that must not be lost after a server was away for a long time, or when the cluster forgets what it has
/// acknowledged.
final class SharedLossTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private static let queue = "push-apns_test"

  private func settle(_ world: World) throws {
    for _ in 0..<10 {
      world.clock.advance(by: .seconds(7))
      try world.run()
    }
  }

  // MARK: Late outcomes

  /// A server was frozen while it sent a push. Another one has sent it as well, and the next message has arrived.
  func testTheOutcomeOfAnEarlierPushEndsNoLaterOne() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let (frozen, other) = (world.servers[0], world.servers[1])
    for round in 1...3 {
      try device.receive("one", in: mailbox)
      try other.serve()
      world.clock.advance(by: WorkLooks.interval)
      let late = try XCTUnwrap(try frozen.nextPush(for: "apns_test"), "round \(round)")
      store.endLeases()
      let repeated = try XCTUnwrap(try other.nextPush(for: "apns_test"))
      try other.finish(repeated, world.provider.deliverWithRetry(repeated.push))
      try device.receive("two", in: mailbox)
      try other.serve()
      XCTAssertEqual(try world.bundles(for: device).count, 1)
      try frozen.finish(late, .accepted)
      try settle(world)
      XCTAssertEqual(try world.bundles(for: device).count, 1, "round \(round)")
      try device.fetchAll(mailbox)
    }
  }

  // MARK: After trouble

  /// A push that is due in the cluster, which then fails a call.
  private func troubled(
    _ world: World, _ body: (MemoryStore, Device, Device.Mailbox) throws -> Void
  ) throws -> (Device, Device.Mailbox) {
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try body(store, device, mailbox)
    store.fail(call: 1, .requestLost)
    world.clock.advance(by: WorkLooks.interval)
    try world.servers[0].serve()
    XCTAssertTrue(store.hasFailed)
    store.fail(call: .max, .requestLost)
    return (device, mailbox)
  }

  func testWorkThatIsLostInTroubleIsAddedWhenItIsOver() throws {
    let world = try World()
    let (device, _) = try troubled(world) { store, device, mailbox in
      try device.receive("hello", in: mailbox)
      try world.servers[0].serve()
      store.lose(Self.queue)
    }
    try settle(world)
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  func testANotificationThatIsUndoneInTroubleIsTakenAgainWhenItIsOver() throws {
    let world = try World()
    let (device, mailbox) = try troubled(world) { store, device, mailbox in
      let key = TokenDocument.key(device.token)
      let before = try XCTUnwrap(try store.records([key])[0])
      try device.receive("hello", in: mailbox)
      try world.servers[0].serve()
      let after = try XCTUnwrap(try store.records([key])[0])
      XCTAssertNotNil(try store.replace([SharedChange(key, before.bytes, revision: after.revision)])[0])
    }
    try settle(world)
    let bundles = try world.bundles(for: device)
    XCTAssertEqual(bundles.map(\.entries.count), [1])
    XCTAssertEqual(bundles.first?.entries.first?.notifier, mailbox.notifier.bytes)
  }

  /// The document that watches the notifier was undone along with the notification. The token subscribes again some
  /// seconds later.
  func testANotificationWaitsForASubscriptionThatWasUndoneInTrouble() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let key = TokenDocument.key(device.token)
    let before = try XCTUnwrap(try store.records([key])[0])
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    try world.servers[0].serve()
    let after = try XCTUnwrap(try store.records([key])[0])
    XCTAssertNotNil(try store.replace([SharedChange(key, before.bytes, revision: after.revision)])[0])
    store.fail(call: 1, .requestLost)
    world.clock.advance(by: WorkLooks.interval)
    try world.servers[0].serve()
    XCTAssertTrue(store.hasFailed)
    // It is taken again, and one more call fails in the middle of that.
    for call in [Int.max, 3, Int.max] {
      store.fail(call: call, .requestLost)
      world.clock.advance(by: .seconds(6))
      try world.servers[0].serve()
      XCTAssertEqual(store.hasFailed, call < .max)
    }
    XCTAssertEqual(world.provider.take().count, 0)
    XCTAssertEqual(
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)]))
    try settle(world)
    XCTAssertEqual(try world.bundles(for: device).map(\.entries.count), [1])
  }

  func testWhatWasPushedIsNotPushedAgainAfterTrouble() throws {
    let world = try World()
    _ = try troubled(world) { store, device, mailbox in
      for _ in 0..<3 {
        try device.receive("hello", in: mailbox)
        try world.run()
        world.clock.advance(by: .seconds(1))
      }
      XCTAssertEqual(try world.bundles(for: device).count, 3)
      // More than a token has at a time.
      for mailbox in try device.subscribedMailboxes(8) {
        try device.receive("hello", in: mailbox)
        try world.run()
        world.clock.advance(by: .seconds(1))
      }
      XCTAssertEqual(try world.bundles(for: device).count, 8)
    }
    try settle(world)
    XCTAssertEqual(world.provider.take().count, 0)
  }

  // MARK: Old documents

  /// A node that was cut off answers with the document from before the push, although the leader has taken the probe.
  func testWorkIsNotEndedByADocumentFromBeforeItsPush() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try world.endSpareWork()
    XCTAssertEqual(store.waiting(Self.queue), 0)
    let before = try store.records([TokenDocument.key(device.token)])
    try device.receive("hello", in: mailbox)
    try world.servers[0].serve()
    for server in world.servers {
      store.lag(as: try XCTUnwrap(before[0]), of: TokenDocument.key(device.token))
      XCTAssertNil(try server.nextPush(for: "apns_test"))
      XCTAssertNil(try server.nextPush(for: "apns_test"))
      // The lease may end earlier if the cluster does not learn of the postponement.
      store.endLeases()
    }
    store.endLag()
    world.clock.advance(by: FinishedWork.pause)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    try world.endSpareWork()
    XCTAssertEqual(store.waiting(Self.queue), 0)
  }

  /// The same work may be given out for a long time, and a server may find it finished twice in all that time.
  func testWorkThatIsDueAfterAllIsFoundOverAnew() {
    var finished = FinishedWork()
    let work = TakenWork(number: 1, bytes: [1], handle: "", times: 1, addedAt: 0)
    let other = TakenWork(number: 2, bytes: [1], handle: "", times: 1, addedAt: 0)
    let begin = Moment(nanoseconds: 0)
    XCTAssertFalse(finished.isConfirmed(work, now: begin))
    XCTAssertFalse(finished.isConfirmed(other, now: begin + .seconds(6)))
    XCTAssertFalse(finished.isConfirmed(work, now: begin + .seconds(11)), "too early")
    XCTAssertTrue(finished.isConfirmed(work, now: begin + .seconds(12)))
    finished.forget(other)
    XCTAssertFalse(finished.isConfirmed(other, now: begin + .seconds(18)))
  }

  // MARK: Lost work

  func testTheDailyCheckAddsPushesWhoseWorkWasLost() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    try device.receive("hello", in: try device.subscribedMailboxes(1)[0])
    try world.server.serve()
    store.lose(Self.queue)
    try settle(world)
    XCTAssertEqual(world.provider.take().count, 0)
    world.clock.advance(by: .days(1) + .seconds(61))
    try settle(world)
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    XCTAssertEqual(store.waiting(Self.queue), 0)
  }

  func testTheDailyCheckAddsAWakeUpWhoseWorkWasLost() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    store.loseWakes()
    world.clock.advance(by: .days(1) + .seconds(61))
    try settle(world)
    XCTAssertEqual(world.provider.take().count { $0.type == .background }, 1)
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(20 * 60))
      try settle(world)
      XCTAssertEqual(world.provider.take().count { $0.type == .background }, 1)
    }
    XCTAssertEqual(store.waitingWakes, 1)
  }

  /// A push waiting for its time has its work item.
  func testTheDailyCheckAddsNoSecondWakeUp() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 3 * 24 * 60)).result, .done)
    for _ in 0..<2 {
      world.clock.advance(by: .days(1) + .seconds(61))
      try world.run()
    }
    XCTAssertEqual(store.waitingWakes, 1)
  }
}
