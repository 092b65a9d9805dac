import PorterMachines
import PorterPlatform
import PorterStore

/// The phase of this process, depending on its role: machine `app_phase` or `extension_phase`.
protocol ProcessPhase: AnyObject {
  /// For users and for other processes.
  var machineName: String { get }
  var stateName: String { get }
  var holdsPhaseFile: Bool { get }
  /// The user stopped the chat: nothing is received until it is started again.
  var isStopped: Bool { get }

  /// The user sees what this process commits, through its events, so it counts as shown. In every other phase it waits
  /// in the ledger until it is composed.
  var isOnScreen: Bool { get }

  /// The user has left it, and it is about to suspend: no process would show what it receives now.
  var isLeaving: Bool { get }

  /// Comes to the foreground, or is started. `declined` is called if the machine refuses, once it has answered.
  func enter(_ activation: Activation, declined: @escaping (PhaseAnswer) -> Void)
  /// Begins to work in the background for a bounded time, for a push or a wake-up. `declined`: see `enter`.
  func beginBackgroundWork(declined: @escaping (PhaseAnswer) -> Void)
  /// The host reports that the user has left it. The suspension follows on its own.
  func leaveScreen(_ suspension: Suspension)
  func suspend(_ suspension: Suspension)
  func suspendNow(_ suspension: Suspension)
  func stop(_ suspension: Suspension)

  // Reports of the chat lifecycle.
  func chatIsActive(_ request: LifecycleRequest)
  func chatIsInactive(_ request: LifecycleRequest)
  func chatIsSuspended(_ request: LifecycleRequest)
}

/// Why an event changed nothing.
enum PhaseAnswer {
  /// A harmless repeat.
  case ignored
  /// A bug in the caller, with the reason's name.
  case refused(String)
}

/// Everything a phase needs from the rest of the engine.
struct PhaseSurroundings {
  let context: EngineContext
  let file: PhaseFile
  let peers: PeerLink
  /// Raises an event at the chat lifecycle.
  let chat: (ChatLifecycle.Event, LifecycleRequest) -> Void
  /// Starts all work that a main run does on its own.
  let takeUpWork: () -> Void
  /// Starts only the work found in the store, and ensures that the mailboxes are checked when that is due.
  let takeUpWithoutSubscribing: () -> Void
  /// Called when an app leaves the screen, with its store still open.
  let showCalls: () -> Void
  /// Called when an app has published this phase.
  let appPhaseChanged: (AppPhase.State) -> Void

  func publishWorking(_ phase: String) {
    // Before the lock: a process frozen in between would hold it, but could not be asked whether it is awake. An app
    // never waits for that answer, so an extension may open its end later.
    peers.listen()
    // Several extension processes may be at work, and each holds the lock, which shows the app that one is.
    guard file.hold() else {
      // An extension works anyway: the store refuses a stale owner, and a push must not fail because a small file
      // cannot be created. But the app does not see it, and takes connections without asking.
      return context.log(
        .warning, "other processes cannot see that this one is at work",
        ["error": file.problem?.description ?? "another process keeps the phase file locked"])
    }
    file.publish(phase, by: context.instance)
  }

  /// `always`: also if this process has published nothing, and so may have no lock.
  func publishResting(_ phase: String, always: Bool = false) {
    if !file.isHeld, !always {
      // Released when the suspension began, and still ours if no other process has published since.
      guard let last = file.published(), last.instance == context.instance, last.phase != phase, file.hold() else {
        return
      }
    }
    file.release(saying: phase, by: context.instance)
  }
}

/// The phase of an app.
final class AppProcessPhase: ProcessPhase {
  private let surroundings: PhaseSurroundings
  private let driver: MachineDriver<AppPhase, LifecycleRequest>

  init(_ surroundings: PhaseSurroundings) {
    self.surroundings = surroundings
    // The user's decision outlives the process that received it.
    let isStopped = surroundings.file.published()?.isStopped ?? false
    let performer = AppPhaseWork(surroundings)
    driver = MachineDriver(surroundings.context.machines, state: isStopped ? .stopped : AppPhase.initial) {
      AppPhase.perform($0, by: performer, $1)
    }
    performer.driver = driver
  }

