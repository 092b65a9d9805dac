import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// The rounds of an app that is not on screen, and when the next one is due.
///
/// Owns the machine `background_refresh`. A round does a push's work: `PushRunner` looks into the mailboxes and
/// composes what is shown; this part says how long it may take, and has the app released before the round is answered.
/// Threads: the engine's.
final class Refresh: BackgroundRefreshEffects {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  /// Raises expire on the push in progress.
  private let expirePush: () -> Void
  private lazy var driver = MachineDriver<BackgroundRefresh, Void>(context.machines) {
    [unowned self] effect, argument in BackgroundRefresh.perform(effect, by: self, argument)
  }
  private var schedule = RefreshSchedule()
  /// The round waiting for the app to be released.
  private var ending: Ending?

  private struct Ending {
    let isWhole: Bool
    /// The time by which everything must be released.
    let due: Moment
    let then: () -> Void
  }

  init(_ context: EngineContext, lifecycle: Lifecycle, expirePush: @escaping () -> Void) {
    self.context = context
    self.lifecycle = lifecycle
    self.expirePush = expirePush
  }

  var state: BackgroundRefresh.State { driver.state }

  /// How long the host may let the app rest; nil in a process that runs no rounds.
  var nextRefresh: Span? { context.role == .app ? schedule.next(at: context.clock.now()) : nil }

  // MARK: From the phase

  func phaseChanged(to phase: AppPhase.State) {
    switch phase {
    case .active, .activating: driver.post(.entered, ())
    case .background, .suspending, .suspended: driver.post(.left, ())
    case .stopped: driver.post(.stopped, ())
    case .bgRefresh: break
    }
  }

  // MARK: From a push

  /// An app's push is about to open the store. On screen, the app has no rounds.
  func begin() {
    if context.role == .app, !lifecycle.phase.isOnScreen { driver.post(.begin, ()) }
  }

  /// The push has done its work, and is answered in `then`: after a round, once everything is released. `isWhole`:
  /// every mailbox was looked into.
  func end(isWhole: Bool, by due: Moment, then: @escaping () -> Void) {
    reportRefreshed(())
    ending = Ending(isWhole: isWhole, due: due, then: then)
    readMode()
    driver.post(.ended, ())
  }

  // MARK: Effects

  func planNext(_ argument: Void) {
    readMode()
    schedule.planNext(at: context.clock.now())
  }

  func planSoon(_ argument: Void) { schedule.planSoon(at: context.clock.now()) }

  func cancelPlan(_ argument: Void) { schedule.cancel() }

  func endReceiving(_ argument: Void) { expirePush() }

  func releaseApp(_ argument: Void) {
    guard let ending else { return }
    let now = context.clock.now()
    lifecycle.endBackgroundWork(by: min(ending.due, now + Durations.refreshSuspension)) { [weak self] in
      guard let self else { return }
      if ending.isWhole { schedule.lastRound = context.clock.now() }
      driver.post(ending.isWhole ? .releasedDone : .releasedCut, ())
    }
  }

  func reportRefreshed(_ argument: Void) {
    let ended = ending
    ending = nil
    ended?.then()
  }

  /// While the store is closed, the last known mode is kept. Nil without a token.
  private func readMode() {
    guard let store = context.store else { return }
    do throws(StoreError) {
      schedule.mode = try store.token().flatMap { NotificationMode(rawValue: $0.mode) }
    } catch {
      context.log(.info, "the mode is taken to be what it was", ["error": error.description])
    }
  }
}
