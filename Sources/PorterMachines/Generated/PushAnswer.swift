// Generated from spec/machines/push_answer.scxml by porter-machines: change that file, run `make spec`.

/// The answer to one push, between the caller waiting for it, the deadline and the engine. Each push has its own
/// deadline, and is answered exactly once, even if the engine hangs in the operating system (INC-30, INC-31). What is
/// staged will be recorded as shown; an answer given without it leaves nothing recorded (INC-38).
package enum PushAnswer: Machine {
  package enum State: UInt8, MachineCode {
    /// The engine has not taken it up: it is busy, or everything is being released for earlier pushes.
    case queued
    /// The engine is working on it.
    case running
    /// Time is up; the engine gives the best answer available.
    case expiring
    /// What it shows is settled. The engine records it, and releases the store.
    case staged
    /// Final. The caller has its answer.
    case answered

    package var name: String {
      switch self {
      case .queued: "queued"
      case .running: "running"
      case .expiring: "expiring"
      case .staged: "staged"
      case .answered: "answered"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The engine takes it up: nothing is being released for earlier pushes.
    case begin
    /// Its time is up, by its deadline or because the host reports it.
    case expire
    /// The engine has decided what the answer shows, and is about to record it as shown.
    case stage
    /// The engine has ended the push, and has the whole answer.
    case finish
    /// The engine has not ended the push within the time reserved for that.
    case overdue

    package var name: String {
      switch self {
      case .begin: "begin"
      case .expire: "expire"
      case .stage: "stage"
      case .finish: "finish"
      case .overdue: "overdue"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Have the engine end the push, and interrupt its waits.
    case hurry
    /// Have the engine end the push, which has not begun. Do not interrupt other pushes.
    case withdraw
    /// Keep what is staged, for an answer without the engine.
    case keep
    /// Answer with what was staged.
    case useStaged
    /// Give the caller the answer: the engine's, the staged one, or that time was up.
    case answer

    package var name: String {
      switch self {
      case .hurry: "hurry"
      case .withdraw: "withdraw"
      case .keep: "keep"
      case .useStaged: "useStaged"
      case .answer: "answer"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notBegun
    case alreadyBegun
    case alreadyExpiring
    case alreadyStaged
    case ended

    package var name: String {
      switch self {
      case .notBegun: "notBegun"
      case .alreadyBegun: "alreadyBegun"
      case .alreadyExpiring: "alreadyExpiring"
      case .alreadyStaged: "alreadyStaged"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "push_answer" }

  package static var initial: State { .queued }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .answered: true
    case .queued, .running, .expiring, .staged: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .hurry, .withdraw, .keep, .useStaged: .act
    case .answer: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<PushAnswer> {
    switch state {
    case .queued: stepQueued(event)
    case .running: stepRunning(event)
    case .expiring: stepExpiring(event)
    case .staged: stepStaged(event)
    case .answered: stepAnswered(event)
    }
  }

  @inline(__always)
  private static func stepQueued(_ event: Event) -> MachineStep<PushAnswer> {
    switch event {
    case .begin:
      MachineStep(.running, .moved)
    case .expire:
      MachineStep(.expiring, .moved, .withdraw)
    case .stage:
      MachineStep(.queued, .refused(.notBegun))
    case .finish, .overdue:
      MachineStep(.answered, .moved, .answer)
    }
  }

  @inline(__always)
  private static func stepRunning(_ event: Event) -> MachineStep<PushAnswer> {
    switch event {
    case .begin:
      MachineStep(.running, .ignored(.alreadyBegun))
    case .expire:
      MachineStep(.expiring, .moved, .hurry)
    case .stage:
      MachineStep(.staged, .moved, .keep)
    case .finish, .overdue:
      MachineStep(.answered, .moved, .answer)
    }
  }

  @inline(__always)
  private static func stepExpiring(_ event: Event) -> MachineStep<PushAnswer> {
    switch event {
    case .begin, .expire:
      MachineStep(.expiring, .ignored(.alreadyExpiring))
    case .stage:
      MachineStep(.staged, .moved, .keep)
    case .finish, .overdue:
      MachineStep(.answered, .moved, .answer)
    }
  }

  @inline(__always)
  private static func stepStaged(_ event: Event) -> MachineStep<PushAnswer> {
    switch event {
    case .begin, .stage:
      MachineStep(.staged, .ignored(.alreadyStaged))
    case .expire:
      MachineStep(.staged, .stayed, .hurry)
    case .finish:
      MachineStep(.answered, .moved, .answer)
    case .overdue:
      MachineStep(.answered, .moved, .useStaged, .answer)
    }
  }

  @inline(__always)
  private static func stepAnswered(_ event: Event) -> MachineStep<PushAnswer> {
    switch event {
    case .begin, .expire, .stage, .finish, .overdue:
      MachineStep(.answered, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == PushAnswer {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: PushAnswer.Event) -> MachineStep<PushAnswer> {
    let step = PushAnswer.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `PushAnswer`, one method for each.
package protocol PushAnswerEffects {
  /// The event's data.
  associatedtype Argument
  /// Have the engine end the push, and interrupt its waits.
  func hurry(_ argument: Argument)
  /// Have the engine end the push, which has not begun. Do not interrupt other pushes.
  func withdraw(_ argument: Argument)
  /// Keep what is staged, for an answer without the engine.
  func keep(_ argument: Argument)
  /// Answer with what was staged.
  func useStaged(_ argument: Argument)
  /// Give the caller the answer: the engine's, the staged one, or that time was up.
  func answer(_ argument: Argument)
}

extension PushAnswer {
  /// Calls the effect's method.
  package static func perform<Performer: PushAnswerEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .hurry: performer.hurry(argument)
    case .withdraw: performer.withdraw(argument)
    case .keep: performer.keep(argument)
    case .useStaged: performer.useStaged(argument)
    case .answer: performer.answer(argument)
    }
  }
}
