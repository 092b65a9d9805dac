import PorterRelayCluster
import Synchronization

/// How long a command tries again what the cluster does not answer, over all of its questions: one that fails again and again would otherwise
/// keep a command with many of them for hours.
final class Patience: Sendable {
  /// Of the command that is under way.
  @TaskLocal static var current = Patience()

  /// An election takes up to 9 s, and a command may meet several.
  static let longest = Duration.seconds(40)
  private static let pause = Duration.milliseconds(250)
  /// A second is regained in so many in which nothing fails: a long backup survives more elections than a short command.
  private static let recovery = 10

  private struct State {
    /// Questions that have failed and are asked again.
    var failing = 0
    /// Since when there are some, or there are none.
    var since = ContinuousClock.now
    var spent = Duration.zero
  }

  private let state = Mutex(State())

  /// Questions fail together when they are asked together, so their time counts once.
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

/// Tries again until the command's patience is over.
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
