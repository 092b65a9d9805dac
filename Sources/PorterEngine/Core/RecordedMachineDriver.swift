import PorterMachines

/// Steps the machines of one kind whose state is stored in a row rather than in memory.
///
/// A step is taken inside the transaction that stores what it records. It is traced, and its other effects are carried
/// out, only after the commit: a step that was rolled back was never taken.
///
/// Threads: the engine's. Ownership: the part that owns the rows owns the driver; `perform` must not keep that part
/// alive.
package final class RecordedMachineDriver<M: Machine, Argument> {
  /// A step that was taken; its other effects wait for the commit.
  package struct Taken {
    package let step: MachineStep<M>
    fileprivate let subject: String
    fileprivate let before: M.State
    fileprivate let event: M.Event
    fileprivate let argument: Argument
  }

  private let surroundings: MachineSurroundings
  private let perform: (M.Effect, Argument) -> Void

  package init(_ surroundings: MachineSurroundings, perform: @escaping (M.Effect, Argument) -> Void) {
    self.surroundings = surroundings
    self.perform = perform
  }

  /// Whether the step must be taken inside a transaction, because it changes the state or records something.
  package static func isRecorded(_ event: M.Event, in state: M.State) -> Bool {
    let step = M.step(state, event)
    return step.next != state || step.effects.contains { M.kind($0) == .record }
  }

  /// Takes the step of the machine that is in `state`. `record` stores what the step records, inside the caller's
  /// transaction, and may put into the argument what the other effects need.
  package func take<Failure: Error>(
    _ event: M.Event, of subject: String = "", in state: M.State, _ argument: Argument,
    record: (MachineStep<M>, inout Argument) throws(Failure) -> Void
  ) throws(Failure) -> Taken {
    let step = M.step(state, event)
    var argument = argument
    try record(step, &argument)
    return Taken(step: step, subject: subject, before: state, event: event, argument: argument)
  }

  /// Takes a step that records nothing.
  package func take(_ event: M.Event, of subject: String = "", in state: M.State, _ argument: Argument) -> Taken {
    assert(!Self.isRecorded(event, in: state), "\(M.name): \(event.name) in \(state.name) needs a transaction")
    return Taken(step: M.step(state, event), subject: subject, before: state, event: event, argument: argument)
  }

  /// Carries out the step's other effects, in order. Call after the commit, in a step of the queue.
  package func carryOut(_ taken: Taken) {
    if surroundings.trace.isWatching {
      surroundings.trace.stepped(M.self, taken.subject, runner: 0, from: taken.before, on: taken.event, taken.step)
    }
    taken.step.effects.each { effect in
      assert(M.timer(effect) == nil, "\(M.name): a stored machine has no timers")
      if M.kind(effect) != .record { perform(effect, taken.argument) }
    }
  }

  /// Carries out the other effects in their turn. Call after the commit, outside a step of the queue or in another
  /// machine's step.
  package func post(_ taken: Taken) { surroundings.queue.post { self.carryOut(taken) } }
}
