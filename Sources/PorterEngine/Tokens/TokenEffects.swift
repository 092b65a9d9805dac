import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// Carries out the effects of the machine `token_status`.
extension Engine {
  typealias TokenMachine = PorterMachines.TokenStatus

  func perform(_ effect: TokenMachine.Effect, _ run: TokenRun) {
    switch effect {
    // Written in one transaction, by the step.
    case .createRecord, .forgetRecord, .saveDeviceToken, .saveServerToken, .saveCode, .saveMode, .publishStatus: break
    // So were these: what was written is carried out now.
    case .queueDelete: flushServerRequests()
    case .deleteSubscriptions:
      releaseNotifiers()
      flushServerRequests()
    case .sendRegister: sendRegister(run)
    case .sendReplace: sendReplace(run)
    case .sendVerify: sendVerify(run)
    case .sendCheck: sendCheck(run)
    case .sendInterval: sendInterval()
    case .createSubscriptions: ensureSubscriptions()
    case .scheduleRetry: scheduleRetry()
    case .scheduleCheck: scheduleCheck()
    case .reportError: run.error = run.error ?? .agent(.notificationServer(server: "", .internal))
    }
  }

  // MARK: Asking the server

  private func sendRegister(_ run: TokenRun) {
    withReplyMailbox(run, ifFailed: .registerFailedTemporary) { [weak self] token in
      guard let self, let pushToken = PushToken(provider: token.provider, bytes: token.deviceToken) else { return }
      let command = ServerRequest.Command.newToken(
        pushToken, signingKey: token.signingKey.publicKey, boxKey: token.boxKey.publicKey)
      self.ask(command, of: token, within: run.timeout) { result in
        FaultPoint.reach(.afterTokenAnswer)
        switch result {
        case .success(let answer):
          guard case .token(let id, let boxKey) = answer.result, let secret = try? token.boxKey.agree(with: boxKey)
          else {
            return self.fail(run, .unexpected, token, temporary: .registerFailedTemporary, .registerFailedPermanent)
          }
          run.granted = (id, secret)
          self.backoffs.token.reset()
          self.raise(.registerOk, run)
        case .failure(let failure):
          self.fail(run, failure, token, temporary: .registerFailedTemporary, .registerFailedPermanent)
        }
      }
    }
  }

  /// The token on record. One that cannot be read now is none that the server has forgotten: `then` is not called, and the
  /// machine hears of a failure that passes.
  private func withToken(_ run: TokenRun, ifFailed event: TokenMachine.Event, then: (StoredToken?) -> Void) {
    let token: StoredToken?
    do throws(StoreError) {
      guard let store else { throw .sqlite(SQLiteError(kind: .closed)) }
      token = try store.token()
    } catch {
      run.error = ChatError(error)
      return raise(event, run)
    }
    then(token)
  }

  private func sendReplace(_ run: TokenRun) {
    withToken(run, ifFailed: .replaceFailedTemporary) { token in sendReplace(run, token) }
  }

  private func sendReplace(_ run: TokenRun, _ token: StoredToken?) {
    guard let token, let id = token.serverTokenID,
      let pushToken = PushToken(provider: run.provider, bytes: run.deviceToken)
    else { return raise(.replaceFailedPermanent, run) }
    ask(.replace(token: id, with: pushToken), of: token, within: run.timeout) { [weak self] result in
      FaultPoint.reach(.afterTokenAnswer)
      switch result {
      case .success:
        self?.backoffs.token.reset()
        self?.raise(.replaceOk, run)
      case .failure(let failure):
        self?.fail(run, failure, token, temporary: .replaceFailedTemporary, .replaceFailedPermanent)
      }
    }
  }

  private func sendVerify(_ run: TokenRun) {
    withToken(run, ifFailed: .verifyFailedTemporary) { token in sendVerify(run, token) }
  }

