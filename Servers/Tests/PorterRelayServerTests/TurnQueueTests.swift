import XCTest

@testable import PorterRelayServer

/// The work in one turn of the file's thread.
final class TurnQueueTests: XCTestCase {
  func testLongJobsAreCounted() {
    var queue = queue([("short", 8, []), ("long", 9, ["a"]), ("behind it", 0, ["a"]), ("other", 0, ["b"])])
    XCTAssertEqual(queue.longCount, 2)
    XCTAssertEqual(queue.count, 4)
    _ = queue.takeTurn()
    XCTAssertEqual(queue.longCount, 0)
  }

  private func queue(_ jobs: [(name: String, signatures: Int, listeners: [String])]) -> TurnQueue<String> {
    var queue = TurnQueue<String>()
    for job in jobs { queue.add(job.name, signatures: job.signatures, from: job.listeners) }
    return queue
  }

  private func turns(_ queue: TurnQueue<String>) -> [[String]] {
    var (queue, turns) = (queue, [[String]]())
    while queue.count > 0 { turns.append(queue.takeTurn()) }
    return turns
  }

  func testShortJobsWaitForFewOfTheLongOnes() {
    var jobs = (0..<40).map { (name: "long \($0)", signatures: 48, listeners: [String]()) }
    jobs.append((name: "short", signatures: 1, listeners: []))
    let turns = turns(queue(jobs))
    XCTAssertEqual(turns.first, ["short", "long 0"])
    XCTAssertEqual(turns.count, 40, "two of them have more to prove than a turn may")
    XCTAssertEqual(turns.flatMap { $0 }.filter { $0 != "short" }, (0..<40).map { "long \($0)" })
  }

  func testATurnHasSeveralLongJobsUpToABound() {
    let turns = turns(queue((0..<9).map { ("\($0)", $0 == 8 ? 256 : 16, []) }))
    XCTAssertEqual(turns.map(\.count), [4, 4, 1], "the last has more than the bound, and is alone")
  }

  func testATurnHasABoundedNumberOfJobs() {
    XCTAssertEqual(turns(queue((0..<600).map { ("\($0)", 1, []) })).map(\.count), [256, 256, 88])
  }

  /// The end of a subscription must find it.
  func testJobsOfAListenerStayInTheirOrder() {
    let turns = turns(
      queue([
        ("subscribe other", 64, ["other"]), ("subscribe", 64, ["me"]), ("send", 1, []), ("attach", 0, ["me"]),
        ("forget", 0, ["somewhere", "me"]), ("ask", 1, ["me"]), ("ask other", 1, ["third"]),
      ]))
    XCTAssertEqual(turns.first, ["send", "ask other", "subscribe other"])
    XCTAssertEqual(
      turns.dropFirst().flatMap { $0 }, ["subscribe", "attach", "forget", "ask"], "behind what they wait for")
    // Nothing is queued behind anything after that.
    var rest = queue([("subscribe", 64, ["me"])])
    _ = rest.takeTurn()
    rest.add("long", signatures: 64, from: [])
    rest.add("attach", signatures: 0, from: ["me"])
    XCTAssertEqual(rest.takeTurn(), ["attach", "long"])
  }

  func testSignaturesAreCountedInRequestsAsTheyCome() {
    let start = [1] + [UInt8](repeating: 7, count: 24) + [0, 0]
    XCTAssertEqual(RequestPeek.signatures(start + [3] + [UInt8](repeating: 0, count: 16_384)), 1, "a message")
    // SUBSCRIBE: a count, and an identifier and a signature for each.
    for count in [1, 48, 256] {
      let request = start + [6] + [UInt8](repeating: 0, count: 2 + count * 88)
      XCTAssertTrue(count...(count + 2) ~= RequestPeek.signatures(request), "\(count)")
    }
    let nonces = [UInt8](repeating: 0, count: 256 * 24)
    XCTAssertEqual(RequestPeek.signatures(start + [12] + [UInt8](repeating: 0, count: 34) + nonces), 1)
    // With nonces, and a mailbox or more.
    for count in [0, 1, 256] {
      let head = start + [21] + [UInt8](repeating: 0, count: 34) + [1, 0]
      let request = head + nonces + [UInt8](repeating: 0, count: 2 + count * 88)
      XCTAssertTrue(count...(count + 2) ~= RequestPeek.signatures(request), "\(count)")
      XCTAssertGreaterThan(RequestPeek.signatures(head), 0, "it has fewer nonces than it says")
    }
    for length in 0..<start.count { XCTAssertEqual(RequestPeek.signatures(Array(start.prefix(length))), 1) }
  }
}
