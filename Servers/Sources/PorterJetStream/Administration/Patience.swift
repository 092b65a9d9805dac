import PorterRelayCluster
import Synchronization

/// How long a command retries what the cluster does not answer, over all its questions: otherwise a question that fails
/// again and again could keep a command with many of them running for hours.
final class Patience: Sendable {
  /// The patience of the running command.
  @TaskLocal static var current = Patience()

  /// An election takes up to 9 s, and a command may meet several.
  static let longest = Duration.seconds(40)
  private static let pause = Duration.milliseconds(250)
  /// One second is regained for each of this many seconds without a failure: a long backup survives more elections than
  /// a short command.
  private static let recovery = 10

  private struct State {
    /// Failed questions that are being retried.
    var failing = 0
    /// The time since which some are failing, or none are.
    var since = ContinuousClock.now
    var spent = Duration.zero
  }

  private let state = Mutex(State())

  /// Questions asked together fail together, so their time counts once.
  func begin(now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      if state.failing == 0 {
        state.spent = max(.zero, state.spent - (now - state.since) / Self.recovery)
        state.since = now
      }
      state.failing += 1
    }
  }

  func end(now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      state.failing -= 1
      if state.failing == 0 {
        state.spent += now - state.since
        state.since = now
      }
    }
  }

  func isOver(now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in state.spent + (state.failing > 0 ? now - state.since : .zero) >= Self.longest }
  }

  fileprivate static func wait() async { try? await Task.sleep(for: pause) }
}

/// Retries until the command's patience is exhausted.
func patiently<Value: Sendable>(
  _ body: () async throws(ClusterFailure) -> Value
) async throws(ClusterFailure) -> Value {
  var failure: ClusterFailure
  do throws(ClusterFailure) { return try await body() } catch { failure = error }
  let patience = Patience.current
  patience.begin()
  defer { patience.end() }
  while !patience.isOver() {
    await Patience.wait()
    do throws(ClusterFailure) { return try await body() } catch { failure = error }
  }
  throw failure
}
