import PorterPlatform
import PorterPush
import XCTest

@testable import PorterServer

/// Work that servers take from each other, and what must not happen to it.
final class SharedWorkTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private static let queue = "push-apns_test"

  /// An active device with a due message.
  private func deviceWithMessage(_ world: World) throws -> Device {
    let device = try Device(world)
    try device.activate()
    try device.receive("hello", in: device.subscribedMailboxes(1)[0])
    try world.servers[0].serve()
    return device
  }

  func testPushesThatAreTakenInVainAreAnothersAfterTheLease() throws {
    let world = try World()
    let (device, store) = (try deviceWithMessage(world), try XCTUnwrap(world.store))
    try store.add([SharedWork(Self.queue, device.token + Array("message".utf8))])
    // Takes both, reads the token, and ends the second one, since the first sends everything.
    store.fail(call: 3, .requestLost)
    XCTAssertThrowsError(try world.servers[0].nextPushes(for: "apns_test", count: 2, underWay: []))
    XCTAssertTrue(store.hasFailed)
    for _ in 0..<4 {
      world.clock.advance(by: .seconds(2))
      try world.servers[0].serve()
    }
    XCTAssertNotNil(try world.servers[1].nextPush(for: "apns_test"))
  }

  func testAnIdleServerLooksEachSecond() throws {
    let world = try World()
    try world.run()
    XCTAssertLessThanOrEqual(try world.server.nextDeadline(), world.clock.now() + .seconds(1))
    _ = try deviceWithMessage(world)
    XCTAssertNotNil(try world.server.nextPush(for: "apns_test"))
    for _ in 0..<20 {
      let next = try world.server.nextDeadline()
      world.clock.advance(by: max(.milliseconds(1), next - world.clock.now()))
      try world.server.serve(isWoken: false)
      XCTAssertNil(try world.servers[1].nextPush(for: "apns_test"), "its lease has ended")
    }
  }

  func testTheAttemptAfterAnOutageDropsNoOtherPush() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    try world.endSpareWork()
    world.clock.advance(by: .seconds(20 * 60))
    try world.servers[0].serve()
    try device.receive("hello", in: mailbox)
    try world.servers[0].serve()
    XCTAssertEqual(world.store?.waiting(Self.queue), 2)
    world.provider.answer(then: .unreachable(.closed))
    try world.run()
    world.provider.answer(then: .accepted)
    _ = world.provider.take()
    for _ in 0..<5 {
      world.clock.advance(by: .seconds(61))
      try world.run()
    }
    XCTAssertEqual(world.provider.take().count, 2)
  }

  /// It may have become due again, and the other server added no work because some existed.
  func testWorkIsKeptWhileItsTokenChanges() throws {
    let world = try World()
    let (device, store) = (try deviceWithMessage(world), try XCTUnwrap(world.store))
    let key = TokenDocument.key(device.token)
    let record = try XCTUnwrap(try store.records([key])[0])
    let usable = try TokenDocument(decoding: record.bytes)
    var unusable = usable
    unusable.state = "expired"
    let revision = try XCTUnwrap(
      try store.replace([SharedChange(key, unusable.encoded(), revision: record.revision)])[0])
    let change = Change { _ = try store.replace([SharedChange(key, usable.encoded(), revision: revision)]) }
    store.beforeReplacement { change.run() }
    XCTAssertNil(try world.server.nextPush(for: "apns_test"))
    world.clock.advance(by: .seconds(1))
    XCTAssertNotNil(try world.server.nextPush(for: "apns_test"))
  }

  /// Something that another server does at the worst moment.
  private struct Change: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  // MARK: Ending

  func testAServerThatEndsTakesNothingNew() throws {
    let world = try World()
    let devices = try (0..<3).map { _ in try Device(world) }
    for device in devices { try device.activate() }
    let mailboxes = try devices.map { try $0.subscribedMailboxes(1)[0] }
    try world.endSpareWork()
    for (device, mailbox) in zip(devices, mailboxes) { try device.receive("hello", in: mailbox) }
    try world.server.serve()
    let attempts = world.provider.attempts
    let stop = try XCTUnwrap(WakeDescriptor())
    stop.raise()
    let server = try XCTUnwrap(world.server as? SharedServer)
    try ServerLoop(
      any: server, providers: ["apns_test": world.provider], senders: [:], status: ServerStatus(), stop: stop,
      drains: { true }, clock: world.clock
    ).run()
    XCTAssertEqual(world.provider.attempts, attempts + 1, "it had one under way")
    XCTAssertEqual(world.store?.waiting(Self.queue), 2)
  }

  func testAServerThatEndsKeepsWhatItHas() throws {
    let world = try World()
    _ = try deviceWithMessage(world)
    XCTAssertNotNil(try world.server.nextPush(for: "apns_test"))
    for _ in 0..<5 {
      world.clock.advance(by: .seconds(2))
      (world.server as? SharedServer)?.drain()
      XCTAssertNil(try world.servers[1].nextPush(for: "apns_test"))
    }
  }

  // MARK: Being ready

  func testAServerWithoutItsClusterIsNotReady() throws {
    let world = try World()
    let (server, status) = (try XCTUnwrap(world.server as? SharedServer), ServerStatus())
    try server.serve()
    status.update(server.problems, isServing: true)
    XCTAssertTrue(status.isReady)
    world.store?.fail(call: 1, .requestLost)
    world.clock.advance(by: WorkLooks.interval)
    try server.serve()
    status.update(server.problems, isServing: true)
    XCTAssertFalse(status.isReady)
  }
}
