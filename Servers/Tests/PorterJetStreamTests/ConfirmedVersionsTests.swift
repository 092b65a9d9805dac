import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class ConfirmedVersionsTests: XCTestCase {
  private static func version(_ number: UInt64, replacing replaced: UInt64) -> FakeNode.Answer {
    let headers = Data("NATS/1.0\r\nPorter-Replaces: \(replaced)\r\n\r\n".utf8).base64EncodedString()
    return .text(#"{"message":{"subject":"s.a","seq":\#(number),"hdrs":"\#(headers)"}}"#)
  }

  /// A record that was read before, and has not changed since, costs one question: the other one makes the leader scan
  /// the stream.
  func testAVersionIsComparedWithThoseBeforeItOnce() async throws {
    let last = Mutex<UInt64>(9)
    let numbers = Mutex<SettledNumbers?>(nil)
    let node = try FakeNode { request in
      guard request.subject == "$JS.API.STREAM.MSG.GET.s" else { return nil }
      // While the record is read, another node is elected, and acknowledges something.
      let elected = numbers.withLock { $0 }
      elected?.noteElection("s")
      elected?.note("s", 30)
      let number = last.withLock { $0 }
      return Self.version(number, replacing: number == 9 ? 3 : 9)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    func acknowledge(_ number: UInt64) { stream.settledNumbers.note("s", number) }
    var questions = 0
    func read(_ expected: UInt64, asking count: Int, _ what: String) async throws {
      let record = try await stream.newest("s", "s.a")
      XCTAssertEqual(record?.revision, expected, what)
      XCTAssertEqual(node.requests.filter { $0.subject.contains("MSG.GET") }.count - questions, count, what)
      questions += count
    }
    acknowledge(20)
    try await read(9, asking: 2, "at first")
    try await read(9, asking: 1, "again")
    last.withLock { $0 = 12 }
    try await read(12, asking: 2, "replaced")
    try await read(12, asking: 1, "and again")
    stream.settledNumbers.noteElection("s")
    try await read(12, asking: 2, "another node may lead")
    acknowledge(21)
    try await read(12, asking: 2, "nothing was acknowledged before it was read")
    try await read(12, asking: 1, "and then")
    last.withLock { $0 = 14 }
    numbers.withLock { $0 = stream.settledNumbers }
    try await read(14, asking: 2, "during an election")
    numbers.withLock { $0 = nil }
    try await read(14, asking: 2, "after it")
    try await read(14, asking: 1, "once more")
    _ = stream.lost("s")
    try await read(14, asking: 2, "numbers may come again")
  }

  func testFewAreRemembered() {
    let (versions, now) = (ConfirmedVersions(most: 2), ContinuousClock.now)
    for number in 1...3 as ClosedRange<UInt64> { versions.note("s.\(number)", number, since: now) }
    XCTAssertNil(versions.since("s.1", 1))
    XCTAssertEqual(versions.since("s.3", 3), now)
    XCTAssertNil(versions.since("s.3", 4))
  }
}
