// Generated from spec/machines/app_phase.scxml by porter-machines: change that file, run `make spec`.

/// The phase of the app's process, as other processes see it. It is published together with the instance that wrote it,
/// and believed only while that process lives (INC-12, INC-13, INC-17). A process that has just started is suspended:
/// it holds nothing yet.
package enum AppPhase: Machine {
  package enum State: UInt8, MachineCode {
    /// At the front; receives by itself.
    case active
    /// Coming to the front: the store opens. Counts as running, so that extensions yield. An extension at work is asked
    /// to let go, and not waited for: the store is the referee (INC-07, INC-22).
    case activating
    /// At work in the background, for a bounded time.
    case bgRefresh
    /// Finishes what has begun, within a delay.
    case suspending
    /// Holds nothing: the system may freeze or end the process at any moment (INC-01).
    case suspended
    /// The user stopped the chat. Neither process receives anything until it is started again.
    case stopped

    package var name: String {
      switch self {
      case .active: "active"
      case .activating: "activating"
      case .bgRefresh: "bgRefresh"
      case .suspending: "suspending"
      case .suspended: "suspended"
      case .stopped: "stopped"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The app comes to the front, or is started; no extension is at work.
    case foregroundExtensionInactive
    /// The app comes to the front, or is started, while an extension is at work.
    case foregroundExtensionActive
    /// The chat is active: the store is open, operations may begin.
    case activated
    /// The chat could not be activated.
    case activateFailed
    /// The app leaves the front, and no call holds it.
    case background
    /// The system grants time in the background, by a task or a silent push.
    case refreshBegan
    /// Everything must be let go of at once (suspend with a delay of 0).
    case suspendNow
    /// The chat is suspended: no file of the store is open.
    case chatSuspended
    /// The suspend timer of the current cycle fired. The engine drops those of earlier cycles (INC-21).
    case timeout
    /// The user stops the chat, or the store is about to be exported, imported or deleted.
    case stop
    /// The user starts the stopped chat again.
    case startConfirmed

    package var name: String {
      switch self {
      case .foregroundExtensionInactive: "foreground.extensionInactive"
      case .foregroundExtensionActive: "foreground.extensionActive"
      case .activated: "activated"
      case .activateFailed: "activateFailed"
      case .background: "background"
      case .refreshBegan: "refreshBegan"
      case .suspendNow: "suspendNow"
      case .chatSuspended: "chatSuspended"
      case .timeout: "timeout"
      case .stop: "stop"
      case .startConfirmed: "startConfirmed"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Write the new phase and the writing instance where other processes see it.
    case publishPhase
    /// Ask the extension to let go of what it holds.
    case askExtensionToYield
    /// Take over by a new epoch: what the extension still tries to commit is refused by the store (INC-04, INC-22).
    case displaceExtension
    /// Open, start or activate the chat, whatever it needs. Answer: activated or activateFailed.
    case activateChat
    /// Raise suspend at the chat lifecycle, with the delay that the host gave.
    case suspendChat
    /// Raise suspendNow at the chat lifecycle.
    case suspendChatNow
    /// Raise stop at the chat lifecycle.
    case stopChat
    /// Raise timeout one second after the delay that was given to the chat, with a new cycle number (INC-21).
    case armSuspendTimer
    /// End the cycle of the suspend timer.
    case cancelSuspendTimer

    package var name: String {
      switch self {
      case .publishPhase: "publishPhase"
      case .askExtensionToYield: "askExtensionToYield"
      case .displaceExtension: "displaceExtension"
      case .activateChat: "activateChat"
      case .suspendChat: "suspendChat"
      case .suspendChatNow: "suspendChatNow"
      case .stopChat: "stopChat"
      case .armSuspendTimer: "armSuspendTimer"
      case .cancelSuspendTimer: "cancelSuspendTimer"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case alreadyActive
    case appIsActive
    case alreadyActivating
    case alreadyRefreshing
    case alreadySuspending
    case alreadySuspended
    case chatStopped

    package var name: String {
      switch self {
      case .alreadyActive: "alreadyActive"
      case .appIsActive: "appIsActive"
      case .alreadyActivating: "alreadyActivating"
      case .alreadyRefreshing: "alreadyRefreshing"
      case .alreadySuspending: "alreadySuspending"
      case .alreadySuspended: "alreadySuspended"
      case .chatStopped: "chatStopped"
      }
    }
  }

  package static var name: String { "app_phase" }

  package static var initial: State { .suspended }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<AppPhase> {
    switch state {
    case .active: stepActive(event)
    case .activating: stepActivating(event)
    case .bgRefresh: stepBgRefresh(event)
    case .suspending: stepSuspending(event)
    case .suspended: stepSuspended(event)
    case .stopped: stepStopped(event)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive, .activated, .activateFailed,
      .chatSuspended, .timeout, .startConfirmed:
      MachineStep(.active, .ignored(.alreadyActive))
    case .background:
      MachineStep(.suspending, .moved, .suspendChat, .armSuspendTimer, .publishPhase)
    case .refreshBegan:
      MachineStep(.active, .refused(.appIsActive))
    case .suspendNow:
      // Published after the store is closed, never before.
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepActivating(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive, .chatSuspended, .timeout,
      .startConfirmed:
      MachineStep(.activating, .ignored(.alreadyActivating))
    case .activated:
      MachineStep(.active, .moved, .publishPhase)
    case .activateFailed:
      // A phase must not claim what did not happen.
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .background:
      MachineStep(.suspending, .moved, .suspendChat, .armSuspendTimer, .publishPhase)
    case .refreshBegan:
      MachineStep(.activating, .refused(.appIsActive))
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepBgRefresh(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      // The chat is active already.
      MachineStep(.active, .moved, .publishPhase)
    case .foregroundExtensionActive:
      MachineStep(.active, .moved, .publishPhase, .askExtensionToYield)
    case .activated, .refreshBegan, .chatSuspended, .timeout, .startConfirmed:
      // One run at a time.
      MachineStep(.bgRefresh, .ignored(.alreadyRefreshing))
    case .activateFailed:
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .background:
      MachineStep(.suspending, .moved, .suspendChat, .armSuspendTimer, .publishPhase)
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      MachineStep(.activating, .moved, .cancelSuspendTimer, .publishPhase, .activateChat)
    case .foregroundExtensionActive:
      MachineStep(
        .activating, .moved, .cancelSuspendTimer, .publishPhase, .askExtensionToYield, .displaceExtension,
        .activateChat)
    case .activated, .activateFailed, .startConfirmed:
      MachineStep(.suspending, .ignored(.alreadySuspending))
    case .background:
      // The delay given last counts.
      MachineStep(.suspending, .stayed, .suspendChat, .armSuspendTimer)
    case .refreshBegan:
      MachineStep(.bgRefresh, .moved, .cancelSuspendTimer, .publishPhase, .activateChat)
    case .suspendNow, .timeout:
      // No suspension outlives its delay (INC-01).
      MachineStep(.suspended, .moved, .cancelSuspendTimer, .suspendChatNow, .publishPhase)
    case .chatSuspended:
      MachineStep(.suspended, .moved, .cancelSuspendTimer, .publishPhase)
    case .stop:
      MachineStep(.stopped, .moved, .cancelSuspendTimer, .stopChat, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      // Published first, so that an extension that starts now yields.
      MachineStep(.activating, .moved, .publishPhase, .activateChat)
    case .foregroundExtensionActive:
      MachineStep(.activating, .moved, .publishPhase, .askExtensionToYield, .displaceExtension, .activateChat)
    case .activated, .activateFailed, .chatSuspended, .timeout, .startConfirmed:
      MachineStep(.suspended, .ignored(.alreadySuspended))
    case .background:
      // A store that was opened, but never started, must not stay open either.
      MachineStep(.suspended, .stayed, .suspendChat)
    case .refreshBegan:
      MachineStep(.bgRefresh, .moved, .publishPhase, .activateChat)
    case .suspendNow:
      MachineStep(.suspended, .stayed, .suspendChatNow)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepStopped(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive, .refreshBegan:
      MachineStep(.stopped, .refused(.chatStopped))
    case .activated, .activateFailed, .chatSuspended, .timeout, .stop:
      MachineStep(.stopped, .ignored(.chatStopped))
    case .background:
      // The store of a stopped chat is open, and must not be when the process is frozen (INC-01).
      MachineStep(.stopped, .stayed, .suspendChat)
    case .suspendNow:
      MachineStep(.stopped, .stayed, .suspendChatNow)
    case .startConfirmed:
      MachineStep(.activating, .moved, .publishPhase, .activateChat)
    }
  }
}

extension MachineRunner where M == AppPhase {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: AppPhase.Event) -> MachineStep<AppPhase> {
    let step = AppPhase.step(state, event)
    state = step.next
    return step
  }
}
