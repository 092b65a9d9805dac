/// One running machine as a value, for machines whose state is a record and for tests.
///
/// Each machine's generated file has its own `handle`, which is chosen where the machine is known: bodies are not
/// visible across modules, and a step through the generic one costs three times as much.
package struct MachineRunner<M: Machine>: Sendable {
  package internal(set) var state: M.State

  /// A machine in its initial state, or in the state that was stored for it.
  package init(state: M.State = M.initial) { self.state = state }

  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: M.Event) -> MachineStep<M> {
    let step = M.step(state, event)
    state = step.next
    return step
  }
}
