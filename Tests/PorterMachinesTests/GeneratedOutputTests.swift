import Foundation
import PorterMachineCompiler
import PorterMachines
import XCTest

/// Committed output matches the machines, and other tools can read it.
final class GeneratedOutputTests: XCTestCase {
  func testCommittedOutputIsNotStale() throws {
    XCTAssertEqual(try MachineCompiler.stale(root: packageRoot.path), [], "run `make spec`")
  }

  func testAChangedMissingOrLeftOverOutputIsStale() throws {
    try withTemporaryDirectory { root in
      try copySpec(to: root)
      let written = try MachineCompiler.generate(root: root.path)
      XCTAssertEqual(written.count, MachineCatalog.all.count * 3 + 2)
      XCTAssertEqual(try MachineCompiler.stale(root: root.path), [])
      let changed = root.appendingPathComponent("spec/machines/push.md")
      try Data("something else".utf8).write(to: changed)
      try FileManager.default.removeItem(at: root.appendingPathComponent("Include/nightporter_machines.h"))
      try Data().write(to: root.appendingPathComponent("spec/models/generated/gone.pml"))
      let stale = ["Include/nightporter_machines.h", "spec/machines/push.md", "spec/models/generated/gone.pml"]
      XCTAssertEqual(try MachineCompiler.stale(root: root.path), stale)
      XCTAssertEqual(try MachineCompiler.generate(root: root.path), stale)
      XCTAssertEqual(try MachineCompiler.stale(root: root.path), [])
    }
  }

  func testTheProgramNamesStaleFilesAndFails() throws {
    let built = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let program = built.appendingPathComponent("porter-machines")
    try withTemporaryDirectory { root in
      try copySpec(to: root)
      let before = try runProgram(program, ["check", "--root", root.path])
      XCTAssertEqual(before.status, 1)
      XCTAssertTrue(before.errors.contains("spec/machines/push.md is stale"), before.errors)
      XCTAssertEqual(try runProgram(program, ["generate", "--root", root.path]).status, 0)
      XCTAssertEqual(try runProgram(program, ["check"], directory: root).status, 0)
      let step = try runProgram(program, ["step", "push", "deciding", "app.running", "--root", root.path])
      XCTAssertEqual(step.output, "releasing: moved, releaseStore\n")
      let ignored = try runProgram(program, ["step", "app_phase", "active", "startConfirmed", "--root", root.path])
      XCTAssertEqual(ignored.output, "active: ignored (alreadyActive)\n")
      XCTAssertEqual(try runProgram(program, ["step", "push", "nowhere", "expire", "--root", root.path]).status, 2)
      XCTAssertEqual(try runProgram(program, ["step", "nothing", "a", "b", "--root", root.path]).status, 2)
      XCTAssertEqual(try runProgram(program, ["dance"]).status, 2)
      XCTAssertEqual(try runProgram(program, ["check", "--root"]).status, 2)
    }
  }

  func testTheHeaderHasTheCodesOfTheCatalog() throws {
    try withTemporaryDirectory { directory in
      var lines = ["#include \"nightporter.h\"", "#include \"nightporter_machines.h\"", "int main(void) {"]
      for (number, machine) in MachineCatalog.all.enumerated() {
        let prefix = "NP_\(machine.name.uppercased())"
        lines.append("  if (\(prefix.replacing("NP_", with: "NP_MACHINE_")) != \(number)) return 1;")
        let kinds = [
          ("STATE", machine.states), ("EVENT", machine.events), ("EFFECT", machine.effects),
          ("REASON", machine.reasons),
        ]
        for (kind, names) in kinds {
          for (code, name) in names.enumerated() {
            lines.append("  if (\(prefix)_\(kind)_\(upperSnake(name)) != \(code)) return 1;")
          }
        }
      }
      let kinds: [(String, CodedStep.Kind)] = [
        ("MOVED", .moved), ("STAYED", .stayed), ("IGNORED", .ignored), ("REFUSED", .refused),
      ]
      for (name, kind) in kinds { lines.append("  if (NP_STEP_\(name) != \(kind.rawValue)) return 1;") }
      lines += ["  return 0;", "}"]
      let source = directory.appendingPathComponent("codes.c")
      try lines.joined(separator: "\n").appending("\n").write(to: source, atomically: true, encoding: .utf8)
      let include = "-I" + packageRoot.appendingPathComponent("Include").path
      let strict = [include, "-Wall", "-Wextra", "-pedantic", "-Werror"]
      for (compiler, standard) in [("gcc", "c11"), ("clang", "c11"), ("g++", "c++17")] {
        let language = standard == "c11" ? "c" : "c++"
        let binary = directory.appendingPathComponent("codes-\(compiler)")
        let built = try runProgram(
          try program(compiler), strict + ["-std=\(standard)", "-x", language, source.path, "-o", binary.path])
        XCTAssertEqual(built.status, 0, built.errors)
        XCTAssertEqual(try runProgram(binary, []).status, 0, compiler)
      }
    }
  }

  private func upperSnake(_ name: String) -> String {
    name.reduce(into: "") { result, character in
      if character == "." { return result += "_" }
      result += (character.isUppercase ? "_" : "") + character.uppercased()
    }
  }

  private func copySpec(to root: URL) throws {
    let machines = root.appendingPathComponent("spec/machines")
    for folder in ["spec/machines", "spec/models/generated"] {
      try FileManager.default.createDirectory(
        at: root.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
    for machine in MachineCatalog.all {
      let file = "\(machine.name).scxml"
      try FileManager.default.copyItem(
        at: packageRoot.appendingPathComponent("spec/machines/\(file)"), to: machines.appendingPathComponent(file))
    }
  }
}
