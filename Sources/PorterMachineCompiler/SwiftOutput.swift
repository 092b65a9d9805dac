/// The Swift code of one machine.
struct SwiftOutput {
  let machine: MachineDefinition
  private var out = SourceWriter()

  static func write(_ machine: MachineDefinition) -> String {
    var output = SwiftOutput(machine: machine)
    output.write()
    return output.out.text
  }

  private init(machine: MachineDefinition) { self.machine = machine }

  private var type: String { Names.type(machine.name) }

  private mutating func write() {
    out.line(
      "// Generated from spec/machines/\(machine.name).scxml by porter-machines: change that file, run `make spec`."
    )
    out.line()
    out.folded(machine.documentation, prefix: "/// ")
    let (machine, type) = (machine, type)
    out.block("package enum \(type): Machine {") { out in
      Self.codes(&out, "State", machine.states.map { ($0.name, Self.stateDocumentation($0)) })
      out.line()
      Self.codes(&out, "Event", machine.events.map { ($0.name, $0.documentation) })
      out.line()
      Self.codes(&out, "Effect", machine.effects.map { ($0.name, $0.documentation) })
      out.line()
      Self.codes(&out, "Reason", machine.reasons.map { ($0, "") })
      out.line()
      out.line("package static var name: String { \"\(machine.name)\" }")
      out.line()
      let initial = Names.swiftCase(machine.states[machine.initial].name)
      out.line("package static var initial: State { .\(initial) }")
      out.line()
      Self.finals(&out, machine)
      out.line()
      Self.timers(&out, machine)
      out.line()
      Self.kinds(&out, machine)
      out.line()
      Self.step(&out, machine, type)
    }
    out.line()
    out.block("extension MachineRunner where M == \(type) {") { out in
      out.line("/// Takes the step. The caller carries out its effects, in order.")
      out.block("package mutating func handle(_ event: \(type).Event) -> MachineStep<\(type)> {") { out in
        out.line("let step = \(type).step(state, event)")
        out.line("state = step.next")
        out.line("return step")
      }
    }
    SwiftEffectsOutput.write(&out, machine, type)
  }

  private static func stateDocumentation(_ state: MachineDefinition.State) -> String {
    (state.isFinal ? "Final. " : "") + state.documentation
  }

  private static func codes(_ out: inout SourceWriter, _ type: String, _ names: [(name: String, text: String)]) {
    out.block("package enum \(type): UInt8, MachineCode {") { out in
      for (name, text) in names {
        out.folded(text, prefix: "/// ")
        out.line("case \(Names.swiftCase(name))")
      }
      if names.isEmpty { out.line("case none") }
      out.line()
      out.block("package var name: String {") { out in
        out.flat("switch self {") { out in
          for (name, _) in names { out.line("case .\(Names.swiftCase(name)): \"\(name)\"") }
          if names.isEmpty { out.line("case .none: \"none\"") }
        }
      }
    }
  }

  private static func finals(_ out: inout SourceWriter, _ machine: MachineDefinition) {
    out.block("package static func isFinal(_ state: State) -> Bool {") { out in
      let finals = machine.states.filter(\.isFinal)
      if finals.isEmpty { return out.line("false") }
      out.flat("switch state {") { out in
        cases(&out, finals.map(\.name), "true")
        cases(&out, machine.states.filter { !$0.isFinal }.map(\.name), "false")
      }
    }
  }

  private static func timers(_ out: inout SourceWriter, _ machine: MachineDefinition) {
    out.block("package static func timer(_ effect: Effect) -> MachineTimer<Event>? {") { out in
      if !machine.effects.contains(where: { $0.timer != nil }) { return out.line("nil") }
      out.flat("switch effect {") { out in
        for effect in machine.effects {
          guard let timer = effect.timer else { continue }
          let event = Names.swiftCase(machine.events[timer.event].name)
          let value =
            timer.action == .start
            ? ".start(\"\(timer.id)\", milliseconds: \(timer.milliseconds), raise: .\(event))"
            : ".cancel(\"\(timer.id)\")"
          out.line("case .\(Names.swiftCase(effect.name)): \(value)")
        }
        cases(&out, machine.effects.filter { $0.timer == nil }.map(\.name), "nil")
      }
    }
  }

  private static func kinds(_ out: inout SourceWriter, _ machine: MachineDefinition) {
    out.block("package static func kind(_ effect: Effect) -> MachineEffectKind {") { out in
      let kinds = MachineDefinition.EffectKind.allCases.filter { kind in machine.effects.contains { $0.kind == kind } }
      if kinds.count < 2 { return out.line(".\((kinds.first ?? .act).rawValue)") }
      out.flat("switch effect {") { out in
        for kind in kinds {
          cases(&out, machine.effects.filter { $0.kind == kind }.map(\.name), ".\(kind.rawValue)")
        }
      }
    }
  }