  var machineName: String { AppPhase.name }
  var stateName: String { driver.state.name }
  var holdsPhaseFile: Bool { surroundings.file.isHeld }
  var isStopped: Bool { driver.state == .stopped }
  var isOnScreen: Bool {
    switch driver.state {
    case .active, .activating: true
    case .background, .bgRefresh, .suspending, .suspended, .stopped: false
    }
  }
  var isLeaving: Bool {
    switch driver.state {
    case .background, .suspending, .suspended, .stopped: true
    case .active, .activating, .bgRefresh: false
    }
  }

  func enter(_ activation: Activation, declined: @escaping (PhaseAnswer) -> Void) {
    // A stopped machine needs the user's consent, which `/_start` gives.
    let event: AppPhase.Event =
      isStopped && activation.kind == .start
      ? .startConfirmed : surroundings.peers.probe() ? .foregroundExtensionActive : .foregroundExtensionInactive
    driver.post(event, .activation(activation), declined: declined)
  }

  func beginBackgroundWork(declined: @escaping (PhaseAnswer) -> Void) {
    driver.post(.refreshBegan, .activation(Activation(kind: .start)), declined: declined)
  }

  func leaveScreen(_ suspension: Suspension) { driver.post(.background, .suspension(suspension)) }
  func suspend(_ suspension: Suspension) { driver.post(.suspend, .suspension(suspension)) }
  func suspendNow(_ suspension: Suspension) { driver.post(.suspendNow, .suspension(suspension)) }
  func stop(_ suspension: Suspension) { driver.post(.stop, .suspension(suspension)) }
  func chatIsActive(_ request: LifecycleRequest) { driver.post(.activated, request) }
  func chatIsInactive(_ request: LifecycleRequest) { driver.post(.activateFailed, request) }
  func chatIsSuspended(_ request: LifecycleRequest) { driver.post(.chatSuspended, request) }
}

/// Carries out the effects of `app_phase`.
private final class AppPhaseWork: AppPhaseEffects {
  private let surroundings: PhaseSurroundings
  weak var driver: MachineDriver<AppPhase, LifecycleRequest>?

  init(_ surroundings: PhaseSurroundings) { self.surroundings = surroundings }

  func publishWorking(_ request: LifecycleRequest) {
    guard let driver else { return }
    surroundings.publishWorking(driver.state.name)
    surroundings.appPhaseChanged(driver.state)
  }

  func publishResting(_ request: LifecycleRequest) {
    guard let driver else { return }
    switch driver.state {
    // Other processes' commits are received until the store is closed.
    case .background, .suspending: break
    // The channel may have been opened only for a question, before a start that failed.
    case .active, .activating, .bgRefresh, .suspended, .stopped: surroundings.peers.close()
    }
    surroundings.publishResting(driver.state.name, always: driver.state == .stopped)
    surroundings.appPhaseChanged(driver.state)
  }

  func askExtensionToYield(_ request: LifecycleRequest) { surroundings.peers.askExtensionToYield() }

  func activateChat(_ request: LifecycleRequest) {
    // There is one app (INC-16).
    guard surroundings.file.hold() else {
      driver?.post(.activateFailed, .suspension(.immediate(at: surroundings.context.clock.now())))
      return
    }
    switch request.activation?.kind {
    case .activate: surroundings.chat(.activate, request)
    case .start, nil: surroundings.chat(.start, request)
    }
  }

  func takeUpWork(_ request: LifecycleRequest) {
    if request.activation?.takesUpWork ?? true {
      surroundings.takeUpWork()
    } else {
      surroundings.takeUpWithoutSubscribing()
    }
  }

  func showCalls(_ request: LifecycleRequest) { surroundings.showCalls() }

  func suspendChat(_ request: LifecycleRequest) {
    let end = surroundings.context.clock.now() + Durations.refreshSuspension
    surroundings.chat(.suspend, request.suspension == nil ? .suspension(Suspension(end: end)) : request)
  }

  func suspendChatNow(_ request: LifecycleRequest) {
    surroundings.chat(
      .suspendNow,
      request.suspension == nil ? .suspension(.immediate(at: surroundings.context.clock.now())) : request)
  }

  func stopChat(_ request: LifecycleRequest) { surroundings.chat(.stop, request) }

