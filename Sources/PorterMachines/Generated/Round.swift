// Generated from spec/machines/round.scxml by porter-machines: change that file, run `make spec`.

/// Work done in rounds, such as asking the relay for news: one round at a time, and one more if requested during it,
/// however often. What arrives after a round has looked is found by the next, and a thousand wake-ups do not cause a
/// thousand rounds.
package enum Round: Machine {
  package enum State: UInt8, MachineCode {
    /// No round is in progress, and none is wanted.
    case resting
    /// A round is in progress.
    case going
    /// A round is in progress that may have looked too early.
    case goingAgain

    package var name: String {
      switch self {
      case .resting: "resting"
      case .going: "going"
      case .goingAgain: "goingAgain"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// There may be something to do.
    case wanted
    /// The round has ended, whatever its result.
    case ended

    package var name: String {
      switch self {
      case .wanted: "wanted"
      case .ended: "ended"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Look for work, and do it. Answer: ended.
    case beginRound

    package var name: String {
      switch self {
      case .beginRound: "beginRound"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notGoing
    case alreadyWanted

    package var name: String {
      switch self {
      case .notGoing: "notGoing"
      case .alreadyWanted: "alreadyWanted"
      }
    }
  }

  package static var name: String { "round" }

  package static var initial: State { .resting }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    .act
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Round> {
    switch state {
    case .resting: stepResting(event)
    case .going: stepGoing(event)
    case .goingAgain: stepGoingAgain(event)
    }
  }

  @inline(__always)
  private static func stepResting(_ event: Event) -> MachineStep<Round> {
    switch event {
    case .wanted:
      MachineStep(.going, .moved, .beginRound)
    case .ended:
      MachineStep(.resting, .refused(.notGoing))
    }
  }

  @inline(__always)
  private static func stepGoing(_ event: Event) -> MachineStep<Round> {
    switch event {
    case .wanted:
      MachineStep(.goingAgain, .moved)
    case .ended:
      MachineStep(.resting, .moved)
    }
  }

  @inline(__always)
  private static func stepGoingAgain(_ event: Event) -> MachineStep<Round> {
    switch event {
    case .wanted:
      MachineStep(.goingAgain, .ignored(.alreadyWanted))
    case .ended:
      MachineStep(.going, .moved, .beginRound)
    }
  }
}

extension MachineRunner where M == Round {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Round.Event) -> MachineStep<Round> {
    let step = Round.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `Round`, one method for each.
package protocol RoundEffects {
  /// The event's data.
  associatedtype Argument
  /// Look for work, and do it. Answer: ended.
  func beginRound(_ argument: Argument)
}

extension Round {
  /// Calls the effect's method.
  package static func perform<Performer: RoundEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .beginRound: performer.beginRound(argument)
    }
  }
}
