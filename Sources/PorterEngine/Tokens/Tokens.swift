import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// The device's token at the notification server, and with it the push subscriptions of all connections.
///
/// Owns the machine `token_status`, whose state is stored with the token. A step's records are one transaction, in
/// which the attempt it answers must still be the current one (INC-09). Threads: the engine's.
final class Tokens {
  let context: EngineContext
  unowned let host: any TokensHost
  let retries: Retries
  private(set) lazy var requests = ServerRequests(context, host: host, retries: retries) {
    [unowned self] in note($0, of: $1)
  }
  private let queued: QueuedRequests
  private(set) lazy var subscriptions = Subscriptions(
    context, host: host, server: requests, queued: queued, retries: retries)

  private var repairs = Backoff(first: Durations.firstRepair, last: .days(1))
  /// The token status last reported to the host.
  private var reported: TokenReport?

  private lazy var driver = RecordedMachineDriver<TokenMachine, TokenStep>(context.machines) {
    [unowned self] effect, step in TokenMachine.perform(effect, by: self, step)
  }

  init(_ context: EngineContext, host: any TokensHost) {
    self.context = context
    self.host = host
    retries = context.retries
    queued = QueuedRequests(context, host: host, retries: retries)
  }

  // MARK: For the engine's other parts

  /// The stored state's name; nil for a state unknown to this version.
  var statusName: String? {
    guard let token = context.store.flatMap({ try? $0.token() }) else { return TokenMachine.State.none.name }
    return (try? TokenMachine.State(of: token))?.name
  }

  /// The state of pushes; nil while the store cannot be read.
  var health: JSONValue? {
    guard let store = context.store, let counts = try? store.subscriptionCounts(),
      let repairs = try? store.subscriptionRepairs()
    else { return nil }
    let subscriptions = counts.map { ($0.state, JSONValue($0.count)) }
    return .compact([
      "token": (try? store.token()).flatMap(Self.describe), "subscriptions": .object(JSONObject(subscriptions)),
      "repairs": repairs.isEmpty ? nil : .array(repairs.map(Self.describe)),
    ])
  }

  private static func describe(_ repairs: Store.SubscriptionRepairs) -> JSONValue {
    ["reason": .string(repairs.reason), "count": .integer(repairs.count), "ts": .string(repairs.at.iso8601)]
  }

  private static func describe(_ token: StoredToken) -> JSONValue? {
    TokenReport(token).map { report in
      .compact([
        "status": .string(report.status.rawValue), "mode": .string(token.mode),
        "reason": report.reason.map { .string($0) }, "reasonTs": (token.repair?.at).map { .string($0.iso8601) },
      ])
    }
  }

  var awaitedAnswers: Int { requests.awaitedCount }

  /// Starts all work that a main run does on its own, except for waiting answers (`takeReplies`).
  func takeUpWork() {
    repairSilence()
    queued.send()
    subscriptions.takeUpWork()
    takeUp()
  }

  private func repairSilence() {
    do throws(StoreError) { try context.store?.repairSilentMailboxes() } catch {
      context.log(.warning, "what is silent could not be stored for a locked device", ["error": error.description])
    }
  }

  func takeReplies() { requests.takeReplies() }

  /// Offers the queued requests to the relay.
  func sendQueued() { queued.send() }

  /// The chat is about to stop receiving. Requests to the server are sent now: the relay keeps them, and the server
  /// acts on them while this process is suspended. Otherwise a user who leaves the app right away would get no pushes.
  func stopReceiving() { subscriptions.askWhatIsDue() }

  func abandonRequests() { requests.abandon() }

  /// The relay was closed. Returns a closure that ends the requests it carried, if any; to be called once the caller
  /// has closed everything else.
  func relayWasClosed() -> (() -> Void)? {
    subscriptions.relayWasClosed()
    return requests.relayWasClosed()
  }