  /// Passes no deadline for what follows: in the background nothing is urgent.
  func stopNetwork(_ request: LifecycleRequest) { surroundings.chat(.background, .none) }

  func armBackground(_ request: LifecycleRequest) {
    let context = surroundings.context
    let now = context.clock.now()
    let suspension = request.suspension ?? Suspension(end: now + Durations.backgroundSuspension)
    context.timers.set(
      Self.backgroundTimer, after: max(.zero, suspension.end - now - Durations.refreshSuspension)
    ) { [weak self] in self?.driver?.post(.backgroundOver, .suspension(suspension)) }
  }

  func cancelBackground(_ request: LifecycleRequest) { surroundings.context.timers.cancel(Self.backgroundTimer) }

  private static let backgroundTimer = "background"
}

/// The phase of a notification extension.
final class ExtensionProcessPhase: ProcessPhase {
  private let surroundings: PhaseSurroundings
  private let driver: MachineDriver<ExtensionPhase, LifecycleRequest>

  init(_ surroundings: PhaseSurroundings) {
    self.surroundings = surroundings
    let performer = ExtensionPhaseWork(surroundings)
    driver = MachineDriver(surroundings.context.machines) { ExtensionPhase.perform($0, by: performer, $1) }
    performer.driver = driver
  }

  var machineName: String { ExtensionPhase.name }
  var stateName: String { driver.state.name }
  var holdsPhaseFile: Bool { surroundings.file.isHeld }
  /// The stop command goes to the app; an extension reads it from the app's phase file.
  var isStopped: Bool { false }
  var isOnScreen: Bool { false }
  /// Its commits are shown with the answer to a push.
  var isLeaving: Bool { false }

  func enter(_ activation: Activation, declined: @escaping (PhaseAnswer) -> Void) {
    driver.post(.start, .activation(activation), declined: declined)
  }

  func beginBackgroundWork(declined: @escaping (PhaseAnswer) -> Void) {
    enter(Activation(kind: .start), declined: declined)
  }

  /// An extension is never on screen, and suspends between its pushes.
  func leaveScreen(_ suspension: Suspension) { suspend(suspension) }
  func suspend(_ suspension: Suspension) { driver.post(.suspend, .suspension(suspension)) }
  func suspendNow(_ suspension: Suspension) { driver.post(.suspendNow, .suspension(suspension)) }
  /// An extension has no stopped state: it releases everything.
  func stop(_ suspension: Suspension) {
    driver.post(.suspendNow, .suspension(.immediate(at: surroundings.context.clock.now())))
  }
  func yieldToApp(_ suspension: Suspension) { driver.post(.appRunning, .suspension(suspension)) }
  func chatIsActive(_ request: LifecycleRequest) { driver.post(.started, request) }
  func chatIsInactive(_ request: LifecycleRequest) { driver.post(.startFailed, request) }
  func chatIsSuspended(_ request: LifecycleRequest) { driver.post(.chatSuspended, request) }
}

/// Carries out the effects of `extension_phase`.
private final class ExtensionPhaseWork: ExtensionPhaseEffects {
  private let surroundings: PhaseSurroundings
  weak var driver: MachineDriver<ExtensionPhase, LifecycleRequest>?

  init(_ surroundings: PhaseSurroundings) { self.surroundings = surroundings }

  func publishWorking(_ request: LifecycleRequest) {
    if let driver { surroundings.publishWorking(driver.state.name) }
  }

  func publishResting(_ request: LifecycleRequest) {
    surroundings.peers.close()
    if let driver { surroundings.publishResting(driver.state.name) }
  }

  func openChat(_ request: LifecycleRequest) { surroundings.chat(.start, request) }
  func suspendChat(_ request: LifecycleRequest) { surroundings.chat(.suspend, request) }
  func suspendChatNow(_ request: LifecycleRequest) {
    surroundings.chat(request.suspension?.mayDoze ?? false ? .doze : .suspendNow, request)
  }
}

extension MachineDriver {
  fileprivate func post(_ event: M.Event, _ argument: Argument, declined: @escaping (PhaseAnswer) -> Void) {
    post(event, argument) { answer in
      switch answer {
      case .moved, .stayed: break
      case .ignored: declined(.ignored)
      case .refused(let reason): declined(.refused(reason.name))
      }
    }
  }
}
