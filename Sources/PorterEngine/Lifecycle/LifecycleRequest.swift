import PorterPlatform

/// When everything must be released, and what that may cost.
struct Suspension {
  /// Deadline for work under way; unfinished work is abandoned.
  let end: Moment
  /// False to wait for nothing: neither for work under way, nor, more than briefly, for other processes.
  var waits = true
  /// Whether there is time to write the log back into the store.
  var writesLogBack = true
  /// Whether the store's files may stay open, without a lock, between two pushes.
  var mayDoze = false

  /// Release everything now: the process may be frozen immediately afterwards.
  static func immediate(at now: Moment) -> Suspension { Suspension(end: now, waits: false, writesLogBack: false) }
  /// The controller ends: does not wait for other processes, but there is time to write the log back.
  static func final(at now: Moment) -> Suspension { Suspension(end: now, waits: false) }
}

/// How to run the chat.
struct Activation {
  enum Kind {
    /// Start in any case.
    case start
    /// Continue a chat that was started.
    case activate
  }

  let kind: Kind
  /// Whether to take up work that involves the relay and the notification server: `restore=on`.
  var takesUpWork = true
}

/// The argument of an event of the lifecycle machines, and of the effects of its step.
enum LifecycleRequest {
  case none
  case activation(Activation)
  case suspension(Suspension)
  case work(OperationKind)

  var activation: Activation? {
    if case .activation(let activation) = self { activation } else { nil }
  }

  var suspension: Suspension? {
    if case .suspension(let suspension) = self { suspension } else { nil }
  }
}