  /// Repeats the request for an unfinished attempt, and calls `then` when that has ended.
  func finish(_ left: LeftTokenAttempt, within timeout: Span = Durations.serverAnswer, then: @escaping () -> Void = {})
  {
    let run = TokenRun(of: left.token, timeout: timeout) { _ in then() }
    switch left.attempt {
    case .register: raise(.registerSameToken, run)
    case .replace: raise(.registerNewToken, run)
    }
  }

  /// Sends the code of a verification push. An extension does so too, so that a token does not stay unverified while
  /// the app sleeps (INC-62).
  func verify(
    _ token: StoredToken, nonce: BoxNonce, sealedCode: [UInt8], within timeout: Span = Durations.serverAnswer,
    reply: @escaping (Answer) -> Void
  ) {
    guard let secret = token.pushSecret else {
      return reply(.error(.agent(.command(.prohibited, context: "the token is not registered"))))
    }
    do throws(PushError) {
      let code = try VerificationCode(opening: sealedCode, nonce: nonce, with: secret)
      raise(.pushVerification, TokenRun(of: token, timeout: timeout, reply: reply), .code(code))
    } catch {
      reply(.error(.agent(.notificationServer(server: token.server, .crypto))))
    }
  }

  // MARK: Steps

  func raise(
    _ event: TokenMachine.Event, _ run: TokenRun, _ news: TokenNews = .none, about token: StoredToken? = nil
  ) {
    let argument = TokenStep(run: run, news: news, subject: token.map { TokenSubject($0) })
    context.steps.post { [weak self] in self?.step(event, argument) }
  }

  private func step(_ event: TokenMachine.Event, _ argument: TokenStep) {
    do throws(StoreError) {
      let taken = try take(event, argument)
      driver.carryOut(taken)
      answer(taken.step, argument)
    } catch {
      if case .staleEpoch = error {} else if host.admits(.notifications) { scheduleRetry() }
      argument.run.answer(failed(error, argument))
    }
  }

  /// The last profile is deleted: pushes no longer have a receiver. Part of the caller's transaction; the server is
  /// notified after the commit, or whenever it is reachable.
  func recordDeletion(_ store: Store) throws(StoreError) {
    let stored: StoredToken?
    // With damaged keys no request can be made to the server.
    do throws(StoreError) { stored = try store.token() } catch .damaged { return try store.deleteToken() }
    guard let token = stored else { return }
    guard let state = try? TokenMachine.State(of: token) else { return try store.deleteToken() }
    let recorder = TokenRecorder(context: context, requests: requests, subscriptions: subscriptions, store: store)
    let taken = try driver.take(.delete, in: state, TokenStep(run: TokenRun(of: token))) {
      (step, argument) throws(StoreError) in try recorder.record(.delete, step, &argument, of: token)
    }
    store.afterCommit { [weak self] in self?.driver.post(taken) }
  }

  private func take(
    _ event: TokenMachine.Event, _ argument: TokenStep
  ) throws(StoreError) -> RecordedMachineDriver<TokenMachine, TokenStep>.Taken {
    guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
    if argument.news.reservation == nil {
      let token = try store.token()
      try require(argument.subject, token)
      let state = try TokenMachine.State(of: token)
      if !RecordedMachineDriver<TokenMachine, TokenStep>.isRecorded(event, in: state) {
        return driver.take(event, in: state, argument)
      }
    }
    let recorder = TokenRecorder(context: context, requests: requests, subscriptions: subscriptions, store: store)
    let isSwitch = [.modeInstant, .modePeriodic, .delete].contains(event)
    let taken = try store.transaction { () throws(StoreError) in
      if let reservation = argument.news.reservation { try store.require(reservation) }
      let token = try store.token()
      try require(argument.subject, token)
      let taken = try driver.take(event, in: try TokenMachine.State(of: token), argument) {
        (step, argument) throws(StoreError) in try recorder.record(event, step, &argument, of: token)
      }
      if isSwitch { FaultPoint.reach(.insideMode) }
      return taken
    }
    if isSwitch { FaultPoint.reach(.modeStored) }
    return taken
  }

