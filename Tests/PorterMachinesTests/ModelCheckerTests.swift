import Foundation
import PorterMachines
import XCTest

/// Spin offers every event to every state of the generated models.
final class ModelCheckerTests: XCTestCase {
  func testSpinFindsNoMachineStuckAndNoPairUnanswered() throws {
    for machine in MachineCatalog.all {
      let model = packageRoot.appendingPathComponent("spec/models/generated/\(machine.name).pml")
      let report = try verify(model)
      XCTAssertTrue(report.contains("errors: 0"), "\(machine.name):\n\(report)")
      XCTAssertTrue(
        report.contains("unreached in proctype \(machine.name)_world\n\t(0 of"), "\(machine.name):\n\(report)")
    }
  }

  func testSpinFindsAMissingAnswer() throws {
    let text = try pushModel()
    let line = "event == push_on_storeBusy ->"
    let without = text.replacing(line, with: "false ->", maxReplacements: 1)
    XCTAssertNotEqual(text, without)
    XCTAssertFalse(try verifyText(without).contains("errors: 0"), "an event that is not answered must be found")
  }

  func testSpinFindsASecondAnswer_INC31() throws {
    let text = try pushModel()
    let line = "answer = MOVED; state = push_state_deciding; push_does(push_do_readAppPhase)"
    let twice = text.replacing(line, with: line + "; push_does(push_do_answer)")
    XCTAssertNotEqual(text, twice)
    XCTAssertFalse(try verifyText(twice).contains("errors: 0"), "a push that is answered twice must be found")
  }

  private func pushModel() throws -> String {
    try String(contentsOf: packageRoot.appendingPathComponent("spec/models/generated/push.pml"), encoding: .utf8)
  }

  private func verifyText(_ text: String) throws -> String {
    try withTemporaryDirectory { directory in
      let model = directory.appendingPathComponent("changed.pml")
      try text.write(to: model, atomically: true, encoding: .utf8)
      return try verify(model)
    }
  }

  /// The report of the verifier that Spin generates from the model.
  private func verify(_ model: URL) throws -> String {
    try withTemporaryDirectory { directory in
      let made = try runProgram(try program("spin"), ["-a", model.path], directory: directory)
      XCTAssertEqual(made.status, 0, made.output + made.errors)
      let built = try runProgram(
        try program("clang"), ["-O0", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c"], directory: directory)
      XCTAssertEqual(built.status, 0, built.errors)
      return try runProgram(directory.appendingPathComponent("pan"), ["-m100000", "-w20"], directory: directory).output
    }
  }
}
