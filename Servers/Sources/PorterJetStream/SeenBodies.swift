import Synchronization

/// When this relay has stored bodies itself, or has read them from a cluster at rest: their numbers were those messages' then. Most bodies are
/// read or stored by the relay that drops them, a moment before.
final class SeenBodies: Sendable {
  private struct Body: Hashable {
    let stream: String
    let number: UInt64
  }

  private struct State {
    var newer: [Body: ContinuousClock.Instant] = [:]
    var older: [Body: ContinuousClock.Instant] = [:]
  }

  /// What is older than as many others is forgotten, and asked for before it is deleted.
  private static let most = 16_384
  private let state = Mutex(State())

  func note(_ stream: String, _ number: UInt64, at time: ContinuousClock.Instant) {
    state.withLock { state in
      if state.newer.count >= Self.most { (state.older, state.newer) = (state.newer, [:]) }
      state.newer[Body(stream: stream, number: number)] = time
    }
  }

  /// Nil if it is not known.
  func time(_ stream: String, _ number: UInt64) -> ContinuousClock.Instant? {
    let body = Body(stream: stream, number: number)
    return state.withLock { $0.newer[body] ?? $0.older[body] }
  }
}
