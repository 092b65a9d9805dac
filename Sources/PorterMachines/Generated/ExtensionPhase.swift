// Generated from spec/machines/extension_phase.scxml by porter-machines: change that file, run `make spec`.

/// The phase of a notification extension's process, as the app sees it. One process serves many pushes, one after the
/// other or at once; it may be frozen between them, so that it must hold nothing then (INC-01). A new process begins as
/// created, which repairs what a crashed one left behind (INC-17).
package enum ExtensionPhase: Machine {
  package enum State: UInt8, MachineCode {
    /// The process has just started, and has not needed the chat.
    case created
    /// Opens the store.
    case starting
    /// Fetches for one or more pushes.
    case active
    /// Finishes what has begun, within a delay.
    case suspending
    /// Holds nothing.
    case suspended

    package var name: String {
      switch self {
      case .created: "created"
      case .starting: "starting"
      case .active: "active"
      case .suspending: "suspending"
      case .suspended: "suspended"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// A push needs the chat.
    case start
    /// The store is open, and the chat can fetch.
    case started
    /// The store cannot be opened, or not by an extension (INC-23); nothing is held.
    case startFailedNoStore
    /// The store was opened, but the chat did not start.
    case startFailedOther
    /// No push is at work any more.
    case lastPushEnded
    /// The app, or a share extension, wants the store.
    case appRunning
    /// The system says that the time is up.
    case suspendNow
    /// The chat is suspended: no file of the store is open.
    case chatSuspended
    /// The suspend timer of the current cycle fired (INC-21).
    case timeout

    package var name: String {
      switch self {
      case .start: "start"
      case .started: "started"
      case .startFailedNoStore: "startFailed.noStore"
      case .startFailedOther: "startFailed.other"
      case .lastPushEnded: "lastPushEnded"
      case .appRunning: "appRunning"
      case .suspendNow: "suspendNow"
      case .chatSuspended: "chatSuspended"
      case .timeout: "timeout"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Write the new phase and the writing instance where the app sees it (INC-11).
    case publishPhase
    /// Open the store as an extension and start the chat without subscriptions, or activate it if it was suspended.
    /// Answer: started or startFailed.
    case openChat
    /// Raise suspend at the chat lifecycle, with the delay of an extension.
    case suspendChat
    /// Raise suspendNow at the chat lifecycle.
    case suspendChatNow
    /// Raise timeout one second after that delay, with a new cycle number (INC-21).
    case armSuspendTimer
    /// End the cycle of the suspend timer.
    case cancelSuspendTimer

    package var name: String {
      switch self {
      case .publishPhase: "publishPhase"
      case .openChat: "openChat"
      case .suspendChat: "suspendChat"
      case .suspendChatNow: "suspendChatNow"
      case .armSuspendTimer: "armSuspendTimer"
      case .cancelSuspendTimer: "cancelSuspendTimer"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notStarted
    case holdsNothing
    case alreadyStarting
    case alreadyActive
    case alreadySuspending
    case alreadySuspended

    package var name: String {
      switch self {
      case .notStarted: "notStarted"
      case .holdsNothing: "holdsNothing"
      case .alreadyStarting: "alreadyStarting"
      case .alreadyActive: "alreadyActive"
      case .alreadySuspending: "alreadySuspending"
      case .alreadySuspended: "alreadySuspended"
      }
    }
  }

  package static var name: String { "extension_phase" }

  package static var initial: State { .created }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ExtensionPhase> {
    switch state {
    case .created: stepCreated(event)
    case .starting: stepStarting(event)
    case .active: stepActive(event)
    case .suspending: stepSuspending(event)
    case .suspended: stepSuspended(event)
    }
  }

  @inline(__always)
  private static func stepCreated(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start:
      MachineStep(.starting, .moved, .publishPhase, .openChat)
    case .started, .startFailedNoStore, .startFailedOther, .chatSuspended, .timeout:
      MachineStep(.created, .ignored(.notStarted))
    case .lastPushEnded, .suspendNow:
      MachineStep(.suspended, .moved, .publishPhase)
    case .appRunning:
      MachineStep(.created, .ignored(.holdsNothing))
    }
  }

  @inline(__always)
  private static func stepStarting(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start, .chatSuspended, .timeout:
      MachineStep(.starting, .ignored(.alreadyStarting))
    case .started:
      MachineStep(.active, .moved, .publishPhase)
    case .startFailedNoStore:
      MachineStep(.created, .moved, .publishPhase)
    case .startFailedOther, .lastPushEnded:
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    case .appRunning, .suspendNow:
      // Nothing has begun yet, so that giving way costs nothing (INC-07).
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start, .started, .startFailedNoStore, .startFailedOther, .chatSuspended, .timeout:
      MachineStep(.active, .ignored(.alreadyActive))
    case .lastPushEnded, .appRunning:
      MachineStep(.suspending, .moved, .suspendChat, .armSuspendTimer, .publishPhase)
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start:
      MachineStep(.starting, .moved, .cancelSuspendTimer, .publishPhase, .openChat)
    case .started, .startFailedNoStore, .startFailedOther, .appRunning:
      MachineStep(.suspending, .ignored(.alreadySuspending))
    case .lastPushEnded:
      // The delay given last counts.
      MachineStep(.suspending, .stayed, .suspendChat, .armSuspendTimer)
    case .suspendNow, .timeout:
      MachineStep(.suspended, .moved, .cancelSuspendTimer, .suspendChatNow, .publishPhase)
    case .chatSuspended:
      MachineStep(.suspended, .moved, .cancelSuspendTimer, .publishPhase)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start:
      MachineStep(.starting, .moved, .publishPhase, .openChat)
    case .started, .startFailedNoStore, .startFailedOther, .lastPushEnded, .appRunning, .suspendNow,
      .chatSuspended, .timeout:
      MachineStep(.suspended, .ignored(.alreadySuspended))
    }
  }
}

extension MachineRunner where M == ExtensionPhase {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ExtensionPhase.Event) -> MachineStep<ExtensionPhase> {
    let step = ExtensionPhase.step(state, event)
    state = step.next
    return step
  }
}
