/// Works out each state's answer to each event by SCXML's algorithm: the first matching transition in document order,
/// first in the state itself and then in the states around it.
struct MachineResolver {
  private let draft: MachineDraft
  private var problems: ProblemList
  private var stateIndex: [String: Int] = [:]
  /// The draft index of each leaf.
  private var leaves: [Int] = []
  private var leafOf: [Int: Int] = [:]
  private var effects: [MachineDefinition.Effect] = []
  private var reasons: [String] = []
  private var taken: Set<Int> = []

  static func resolve(_ draft: MachineDraft) throws(MachineError) -> MachineDefinition {
    var resolver = MachineResolver(draft)
    resolver.indexNames()
    resolver.collectTimers()
    try resolver.problems.throwIfAny()
    let answers = resolver.answers()
    try resolver.problems.throwIfAny()
    let definition = resolver.definition(answers)
    try MachineChecker.check(definition)
    return definition
  }

  private init(_ draft: MachineDraft) {
    self.draft = draft
    problems = ProblemList(file: draft.file)
  }

  // MARK: - Names

  private mutating func indexNames() {
    refuseRepeats(draft.events.map { ($0.name, $0.line) }, "event")
    refuseRepeats(draft.effects.map { ($0.name, $0.line) }, "effect")
    refuseRepeats(draft.states.map { ($0.name, $0.line) }, "state")
    for event in draft.events {
      for other in draft.events where other.name.hasPrefix(event.name + ".") {
        problems.add(
          event.line, "event '\(event.name)' is a prefix of '\(other.name)': SCXML would take either for the other")
      }
    }
    for (index, state) in draft.states.enumerated() {
      stateIndex[state.name] = index
      if state.children.isEmpty {
        leafOf[index] = leaves.count
        leaves.append(index)
      }
    }
    for state in draft.states {
      if state.children.isEmpty {
        if state.initial != nil { problems.add(state.line, "'initial' of a state without states inside") }
      } else if let initial = state.initial {
        if !state.children.contains(where: { draft.states[$0].name == initial }) {
          problems.add(state.line, "initial '\(initial)' is not a state directly inside '\(state.name)'")
        }
      } else {
        problems.add(state.line, "state '\(state.name)' has states inside and must name its 'initial'")
      }
    }
    if let initial = stateIndex[draft.initial] {
      for action in entered(initial, from: []).flatMap({ draft.states[$0].onEntry }) {
        problems.add(action.line, "the machine starts here: what is sent on entry would never be carried out")
      }
    } else {
      problems.add(draft.initialLine, "initial '\(draft.initial)' is not a state")
    }
    effects = draft.effects.map {
      .init(
        name: $0.name, documentation: $0.documentation, line: $0.line, occursOnce: $0.occursOnce, kind: $0.kind,
        timer: nil)
    }
  }

  private mutating func refuseRepeats(_ names: [(String, Int)], _ what: String) {
    var seen: [String: Int] = [:]
    for (name, line) in names {
      let spelled = Names.camel(name)
      if let before = seen[spelled] {
        problems.add(line, "\(what) '\(name)' is already declared in line \(before)")
      }
      seen[spelled] = line
    }
  }

  private var allActions: [MachineDraft.Action] {
    draft.states.flatMap { $0.onEntry + $0.transitions.flatMap(\.actions) + $0.onExit }
  }

  private mutating func collectTimers() {
    var delays: [String: (milliseconds: Int, event: String, line: Int)] = [:]
    for case .start(let id, let event, let milliseconds, let line) in allActions {
      if let known = delays[id] {
        if known.milliseconds != milliseconds || known.event != event {
          problems.add(line, "timer '\(id)' is declared differently in line \(known.line)")
        }
        continue
      }
      delays[id] = (milliseconds, event, line)
      guard let index = draft.events.firstIndex(where: { $0.name == event }) else {
        problems.add(line, "timer '\(id)' raises '\(event)', which is not declared")
        continue
      }
      let text = "Starts the timer `\(id)`: raise `\(event)` after \(milliseconds) ms."
      addTimer(.init(action: .start, id: id, milliseconds: milliseconds, event: index), text, line)
    }
    for case .cancel(let id, let line) in allActions {
      guard let timer = effects.first(where: { $0.timer?.id == id })?.timer else {
        problems.add(line, "timer '\(id)' is never started")
        continue
      }
      if effects.contains(where: { $0.timer?.id == id && $0.timer?.action == .cancel }) { continue }
      addTimer(
        .init(action: .cancel, id: id, milliseconds: timer.milliseconds, event: timer.event),
        "Takes the timer `\(id)` back; harmless if it does not run.", line)
    }
  }

