import PropertyTesting
import XCTest

@testable import PorterEngine

/// When each request is carried out, and on which way.
final class RelayWaysTests: XCTestCase {
  private func starts(_ pairs: (Int, Int)...) -> [RelayWays.Start] {
    pairs.map { RelayWays.Start(request: $0.0, way: $0.1) }
  }

  func testWithOneWayEverythingIsCarriedOutInOrderAndPushesFirst() {
    var ways = RelayWays(count: 1, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .sending), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), [])
    XCTAssertEqual(ways.add(2, on: .push), [])
    XCTAssertEqual(ways.add(3, on: .push), [])
    XCTAssertEqual(ways.ended(0), starts((2, 0)))
    XCTAssertEqual(ways.ended(2), starts((3, 0)))
    XCTAssertEqual(ways.ended(3), starts((1, 0)))
    XCTAssertEqual(ways.ended(1), [])
  }

  func testWithTwoWaysWhatIsReceivedDelaysNothingThatIsSent() {
    var ways = RelayWays(count: 2, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), [])
    XCTAssertEqual(ways.add(2, on: .sending), starts((2, 1)))
    XCTAssertEqual(ways.add(3, on: .sending), [])
    XCTAssertEqual(ways.ended(2), starts((3, 1)))
    XCTAssertEqual(ways.ended(0), starts((1, 0)))
  }

  /// The third push waits, and comes before sending.
  func testWithTwoWaysTwoPushesHaveBoth() {
    var ways = RelayWays(count: 2, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .push), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .push), starts((1, 1)))
    XCTAssertEqual(ways.add(2, on: .sending), [])
    XCTAssertEqual(ways.add(3, on: .push), [])
    XCTAssertEqual(ways.ended(1), starts((3, 1)))
    XCTAssertEqual(ways.ended(0), [], "sending has a way of its own")
    XCTAssertEqual(ways.ended(3), starts((2, 1)))
  }

  /// Each push has its own way, whatever hangs; the sending way is taken last.
  func testWithManyWaysNoPushWaits() {
    var ways = RelayWays(count: 5, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), [], "one at a time")
    XCTAssertEqual(ways.add(2, on: .push), starts((2, 2)))
    XCTAssertEqual(ways.add(3, on: .push), starts((3, 3)))
    XCTAssertEqual(ways.add(4, on: .push), starts((4, 4)))
    XCTAssertEqual(ways.add(5, on: .push), starts((5, 1)))
    XCTAssertEqual(ways.add(6, on: .push), [])
    XCTAssertEqual(ways.ended(3), starts((6, 3)))
    XCTAssertEqual(ways.ended(0), starts((1, 0)))
  }

  /// A request that has been unanswered for a long time does not hold back the next one, up to six of them.
  func testWhatIsLateHoldsNothingBack() {
    var ways = RelayWays(count: 9, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)))
    for request in 1..<9 { XCTAssertEqual(ways.add(request, on: .receiving), []) }
    XCTAssertEqual(ways.late(0), starts((1, 2)))
    XCTAssertEqual(ways.late(0), [], "the next one is not late")
    XCTAssertEqual(ways.ended(0), [])
    XCTAssertEqual(ways.late(1), starts((2, 0)))
    for (request, way) in [(2, 3), (3, 4), (4, 5), (5, 6)] {
      XCTAssertEqual(ways.late(request), starts((request + 1, way)))
    }
    XCTAssertEqual(ways.late(6), [], "six are under way")
    XCTAssertEqual(ways.givenUp(1), [], "it keeps its way")
    XCTAssertEqual(ways.ended(1), starts((7, 2)))
    XCTAssertEqual(ways.late(42), [], "unknown")
  }

  /// A request for the notification server's answers counts as one for messages, delays nothing that is sent, and comes
  /// before the others.
  func testAnswersOfTheServerAreReceivedFirst() {
    var ways = RelayWays(count: 9, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .replies), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .sending), starts((1, 1)))
    XCTAssertEqual(ways.add(2, on: .receiving), [], "one at a time")
    XCTAssertEqual(ways.add(3, on: .replies), [])
    XCTAssertEqual(ways.hasten(3), [], "no push is about it")
    XCTAssertEqual(ways.late(0), starts((3, 2)))
    XCTAssertEqual(ways.late(3), starts((2, 3)))
    XCTAssertEqual(ways.add(4, on: .replies), [])
    XCTAssertEqual(ways.givenUp(2), starts((4, 4)))
    XCTAssertEqual(ways.ended(4), [])
  }

  func testWithTwoWaysAnswersOfTheServerDelayNothingThatIsSent() {
    var ways = RelayWays(count: 2, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .replies), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .sending), starts((1, 1)))
    XCTAssertEqual(ways.add(2, on: .receiving), [])
    XCTAssertEqual(ways.add(3, on: .replies), [])
    XCTAssertEqual(ways.ended(0), starts((3, 0)))
    XCTAssertEqual(ways.ended(3), starts((2, 0)))
  }

  /// Requests that no push is about have ways that no push takes while it has another.
  func testPushesLeaveTheWaysOfWhatIsReceived() {
    var ways = RelayWays(count: 8, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .push), starts((0, 7)))
    XCTAssertEqual(ways.add(1, on: .push), starts((1, 0)))
    XCTAssertEqual(ways.add(2, on: .receiving), starts((2, 2)))
  }

  /// What the process receives by itself does not wait behind a push that hangs.
  func testReceivingTakesAnyFreeWay() {
    var ways = RelayWays(count: 3, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .push), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), starts((1, 2)))
  }

  func testWhatAPushIsAboutIsHastened() {
    var ways = RelayWays(count: 3, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), [])
    XCTAssertEqual(ways.add(2, on: .receiving), [])
    XCTAssertEqual(ways.hasten(2), starts((2, 2)))
    XCTAssertEqual(ways.hasten(2), [], "it is under way")
    XCTAssertEqual(ways.hasten(7), [], "unknown")
    XCTAssertEqual(ways.add(3, on: .sending), starts((3, 1)))
    XCTAssertEqual(ways.add(4, on: .sending), [])
    XCTAssertEqual(ways.hasten(4), [], "no push is about what is sent")
  }

  /// An abandoned request is not started; if it already was, it keeps its way.
  func testWhatWasGivenUpIsNotStarted() {
    var ways = RelayWays(count: 2, sharesSending: true)
    XCTAssertEqual(ways.add(0, on: .sending), starts((0, 1)))
    XCTAssertEqual(ways.add(1, on: .sending), [])
    XCTAssertEqual(ways.add(2, on: .sending), [])
    XCTAssertEqual(ways.givenUp(0), [])
    XCTAssertEqual(ways.givenUp(1), [])
    XCTAssertEqual(ways.add(3, on: .sending), [])
    XCTAssertEqual(ways.ended(0), starts((2, 1)))
    ways.close()
    XCTAssertEqual(ways.ended(2), [])
  }

  /// Requests abandoned by a suspension still hang in the host's transport.
  func testOccupiedWaysAreTakenLast() {
    var ways = RelayWays(count: 4, sharesSending: true) { [0, 2].contains($0) }
    XCTAssertEqual(ways.add(0, on: .push), starts((0, 3)))
    XCTAssertEqual(ways.add(1, on: .push), starts((1, 1)))
    XCTAssertEqual(ways.add(2, on: .push), starts((2, 0)), "it waits for its end")
    XCTAssertEqual(ways.add(3, on: .receiving), starts((3, 2)))
  }

  /// An app sends as well as it receives: its pushes leave free the way reserved for that.
  func testAnAppsPushesDelayNothingThatIsSent() {
    var ways = RelayWays(count: 2, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .push), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .push), [])
    XCTAssertEqual(ways.add(2, on: .sending), starts((2, 1)))
    XCTAssertEqual(ways.ended(2), [])
    XCTAssertEqual(ways.ended(0), starts((1, 0)))
  }

  /// A request that never returns keeps its way, and the next one gets another.
  func testWhatHangsAndWasGivenUpDoesNotKeepOthersFromReceiving() {
    var ways = RelayWays(count: 3, sharesSending: false)
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)))
    XCTAssertEqual(ways.add(1, on: .receiving), [])
    XCTAssertEqual(ways.givenUp(0), starts((1, 2)))
    XCTAssertEqual(ways.add(2, on: .receiving), [])
    XCTAssertEqual(ways.ended(1), starts((2, 2)))
  }

  /// A transport that never returns has a few of these calls; a push still has its own way.
  func testWhatHangsIsReceivedOnFewWays() {
    let occupied = Set([0, 2, 3, 4, 5, 6])
    var ways = RelayWays(count: 71, sharesSending: true) { occupied.contains($0) }
    XCTAssertEqual(ways.add(0, on: .receiving), starts((0, 0)), "it waits for its end")
    XCTAssertEqual(ways.add(1, on: .push), starts((1, 7)))
  }

  /// Whatever arrives, in whatever order: no way carries two requests. A push waits only while every way it may take is
  /// busy, sending only while its own way is. Nothing is started twice, and in the end everything that was not given up
  /// has been started. Requests that no push is about start only on their own ways, and alongside another such request
  /// only if that one is late or given up.
  func testEverythingIsStartedOnce() {
    for seed in 0..<300 {
      var generator = SplitMix64(state: UInt64(seed))
      let (count, shares) = (Int.random(in: 1...12, using: &generator), Bool.random(using: &generator))
      let occupied = Set((0..<count).filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
      var ways = RelayWays(count: count, sharesSending: shares) { occupied.contains($0) }
      var carried: [Int: Int] = [:]
      var (started, dropped): (Set<Int>, Set<Int>) = ([], [])
      var lanes: [Int: RelayWays.Lane] = [:]
      var harmless: Set<Int> = []
      func note(_ starts: [RelayWays.Start]) {
        for start in starts {
          XCTAssertNil(carried[start.way], "seed \(seed)")
          XCTAssertTrue((0..<count).contains(start.way), "seed \(seed)")
          XCTAssertTrue(started.insert(start.request).inserted, "seed \(seed)")
          XCTAssertFalse(dropped.contains(start.request), "seed \(seed)")
          if count > 1, lanes[start.request]?.isFetching ?? false {
            XCTAssertTrue(([0] + Array(2..<7)).contains(start.way), "seed \(seed)")
            let others = carried.values.filter { lanes[$0]?.isFetching ?? false }
            XCTAssertTrue(others.allSatisfy(harmless.contains), "seed \(seed)")
          }
          carried[start.way] = start.request
        }
        let waiting = Set(lanes.filter { !started.contains($0.key) && !dropped.contains($0.key) }.values)
        let forPushes = (0..<count).filter { count == 1 || shares || $0 != RelayWays.sendingWay }
        if waiting.contains(.push) { XCTAssertTrue(forPushes.allSatisfy { carried[$0] != nil }, "seed \(seed)") }
        if waiting.contains(.sending) { XCTAssertNotNil(carried[min(RelayWays.sendingWay, count - 1)], "seed \(seed)") }
      }
      for request in 0..<60 {
        let lane = RelayWays.Lane.allCases.randomElement(using: &generator) ?? .push
        lanes[request] = lane
        note(ways.add(request, on: lane))
        if lane == .receiving, Bool.random(using: &generator) {
          let starts = ways.hasten(request)
          if !started.contains(request) { lanes[request] = .push }
          note(starts)
        }
        if Int.random(in: 0..<6, using: &generator) == 0 {
          let victim = Int.random(in: 0...request, using: &generator)
          if started.contains(victim) { harmless.insert(victim) } else { dropped.insert(victim) }
          note(ways.givenUp(victim))
        }
        if let late = carried.values.sorted().randomElement(using: &generator),
          Int.random(in: 0..<3, using: &generator) == 0
        {
          harmless.insert(late)
          note(ways.late(late))
        }
        if let way = carried.keys.sorted().randomElement(using: &generator), Bool.random(using: &generator),
          let ended = carried.removeValue(forKey: way)
        {
          note(ways.ended(ended))
        }
      }
      while let way = carried.keys.min(), let ended = carried.removeValue(forKey: way) { note(ways.ended(ended)) }
      XCTAssertEqual(started.union(dropped).count, 60, "seed \(seed)")
    }
  }
}
