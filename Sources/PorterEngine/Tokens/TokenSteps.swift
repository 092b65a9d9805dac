import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// What an attempt at the server is about, as its reservation keeps it.
enum TokenAttempt: UInt8 {
  case register = 1
  case replace = 2

  init?(_ reservation: StoredReservation) {
    self.init(rawValue: reservation.material.exposeForStorage().first ?? 0)
  }
}

/// Steps of the machine `token_status`: what a step changes on record is one transaction, and the attempt that brought it
/// about must still be the current one in it (INC-09). Asking the server for a token or another one is reserved in the
/// transaction before; whoever finds an attempt open asks again, which the server recognises.
extension Engine {
  func raise(_ event: TokenMachine.Event, _ run: TokenRun) {
    let step: MachineStep<TokenMachine>
    do throws(StoreError) { step = try advance(event, run) } catch {
      if case .staleEpoch = error {} else if admits(.notifications) { scheduleRetry() }
      return run.answer(stale(error, run))
    }
    log(.debug, "token_status", ["event": event.name, "state": step.next.name])
    // A step that asks the server is answered by a later one.
    if !step.effects.contains(where: { Self.attempt($0) != nil || Self.asks($0) }) {
      run.answer(run.error.map(Answer.error) ?? .result(.ntfTokenStatus(PorterSchema.TokenStatus(step.next))))
    }
    if case .refused(let reason) = step.answer {
      run.answer(.error(.agent(.command(.prohibited, context: reason.name))))
    }
  }

  /// Takes the step and carries out its effects in order; those that change the record are one transaction, at the place
  /// of the first of them.
  private func advance(
    _ event: TokenMachine.Event, _ run: TokenRun
  ) throws(StoreError) -> MachineStep<TokenMachine> {
    guard let store else { throw .sqlite(SQLiteError(kind: .closed)) }
    let expected = TokenMachine.step(try tokenState(try store.token()), event)
    guard run.reservation != nil || expected.effects.contains(where: Self.isRecorded) else {
      for effect in expected.effects { perform(effect, run) }
      return expected
    }
    let before = expected.effects.prefix { !Self.isRecorded($0) }
    for effect in before { perform(effect, run) }
    let step = try store.transaction { () throws(StoreError) in
      if let reservation = run.reservation { try store.require(reservation) }
      let step = TokenMachine.step(try self.tokenState(try store.token()), event)
      try self.record(step, run, store)
      try self.settle(event, step, run, store)
      return step
    }
    if run.hasNewServerToken {
      run.hasNewServerToken = false
      ensureSubscriptions()
    }
    // Their answers go to a mailbox that nobody knows any more.
    if step.effects.contains(.forgetRecord) { abandonServerRequests() }
    for effect in step.effects.dropFirst(before.count) { perform(effect, run) }
    return step
  }

  /// Ends the attempt that this event is the result of, and reserves the one that the step begins.
  private func settle(
    _ event: TokenMachine.Event, _ step: MachineStep<TokenMachine>, _ run: TokenRun, _ store: Store
  ) throws(StoreError) {
    if let reservation = run.reservation {
      if event == .registerOk || event == .replaceOk {
        try store.use(reservation)
        run.reservation = nil
      } else if event == .registerFailedPermanent || event == .replaceFailedPermanent {
        try store.undo(reservation)
        run.reservation = nil
      }
    }
    guard let attempt = step.effects.compactMap({ Self.attempt($0) }).first else { return }
    // One attempt at a time: what an earlier one brings is refused from now on.
    try store.forgetReservations(.token)
    run.reservation = try store.reserve(
      .token, configuration.randomness.bytes(16), by: context.identity, material: SecretBytes([attempt.rawValue]),
      at: configuration.clock.wall())
  }

  /// What a host hears whose attempt was finished by somebody else: how the token stands now.
  private func stale(_ error: StoreError, _ run: TokenRun) -> Answer {
    guard case .staleEpoch = error, let store else { return .error(run.error ?? ChatError(error)) }
    log(.info, "the token was taken over by another process")
    do throws(StoreError) {
      guard let token = try store.token() else { return .error(.noToken) }
      return .result(.ntfTokenStatus(PorterSchema.TokenStatus(try tokenState(token))))
    } catch {
      return .error(ChatError(error))
    }
  }

  // MARK: Which effects are what

  private static func isRecorded(_ effect: TokenMachine.Effect) -> Bool {
    changesRecord(effect) || attempt(effect) != nil
  }

