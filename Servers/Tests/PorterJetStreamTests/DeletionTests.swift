import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class DeletionTests: XCTestCase {
  private static let deletion = "$JS.API.STREAM.MSG.DELETE.s"

  func testMoreAreUnderWayTheLaterTheyAre() {
    let gate = DeletionGate()
    XCTAssertEqual(gate.begin(10, "s"), 10)
    XCTAssertEqual(gate.begin(10, "s"), 6)
    XCTAssertEqual(gate.begin(10, "s"), 0)
    XCTAssertEqual(gate.begin(1, "t"), 1)
    gate.end(2, "s")
    XCTAssertEqual(gate.begin(.max, "s"), 2)
    XCTAssertEqual(gate.begin(100, "s", late: .milliseconds(1_500)), 16)
    XCTAssertEqual(gate.begin(.max, "s", late: .seconds(100)), 32)
    XCTAssertEqual(gate.begin(1, "s", late: .seconds(1_000_000)), 0)
  }

  /// A stream of one node that has led for a minute.
  private func makeStream(_ node: FakeNode) throws -> JetStream {
    let stream = JetStream(connection: try node.connect(), watch: StreamWatch())
    for second in -60...0 { stream.settledNumbers.note("s", UInt64(second + 1_070), now: .now + .seconds(second)) }
    return stream
  }

  private func note(_ numbers: ClosedRange<UInt64>, _ stream: JetStream) {
    for number in numbers {
      stream.outdated.note(.init("s", "s.a", number, .replaced(by: number + 1), now: .now - .milliseconds(5_100)))
    }
  }

  /// How many deletions may begin. The last answers may still be on their way.
  private func free(_ stream: JetStream) async throws -> Int {
    let end = ContinuousClock.now + .seconds(20)
    var free = stream.deletions.begin(.max, "s")
    while free < 16, .now < end {
      try await Task.sleep(for: .milliseconds(1))
      free += stream.deletions.begin(.max, "s")
    }
    return free
  }

  private func deleted(_ node: FakeNode) -> [UInt64] {
    node.requests.filter { $0.subject == Self.deletion }.compactMap { Reply(Array($0.payload.utf8)).number("seq") }
  }

  /// Answers no deletion until `isReleased` is signalled, then all of them.
  private func makeNode(_ isReleased: DispatchSemaphore) throws -> FakeNode {
    try FakeNode { request in
      if request.subject == "s.a" { return .text(#"{"stream":"s","seq":2000}"#) }
      isReleased.wait()
      isReleased.signal()
      return .text(#"{"success":true}"#)
    }
  }

  func testWhatIsDueIsDeletedAFewAtATimeUntilNoneIsLeft() async throws {
    let node = try FakeNode { $0.subject == "s.a" ? .text(#"{"stream":"s","seq":2000}"#) : nil }
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    note(1...400, stream)
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(17)
    // More if this machine has stalled for a second.
    XCTAssertTrue(16...64 ~= deleted(node).count, "\(deleted(node).count)")

    let isReleased = DispatchSemaphore(value: 1)
    let answering = try makeNode(isReleased)
    let other = try makeStream(answering)
    defer { other.connection.close() }
    note(1...100, other)
    _ = try await other.publish("s.a", [])
    try await answering.awaitRequests(101)
    XCTAssertEqual(deleted(answering).sorted(), Array(1...100))
    let free = try await free(other)
    XCTAssertEqual(free, 16, "each has ended")
  }

  /// Its replacement may have been undone: then it is the record again.
  func testWhatWaitsForItsTurnIsNotDeletedWhenAnotherNodeLeads() async throws {
    let isReleased = DispatchSemaphore(value: 0)
    let node = try makeNode(isReleased)
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    note(1...400, stream)
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(2)
    stream.settledNumbers.noteTrouble()
    isReleased.signal()
    try await node.awaitRequests(17)
    XCTAssertTrue(16...64 ~= deleted(node).count, "\(deleted(node).count)")
    let kept = Set(stream.outdated.due("s", now: .now + .seconds(60)).map(\.sequence))
    XCTAssertTrue(kept.isSuperset(of: 65...400), "they are looked at when it has come to rest")
  }

  /// Another relay has deleted it, or the node was slow to answer the first time.
  func testWhatWasDeletedBeforeIsDeletedForGood() async throws {
    let node = try FakeNode { request in
      if request.subject == "s.a" { return .text(#"{"stream":"s","seq":2000}"#) }
      return .text(#"{"error":{"code":400,"err_code":10043,"description":"sequence 1 not found"}}"#)
    }
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    note(1...1, stream)
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(2)
    XCTAssertEqual(deleted(node), [1])
    XCTAssertEqual(stream.outdated.due("s", now: .now + .seconds(60)).count, 0)
    let free = try await free(stream)
    XCTAssertEqual(free, 16)
  }

  /// For a relay that remembers a mailbox which another relay has since removed; and which was then created again.
  /// Nodes that have undone the state the relay remembers have other versions, which do not begin anew, and the relay's
  /// own record takes their place.
  func testAReplacementOfWhatWasRemovedIsNone() async throws {
    for (replaced, stored) in [(nil, nil), (0, nil), (5, 2_001)] as [(UInt64?, UInt64?)] {
      let node = try FakeNode { request in
        switch request.subject {
        case "s.a":
          return request.headers.contains("Sequence: 7\r\n")
            ? .text(#"{"error":{"err_code":10071,"description":"wrong last sequence"}}"#)
            : .text(#"{"stream":"s","seq":2001}"#)
        case "$JS.API.STREAM.MSG.GET.s":
          let query = Reply(Array(request.payload.utf8))
          let number = query.number("seq") ?? 30
          // Nothing precedes the version stored after 30.
          guard let replaced, 8...30 ~= number || number > 1_000 else {
            return .text(#"{"error":{"err_code":10037,"description":"no message found"}}"#)
          }
          let (found, replaces) = number > 30 ? (2_001, 7) : (30, replaced)
          let headers = Data("NATS/1.0\r\nPorter-Replaces: \(replaces)\r\n\r\n".utf8).base64EncodedString()
          return .text(#"{"message":{"subject":"s.a","seq":\#(found),"hdrs":"\#(headers)","data":"AQ=="}}"#)
        default: return nil
        }
      }
      let stream = try makeStream(node)
      defer { stream.connection.close() }
      let found = try await stream.replace("s", "s.a", [1], 7)
      XCTAssertEqual(found, stored, "after a version that replaces \(replaced.map(String.init) ?? "none")")
    }
  }
}
