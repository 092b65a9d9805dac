import PorterMachines
import PorterPlatform

extension Machine {
  /// A step of a machine whose state is a row. Logged, and recorded for tests, like those of the engine's machines.
  /// `subject` identifies the row.
  static func storedStep(
    _ state: State, _ event: Event, of subject: @autoclosure () -> String, _ log: Log
  ) -> MachineStep<Self> {
    let step = step(state, event)
    if StepRecord.isOn {
      StepRecord.add(
        name, runner: 0, event: event.name, from: state.name, to: step.next.name, answer: step.answer.name)
    }
    if log.writes(.debug) {
      log.step(
        name, subject(), event: event.name, from: state.name, to: step.next.name, answer: step.answer.name)
    }
    return step
  }
}

extension Store {
  /// A ledger entry in the log: its connection's number and the beginning of its message's, which stay the same when
  /// the message replaces its placeholder.
  static func subject(_ connectionID: Int64, _ messageID: [UInt8]) -> String {
    "\(connectionID)/\(TextEncoding.base64URL(Array(messageID.prefix(6))))"
  }
}
