import PorterPlatform

/// Work for later turns, one piece in each, so that between two messages the engine notices what it is asked for.
final class DeferredWork {
  private let stop: StopSignal
  private var waiting: [() -> Void] = []

  init(stop: StopSignal) { self.stop = stop }

  var isEmpty: Bool { waiting.isEmpty }

  /// Runs `work` in a later turn: after the jobs that wait, the timers that are due, and what was deferred before.
  func add(_ work: @escaping () -> Void) { waiting.append(work) }

  /// Runs one piece, if it returns true. Not while a job waits that has the engine release everything: that job comes first.
  func runNext() -> Bool {
    guard !waiting.isEmpty, !stop.isStopRequested else { return false }
    waiting.removeFirst()()
    return true
  }

  /// In the engine's last turn: each piece finds everything closed, and reports that to its caller.
  func runAll() {
    while !waiting.isEmpty { waiting.removeFirst()() }
  }
}
