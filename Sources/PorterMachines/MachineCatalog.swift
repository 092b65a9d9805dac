/// All machines, for callers that look them up by number or name: the C interface, traces, tests.
package enum MachineCatalog {
  /// The machine's place in `all`.
  package static func index(named name: String) -> Int? {
    all.firstIndex { $0.name == name }
  }
}

/// A machine without its types. Codes are the raw values of its enums.
package struct MachineDescription: Sendable {
  package let name: String
  package let states: [String]
  package let events: [String]
  package let effects: [String]
  package let reasons: [String]
  package let initial: UInt8
  /// By effect: what it does to a timer, if it concerns one.
  package let timers: [CodedTimer?]
  /// By state.
  package let isFinal: [Bool]
  private let stepCodes: @Sendable (UInt8, UInt8) -> CodedStep?

  /// The machine's answer; nil if `state` or `event` is not one of its codes.
  package func step(state: UInt8, event: UInt8) -> CodedStep? { stepCodes(state, event) }

  package init<M: Machine>(_ machine: M.Type) {
    name = M.name
    states = M.State.allCases.map(\.name)
    events = M.Event.allCases.map(\.name)
    effects = M.Effect.allCases.map(\.name)
    reasons = M.Reason.allCases.map(\.name)
    initial = M.initial.rawValue
    timers = M.Effect.allCases.map { effect in
      switch M.timer(effect) {
      case .start(let id, let milliseconds, let event): .start(id, milliseconds: milliseconds, raise: event.rawValue)
      case .cancel(let id): .cancel(id)
      case nil: nil
      }
    }
    isFinal = M.State.allCases.map { M.isFinal($0) }
    stepCodes = { state, event in
      guard let state = M.State(rawValue: state), let event = M.Event(rawValue: event) else { return nil }
      return CodedStep(M.step(state, event))
    }
  }
}

/// `MachineStep` without its types.
package struct CodedStep: Hashable, Sendable {
  /// The values of `enum np_machine_answer`.
  package enum Kind: UInt8, Sendable {
    case moved
    case stayed
    case ignored
    case refused
  }

  package let next: UInt8
  package let kind: Kind
  /// For `ignored` and `refused`.
  package let reason: UInt8?
  /// At most eight codes, in order.
  package let effects: [UInt8]

  init<M: Machine>(_ step: MachineStep<M>) {
    next = step.next.rawValue
    effects = step.effects.map(\.rawValue)
    switch step.answer {
    case .moved: (kind, reason) = (.moved, nil)
    case .stayed: (kind, reason) = (.stayed, nil)
    case .ignored(let why): (kind, reason) = (.ignored, why.rawValue)
    case .refused(let why): (kind, reason) = (.refused, why.rawValue)
    }
  }
}

/// `MachineTimer` without its types.
package enum CodedTimer: Hashable, Sendable {
  case start(String, milliseconds: UInt32, raise: UInt8)
  case cancel(String)
}
