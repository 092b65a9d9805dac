import PorterRelay
import PorterRelayCluster
import PorterRelayServer
import Synchronization
import XCTest

@testable import PorterJetStream

/// What concerns one request or one mailbox says nothing about the cluster.
final class OwnTroubleTests: XCTestCase {
  /// A message to a mailbox, which is looked up twice before it is said not to exist.
  private let message = RelayService.Exchange(
    request: [1] + [UInt8](repeating: 7, count: 24) + [0, 1] + [UInt8](repeating: 8, count: 24) + [3]
      + [UInt8](repeating: 9, count: 24) + [0, 1])

  private func send(through backEnd: JetStreamBackEnd) async -> RelayReply {
    await withCheckedContinuation { continuation in
      backEnd.exchange(message) { continuation.resume(returning: $0) }
    }
  }

  /// Carries out a story that returns whether it was in time, and again with another node if a busy machine was not: an
  /// exchange has 700 ms.
  private func inTime(_ story: () async throws -> Bool) async throws {
    for _ in 0..<20 { if try await story() { return } }
    XCTFail("the machine is too busy")
  }

  func testADamagedRecordIsOnlyItsMailboxsTrouble() async throws { try await inTime(aDamagedRecord) }

  private func aDamagedRecord() async throws -> Bool {
    let node = try OpenNode { request in
      guard request.subject == "$JS.API.STREAM.MSG.GET.porter_mailboxes_0" else { return nil }
      return .text(OpenNode.message("porter.mailbox.0.m", 2, [1, 2, 3]))
    }
    let backEnd = try node.open()
    defer { backEnd.close() }
    let begin = ContinuousClock.now
    let reply = await send(through: backEnd)
    guard ContinuousClock.now - begin < .milliseconds(600) else { return false }
    XCTAssertEqual(reply, .unavailable)
    XCTAssertNil(backEnd.problem)
    XCTAssertTrue(backEnd.isServing)
    return true
  }

  /// The first answer takes half of an exchange's time, and there is none to the next question.
  func testTheEndOfAnExchangesTimeIsOnlyItsOwnTrouble() async throws { try await inTime(theEndOfAnExchangesTime) }

  private func theEndOfAnExchangesTime() async throws -> Bool {
    let asked = Mutex(0)
    let answered = Mutex<ContinuousClock.Instant?>(nil)
    let node = try OpenNode { request in
      guard request.subject == "$JS.API.STREAM.MSG.GET.porter_mailboxes_0" else { return nil }
      let isFirst = asked.withLock { asked in
        asked += 1
        return asked == 1
      }
      guard isFirst else { return nil }
      usleep(450_000)
      answered.withLock { $0 = .now }
      return .text(#"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#)
    }
    let backEnd = try node.open()
    defer { backEnd.close() }
    let begin = ContinuousClock.now
    let reply = await send(through: backEnd)
    guard let answered = answered.withLock({ $0 }), answered - begin < .milliseconds(600) else { return false }
    XCTAssertEqual(reply, .unavailable)
    XCTAssertNil(backEnd.problem)
    XCTAssertTrue(backEnd.isServing)
    return true
  }

  /// As long as the probe would wait.
  func testASilentClusterIsNotOnlyOneRequestsTrouble() async throws { try await inTime(aSilentCluster) }

  private func aSilentCluster() async throws -> Bool {
    let node = try OpenNode()
    let backEnd = try node.open()
    defer { backEnd.close() }
    let reply = await send(through: backEnd)
    XCTAssertEqual(reply, .unavailable)
    // Unless the request began so late that the exchange ended before it.
    guard backEnd.problem != nil else { return false }
    XCTAssertFalse(backEnd.isServing)
    return true
  }

  /// What had too little time may have been stored or not: nothing is deleted without doubt after it. What had none was
  /// not asked for.
  func testTheEndOfAnExchangesTimeLeavesDoubtAboutWhatWasSent() async throws {
    let node = try FakeNode()
    let connection = try node.connect()
    defer { connection.close() }
    for (time, isOwn, isDoubtful) in [
      (Duration.milliseconds(500), true, true), (.zero, true, false), (nil, false, true),
    ] {
      let stream = JetStream(connection: connection, watch: StreamWatch())
      let failure = await ExchangeDeadline.$current.withValue(time.map { .now + $0 }) {
        do throws(ClusterFailure) {
          _ = try await stream.publish("s.a", [])
          return ClusterFailure?.none
        } catch { return error }
      }
      XCTAssertEqual(failure?.isOwn, isOwn)
      XCTAssertEqual(stream.settledNumbers.lastTrouble != nil, isDoubtful)
    }
  }
}
