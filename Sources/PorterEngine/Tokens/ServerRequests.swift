import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// Why a notification server's answer is not there.
enum ServerFailure: Error, Equatable {
  case relay(RelayError)
  case timeout
  case refused(ServerRefusal)
  case push(PushError)
  /// Something else than what was asked for.
  case unexpected
}

/// Asking the notification server: a boxed request into its mailbox at the relay, a boxed answer out of ours.
extension Engine {
  typealias ServerReply = (Result<ServerAnswer, ServerFailure>) -> Void

  /// `then` is called exactly once; with `.timeout` when no answer came.
  func ask(
    _ command: ServerRequest.Command, of token: StoredToken, within timeout: Span, then: @escaping ServerReply
  ) {
    guard relay != nil, let mailbox = token.replyMailbox else { return then(.failure(.relay(.offline))) }
    do throws(PushError) {
      let (serverMailbox, body, correlation) = try seal(command, token, mailbox)
      guard let server = RelayIdentifier(bytes: serverMailbox),
        let attempt = RelayIdentifier(bytes: configuration.randomness.bytes(RelayIdentifier.count))
      else { return then(.failure(.push(.malformed(.link)))) }
      expect(correlation, within: timeout, then)
      listenForReplies(mailbox)
      withRelay(.notifications) { (client) throws(RelayError) in
        try client.send(body, to: server, key: nil, attempt: attempt, notify: false)
      } then: { [weak self] result in
        if case .failure(let error) = result { self?.settle(correlation, .failure(.relay(error))) }
      }
    } catch {
      then(.failure(.push(error)))
    }
  }

  /// A request as it goes into the server's mailbox.
  func seal(
    _ command: ServerRequest.Command, _ token: StoredToken, _ mailbox: StoredToken.ReplyMailbox
  ) throws(PushError) -> (mailbox: [UInt8], body: [UInt8], correlation: CorrelationID) {
    let correlation = try CorrelationID.generate(randomness: configuration.randomness)
    let conversation = try conversation(token)
    let request = ServerRequest(correlation: correlation, replyMailbox: mailbox.senderID, command: command)
    let body = try conversation.seal(request, signedBy: token.signingKey, randomness: configuration.randomness)
    return (conversation.server.mailbox, body, correlation)
  }

  private func conversation(_ token: StoredToken) throws(PushError) -> ServerConversation {
    try ServerConversation(
      server: try NotificationServerLink(parsing: token.server), key: BoxKeyPair(secretKey: token.boxKey))
  }

  private func expect(_ correlation: CorrelationID, within timeout: Span, _ then: @escaping ServerReply) {
    awaitedAnswers[correlation] = then
    timers.set(Self.timerName(correlation), after: timeout) { [weak self] in
      self?.settle(correlation, .failure(.timeout))
    }
  }

  private static func timerName(_ correlation: CorrelationID) -> String {
    "answer " + TextEncoding.hex(correlation.bytes)
  }

  private func settle(_ correlation: CorrelationID, _ result: Result<ServerAnswer, ServerFailure>) {
    guard let then = awaitedAnswers.removeValue(forKey: correlation) else { return }
    timers.cancel(Self.timerName(correlation))
    then(result)
  }

  /// Everyone who still waits, or these, are told that nothing will come: the engine suspends or stops.
  func abandonServerRequests(_ correlations: [CorrelationID]? = nil) {
    for correlation in correlations ?? awaitedAnswers.keys.sorted() { settle(correlation, .failure(.relay(.closed))) }
  }

  // MARK: The reply mailbox

  private func listenForReplies(_ mailbox: StoredToken.ReplyMailbox) {
    guard let identifier = RelayIdentifier(bytes: mailbox.recipientID), let relay = relay?.identifier,
      listensForReplies.map({ $0 != (identifier, relay) }) ?? true
    else { return }
    listensForReplies = (identifier, relay)
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.subscribe([(recipient: identifier, key: mailbox.recipientKey)])
    } then: { [weak self] result in
      switch result {
      case .success(let states) where states == [.waiting]: self?.takeReplies()
      case .success: break
      case .failure: if self?.listensForReplies?.relay == relay { self?.listensForReplies = nil }
      }
    }
  }

  /// Takes every answer that waits; one that nobody expects any more is dropped, for its question has been asked again.
  /// One round at a time, as in `subscribeAll`.
  func takeReplies() {
    if takingReplies.want() { beginTakingReplies() }
  }

  private func endTakingReplies() {
    if takingReplies.end() { later { [weak self] in self?.beginTakingReplies() } }
  }

  private func beginTakingReplies() {
    guard admits(.notifications) else { return endTakingReplies() }
    let found = read(
      { (store) throws(StoreError) in try store.token() }, orLater: TimerName.replies, Engine.takeReplies)
    guard let token = found ?? nil, let mailbox = token.replyMailbox,
      let identifier = RelayIdentifier(bytes: mailbox.recipientID)
    else { return endTakingReplies() }
    withRelay(.notifications) { (client) throws(RelayError) -> [RelayMessage] in
      var messages: [RelayMessage] = []
      do throws(RelayError) {
        while messages.count < Self.repliesAtOnce,
          let message = try client.getMessage(identifier, key: mailbox.recipientKey)
        {
          messages.append(message)
          // An answer is of use to this process only, which has it now.
          try client.acknowledge(message.identifier, in: identifier, key: mailbox.recipientKey)
        }
      } catch {
        // What was acknowledged is nowhere else.
        if messages.isEmpty { throw error }
      }
      return messages
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): if error.isTemporary { self.retry(TimerName.replies, \.replies, Engine.takeReplies) }
      case .success(let messages):
        self.backoffs.replies.reset()
        for message in messages { self.take(message, token) }
        if messages.count == Self.repliesAtOnce { self.takeReplies() }
      }
      self.endTakingReplies()
    }
  }

  /// In one exchange after the other, so that a full mailbox is not as many calls deep.
  private static let repliesAtOnce = 16

  private func take(_ message: RelayMessage, _ token: StoredToken) {
    do throws(PushError) {
      let answer = try conversation(token).open(message.body)
      noteStatus(answer.tokenStatus)
      settle(answer.correlation, Self.checked(answer))
    } catch {
      log(.warning, "an answer in the reply mailbox was dropped", ["error": error.description])
    }
  }

  private static func checked(_ answer: ServerAnswer) -> Result<ServerAnswer, ServerFailure> {
    if case .refused(let reason) = answer.result { return .failure(.refused(reason)) }
    return .success(answer)
  }

  /// A failure in the words of the interface.
  func chatError(_ failure: ServerFailure, server: String) -> ChatError {
    switch failure {
    case .relay(let error): chatError(error)
    case .timeout: .agent(.broker(server: server, .timeout))
    case .refused(.authorization): .agent(.notificationServer(server: server, .authentication))
    case .refused(.quota): .agent(.notificationServer(server: server, .quota))
    case .refused(.syntax): .agent(.notificationServer(server: server, .commandSyntax))
    case .refused(.noCredentials): .agent(.notificationServer(server: server, .service))
    case .refused(.internal): .agent(.notificationServer(server: server, .internal))
    case .push(let error): .agent(.broker(server: server, .unexpected(error.description)))
    case .unexpected: .agent(.broker(server: server, .unexpected("another answer than asked for")))
    }
  }

  func chatError(_ error: RelayError) -> ChatError { ChatError(error, relay: relayName) }
}
