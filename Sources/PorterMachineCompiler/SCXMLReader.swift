/// Reads the subset of SCXML described in spec/README.md, and rejects everything else with its line.
struct SCXMLReader {
  static let scxmlNamespace = "http://www.w3.org/2005/07/scxml"
  static let porterNamespace = "urn:nightporter:machine"

  private var draft: MachineDraft
  private var problems: ProblemList

  static func read(_ source: String, file: String) throws(MachineError) -> MachineDraft {
    let root = try readXML(source, file: file)
    var reader = SCXMLReader(file: file)
    reader.readRoot(root)
    try reader.problems.throwIfAny()
    return reader.draft
  }

  private init(file: String) {
    draft = MachineDraft(file: file)
    problems = ProblemList(file: file)
  }

  // MARK: - Elements

  private mutating func readRoot(_ root: XMLNode) {
    guard root.name == "scxml", root.namespace == Self.scxmlNamespace else {
      return problems.add(root.line, "the root must be <scxml xmlns=\"\(Self.scxmlNamespace)\">")
    }
    let given = attributes(root, required: ["version", "name", "initial", "datamodel"])
    expect(root, "version", given["version"], oneOf: ["1.0"])
    expect(root, "datamodel", given["datamodel"], oneOf: ["null"])
    draft.name = given["name"] ?? ""
    if !Names.isMachineName(draft.name) {
      problems.add(root.line, "machine name '\(draft.name)' must be lower case words joined by _")
    }
    draft.initial = given["initial"] ?? ""
    draft.initialLine = root.line
    draft.documentation = root.comment
    if root.comment.isEmpty { problems.add(root.line, "a comment above <scxml> must say what the machine is for") }
    refuseText(root)
    for child in root.children {
      switch (child.namespace, child.name) {
      case (Self.porterNamespace, "event"): readEventDeclaration(child)
      case (Self.porterNamespace, "effect"): readEffectDeclaration(child)
      case (Self.scxmlNamespace, "state"), (Self.scxmlNamespace, "final"): _ = readState(child, parent: nil)
      default: refuse(child)
      }
    }
  }

  private mutating func readEventDeclaration(_ node: XMLNode) {
    let name = attributes(node, required: ["name"])["name"] ?? ""
    refuseChildren(node)
    if !Names.isEventName(name) { problems.add(node.line, "event name '\(name)' must be words joined by dots") }
    if ["error", "done"].contains(name.prefix { $0 != "." }) {
      problems.add(node.line, "event names that begin with 'error' or 'done' are reserved by SCXML")
    }
    draft.events.append(.init(name: name, documentation: documentation(of: node), line: node.line))
  }

  private mutating func readEffectDeclaration(_ node: XMLNode) {
    let given = attributes(node, required: ["name"], optional: ["occurs", "kind"])
    refuseChildren(node)
    let name = given["name"] ?? ""
    if !Names.isWord(name) { problems.add(node.line, "effect name '\(name)' must be one word, a verb phrase") }
    if let occurs = given["occurs"] { expect(node, "occurs", occurs, oneOf: ["once"]) }
    expect(node, "kind", given["kind"], oneOf: MachineDefinition.EffectKind.allCases.map(\.rawValue))
    draft.effects.append(
      .init(
        name: name, documentation: documentation(of: node), line: node.line, occursOnce: given["occurs"] != nil,
        kind: given["kind"].flatMap { .init(rawValue: $0) } ?? .act))
  }

  private mutating func documentation(of node: XMLNode) -> String {
    let text = collapsed(node.text)
    if text.isEmpty { problems.add(node.line, "<\(node.name)> must say in its text what it means") }
    return text
  }

  private mutating func readState(_ node: XMLNode, parent: Int?) -> Int {
    let isFinal = node.name == "final"
    let given = attributes(node, required: ["id"], optional: isFinal ? [] : ["initial"])
    let name = given["id"] ?? ""
    if !Names.isWord(name) { problems.add(node.line, "state id '\(name)' must be one word") }
    if isFinal && parent != nil {
      problems.add(node.line, "a <final> inside a state raises done events; only top-level ones are in the subset")
    }
    let index = draft.states.count
    draft.states.append(
      .init(
        name: name, documentation: node.comment, line: node.line, parent: parent, isFinal: isFinal,
        initial: given["initial"]))
    refuseText(node)
    for child in node.children {
      switch (child.namespace, child.name) {
      case (Self.scxmlNamespace, "transition") where !isFinal:
        if let transition = readTransition(child) { draft.states[index].transitions.append(transition) }
      case (Self.scxmlNamespace, "onentry") where !isFinal:
        draft.states[index].onEntry += readBlock(child)
      case (Self.scxmlNamespace, "onexit") where !isFinal:
        draft.states[index].onExit += readBlock(child)
      case (Self.scxmlNamespace, "state"), (Self.scxmlNamespace, "final"):
        if isFinal { refuse(child) } else { draft.states[index].children.append(readState(child, parent: index)) }
      default: refuse(child)
      }
    }
    return index
  }

