import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import XCTest

/// A push waits briefly while the recipient's app listens, and is not sent if the app has fetched the message.
class HeldPushTests: XCTestCase {
  /// The longest that the relay withholds anything, with a margin for rounding.
  private let pause = Span.milliseconds(2_001)

  /// A device with an active token whose app listens.
  private func makeListening() throws -> (world: World, device: Device, mailbox: Device.Mailbox) {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.listen(to: mailbox)
    return (world, device, mailbox)
  }

  func testAMessageThatTheAppFetchesIsNotPushed() throws {
    let (world, device, mailbox) = try makeListening()
    try device.receive("hello", in: mailbox)
    try world.run()
    try device.fetchAll(mailbox)
    for _ in 0..<3 {
      world.clock.advance(by: pause)
      try world.run()
    }
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  func testAnAppThatDoesNotFetchGetsThePushAfterThePause() throws {
    let (world, device, mailbox) = try makeListening()
    try device.receive("hello", in: mailbox)
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
    // The server itself knows when to look again.
    try world.runAtDeadlines(for: pause)
    XCTAssertEqual(try world.bundles(for: device).count, 1)
    // Its pause is over: later messages are pushed without one.
    try device.receive("again", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  func testAServerThatEndsInThePauseSendsAfterwards() throws {
    for passes in [Span.zero, pause] {
      let (world, device, mailbox) = try makeListening()
      try device.receive("hello", in: mailbox)
      try world.run()
      XCTAssertTrue(world.provider.take().isEmpty)
      try world.restart()
      world.clock.advance(by: passes)
      try world.run()
      if passes == .zero {
        XCTAssertTrue(world.provider.take().isEmpty)
        try world.runAtDeadlines(for: pause)
      }
      XCTAssertEqual(try world.bundles(for: device).count, 1)
    }
  }

  func testAServerThatWasNotRunningSendsWhatIsLeft() throws {
    let (world, device, mailbox) = try makeListening()
    try device.receive("hello", in: mailbox)
    world.clock.advance(by: .days(1))
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).count, 1)
  }

  /// One exchange with the relay fails, wherever it is in the pause.
  func testNoPushIsLostWhenTheRelayFailsInThePause() throws {
    for failure in FragilePort.Failure.allCases {
      for number in 1...6 {
        let (world, device, mailbox) = try makeListening()
        try device.receive("hello", in: mailbox)
        world.port.fail(exchange: number, failure)
        for _ in 0..<6 {
          try world.run()
          world.clock.advance(by: max(.zero, try world.server.nextDeadline() - world.clock.now()))
        }
        XCTAssertGreaterThanOrEqual(try world.bundles(for: device).count, 1, "\(failure) of exchange \(number)")
      }
    }
  }

  /// One mailbox is listened to, the other is not: the push for the second does not wait for the first.
  func testOtherMailboxesDoNotWait() throws {
    let (world, device, mailbox) = try makeListening()
    let other = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    try device.receive("hello", in: other)
    try world.run()
    XCTAssertEqual(try world.bundles(for: device).map { $0.entries.map(\.notifier) }, [[other.notifier.bytes]])
    world.clock.advance(by: pause)
    try world.run()
    XCTAssertEqual(
      try world.bundles(for: device).map { $0.entries.map(\.notifier) },
      [[other.notifier.bytes, mailbox.notifier.bytes]])
  }
}
