import PorterMachineCompiler
import XCTest

/// The comparison of recorded steps with the machines finds the deviations it exists for.
final class ConformanceTests: XCTestCase {
  private func machines(_ name: String) throws -> [MachineDefinition] {
    try MachineCompiler.compileAll(root: packageRoot.path).filter { $0.name == name }
  }

  /// Every step of the machine.
  private func everything(_ machine: MachineDefinition) -> [String] {
    machine.states.indices.flatMap { row in
      machine.events.indices.map { column in
        let answer = machine.answers[row][column]
        let reason = answer.reason.map { "." + machine.reasons[$0] } ?? ""
        return "1@0 0 \(machine.name) \(machine.events[column].name) \(machine.states[row].name) "
          + "\(machine.states[answer.next].name) \(answer.kind.rawValue)\(reason)"
      }
    }
  }

  private func problems(_ name: String, _ record: [String], _ exceptions: String = "") throws -> [String] {
    Conformance(machines: try machines(name), record: record, exceptions: exceptions).problems
  }

  func testWhatTheMachinesSayConforms() throws {
    for machine in try MachineCompiler.compileAll(root: packageRoot.path) {
      XCTAssertEqual(try problems(machine.name, everything(machine)), [])
    }
  }

  func testAnotherAnswerOrAnotherStateIsFound() throws {
    let record = everything(try machines("presence")[0])
    for (right, wrong) in [
      ("presence here gone alive moved", "presence here gone gone stayed"),
      ("presence here gone alive moved", "presence here gone gone ignored.alreadyGone"),
      ("presence here alive alive ignored.alreadyKnown", "presence here alive alive ignored.alreadyGone"),
      ("presence here alive alive ignored.alreadyKnown", "presence here awake alive moved"),
      ("presence here alive alive ignored.alreadyKnown", "presence here"),
    ] {
      XCTAssertTrue(record.contains("1@0 0 \(right)"), right)
      let found = try problems("presence", record + ["1@0 0 \(wrong)"])
      XCTAssertEqual(found.count, 1, "\(wrong): \(found)")
    }
  }

  func testStepsThatDoNotConnectAreFound() throws {
    let record = everything(try machines("presence")[0])
    let steps = ["presence question unknown asking moved", "presence here gone alive moved"]
    XCTAssertEqual(try problems("presence", record + steps.map { "1@0 7 \($0)" }).count, 1)
    // Of another instance of the machine, or of another process.
    XCTAssertEqual(try problems("presence", record + ["1@0 7 \(steps[0])", "1@0 8 \(steps[1])"]), [])
    XCTAssertEqual(try problems("presence", record + ["1@0 7 \(steps[0])", "2@9 7 \(steps[1])"]), [])
  }

  func testWhatNeverOccurredIsFoundUnlessItIsExcused() throws {
    let record = everything(try machines("presence")[0])
    let without = record.filter { !$0.contains(" silent ") }
    func unmet(_ exceptions: String) throws -> [String] {
      Conformance(machines: try machines("presence"), record: without, exceptions: exceptions).unmet
    }
    XCTAssertEqual(try unmet(""), ["presence: state silent never occurs"])
    XCTAssertEqual(try unmet("never presence state silent: for this test\n"), [])
    XCTAssertEqual(try problems("presence", without), [])
    let every = "every presence: for this test\n"
    XCTAssertEqual(try problems("presence", without, every), ["presence: state silent never occurs"])
    XCTAssertEqual(try problems("presence", without, every + "never presence state silent: for this test\n"), [])
    XCTAssertEqual(try problems("presence", record, every), [])
    XCTAssertEqual(try problems("presence", []), ["presence: no step is recorded"])
    XCTAssertEqual(try problems("presence", [], "never presence: for this test"), [])
  }

  func testARefusalThatOnlyAMistakeCanCauseIsFound() throws {
    let record = everything(try machines("chat_lifecycle")[0])
    XCTAssertFalse(try problems("chat_lifecycle", record, "mistake chat_lifecycle refused.starting: a test").isEmpty)
  }

  func testAnExceptionForNothingIsFound() throws {
    let record = everything(try machines("presence")[0])
    for line in ["never presence state awake: no", "sometimes presence state gone: no", "never presence state gone"] {
      XCTAssertFalse(try problems("presence", record, line).isEmpty, line)
    }
  }
}
