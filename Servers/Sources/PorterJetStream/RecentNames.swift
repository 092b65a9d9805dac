import Synchronization

/// Names of the items this process added to queues within the last minute. If two processes add the same item, it is
/// queued twice; takers recognise the duplicate.
final class RecentNames: Sendable {
  private static let span = Duration.seconds(60)

  private struct State {
    var names: Set<String> = []
    var order: [(name: String, at: ContinuousClock.Instant)] = []
    /// The first one kept. Those before it are removed when they make up half of all, so that each name is moved a few
    /// times at most.
    var start = 0

    mutating func forgetOld(_ now: ContinuousClock.Instant) {
      while start < order.count, now - order[start].at > RecentNames.span {
        names.remove(order[start].name)
        start += 1
      }
      guard start * 2 > order.count else { return }
      order.removeFirst(start)
      start = 0
    }
  }

  private let state = Mutex(State())

  func contains(_ name: String) -> Bool { state.withLock { $0.names.contains(name) } }

  func insert(_ name: String, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      state.forgetOld(now)
      if state.names.insert(name).inserted { state.order.append((name, now)) }
    }
  }
}
