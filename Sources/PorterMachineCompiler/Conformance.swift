import Foundation

/// Compares recorded runs of machines with the machines' files.
///
/// A record is a file written by debug builds (`PORTER_TRACE_TO`), with a line for each step:
/// `PROCESS RUNNER MACHINE EVENT FROM TO ANSWER`. The table of exceptions has a line for each name that tests do not
/// reach, and for each refusal that only a mistake in the engine can cause:
///
///     never MACHINE state|event|effect NAME: REASON
///     never MACHINE: REASON                  (no step of it is recorded)
///     mistake MACHINE REFUSAL: REASON
///     every MACHINE: REASON                  (each name of it must occur, unless it is excused)
package struct Conformance {
  /// The problems found, one line each; empty if the record conforms.
  package private(set) var problems: [String] = []
  /// Names that never occurred and are not excused. Some occur only by chance, when two processes act in the same
  /// millisecond, so a single run without them is not a fault.
  package private(set) var unmet: [String] = []
  /// The names that never occurred, by machine, for people.
  package private(set) var report: [String] = []

  private struct Exceptions {
    var never: [String: String] = [:]
    var mistakes: Set<String> = []
    /// Machines all of whose names must occur.
    var every: Set<String> = []
  }

  private struct Counts {
    var steps = 0
    /// By state, then by event.
    var taken: [[Bool]]

    init(_ machine: MachineDefinition) {
      taken = machine.states.map { _ in machine.events.map { _ in false } }
    }
  }

  private static let mostProblems = 40

  package init(machines: [MachineDefinition], record: some Sequence<String>, exceptions: String) {
    let exceptions = read(exceptions, machines)
    var counts = Dictionary(uniqueKeysWithValues: machines.map { ($0.name, Counts($0)) })
    let index = Dictionary(uniqueKeysWithValues: machines.map { ($0.name, Index($0)) })
    /// The current state of each running machine, by process and runner.
    var states: [String: String] = [:]
    for line in record where !line.isEmpty {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 7, let machine = index[words[2]] else {
        add("not a step: \(line)")
        continue
      }
      compare(words, machine, exceptions, &counts[words[2], default: Counts(machine.definition)], &states)
    }
    for machine in machines {
      report(machine, counts[machine.name] ?? Counts(machine), exceptions)
    }
  }

  // MARK: One step

  private struct Index {
    let definition: MachineDefinition
    let states: [String: Int]
    let events: [String: Int]

    init(_ machine: MachineDefinition) {
      definition = machine
      states = Dictionary(uniqueKeysWithValues: machine.states.enumerated().map { ($1.name, $0) })
      events = Dictionary(uniqueKeysWithValues: machine.events.enumerated().map { ($1.name, $0) })
    }
  }

  private mutating func compare(
    _ words: [String], _ machine: Index, _ exceptions: Exceptions, _ counts: inout Counts,
    _ places: inout [String: String]
  ) {
    let (runner, name, event, from, to, answer) = (words[1], words[2], words[3], words[4], words[5], words[6])
    guard let row = machine.states[from], let column = machine.events[event] else {
      return add("\(name) has no state \(from), or no event \(event)")
    }
    let expected = machine.definition.answers[row][column]
    let next = machine.definition.states[expected.next].name
    let reason = expected.reason.map { "." + machine.definition.reasons[$0] } ?? ""
    let kind = expected.kind.rawValue + reason
    if (to, answer) != (next, kind) {
      add("\(name): \(from), \(event) leads to \(to) (\(answer)); the machine says \(next) (\(kind))")
    }
    if exceptions.mistakes.contains("\(name) \(answer)") { add("\(name): \(from), \(event) is \(answer)") }
    if runner != "0" {
      let place = words[0] + " " + runner
      if let last = places[place], last != from {
        add("\(name): \(event) comes in \(from), after a step to \(last) (\(place))")
      }
      places[place] = to
    }
    counts.steps += 1
    counts.taken[row][column] = true
  }

  private mutating func add(_ problem: String) {
    guard !problems.contains(problem) else { return }
    if problems.count < Self.mostProblems { problems.append(problem) }
  }

  // MARK: The whole

  private mutating func report(_ machine: MachineDefinition, _ counts: Counts, _ exceptions: Exceptions) {
    guard counts.steps > 0 else {
      report.append("\(machine.name): no step is recorded")
      if exceptions.never[machine.name] == nil { add("\(machine.name): no step is recorded") }
      return
    }
    let pairs = machine.states.indices.flatMap { row in machine.events.indices.map { (row, $0) } }
    let taken = pairs.filter { counts.taken[$0.0][$0.1] }
    let acting = pairs.filter { [.moved, .stayed].contains(machine.answers[$0.0][$0.1].kind) }
    let missing = acting.filter { !counts.taken[$0.0][$0.1] }
    report.append(
      "\(machine.name): \(counts.steps) steps, \(acting.count - missing.count) of \(acting.count) acting pairs")

    let states = Set(taken.flatMap { [$0.0, machine.answers[$0.0][$0.1].next] })
    let events = Set(taken.map(\.1))
    let effects = Set(taken.flatMap { machine.answers[$0.0][$0.1].effects })
    never("state", machine.states.map(\.name), states, machine, exceptions)
    never("event", machine.events.map(\.name), events, machine, exceptions)
    never("effect", machine.effects.map(\.name), effects, machine, exceptions)
    for row in Set(missing.map(\.0)).sorted() {
      let names = missing.filter { $0.0 == row }.map { machine.events[$0.1].name }
      report.append("  pairs never taken: \(machine.states[row].name) × \(names.joined(separator: ", "))")
    }
  }

  private mutating func never(
    _ kind: String, _ names: [String], _ seen: Set<Int>, _ machine: MachineDefinition, _ exceptions: Exceptions
  ) {
    for (number, name) in names.enumerated() {
      let key = "\(machine.name) \(kind) \(name)"
      switch (seen.contains(number), exceptions.never[key]) {
      case (true, nil): break
      case (true, _): report.append("  \(kind) \(name) occurs, and is among the exceptions")
      case (false, let reason?): report.append("  \(kind) \(name) never occurs: \(reason)")
      case (false, nil):
        report.append("  \(kind) \(name) never occurs, and is not excused")
        let line = "\(machine.name): \(kind) \(name) never occurs"
        if exceptions.every.contains(machine.name) { add(line) } else { unmet.append(line) }
      }
    }
  }

  private mutating func read(_ text: String, _ machines: [MachineDefinition]) -> Exceptions {
    var exceptions = Exceptions()
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      let words = parts[0].split(separator: " ").map(String.init)
      let names = words.dropFirst().joined(separator: " ")
      switch (words.first, words.count, parts.count) {
      case ("never", 2, 2), ("never", 4, 2): exceptions.never[names] = parts[1]
      case ("mistake", 3, 2): exceptions.mistakes.insert(names)
      case ("every", 2, 2): exceptions.every.insert(names)
      default: add("an exception that is not understood: \(line)")
      }
      if !machines.contains(where: { words.count > 1 && $0.name == words[1] && isNamed(words, $0) }) {
        add("an exception for what no machine has: \(line)")
      }
    }
    return exceptions
  }

  private func isNamed(_ words: [String], _ machine: MachineDefinition) -> Bool {
    switch (words[0], words.count > 2 ? words[2] : "") {
    case ("never", ""), ("every", ""): true
    case ("never", "state"): machine.states.contains { $0.name == words.last }
    case ("never", "event"): machine.events.contains { $0.name == words.last }
    case ("never", "effect"): machine.effects.contains { $0.name == words.last }
    case ("mistake", let refusal):
      refusal.hasPrefix("refused.") && machine.reasons.contains(String(refusal.dropFirst("refused.".count)))
    default: false
    }
  }
}
