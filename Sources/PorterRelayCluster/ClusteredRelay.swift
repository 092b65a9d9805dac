import PorterCrypto
import PorterPlatform
public import PorterRelay
import Synchronization

/// A relay that keeps its mailboxes in a cluster, along with any number of others serving the same ones. Safe from any
/// thread.
public final class ClusteredRelay: Sendable {
  let store: any ClusterStore
  let identifiers: ClusterKey
  let listeners: ClusterListeners
  let cache: RecordCache
  let turns = MailboxTurns()
  let accepted = AcceptedBodies()
  let ports: Ports
  let clusterTime: Mutex<ClusterTime?> = Mutex(nil)
  private let admit: @Sendable ([UInt8]) -> Bool
  private let onNews: @Sendable ([String]) -> Void
  let onEnded: @Sendable (EndedNotification) -> Void
  private let decoy: SigningPublicKey
  let decoyCheckKey: RelayCheckKey

  /// `secret` has 32 bytes and is the cluster's. `admit` is that of `RelayService`. `onNews` gets the listeners that received something, `onEnded`
  /// each notification that reaches no service.
  public convenience init?(
    _ store: any ClusterStore, secret: [UInt8], admit: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
    onNews: @escaping @Sendable ([String]) -> Void, onEnded: @escaping @Sendable (EndedNotification) -> Void = { _ in }
  ) {
    self.init(store, secret: secret, ports: .system, admit: admit, onNews: onNews, onEnded: onEnded)
  }

  package init?(
    _ store: any ClusterStore, secret: [UInt8], ports: Ports, admit: @escaping @Sendable ([UInt8]) -> Bool,
    onNews: @escaping @Sendable ([String]) -> Void, onEnded: @escaping @Sendable (EndedNotification) -> Void = { _ in }
  ) {
    guard let identifiers = ClusterKey(secret),
      let decoy = try? SigningKeyPair.generate(randomness: ports.randomness).publicKey,
      let decoyCheckKey = RelayCheckKey(bytes: ports.randomness.bytes(RelayCheckKey.count))
    else { return nil }
    self.store = store
    self.identifiers = identifiers
    self.ports = ports
    self.admit = admit
    self.onNews = onNews
    self.onEnded = onEnded
    self.decoy = decoy
    self.decoyCheckKey = decoyCheckKey
    cache = RecordCache(ports.clock)
    listeners = ClusterListeners(ports)
  }

  // MARK: Exchanges

  /// Carries out one request. Ends by `ExchangeDeadline`, which the caller sets if the request has waited before.
  public func exchange(_ exchange: RelayService.Exchange) async -> RelayService.Outcome {
    await CurrentExchange.$value.withValue(exchange) {
      await self.exchange(exchange.request, listener: exchange.listener)
    }
  }

  package func exchange(_ bytes: [UInt8], listener: String?) async -> RelayService.Outcome {
    let request: RelayRequest
    do throws(RelayError) { request = try RelayRequest(decoding: bytes) } catch {
      return Self.outcome(.failed(error), RelayRequest.correlation(of: bytes), command: "none")
    }
    let command = request.command.name
    let deadline = ExchangeDeadline.current ?? .now + ExchangeDeadline.span
    return await ExchangeDeadline.$current.withValue(deadline) {
      do throws(ExchangeFailure) {
        return Self.outcome(try await answer(to: request, listener), request.correlation, command: command)
      } catch {
        switch error {
        case .refused(let refusal): return Self.outcome(.failed(refusal), request.correlation, command: command)
        case .limited: return .limited
        case .failed(let reason), .full(let reason): return .failed(reason)
        case .own(let reason): return .failed(reason, isOwn: true)
        }
      }
    }
  }

  private static func outcome(
    _ answer: RelayAnswer, _ correlation: RelayIdentifier, command: String
  ) -> RelayService.Outcome {
    RelayService.Outcome(answer, to: correlation, command: command)
  }

  private func answer(to request: RelayRequest, _ listener: String?) async throws(ExchangeFailure) -> RelayAnswer {
    if request.command.dependsOnTime, let problem = clockProblem { throw .failed(problem) }
    switch request.command {
    case .createMailbox(let recipientKey, let senderKey):
      return try await createMailbox(request, recipientKey, senderKey)
    case .secureMailbox(let senderKey): return try await secureMailbox(request, senderKey)
    case .deleteMailbox: return try await deleteMailbox(request)
    case .send(let attempt, let notify, let body): return try await send(request, attempt, notify: notify, body)
    case .getMessage: return try await getMessage(request, withAge: false, listener)
    case .getMessageWithAge: return try await getMessage(request, withAge: true, listener)
    case .acknowledge(let message): return try await acknowledge(request, message, listener)
    case .acknowledgeAndGet(let message): return try await acknowledgeAndGet(request, message, listener)
    case .subscribe(let entries): return try await subscribe(request, entries, listener)
    case .check(let entries): return try await check(request, entries)
    case .checkByKeys(let entries): return try await checkByKeys(request, entries)
    case .shareCheckKeys(let entries): return try await shareCheckKeys(request, entries)
    case .listen(let key, let entries): return try await listen(request, key, entries, listener)
    case .arrivals(let key, let position, let limit):
      return try await arrivals(request, key, after: position, limit: limit, listener)
    case .enableNotifier(let key, let boxKey): return try await enableNotifier(request, key, boxKey)
    case .disableNotifier: return try await disableNotifier(request)
    case .subscribeNotifiers(let service, let entries):
      return try await subscribeNotifiers(request, service, entries, listener)
    case .notifications(let service, let limit):
      return .notifications(try await notifications(request, service, limit: limit).notifications)
    case .dueNotifications(let service, let limit):
      return .dueNotifications(try await notifications(request, service, limit: limit))
    case .acknowledgeNotifications(let service, let nonces):
      return try await acknowledgeNotifications(request, service, nonces)
    case .acknowledgeAndGetNotifications(let service, let limit, let nonces, let entries):
      return try await acknowledgeAndGetNotifications(request, service, limit: limit, nonces, entries)
    }
  }

