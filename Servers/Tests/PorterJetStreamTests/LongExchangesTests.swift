import PorterRelay
import PorterRelayServer
import Synchronization
import XCTest

@testable import PorterJetStream

/// Requests about many mailboxes, each needing a signature verified.
final class LongExchangesTests: XCTestCase {
  /// Asks what waits in so many mailboxes (`check`), with signatures that prove nothing.
  private func question(_ count: Int) -> RelayService.Exchange {
    let start = [1] + [UInt8](repeating: 7, count: 24) + [0, 0]
    let entry = [UInt8](repeating: 9, count: 24 + 64)
    let entries = (0..<count).flatMap { _ in entry }
    return .init(request: start + [14, UInt8(count >> 8), UInt8(count & 0xff)] + entries)
  }

  private func wait(for condition: @Sendable () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while !condition(), .now < end { try await Task.sleep(for: .milliseconds(1)) }
    XCTAssertTrue(condition())
  }

  func testFewAreUnderWayAtATime() async throws {
    for _ in 0..<20 {
      let node = try OpenNode()
      let backEnd = try node.open()
      defer { backEnd.close() }
      let begin = ContinuousClock.now
      for _ in 0..<40 { backEnd.exchange(question(64)) { _ in } }
      backEnd.exchange(question(1)) { _ in }
      try await wait { node.queries > 4 * 64 }
      let (queries, waiting, isOverloaded) = (node.queries, backEnd.waiting, backEnd.isOverloaded)
      // After 700 ms the first end, and others begin.
      guard ContinuousClock.now - begin < .milliseconds(600) else { continue }
      XCTAssertEqual(queries, 4 * 64 + 1, "a short one waits for none of the long ones")
      XCTAssertEqual(waiting, 41)
      XCTAssertFalse(isOverloaded)
      return
    }
    XCTFail("the machine is too busy")
  }

  /// Otherwise clients with few mailboxes would be refused, and the relay not be ready.
  func testTheyLeaveRoomForOthers() async throws {
    for _ in 0..<20 {
      let node = try OpenNode()
      let backEnd = try node.open(exchanges: 16)
      defer { backEnd.close() }
      let refused = Mutex(0)
      let begin = ContinuousClock.now
      for _ in 0..<40 {
        backEnd.exchange(question(64)) { reply in if reply == .unavailable { refused.withLock { $0 += 1 } } }
      }
      let (count, isOverloaded) = (refused.withLock { $0 }, backEnd.isOverloaded)
      backEnd.exchange(question(1)) { _ in }
      let waiting = backEnd.waiting
      // After 700 ms the first end.
      guard ContinuousClock.now - begin < .milliseconds(600) else { continue }
      XCTAssertEqual(count, 34, "four are under way, and two may wait, half of a quarter")
      XCTAssertFalse(isOverloaded)
      XCTAssertEqual(waiting, 7)
      return
    }
    XCTFail("the machine is too busy")
  }

  private func exchanges(_ jobs: [(name: String, source: UInt8, seconds: Int)]) -> LongExchanges<String> {
    var exchanges = LongExchanges<String>()
    for (name, source, seconds) in jobs {
      exchanges.add(name, signatures: 256, of: Source(bytes: [source]), deadline: now + .seconds(seconds))
    }
    return exchanges
  }

  private let now = ContinuousClock.now

  func testASourceDoesNotWaitBehindTheLongOnesOfAnother() {
    var exchanges = exchanges((0..<100).map { ("one \($0)", 1, 1) } + [("two", 2, 1)])
    var begun: [String] = []
    while let turn = exchanges.begin(now: now) { begun += turn.jobs.map(\.job) }
    XCTAssertEqual(begun, ["one 0", "two", "one 1", "one 2"])
    exchanges.end()
    XCTAssertEqual(exchanges.begin(now: now)?.jobs.map(\.job), ["one 3"])
  }

  func testWhatIsLateDoesNotWaitForItsSourcesTurn() {
    var exchanges = exchanges((0..<9).map { ("one \($0)", 1, 1) } + [("two 0", 2, 1), ("two 1", 2, 3)])
    let turn = exchanges.begin(now: now + .seconds(2))
    XCTAssertEqual(turn?.late.count, 10)
    XCTAssertEqual(turn?.jobs.map(\.job), ["two 1"])
    XCTAssertNil(exchanges.begin(now: now + .seconds(2)))
  }

  /// A client repeats what it got no answer to, so an answer that comes too late is work for nothing.
  func testOneThatWaitsForASecondIsRefused() async throws {
    let node = try OpenNode()
    let backEnd = try node.open()
    let begin = ContinuousClock.now
    let refused = Mutex(0)
    for _ in 0..<100 {
      backEnd.exchange(question(64)) { reply in if reply == .unavailable { refused.withLock { $0 += 1 } } }
    }
    try await wait { refused.withLock { $0 } == 100 }
    // Four at a time, for 700 ms each, would take 17 s.
    XCTAssertLessThan(ContinuousClock.now - begin, .seconds(10), "each within a second, or several on a busy machine")
    backEnd.close()
  }
}
