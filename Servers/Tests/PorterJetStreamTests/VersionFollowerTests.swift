import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class VersionFollowerTests: XCTestCase {
  private func withStream(_ body: (FollowedStream, JetStream) async throws -> Void) async throws {
    let node = FollowedStream()
    try node.start()
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    // It delivers nothing from before its start.
    node.store("s.b", replaced: 0)
    follow(stream)
    let failures = await stream.followers.keep()
    XCTAssertEqual(failures, [])
    try await body(node, stream)
  }

  /// Allows for a busy machine, whose threads may take a long time.
  private func follow(_ stream: JetStream) {
    stream.followers.add(VersionFollower(stream.connection, stream: "s", name: "n", patience: .seconds(30)), "s")
  }

  private func replace(_ number: UInt64, _ stream: JetStream) async throws -> UInt64 {
    let stored = try await stream.replace("s", "s.a", [1], number)
    return try XCTUnwrap(stored)
  }

  func testWhatTheConsumerGivesIsNotAskedOfTheLeader() async throws {
    try await withStream { node, stream in
      // Nothing is known from before the consumer's first message.
      let first = try await stream.replace("s", "s.a", [1], 0)
      XCTAssertEqual(first, 2)
      XCTAssertEqual(node.takeQuestions(), 1)
      var last: UInt64 = 2
      for _ in 0..<20 {
        last = try await replace(last, stream)
        let found = try await stream.newest("s", "s.a")
        XCTAssertEqual(found?.revision, last)
      }
      XCTAssertEqual(last, 22)
      XCTAssertEqual(node.takeQuestions(), 20, "one for each `newest`, and none for what lies between")
      XCTAssertEqual(node.takeChecks(), 0)
    }
  }

  /// Of two that passed together, the first is valid.
  func testAnotherReplacementBeforeItIsFound() async throws {
    try await withStream { node, stream in
      _ = try await stream.replace("s", "s.a", [1], 0)
      _ = node.takeQuestions()
      node.store("s.a", replaced: 2)
      let late = try await stream.replace("s", "s.a", [1], 2)
      XCTAssertNil(late)
      XCTAssertEqual(node.takeQuestions(), 1)
      let found = try await stream.newest("s", "s.a")
      XCTAssertEqual(found?.revision, 3)
    }
  }

  /// After these, nothing is known of what was before, and another consumer is created.
  func testWhenSomethingMayBeMissingTheLeaderIsAsked() async throws {
    let cases: [(what: String, happens: (FollowedStream, JetStream) -> Void)] = [
      (
        "a message of the consumer is missing",
        { node, _ in
          node.loseNext()
          node.store("s.b", replaced: 0)
          node.store("s.b", replaced: 2)
        }
      ),
      (
        "the consumer's last message is missing",
        { node, _ in
          node.loseNext()
          node.store("s.b", replaced: 0)
          node.beat()
        }
      ),
      ("another node leads", { node, _ in node.announceElection("s") }),
      ("the stream has gone back", { _, stream in _ = stream.lost("s") }),
      ("the connection was lost", { _, stream in stream.noteReconnect() }),
    ]
    for (what, happens) in cases {
      try await withStream { node, stream in
        let begin = ContinuousClock.now
        let first = try await replace(0, stream)
        node.store("s.b", replaced: 0)
        happens(node, stream)
        try await node.await(what) {
          // Not because it has been silent for a long time.
          _ = await stream.followers.keep(now: begin)
          return node.consumers == 2
        }
        _ = node.takeQuestions()
        let second = try await replace(first, stream)
        XCTAssertEqual(node.takeQuestions(), 1, what)
        _ = try await replace(second, stream)
        XCTAssertEqual(node.takeQuestions(), 0, what)
        node.leaveDeletions(2)
        for second in 1...3 {
          XCTAssertEqual(node.names, ["n-1", "n-2"], "\(what), \(second)")
          _ = await stream.followers.keep(now: begin)
        }
        XCTAssertEqual(node.names, ["n-2"], what)
      }
    }
  }

  func testAConsumerIsKeptAsLongAsNothingIsMissing() async throws {
    let cases: [(what: String, happens: (FollowedStream) -> Void)] = [
      ("it has given all", { $0.beat() }), ("another node leads another stream", { $0.announceElection("t") }),
      (
        "a message was deleted before it was given",
        {
          $0.deleteNext(); $0.store("s.b", replaced: 0)
        }
      ),
    ]
    for (what, happens) in cases {
      try await withStream { node, stream in
        let begin = ContinuousClock.now
        let first = try await replace(0, stream)
        happens(node)
        for _ in 0..<50 {
          _ = await stream.followers.keep(now: begin)
          try await Task.sleep(for: .milliseconds(1))
        }
        XCTAssertEqual(node.consumers, 1, what)
        _ = node.takeQuestions()
        _ = try await replace(first, stream)
        XCTAssertEqual(node.takeQuestions(), what.contains("deleted") ? 1 : 0, what)
      }
    }
  }

  /// It sends something twice a second as long as it exists.
  func testAConsumerThatSaysNothingIsReplaced() async throws {
    let node = FollowedStream()
    try node.start()
    let connection = try node.connect()
    defer { connection.close() }
    let (follower, begin) = (VersionFollower(connection, stream: "s", name: "n"), ContinuousClock.now)
    // Its successors are silent too.
    for (milliseconds, consumers) in [
      (0, 1), (1_900, 1), (2_100, 2), (4_200, 3), (6_300, 3), (8_300, 4), (10_400, 4),
    ] {
      let failure = await follower.keep(now: begin + .milliseconds(milliseconds))
      XCTAssertEqual(node.consumers, consumers, "\(milliseconds)")
      XCTAssertEqual(failure != nil, [2_100, 4_200, 6_300, 10_400].contains(milliseconds), "\(milliseconds)")
    }
    XCTAssertEqual(node.names, ["n-1", "n-2", "n-3", "n-4"], "none is known to work")
  }

  func testAConsumerThatCannotBeMadeIsTriedAgainEverMoreSeldom() async throws {
    let node = FollowedStream()
    try node.start()
    node.refuseConsumers(true)
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    node.store("s.b", replaced: 0)
    follow(stream)
    let begin = ContinuousClock.now
    var tries: [Int] = []
    for second in 0..<60 where await !stream.followers.keep(now: begin + .seconds(second)).isEmpty {
      tries.append(second)
    }
    XCTAssertEqual(tries, [0, 1, 3, 7, 15, 23, 31, 39, 47, 55])
    let first = try await replace(0, stream)
    XCTAssertEqual(node.takeQuestions(), 1)
    node.refuseConsumers(false)
    let failures = await stream.followers.keep(now: begin + .seconds(64))
    XCTAssertEqual(failures, [])
    XCTAssertFalse(stream.followers.areFollowing, "it has said nothing yet")
    _ = try await replace(first, stream)
    XCTAssertEqual(node.takeQuestions(), 0)
    XCTAssertTrue(stream.followers.areFollowing)
    stream.noteReconnect()
    let again = await stream.followers.keep(now: begin + .seconds(65))
    XCTAssertEqual(again, [])
    XCTAssertEqual(node.consumers, 2)
  }

  func testADeliverySaysItsNumbers() {
    let delivery = Delivery("$JS.ACK.stream.consumer.3.17.5.1764196785000000000.2")
    XCTAssertEqual(delivery?.times, 3)
    XCTAssertEqual(delivery?.number, 17)
    XCTAssertEqual(delivery?.consumerNumber, 5)
    XCTAssertEqual(delivery?.storedAt, 1_764_196_785_000)
    for end in ["", ".random"] {
      let later = Delivery("$JS.ACK.domain.account.stream.consumer.3.17.5.1764196785000000000.2" + end)
      XCTAssertEqual(later?.number, 17)
      XCTAssertEqual(later?.storedAt, 1_764_196_785_000)
    }
    for reply in ["", "a.b", "$JS.ACK.stream.consumer.x.17.5.17.2", "$JS.ACK.stream.consumer.3.-1.5.17.2"] {
      XCTAssertNil(Delivery(reply), reply)
    }
  }
}