  private mutating func addTimer(_ timer: MachineDefinition.Timer, _ documentation: String, _ line: Int) {
    let name = Self.timerEffect(timer.action, timer.id)
    if let other = effects.first(where: { $0.name == name }) {
      problems.add(line, "timer '\(timer.id)' needs the effect name '\(name)', taken in line \(other.line)")
    }
    effects.append(
      .init(name: name, documentation: documentation, line: line, occursOnce: false, kind: .act, timer: timer))
  }

  /// `extensionWait` → `startExtensionWait`
  private static func timerEffect(_ action: MachineDefinition.Timer.Action, _ id: String) -> String {
    (action == .start ? "start" : "cancel") + Names.capitalised(id)
  }

  // MARK: - Answers

  private mutating func answers() -> [[MachineDefinition.Answer]] {
    refuseUnknownEvents()
    refuseUnansweredEvents()
    let table = leaves.map { leaf in draft.events.indices.compactMap { answer(leaf, $0) } }
    for state in draft.states {
      for transition in state.transitions where !taken.contains(transition.line) {
        problems.add(transition.line, "this transition is never taken: earlier or inner ones answer all its events")
      }
    }
    return table
  }

  private mutating func refuseUnknownEvents() {
    for transition in draft.states.flatMap(\.transitions) {
      for descriptor in transition.descriptors
      where !draft.events.contains(where: { Self.matches(descriptor, $0.name) }) {
        problems.add(transition.line, "event '\(descriptor)' is not declared")
      }
    }
  }

  /// A wildcard may answer events that make no sense in a state, but an event that makes sense nowhere is a mistake.
  private mutating func refuseUnansweredEvents() {
    let named = draft.states.flatMap(\.transitions).flatMap(\.descriptors).filter { $0 != "*" }
    for event in draft.events where !named.contains(where: { Self.matches($0, event.name) }) {
      problems.add(event.line, "event '\(event.name)' is answered by wildcards only")
    }
  }

  private static func matches(_ descriptor: String, _ event: String) -> Bool {
    if descriptor == "*" || descriptor == event { return true }
    return descriptor.hasSuffix(".*") && event.hasPrefix(descriptor.dropLast(1))
  }

  private mutating func answer(_ leaf: Int, _ event: Int) -> MachineDefinition.Answer? {
    let state = draft.states[leaf]
    let own = leafOf[leaf] ?? 0
    if state.isFinal {
      return .init(
        kind: .ignored, next: own, reason: reason(endedReason), effects: [], documentation: "", line: state.line)
    }
    let name = draft.events[event].name
    for holder in [leaf] + ancestors(leaf) {
      let match = draft.states[holder].transitions.first { $0.descriptors.contains { Self.matches($0, name) } }
      if let match {
        taken.insert(match.line)
        return follow(match, of: holder, from: leaf)
      }
    }
    problems.add(state.line, "state '\(state.name)' does not answer event '\(name)'")
    return nil
  }

