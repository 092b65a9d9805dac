/// The page for one machine: its purpose, its diagram, its words, and the answer of every state to every event.
struct MarkdownOutput {
  let machine: MachineDefinition
  private var text = ""

  static func write(_ machine: MachineDefinition) -> String {
    var output = MarkdownOutput(machine: machine)
    output.write()
    return output.text
  }

  private init(machine: MachineDefinition) { self.machine = machine }

  private mutating func write() {
    line("<!-- Generated from \(machine.name).scxml by porter-machines. Change that file, then run `make spec`. -->")
    line()
    line("# \(machine.name)")
    line()
    line(machine.documentation)
    line()
    diagram()
    states()
    words("Events", machine.events.map { ($0.name, $0.documentation) })
    words(
      "Effects",
      machine.effects.map {
        (
          $0.name,
          Self.kind($0.kind) + $0.documentation + ($0.occursOnce ? " Exactly once on every path to an end." : "")
        )
      })
    moves()
    totality()
  }

  private mutating func line(_ line: String = "") { text += line + "\n" }

  private mutating func diagram() {
    line("```mermaid")
    line("stateDiagram-v2")
    line("  [*] --> \(machine.states[machine.initial].name)")
    for (index, state) in machine.states.enumerated() {
      for (next, other) in machine.states.enumerated() where next != index {
        let events = zip(machine.events, machine.answers[index]).filter { $0.1.next == next }.map(\.0.name)
        if !events.isEmpty { line("  \(state.name) --> \(other.name): \(events.joined(separator: "<br>"))") }
      }
      if state.isFinal { line("  \(state.name) --> [*]") }
    }
    line("```")
    line()
  }

  private mutating func states() {
    line("## States")
    line()
    line("| state | meaning |")
    line("|---|---|")
    for (index, state) in machine.states.enumerated() {
      let marks = [index == machine.initial ? "initial" : nil, state.isFinal ? "final" : nil].compactMap { $0 }
      let around = state.ancestors.isEmpty ? [] : ["in " + state.ancestors.joined(separator: ", ")]
      let note = (marks + around).isEmpty ? "" : " (\((marks + around).joined(separator: ", ")))"
      line("| `\(state.name)`\(note) | \(cell(state.documentation)) |")
    }
    line()
  }

  private mutating func words(_ title: String, _ words: [(name: String, text: String)]) {
    line("## \(title)")
    line()
    line("| \(title.lowercased().dropLast()) | meaning |")
    line("|---|---|")
    for (name, text) in words { line("| `\(name)` | \(cell(text)) |") }
    line()
  }

  private mutating func moves() {
    line("## What happens")
    line()
    line("| in | on | then | effects, in order | why |")
    line("|---|---|---|---|---|")
    for (state, answers) in zip(machine.states, machine.answers) {
      for (answer, events) in SwiftOutput.grouped(machine, answers)
      where answer.kind == .moved || answer.kind == .stayed {
        let effects = answer.effects.map { "`\(machine.effects[$0].name)`" }.joined(separator: ", ")
        let on = events.map { "`\($0)`" }.joined(separator: ", ")
        let then = answer.kind == .moved ? "`\(machine.states[answer.next].name)`" : "stays"
        line("| `\(state.name)` | \(on) | \(then) | \(effects) | \(cell(answer.documentation)) |")
      }
    }
    line()
  }

  private mutating func totality() {
    line("## Every event in every state")
    line()
    line("**Bold**: the next state. `=`: stays, with effects. *Italic*: ignored, a harmless repeat. ✕: refused.")
    line()
    let live = machine.states.indices.filter { !machine.states[$0].isFinal }
    line("| | " + live.map { machine.states[$0].name }.joined(separator: " | ") + " |")
    line("|---|" + String(repeating: "---|", count: live.count))
    for (index, event) in machine.events.enumerated() {
      let cells = live.map { state -> String in
        let answer = machine.answers[state][index]
        let reason = answer.reason.map { machine.reasons[$0] } ?? ""
        switch answer.kind {
        case .moved: return "**\(machine.states[answer.next].name)**"
        case .stayed: return "="
        case .ignored: return "*\(reason)*"
        case .refused: return "✕ \(reason)"
        }
      }
      line("| `\(event.name)` | " + cells.joined(separator: " | ") + " |")
    }
    let finals = machine.states.filter(\.isFinal).map { "`\($0.name)`" }
    if !finals.isEmpty {
      line()
      line("Final, ignoring everything as *\(endedReason)*: \(finals.joined(separator: ", ")).")
    }
  }

  private static func kind(_ kind: MachineDefinition.EffectKind) -> String {
    switch kind {
    case .act: ""
    case .record: "*Recorded.* "
    case .ask: "*Asked.* "
    case .tell: "*Told.* "
    }
  }

  private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
