import PorterRelayCluster
import Synchronization

/// When this relay has stored bodies itself, or has read them from a cluster at rest: their numbers were those messages' then. Most bodies are
/// read or stored by the relay that drops them, a moment before.
final class SeenBodies: Sendable {
  private struct Place: Hashable {
    let stream: String
    let number: UInt64
  }

  private struct Sight {
    /// Whose body it was: the number may have been another message's before.
    let message: [UInt8]
    let at: ContinuousClock.Instant
  }

  private struct State {
    var newer: [Place: Sight] = [:]
    var older: [Place: Sight] = [:]
  }

  /// What is older than as many others is forgotten, and asked for before it is deleted.
  private static let most = 16_384
  private let state = Mutex(State())

  func note(_ body: StoredBody, _ stream: String, at time: ContinuousClock.Instant) {
    state.withLock { state in
      if state.newer.count >= Self.most { (state.older, state.newer) = (state.newer, [:]) }
      state.newer[Place(stream: stream, number: body.number)] = Sight(message: body.message, at: time)
    }
  }

  /// Nil if it is not known.
  func time(_ body: StoredBody, _ stream: String) -> ContinuousClock.Instant? {
    let place = Place(stream: stream, number: body.number)
    guard let sight = state.withLock({ $0.newer[place] ?? $0.older[place] }), sight.message == body.message else {
      return nil
    }
    return sight.at
  }
}
