import PorterMachines
import PorterStore

/// The app's phase as an extension reads it.
extension PhaseFile.Published {
  /// Whether the app, if running, shows what arrives. Not in the background: a round there may end without a message,
  /// or its host may end with it, and nothing would be shown. An app of another version may publish a phase unknown to
  /// this one; it is taken to be on screen.
  var showsWhatArrives: Bool {
    guard let state = AppPhase.State(name: phase) else { return true }
    return switch state {
    case .active, .activating: true
    // The other phases are published as the lock is released; this may be observed in between.
    case .bgRefresh, .background, .suspending, .suspended, .stopped: false
    }
  }

  /// Whether the user has stopped the chat; this outlives the process.
  var isStopped: Bool { phase == AppPhase.State.stopped.name }
}