  private static func step(_ out: inout SourceWriter, _ machine: MachineDefinition, _ type: String) {
    // Inlined, so that a caller in another module pays for one call.
    out.line("@inline(__always)")
    out.block("package static func step(_ state: State, _ event: Event) -> MachineStep<\(type)> {") { out in
      out.flat("switch state {") { out in
        for state in machine.states {
          let name = Names.swiftCase(state.name)
          out.line("case .\(name): step\(Names.type(state.name))(event)")
        }
      }
    }
    for (state, answers) in zip(machine.states, machine.answers) {
      out.line()
      out.line("@inline(__always)")
      out.block("private static func step\(Names.type(state.name))(_ event: Event) -> MachineStep<\(type)> {") { out in
        out.flat("switch event {") { out in
          for group in grouped(machine, answers) {
            cases(&out, group.events, nil)
            out.indented { out in
              out.folded(group.answer.documentation, prefix: "// ")
              call(&out, "MachineStep", literal(machine, group.answer))
            }
          }
        }
      }
    }
  }

  /// Events with the same answer share a case, in the order of the first.
  static func grouped(
    _ machine: MachineDefinition, _ answers: [MachineDefinition.Answer]
  ) -> [(answer: MachineDefinition.Answer, events: [String])] {
    var groups: [(answer: MachineDefinition.Answer, events: [String])] = []
    for (event, answer) in zip(machine.events, answers) {
      if let index = groups.firstIndex(where: { $0.answer == answer }) {
        groups[index].events.append(event.name)
      } else {
        groups.append((answer, [event.name]))
      }
    }
    return groups
  }

  /// The arguments of a step.
  private static func literal(_ machine: MachineDefinition, _ answer: MachineDefinition.Answer) -> [String] {
    let next = "." + Names.swiftCase(machine.states[answer.next].name)
    let reason = answer.reason.map { "." + Names.swiftCase(machine.reasons[$0]) } ?? ""
    switch answer.kind {
    case .ignored: return [next, ".ignored(\(reason))"]
    case .refused: return [next, ".refused(\(reason))"]
    case .moved, .stayed:
      return [next, "." + answer.kind.rawValue]
        + answer.effects.map { "." + Names.swiftCase(machine.effects[$0].name) }
    }
  }

  /// On one line if it fits, otherwise wrapped the way the formatter does it.
  private static func call(_ out: inout SourceWriter, _ name: String, _ arguments: [String]) {
    let oneLine = "\(name)(\(arguments.joined(separator: ", ")))"
    if oneLine.count <= 112 { return out.line(oneLine) }
    out.line(name + "(")
    out.indented { out in
      var line = ""
      for (index, argument) in arguments.enumerated() {
        let piece = argument + (index == arguments.count - 1 ? ")" : ",")
        if !line.isEmpty, line.count + 1 + piece.count > 112 {
          out.line(line)
          line = ""
        }
        line += (line.isEmpty ? "" : " ") + piece
      }
      out.line(line)
    }
  }

  static func cases(_ out: inout SourceWriter, _ names: [String], _ value: String?) {
    if names.isEmpty { return }
    let list = names.map { "." + Names.swiftCase($0) }
    let oneLine = "case " + list.joined(separator: ", ") + ":" + (value.map { " " + $0 } ?? "")
    if oneLine.count <= 96 { return out.line(oneLine) }
    var line = "case "
    for (index, name) in list.enumerated() {
      let piece = name + (index == list.count - 1 ? ":" : ",")
      if line.count + piece.count > 96 {
        out.line(line)
        line = "  "
      }
      line += (line.hasSuffix(" ") ? "" : " ") + piece
    }
    out.line(line)
    if let value { out.indented { $0.line(value) } }
  }
}

/// The list of all machines, for callers that look them up by number or name.
enum SwiftListOutput {
  static func write(_ machines: [MachineDefinition]) -> String {
    var out = SourceWriter()
    out.line("// Generated from spec/machines by porter-machines. Do not change by hand.")
    out.line()
    out.block("extension MachineCatalog {") { out in
      out.line("/// All machines, by name.")
      out.block("package static let all: [MachineDescription] = [", "]") { out in
        for machine in machines { out.line("MachineDescription(\(Names.type(machine.name)).self),") }
      }
    }
    return out.text
  }
}
