import PorterPlatform
import PorterPush
import PorterServer
import XCTest

// Everything that holds for one server holds for two that share their state and take turns. Inherited tests are found
// in a class that has one of its own.

final class SharedTokenTests: TokenTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }
  override func testOnlyTheTokensOwnerIsServed() throws { try super.testOnlyTheTokensOwnerIsServed() }
}

final class SharedRepeatTests: RepeatTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }
  override func testReplayingEverythingChangesNothing() throws { try super.testReplayingEverythingChangesNothing() }
}

final class SharedHeldPushTests: HeldPushTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }
  override func testAMessageThatTheAppFetchesIsNotPushed() throws {
    try super.testAMessageThatTheAppFetchesIsNotPushed()
  }
}

class SharedMessagePushTests: MessagePushTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  /// Each server retries independently.
  override func testAnUnreachableProviderGetsThePushWhenItIsBack() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    world.provider.answer(then: .unreachable(.closed))
    try world.run()
    world.clock.advance(by: .seconds(60))
    try world.run()
    world.provider.answer(then: .accepted)
    XCTAssertTrue(world.provider.take().isEmpty)
    world.clock.advance(by: .seconds(60))
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  /// Deferred work is timed by the cluster's clock.
  override func testAWallClockThatGoesBackDelaysNoWakeUp_INC14() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    try world.run()
    world.clock.stepWall(by: .seconds(-3_600))
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }
}

class SharedDeferredPushTests: DeferredPushTests {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  /// Timed like wake-ups.
  override func testItComesAlthoughTheClockIsSetBack() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    world.provider.answer([.later(seconds: 90)], then: .accepted)
    try device.receive("hello", in: mailbox)
    try world.run()
    world.clock.stepWall(by: .days(-3))
    world.clock.advance(by: .seconds(90))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
  }
}

// The same with pushes that are sent without work.

final class DirectRepeatTests: RepeatTests {
  override func setUp() { (World.isShared, World.room) = (true, 100) }
  override func tearDown() { (World.isShared, World.room) = (false, 0) }
  override func testReplayingEverythingChangesNothing() throws { try super.testReplayingEverythingChangesNothing() }
}

final class DirectHeldPushTests: HeldPushTests {
  override func setUp() { (World.isShared, World.room) = (true, 100) }
  override func tearDown() { (World.isShared, World.room) = (false, 0) }
  override func testAMessageThatTheAppFetchesIsNotPushed() throws {
    try super.testAMessageThatTheAppFetchesIsNotPushed()
  }
}

final class DirectMessagePushTests: SharedMessagePushTests {
  override func setUp() { (World.isShared, World.room) = (true, 100) }
  override func tearDown() { (World.isShared, World.room) = (false, 0) }
  override func testAnUnreachableProviderGetsThePushWhenItIsBack() throws {
    try super.testAnUnreachableProviderGetsThePushWhenItIsBack()
  }
}

final class DirectDeferredPushTests: SharedDeferredPushTests {
  override func setUp() { (World.isShared, World.room) = (true, 100) }
  override func tearDown() { (World.isShared, World.room) = (false, 0) }
  override func testItComesAlthoughTheClockIsSetBack() throws { try super.testItComesAlthoughTheClockIsSetBack() }
}
