import PorterMachines
import PorterStore

/// What an extension reads from the app's phase.
extension PhaseFile.Published {
  /// Whether the app, if it is running, shows what arrives. Not in the background: a round there may end without a message, or its host
  /// with it, and nothing would be shown. An app of another version may publish a phase that this one does not know; it is on screen as far
  /// as anyone here knows.
  var showsWhatArrives: Bool {
    guard let state = AppPhase.State(name: phase) else { return true }
    return switch state {
    case .active, .activating: true
    // The others are published as the lock is released, which may be seen in between.
    case .bgRefresh, .background, .suspending, .suspended, .stopped: false
    }
  }

  /// The user has stopped the chat, which outlives the process.
  var isStopped: Bool { phase == AppPhase.State.stopped.name }
}
