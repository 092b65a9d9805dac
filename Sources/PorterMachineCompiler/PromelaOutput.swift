/// A machine for the model checker Spin: an inline `NAME_step` for use in models of the world, and a small world that
/// raises every event in every state and requires an answer to each.
struct PromelaOutput {
  let machine: MachineDefinition
  private var out = SourceWriter()

  static func write(_ machine: MachineDefinition) -> String {
    var output = PromelaOutput(machine: machine)
    output.write()
    return output.out.text
  }

  private init(machine: MachineDefinition) { self.machine = machine }

  private var name: String { machine.name }
  private var once: [MachineDefinition.Effect] { machine.effects.filter(\.occursOnce) }

  private mutating func write() {
    out.line("/* Generated from spec/machines/\(name).scxml by porter-machines. Do not change by hand.")
    out.line(" *")
    out.line(" * Included in a model: define PORTER_WORLD and \(name)_does(effect), a statement, before the #include.")
    out.line(" * Alone: every state is offered every event, and must answer. */")
    out.line()
    constants("state", machine.states.map(\.name))
    constants("on", machine.events.map(\.name))
    constants("do", machine.effects.map(\.name))
    out.line("#ifndef PORTER_ANSWERS")
    out.line("#define PORTER_ANSWERS")
    for (code, kind) in MachineDefinition.Kind.allCases.enumerated() {
      out.line("#define \(kind.rawValue.uppercased()) \(code + 1)")
    }
    out.line("#endif")
    out.line()
    out.line("#define \(name)_initial \(constant("state", machine.states[machine.initial].name))")
    let finals = machine.states.filter(\.isFinal).map { "(s) == \(constant("state", $0.name))" }
    out.line("#define \(name)_isFinal(s) (\(finals.isEmpty ? "false" : finals.joined(separator: " || ")))")
    out.line()
    worldEffects()
    step()
    world()
  }

  private func constant(_ kind: String, _ name: String) -> String { "\(machine.name)_\(kind)_\(Names.camel(name))" }

  private mutating func constants(_ kind: String, _ names: [String]) {
    for (code, name) in names.enumerated() { out.line("#define \(constant(kind, name)) \(code)") }
    out.line()
  }

  private mutating func worldEffects() {
    out.line("#ifndef PORTER_WORLD")
    for effect in once { out.line("byte \(name)_times_\(effect.name) = 0;") }
    let (name, once) = (name, once)
    out.block("inline \(name)_does(effect) {") { out in
      if once.isEmpty { out.line("skip") }
      for (index, effect) in once.enumerated() {
        let times = "\(name)_times_\(effect.name)"
        out.line("\(times) = \(times) + (effect == \(name)_do_\(Names.camel(effect.name)));")
        out.line("assert(\(times) <= 1)\(index == once.count - 1 ? "" : ";") /* once */")
      }
    }
    out.line("#endif")
    out.line()
  }

  private mutating func step() {
    let machine = machine
    let (states, events, effects) = (
      machine.states.map { constant("state", $0.name) }, machine.events.map { constant("on", $0.name) },
      machine.effects.map { constant("do", $0.name) }
    )
    out.block("inline \(name)_step(state, event, answer) {") { out in
      out.line("if")
      for (state, answers) in zip(states.indices, machine.answers) where !machine.states[state].isFinal {
        out.line(":: state == \(states[state]) ->")
        out.indented { out in
          out.line("if")
          for (event, answer) in zip(events, answers) {
            out.line(":: event == \(event) ->")
            var statements = ["answer = \(answer.kind.rawValue.uppercased())"]
            if answer.next != state { statements.append("state = \(states[answer.next])") }
            statements += answer.effects.map { "\(machine.name)_does(\(effects[$0]))" }
            out.line("   " + statements.joined(separator: "; "))
          }
          out.line("fi")
        }
      }
      let finals = machine.states.indices.filter { machine.states[$0].isFinal }
      if !finals.isEmpty {
        out.line(":: \(machine.name)_isFinal(state) -> answer = IGNORED")
      }
      out.line("fi")
    }
    out.line()
  }

  private mutating func world() {
    let (name, machine, once) = (name, machine, once)
    let final = machine.states.contains(where: \.isFinal)
    out.line("#ifndef PORTER_WORLD")
    out.block("active proctype \(name)_world() {") { out in
      out.line("byte state = \(name)_initial;")
      out.line("byte event = 0;")
      out.line("byte answer = 0;")
      out.line("do")
      out.line(":: \(final ? "!\(name)_isFinal(state)" : "true") ->")
      out.indented { out in
        out.block("atomic {") { out in
          out.line("if")
          for event in machine.events { out.line(":: event = \(name)_on_\(Names.camel(event.name))") }
          out.line("fi;")
          out.line("answer = 0;")
          out.line("\(name)_step(state, event, answer);")
          out.line("assert(answer != 0); /* answered */")
          out.line("event = 0")
        }
      }
      out.line(
        final ? ":: \(name)_isFinal(state) -> break" : ":: true -> break /* the world may end whenever it likes */")
      out.line("od;")
      for effect in once { out.line("assert(\(name)_times_\(effect.name) == 1); /* not left out */") }
      out.line("skip")
    }
    out.line("#endif")
  }
}
