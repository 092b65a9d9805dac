/// One running machine. Nobody else can change its state.
package struct MachineRunner<M: Machine>: Sendable {
  package private(set) var state: M.State

  /// A machine at its start, or at the state that was recorded of it.
  @inlinable package init(state: M.State = M.initial) { self.state = state }

  /// Takes the step. The caller carries out its effects, in order.
  @inlinable package mutating func handle(_ event: M.Event) -> MachineStep<M> {
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
