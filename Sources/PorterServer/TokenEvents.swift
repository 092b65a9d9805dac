import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush

/// The result of carrying out a machine's effects.
enum TokenReply {
  case none
  case token(id: [UInt8], boxKey: BoxPublicKey)
  case done
  /// The subscription command may be carried out.
  case admitted
  case refused(ServerRefusal)
}

/// Data of an event for its effects to store.
enum TokenInput {
  case nothing
  case created(NewToken)
  case replaced(PushToken, VerificationCode)
  case period(minutes: Int)
}

extension NotificationServer {
  /// Raises an event of the machine `server_token` and carries out its effects. Part of the running transaction.
  /// `token` is nil for a token that is not stored.
  func raise(
    _ event: ServerToken.Event, _ token: TokenRecord?, _ input: TokenInput = .nothing
  ) throws(ServerError) -> (reply: TokenReply, state: ServerToken.State) {
    let before = token?.state ?? ServerToken.initial
    let step = Self.step(before, event)
    var number = token?.number
    // A token has no number before it is stored.
    defer { logStep(step, from: before, event, number: number) }
    switch step.answer {
    case .refused(let reason): return (.refused(ServerRefusal(reason)), step.next)
    case .ignored: return (.none, step.next)
    case .moved, .stayed: break
    }
    var reply = TokenReply.none
    for effect in step.effects {
      switch (effect, input) {
      case (.createToken, .created(let new)):
        number = try state.insert(new, state: step.next, at: clock.wall(), age: useTime)
        try storeAge()
        reply = .token(id: new.id, boxKey: new.boxKey)
      case (.replaceToken, .replaced(let pushToken, let code)):
        if let number { try state.replacePushToken(of: number, with: pushToken, code: code, state: step.next) }
      case (.saveInterval, .period(let minutes)):
        if let number { try state.setPeriod(of: number, minutes: minutes, at: clock.wall()) }
      case (.createToken, _), (.replaceToken, _), (.saveInterval, _):
        // The event came without its data: a bug in this module, answered like a damaged record.
        throw .damaged(.token)
      default:
        if let number { reply = try carryOut(effect, number: number, token, next: step.next) ?? reply }
      }
    }
    return (reply, step.next)
  }

  static func step(_ before: ServerToken.State, _ event: ServerToken.Event) -> MachineStep<ServerToken> {
    let step = ServerToken.step(before, event)
    if StepRecord.isOn {
      StepRecord.add(
        ServerToken.name, runner: 0, event: event.name, from: before.name, to: step.next.name, answer: step.answer.name)
    }
    return step
  }

  /// Logs a step as the engine does for its machines.
  private func logStep(
    _ step: MachineStep<ServerToken>, from before: ServerToken.State, _ event: ServerToken.Event, number: Int64?
  ) {
    guard log.writes(.debug) else { return }
    log.step(
      ServerToken.name, number.map(String.init) ?? "", event: event.name, from: before.name, to: step.next.name,
      answer: step.answer.name)
  }

  /// Like `raise(_:_:_:)`, for an event that carries no data and whose result is sent to no client: most of a server's
  /// work, for which no key is read. Returns the token's next state.
  func raise(_ event: ServerToken.Event, of token: TokenStatus) throws(ServerError) -> ServerToken.State {
    let step = Self.step(token.state, event)
    logStep(step, from: token.state, event, number: token.number)
    guard step.answer == .moved || step.answer == .stayed else { return step.next }
    for effect in step.effects { _ = try carryOut(effect, number: token.number, nil, next: step.next) }
    return step.next
  }

  /// Effects that need only the token. Returns the reply, if the effect is one.
  private func carryOut(
    _ effect: ServerToken.Effect, number: Int64, _ token: TokenRecord?, next: ServerToken.State
  ) throws(ServerError) -> TokenReply? {
    switch effect {
    case .createToken, .replaceToken, .saveInterval: return nil
    case .deleteToken: try state.deleteToken(number)
    case .deleteOthers: if let token { try state.deleteOtherTokens(than: token) }
    case .deleteSubscriptions: try state.deleteSubscriptions(token: number)
    case .sendVerification:
      try state.noteRegistration(of: number, at: clock.wall())
      try state.enqueue(.verification, token: number)
    case .sendMessage: try state.enqueue(.message, token: number)
    case .sendWake:
      try state.enqueue(.wake, token: number)
      try state.scheduleWake(of: number, at: clock.wall())
    case .saveStatus: try state.save(next, of: number, at: clock.wall())
    case .replyToken: return token.map { .token(id: $0.id, boxKey: $0.boxKey) }
    case .replyStatus, .replyOk: return .done
    case .admitSubscription: return .admitted
    }
    return nil
  }
}

extension ServerRefusal {
  init(_ reason: ServerToken.Reason) {
    switch reason {
    case .quota: self = .quota
    case .auth, .noToken, .notActive, .alreadyConfirmed, .alreadyActive, .late, .alreadyExpired, .alreadyInvalid:
      self = .authorization
    }
  }
}

extension ServerTokenStatus {
  /// Nil for a token that does not exist.
  init?(_ state: ServerToken.State) {
    switch state {
    case .none: return nil
    case .registered: self = .registered
    case .confirmed: self = .confirmed
    case .active: self = .active
    case .expired: self = .expired
    case .invalidBad: self = .invalidBad
    case .invalidTopic: self = .invalidTopic
    case .invalidExpired: self = .invalidExpired
    case .invalidUnregistered: self = .invalidUnregistered
    }
  }
}
