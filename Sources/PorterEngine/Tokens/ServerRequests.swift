import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// Requests to the notification server: a sealed request goes into its mailbox at the relay, a sealed answer comes out
/// of ours. Threads: the engine's.
final class ServerRequests {
  typealias Reply = (Result<ServerAnswer, ServerFailure>) -> Void

  private let context: EngineContext
  private unowned let host: any TokensHost
  private let retries: Retries
  /// Called with what each answer says about the token.
  private let heard: (ServerTokenStatus, StoredToken) -> Void
  private var awaited = [CorrelationID: Awaited]()

  private struct Awaited {
    let token: StoredToken
    let reply: Reply
  }
  /// The reply mailbox being listened to, and at which relay: a newly registered token has another mailbox, and a newly
  /// opened relay must be asked again.
  private var listensTo: (mailbox: RelayIdentifier, relay: Int)?
  private var takingReplies: Coalescer

  /// In consecutive exchanges, so that a full mailbox does not cause that many nested calls.
  private static let repliesAtOnce = 16

  init(
    _ context: EngineContext, host: any TokensHost, retries: Retries,
    heard: @escaping (ServerTokenStatus, StoredToken) -> Void
  ) {
    self.context = context
    self.host = host
    self.retries = retries
    self.heard = heard
    takingReplies = Coalescer("replies", context.configuration.log)
  }

  var awaitedCount: Int { awaited.count }

  /// `then` is called exactly once; with `.timeout` when no answer came.
  func ask(
    _ command: ServerRequest.Command, of token: StoredToken, within timeout: Span = Durations.serverAnswer,
    then: @escaping Reply
  ) {
    guard host.relayIdentifier != nil, let mailbox = token.replyMailbox else {
      return then(.failure(.relay(.offline)))
    }
    do throws(PushError) {
      let sealed = try seal(command, token, mailbox)
      guard let server = RelayIdentifier(bytes: sealed.mailbox),
        let attempt = RelayIdentifier(bytes: context.randomness.bytes(RelayIdentifier.count))
      else { return then(.failure(.push(.malformed(.link)))) }
      expect(sealed.correlation, of: token, within: timeout, then)
      listen(to: mailbox)
      let body = sealed.body
      host.withRelay(.notifications) { (client) throws(RelayError) in
        try client.send(body, to: server, key: nil, attempt: attempt, notify: false)
      } then: { [weak self] result in
        if case .failure(let error) = result { self?.settle(sealed.correlation, .failure(.relay(error))) }
      }
    } catch {
      then(.failure(.push(error)))
    }
  }

  /// Stores a request whose answer is not awaited, in the caller's transaction: whatever happens afterwards, the server
  /// gets it.
  func queue(_ command: ServerRequest.Command, of token: StoredToken, _ store: Store) throws(StoreError) {
    guard let mailbox = token.replyMailbox, let sealed = try? seal(command, token, mailbox) else { return }
    try store.insertServerRequest(
      mailbox: sealed.mailbox, body: sealed.body, deduplication: context.randomness.bytes(RelayIdentifier.count))
  }

  private typealias Sealed = (mailbox: [UInt8], body: [UInt8], correlation: CorrelationID)

  /// Seals a request for the server's mailbox.
  private func seal(
    _ command: ServerRequest.Command, _ token: StoredToken, _ mailbox: StoredToken.ReplyMailbox
  ) throws(PushError) -> Sealed {
    let correlation = try CorrelationID.generate(randomness: context.randomness)
    let conversation = try conversation(token)
    let request = ServerRequest(correlation: correlation, replyMailbox: mailbox.senderID, command: command)
    let body = try conversation.seal(request, signedBy: token.signingKey, randomness: context.randomness)
    return (conversation.server.mailbox, body, correlation)
  }

  private func conversation(_ token: StoredToken) throws(PushError) -> ServerConversation {
    try ServerConversation(
      server: try NotificationServerLink(parsing: token.server), key: BoxKeyPair(secretKey: token.boxKey))
  }

  // MARK: Waiting for answers

  func expect(
    _ correlation: CorrelationID, of token: StoredToken, within timeout: Span, _ then: @escaping Reply
  ) {
    awaited[correlation] = Awaited(token: token, reply: then)
    context.timers.set(Self.timerName(correlation), after: timeout) { [weak self] in
      self?.settle(correlation, .failure(.timeout))
    }
  }

