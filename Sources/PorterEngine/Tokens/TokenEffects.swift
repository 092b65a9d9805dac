import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

extension Tokens: TokenStatusEffects {
  // MARK: Asking the server

  func sendRegister(_ step: TokenStep) {
    guard case .attempt(let reservation) = step.news else { return assertionFailure("nothing was reserved") }
    withReplyMailbox(step.run, reservation) { [weak self] token in self?.sendRegister(token, step.run, reservation) }
  }

  private func sendRegister(_ token: StoredToken, _ run: TokenRun, _ reservation: Reservation) {
    guard let pushToken = PushToken(provider: token.provider, bytes: token.deviceToken) else { return }
    let command = ServerRequest.Command.newToken(
      pushToken, signingKey: token.signingKey.publicKey, boxKey: token.boxKey.publicKey)
    requests.ask(command, of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.afterTokenAnswer)
      var failure = ServerFailure.unexpected
      switch result {
      case .success(let answer):
        if case .token(let id, let boxKey) = answer.result, let secret = try? token.boxKey.agree(with: boxKey) {
          self.retries.reset(TimerName.tokenRetry)
          return self.raise(.registerOk, run, .granted(id: id, secret: secret, reservation))
        }
      case .failure(let error): failure = error
      }
      self.raise(
        self.passes(failure) ? .registerFailedTemporary : .registerFailedPermanent, run,
        .failed(self.chatError(failure, token), reservation))
    }
  }

  func sendReplace(_ step: TokenStep) {
    guard case .attempt(let reservation) = step.news else { return assertionFailure("nothing was reserved") }
    withToken(step.run, ifFailed: .replaceFailedTemporary, reservation) { token in
      sendReplace(token, step.run, reservation)
    }
  }

  private func sendReplace(_ token: StoredToken?, _ run: TokenRun, _ reservation: Reservation) {
    guard let token, let id = token.serverTokenID,
      let pushToken = PushToken(provider: run.provider, bytes: run.deviceToken)
    else { return raise(.replaceFailedPermanent, run, .attempt(reservation)) }
    requests.ask(.replace(token: id, with: pushToken), of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.afterTokenAnswer)
      switch result {
      case .success:
        self.retries.reset(TimerName.tokenRetry)
        self.raise(.replaceOk, run, .attempt(reservation))
      case .failure(let failure):
        self.raise(
          self.passes(failure) ? .replaceFailedTemporary : .replaceFailedPermanent, run,
          .failed(self.chatError(failure, token), reservation))
      }
    }
  }

  func sendVerify(_ step: TokenStep) {
    withToken(step.run, ifFailed: .verifyFailedTemporary) { token in sendVerify(token, step.run) }
  }

  private func sendVerify(_ token: StoredToken?, _ run: TokenRun) {
    guard let token, let id = token.serverTokenID,
      let code = token.verificationCode.flatMap({ VerificationCode(bytes: $0.exposeForStorage()) })
    else {
      // Only the app repairs keys (INC-42).
      return raise(context.role == .app ? .verifyAuthError : .verifyFailedTemporary, run)
    }
    requests.ask(.verify(token: id, code), of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success:
        self.retries.reset(TimerName.tokenRetry)
        self.raise(.verifyOk, run, about: token)
      // Only the app repairs keys (INC-42); the code stays stored, so that its next start gets here again.
      case .failure(.refused(.authorization)) where self.context.role == .app:
        self.raiseAfterAnswering(.verifyAuthError, token, run)
      case .failure(let failure):
        self.raise(.verifyFailedTemporary, run, .failed(self.chatError(failure, token), nil), about: token)
      }
    }
  }

  func sendCheck(_ step: TokenStep) {
    withToken(step.run, ifFailed: .checkFailedTemporary) { token in sendCheck(token, step.run) }
  }

  private func sendCheck(_ token: StoredToken?, _ run: TokenRun) {
    guard let token, let id = token.serverTokenID else { return raise(.checkAuthError, run) }
    requests.ask(.check(token: id), of: token, within: run.timeout) { [weak self] result in
      guard let self else { return }
      var failure = ServerFailure.unexpected
      switch result {
      case .success(let answer):
        if let status = answer.tokenStatus {
          self.retries.reset(TimerName.tokenRetry)
          return self.raise(TokenMachine.Event(status), run, about: token)
        }
      case .failure(.refused(.authorization)): return self.raiseAfterAnswering(.checkAuthError, token, run)
      case .failure(let error): failure = error
      }
      self.raise(.checkFailedTemporary, run, .failed(self.chatError(failure, token), nil), about: token)
    }
  }

  /// Answers the host now: it need not wait until the token is registered again.
  private func raiseAfterAnswering(_ event: TokenMachine.Event, _ token: StoredToken, _ run: TokenRun) {
    run.answer(.error(chatError(.refused(.authorization), token)))
    raise(event, TokenRun(of: token), about: token)
  }

  /// Only the app creates new keys (INC-42); it finds the attempt open.
  private func passes(_ failure: ServerFailure) -> Bool { failure.isTemporary || context.role == .extension }

  private func chatError(_ failure: ServerFailure, _ token: StoredToken) -> ChatError {
    ChatError(failure, server: token.server, relay: host.relayName)
  }

  // MARK: The other effects

  func abandonRequests(_ step: TokenStep) { abandonRequests() }
  func sendQueued(_ step: TokenStep) { sendQueued() }
  func createSubscriptions(_ step: TokenStep) { subscriptions.ensure() }
  func scheduleRetry(_ step: TokenStep) { scheduleRetry() }
  func scheduleCheck(_ step: TokenStep) { scheduleCheck() }

  func scheduleRepair(_ step: TokenStep) { scheduleRepair() }
  func endRepair(_ step: TokenStep) { endRepair() }
  func reportStatus(_ step: TokenStep) { reportStatus() }

  func reportError(_ step: TokenStep) {
    step.run.answer(.error(step.news.error ?? .agent(.notificationServer(server: "", .internal))))
  }

  // MARK: What is asked with

  /// Reads the stored token. One that cannot be read now is not one the server has forgotten: `then` is not called, and
  /// the failure is a temporary one.
  private func withToken(
    _ run: TokenRun, ifFailed event: TokenMachine.Event, _ reservation: Reservation? = nil,
    then: (StoredToken?) -> Void
  ) {
    let token: StoredToken?
    do throws(StoreError) {
      guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
      token = try store.token()
    } catch {
      return raise(event, run, .failed(ChatError(error), reservation))
    }
    then(token)
  }

  /// The key is stored before the relay is asked: the same key gives the same mailbox again, so a process killed in
  /// between leaves nothing behind.
  private func withReplyMailbox(
    _ run: TokenRun, _ reservation: Reservation, then: @escaping (StoredToken) -> Void
  ) {
    withToken(run, ifFailed: .registerFailedTemporary, reservation) { token in
      // Forgotten in the meantime; then there is nothing to ask for.
      guard let token else { return raise(.registerFailedTemporary, run, .attempt(reservation)) }
      if token.replyMailbox != nil { return then(token) }
      makeReplyMailbox(token, run, reservation, then: then)
    }
  }

  private func makeReplyMailbox(
    _ token: StoredToken, _ run: TokenRun, _ reservation: Reservation, then: @escaping (StoredToken) -> Void
  ) {
    guard host.relayIdentifier != nil else {
      return raise(.registerFailedTemporary, run, .failed(.nightporter(.relayMissing), reservation))
    }
    // The token's own signing key also serves as the mailbox's: one secret less, and the relay learns nothing from it.
    let key = token.signingKey
    host.withRelay(.notifications) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: key)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error):
        self.raise(
          .registerFailedTemporary, run, .failed(ChatError(error, relay: self.host.relayName), reservation))
      case .success(let mailbox):
        let ends = StoredToken.ReplyMailbox(
          recipientID: mailbox.recipient.bytes, recipientKey: key, senderID: mailbox.sender.bytes)
        do throws(StoreError) { then(try self.save(ends, reservation)) } catch {
          self.raise(.registerFailedTemporary, run, .failed(ChatError(error), reservation))
        }
      }
    }
  }

  /// Updates the current record: another process may have changed it in the meantime.
  private func save(
    _ mailbox: StoredToken.ReplyMailbox, _ reservation: Reservation
  ) throws(StoreError) -> StoredToken {
    guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
    return try store.transaction(under: reservation) { () throws(StoreError) in
      guard var token = try store.token() else { throw .notFound(.token) }
      token.replyMailbox = mailbox
      try store.save(token, at: self.context.clock.wall())
      return token
    }
  }
}