  /// What the server answers about a token says nothing about its successor: a process may have been frozen meanwhile.
  private func require(_ subject: TokenSubject?, _ token: StoredToken?) throws(StoreError) {
    guard let subject, token.map({ TokenSubject($0) }) != subject else { return }
    throw .staleEpoch(owner: nil)
  }

  /// Answers the waiting caller, unless the server was asked: then a later step does.
  private func answer(_ step: MachineStep<TokenMachine>, _ argument: TokenStep) {
    if case .refused(let reason) = step.answer {
      return argument.run.answer(.error(.agent(.command(.prohibited, context: reason.name))))
    }
    guard !step.effects.contains(where: { TokenMachine.kind($0) == .ask }) else { return }
    argument.run.answer(
      argument.news.error.map(Answer.error) ?? .result(.ntfTokenStatus(PorterSchema.TokenStatus(step.next))))
  }

  private func failed(_ error: StoreError, _ argument: TokenStep) -> Answer {
    switch error {
    case .staleEpoch: statusNow
    case .notFound(.setting): .error(.nightporter(.notificationServerMissing))
    case .sqlite, .seal, .foreign, .needsMigration, .newerSchema, .notFound, .duplicate, .damaged:
      .error(argument.news.error ?? ChatError(error))
    }
  }

  /// For a caller whose attempt another process has finished.
  private var statusNow: Answer {
    context.log(.info, "the token was taken over by another process")
    do throws(StoreError) {
      guard let token = try context.store?.token() else { return .error(.noToken) }
      return .result(.ntfTokenStatus(PorterSchema.TokenStatus(try TokenMachine.State(of: token))))
    } catch {
      return .error(ChatError(error))
    }
  }

  /// Every answer of the server includes the token's status, so an invalid token is noticed at the next contact
  /// (INC-63).
  private func note(_ status: ServerTokenStatus, of token: StoredToken) {
    switch status {
    case .new, .registered, .confirmed, .active: return
    case .expired, .invalid, .invalidBad, .invalidTopic, .invalidExpired, .invalidUnregistered:
      raise(TokenMachine.Event(status), TokenRun(of: token), about: token)
    }
  }

  /// Reports each status to the host once, whichever process has brought the token there.
  func reportStatus() {
    guard let report = TokenReport(try? context.store?.token()), report != reported else { return }
    reported = report
    context.emit(.ntfTokenStatus(report.status, reason: report.reason))
  }

  // MARK: Later

  func scheduleRetry() {
    retries.retryInstead(TimerName.tokenRetry) { [weak self] in self?.retry() }
  }

  private func retry() { raiseLater(.retry) { [weak self] in self?.retry() } }

  /// Only the app repairs a token (INC-42). An extension leaves it to the app's next start.
  func scheduleRepair() {
    guard context.role == .app else { return }
    context.timers.set(TimerName.tokenRepair, after: repairs.next()) { [weak self] in self?.retry() }
  }

  func endRepair() { repairs.reset() }

  func scheduleCheck() {
    context.timers.set(TimerName.tokenCheck, after: .days(1)) { [weak self] in self?.takeUp() }
  }

  /// At each start and once a day: the server's view of the token reaches the app (INC-63), and unfinished work of the
  /// last run is taken up (INC-62, INC-68).
  private func takeUp() {
    guard host.isMain else { return }
    raiseLater(.takeUp) { [weak self] in self?.takeUp() }
  }

  /// Raises the event for the stored token; if an attempt at the server is open, finishes that instead.
  private func raiseLater(_ event: TokenMachine.Event, _ again: @escaping () -> Void) {
    let found = retries.read(orLater: TimerName.tokenRetry, again) {
      (store) throws(StoreError) -> (StoredToken, LeftTokenAttempt?)? in
      guard let token = try store.token() else { return nil }
      return (token, try TokenAttempt.open(store).map { LeftTokenAttempt(token: token, attempt: $0) })
    }
    guard let (token, left) = found ?? nil else { return }
    if let left { return finish(left) }
    raise(event, TokenRun(of: token))
  }
}
