import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import WatchedFiles
import XCTest

@testable import PorterServer

/// A push waits for neither the disk nor the relay's acknowledgement, and nothing is lost by that.
final class SettlingTests: XCTestCase {
  private struct Night {
    let files = WatchedFiles()
    let world: World
    let device: Device
    let mailbox: Device.Mailbox
    let server: NotificationServer

    /// Everything that was done before has come to rest.
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

  /// What a client is answered stays true after a power failure.
  func testARequestIsOnTheDiskBeforeItsAnswer() throws {
    let night = try Night()
    // So that the last transaction was one that waits for nothing.
    try night.device.receive("hello", in: night.mailbox)
    try night.world.run()
    try night.device.send(.setPeriod(token: night.device.token, minutes: 30))
    try night.server.takePushes(isWoken: true)
    let before = night.syncs
    try night.server.settle()
    XCTAssertNotNil(try night.device.answer())
    XCTAssertGreaterThan(night.syncs, before)
    XCTAssertTrue(night.server.hasMoreToDo, "a push that follows from it would wait for the next turn")
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
      // The bound is for a loop that waits first: the test fails then, and does not hang.
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
