import PorterPlatform
import PorterPush
import XCTest

@testable import PorterServer

/// A token expires when its client has not been in contact for a year, whatever the wall clock shows in that time.
class UnusedTokenTests: XCTestCase {
  private static let long = Span.days(400)

  func testATokenThatIsNotUsedForAYearExpires() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    world.clock.advance(by: ServerTimes.tokenRetention - .days(1))
    XCTAssertEqual(try device.status(), .active)
    world.clock.advance(by: ServerTimes.tokenRetention - .days(1))
    try world.run()
    XCTAssertEqual(try device.status(), .active, "it was used a year before, less a day")
    world.clock.advance(by: ServerTimes.tokenRetention + .seconds(3_600))
    try world.run()
    XCTAssertEqual(try device.status(), .expired)
  }

  /// 30 days after it expired. Its client registers it again when it is back.
  func testAnExpiredTokenIsDeletedAndMakesRoom() throws {
    let world = try World()
    world.tokens = 1
    try world.restart()
    let device = try Device(world)
    try device.activate()
    _ = try device.subscribedMailboxes(2)
    world.clock.advance(by: ServerTimes.tokenRetention + ServerTimes.unusableRetention - .days(1))
    try world.run()
    let other = try Device(world)
    XCTAssertEqual(try other.ask(other.newToken).result, .refused(.quota), "the expired token is still there")
    try assertIsDeleted(device, after: .days(2))
    try other.activate()
  }

  /// Never verified; and refused by its provider.
  func testATokenThatGetsNoPushesIsDeletedWhenItsClientIsGoneFor30Days() throws {
    let world = try World()
    let (unverified, refused, active) = (try Device(world), try Device(world), try Device(world))
    try unverified.register()
    try active.activate()
    world.provider.answer([.invalid(.bad)], then: .accepted)
    try refused.register()
    try world.run()
    XCTAssertEqual(try refused.status(), .invalidBad)
    world.clock.advance(by: ServerTimes.unusableRetention - .days(1))
    XCTAssertEqual(try refused.status(), .invalidBad, "contact with its client, which keeps it")
    try assertIsDeleted(unverified, after: .days(2))
    try assertIsDeleted(refused, after: ServerTimes.unusableRetention)
    XCTAssertEqual(try active.status(), .active)
  }

  private func assertIsDeleted(_ device: Device, after span: Span, line: UInt = #line) throws {
    device.world.clock.advance(by: span)
    try device.world.run()
    let answer = try device.ask(.check(token: device.token))
    XCTAssertEqual(answer.result, .refused(.authorization), line: line)
    XCTAssertNil(answer.tokenStatus, line: line)
  }

  func testAClockThatWasBehindUntilItWasSetExpiresNoToken_INC14() throws {
    let world = try World()
    world.clock.stepWall(by: .zero - Self.long)
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.clock.stepWall(by: Self.long)
    try assertIsPushedTo(device, mailbox, after: world.restart)
  }

  func testAClockThatIsPutForwardExpiresNoToken_INC14() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.clock.stepWall(by: Self.long)
    try assertIsPushedTo(device, mailbox, after: world.restart)
    world.clock.stepWall(by: .zero - Self.long)
    world.clock.advance(by: .seconds(3_600))
    try assertIsPushedTo(device, mailbox, after: world.run)
  }

  private func assertIsPushedTo(
    _ device: Device, _ mailbox: Device.Mailbox, after body: () throws -> Void, line: UInt = #line
  ) throws {
    try body()
    try device.world.run()
    _ = device.world.provider.take()
    try device.receive("hello", in: mailbox)
    try device.world.run()
    XCTAssertEqual(device.world.provider.take().count, 1, line: line)
    XCTAssertEqual(try device.status(), .active, line: line)
  }
}

final class SharedUnusedTokenTests: UnusedTokenTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  func testWhileTheClocksOfServerAndClusterDifferNoTokenExpires_INC14() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let store = try XCTUnwrap(world.store)
    store.stepClock(by: .days(400))
    world.clock.advance(by: .seconds(60))
    try world.run()
    XCTAssertEqual(try device.status(), .active)
    XCTAssertEqual(
      Set(world.servers.flatMap(\.problems).map(\.description)),
      ["state: the clock differs from the cluster's by -34560000 s; unused tokens do not expire"])
    store.stepClock(by: .zero - .days(400))
    world.clock.advance(by: .seconds(60))
    try world.run()
    XCTAssertTrue(world.servers.allSatisfy(\.problems.isEmpty))
  }
}

final class StateAgeTests: XCTestCase {
  func testAgeGrowsByTheTimeOfOneBootAndStandsStillBetweenTwo() {
    let (minute, hour) = (Moment(nanoseconds: 60_000_000_000), Moment(nanoseconds: 3_600_000_000_000))
    XCTAssertEqual(StateAge(nil, boot: "a", now: minute).value(at: hour), 3_540_000)
    let stored = StateAge.Stored(boot: "a", moment: minute, age: 5)
    XCTAssertEqual(StateAge(stored, boot: "a", now: hour).value(at: hour), 3_540_005, "it counts while no server runs")
    XCTAssertEqual(StateAge(stored, boot: "b", now: hour).value(at: hour), 5)
    let later = StateAge.Stored(boot: "a", moment: hour, age: 5)
    XCTAssertEqual(StateAge(later, boot: "a", now: minute).value(at: minute), 5, "never less than it was")
  }
}