  // MARK: Time

  /// Sets the time that the cluster has just given a message, in milliseconds since 1970.
  public func note(time milliseconds: Int64) {
    let time = ClusterTime(milliseconds: milliseconds, moment: ports.clock.now())
    clusterTime.withLock { $0 = time }
  }

  /// If two clocks differ, one is wrong, and it is unknown which: messages would expire too early, or be stored as if
  /// old.
  public var clockProblem: String? {
    let (now, wall) = (ports.clock.now(), ports.clock.wall())
    let seconds = clusterTime.withLock { $0 }?.difference(now: now, wall: wall)
    return seconds.map { "the clock differs from the cluster's by \($0) s" }
  }

  // MARK: Who may

  /// Throws `auth` unless the key made the signature. Without a key, does the same work without a result.
  func authorize(_ signature: [UInt8]?, of bytes: [UInt8], key: SigningPublicKey?) throws(ExchangeFailure) {
    guard let signature else { throw .refused(.auth) }
    guard (key ?? decoy).isValid(signature: signature, for: bytes), key != nil else { throw .refused(.auth) }
  }

  func authorize(_ request: RelayRequest, key: SigningPublicKey?) throws(ExchangeFailure) {
    try authorize(request.signature, of: request.signedBytes, key: key)
  }

  /// `isOpen`: anyone may make such requests to the mailbox.
  func takeShare(of entity: RelayIdentifier?, isOpen: Bool) throws(ExchangeFailure) {
    let exchange = CurrentExchange.value
    guard let entity, !exchange.isTrusted else { return }
    guard admit(exchange.share(of: entity, isOpen: isOpen)) else { throw .limited }
  }

  func tell(_ names: [String]) {
    if !names.isEmpty { onNews(names) }
  }

  // MARK: Listeners

  /// Marks the listener as reachable: pushes wait a moment for it.
  public func attach(_ listener: String) { listeners.noteSignOfLife(listener) }

  /// Marks the listener as unreachable for now: pushes do not wait for it.
  public func detach(_ listener: String) { pushAgain(listeners.noteAbsence(listener)) }

  /// Ends the subscriptions of these listeners.
  public func forget(_ names: [String]) {
    let (last, left) = listeners.forget(names)
    for key in last { store.answersHold(key, false) }
    pushAgain(left)
  }
}

extension ClusteredRelay: ClusterListener {
  public func received(_ signal: ClusterSignal) {
    switch signal {
    case .message(let key, let message): tell(listeners.note(message: message, in: key))
    case .notification(let service): tell(listeners.listeners(of: service))
    }
  }

  public func missed() { tell(listeners.invalidate()) }
  public func hold(_ key: String) -> Int64 { listeners.hold(key) }
  public func keptBody(_ key: String, _ message: [UInt8]) -> [UInt8]? {
    accepted.body(of: message, key, now: ports.clock.now())
  }
}

/// What mailboxes' shares depend on.
private enum CurrentExchange {
  @TaskLocal static var value = RelayService.Exchange(request: [])
}

/// Why an exchange has no other answer.
enum ExchangeFailure: Error {
  /// The client's mistake, or bad luck.
  case refused(RelayError)
  case limited
  /// The cluster did not answer.
  case failed(String)
  /// Concerns only this request or its mailbox (`ClusterFailure.isOwn`).
  case own(String)
  /// A node is out of room, and has done nothing. If it no longer leads, the leader may have.
  case full(String)

  init(_ failure: ClusterFailure) {
    self =
      if failure.lacksRoom { .full(failure.description) } else if failure.isOwn { .own(failure.description) } else {
        .failed(failure.description)
      }
  }
}

/// Calls the cluster, and converts its failure.
func asking<Value: Sendable>(
  _ body: () async throws(ClusterFailure) -> Value
) async throws(ExchangeFailure) -> Value {
  do throws(ClusterFailure) { return try await body() } catch { throw ExchangeFailure(error) }
}

extension RelayCommand {
  /// Whether it stores messages, or finds them expired.
  fileprivate var dependsOnTime: Bool {
    switch self {
    case .send, .getMessage, .getMessageWithAge, .acknowledge, .acknowledgeAndGet, .subscribe, .check, .checkByKeys,
      .listen, .arrivals, .subscribeNotifiers, .notifications, .dueNotifications,
      .acknowledgeAndGetNotifications:
      true
    case .createMailbox, .secureMailbox, .deleteMailbox, .shareCheckKeys, .enableNotifier, .disableNotifier,
      .acknowledgeNotifications:
      false
    }
  }
}
