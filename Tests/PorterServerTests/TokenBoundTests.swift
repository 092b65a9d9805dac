import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import XCTest

@testable import PorterServer

class TokenBoundTests: XCTestCase {
  private let refused = "state: tokens: 2, which is the limit; no more are registered"

  private func world() throws -> World {
    let world = try World()
    world.tokens = 2
    try world.restart()
    return world
  }

  private func problems(_ world: World) -> [String] { Set(world.servers.flatMap(\.problems)).map(\.description) }

  func testARegistrationBeyondTheBoundIsRefusedAndTokensThatAreThereWork() throws {
    let world = try world()
    let devices = try (0..<3).map { _ in try Device(world) }
    try devices[0].activate()
    let mailbox = try devices[0].subscribedMailboxes(1)[0]
    XCTAssertEqual(problems(world), [])
    try devices[1].register()
    for _ in 0..<5 { XCTAssertEqual(try devices[2].ask(devices[2].newToken).result, .refused(.quota)) }
    XCTAssertEqual(problems(world), [refused])
    XCTAssertEqual(
      world.lines.all.count { $0.contains("no more tokens are registered") },
      Set(world.servers.map(ObjectIdentifier.init)).count,
      "each server says so once")
    // Registered again, verified, replaced, subscribed and pushed to.
    try devices[0].register()
    try devices[1].activate()
    let other = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    XCTAssertEqual(try devices[1].ask(.replace(token: devices[1].token, with: other)).tokenStatus, .registered)
    _ = try devices[0].subscribedMailboxes(1)
    _ = world.provider.take()
    try devices[0].receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: devices[0]).last?.entries.map(\.notifier), [mailbox.notifier.bytes])
  }

  func testADeletedTokenMakesRoom() throws {
    let world = try world()
    let devices = try (0..<3).map { _ in try Device(world) }
    for device in devices[..<2] { try device.register() }
    XCTAssertEqual(try devices[2].ask(devices[2].newToken).result, .refused(.quota))
    XCTAssertEqual(problems(world), [refused])
    XCTAssertEqual(try devices[0].ask(.delete(token: devices[0].token)).result, .done)
    try devices[2].activate()
    XCTAssertEqual(try devices[1].ask(.delete(token: devices[1].token)).result, .done)
    // With two servers, each looks every few seconds.
    world.clock.advance(by: .seconds(5))
    try world.run()
    XCTAssertEqual(problems(world), [])
    XCTAssertTrue(world.lines.all.contains { $0.contains("tokens are registered again") })
  }

  func testARefusedRegistrationLeavesNothing() throws {
    let world = try world()
    let devices = try (0..<2).map { _ in try Device(world) }
    for device in devices { try device.register() }
    let before = try contents(world)
    let strangers = try (0..<20).map { _ in try Device(world) }
    for stranger in strangers { XCTAssertEqual(try stranger.ask(stranger.newToken).result, .refused(.quota)) }
    XCTAssertEqual(try contents(world), before)
  }

  private func contents(_ world: World) throws -> [Int] {
    if let store = world.store { return SharedKey.Bucket.allCases.map(store.count) }
    let database = world.state.database
    return try ["token", "request", "push"].map { Int(try database.integer("SELECT count(*) FROM \($0)") ?? -1) }
  }

  func testAServerThatStartsWithTooManySaysSo() throws {
    let world = try World()
    for _ in 0..<3 { try Device(world).register() }
    world.tokens = 2
    try world.restart()
    XCTAssertEqual(problems(world), [refused])
  }
}

/// Every notification of a mailbox is stored for each token that watches it.
final class WatcherBoundTests: XCTestCase {
  func testATokenThatIsOverMakesRoom() throws {
    let world = try World()
    let server = try XCTUnwrap(world.server as? NotificationServer)
    server.maximumWatchers = 2
    let devices = try (0..<3).map { _ in try Device(world) }
    for device in devices { try device.activate() }
    let mailbox = try devices[0].subscribedMailboxes(1)[0]
    func subscribe(_ device: Device) throws -> ServerAnswer.Result {
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result
    }
    let admitted = ServerAnswer.Result.subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)])
    XCTAssertEqual(try subscribe(devices[1]), admitted)
    XCTAssertEqual(try subscribe(devices[2]), .refused(.quota))
    try server.state.database.execute(
      "UPDATE token SET state = 'expired' WHERE number = (SELECT min(token) FROM subscription)")
    XCTAssertEqual(try subscribe(devices[2]), admitted)
    XCTAssertEqual(try subscribe(devices[1]), admitted, "it has a subscription already")
  }

  func testATokenTooManyForAMailboxIsRefused() throws {
    let world = try World()
    try XCTUnwrap(world.server as? NotificationServer).maximumWatchers = 2
    let devices = try (0..<3).map { _ in try Device(world) }
    for device in devices { try device.activate() }
    let mailbox = try devices[0].subscribedMailboxes(1)[0]
    func subscribe(_ device: Device) throws -> ServerAnswer.Result {
      try device.ask(.subscribe(token: device.token, [mailbox.credentials])).result
    }
    let admitted = ServerAnswer.Result.subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)])
    XCTAssertEqual(try subscribe(devices[1]), admitted)
    XCTAssertEqual(try subscribe(devices[2]), .refused(.quota))
    XCTAssertEqual(try subscribe(devices[0]), admitted, "it has a subscription already")
    try devices[0].receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(Set(world.provider.take().map(\.pushToken)), [devices[0].pushToken, devices[1].pushToken])
    _ = try devices[1].ask(.unsubscribe(token: devices[1].token, [mailbox.notifier.bytes]))
    XCTAssertEqual(try subscribe(devices[2]), admitted)
  }
}

final class SharedTokenBoundTests: TokenBoundTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }
  override func testADeletedTokenMakesRoom() throws { try super.testADeletedTokenMakesRoom() }
}

/// The number is stored, and not counted on each request.
final class TokenCountTests: XCTestCase {
  func testItFollowsEveryWayInWhichATokenComesAndGoes() throws {
    let world = try World()
    func assertCount(_ expected: Int, line: UInt = #line) throws {
      XCTAssertEqual(try world.state.tokenCount(), expected, line: line)
      XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM token"), Int64(expected), line: line)
    }
    let device = try Device(world)
    let others = try (0..<2).map { _ in try Device(world, pushToken: device.pushToken.bytes) }
    for other in others { try other.register() }
    try device.register()
    try assertCount(3)
    try device.activate()
    try assertCount(1)
    try Device(world).register()
    // Like porter-admin, in its own process.
    let administration = ServerAdministration(state: world.statePath)
    XCTAssertTrue(try administration.revoke(try administration.tokens(TextEncoding.base64URL(device.token))[0]))
    try assertCount(1)
    try world.restart()
    try assertCount(1)
  }

  func testARegistrationCostsTheSameWithManyTokens() throws {
    let world = try World()
    let device = try Device(world)
    try device.register()
    func cost() throws -> Int {
      let before = world.state.database.instructions
      try Device(world).register()
      return world.state.database.instructions - before
    }
    _ = try cost()
    let few = try cost()
    try world.state.database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO token (id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state, used_at)
        SELECT randomblob(24), 'apns_dev', randomblob(32), 0, randomblob(32), client_box_key, box_key, push_key, code, state, used_at
        FROM (SELECT * FROM token LIMIT 1), n
      """)
    let many = try cost()
    XCTAssertLessThan(many, few + 100, "it was \(few)")
    XCTAssertGreaterThan(try world.state.tokenCount(), 3_000)
  }
}
