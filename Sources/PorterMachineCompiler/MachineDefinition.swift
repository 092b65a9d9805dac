/// A checked machine: total, every state reachable, every name declared and used.
package struct MachineDefinition: Equatable, Sendable {
  package struct Name: Equatable, Sendable {
    package let name: String
    package let documentation: String
    package let line: Int
  }

  package struct State: Equatable, Sendable {
    package let name: String
    package let documentation: String
    package let line: Int
    /// The compound states around it, outermost first.
    package let ancestors: [String]
    package let isFinal: Bool
  }

  package struct Effect: Equatable, Sendable {
    package let name: String
    package let documentation: String
    package let line: Int
    /// Whether it happens exactly once on every path to a final state.
    package let occursOnce: Bool
    package let kind: EffectKind
    package let timer: Timer?
  }

  /// How an effect is carried out. Changes to a record belong in the transaction that takes the step; everything else
  /// happens after it.
  package enum EffectKind: String, Sendable, CaseIterable {
    /// Carried out by the engine, with nothing to wait for.
    case act
    /// Written by the transaction that takes the step.
    case record
    /// A request to another machine or process, whose answer is a later event.
    case ask
    /// Reported to the host.
    case tell
  }

  /// The action of a timer effect: raise `event` after `milliseconds`, or cancel that.
  package struct Timer: Equatable, Sendable {
    package enum Action: Equatable, Sendable { case start, cancel }
    package let action: Action
    package let id: String
    package let milliseconds: Int
    package let event: Int
  }

  package enum Kind: String, Sendable, CaseIterable {
    case moved
    case stayed
    case ignored
    case refused
  }

  /// One state's answer to one event.
  package struct Answer: Equatable, Sendable {
    package let kind: Kind
    package let next: Int
    package let reason: Int?
    package let effects: [Int]
    package let documentation: String
    package let line: Int
  }

  package let name: String
  /// The path of the file, as reported in problems.
  package let file: String
  package let documentation: String
  package let states: [State]
  package let events: [Name]
  package let effects: [Effect]
  package let reasons: [String]
  package let initial: Int
  /// By state, then by event.
  package let answers: [[Answer]]
}

/// The reason given by final states, which have no transitions in SCXML.
let endedReason = "ended"

extension MachineDefinition {
  /// One line for people: `active: moved, publishPhase activateChat`, or the reason. Nil for an unknown name.
  package func answerText(state: String, event: String) -> String? {
    guard let row = states.firstIndex(where: { $0.name == state }),
      let column = events.firstIndex(where: { $0.name == event })
    else { return nil }
    let answer = answers[row][column]
    let what = answer.reason.map { "\(answer.kind.rawValue) (\(reasons[$0]))" } ?? answer.kind.rawValue
    let effects = answer.effects.map { self.effects[$0].name }.joined(separator: " ")
    return "\(states[answer.next].name): \(what)" + (effects.isEmpty ? "" : ", \(effects)")
  }
}
