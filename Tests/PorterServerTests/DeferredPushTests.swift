import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import XCTest

@testable import PorterServer

/// Pushes that a provider wants later.
final class DeferredPushTests: XCTestCase {
  /// A world with two devices, each with a mailbox.
  private func begin() throws -> (World, [(device: Device, mailbox: Device.Mailbox)]) {
    let world = try World()
    let devices = try (0..<2).map { _ in
      let device = try Device(world)
      try device.activate()
      return (device: device, mailbox: try device.subscribedMailboxes(1)[0])
    }
    return (world, devices)
  }

  func testADeferredPushComesWhenItIsDueAndDelaysNoOther() throws {
    let (world, devices) = try begin()
    world.provider.answer([.later(seconds: 90)], then: .accepted)
    try devices[0].device.receive("hello", in: devices[0].mailbox)
    try world.run()
    XCTAssertEqual(world.provider.take().count, 0)
    try devices[1].device.receive("hello", in: devices[1].mailbox)
    try world.run()
    XCTAssertEqual(world.provider.take().map(\.pushToken), [devices[1].device.pushToken], "the provider is not paused")
    XCTAssertLessThanOrEqual(try world.server.nextDeadline() - world.clock.now(), .seconds(90))
    world.clock.advance(by: .milliseconds(89_999))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 0)
    world.clock.advance(by: .milliseconds(1))
    try world.run()
    XCTAssertEqual(world.provider.take().map(\.pushToken), [devices[0].device.pushToken])
  }

  func testItSurvivesARestartAndHasWhatCameMeanwhile() throws {
    let (world, devices) = try begin()
    let (device, mailbox) = devices[0]
    let other = try device.subscribedMailboxes(1)[0]
    world.provider.answer([.later(seconds: 90)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    try world.restart()
    try device.receive("more", in: other)
    try world.run()
    XCTAssertEqual(world.provider.take().count, 0, "what comes meanwhile does not hurry it")
    world.clock.advance(by: .seconds(90))
    try world.run()
    let bundles = try world.bundles(for: device)
    XCTAssertEqual(bundles.map { Set($0.entries.map(\.notifier)) }, [[mailbox.notifier.bytes, other.notifier.bytes]])
  }

  func testATimeThatIsFarAwayIsADay() throws {
    let (world, devices) = try begin()
    world.provider.answer([.later(seconds: 1_000_000)], then: .accepted)
    try devices[0].device.receive("hello", in: devices[0].mailbox)
    try world.run()
    world.clock.advance(by: .days(1))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }

  func testItComesAlthoughTheClockIsSetBack() throws {
    let (world, devices) = try begin()
    world.provider.answer([.later(seconds: 90)], then: .accepted)
    try devices[0].device.receive("hello", in: devices[0].mailbox)
    try world.run()
    world.clock.stepWall(by: .days(-3))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }

  func testAnotherPushTokenIsTriedImmediately() throws {
    let (world, devices) = try begin()
    let device = devices[0].device
    world.provider.answer([.later(seconds: 90)], then: .accepted)
    try device.receive("hello", in: devices[0].mailbox)
    try world.run()
    let token = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    _ = try device.ask(.replace(token: device.token, with: token))
    try world.run()
    XCTAssertEqual(world.provider.take().map(\.pushToken), [token])
  }

  func testManyThatAreDueTogetherAreReleasedInSlices() throws {
    let (world, _) = try begin()
    let database = world.state.database
    for number in 1...300 {
      try database.run(
        """
        INSERT INTO token (number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code,
          state, used_at) VALUES (?1, randomblob(24), 'apns_test', randomblob(8), 0, x'00', x'00', x'00', x'00', x'00', 'active', ?2)
        """, [.integer(Int64(1_000 + number)), .integer(world.clock.wall().milliseconds)])
      try database.run(
        "INSERT INTO push (token, kind, provider, due_at) VALUES (?1, 'wake', 'apns_test', ?2)",
        [.integer(Int64(1_000 + number)), .integer(world.clock.wall().milliseconds)])
    }
    var waiting: [Int64] = []
    repeat {
      try world.server.serve()
      waiting.append(try database.integer("SELECT count(*) FROM push WHERE due_at > 0") ?? -1)
    } while world.server.hasMoreToDo
    XCTAssertEqual(waiting, [172, 44, 0])
  }

  /// Pushes of a state of an earlier version are due.
  func testPushesOfAnEarlierVersionAreDue() throws {
    let world = try World()
    let path = world.directory.appendingPathComponent("earlier.db").path
    let database = try Database(path: path)
    for migration in ServerState.migrations.prefix(3) { try database.execute(migration) }
    try database.execute("PRAGMA application_id = \(0x4E50_7376)")
    try database.setUserVersion(3)
    try database.execute("PRAGMA foreign_keys = OFF")
    try database.run("INSERT INTO push (token, kind, provider) VALUES (7, 'wake', 'apns_test')")
    try database.close()
    let state = try ServerState(path: path, access: .serve)
    XCTAssertEqual(try state.duePushes(provider: "apns_test", limit: 9).map(\.token), [7])
    XCTAssertNil(try state.nextDeferredPush())
    try state.close()
  }
}
