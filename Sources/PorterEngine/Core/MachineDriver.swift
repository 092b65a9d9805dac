import PorterMachines

/// Everything a machine's driver needs from its engine.
package struct MachineSurroundings {
  package let queue: StepQueue
  package let timers: any MachineTimers
  package let trace: any MachineTrace

  package init(queue: StepQueue, timers: any MachineTimers, trace: any MachineTrace) {
    self.queue = queue
    self.timers = timers
    self.trace = trace
  }
}

/// Timers by name. Setting one replaces a timer of that name, and a cancelled timer never fires (INC-21).
package protocol MachineTimers {
  func set(_ name: String, milliseconds: UInt32, _ fire: @escaping () -> Void)
  func cancel(_ name: String)
}

/// Observes each step taken.
package protocol MachineTrace {
  /// Whether to call `stepped`.
  var isWatching: Bool { get }
  /// Returns a number for a new running machine.
  func newRunner() -> Int
  func stepped<M: Machine>(
    _ machine: M.Type, _ subject: String, runner: Int, from state: M.State, on event: M.Event, _ step: MachineStep<M>)
}

/// One running machine, and the only code that steps it. Events go through the engine's queue; all effects are carried
/// out in order before the next event's step is taken.
///
/// Threads: the engine's. Ownership: the driver belongs to the part whose state the machine is; `perform` must not keep
/// that part alive.
///
/// In this module, so that it is specialised where the machine is known: the generic form looks up some types of each
/// machine at run time.
package final class MachineDriver<M: Machine, Argument> {
  private var current: M.State
  package var state: M.State { current }
  /// The machine's subject, where there are several of its kind: used in traces and timer names.
  private let subject: String
  private let runner: Int
  private let surroundings: MachineSurroundings
  private let perform: (M.Effect, Argument) -> Void

  package init(
    _ surroundings: MachineSurroundings, subject: String = "", state: M.State = M.initial,
    perform: @escaping (M.Effect, Argument) -> Void
  ) {
    self.surroundings = surroundings
    self.subject = subject
    runner = surroundings.trace.newRunner()
    current = state
    self.perform = perform
  }

  /// Queues the event. `answered` is called after its step is taken, before the effects.
  package func post(
    _ event: M.Event, _ argument: Argument, answered: ((MachineAnswer<M.Reason>) -> Void)? = nil
  ) {
    surroundings.queue.post { self.take(event, argument, answered) }
  }

  /// Takes the step with everything it causes, and returns the machine's answer; nil from within another step, since
  /// this one has not been taken yet.
  package func request(_ event: M.Event, _ argument: Argument) -> MachineAnswer<M.Reason>? {
    var answer: MachineAnswer<M.Reason>?
    post(event, argument) { answer = $0 }
    return answer
  }

  /// Returns the machine's answer without taking a step: for asking whether something may begin.
  package func answer(to event: M.Event) -> MachineAnswer<M.Reason> { M.step(state, event).answer }

  /// Takes a step that changes no state, bypassing the queue: for asking whether something may begin, when the caller
  /// cannot wait for the answer. A step that would change the state is not taken; it is a bug in the caller.
  package func decide(_ event: M.Event, _ argument: Argument) -> MachineAnswer<M.Reason> {
    let step = M.step(state, event)
    guard step.next == state else {
      assertionFailure("\(M.name): \(event.name) changes the state, and must be posted")
      return step.answer
    }
    trace(event, from: state, step)
    step.effects.each { if M.timer($0) == nil { perform($0, argument) } }
    return step.answer
  }

  func take(
    _ event: M.Event, _ argument: Argument, _ answered: ((MachineAnswer<M.Reason>) -> Void)?
  ) {
    let before = state
    let step = M.step(before, event)
    current = step.next
    trace(event, from: before, step)
    answered?(step.answer)
    step.effects.each { effect in
      switch M.timer(effect) {
      case .start(let name, let milliseconds, let event):
        surroundings.timers.set(timerName(name), milliseconds: milliseconds) { [weak self] in
          self?.post(event, argument)
        }
      case .cancel(let name): surroundings.timers.cancel(timerName(name))
      case nil: perform(effect, argument)
      }
    }
  }

  func trace(_ event: M.Event, from state: M.State, _ step: MachineStep<M>) {
    guard surroundings.trace.isWatching else { return }
    surroundings.trace.stepped(M.self, subject, runner: runner, from: state, on: event, step)
  }

  func timerName(_ name: String) -> String { "\(M.name) \(subject) \(name)" }
}

extension MachineEffects {
  /// Calls `body` with each effect in order. Their iterator is in another module, which has no specialised form for a
  /// known machine.
  func each(_ body: (Effect) -> Void) {
    var rest = packed
    while rest != 0, let effect = Effect(rawValue: UInt8(truncatingIfNeeded: rest) &- 1) {
      rest >>= 8
      body(effect)
    }
  }
}
