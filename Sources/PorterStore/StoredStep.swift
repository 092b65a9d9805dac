import PorterMachines
import PorterPlatform

extension Machine {
  /// A step of a machine whose state is a row. Recorded for tests as those of the engine's machines are.
  static func storedStep(_ state: State, _ event: Event) -> MachineStep<Self> {
    let step = step(state, event)
    if StepRecord.isOn {
      StepRecord.add(
        name, runner: 0, event: event.name, from: state.name, to: step.next.name, answer: step.answer.name)
    }
    return step
  }
}
