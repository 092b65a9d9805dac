import PorterRelayCluster
import Synchronization

/// Probes for readers that must not read anything old. One probe settles all requests made before it was published, so
/// many concurrent readers cost little more than one: while one probe is under way, requests gather for the next.
final class SharedProbes: Sendable {
  private typealias Waiter = UnsafeContinuation<Result<Void, ClusterFailure>, Never>

  private struct Turn {
    /// Waiters for the next probe, and the deadline of the first.
    var waiting: [Waiter] = []
    var deadline: ContinuousClock.Instant?
    /// The number of the probe that the next one must wait for.
    var underWay: UInt64?
    var last: UInt64 = 0
  }

  /// An answer that takes longer may never come, so the next probe does not wait for it.
  private let patience: Duration
  private let probe: @Sendable (_ place: String) async throws(ClusterFailure) -> Void
  private let turns = Mutex<[String: Turn]>([:])

  init(
    patience: Duration = .milliseconds(200),
    _ probe: @escaping @Sendable (_ place: String) async throws(ClusterFailure) -> Void
  ) {
    (self.patience, self.probe) = (patience, probe)
  }

  /// Returns once a probe of this place, published after the call, has been acknowledged.
  func settle(_ place: String) async throws(ClusterFailure) {
    let deadline = ExchangeDeadline.current
    let result: Result<Void, ClusterFailure> = await withUnsafeContinuation { waiter in
      let isFree = turns.withLock { turns in
        var turn = turns[place] ?? Turn()
        if turn.waiting.isEmpty { turn.deadline = deadline }
        turn.waiting.append(waiter)
        turns[place] = turn
        return turn.underWay == nil
      }
      if isFree { publish(place) }
    }
    try result.get()
  }

  /// The number of waiters for the next probe.
  func waiting(_ place: String) -> Int { turns.withLock { $0[place]?.waiting.count ?? 0 } }

  private func publish(_ place: String) {
    let begun = turns.withLock { turns -> (waiters: [Waiter], deadline: ContinuousClock.Instant?, number: UInt64)? in
      guard var turn = turns[place], !turn.waiting.isEmpty else { return nil }
      let waiters = turn.waiting
      turn.waiting = []
      turn.last += 1
      turn.underWay = turn.last
      turns[place] = turn
      return (waiters, turn.deadline, turn.last)
    }
    guard let begun else { return }
    let overtaking = Task.detached { [self] in
      try? await Task.sleep(for: patience)
      if !Task.isCancelled { ended(place, begun.number) }
    }
    Task.detached { [self] in
      let result: Result<Void, ClusterFailure> = await ExchangeDeadline.$current.withValue(begun.deadline) {
        do throws(ClusterFailure) { return .success(try await probe(place)) } catch { return .failure(error) }
      }
      overtaking.cancel()
      for waiter in begun.waiters { waiter.resume(returning: result) }
      ended(place, begun.number)
    }
  }

  /// Lets the next probe begin, unless it has already begun.
  private func ended(_ place: String, _ number: UInt64) {
    let isNext = turns.withLock { turns in
      guard turns[place]?.underWay == number else { return false }
      turns[place]?.underWay = nil
      return true
    }
    if isNext { publish(place) }
  }
}
