import PorterRelayCluster
import PorterServer
import Synchronization
import XCTest

@testable import PorterJetStream

/// Consumers of queues: one that delivers nothing, compared with the content of its queue, and one that is not there.
final class WorkQueueTests: XCTestCase {
  private struct Queue {
    var messages: Int
    var first = 7
    var pending = 0
    var unacknowledged = 0
  }

  /// Whether the consumer was replaced after several requests, each with the queue in this state.
  private func isReplaced(pause: Duration = .zero, _ states: [Queue]) async throws -> Bool {
    let state = Mutex(Queue(messages: 0))
    let node = try FakeNode { request in
      let queue = state.withLock { $0 }
      switch request.subject {
      case "$JS.API.CONSUMER.MSG.NEXT.work.a": return .status(404)
      case "$JS.API.STREAM.INFO.work":
        let subjects = queue.messages > 0 ? #","subjects":{"work.a":\#(queue.messages)}"# : ""
        return .text(#"{"state":{"messages":99\#(subjects)}}"#)
      case "$JS.API.CONSUMER.INFO.work.a":
        return .text(#"{"num_ack_pending":\#(queue.unacknowledged),"num_pending":\#(queue.pending)}"#)
      case "$JS.API.STREAM.MSG.GET.work": return .text(#"{"message":{"subject":"work.a","seq":\#(queue.first)}}"#)
      default: return .text("{}")
      }
    }
    let connection = try node.connect()
    defer { connection.close() }
    let queues = WorkQueues(
      JetStream(connection: connection, watch: StreamWatch()), name: "work", subject: "work.", leaseSeconds: 5,
      pause: pause)
    for each in states {
      state.withLock { $0 = each }
      let taken = try await queues.take("a", limit: 10)
      XCTAssertEqual(taken.count, 0)
    }
    return node.requests.contains { $0.subject == "$JS.API.CONSUMER.DELETE.work.a" }
  }

  func testAConsumerThatPassesMessagesOverIsReplaced() async throws {
    let behind = Queue(messages: 3, pending: 1, unacknowledged: 1)
    let once = try await isReplaced([behind])
    XCTAssertFalse(once, "some may have been acknowledged between the answers")
    let twice = try await isReplaced([behind, behind])
    XCTAssertTrue(twice)
    let early = try await isReplaced(pause: .seconds(600), [behind, behind, behind])
    XCTAssertFalse(early)
  }

  func testAConsumerThatKnowsOfAllIsKept() async throws {
    for queue in [Queue(messages: 0), Queue(messages: 2, unacknowledged: 2), Queue(messages: 2, pending: 3)] {
      let isReplaced = try await isReplaced([queue, queue, queue])
      XCTAssertFalse(isReplaced)
    }
    let busy = (1...4).map { Queue(messages: 3, first: $0, unacknowledged: 2) }
    let isReplaced = try await isReplaced(busy)
    XCTAssertFalse(isReplaced, "others take from it")
    let behind = Queue(messages: 1)
    let isMended = try await self.isReplaced([behind, Queue(messages: 1, pending: 1), behind])
    XCTAssertFalse(isMended)
  }

  func testWorkAddedTogetherIsAddedOnce() {
    let work = [("a", "x"), ("b", "x"), ("a", "x"), ("a", "y"), ("a", nil), ("a", nil)].map { queue, identifier in
      SharedWork(queue, [1], identifier: identifier)
    }
    let added = JetStreamPushStore.distinct(work)
    XCTAssertEqual(added.map(\.queue), ["a", "b", "a", "a", "a"])
    XCTAssertEqual(added.map(\.identifier), ["x", "x", "y", nil, nil])
  }

  // MARK: Unused queues

  private static let creation = "$JS.API.CONSUMER.DURABLE.CREATE.work.a"
  private static let acknowledgement = "$JS.ACK.work.a.1.7.0.0.0"

  private func makeQueues(_ connection: NATSConnection, disuse: Duration = WorkQueues.disuse) -> WorkQueues {
    WorkQueues(
      JetStream(connection: connection, watch: StreamWatch()), name: "work", subject: "work.", leaseSeconds: 5,
      pause: .seconds(600), disuse: disuse)
  }

  /// Has one message, or none.
  private func makeNode(isEmpty: Bool) throws -> FakeNode {
    try FakeNode { request in
      switch request.subject {
      case "$JS.API.STREAM.MSG.GET.work":
        isEmpty
          ? .text(#"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#)
          : .text(#"{"message":{"subject":"work.a","seq":7}}"#)
      case "$JS.API.CONSUMER.MSG.NEXT.work.a": .status(404)
      default: .text("{}")
      }
    }
  }

  /// The nodes delete its consumer, which would look like a failure.
  func testAQueueThatWasNotAskedForGetsAConsumerInTime() async throws {
    for (disuse, count) in [(WorkQueues.disuse, 1), (.zero, 3)] {
      let node = try makeNode(isEmpty: false)
      let connection = try node.connect()
      defer { connection.close() }
      let queues = makeQueues(connection, disuse: disuse)
      for _ in 1...3 { _ = try await queues.take("a", limit: 10) }
      let creations = node.requests.filter { $0.subject == Self.creation }
      XCTAssertEqual(creations.count, count)
      let limit = #""inactive_threshold":\#(disuse.components.seconds * 1_000_000_000)}"#
      XCTAssertTrue(creations.allSatisfy { $0.payload.contains(limit) }, limit)
    }
  }

  func testAnAcknowledgementFindsAConsumer() async throws {
    for isEmpty in [false, true] {
      let node = try makeNode(isEmpty: isEmpty)
      let connection = try node.connect()
      defer { connection.close() }
      try await makeQueues(connection).acknowledge("a", [7])
      let subjects = node.requests.map(\.subject).filter { [Self.creation, Self.acknowledgement].contains($0) }
      XCTAssertEqual(subjects, isEmpty ? [] : [Self.creation, Self.acknowledgement])
    }
  }
}
