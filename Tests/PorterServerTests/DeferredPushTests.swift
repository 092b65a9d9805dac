import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Pushes that a provider defers.
class DeferredPushTests: XCTestCase {
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
}
