import PorterPlatform

/// Something that is wrong, and is tried again until it passes.
package struct ServerProblem: Hashable, Sendable, CustomStringConvertible {
  package enum Part: Hashable, Sendable {
    case relay
    case state
    case provider(String)
  }

  let part: Part
  let reason: String

  package var description: String {
    switch part {
    case .relay: "relay: \(reason)"
    case .state: "state: \(reason)"
    case .provider(let name): "provider \(name): \(reason)"
    }
  }
}

/// What is counted of pushes.
public struct PushCount: Hashable, Sendable {
  public let provider: String
  /// Without what a provider says in its own words.
  public let outcome: String
}

/// What a server's operator asks, from any thread.
package final class ServerStatus: Sendable {
  private struct State {
    var problems: [ServerProblem] = []
    var isServing = false
    var outcomes: [PushCount: Int] = [:]
  }

  private let state = Monitor(State())

  package init() {}

  package var problems: [ServerProblem] { state.withLock { $0.problems } }

  /// The server runs, and reaches its relay.
  package var isReady: Bool {
    state.withLock { state in state.isServing && !state.problems.contains { $0.part == .relay } }
  }

  package var outcomes: [PushCount: Int] { state.withLock { $0.outcomes } }

  func update(_ problems: [ServerProblem], isServing: Bool = false) {
    state.withLock { state in
      state.problems = problems
      state.isServing = isServing
    }
  }

  func count(_ outcome: PushOutcome, of provider: String) {
    state.withLock { $0.outcomes[PushCount(provider: provider, outcome: outcome.kind), default: 0] += 1 }
  }
}

extension PushOutcome {
  /// One word.
  fileprivate var kind: String {
    switch self {
    case .accepted: "accepted"
    case .invalid, .ended: "invalid"
    case .unreachable: "unreachable"
    case .later: "later"
    case .failed: "failed"
    case .rejected: "rejected"
    }
  }
}
