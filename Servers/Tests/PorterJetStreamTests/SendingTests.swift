import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class SendingTests: XCTestCase {
  /// libnats would keep them for a millisecond, for others to come: longer than the cluster takes to answer.
  func testAMessageIsSentWhenItIsPublished() throws {
    let node = try FakeNode()
    let connection = try node.connect()
    defer { connection.close() }
    for _ in 0..<50 {
      connection.publish("subject", [1, 2, 3])
      XCTAssertEqual(connection.unsent, 0)
    }
  }

  /// What was not taken is given again, and may be another's by then.
  func testAnAcknowledgementThatNoQueueTakesIsAFailure() async throws {
    let node = try FakeNode { $0.subject.hasSuffix(".7.0.0.0") ? .text("") : .status(503) }
    let connection = try node.connect()
    defer { connection.close() }
    let queues = WorkQueues(
      JetStream(connection: connection, watch: StreamWatch()), name: "work", subject: "work.", leaseSeconds: 5)
    try await queues.acknowledge([queues.handle("a", 7)])
    do throws(ClusterFailure) {
      try await queues.acknowledge([queues.handle("a", 7), queues.handle("a", 8)])
      XCTFail("it was acknowledged")
    } catch {
      XCTAssertEqual(error.description, "the queue takes no acknowledgement: no quorum")
    }
  }

  /// The number of an outdated version may be that of another mailbox's record by then.
  func testNothingIsDeletedFromAStreamThatHasGoneBack() async throws {
    let numbers = Mutex([UInt64(10), 3, 4])
    let node = try FakeNode { request in
      guard request.subject == "s.a" else { return nil }
      return .text(#"{"stream":"s","seq":\#(numbers.withLock { $0.removeFirst() })}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    let before = ContinuousClock.now - .seconds(60)
    stream.outdated.note("t", 5, now: before)
    for _ in 0..<2 {
      _ = try await stream.publish("s.a", [])
      stream.outdated.note("s", 2, now: before)
    }
    stream.outdated.note("s", 2, now: before)
    _ = stream.lost("s")
    _ = try await stream.publish("s.a", [])
    XCTAssertEqual(
      node.requests.map(\.subject), ["s.a", "$JS.API.STREAM.MSG.DELETE.t", "s.a", "s.a"])
  }

  /// A first version is compared by no leader. While nodes may disagree about which of them leads, all of the stream is looked through.
  func testAfterAFailureAFirstVersionFollowsNothing() async throws {
    let answers = Mutex(UInt64(100))
    let isFailing = Mutex(false)
    let node = try FakeNode { request in
      guard !isFailing.withLock({ $0 }) else { return .status(503) }
      guard request.subject == "s.a" else { return .text(#"{"error":{"err_code":10037}}"#) }
      return .text(#"{"stream":"s","seq":\#(answers.withLock { $0 })}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    stream.settledNumbers.note("s", 90, now: .now - .seconds(10))
    func follows() async throws -> String? {
      // There is no such version when it is compared, which is a failure, too.
      _ = try? await stream.add("s", "s.a", [1])
      let stored = node.requests.last { $0.subject == "s.a" }
      return stored?.headers.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Porter-Follows") }.map(
        String.init)
    }
    let calm = try await follows()
    XCTAssertEqual(calm, "Porter-Follows: 90")
    isFailing.withLock { $0 = true }
    _ = try? await stream.get("s", "{}")
    isFailing.withLock { $0 = false }
    answers.withLock { $0 += 1 }
    let troubled = try await follows()
    XCTAssertEqual(troubled, "Porter-Follows: 0")
  }
}
