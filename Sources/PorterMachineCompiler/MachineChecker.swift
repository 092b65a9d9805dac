/// Checks that need only a machine's table.
struct MachineChecker {
  private let machine: MachineDefinition
  private var problems: ProblemList

  static func check(_ machine: MachineDefinition) throws(MachineError) {
    var checker = MachineChecker(machine: machine, problems: ProblemList(file: machine.file))
    checker.checkLimits()
    checker.checkReached()
    checker.checkUse()
    checker.checkTraps()
    checker.checkOnce()
    checker.checkRecorded()
    try checker.problems.throwIfAny()
  }

  private mutating func checkLimits() {
    let counts = [
      ("states", machine.states.count), ("events", machine.events.count), ("effects", machine.effects.count),
      ("reasons", machine.reasons.count),
    ]
    for (what, count) in counts where count > 250 {
      problems.add(1, "\(count) \(what): codes are one byte, 250 at most")
    }
  }

  private mutating func checkReached() {
    let reached = reachable(from: machine.initial)
    for (index, state) in machine.states.enumerated() where !reached.contains(index) {
      problems.add(state.line, "state '\(state.name)' cannot be reached from '\(machine.states[machine.initial].name)'")
    }
    for state in machine.states where state.documentation.isEmpty {
      problems.add(state.line, "a comment above '\(state.name)' must say what the state means")
    }
  }

  private mutating func checkUse() {
    let used = Set(machine.answers.joined().flatMap(\.effects))
    for (index, effect) in machine.effects.enumerated() where !used.contains(index) {
      problems.add(effect.line, "effect '\(effect.name)' is never caused")
    }
  }

  private mutating func checkTraps() {
    let finals = machine.states.indices.filter { machine.states[$0].isFinal }
    for (index, state) in machine.states.enumerated() where !state.isFinal {
      let reached = reachable(from: index)
      if reached == [index] {
        problems.add(state.line, "state '\(state.name)' has no way out: make it <final>, or give it one")
      } else if !finals.isEmpty && reached.isDisjoint(with: finals) {
        problems.add(state.line, "no final state can be reached from '\(state.name)'")
      }
    }
  }

  /// Tracks how often a `once` effect can have occurred on arrival in each state: never, once, or more.
  private mutating func checkOnce() {
    for (effect, declaration) in machine.effects.enumerated() where declaration.occursOnce {
      if !machine.states.contains(where: \.isFinal) {
        problems.add(declaration.line, "occurs=\"once\" needs a final state to be once before")
        continue
      }
      var arrivals = [Set<Int>](repeating: [], count: machine.states.count)
      var open = [(state: machine.initial, count: 0)]
      while let (state, count) = open.popLast() {
        if !arrivals[state].insert(count).inserted { continue }
        for answer in machine.answers[state] {
          let now = min(2, count + answer.effects.count { $0 == effect })
          if now == 2 {
            problems.add(answer.line, "'\(declaration.name)' can happen a second time here, but must occur once")
          }
          open.append((answer.next, now))
        }
      }
      for (index, state) in machine.states.enumerated() where state.isFinal && arrivals[index].contains(0) {
        problems.add(state.line, "'\(state.name)' can be reached without '\(declaration.name)', which must occur once")
      }
    }
  }

  /// Recorded effects happen in the step's transaction, and all others after its commit, so only this order can be
  /// kept.
  private mutating func checkRecorded() {
    var reported: Set<Int> = []
    for answer in machine.answers.joined() {
      let kinds = answer.effects.map { machine.effects[$0].kind }
      guard let last = kinds.lastIndex(of: .record), kinds[..<last].contains(where: { $0 != .record }) else { continue }
      guard reported.insert(answer.line).inserted else { continue }
      problems.add(
        answer.line, "'\(machine.effects[answer.effects[last]].name)' is recorded, so it must come before what is not")
    }
  }

  private func reachable(from start: Int) -> Set<Int> {
    var reached: Set<Int> = []
    var open = [start]
    while let state = open.popLast() {
      if reached.insert(state).inserted { open += machine.answers[state].map(\.next) }
    }
    return reached
  }
}
