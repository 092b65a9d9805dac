import PorterPlatform
import PorterRelay
import PorterStore
import XCTest

@testable import PorterServer

/// Outcomes that cannot be stored, because the disk is full.
final class FullDiskTests: XCTestCase {
  /// A server whose file takes no outcomes for a while.
  private final class FullDisk: LoopedServer {
    private let server: NotificationServer
    private var failures: Int
    private let stored: () -> Void

    init(_ server: NotificationServer, failures: Int, stored: @escaping () -> Void) {
      (self.server, self.failures, self.stored) = (server, failures, stored)
    }

    func finish(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) throws(ServerError) {
      guard failures == 0 else {
        failures -= 1
        throw .storage(SQLiteError(kind: .full))
      }
      try server.finish(ended)
      stored()
    }

    var port: any RelayPort { server.port }
    var log: Log { server.log }
    var problems: [ServerProblem] { server.problems }
    var nextProviderAttempt: Moment? { server.nextProviderAttempt }
    func takePushes(isWoken: Bool, room: [String: Int]) throws(ServerError) {
      try server.takePushes(isWoken: isWoken, room: room)
    }
    func settle() throws(ServerError) { try server.settle() }
    func nextDeadline() throws(ServerError) -> Moment { try server.nextDeadline() }
    func drain() {}
    func leave() { server.leave() }
    func nextPushes(for provider: String, count: Int, underWay: Set<Int64>) throws(ServerError) -> [PendingPush] {
      try server.nextPushes(for: provider, count: count, underWay: underWay)
    }
  }

  func testAnAcceptedPushIsNotSentAgainWhileTheDiskIsFull() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let before = world.provider.attempts
    try device.receive("hello", in: mailbox)
    let stop = try XCTUnwrap(WakeDescriptor())
    let server = FullDisk(try XCTUnwrap(world.server as? NotificationServer), failures: 2) { stop.raise() }
    try ServerLoop(
      any: server, providers: ["apns_test": world.provider], senders: [:], status: ServerStatus(), stop: stop,
      drains: { false }
    ).run()
    XCTAssertEqual(world.provider.attempts, before + 1)
    XCTAssertNil(try world.server.nextPush(for: "apns_test"), "its outcome is stored")
  }

  /// Another process sends it once more.
  func testADrainDoesNotWaitForOutcomesThatCannotBeStored() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let before = world.provider.attempts
    try device.receive("hello", in: mailbox)
    let real = try XCTUnwrap(world.server as? NotificationServer)
    try real.takePushes(isWoken: true)
    let stop = try XCTUnwrap(WakeDescriptor())
    stop.raise()
    let server = FullDisk(real, failures: .max) {}
    try ServerLoop(
      any: server, providers: ["apns_test": world.provider], senders: [:], status: ServerStatus(), stop: stop,
      drains: { true }
    ).run()
    XCTAssertEqual(world.provider.attempts, before + 1)
  }
}
