import XCTest

@testable import PorterRelayServer

/// The work in one turn of the file's thread.
final class TurnQueueTests: XCTestCase {
  func testLongJobsAreCounted() {
    var queue = queue([("short", 8, nil), ("long", 9, "a"), ("behind it", 0, "a"), ("other", 0, "b")])
    XCTAssertEqual(queue.longCount, 2)
    XCTAssertEqual(queue.count, 4)
    _ = queue.takeTurn()
    XCTAssertEqual(queue.longCount, 0)
  }

  private let source = Source(address: [192, 0, 2, 1])
  private let other = Source(address: [192, 0, 2, 2])

  private func queue(_ jobs: [(name: String, signatures: Int, listener: String?)]) -> TurnQueue<String> {
    var queue = TurnQueue<String>()
    for job in jobs { queue.add(job.name, signatures: job.signatures, of: source, from: job.listener) }
    return queue
  }

  private func turns(_ queue: TurnQueue<String>) -> [[String]] {
    var (queue, turns) = (queue, [[String]]())
    while queue.count > 0 { turns.append(queue.takeTurn()) }
    return turns
  }

  func testShortJobsWaitForFewOfTheLongOnes() {
    var jobs = (0..<40).map { (name: "long \($0)", signatures: 48, listener: String?.none) }
    jobs.append((name: "short", signatures: 1, listener: nil))
    let turns = turns(queue(jobs))
    XCTAssertEqual(turns.first, ["short", "long 0"])
    XCTAssertEqual(turns.count, 40, "two of them have more to prove than a turn may")
    XCTAssertEqual(turns.flatMap { $0 }.filter { $0 != "short" }, (0..<40).map { "long \($0)" })
  }

  func testATurnHasSeveralLongJobsUpToABound() {
    let turns = turns(queue((0..<9).map { ("\($0)", $0 == 8 ? 256 : 16, nil) }))
    XCTAssertEqual(turns.map(\.count), [4, 4, 1], "the last has more than the bound, and is alone")
  }

  func testATurnHasABoundedNumberOfJobs() {
    XCTAssertEqual(turns(queue((0..<600).map { ("\($0)", 1, nil) })).map(\.count), [256, 256, 88])
  }

  /// The end of a subscription must find it.
  func testJobsOfAListenerStayInTheirOrder() {
    let turns = turns(
      queue([
        ("subscribe other", 64, "other"), ("subscribe", 64, "me"), ("send", 1, nil), ("attach", 0, "me"),
        ("forget", 0, "me"), ("ask", 1, "me"), ("ask other", 1, "third"),
      ]))
    XCTAssertEqual(turns.first, ["send", "ask other", "subscribe other"])
    XCTAssertEqual(
      turns.dropFirst().flatMap { $0 }, ["subscribe", "attach", "forget", "ask"], "behind what they wait for")
    // Nothing is queued behind anything after that.
    var rest = queue([("subscribe", 64, "me")])
    _ = rest.takeTurn()
    rest.add("long", signatures: 64, of: source, from: nil)
    rest.add("attach", signatures: 0, of: source, from: "me")
    XCTAssertEqual(rest.takeTurn(), ["attach", "long"])
  }

  /// Otherwise everyone would wait behind one source's long jobs.
  func testSourcesTakeTurnsWithTheirLongJobs() {
    var queue = queue((0..<1_000).map { ("a\($0)", 256, nil) })
    for number in 0..<3 { queue.add("b\(number)", signatures: 256, of: other, from: nil) }
    queue.add("c", signatures: 9, of: Source(address: [192, 0, 2, 3]), from: nil)
    let turns = turns(queue)
    XCTAssertEqual(turns.prefix(7).flatMap { $0 }, ["a0", "b0", "c", "a1", "b1", "a2", "b2"])
    XCTAssertEqual(turns.flatMap { $0 }.count, 1_004)
    XCTAssertEqual(turns.last, ["a999"])
  }

  /// A customer can have any number of IPv6 addresses, of thousands of networks.
  func testACustomersNetworksHaveOneTurn() {
    var queue = TurnQueue<String>()
    for subnet in 0..<UInt8(9) {
      let address: [UInt8] = [0x20, 1, 0xd, 0xb8, 0, 1, 0, subnet] + [UInt8](repeating: 1, count: 8)
      queue.add("customer", signatures: 64, of: Source(address: address), from: nil)
    }
    queue.add("other", signatures: 64, of: Source(address: [0x20, 1, 0xd, 0xb8, 0, 2]), from: nil)
    XCTAssertEqual(turns(queue).prefix(2), [["customer"], ["other"]])
  }

  func testJobsOfAListenerStayInTheirOrderWhereverTheyComeFrom() {
    var queue = queue((0..<3).map { ("subscribe \($0)", 64, "me") })
    for name in ["ask", "detach"] { queue.add(name, signatures: 1, of: other, from: "me") }
    queue.add("long", signatures: 64, of: other, from: nil)
    XCTAssertEqual(
      turns(queue), [["subscribe 0"], ["long"], ["subscribe 1"], ["subscribe 2"], ["ask", "detach"]],
      "what is short waits only for what is before it")
  }

  func testASourceMayHaveAsManyLongJobsAsItLeavesFree() {
    var queue = TurnQueue<Int>()
    func fill(_ source: Source) -> Int {
      var count = 0
      while queue.hasRoomForLong(of: source, most: 100) {
        queue.add(0, signatures: 9, of: source, from: nil)
        count += 1
      }
      return count
    }
    XCTAssertEqual(fill(source), 50)
    XCTAssertEqual(fill(other), 25)
    XCTAssertEqual(fill(source), 0)
    XCTAssertEqual(queue.longCount, 75)
  }

  func testJobsAreRemovedWhereverTheyWait() {
    var queue = queue([
      ("old 1", 1, nil), ("new 1", 1, nil), ("old 2", 1, nil), ("old 3", 64, "me"), ("new 2", 1, "me"),
      ("old 4", 1, "me"),
      ("new 3", 16, nil), ("old 5", 9, nil),
    ])
    queue.add("old 6", signatures: 9, of: other, from: "you")
    XCTAssertEqual(queue.longSignatures, 98)
    XCTAssertEqual(queue.remove { $0.hasPrefix("old") }.sorted(), (1...6).map { "old \($0)" })
    XCTAssertEqual(queue.count, 3)
    XCTAssertEqual(queue.longSignatures, 16)
    XCTAssertTrue(queue.isBehindLong("me"))
    XCTAssertFalse(queue.isBehindLong("you"))
    XCTAssertEqual(turns(queue), [["new 1", "new 2", "new 3"]])
  }

  func testASourceMayHaveHalfOfTheTimeForLongJobs() {
    var queue = TurnQueue<Int>()
    func fill(_ source: Source) -> Int {
      var count = 0
      while queue.hasTimeForLong(of: source, most: 1_000) {
        queue.add(0, signatures: 50, of: source, from: "a listener's short job does not count")
        queue.add(0, signatures: 1, of: source, from: "a listener's short job does not count")
        count += 1
      }
      return count
    }
    XCTAssertEqual(fill(source), 10)
    XCTAssertEqual(queue.longSignatures, 500)
    XCTAssertFalse(queue.hasTimeForLong(of: other, most: 500))
    while !queue.takeTurn().isEmpty {}
    XCTAssertEqual(queue.longSignatures, 0)
    XCTAssertTrue(queue.hasTimeForLong(of: other, most: 1), "one may always wait")
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
