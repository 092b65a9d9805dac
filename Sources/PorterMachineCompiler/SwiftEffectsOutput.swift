/// Generates the dispatch of a machine's effects: a protocol with one method for each, so that an unhandled effect does
/// not compile, and the switch that calls them. Timers are left to the machine's driver.
enum SwiftEffectsOutput {
  static func write(_ out: inout SourceWriter, _ machine: MachineDefinition, _ type: String) {
    let effects = machine.effects.filter { $0.timer == nil }
    let recorded = effects.filter { $0.kind == .record }
    let others = effects.filter { $0.kind != .record }
    if !recorded.isEmpty {
      record(&out, machine, type, recorded)
    }
    if !others.isEmpty || recorded.isEmpty {
      perform(&out, machine, type, others)
    }
  }

  private static func perform(
    _ out: inout SourceWriter, _ machine: MachineDefinition, _ type: String, _ effects: [MachineDefinition.Effect]
  ) {
    out.line()
    out.line("/// Carries out the effects of `\(type)`, one method for each.")
    out.block("package protocol \(type)Effects {") { out in
      out.line("/// The event's data.")
      out.line("associatedtype Argument")
      methods(&out, effects, "_ argument: Argument)")
    }
    out.line()
    out.block("extension \(type) {") { out in
      let rest = machine.effects.filter { effect in !effects.contains(effect) }
      if rest.isEmpty {
        out.line("/// Calls the effect's method.")
      } else {
        out.line("/// Calls the effect's method; recorded effects and timers have none here.")
      }
      out.line("package static func perform<Performer: \(type)Effects>(")
      out.indented { $0.line("_ effect: Effect, by performer: Performer, _ argument: Performer.Argument") }
      out.block(") {") { out in
        out.flat("switch effect {") { out in
          for effect in effects {
            let name = Names.swiftCase(effect.name)
            out.line("case .\(name): performer.\(name)(argument)")
          }
          SwiftOutput.cases(&out, rest.map(\.name), "break")
        }
      }
    }
  }

  private static func record(
    _ out: inout SourceWriter, _ machine: MachineDefinition, _ type: String, _ effects: [MachineDefinition.Effect]
  ) {
    out.line()
    out.line(
      "/// Writes the recorded effects of `\(type)`, one method for each, inside the transaction that takes the step.")
    out.block("package protocol \(type)Record {") { out in
      out.line("/// The event's data, and the record being changed.")
      out.line("associatedtype Argument")
      out.line("associatedtype Failure: Error")
      methods(&out, effects, "_ argument: inout Argument, _ next: \(type).State) throws(Failure)")
    }
    out.line()
    out.block("extension \(type) {") { out in
      out.line("/// Writes the step's recorded effects, in order.")
      out.line("package static func record<Recorder: \(type)Record>(")
      out.indented {
        $0.line("_ step: MachineStep<\(type)>, by recorder: Recorder, _ argument: inout Recorder.Argument")
      }
      out.block(") throws(Recorder.Failure) {") { out in
        out.block("for effect in step.effects {") { out in
          out.flat("switch effect {") { out in
            for effect in effects {
              let name = Names.swiftCase(effect.name)
              out.line("case .\(name): try recorder.\(name)(&argument, step.next)")
            }
            let rest = machine.effects.filter { effect in !effects.contains(effect) }
            SwiftOutput.cases(&out, rest.map(\.name), "break")
          }
        }
      }
    }
  }

  private static func methods(
    _ out: inout SourceWriter, _ effects: [MachineDefinition.Effect], _ signature: String
  ) {
    for effect in effects {
      out.folded(effect.documentation, prefix: "/// ")
      out.line("func \(Names.swiftCase(effect.name))(\(signature)")
    }
  }
}