  private static func attempt(_ effect: TokenMachine.Effect) -> TokenAttempt? {
    switch effect {
    case .sendRegister: .register
    case .sendReplace: .replace
    case .sendVerify, .sendCheck, .createRecord, .forgetRecord, .saveDeviceToken, .sendInterval, .queueDelete,
      .saveServerToken, .saveCode, .saveMode, .createSubscriptions, .deleteSubscriptions, .scheduleRetry,
      .scheduleCheck, .reportError, .publishStatus:
      nil
    }
  }

  private static func asks(_ effect: TokenMachine.Effect) -> Bool { effect == .sendVerify || effect == .sendCheck }

  private static func changesRecord(_ effect: TokenMachine.Effect) -> Bool {
    switch effect {
    case .createRecord, .forgetRecord, .saveDeviceToken, .saveServerToken, .saveCode, .saveMode, .queueDelete,
      .deleteSubscriptions, .publishStatus:
      true
    case .sendRegister, .sendReplace, .sendVerify, .sendCheck, .sendInterval, .createSubscriptions, .scheduleRetry,
      .scheduleCheck, .reportError:
      false
    }
  }

  // MARK: The record

  private func record(
    _ step: MachineStep<TokenMachine>, _ run: TokenRun, _ store: Store
  ) throws(StoreError) {
    var token = try store.token()
    var isChanged = false
    for effect in step.effects where Self.changesRecord(effect) {
      isChanged = true
      switch effect {
      case .createRecord: token = try newRecord(run, store)
      case .forgetRecord:
        try store.deleteToken()
        token = nil
      case .saveDeviceToken:
        token?.provider = run.provider
        token?.deviceToken = run.deviceToken
      case .saveServerToken:
        guard let granted = run.granted else { break }
        run.hasNewServerToken = token?.serverTokenID != granted.id
        token?.serverTokenID = granted.id
        token?.pushSecret = granted.secret
        // Nothing is subscribed under a new token's id yet.
        if run.hasNewServerToken { try recordForAll(.tokenReplaced, store) }
      case .saveCode: token?.verificationCode = run.code.map { SecretBytes($0.bytes) }
      case .saveMode: token?.mode = run.mode
      case .queueDelete: try queueDelete(token, store)
      case .deleteSubscriptions: try recordForAll(.turnOff, store)
      case .publishStatus: token?.status = step.next.name
      case .sendRegister, .sendReplace, .sendVerify, .sendCheck, .sendInterval, .createSubscriptions, .scheduleRetry,
        .scheduleCheck, .reportError:
        break
      }
    }
    if isChanged, let token { try store.save(token, at: configuration.clock.wall()) }
  }

  private func newRecord(_ run: TokenRun, _ store: Store) throws(StoreError) -> StoredToken {
    guard let server = try store.setting(Setting.server) else {
      run.error = .nightporter(.notificationServerMissing)
      throw .notFound(.setting)
    }
    do throws(CryptoError) {
      return StoredToken(
        provider: run.provider, deviceToken: run.deviceToken, server: server, status: TokenMachine.State.new.name,
        mode: run.mode, serverTokenID: nil, signingKey: try .generate(randomness: configuration.randomness),
        boxKey: try BoxKeyPair.generate(randomness: configuration.randomness).secretKey, pushSecret: nil,
        verificationCode: nil, replyMailbox: nil)
    } catch {
      throw .damaged(.token)
    }
  }

  // MARK: What somebody left behind

  /// The attempt that was begun, by whomever, and not ended.
  func openTokenAttempt(_ store: Store) throws(StoreError) -> TokenAttempt? {
    try store.openReservations(.token).last.flatMap { TokenAttempt($0) }
  }

  /// The same with its token; nil if nothing was begun.
  func leftTokenAttempt() throws(StoreError) -> (token: StoredToken, attempt: TokenAttempt)? {
    guard let store, let token = try store.token(), let attempt = try openTokenAttempt(store) else { return nil }
    return (token, attempt)
  }

  /// Asks the server again for what was begun, and calls `then` when that has ended.
  func finish(
    _ attempt: TokenAttempt, of token: StoredToken, within timeout: Span = Durations.serverAnswer,
    then: @escaping () -> Void = {}
  ) {
    let run = TokenRun(of: token, timeout: timeout) { _ in then() }
    switch attempt {
    case .register: raise(.registerSameToken, run)
    case .replace: raise(.registerNewToken, run)
    }
  }
}