  private func sendVerify(_ run: TokenRun, _ token: StoredToken?) {
    guard let token, let id = token.serverTokenID,
      let code = token.verificationCode.flatMap({ VerificationCode(bytes: $0.exposeForStorage()) })
    else { return raise(.verifyAuthError, run) }
    ask(.verify(token: id, code), of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success:
        self.backoffs.token.reset()
        self.raise(.verifyOk, run)
      // Only the app repairs keys (INC-42); the code stays on record, so that its next start comes here again.
      case .failure(.refused(.authorization)) where self.configuration.role == .app:
        // The host hears of it; that the token registers anew at once is nothing that it has to wait for.
        run.answer(.error(self.chatError(.refused(.authorization), server: token.server)))
        self.raise(.verifyAuthError, TokenRun(of: token))
      case .failure(let failure):
        self.fail(run, failure, token, temporary: .verifyFailedTemporary, .verifyFailedTemporary)
      }
    }
  }

  private func sendCheck(_ run: TokenRun) {
    withToken(run, ifFailed: .checkFailedTemporary) { token in sendCheck(run, token) }
  }

  private func sendCheck(_ run: TokenRun, _ token: StoredToken?) {
    guard let token, let id = token.serverTokenID else { return raise(.checkAuthError, run) }
    ask(.check(token: id), of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let answer):
        guard let status = answer.tokenStatus else {
          return self.fail(run, .unexpected, token, temporary: .checkFailedTemporary, .checkFailedTemporary)
        }
        self.backoffs.token.reset()
        self.raise(Self.event(of: status), run)
      case .failure(.refused(.authorization)):
        run.answer(.error(self.chatError(.refused(.authorization), server: token.server)))
        self.raise(.checkAuthError, TokenRun(of: token))
      case .failure(let failure):
        self.fail(run, failure, token, temporary: .checkFailedTemporary, .checkFailedTemporary)
      }
    }
  }

  static func event(of status: ServerTokenStatus) -> TokenMachine.Event {
    switch status {
    case .new, .registered, .confirmed: .checkUnverified
    case .active: .checkActive
    case .expired: .checkExpired
    case .invalid: .checkInvalidNoReason
    case .invalidBad: .checkInvalidBad
    case .invalidTopic: .checkInvalidTopic
    case .invalidExpired: .checkInvalidExpired
    case .invalidUnregistered: .checkInvalidUnregistered
    }
  }

  /// The server says with every answer how the token stands, so that an invalid one is noticed at the next contact
  /// (INC-63).
  func noteStatus(_ status: ServerTokenStatus?) {
    guard let status, let token = try? store?.token() else { return }
    switch status {
    case .new, .registered, .confirmed, .active: return
    case .expired, .invalid, .invalidBad, .invalidTopic, .invalidExpired, .invalidUnregistered:
      raise(Self.event(of: status), TokenRun(of: token))
    }
  }

  private func fail(
    _ run: TokenRun, _ failure: ServerFailure, _ token: StoredToken, temporary: TokenMachine.Event,
    _ permanent: TokenMachine.Event
  ) {
    run.error = chatError(failure, server: token.server)
    // Only the app makes keys anew (INC-42); it finds the attempt open.
    raise(failure.isTemporary || configuration.role == .extension ? temporary : permanent, run)
  }

  private func sendInterval() {
    guard let token = try? store?.token(), let id = token.serverTokenID else { return }
    ask(.setPeriod(token: id, minutes: Self.wakeMinutes), of: token, within: Durations.serverAnswer) { _ in }
  }

  /// SimpleX's period of wake-ups, in both modes.
  private static let wakeMinutes = 20

  /// The request goes into the store's outbox, in the transaction that forgets the token: the server hears of it even if
  /// there is no network now.
  func queueDelete(_ token: StoredToken?, _ store: Store) throws(StoreError) {
    guard let token, let id = token.serverTokenID, let mailbox = token.replyMailbox,
      let sealed = try? seal(.delete(token: id), token, mailbox)
    else { return }
    try store.insertServerRequest(
      mailbox: sealed.mailbox, body: sealed.body, deduplication: configuration.randomness.bytes(RelayIdentifier.count))
  }

  /// Offers the relay what goes out for nobody who waits, until it has it.
  func flushServerRequests() {
    guard admits(.notifications), relay != nil,
      let requests = read(
        { (store) throws(StoreError) in try store.serverRequests() }, orLater: TimerName.serverRequests,
        Engine.flushServerRequests)
    else { return }
    for request in requests {
      guard let mailbox = RelayIdentifier(bytes: request.mailbox),
        let attempt = RelayIdentifier(bytes: request.deduplication)
      else { continue }
      withRelay(.notifications) { (client) throws(RelayError) in
        try client.send(request.body, to: mailbox, key: request.key, attempt: attempt, notify: false)
      } then: { [weak self] result in
        switch result {
        case .success:
          self?.backoffs.serverRequests.reset()
          try? self?.store?.finishServerRequest(request.id)
        case .failure(.closed): break
        case .failure(let error) where error.isTemporary || error == .answer: self?.flushServerRequestsLater()
        case .failure: try? self?.store?.finishServerRequest(request.id)
        }
      }
    }
  }

  private func flushServerRequestsLater() {
    retry(TimerName.serverRequests, \.serverRequests, Engine.flushServerRequests)
  }

  // MARK: Later

  func scheduleRetry() {
    timers.set(TimerName.tokenRetry, after: backoffs.token.next()) { [weak self] in self?.retryToken() }
  }

  private func retryToken() {
    guard let (token, state, attempt) = tokenNow(orLater: Engine.retryToken) else { return }
    if let attempt { return finish(attempt, of: token) }
    raise(state == .active ? .checkDue : .registerSameToken, TokenRun(of: token))
  }

  private typealias TokenNow = (token: StoredToken, state: TokenMachine.State, attempt: TokenAttempt?)

  /// The token on record and the attempt at its server that is open; nil if there is no token, or if `again` is called
  /// later.
  private func tokenNow(orLater again: @escaping (Engine) -> () -> Void) -> TokenNow? {
    let found = read(
      { (store) throws(StoreError) -> TokenNow? in
        guard let token = try store.token() else { return nil }
        return (token, try self.tokenState(token), try self.openTokenAttempt(store))
      }, orLater: TimerName.tokenRetry, again)
    return found ?? nil
  }

  private func scheduleCheck() {
    timers.set(TimerName.tokenCheck, after: .days(1)) { [weak self] in self?.checkTokenNow() }
  }

  /// At each start and once a day: what the server knows of the token reaches the app (INC-63), and what the last run
  /// began and could not finish is taken up (INC-62, INC-68).
  func checkTokenNow() {
    guard isMain, let (token, state, attempt) = tokenNow(orLater: Engine.checkTokenNow) else { return }
    if let attempt { return finish(attempt, of: token) }
    switch state {
    case .active, .registered: raise(.checkDue, TokenRun(of: token))
    case .new, .confirmed: raise(.registerSameToken, TokenRun(of: token))
    case .none, .expired, .invalid, .invalidBad, .invalidTopic, .invalidExpired, .invalidUnregistered: break
    }
  }

  // MARK: The reply mailbox

  /// The key is stored before the relay is asked: the same key again gives the same mailbox, so a process that is
  /// killed in between leaves nothing behind.
  private func withReplyMailbox(
    _ run: TokenRun, ifFailed event: TokenMachine.Event, then: @escaping (StoredToken) -> Void
  ) {
    withToken(run, ifFailed: event) { token in
      // Forgotten meanwhile; then there is nothing to be asked.
      guard let token else { return raise(event, run) }
      if token.replyMailbox != nil { return then(token) }
      makeReplyMailbox(token, run, ifFailed: event, then: then)
    }
  }

  private func makeReplyMailbox(
    _ token: StoredToken, _ run: TokenRun, ifFailed event: TokenMachine.Event, then: @escaping (StoredToken) -> Void
  ) {
    guard relay != nil else {
      run.error = .nightporter(.relayMissing)
      return raise(event, run)
    }
    // The token's own signing key serves as the mailbox's: one secret less, and the relay learns nothing from it.
    let key = token.signingKey
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: key)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error):
        run.error = self.chatError(error)
        self.raise(event, run)
      case .success(let mailbox):
        self.saveReplyMailbox(
          .init(recipientID: mailbox.recipient.bytes, recipientKey: key, senderID: mailbox.sender.bytes), run, then)
      }
    }
  }
}

extension Engine {
  /// Of the record as it is now: somebody else may have gone on with it meanwhile.
  private func saveReplyMailbox(
    _ mailbox: StoredToken.ReplyMailbox, _ run: TokenRun, _ then: (StoredToken) -> Void
  ) {
    do throws(StoreError) {
      guard let store else { throw .sqlite(SQLiteError(kind: .closed)) }
      let changed = try store.transaction { () throws(StoreError) in
        if let reservation = run.reservation { try store.require(reservation) }
        guard var token = try store.token() else { throw .notFound(.token) }
        token.replyMailbox = mailbox
        try store.save(token, at: self.configuration.clock.wall())
        return token
      }
      then(changed)
    } catch {
      run.error = ChatError(error)
      raise(.registerFailedTemporary, run)
    }
  }
}

extension ServerFailure {
  var isTemporary: Bool {
    switch self {
    case .relay(let error): error.isTemporary || error == .closed
    case .timeout, .refused(.internal): true
    case .refused, .push, .unexpected: false
    }
  }
}
