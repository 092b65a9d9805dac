import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import WatchedFiles
import XCTest

@testable import PorterServer

/// A push waits neither for the disk nor for the relay's acknowledgement, and nothing is lost by that.
final class SettlingTests: XCTestCase {
  private struct Night {
    let files = WatchedFiles()
    let world: World
    let device: Device
    let mailbox: Device.Mailbox
    let server: NotificationServer

    /// All earlier work has finished.
    init() throws {
      world = try World(files: files)
      device = try Device(world)
      try device.activate()
      mailbox = try device.subscribedMailboxes(1)[0]
      try world.run()
      _ = world.provider.take()
      server = try XCTUnwrap(world.server as? NotificationServer)
    }

    var syncs: Int { files.synchronized.count }

    func notificationsAtTheRelay() throws -> Int64? {
      let relay = try Database(path: world.relayPath)
      defer { XCTAssertNoThrow(try relay.close()) }
      return try relay.integer("SELECT count(*) FROM notification")
    }
  }

  func testAMessageWaitsForTheDiskOnceAfterItsPushIsReady() throws {
    let night = try Night()
    try night.device.receive("hello", in: night.mailbox)
    let before = night.syncs
    try night.server.takePushes(isWoken: true)
    let push = try XCTUnwrap(try night.server.nextPush(for: "apns_test"))
    XCTAssertEqual(night.syncs, before, "the push waited for the disk")
    XCTAssertEqual(try night.notificationsAtTheRelay(), 1, "acknowledged before it is on the disk")
    try night.server.settle()
    XCTAssertEqual(night.syncs, before + 1)
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
    try night.server.finish(push, .accepted)
    XCTAssertEqual(night.syncs, before + 1, "the outcome waited for the disk")
  }

  func testWhatTheDiskDoesNotTakeIsNotAcknowledged() throws {
    let night = try Night()
    try night.device.receive("hello", in: night.mailbox)
    night.files.atSync { (_) throws(SystemError) in throw SystemError(5) }
    try night.server.serve()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 1)
    XCTAssertEqual(night.server.problems.count, 1)
    night.files.atSync { (_) throws(SystemError) in }
    night.world.clock.advance(by: ServerTimes.firstRetry)
    try night.world.run()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
    XCTAssertTrue(night.server.problems.isEmpty)
    XCTAssertEqual(try night.world.bundles(for: night.device).map(\.entries.count), [1])
  }

  /// An answer to a client stays true after a power failure.
  func testARequestIsOnTheDiskBeforeItsAnswer() throws {
    let night = try Night()
    // So that the last transaction is one that waits for nothing.
    try night.device.receive("hello", in: night.mailbox)
    try night.world.run()
    try night.device.send(.setPeriod(token: night.device.token, minutes: 30))
    let before = night.syncs
    try night.server.takePushes(isWoken: true)
    XCTAssertNotNil(try night.device.answer())
    XCTAssertGreaterThan(night.syncs, before)
  }

  func testAMessageAfterAReplacementIsNotPushedToTheEarlierToken() throws {
    let night = try Night()
    let replacement = try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32)))
    try night.device.send(.replace(token: night.device.token, with: replacement))
    try night.device.receive("hello", in: night.mailbox)
    try night.server.takePushes(isWoken: true)
    let pushes = try night.server.nextPushes(for: "apns_test", count: 10, underWay: [])
    // It must be verified first.
    XCTAssertEqual(pushes.map(\.kind), [.verification])
    XCTAssertEqual(pushes.map(\.push.pushToken), [replacement])
  }

  func testAMessageAfterADeletionIsNotPushed() throws {
    let night = try Night()
    try night.device.send(.delete(token: night.device.token))
    try night.device.receive("hello", in: night.mailbox)
    try night.server.takePushes(isWoken: true)
    XCTAssertNil(try night.server.nextPush(for: "apns_test"))
  }

  /// Their pushes have gone out, and would go out again.
  func testNotificationsAreAcknowledgedAlthoughASweepFails() throws {
    let night = try Night()
    let database = night.world.state.database
    try database.execute("UPDATE request SET answered_at = 0")
    try database.execute(
      "CREATE TEMP TRIGGER failing BEFORE UPDATE ON request BEGIN SELECT RAISE(ABORT, 'for a test'); END")
    night.world.clock.advance(by: ServerTimes.sweepInterval)
    try night.device.receive("hello", in: night.mailbox)
    XCTAssertThrowsError(try night.server.serve())
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
  }

  func testAWakeUpWaitsForNoDisk() throws {
    let night = try Night()
    _ = try night.device.ask(.setPeriod(token: night.device.token, minutes: 20))
    night.world.clock.advance(by: .seconds(20 * 60))
    let before = night.syncs
    try night.server.takePushes(isWoken: false)
    let push = try XCTUnwrap(try night.server.nextPush(for: "apns_test"))
    try night.server.finish(push, .accepted)
    XCTAssertEqual(night.syncs, before)
  }

  /// The loop hands a push over before it waits for the disk: here the disk waits for the provider.
  func testTheLoopHandsOverBeforeItWaitsForTheDisk() throws {
    let night = try Night()
    try night.device.receive("hello", in: night.mailbox)
    let came = Monitor(false)
    let met = Monitor<Bool?>(nil)
    night.files.atSync { (_) throws(SystemError) in
      // The bound is for a loop that waits first: then the test fails instead of hanging.
      let inTime = came.wait(atMost: .seconds(20)) { $0 ? true : nil } ?? false
      met.withLock { $0 = $0 ?? inTime }
    }
    let stop = try XCTUnwrap(WakeDescriptor())
    let provider = SignallingProvider {
      came.signal { $0 = true }
      stop.raise()
    }
    try ServerLoop(server: night.server, providers: ["apns_test": provider], stop: stop, clock: SystemClock()).run()
    XCTAssertEqual(met.withLock { $0 }, true)
  }

  private struct SignallingProvider: PushProvider {
    let came: @Sendable () -> Void

    func deliver(_ push: OutgoingPush) -> PushOutcome {
      came()
      return .accepted
    }
  }
}
