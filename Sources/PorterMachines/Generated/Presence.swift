// Generated from spec/machines/presence.scxml by porter-machines: change that file, run `make spec`.

/// Whether the process of the other role is at work, as far as this one knows. The kernel answers first: a process
/// holds the lock on its role's phase file while it is at work and releases it before it suspends, and the lock ends
/// with the process, so no stale flag is left behind (INC-12, INC-13, INC-17). A process frozen without notice still
/// holds it, so the holder is asked too, and must answer within a time that a push can afford (INC-11, INC-32). Each
/// question starts afresh. What the last one found counts until then: a claim leaves a connection to a running app
/// unless this says `silent`, and a late answer still corrects that.
package enum Presence: Machine {
  package enum State: UInt8, MachineCode {
    /// Not asked yet.
    case unknown
    /// First the kernel is asked, then the process itself. Nothing is held in the meantime.
    case asking
    /// It was at work when last asked.
    case alive
    /// It holds its lock, but did not answer when last asked.
    case silent
    /// It was not at work when last asked.
    case gone

    package var name: String {
      switch self {
      case .unknown: "unknown"
      case .asking: "asking"
      case .alive: "alive"
      case .silent: "silent"
      case .gone: "gone"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// A caller asks.
    case question
    /// No process holds that role's lock.
    case lockFree
    /// A process holds it, and listens on the channel.
    case lockHeld
    /// A process holds it but cannot be asked: it does not listen, or this process cannot send.
    case lockMute
    /// An authentic message from that role: the answer to our question, or the announcement that it has started.
    case here
    /// It did not answer in time: it is frozen or hangs.
    case patienceOver
    /// This process closes its end of the channel: answers can no longer arrive.
    case deaf

    package var name: String {
      switch self {
      case .question: "question"
      case .lockFree: "lock.free"
      case .lockHeld: "lock.held"
      case .lockMute: "lock.mute"
      case .here: "here"
      case .patienceOver: "patienceOver"
      case .deaf: "deaf"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Ask the kernel which process holds that role's lock. Answer: lock.
    case readLock
    /// Ask "are you there?" on the channel. Answer: here, if it is.
    case sendAsk
    /// Report to the callers that it is at work.
    case reportAlive
    /// Report to the callers that no process is at work, or none that answers.
    case reportGone
    /// Starts the timer `patience`: raise `patienceOver` after 600 ms.
    case startPatience
    /// Takes the timer `patience` back; harmless if it does not run.
    case cancelPatience

    package var name: String {
      switch self {
      case .readLock: "readLock"
      case .sendAsk: "sendAsk"
      case .reportAlive: "reportAlive"
      case .reportGone: "reportGone"
      case .startPatience: "startPatience"
      case .cancelPatience: "cancelPatience"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notAsked
    case alreadyAsking
    case alreadyKnown
    case alreadySilent
    case alreadyGone

    package var name: String {
      switch self {
      case .notAsked: "notAsked"
      case .alreadyAsking: "alreadyAsking"
      case .alreadyKnown: "alreadyKnown"
      case .alreadySilent: "alreadySilent"
      case .alreadyGone: "alreadyGone"
      }
    }
  }

  package static var name: String { "presence" }

  package static var initial: State { .unknown }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    switch effect {
    case .startPatience: .start("patience", milliseconds: 600, raise: .patienceOver)
    case .cancelPatience: .cancel("patience")
    case .readLock, .sendAsk, .reportAlive, .reportGone: nil
    }
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    .act
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Presence> {
    switch state {
    case .unknown: stepUnknown(event)
    case .asking: stepAsking(event)
    case .alive: stepAlive(event)
    case .silent: stepSilent(event)
    case .gone: stepGone(event)
    }
  }

  @inline(__always)
  private static func stepUnknown(_ event: Event) -> MachineStep<Presence> {
    switch event {
    case .question:
      MachineStep(.asking, .moved, .readLock)
    case .lockFree, .lockHeld, .lockMute, .patienceOver, .deaf:
      MachineStep(.unknown, .ignored(.notAsked))
    case .here:
      MachineStep(.alive, .moved, .reportAlive)
    }
  }

  @inline(__always)
  private static func stepAsking(_ event: Event) -> MachineStep<Presence> {
    switch event {
    case .question:
      MachineStep(.asking, .ignored(.alreadyAsking))
    case .lockFree:
      MachineStep(.gone, .moved, .cancelPatience, .reportGone)
    case .lockHeld:
      MachineStep(.asking, .stayed, .sendAsk, .startPatience)
    case .lockMute, .here:
      // The kernel's answer alone counts.
      MachineStep(.alive, .moved, .cancelPatience, .reportAlive)
    case .patienceOver:
      // Continuing is safe: what a frozen process still tries to commit is refused (INC-04).
      MachineStep(.silent, .moved, .reportGone)
    case .deaf:
      // It held its lock; a process that is being suspended begins nothing on this answer.
      MachineStep(.unknown, .moved, .cancelPatience, .reportAlive)
    }
  }

  @inline(__always)
  private static func stepAlive(_ event: Event) -> MachineStep<Presence> {
    switch event {
    case .question:
      MachineStep(.asking, .moved, .readLock)
    case .lockFree:
      MachineStep(.gone, .moved, .reportGone)
    case .lockHeld, .lockMute, .here, .patienceOver, .deaf:
      MachineStep(.alive, .ignored(.alreadyKnown))
    }
  }

  @inline(__always)
  private static func stepSilent(_ event: Event) -> MachineStep<Presence> {
    switch event {
    case .question:
      MachineStep(.asking, .moved, .readLock)
    case .lockFree:
      MachineStep(.gone, .moved, .reportGone)
    case .lockHeld, .lockMute, .patienceOver, .deaf:
      MachineStep(.silent, .ignored(.alreadySilent))
    case .here:
      MachineStep(.alive, .moved, .reportAlive)
    }
  }

  @inline(__always)
  private static func stepGone(_ event: Event) -> MachineStep<Presence> {
    switch event {
    case .question:
      MachineStep(.asking, .moved, .readLock)
    case .lockFree, .lockHeld, .lockMute, .patienceOver, .deaf:
      MachineStep(.gone, .ignored(.alreadyGone))
    case .here:
      MachineStep(.alive, .moved, .reportAlive)
    }
  }
}

extension MachineRunner where M == Presence {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Presence.Event) -> MachineStep<Presence> {
    let step = Presence.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `Presence`, one method for each.
package protocol PresenceEffects {
  /// The event's data.
  associatedtype Argument
  /// Ask the kernel which process holds that role's lock. Answer: lock.
  func readLock(_ argument: Argument)
  /// Ask "are you there?" on the channel. Answer: here, if it is.
  func sendAsk(_ argument: Argument)
  /// Report to the callers that it is at work.
  func reportAlive(_ argument: Argument)
  /// Report to the callers that no process is at work, or none that answers.
  func reportGone(_ argument: Argument)
}

extension Presence {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: PresenceEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .readLock: performer.readLock(argument)
    case .sendAsk: performer.sendAsk(argument)
    case .reportAlive: performer.reportAlive(argument)
    case .reportGone: performer.reportGone(argument)
    case .startPatience, .cancelPatience: break
    }
  }
}
