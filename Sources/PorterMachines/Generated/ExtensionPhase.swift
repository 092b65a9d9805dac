// Generated from spec/machines/extension_phase.scxml by porter-machines: change that file, run `make spec`.

/// The phase of a notification extension's process, as the app sees it. One process serves many pushes, one after the
/// other; it may be frozen between them, so it must hold nothing then (INC-01). A new process begins as created, and
/// repairs what a crashed one left behind (INC-17). Starting ends within the step that began it: no other event arrives
/// in between.
package enum ExtensionPhase: Machine {
  package enum State: UInt8, MachineCode {
    /// The process has just started, and has not needed the chat yet.
    case created
    /// Opens the store.
    case starting
    /// Fetches for one or more pushes.
    case active
    /// Finishes work in progress within a delay.
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
    /// A push, or the host, needs the chat.
    case start
    /// The store is open, and the chat can fetch.
    case started
    /// The chat did not start; the store is closed.
    case startFailed
    /// Everything must be released within a delay: the host requests it.
    case suspend
    /// The app wants the store.
    case appRunning
    /// Everything must be released now: a push is about to be answered, the host requests it, or time is up.
    case suspendNow
    /// The chat is suspended: no store file is open.
    case chatSuspended

    package var name: String {
      switch self {
      case .start: "start"
      case .started: "started"
      case .startFailed: "startFailed"
      case .suspend: "suspend"
      case .appRunning: "appRunning"
      case .suspendNow: "suspendNow"
      case .chatSuspended: "chatSuspended"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Take the phase file's lock, and write the phase and the writing instance where the app sees them (INC-11).
    case publishWorking
    /// Close the channel, write the phase, and release the phase file's lock.
    case publishResting
    /// Raise start at the chat lifecycle. Answer: started or startFailed.
    case openChat
    /// Raise suspend at the chat lifecycle, with the given delay.
    case suspendChat
    /// Raise suspendNow at the chat lifecycle.
    case suspendChatNow

    package var name: String {
      switch self {
      case .publishWorking: "publishWorking"
      case .publishResting: "publishResting"
      case .openChat: "openChat"
      case .suspendChat: "suspendChat"
      case .suspendChatNow: "suspendChatNow"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notStarted
    case alreadyStarting
    case starting
    case alreadyActive
    case alreadySuspending
    case alreadySuspended

    package var name: String {
      switch self {
      case .notStarted: "notStarted"
      case .alreadyStarting: "alreadyStarting"
      case .starting: "starting"
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

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .publishWorking, .publishResting, .suspendChat, .suspendChatNow: .act
    case .openChat: .ask
    }
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
      MachineStep(.starting, .moved, .publishWorking, .openChat)
    case .started, .startFailed, .chatSuspended:
      MachineStep(.created, .ignored(.notStarted))
    case .suspend:
      // A store that was opened but never started must not stay open either (INC-01).
      MachineStep(.suspended, .moved, .suspendChat)
    case .appRunning, .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow)
    }
  }

  @inline(__always)
  private static func stepStarting(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start, .appRunning, .chatSuspended:
      MachineStep(.starting, .ignored(.alreadyStarting))
    case .started:
      MachineStep(.active, .moved, .publishWorking)
    case .startFailed:
      MachineStep(.suspended, .moved, .publishResting)
    case .suspend, .suspendNow:
      MachineStep(.starting, .refused(.starting))
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start, .started, .startFailed, .chatSuspended:
      MachineStep(.active, .ignored(.alreadyActive))
    case .suspend, .appRunning:
      MachineStep(.suspending, .moved, .suspendChat, .publishWorking)
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start:
      MachineStep(.starting, .moved, .publishWorking, .openChat)
    case .started, .startFailed, .appRunning:
      MachineStep(.suspending, .ignored(.alreadySuspending))
    case .suspend:
      // The latest delay counts.
      MachineStep(.suspending, .stayed, .suspendChat)
    case .suspendNow:
      MachineStep(.suspended, .moved, .suspendChatNow)
    case .chatSuspended:
      MachineStep(.suspended, .moved, .publishResting)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<ExtensionPhase> {
    switch event {
    case .start:
      MachineStep(.starting, .moved, .publishWorking, .openChat)
    case .started, .startFailed:
      MachineStep(.suspended, .ignored(.alreadySuspended))
    case .suspend:
      // The host may have opened the store since; a caller waiting for the event gets it (INC-39).
      MachineStep(.suspended, .stayed, .suspendChat)
    case .appRunning, .suspendNow:
      MachineStep(.suspended, .stayed, .suspendChatNow)
    case .chatSuspended:
      // Published after the store is closed, never before.
      MachineStep(.suspended, .stayed, .publishResting)
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

/// Carries out the effects of `ExtensionPhase`, one method for each.
package protocol ExtensionPhaseEffects {
  /// The event's data.
  associatedtype Argument
  /// Take the phase file's lock, and write the phase and the writing instance where the app sees them (INC-11).
  func publishWorking(_ argument: Argument)
  /// Close the channel, write the phase, and release the phase file's lock.
  func publishResting(_ argument: Argument)
  /// Raise start at the chat lifecycle. Answer: started or startFailed.
  func openChat(_ argument: Argument)
  /// Raise suspend at the chat lifecycle, with the given delay.
  func suspendChat(_ argument: Argument)
  /// Raise suspendNow at the chat lifecycle.
  func suspendChatNow(_ argument: Argument)
}

extension ExtensionPhase {
  /// Calls the effect's method.
  package static func perform<Performer: ExtensionPhaseEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .publishWorking: performer.publishWorking(argument)
    case .publishResting: performer.publishResting(argument)
    case .openChat: performer.openChat(argument)
    case .suspendChat: performer.suspendChat(argument)
    case .suspendChatNow: performer.suspendChatNow(argument)
    }
  }
}