  private mutating func readTransition(_ node: XMLNode) -> MachineDraft.Transition? {
    if node.attributes["cond"] != nil {
      problems.add(node.line, "'cond' is not in the subset: give each case an event name of its own")
      return nil
    }
    if node.attributes["event"] == nil {
      problems.add(node.line, "a <transition> must name its 'event': eventless transitions are not in the subset")
      return nil
    }
    let given = attributes(node, required: ["event"], optional: ["target"])
    let descriptors = (given["event"] ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
    if descriptors.isEmpty { problems.add(node.line, "'event' is empty") }
    let target = given["target"].map(collapsed)
    if let target, target.isEmpty || target.contains(" ") {
      problems.add(node.line, "'target' must be one state; leave it out to stay")
    }
    return .init(
      descriptors: descriptors, target: target, actions: readActions(node), documentation: node.comment,
      line: node.line)
  }

  // MARK: - Executable content

  private mutating func readBlock(_ node: XMLNode) -> [MachineDraft.Action] {
    _ = attributes(node, required: [])
    let actions = readActions(node)
    for case .answer(_, _, let line) in actions {
      problems.add(line, "'ignored' and 'refused' answer an event; they mean nothing in <\(node.name)>")
    }
    return actions
  }

  private mutating func readActions(_ node: XMLNode) -> [MachineDraft.Action] {
    refuseText(node)
    var actions: [MachineDraft.Action] = []
    for child in node.children {
      switch (child.namespace, child.name) {
      case (Self.scxmlNamespace, "send"):
        if let action = readSend(child) { actions.append(action) }
      case (Self.scxmlNamespace, "cancel"):
        refuseChildren(child)
        if let id = attributes(child, required: ["sendid"])["sendid"] {
          actions.append(.cancel(id: id, line: child.line))
        }
      default: refuse(child)
      }
    }
    return actions
  }

  private mutating func readSend(_ node: XMLNode) -> MachineDraft.Action? {
    refuseChildren(node)
    if node.attributes["delay"] != nil || node.attributes["id"] != nil { return readTimer(node) }
    let given = attributes(node, required: ["event"], optional: ["target"])
    guard let event = given["event"] else { return nil }
    guard given["target"] == "#_engine" else {
      problems.add(node.line, "<send> must have target=\"#_engine\", or delay and id for a timer")
      return nil
    }
    let tokens = event.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    if tokens.count == 2, let kind = MachineDefinition.Kind(rawValue: String(tokens[0])),
      kind == .ignored || kind == .refused
    {
      if !Names.isWord(tokens[1]) {
        problems.add(node.line, "reason '\(tokens[1])' must be one word")
        return nil
      }
      return .answer(kind, reason: String(tokens[1]), line: node.line)
    }
    if !Names.isWord(event) {
      problems.add(node.line, "effect '\(event)' must be one word, or ignored.reason, or refused.reason")
      return nil
    }
    return .effect(event, line: node.line)
  }

  private mutating func readTimer(_ node: XMLNode) -> MachineDraft.Action? {
    let given = attributes(node, required: ["event", "delay", "id"])
    guard let event = given["event"], let delay = given["delay"], let id = given["id"] else { return nil }
    guard let milliseconds = Self.milliseconds(delay) else {
      problems.add(node.line, "delay '\(delay)' must be a whole number of 's' or 'ms', at most 24 hours")
      return nil
    }
    if !Names.isWord(id) {
      problems.add(node.line, "timer id '\(id)' must be one word")
      return nil
    }
    return .start(id: id, event: event, milliseconds: milliseconds, line: node.line)
  }

  static func milliseconds(_ delay: String) -> Int? {
    let digits = delay.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits), number > 0, number <= 86_400_000 else { return nil }
    switch delay.dropFirst(digits.count) {
    case "ms": return number
    case "s": return number <= 86_400 ? number * 1_000 : nil
    default: return nil
    }
  }

  // MARK: - Refusals

  private mutating func attributes(
    _ node: XMLNode, required: [String], optional: [String] = []
  ) -> [String: String] {
    for name in required where node.attributes[name] == nil {
      problems.add(node.line, "<\(node.name)> needs '\(name)'")
    }
    for name in node.attributes.keys.sorted()
    where !required.contains(name) && !optional.contains(name) && !name.hasPrefix("xmlns") {
      problems.add(node.line, "attribute '\(name)' of <\(node.name)> is not in the subset")
    }
    return node.attributes
  }

  private mutating func expect(_ node: XMLNode, _ attribute: String, _ value: String?, oneOf values: [String]) {
    if let value, !values.contains(value) {
      problems.add(node.line, "\(attribute)=\"\(value)\" is not in the subset, only \(values.joined(separator: ", "))")
    }
  }

  private mutating func refuse(_ node: XMLNode) {
    problems.add(node.line, "<\(node.name)> is not in the subset here")
  }

  private mutating func refuseChildren(_ node: XMLNode) {
    for child in node.children { refuse(child) }
    if node.namespace == Self.scxmlNamespace { refuseText(node) }
  }

  private mutating func refuseText(_ node: XMLNode) {
    let text = collapsed(node.text)
    if !text.isEmpty { problems.add(node.line, "<\(node.name)> holds stray text: '\(text.prefix(40))'") }
  }
}
