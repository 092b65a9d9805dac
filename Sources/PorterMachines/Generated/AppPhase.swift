// Generated from spec/machines/app_phase.scxml by porter-machines: change that file, run `make spec`.

/// The phase of the app's process, as other processes see it. It is published together with the instance that wrote it,
/// and is valid only while that process is running (INC-12, INC-13, INC-17). A new process starts as suspended, since
/// it holds nothing yet; it starts as stopped if the phase file says so, since the user's decision to stop outlives the
/// process. An app that leaves the foreground stops in two stages: in the background it needs no network, suspended no
/// store. In both it has released the lock, so extensions act. Only a suspended process may be frozen: in the
/// background the store's file is open (INC-01). Activation ends within the step that began it: no other event arrives
/// in between.
package enum AppPhase: Machine {
  package enum State: UInt8, MachineCode {
    /// In the foreground; receives by itself.
    case active
    /// Coming to the foreground: the store opens. Counts as running, so that extensions yield. An extension at work is
    /// asked to release what it holds, but the app does not wait for it: the store arbitrates (INC-07, INC-22).
    case activating
    /// At work in the background for a bounded time: a system grants 30 s, 5 s of which are for coming to rest. What is
    /// committed here has not been seen; it waits in the ledger until it is composed, as in an extension.
    case bgRefresh
    /// Finishes work in progress within a delay, which the operations enforce (INC-01).
    case suspending
    /// Holds nothing: the system may freeze or end the process at any moment (INC-01).
    case suspended
    /// The user stopped the chat. Neither process receives anything until it is started again.
    case stopped
    /// Not on screen. The network comes to rest and stays at rest; the store is read and written until a suspension
    /// follows.
    case background

    package var name: String {
      switch self {
      case .active: "active"
      case .activating: "activating"
      case .bgRefresh: "bgRefresh"
      case .suspending: "suspending"
      case .suspended: "suspended"
      case .stopped: "stopped"
      case .background: "background"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The app comes to the foreground, or is started; no extension is at work.
    case foregroundExtensionInactive
    /// The app comes to the foreground, or is started, while an extension is at work.
    case foregroundExtensionActive
    /// The chat is active: the store is open, operations may begin.
    case activated
    /// The chat could not be activated.
    case activateFailed
    /// The app leaves the foreground, and no call keeps it there: the network must come to rest.
    case background
    /// The system grants background time, for a task or a silent push.
    case refreshBegan
    /// The background time is over, and the host has not reported its end.
    case refreshOver
    /// Everything must be released now (suspend with a delay of 0).
    case suspendNow
    /// The chat is suspended: no store file is open.
    case chatSuspended
    /// The user stops the chat, or the store is about to be exported, imported or deleted.
    case stop
    /// The user starts the stopped chat again.
    case startConfirmed
    /// Everything must be released within a delay: the host requests it, or a round has ended.
    case suspend
    /// The app has been in the background for 10 s, and the host has not reported what follows.
    case backgroundOver

    package var name: String {
      switch self {
      case .foregroundExtensionInactive: "foreground.extensionInactive"
      case .foregroundExtensionActive: "foreground.extensionActive"
      case .activated: "activated"
      case .activateFailed: "activateFailed"
      case .background: "background"
      case .refreshBegan: "refreshBegan"
      case .refreshOver: "refreshOver"
      case .suspendNow: "suspendNow"
      case .chatSuspended: "chatSuspended"
      case .stop: "stop"
      case .startConfirmed: "startConfirmed"
      case .suspend: "suspend"
      case .backgroundOver: "backgroundOver"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Write the phase and the writing instance where other processes see them; the phase file's lock is held.
    case publishWorking
    /// Write the phase, and release the phase file's lock.
    case publishResting
    /// Ask the extension to release what it holds, without waiting for it: each claim of this app is a new epoch, and
    /// the store refuses what the extension still tries to commit (INC-04, INC-22).
    case askExtensionToYield
    /// Raise start or activate at the chat lifecycle. Answer: activated or activateFailed.
    case activateChat
    /// Subscribe, send, fetch, and ask the notification server what waits. If the host said not to, only continue the
    /// work found in the store, and check the mailboxes later.
    case takeUpWork
    /// Raise suspend at the chat lifecycle, with the delay given by the host; after background time, with 5 s.
    case suspendChat
    /// Raise suspendNow at the chat lifecycle.
    case suspendChatNow
    /// Raise stop at the chat lifecycle.
    case stopChat
    /// Raise background at the chat lifecycle.
    case stopNetwork
    /// Raise backgroundOver 10 s after the host reports background, leaving 5 s of a platform's usual 15 s for coming
    /// to rest.
    case armBackground
    /// Cancel backgroundOver.
    case cancelBackground
    /// Report the calls that ring in the app as notifications: off screen its host shows none.
    case showCalls
    /// Starts the timer `refresh`: raise `refreshOver` after 25000 ms.
    case startRefresh
    /// Takes the timer `refresh` back; harmless if it does not run.
    case cancelRefresh

    package var name: String {
      switch self {
      case .publishWorking: "publishWorking"
      case .publishResting: "publishResting"
      case .askExtensionToYield: "askExtensionToYield"
      case .activateChat: "activateChat"
      case .takeUpWork: "takeUpWork"
      case .suspendChat: "suspendChat"
      case .suspendChatNow: "suspendChatNow"
      case .stopChat: "stopChat"
      case .stopNetwork: "stopNetwork"
      case .armBackground: "armBackground"
      case .cancelBackground: "cancelBackground"
      case .showCalls: "showCalls"
      case .startRefresh: "startRefresh"
      case .cancelRefresh: "cancelRefresh"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case alreadyActive
    case appIsActive
    case alreadyActivating
    case activating
    case alreadyRefreshing
    case alreadySuspending
    case alreadySuspended
    case chatStopped
    case alreadyInBackground

    package var name: String {
      switch self {
      case .alreadyActive: "alreadyActive"
      case .appIsActive: "appIsActive"
      case .alreadyActivating: "alreadyActivating"
      case .activating: "activating"
      case .alreadyRefreshing: "alreadyRefreshing"
      case .alreadySuspending: "alreadySuspending"
      case .alreadySuspended: "alreadySuspended"
      case .chatStopped: "chatStopped"
      case .alreadyInBackground: "alreadyInBackground"
      }
    }
  }

  package static var name: String { "app_phase" }

  package static var initial: State { .suspended }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    switch effect {
    case .startRefresh: .start("refresh", milliseconds: 25000, raise: .refreshOver)
    case .cancelRefresh: .cancel("refresh")
    case .publishWorking, .publishResting, .askExtensionToYield, .activateChat, .takeUpWork,
      .suspendChat, .suspendChatNow, .stopChat, .stopNetwork, .armBackground, .cancelBackground,
      .showCalls:
      nil
    }
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .publishWorking, .publishResting, .askExtensionToYield, .takeUpWork, .suspendChat,
      .suspendChatNow, .stopChat, .stopNetwork, .armBackground, .cancelBackground, .startRefresh,
      .cancelRefresh:
      .act
    case .activateChat: .ask
    case .showCalls: .tell
    }
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
    case .background: stepBackground(event)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive:
      // Looks once more for what arrived while nothing asked for it.
      MachineStep(.active, .stayed, .takeUpWork)
    case .activated, .activateFailed, .refreshOver, .chatSuspended, .startConfirmed, .backgroundOver:
      MachineStep(.active, .ignored(.alreadyActive))
    case .background:
      MachineStep(.background, .moved, .showCalls, .stopNetwork, .armBackground, .publishResting)
    case .refreshBegan:
      MachineStep(.active, .refused(.appIsActive))
    case .suspendNow:
      MachineStep(.suspended, .moved, .showCalls, .suspendChatNow)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishResting)
    case .suspend:
      MachineStep(.suspending, .moved, .showCalls, .suspendChat, .publishResting)
    }
  }

  @inline(__always)
  private static func stepActivating(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive, .refreshOver, .chatSuspended,
      .startConfirmed, .backgroundOver:
      MachineStep(.activating, .ignored(.alreadyActivating))
    case .activated:
      MachineStep(.active, .moved, .publishWorking, .takeUpWork)
    case .activateFailed:
      // A phase must not report what did not happen.
      MachineStep(.suspended, .moved, .suspendChatNow)
    case .background, .refreshBegan, .suspendNow, .stop, .suspend:
      MachineStep(.activating, .refused(.activating))
    }
  }

  @inline(__always)
  private static func stepBgRefresh(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      // The chat is already active.
      MachineStep(.active, .moved, .publishWorking, .takeUpWork, .cancelRefresh)
    case .foregroundExtensionActive:
      MachineStep(.active, .moved, .publishWorking, .askExtensionToYield, .takeUpWork, .cancelRefresh)
    case .activated:
      MachineStep(.bgRefresh, .stayed, .takeUpWork)
    case .activateFailed:
      MachineStep(.suspended, .moved, .suspendChatNow, .cancelRefresh)
    case .background, .suspend:
      // The time granted by the system is over, for the store as well.
      MachineStep(.suspending, .moved, .cancelRefresh, .suspendChat, .publishResting)
    case .refreshBegan:
      // Another push or task, for which the system grants fresh time.
      MachineStep(.bgRefresh, .stayed, .cancelRefresh, .startRefresh)
    case .refreshOver:
      MachineStep(.suspending, .moved, .suspendChat, .publishResting)
    case .suspendNow:
      MachineStep(.suspended, .moved, .cancelRefresh, .suspendChatNow)
    case .chatSuspended, .startConfirmed, .backgroundOver:
      // One run at a time.
      MachineStep(.bgRefresh, .ignored(.alreadyRefreshing))
    case .stop:
      MachineStep(.stopped, .moved, .cancelRefresh, .stopChat, .publishResting)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      MachineStep(.activating, .moved, .publishWorking, .activateChat)
    case .foregroundExtensionActive:
      MachineStep(.activating, .moved, .publishWorking, .askExtensionToYield, .activateChat)
    case .activated, .activateFailed, .background, .refreshOver, .startConfirmed, .backgroundOver:
      MachineStep(.suspending, .ignored(.alreadySuspending))
    case .refreshBegan:
      MachineStep(.bgRefresh, .moved, .publishWorking, .activateChat, .startRefresh)
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow)
    case .chatSuspended:
      MachineStep(.suspended, .moved, .publishResting)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishResting)
    case .suspend:
      // The latest delay counts.
      MachineStep(.suspending, .stayed, .suspendChat)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      // Published first, so that an extension that starts now yields.
      MachineStep(.activating, .moved, .publishWorking, .activateChat)
    case .foregroundExtensionActive:
      MachineStep(.activating, .moved, .publishWorking, .askExtensionToYield, .activateChat)
    case .activated, .activateFailed, .refreshOver, .startConfirmed, .backgroundOver:
      MachineStep(.suspended, .ignored(.alreadySuspended))
    case .background, .suspend:
      // A store that was opened but never started must not stay open either.
      MachineStep(.suspended, .stayed, .suspendChat)
    case .refreshBegan:
      MachineStep(.bgRefresh, .moved, .publishWorking, .activateChat, .startRefresh)
    case .suspendNow:
      MachineStep(.suspended, .stayed, .suspendChatNow)
    case .chatSuspended:
      // Published after the store is closed, never before.
      MachineStep(.suspended, .stayed, .publishResting)
    case .stop:
      MachineStep(.stopped, .moved, .stopChat, .publishResting)
    }
  }

  @inline(__always)
  private static func stepStopped(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive, .foregroundExtensionActive, .refreshBegan:
      MachineStep(.stopped, .refused(.chatStopped))
    case .activated, .activateFailed, .refreshOver, .chatSuspended, .stop, .backgroundOver:
      MachineStep(.stopped, .ignored(.chatStopped))
    case .background, .suspend:
      // The store of a stopped chat is open, and must be closed before the process is frozen (INC-01).
      MachineStep(.stopped, .stayed, .suspendChat)
    case .suspendNow:
      MachineStep(.stopped, .stayed, .suspendChatNow)
    case .startConfirmed:
      MachineStep(.activating, .moved, .publishWorking, .activateChat)
    }
  }

  @inline(__always)
  private static func stepBackground(_ event: Event) -> MachineStep<AppPhase> {
    switch event {
    case .foregroundExtensionInactive:
      MachineStep(.activating, .moved, .publishWorking, .cancelBackground, .activateChat)
    case .foregroundExtensionActive:
      MachineStep(.activating, .moved, .publishWorking, .cancelBackground, .askExtensionToYield, .activateChat)
    case .activated, .activateFailed, .background, .refreshOver, .chatSuspended, .startConfirmed:
      // The time runs from the first event.
      MachineStep(.background, .ignored(.alreadyInBackground))
    case .refreshBegan:
      MachineStep(.bgRefresh, .moved, .publishWorking, .cancelBackground, .activateChat, .startRefresh)
    case .suspendNow:
      MachineStep(.suspended, .moved, .cancelBackground, .suspendChatNow)
    case .stop:
      MachineStep(.stopped, .moved, .cancelBackground, .stopChat, .publishResting)
    case .suspend:
      MachineStep(.suspending, .moved, .cancelBackground, .suspendChat, .publishResting)
    case .backgroundOver:
      MachineStep(.suspending, .moved, .suspendChat, .publishResting)
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

/// Carries out the effects of `AppPhase`, one method for each.
package protocol AppPhaseEffects {
  /// The event's data.
  associatedtype Argument
  /// Write the phase and the writing instance where other processes see them; the phase file's lock is held.
  func publishWorking(_ argument: Argument)
  /// Write the phase, and release the phase file's lock.
  func publishResting(_ argument: Argument)
  /// Ask the extension to release what it holds, without waiting for it: each claim of this app is a new epoch, and the
  /// store refuses what the extension still tries to commit (INC-04, INC-22).
  func askExtensionToYield(_ argument: Argument)
  /// Raise start or activate at the chat lifecycle. Answer: activated or activateFailed.
  func activateChat(_ argument: Argument)
  /// Subscribe, send, fetch, and ask the notification server what waits. If the host said not to, only continue the
  /// work found in the store, and check the mailboxes later.
  func takeUpWork(_ argument: Argument)
  /// Raise suspend at the chat lifecycle, with the delay given by the host; after background time, with 5 s.
  func suspendChat(_ argument: Argument)
  /// Raise suspendNow at the chat lifecycle.
  func suspendChatNow(_ argument: Argument)
  /// Raise stop at the chat lifecycle.
  func stopChat(_ argument: Argument)
  /// Raise background at the chat lifecycle.
  func stopNetwork(_ argument: Argument)
  /// Raise backgroundOver 10 s after the host reports background, leaving 5 s of a platform's usual 15 s for coming to
  /// rest.
  func armBackground(_ argument: Argument)
  /// Cancel backgroundOver.
  func cancelBackground(_ argument: Argument)
  /// Report the calls that ring in the app as notifications: off screen its host shows none.
  func showCalls(_ argument: Argument)
}

extension AppPhase {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: AppPhaseEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .publishWorking: performer.publishWorking(argument)
    case .publishResting: performer.publishResting(argument)
    case .askExtensionToYield: performer.askExtensionToYield(argument)
    case .activateChat: performer.activateChat(argument)
    case .takeUpWork: performer.takeUpWork(argument)
    case .suspendChat: performer.suspendChat(argument)
    case .suspendChatNow: performer.suspendChatNow(argument)
    case .stopChat: performer.stopChat(argument)
    case .stopNetwork: performer.stopNetwork(argument)
    case .armBackground: performer.armBackground(argument)
    case .cancelBackground: performer.cancelBackground(argument)
    case .showCalls: performer.showCalls(argument)
    case .startRefresh, .cancelRefresh: break
    }
  }
}
