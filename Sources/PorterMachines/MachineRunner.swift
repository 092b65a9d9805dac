/// One running machine. Nobody else can change its state.
///
/// Each machine's generated file has a `handle` of its own, which is chosen where the machine is known: bodies do not
/// cross modules, and a step through the generic one costs three times as much.
package struct MachineRunner<M: Machine>: Sendable {
  package internal(set) var state: M.State

  /// A machine at its start, or at the state that was recorded of it.
  package init(state: M.State = M.initial) { self.state = state }

  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: M.Event) -> MachineStep<M> {
    let step = M.step(state, event)
    state = step.next
    return step
  }
}

/// Which run of a timer an expiry belongs to. A timer of an earlier cycle must not end a later one (INC-21): whoever
/// arms a timer takes a number, hands it back when the timer fires, and raises the machine's event only if `fire` says
/// so.
package struct TimerCycle: Hashable, Sendable {
  private var current: UInt64 = 0
  private var armed = false

  package init() {}

  /// Begins a cycle; earlier ones are over.
  package mutating func begin() -> UInt64 {
    current &+= 1
    armed = true
    return current
  }

  /// Ends the cycle without its timer.
  package mutating func end() { armed = false }

  /// Whether the timer that took this number may still act. Asking ends the cycle, since a timer fires once.
  package mutating func fire(_ number: UInt64) -> Bool {
    guard armed && number == current else { return false }
    armed = false
    return true
  }
}
