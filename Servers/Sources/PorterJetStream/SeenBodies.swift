import PorterRelayCluster
import Synchronization

/// The times at which this relay stored bodies itself, or read them from a cluster at rest: their numbers belonged to
/// those messages then. Most bodies were read or stored shortly before by the relay that drops them.
final class SeenBodies: Sendable {
  private struct Place: Hashable {
    let stream: String
    let number: UInt64
  }

  private struct Sight {
    /// The message the body belonged to: the number may have been another message's before.
    let message: [UInt8]
    let at: ContinuousClock.Instant
  }

  private struct State {
    var newer: [Place: Sight] = [:]
    var older: [Place: Sight] = [:]
  }

  /// Once this many newer bodies are noted, older ones are forgotten and looked up before they are deleted.
  private static let most = 16_384
  private let state = Mutex(State())

  func note(_ body: StoredBody, _ stream: String, at time: ContinuousClock.Instant) {
    state.withLock { state in
      if state.newer.count >= Self.most { (state.older, state.newer) = (state.newer, [:]) }
      state.newer[Place(stream: stream, number: body.number)] = Sight(message: body.message, at: time)
    }
  }

  /// Nil if unknown.
  func time(_ body: StoredBody, _ stream: String) -> ContinuousClock.Instant? {
    let place = Place(stream: stream, number: body.number)
    guard let sight = state.withLock({ $0.newer[place] ?? $0.older[place] }), sight.message == body.message else {
      return nil
    }
    return sight.at
  }
}