  private static func timerName(_ correlation: CorrelationID) -> String {
    "answer " + TextEncoding.hex(correlation.bytes)
  }

  private func settle(_ correlation: CorrelationID, _ result: Result<ServerAnswer, ServerFailure>) {
    guard let request = awaited.removeValue(forKey: correlation) else { return }
    context.timers.cancel(Self.timerName(correlation))
    request.reply(result)
  }

  /// Ends the requests in progress: no answer will be read.
  func abandon() { abandon(awaited.keys.sorted()) }

  private func abandon(_ correlations: [CorrelationID]) {
    for correlation in correlations { settle(correlation, .failure(.relay(.closed))) }
  }

  /// The relay was closed. Returns a closure that ends the requests it carried, if any; to be called once the caller
  /// has closed everything else.
  func relayWasClosed() -> (() -> Void)? {
    listensTo = nil
    guard !awaited.isEmpty else { return nil }
    let correlations = awaited.keys.sorted()
    return { [weak self] in self?.abandon(correlations) }
  }

  // MARK: The reply mailbox

  private func listen(to mailbox: StoredToken.ReplyMailbox) {
    guard let identifier = RelayIdentifier(bytes: mailbox.recipientID), let relay = host.relayIdentifier,
      listensTo.map({ $0 != (identifier, relay) }) ?? true
    else { return }
    listensTo = (identifier, relay)
    host.lookForReplies { (client) throws(RelayError) in
      try client.subscribe([(recipient: identifier, key: mailbox.recipientKey)])
    } then: { [weak self] result in
      switch result {
      case .success(let states) where states == [.waiting]: self?.takeReplies()
      case .success: break
      case .failure: if self?.listensTo?.relay == relay { self?.listensTo = nil }
      }
    }
  }

  /// Takes every waiting answer; one no longer expected is dropped, because its question has been asked again. One
  /// round at a time, and one more if requested in the meantime.
  func takeReplies() {
    if takingReplies.want() { beginTakingReplies() }
  }

  private func endTakingReplies() {
    if takingReplies.end() { host.later { [weak self] in self?.beginTakingReplies() } }
  }

  private func beginTakingReplies() {
    guard host.admits(.notifications) else { return endTakingReplies() }
    let found = retries.read(orLater: TimerName.replies, { [weak self] in self?.takeReplies() }) {
      (store) throws(StoreError) in try store.token()
    }
    guard let token = found ?? nil, let mailbox = token.replyMailbox,
      let identifier = RelayIdentifier(bytes: mailbox.recipientID)
    else { return endTakingReplies() }
    host.lookForReplies { (client) throws(RelayError) in
      try Self.replies(in: identifier, mailbox.recipientKey, client)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error):
        if error.isTemporary { self.retries.retry(TimerName.replies) { [weak self] in self?.takeReplies() } }
      case .success(let messages):
        self.retries.reset(TimerName.replies)
        for message in messages { self.take(message, token) }
        if messages.count == Self.repliesAtOnce { self.takeReplies() }
      }
      self.endTakingReplies()
    }
  }

  private static func replies(
    in mailbox: RelayIdentifier, _ key: SigningKeyPair, _ client: RelayClient
  ) throws(RelayError) -> [RelayMessage] {
    var messages: [RelayMessage] = []
    do throws(RelayError) {
      while messages.count < repliesAtOnce, let message = try client.getMessage(mailbox, key: key) {
        messages.append(message)
        // Only this process can use the answer, and it has it now.
        try client.acknowledge(message.identifier, in: mailbox, key: key)
      }
    } catch {
      // Acknowledged answers exist nowhere else.
      if messages.isEmpty { throw error }
    }
    return messages
  }

  private func take(_ message: RelayMessage, _ token: StoredToken) {
    do throws(PushError) {
      let answer = try conversation(token).open(message.body)
      // An earlier answer that the relay gives again says nothing about the token's status now.
      if let request = awaited[answer.correlation], let status = answer.tokenStatus { heard(status, request.token) }
      settle(answer.correlation, Self.checked(answer))
    } catch {
      context.log(.warning, "an answer in the reply mailbox was dropped", ["error": error.description])
    }
  }

  private static func checked(_ answer: ServerAnswer) -> Result<ServerAnswer, ServerFailure> {
    if case .refused(let reason) = answer.result { return .failure(.refused(reason)) }
    return .success(answer)
  }
}
