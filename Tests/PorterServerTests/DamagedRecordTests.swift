import PorterPlatform
import PorterPush
import PorterStore
import XCTest

@testable import PorterServer

private let first = "(SELECT min(number) FROM token)"

private struct Damage {
  let world: World
  /// The device whose records are damaged.
  let device: Device
  let mailbox: Device.Mailbox
  let healthy: Device
  let healthyMailbox: Device.Mailbox

  init() throws {
    world = try World()
    (device, healthy) = (try Device(world), try Device(world))
    try device.activate()
    mailbox = try device.subscribedMailboxes(1)[0]
    try healthy.activate()
    healthyMailbox = try healthy.subscribedMailboxes(1)[0]
    try world.run()
    _ = world.provider.take()
  }

  /// `statement` concerns the first token or its records.
  func damage(_ statement: String) throws {
    guard world.store == nil else { return try damageDocument(statement) }
    try world.state.database.execute(statement)
  }

  /// As it would be in the cluster.
  private func damageDocument(_ statement: String) throws {
    let store = try XCTUnwrap(world.store)
    let key = TokenDocument.key(device.token)
    let record = try XCTUnwrap(try store.records([key])[0])
    let document = try TokenDocument(decoding: record.bytes)
    try world.state.transaction { () throws(ServerError) in
      try world.state.beginWork()
      try world.state.load(document)
    }
    try world.state.database.execute(statement)
    let damaged = try XCTUnwrap(try world.state.documents().first)
    XCTAssertNotNil(try store.replace([SharedChange(key, damaged.encoded(), revision: record.revision)])[0])
  }

  func assertHealthyDeviceIsPushedTo(file: StaticString = #filePath, line: UInt = #line) throws {
    try healthy.receive("hello", in: healthyMailbox)
    try world.run()
    let pushed = world.provider.take().map(\.pushToken)
    XCTAssertTrue(pushed.contains(healthy.pushToken), "the other device got no push", file: file, line: line)
  }

  var problems: Set<String> { Set(world.servers.flatMap(\.problems).map(\.description)) }
}

/// A damaged record concerns one device: the others get their pushes, even after a restart (INC-44).
class DamagedRecordTests: XCTestCase {
  private func assertContained(
    _ statement: String, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let damage = try Damage()
    try damage.damage(statement)
    for isRestarted in [false, true] {
      if isRestarted { try damage.world.restart() }
      try damage.device.receive("hello", in: damage.mailbox)
      try damage.assertHealthyDeviceIsPushedTo(file: file, line: line)
      damage.world.clock.advance(by: ServerTimes.subscriptionCheckInterval)
      try damage.world.run()
      XCTAssertEqual(damage.problems, ["state: damaged records: 1"], file: file, line: line)
    }
  }

  func testATokenWhoseStateDoesNotReadKeepsNoOtherFromBeingServed_INC44() throws {
    try assertContained("UPDATE token SET state = 'activf' WHERE number = \(first)")
  }

  func testASubscriptionWhoseStatusDoesNotReadKeepsNoOtherFromBeingServed_INC44() throws {
    try assertContained("UPDATE subscription SET status = 'ACTIVF' WHERE token = \(first)")
  }
}

final class DamagedTokenTests: XCTestCase {
  func testAWakeUpOfADamagedTokenKeepsItsPlace() throws {
    let damage = try Damage()
    for device in [damage.device, damage.healthy] {
      XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    }
    try damage.damage("UPDATE token SET state = 'activf' WHERE number = \(first)")
    try damage.world.runAtDeadlines(for: .seconds(20 * 60 + 1))
    XCTAssertEqual(damage.world.provider.take().map(\.pushToken), [damage.healthy.pushToken])
    XCTAssertEqual(damage.problems, ["state: damaged records: 1"])
    try damage.damage("UPDATE token SET state = 'active' WHERE number = \(first)")
    try damage.world.runAtDeadlines(for: .seconds(60 * 60))
    XCTAssertEqual(
      Set(damage.world.provider.take().map(\.pushToken)), [damage.device.pushToken, damage.healthy.pushToken])
    XCTAssertEqual(damage.problems, [], "it is mended")
  }

  func testAnUnusedTokenThatIsDamagedKeepsNoOtherFromExpiring() throws {
    let damage = try Damage()
    try damage.damage("UPDATE token SET state = 'activf' WHERE number = \(first)")
    damage.world.clock.advance(by: ServerTimes.tokenRetention + .seconds(3_600))
    try damage.world.run()
    XCTAssertEqual(try damage.healthy.status(), .expired)
  }

  func testAnOutcomeForADamagedTokenIsRecorded() throws {
    let damage = try Damage()
    try damage.device.receive("hello", in: damage.mailbox)
    try damage.world.server.serve()
    let push = try XCTUnwrap(try damage.world.server.nextPush(for: "apns_test"))
    try damage.damage("UPDATE token SET state = 'activf' WHERE number = \(first)")
    try damage.world.server.finish(push, .invalid(.unregistered))
    XCTAssertEqual(try damage.world.state.database.integer("SELECT count(*) FROM push"), 0)
    try damage.assertHealthyDeviceIsPushedTo()
  }

  func testADamagedNotificationDoesNotAffectItsNeighbours_INC44() throws {
    let damage = try Damage()
    let other = try damage.device.subscribedMailboxes(1)[0]
    try damage.device.receive("one", in: damage.mailbox)
    try damage.device.receive("two", in: other)
    try damage.world.server.serve()
    try damage.damage("UPDATE notification SET nonce = x'00' WHERE sequence = (SELECT min(sequence) FROM notification)")
    try damage.world.run()
    XCTAssertEqual(try damage.world.bundles(for: damage.device).map(\.entries.count), [1])
    XCTAssertEqual(damage.problems, ["state: damaged records: 1"])
  }
}

final class SharedDamagedRecordTests: DamagedRecordTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }
  override func testATokenWhoseStateDoesNotReadKeepsNoOtherFromBeingServed_INC44() throws {
    try super.testATokenWhoseStateDoesNotReadKeepsNoOtherFromBeingServed_INC44()
  }
}
