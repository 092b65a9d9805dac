import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class SharedProbesTests: XCTestCase {
  /// Answers probes when the test says so.
  private final class Leader: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Bool, Never>]>([])
    private let published = Mutex<[String]>([])

    var places: [String] { published.withLock { $0 } }

    func probe(_ place: String) async throws(ClusterFailure) {
      let isTaken = await withCheckedContinuation { continuation in
        waiting.withLock { $0.append(continuation) }
        published.withLock { $0.append(place) }
      }
      if !isTaken { throw ClusterFailure("no answer") }
    }

    func answer(_ isTaken: Bool = true) { waiting.withLock { $0.removeFirst() }.resume(returning: isTaken) }

    func wait(for count: Int) async {
      while places.count < count { await Task.yield() }
    }
  }

  private func settling(_ probes: SharedProbes, _ place: String) -> Task<Bool, Never> {
    Task.detached {
      do throws(ClusterFailure) { try await probes.settle(place) } catch { return false }
      return true
    }
  }

  func testThoseThatAskWhileAProbeIsUnderWayShareTheNext() async {
    let leader = Leader()
    let probes = SharedProbes(patience: .seconds(600)) { (place) async throws(ClusterFailure) in
      try await leader.probe(place)
    }
    let first = settling(probes, "a")
    await leader.wait(for: 1)
    let later = (0..<64).map { _ in settling(probes, "a") }
    while probes.waiting("a") < 64, leader.places.count == 1 { await Task.yield() }
    XCTAssertEqual(leader.places, ["a"], "they do not share the one that was published before they asked")
    leader.answer()
    let isFirst = await first.value
    XCTAssertTrue(isFirst)
    await leader.wait(for: 2)
    leader.answer(false)
    for each in later {
      let isSettled = await each.value
      XCTAssertFalse(isSettled)
    }
    XCTAssertEqual(leader.places, ["a", "a"])
    let again = settling(probes, "a")
    await leader.wait(for: 3)
    leader.answer()
    let isSettled = await again.value
    XCTAssertTrue(isSettled)
  }

  func testPlacesDoNotWaitForEachOther() async {
    let leader = Leader()
    let probes = SharedProbes(patience: .seconds(600)) { (place) async throws(ClusterFailure) in
      try await leader.probe(place)
    }
    let tasks = ["a", "b"].map { settling(probes, $0) }
    await leader.wait(for: 2)
    XCTAssertEqual(Set(leader.places), ["a", "b"])
    for _ in tasks { leader.answer() }
    for each in tasks { _ = await each.value }
  }

  /// A frozen node never answers, and another one leads in the meantime.
  func testAProbeWithoutAnAnswerIsOvertaken() async {
    let leader = Leader()
    let probes = SharedProbes(patience: .milliseconds(1)) { (place) async throws(ClusterFailure) in
      try await leader.probe(place)
    }
    let first = settling(probes, "a")
    await leader.wait(for: 1)
    let second = settling(probes, "a")
    await leader.wait(for: 2)
    for _ in 0..<2 { leader.answer() }
    for each in [first, second] { _ = await each.value }
  }

  /// An exchange with little time left must not decide for the others, nor does its end say anything about the cluster.
  func testTheTimeOfOneReaderIsNotThatOfTheOthers() async throws {
    let leader = Leader()
    let deadlines = Mutex<[ContinuousClock.Instant?]>([])
    let probes = SharedProbes(patience: .seconds(600)) { (place) async throws(ClusterFailure) in
      deadlines.withLock { $0.append(ExchangeDeadline.current) }
      try await leader.probe(place)
    }
    let first = settling(probes, "a")
    await leader.wait(for: 1)
    let failure = Mutex<ClusterFailure?>(nil)
    let short = Task.detached {
      do throws(ClusterFailure) { try await settle(probes, deadline: .now + .milliseconds(50)) } catch {
        failure.withLock { $0 = error }
      }
    }
    while probes.waiting("a") < 1 { await Task.yield() }
    let long = settling(probes, "a")
    while probes.waiting("a") < 2 { await Task.yield() }
    leader.answer()
    await leader.wait(for: 2)
    let end = ContinuousClock.now + .seconds(20)
    while failure.withLock({ $0 }) == nil, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    XCTAssertEqual(failure.withLock { $0 }?.isOwn, true)
    leader.answer()
    await short.value
    for each in [first, long] {
      let isSettled = await each.value
      XCTAssertTrue(isSettled)
    }
    XCTAssertEqual(deadlines.withLock { $0 }, [nil, nil])
  }
}

private func settle(_ probes: SharedProbes, deadline: ContinuousClock.Instant) async throws(ClusterFailure) {
  let result: Result<Void, ClusterFailure> = await ExchangeDeadline.$current.withValue(deadline) {
    do throws(ClusterFailure) { return .success(try await probes.settle("a")) } catch { return .failure(error) }
  }
  try result.get()
}
