/// `Include/nightporter_machines.h`: the codes of all machines as C enums.
enum CHeaderOutput {
  static func write(_ machines: [MachineDefinition]) -> String {
    var out = SourceWriter()
    out.line("/* Generated from spec/machines by porter-machines. Do not change by hand. */")
    out.line()
    out.line("/*")
    out.line(
      " * The codes of the machines, for np_machine_step and its relatives. A machine's codes are stable within an ABI")
    out.line(" * number; look machines up by name, since a new one may change the numbers of those after it.")
    out.line(" */")
    out.line()
    out.line("#ifndef NIGHTPORTER_MACHINES_H")
    out.line("#define NIGHTPORTER_MACHINES_H")
    out.line()
    out.line("/* The machines, by name. */")
    enumeration(&out, "np_machine", "NP_MACHINE", machines.map { ($0.name, "") })
    for machine in machines {
      let (type, prefix) = ("np_" + machine.name, "NP_" + Names.upperSnake(machine.name))
      out.folded("/* " + safe(machine.documentation) + " */", prefix: "")
      enumeration(&out, type + "_state", prefix + "_STATE", machine.states.map { ($0.name, $0.documentation) })
      enumeration(&out, type + "_event", prefix + "_EVENT", machine.events.map { ($0.name, $0.documentation) })
      enumeration(&out, type + "_effect", prefix + "_EFFECT", machine.effects.map { ($0.name, $0.documentation) })
      enumeration(&out, type + "_reason", prefix + "_REASON", machine.reasons.map { ($0, "") })
    }
    out.line("#endif /* NIGHTPORTER_MACHINES_H */")
    return out.text
  }

  private static func enumeration(
    _ out: inout SourceWriter, _ type: String, _ prefix: String, _ names: [(name: String, text: String)]
  ) {
    if names.isEmpty { return }
    out.block("enum \(type) {", "};") { out in
      for (code, (name, text)) in names.enumerated() {
        if !text.isEmpty { out.folded("/* " + safe(text) + " */", prefix: "") }
        let comma = code == names.count - 1 ? "" : ","
        out.line("\(prefix)_\(Names.upperSnake(name)) = \(code)\(comma)")
      }
    }
    out.line()
  }

  private static func safe(_ text: String) -> String { text.replacing("*/", with: "* /") }
}
