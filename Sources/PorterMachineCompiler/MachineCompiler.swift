import Foundation

/// Compiles the files of `spec/machines` to everything generated from them.
package enum MachineCompiler {
  /// Compiles one machine from its text. `file` is the name used in problem reports; its last part must be the
  /// machine's name.
  package static func compile(_ source: String, file: String) throws(MachineError) -> MachineDefinition {
    let draft = try SCXMLReader.read(source, file: file)
    let stem = (file.split(separator: "/").last ?? "").prefix { $0 != "." }
    if draft.name != stem {
      throw MachineError(problems: [
        .init(file: file, line: draft.initialLine, message: "machine '\(draft.name)' must live in \(draft.name).scxml")
      ])
    }
    return try MachineResolver.resolve(draft)
  }

  /// All machines under `root`, by name.
  package static func compileAll(root: String) throws(MachineError) -> [MachineDefinition] {
    let folder = "spec/machines"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
    let sources = names.filter { $0.hasSuffix(".scxml") }.sorted()
    if sources.isEmpty {
      throw MachineError(problems: [.init(file: folder, line: 0, message: "no machines under \(root)")])
    }
    var machines: [MachineDefinition] = []
    var problems: [MachineError.Problem] = []
    for name in sources {
      let file = "\(folder)/\(name)"
      guard let source = try? String(contentsOfFile: "\(root)/\(file)", encoding: .utf8) else {
        problems.append(.init(file: file, line: 0, message: "cannot be read as UTF-8"))
        continue
      }
      do {
        machines.append(try compile(source, file: file))
      } catch {
        problems += error.problems
      }
    }
    if !problems.isEmpty { throw MachineError(problems: problems) }
    return machines
  }

  /// The generated files, by path under the root.
  package static func outputs(_ machines: [MachineDefinition]) -> [String: String] {
    var outputs: [String: String] = [:]
    for machine in machines {
      outputs["Sources/PorterMachines/Generated/\(Names.type(machine.name)).swift"] = SwiftOutput.write(machine)
      outputs["spec/models/generated/\(machine.name).pml"] = PromelaOutput.write(machine)
      outputs["spec/machines/\(machine.name).md"] = MarkdownOutput.write(machine)
    }
    outputs["Sources/PorterMachines/Generated/AllMachines.swift"] = SwiftListOutput.write(machines)
    outputs["Include/nightporter_machines.h"] = CHeaderOutput.write(machines)
    return outputs
  }

  /// Paths that differ from the machines' output: changed, missing, or left over from a removed machine.
  package static func stale(root: String) throws(MachineError) -> [String] {
    let outputs = outputs(try compileAll(root: root))
    var stale = outputs.filter { path, text in
      (try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)) != text
    }.map(\.key)
    stale += leftOver(root: root, outputs: outputs)
    return stale.sorted()
  }

  /// Writes stale files, deletes leftover ones, and returns their paths.
  package static func generate(root: String) throws -> [String] {
    let outputs = outputs(try compileAll(root: root))
    let stale = try stale(root: root)
    for path in stale {
      let url = URL(fileURLWithPath: "\(root)/\(path)")
      if let text = outputs[path] {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
      } else {
        try FileManager.default.removeItem(at: url)
      }
    }
    return stale
  }

  private static func leftOver(root: String, outputs: [String: String]) -> [String] {
    let folders = [
      ("Sources/PorterMachines/Generated", ".swift"), ("spec/models/generated", ".pml"), ("spec/machines", ".md"),
    ]
    return folders.flatMap { folder, ending in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
      return names.filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }.filter { outputs[$0] == nil }
    }
  }
}
