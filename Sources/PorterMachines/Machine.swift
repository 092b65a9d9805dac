/// A machine of `spec/machines`: pure, total, and small. It has no access to clocks, files or threads.
package protocol Machine: Sendable {
  associatedtype State: MachineCode
  associatedtype Event: MachineCode
  associatedtype Effect: MachineCode
  /// Why an event is ignored or refused.
  associatedtype Reason: MachineCode

  /// The machine's name in `spec/machines`.
  static var name: String { get }
  static var initial: State { get }

  /// The answer of `state` to `event`. Every pair is answered.
  static func step(_ state: State, _ event: Event) -> MachineStep<Self>

  /// Whether the machine has ended. A final state ignores every event.
  static func isFinal(_ state: State) -> Bool

  /// What an effect does to a timer, if it concerns one. The engine keeps the timers; a machine only names them.
  static func timer(_ effect: Effect) -> MachineTimer<Event>?

  /// How an effect is carried out.
  static func kind(_ effect: Effect) -> MachineEffectKind
}

/// How an effect is carried out (`kind` in the machine's file).
package enum MachineEffectKind: Hashable, Sendable {
  /// By the engine, with nothing to wait for.
  case act
  /// By the transaction that takes the step.
  case record
  /// As a request whose answer is a later event.
  case ask
  /// As a report to the host.
  case tell
}

/// A state, event, effect or reason: a byte with a name. Codes are counted from 0 in the order of the machine's file.
package protocol MachineCode: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == UInt8 {
  /// As written in the machine's file: `verify.authError`.
  var name: String { get }
}

extension MachineCode {
  /// The code of that name.
  @inlinable
  package init?(name: String) {
    var value: UInt8 = 0
    while let code = Self(rawValue: value) {
      if code.name == name {
        self = code
        return
      }
      value += 1
    }
    return nil
  }
}

/// The result of an event.
///
/// Whether it is one that has no reason is cheaper to tell by its pattern than by `==`, which has the type of a pair made.
package enum MachineAnswer<Reason: MachineCode>: Hashable, Sendable {
  /// The state has changed.
  case moved
  /// The state is the same; the effects are to be carried out.
  case stayed
  /// A harmless repeat: nothing is to be done, nothing is wrong.
  case ignored(Reason)
  /// The event was raised wrongly; this is the error to answer with.
  case refused(Reason)
}

extension MachineAnswer {
  /// As traces have it: `moved`, `ignored.stale`.
  package var name: String {
    switch self {
    case .moved: "moved"
    case .stayed: "stayed"
    case .ignored(let reason): "ignored.\(reason.name)"
    case .refused(let reason): "refused.\(reason.name)"
    }
  }
}

/// The answer of a machine to one event. Trivial to copy; making one never allocates.
package struct MachineStep<M: Machine>: Hashable, Sendable {
  package let next: M.State
  package let answer: MachineAnswer<M.Reason>
  /// To be carried out in this order, after `next` has been stored.
  package let effects: MachineEffects<M.Effect>

  package init(_ next: M.State, _ answer: MachineAnswer<M.Reason>, packed: UInt64) {
    self.next = next
    self.answer = answer
    effects = MachineEffects(packed: packed)
  }
}

/// What an effect does to a timer.
package enum MachineTimer<Event: MachineCode>: Hashable, Sendable {
  /// Raise the event after the time; replaces a running timer of that name.
  case start(String, milliseconds: UInt32, raise: Event)
  /// The timer of that name must not fire any more; harmless if none is running.
  case cancel(String)
}
