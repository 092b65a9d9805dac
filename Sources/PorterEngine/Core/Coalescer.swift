import PorterMachines
import PorterPlatform

/// Runs the machine `round` for one kind of work: many requests, one round at a time.
struct Coalescer {
  private var machine = MachineRunner<Round>()
  /// The work of a round, as named in traces.
  private let subject: String
  private let log: Log

  init(_ subject: String, _ log: Log) {
    self.subject = subject
    self.log = log
  }

  /// True if a round must begin now; its end must be reported.
  mutating func want() -> Bool { begins(.wanted) }

  /// True if another round must begin now.
  mutating func end() -> Bool { begins(.ended) }

  private mutating func begins(_ event: Round.Event) -> Bool {
    let before = machine.state
    let step = machine.handle(event)
    if StepRecord.isOn {
      StepRecord.add(
        Round.name, runner: 0, event: event.name, from: before.name, to: step.next.name, answer: step.answer.name)
    }
    if log.writes(.debug) {
      log.step(
        Round.name, subject, event: event.name, from: before.name, to: step.next.name, answer: step.answer.name)
    }
    if case .refused(let reason) = step.answer { assertionFailure("round: \(reason.name)") }
    var begins = false
    for effect in step.effects {
      switch effect {
      case .beginRound: begins = true
      }
    }
    return begins
  }
}
