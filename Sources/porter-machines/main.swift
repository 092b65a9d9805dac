import Foundation
import PorterMachineCompiler

let usage = """
  usage: porter-machines generate [--root DIR]             write everything generated from spec/machines
         porter-machines check [--root DIR]                exit 1 and name the stale files
         porter-machines conform TABLE RECORD… [--root DIR]  compare recorded steps with the machines
         porter-machines step NAME STATE EVENT [--root DIR]  print a machine's answer

  """

func fail(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data(text.utf8))
  exit(status)
}

var words = Array(CommandLine.arguments.dropFirst())
var root = "."
if let flag = words.firstIndex(of: "--root") {
  guard flag + 1 < words.count else { fail(usage, status: 2) }
  root = words[flag + 1]
  words.removeSubrange(flag...flag + 1)
}

do {
  switch (words.first, words.count) {
  case ("generate", 1):
    for path in try MachineCompiler.generate(root: root) { print(path) }
  case ("check", 1):
    let stale = try MachineCompiler.stale(root: root)
    if !stale.isEmpty {
      fail(stale.map { "\($0) is stale\n" }.joined() + "Run `make spec`.\n", status: 1)
    }
  case ("conform", 3...):
    let machines = try MachineCompiler.compileAll(root: root)
    let table = try String(contentsOfFile: words[1], encoding: .utf8)
    let lines = try words.dropFirst(2).flatMap { path in
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    let conformance = Conformance(machines: machines, record: lines, exceptions: table)
    print(conformance.report.joined(separator: "\n"))
    if !conformance.unmet.isEmpty { print("not met in this run:\n" + conformance.unmet.joined(separator: "\n")) }
    if !conformance.problems.isEmpty { fail(conformance.problems.joined(separator: "\n") + "\n", status: 1) }
  case ("step", 4):
    let machines = try MachineCompiler.compileAll(root: root)
    guard let machine = machines.first(where: { $0.name == words[1] }) else {
      fail("no machine '\(words[1])'; the machines are \(machines.map(\.name).joined(separator: ", "))\n", status: 2)
    }
    guard let line = machine.answerText(state: words[2], event: words[3]) else {
      fail("no state '\(words[2])' or event '\(words[3])' in \(machine.name)\n", status: 2)
    }
    print(line)
  default:
    fail(usage, status: 2)
  }
} catch {
  fail("\(error)\n", status: 1)
}