  private mutating func follow(
    _ transition: MachineDraft.Transition, of holder: Int, from leaf: Int
  ) -> MachineDefinition.Answer? {
    let own = leafOf[leaf] ?? 0
    for case .answer(let kind, let name, let line) in transition.actions {
      if transition.actions.count > 1 || transition.target != nil {
        problems.add(line, "an \(kind.rawValue) event changes nothing: no target and no effects beside the reason")
      }
      return .init(
        kind: kind, next: own, reason: reason(name), effects: [], documentation: transition.documentation,
        line: transition.line)
    }
    guard let target = transition.target else {
      if transition.actions.isEmpty {
        problems.add(transition.line, "nothing happens here: name the reason, as ignored.… or refused.…")
      }
      return stay(own, transition, codes(transition.actions))
    }
    guard let targetState = stateIndex[target] else {
      problems.add(transition.line, "target '\(target)' is not a state")
      return nil
    }
    if targetState == holder {
      problems.add(transition.line, "'\(target)' targets itself: leave the target out to stay")
    }
    // SCXML 3.13: everything below the least common compound ancestor is exited and entered.
    let around = Set(ancestors(holder)).intersection(ancestors(targetState))
    let left = ([leaf] + ancestors(leaf)).filter { !around.contains($0) }
    let entered = entered(targetState, from: around)
    let actions =
      left.flatMap { draft.states[$0].onExit } + transition.actions + entered.flatMap { draft.states[$0].onEntry }
    guard let next = leafOf[entered.last ?? targetState] else { return nil }
    if next == own { return stay(own, transition, codes(actions)) }
    return .init(
      kind: .moved, next: next, reason: nil, effects: codes(actions), documentation: transition.documentation,
      line: transition.line)
  }

  private mutating func stay(
    _ own: Int, _ transition: MachineDraft.Transition, _ effects: [Int]
  ) -> MachineDefinition.Answer {
    .init(
      kind: .stayed, next: own, reason: nil, effects: effects, documentation: transition.documentation,
      line: transition.line)
  }

  private mutating func codes(_ actions: [MachineDraft.Action]) -> [Int] {
    var codes: [Int] = []
    for action in actions {
      let name: String
      switch action {
      case .effect(let effect, _): name = effect
      case .start(let id, _, _, _): name = Self.timerEffect(.start, id)
      case .cancel(let id, _): name = Self.timerEffect(.cancel, id)
      case .answer: continue
      }
      if let code = effects.firstIndex(where: { $0.name == name }) {
        codes.append(code)
      } else {
        problems.add(action.line, "effect '\(name)' is not declared")
      }
    }
    if codes.count > 8 {
      problems.add(actions[8].line, "more than 8 effects in one step")
    }
    return codes
  }

  private mutating func reason(_ name: String) -> Int {
    if let index = reasons.firstIndex(of: name) { return index }
    reasons.append(name)
    return reasons.count - 1
  }

  private func ancestors(_ state: Int) -> [Int] {
    var result: [Int] = []
    var current = draft.states[state].parent
    while let parent = current {
      result.append(parent)
      current = draft.states[parent].parent
    }
    return result
  }

  /// The states entered on the way to `target` from within the states `around`, outermost first.
  private func entered(_ target: Int, from around: Set<Int>) -> [Int] {
    var result = Array(([target] + ancestors(target)).filter { !around.contains($0) }.reversed())
    // Bounded, since a broken file may name a state as its own initial one.
    while let inner = initialChild(result.last ?? target), !result.contains(inner) { result.append(inner) }
    return result
  }

  private func initialChild(_ state: Int) -> Int? {
    draft.states[state].initial.flatMap { stateIndex[$0] }
  }

  // MARK: - Result

  private mutating func definition(_ answers: [[MachineDefinition.Answer]]) -> MachineDefinition {
    let start = stateIndex[draft.initial] ?? 0
    let initial = entered(start, from: []).last ?? start
    return MachineDefinition(
      name: draft.name, file: draft.file, documentation: draft.documentation,
      states: leaves.map { leaf in
        let state = draft.states[leaf]
        return .init(
          name: state.name, documentation: state.documentation, line: state.line,
          ancestors: ancestors(leaf).reversed().map { draft.states[$0].name }, isFinal: state.isFinal)
      },
      events: draft.events, effects: effects, reasons: reasons, initial: leafOf[initial] ?? 0, answers: answers)
  }
}
