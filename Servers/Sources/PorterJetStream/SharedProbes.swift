import PorterRelayCluster
import Synchronization

/// Probes for readers that must not read anything old. One probe settles all requests made before it was published, so
/// many concurrent readers cost little more than one: while one probe is under way, requests gather for the next.
final class SharedProbes: Sendable {
  private typealias Answer = Result<Void, ClusterFailure>

  private struct Waiter {
    let deadline: ContinuousClock.Instant?
    let continuation: UnsafeContinuation<Answer, Never>
  }

  /// Those that wait for one probe, until it is answered or their own time is over.
  private final class Readers: Sendable {
    private let waiting: Mutex<[Waiter]>

    init(_ waiters: [Waiter]) { waiting = Mutex(waiters) }

    var nextDeadline: ContinuousClock.Instant? { waiting.withLock { $0.compactMap(\.deadline).min() } }

    func end(_ answer: Answer) { take { _ in true }.forEach { $0.continuation.resume(returning: answer) } }

    func expire(now: ContinuousClock.Instant) {
      let late = take { $0.deadline.map { $0 <= now } ?? false }
      for waiter in late { waiter.continuation.resume(returning: .failure(.late(isOwn: true))) }
    }

    private func take(_ isTaken: (Waiter) -> Bool) -> [Waiter] {
      waiting.withLock { waiting in
        let taken = waiting.filter(isTaken)
        waiting.removeAll(where: isTaken)
        return taken
      }
    }
  }

  private struct Turn {
    /// Waiters for the next probe.
    var waiting: [Waiter] = []
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
    let answer: Answer = await withUnsafeContinuation { continuation in
      let isFree = turns.withLock { turns in
        turns[place, default: Turn()].waiting.append(Waiter(deadline: deadline, continuation: continuation))
        return turns[place]?.underWay == nil
      }
      if isFree { publish(place) }
    }
    try answer.get()
  }

  /// The number of waiters for the next probe.
  func waiting(_ place: String) -> Int { turns.withLock { $0[place]?.waiting.count ?? 0 } }

  private func publish(_ place: String) {
    let begun = turns.withLock { turns -> (readers: Readers, number: UInt64)? in
      guard var turn = turns[place], !turn.waiting.isEmpty else { return nil }
      let readers = Readers(turn.waiting)
      turn.waiting = []
      turn.last += 1
      turn.underWay = turn.last
      turns[place] = turn
      return (readers, turn.last)
    }
    guard let (readers, number) = begun else { return }
    let overtaking = Task.detached { [self] in
      try? await Task.sleep(for: patience)
      if !Task.isCancelled { ended(place, number) }
    }
    let expiring = Task.detached {
      while !Task.isCancelled, let deadline = readers.nextDeadline {
        try? await Task.sleep(until: deadline, clock: .continuous)
        readers.expire(now: .now)
      }
    }
    // Detached: the probe has its own time. With that of one reader, it would fail for all others as well.
    Task.detached { [self] in
      let answer: Answer
      do throws(ClusterFailure) { answer = .success(try await probe(place)) } catch { answer = .failure(error) }
      overtaking.cancel()
      expiring.cancel()
      readers.end(answer)
      ended(place, number)
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
