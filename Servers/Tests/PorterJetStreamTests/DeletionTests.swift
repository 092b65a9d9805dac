import Synchronization
import XCTest

@testable import PorterJetStream

final class DeletionTests: XCTestCase {
  func testAFewAreUnderWayAtATimeAndMoreTheMoreWait() async throws {
    for (count, expected) in [(10, 10...10), (100, 16...16), (3_200, 90...100)] {
      let node = HoldingNode()
      let deletions = Deletions { await node.delete($0) }
      for number in 0..<count { deletions.add(.init(stream: "s", sequence: UInt64(number))) }
      try await node.await { $0.begun.count >= expected.lowerBound }
      try await Task.sleep(for: .milliseconds(20))
      XCTAssertTrue(expected ~= node.begun.count, "\(count): \(node.begun.count)")
      node.answerAll()
      try await node.await { $0.begun.count == count }
      XCTAssertEqual(node.begun.sorted(), (0..<count).map(UInt64.init))
      // What comes later is not forgotten.
      deletions.add(.init(stream: "s", sequence: 5_000))
      try await node.await { $0.begun.last == 5_000 }
    }
  }

  /// Of a node that answers none, at a time.
  func testAnAcknowledgementDeletesWhatIsDueAFewAtATime() async throws {
    let node = try FakeNode { $0.subject == "s.a" ? .text(#"{"stream":"s","seq":2000}"#) : nil }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    for second in -60 ... -1 { stream.settledNumbers.note("s", UInt64(second + 1_070), now: .now + .seconds(second)) }
    for number in UInt64(1)...400 {
      stream.outdated.note(.init("s", "s.a", number, .replaced(by: number + 1), now: .now - .seconds(6)))
    }
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(17)
    XCTAssertEqual(node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.s" }.count, 16)
  }
}

/// Answers when it is told to.
private final class HoldingNode: Sendable {
  private struct State {
    var begun: [UInt64] = []
    var isAnswering = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var begun: [UInt64] { state.withLock { $0.begun } }

  func delete(_ deletion: Deletions.Deletion) async {
    await withCheckedContinuation { continuation in
      let answers = state.withLock { state in
        state.begun.append(deletion.sequence)
        if !state.isAnswering { state.waiting.append(continuation) }
        return state.isAnswering
      }
      if answers { continuation.resume() }
    }
  }

  func answerAll() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isAnswering = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func await(_ isDone: (HoldingNode) -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while !isDone(self) {
      guard .now < end else { return XCTFail("never") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
