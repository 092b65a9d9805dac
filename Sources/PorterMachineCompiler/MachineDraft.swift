/// A machine as written: its syntax is checked, its meaning is not.
struct MachineDraft {
  struct State {
    var name: String
    var documentation: String
    var line: Int
    var parent: Int?
    var isFinal: Bool
    /// For a compound state.
    var initial: String?
    var children: [Int] = []
    var onEntry: [Action] = []
    var onExit: [Action] = []
    var transitions: [Transition] = []
  }

  struct Transition {
    /// Names, `prefix.*`, or `*`.
    var descriptors: [String]
    var target: String?
    var actions: [Action]
    var documentation: String
    var line: Int
  }

  enum Action {
    case effect(String, line: Int)
    case answer(MachineDefinition.Kind, reason: String, line: Int)
    case start(id: String, event: String, milliseconds: Int, line: Int)
    case cancel(id: String, line: Int)

    var line: Int {
      switch self {
      case .effect(_, let line), .answer(_, _, let line), .start(_, _, _, let line), .cancel(_, let line): line
      }
    }
  }

  struct Effect {
    var name: String
    var documentation: String
    var line: Int
    var occursOnce: Bool
    var kind: MachineDefinition.EffectKind
  }

  var file: String
  var name = ""
  var documentation = ""
  var initial = ""
  var initialLine = 1
  var events: [MachineDefinition.Name] = []
  var effects: [Effect] = []
  /// Document order, compound states included.
  var states: [State] = []
}
