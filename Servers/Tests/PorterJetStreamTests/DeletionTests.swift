import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class DeletionTests: XCTestCase {
  private static let deletion = "$JS.API.STREAM.MSG.DELETE.s"

  func testMoreAreUnderWayTheLaterTheyAre() {
    let gate = DeletionGate()
    XCTAssertEqual(gate.begin(10), 10)
    XCTAssertEqual(gate.begin(10), 6)
    XCTAssertEqual(gate.begin(10), 0)
    gate.end(2)
    XCTAssertEqual(gate.begin(.max), 2)
    XCTAssertEqual(gate.begin(100, late: .milliseconds(1_500)), 16)
    XCTAssertEqual(gate.begin(.max, late: .seconds(100)), 32)
    XCTAssertEqual(gate.begin(1, late: .seconds(1_000_000)), 0)
  }

  /// A stream of one node, which has led for a minute.
  private func makeStream(_ node: FakeNode) throws -> JetStream {
    let stream = JetStream(connection: try node.connect(), watch: StreamWatch())
    for second in -60 ... -1 { stream.settledNumbers.note("s", UInt64(second + 1_070), now: .now + .seconds(second)) }
    return stream
  }

  private func note(_ numbers: ClosedRange<UInt64>, _ stream: JetStream) {
    for number in numbers {
      stream.outdated.note(.init("s", "s.a", number, .replaced(by: number + 1), now: .now - .milliseconds(5_100)))
    }
  }

  private func deleted(_ node: FakeNode) -> [UInt64] {
    node.requests.filter { $0.subject == Self.deletion }.compactMap { Reply(Array($0.payload.utf8)).number("seq") }
  }

  func testWhatIsDueIsDeletedAFewAtATimeUntilNoneIsLeft() async throws {
    let answers = Mutex(false)
    let next = Mutex(2_000)
    let node = try FakeNode { request in
      guard request.subject == "s.a" else { return answers.withLock { $0 } ? .text(#"{"success":true}"#) : nil }
      let number = next.withLock { next in
        next += 1
        return next
      }
      return .text(#"{"stream":"s","seq":\#(number)}"#)
    }
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    note(1...400, stream)
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(17)
    XCTAssertEqual(deleted(node).sorted(), Array(1...16))
    // When these are given up, others take their place; and each that is answered makes room for another.
    answers.withLock { $0 = true }
    let end = ContinuousClock.now + .seconds(20)
    while Set(deleted(node)).count < 400, .now < end {
      if deleted(node).count == 16 { _ = try await stream.publish("s.a", []) }
      try await Task.sleep(for: .milliseconds(10))
    }
    XCTAssertEqual(Set(deleted(node)), Set(1...400))
  }

  /// It may have been undone: then it is the record again.
  func testWhatWaitsForItsTurnIsNotDeletedWhenAnotherNodeLeads() async throws {
    let node = try FakeNode { $0.subject == "s.a" ? .text(#"{"stream":"s","seq":2000}"#) : nil }
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    note(1...400, stream)
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(17)
    stream.settledNumbers.noteTrouble()
    for _ in 0..<50 {
      stream.deleteOutdatedSoon("s")
      try await Task.sleep(for: .milliseconds(10))
    }
    XCTAssertEqual(deleted(node).sorted(), Array(1...16))
    // Those that were not answered come back as well.
    var kept: Set<UInt64> = []
    let end = ContinuousClock.now + .seconds(20)
    while kept.count < 400, .now < end {
      kept.formUnion(stream.outdated.due("s", now: .now + .seconds(60)).map(\.sequence))
      try await Task.sleep(for: .milliseconds(10))
    }
    XCTAssertEqual(kept, Set(1...400), "all are looked at when it has come to rest")
  }

  /// As a relay finds it that remembers a mailbox which another one has removed since.
  func testAReplacementOfWhatWasRemovedIsNone() async throws {
    let node = try FakeNode { request in
      switch request.subject {
      case "s.a": .text(#"{"error":{"err_code":10071,"description":"wrong last sequence: 0"}}"#)
      case "$JS.API.STREAM.MSG.GET.s": .text(#"{"error":{"err_code":10037,"description":"no message found"}}"#)
      default: nil
      }
    }
    let stream = try makeStream(node)
    defer { stream.connection.close() }
    let stored = try await stream.replace("s", "s.a", [1], 7)
    XCTAssertNil(stored)
  }
}
