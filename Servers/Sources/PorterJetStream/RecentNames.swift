import Synchronization

/// Names of the items this process added to queues within the last minute. If two processes add the same item, it is
/// queued twice; takers recognise the duplicate.
final class RecentNames: Sendable {
  private static let span = Duration.seconds(60)

  private struct State {
    var names: Set<String> = []
    var order: [(name: String, at: ContinuousClock.Instant)] = []
  }

  private let state = Mutex(State())

  func contains(_ name: String) -> Bool { state.withLock { $0.names.contains(name) } }

  func insert(_ name: String, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      let old = state.order.prefix { now - $0.at > Self.span }
      for each in old { state.names.remove(each.name) }
      state.order.removeFirst(old.count)
      if state.names.insert(name).inserted { state.order.append((name, now)) }
    }
  }
}
