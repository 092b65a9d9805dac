import PorterPlatform

/// When everything has to be released, and what that may cost.
struct Suspension {
  /// By when what has begun has to be finished; what is not is given up.
  let end: Moment
  /// False where nothing is waited for: neither for work that has begun, nor, beyond a moment, for other processes.
  var waits = true
  /// Whether there is time to write the log back into the store.
  var writesLogBack = true
  /// Whether the store's files may stay open, without a lock: between two pushes.
  var mayDoze = false

  /// Release everything now: the process may be frozen the moment it is done.
  static func immediate(at now: Moment) -> Suspension { Suspension(end: now, waits: false, writesLogBack: false) }
  /// The controller ends: no other process is waited for, but there is time to write the log back.
  static func final(at now: Moment) -> Suspension { Suspension(end: now, waits: false) }
}

/// How the chat is to run.
struct Activation {
  enum Kind {
    /// Whatever it takes.
    case start
    /// Continue a chat that was started.
    case activate
  }

  let kind: Kind
  /// Whether work that the relay and the notification server take part in is taken up then: `restore=on`.
  var takesUpWork = true
}

/// What comes with an event of the machines of the lifecycle, and with the effects of its step.
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
