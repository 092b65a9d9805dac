import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// A node that led and was cut off is connected again: it refuses what the new leader stores, and its answer arrives
/// first.
final class RefusalTests: XCTestCase {
  private func withStream(isFollowed: Bool, _ body: (FollowedStream, JetStream) async throws -> Void) async throws {
    let node = FollowedStream()
    try node.start()
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    if isFollowed {
      stream.followers.add(VersionFollower(connection, stream: "s", name: "n", patience: .seconds(30)), "s")
      _ = await stream.followers.keep()
    }
    // The first version is not known to follow another.
    node.store("s.b", replaced: 0)
    let first = try await stream.replace("s", "s.a", [1], 0)
    XCTAssertEqual(first, 2)
    _ = node.takeQuestions()
    try await body(node, stream)
  }

  func testAVersionThatIsThereWasNotRefused() async throws {
    for isFollowed in [false, true] {
      try await withStream(isFollowed: isFollowed) { node, stream in
        node.refuseNext()
        let stored = try await stream.replace("s", "s.a", [1], 2)
        XCTAssertEqual(stored, 3)
        let next = try await stream.replace("s", "s.a", [1], 3)
        XCTAssertEqual(next, 4)
        let outdated = stream.outdated.due(now: .now + .seconds(6))
        XCTAssertEqual(outdated.map(\.sequence), [2, 3])
      }
    }
  }

  /// The refusal arrives before the leader has stored it.
  func testAVersionThatIsThereLaterWasNotRefused() async throws {
    for isFollowed in [false, true] {
      for questions in [1, 2, 3, 7] {
        try await withStream(isFollowed: isFollowed) { node, stream in
          node.refuseNext(storingAfter: questions)
          let stored = try await stream.replace("s", "s.a", [1], 2)
          XCTAssertEqual(stored, 3)
          XCTAssertFalse(stream.isAtRest, "two nodes believe that they lead")
        }
      }
    }
  }

  func testWhatBecameOfARefusedVersionMayStayUnknown() async throws {
    try await withStream(isFollowed: false) { node, stream in
      node.refuseNext(storingAfter: 1_000)
      do {
        _ = try await stream.replace("s", "s.a", [1], 2)
        XCTFail("the leader has what was to be replaced, and refuses to replace it")
      } catch {
        XCTAssertEqual((error as? ClusterFailure)?.description, "the leader of s lags")
      }
    }
  }

  /// One node has the replacement; another one does not.
  func testWhatNodesDisagreeAboutStaysUnknown() async throws {
    try await withStream(isFollowed: false) { node, stream in
      node.refuseNext()
      node.hideNewest()
      do {
        let stored = try await stream.replace("s", "s.a", [1], 2)
        XCTFail("returned \(String(describing: stored)), although the nodes disagree")
      } catch {
        XCTAssertEqual((error as? ClusterFailure)?.description, "the leader of s lags")
      }
    }
  }

  /// It was sent once, and the copy that is acknowledged arrived late.
  func testAVersionThatWasStoredTwiceIsValid() async throws {
    for isFollowed in [false, true] {
      try await withStream(isFollowed: isFollowed) { node, stream in
        node.doubleNext()
        let stored = try await stream.replace("s", "s.a", [1], 2)
        XCTAssertEqual(stored, 3)
        let outdated = stream.outdated.due(now: .now + .seconds(6))
        XCTAssertEqual(outdated.map(\.sequence), [4, 2], "the second, and what the first has replaced")
      }
    }
  }

  func testAnotherOnesVersionThatCameBeforeIsTheRecord() async throws {
    for isFollowed in [false, true] {
      try await withStream(isFollowed: isFollowed) { node, stream in
        node.store("s.a", replaced: 2)
        node.refuseNext()
        let stored = try await stream.replace("s", "s.a", [1], 2)
        XCTAssertNil(stored)
      }
    }
  }

  /// For example one from an earlier exchange whose outcome is unknown.
  func testAnotherVersionOfThisProcessIsNotThisOne() async throws {
    for isFollowed in [false, true] {
      try await withStream(isFollowed: isFollowed) { node, stream in
        node.replaceNext()
        node.refuseNext()
        let stored = try await stream.replace("s", "s.a", [1], 2)
        XCTAssertNil(stored)
      }
    }
  }

  /// Relays that change the same mailbox refuse each other all the time.
  func testWhatIsFollowedIsNotLookedForAfterARefusal() async throws {
    try await withStream(isFollowed: true) { node, stream in
      node.store("s.a", replaced: 2)
      let isNone = await stream.followers.versions("s")?.hasNone(of: "s.a", by: stream.writer, after: 2, upTo: 3)
      XCTAssertEqual(isNone, true)
      _ = try await stream.newest("s", "s.a")
      _ = node.takeQuestions()
      let late = try await stream.replace("s", "s.a", [1], 2)
      XCTAssertNil(late)
      XCTAssertEqual(node.takeQuestions(), 1, "for the last one, and none for what lies between")
    }
  }
}
