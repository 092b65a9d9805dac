import PorterPlatform

/// A current problem. The operation is retried until it passes.
package struct ServerProblem: Hashable, Sendable, CustomStringConvertible {
  package enum Part: Hashable, Sendable {
    case relay
    case state
    /// The server's own file.
    case file
    /// The cluster that holds the shared state.
    case cluster
    case provider(String)
  }

  let part: Part
  let reason: String

  package var description: String {
    switch part {
    case .relay: "relay: \(reason)"
    case .state, .file, .cluster: "state: \(reason)"
    case .provider(let name): "provider \(name): \(reason)"
    }
  }
}

extension ServerProblem {
  init(_ error: ServerError) { self.init(part: error.part, reason: "\(error)") }
}

extension ServerError {
  fileprivate var part: ServerProblem.Part {
    switch self {
    case .relay, .mailboxUnknown: .relay
    case .cluster: .cluster
    case .storage: .file
    default: .state
    }
  }
}

/// The key for counting pushes.
public struct PushCount: Hashable, Sendable {
  public let provider: String
  /// Without the provider's own words.
  public let outcome: String
}

/// The server's status for its operator, from any thread.
package final class ServerStatus: Sendable {
  private struct State {
    var problems: [ServerProblem] = []
    var isServing = false
    var outcomes: [PushCount: Int] = [:]
  }

  private let state = Monitor(State())

  package init() {}

  package var problems: [ServerProblem] { state.withLock { $0.problems } }

  /// The server is running, reaches its relay (and the cluster, if it shares its state), and can write its file.
  package var isReady: Bool {
    state.withLock { state in
      state.isServing && !state.problems.contains { [.relay, .cluster, .file].contains($0.part) }
    }
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
  /// The outcome in one word.
  fileprivate var kind: String {
    switch self {
    case .accepted: "accepted"
    case .invalid, .ended: "invalid"
    case .unreachable: "unreachable"
    case .refused: "refused"
    case .later: "later"
    case .failed: "failed"
    case .rejected: "rejected"
    }
  }
}
