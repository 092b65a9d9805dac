import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// Requests to the relay and the notification server about subscriptions. Those to the server are collected, so that
/// one covers many connections (SimpleX's batches). Threads: the engine's.
final class SubscriptionRequests {
  typealias Raise = ([SubscriptionEvent]) -> Void

  private let context: EngineContext
  private unowned let host: any TokensHost
  private let server: ServerRequests
  private let queued: QueuedRequests
  private let retries: Retries
  /// Raises events on the machines of their connections.
  private let raise: Raise
  /// What the next request to the server names.
  private var toSubscribe: [Int64] = []
  private var toCheck: [Int64] = []

  init(
    _ context: EngineContext, host: any TokensHost, server: ServerRequests, queued: QueuedRequests, retries: Retries,
    raise: @escaping Raise
  ) {
    self.context = context
    self.host = host
    self.server = server
    self.queued = queued
    self.retries = retries
    self.raise = raise
  }

  /// The relay was closed: collected requests are made after the next start, and so are those in progress.
  func giveUp() {
    toSubscribe = []
    toCheck = []
  }

  // MARK: At the relay

  func enableNotifier(_ id: Int64) {
    guard let connection = connection(id, ifUnreadable: .notifierFailedTemporary) else { return }
    guard let mailbox = RelayIdentifier(bytes: connection.recipientID), let key = connection.notifierKey,
      let boxKey = connection.notifierBoxKey
    else { return raise([SubscriptionEvent(event: .notifierFailedPermanent, connectionID: id)]) }
    let publicKey = key.publicKey
    askRelay(id, publicKey, ifLost: .notifierLost) { (client) throws(RelayError) in
      try client.enableNotifier(
        mailbox, key: connection.recipientKey, notifierKey: publicKey, boxKey: boxKey.publicKey)
    } then: { (result: Result<RelayClient.Notifier, RelayError>) in
      switch result {
      case .success(let notifier):
        guard let secret = try? boxKey.agree(with: notifier.relayBoxKey) else {
          return (.notifierFailedPermanent, .none)
        }
        return (.notifierEnabled, .notifier(id: notifier.identifier.bytes, secret: secret))
      case .failure(let error):
        return (error.isTemporary ? .notifierFailedTemporary : .notifierFailedPermanent, .none)
      }
    }
  }

  func disableNotifier(_ id: Int64) {
    guard let connection = connection(id, ifUnreadable: .releaseFailedTemporary) else { return }
    guard let key = connection.notifierKey, let mailbox = RelayIdentifier(bytes: connection.recipientID) else {
      return raise([SubscriptionEvent(event: .turnedOff, connectionID: id)])
    }
    askRelay(id, key.publicKey, ifLost: .releaseLost) { (client) throws(RelayError) in
      try client.disableNotifier(mailbox, key: connection.recipientKey)
    } then: { result in
      switch result {
      case .failure(let error) where error.isTemporary: (.releaseFailedTemporary, .none)
      // The relay no longer knows the mailbox, nor its notifier.
      case .success, .failure: (.turnedOff, .none)
      }
    }
  }

  private func askRelay<Value: Sendable>(
    _ id: Int64, _ key: SigningPublicKey, ifLost lost: SubscriptionMachine.Event,
    _ work: @escaping RelayDriver.Work<Value>,
    then event: @escaping (Result<Value, RelayError>) -> (SubscriptionMachine.Event, SubscriptionNews)
  ) {
    let relay = host.relayIdentifier
    FaultPoint.reach(.notifierAsked)
    host.withRelay(host.askingKind, work) { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.notifierAnswered)
      if case .failure(.closed) = result { return self.raise(lost, at: [id], key: key, unlessClosed: relay) }
      let (event, news) = event(result)
      self.raise([SubscriptionEvent(event: event, connectionID: id, key: key, news: news)])
    }
  }

  /// A request was not started, or was given up. If its relay was closed, the next start finds it in the store.
  private func raise(
    _ lost: SubscriptionMachine.Event, at identifiers: [Int64], key: SigningPublicKey? = nil, unlessClosed relay: Int?
  ) {
    guard relay != nil, relay == host.relayIdentifier else { return }
    raise(identifiers.map { SubscriptionEvent(event: lost, connectionID: $0, key: key) })
  }

  // MARK: At the server

  /// Has the server watch this connection, along with others. While the process comes to rest, no answer can be
  /// awaited: the request is left to the relay, and the server acts on it. The next start asks again, and the server
  /// reports that it has it.
  func subscribe(_ id: Int64) {
    toSubscribe.append(id)
    if host.admits(.notifications) { askSoon() } else { leaveToServer() }
  }

  private func leaveToServer() {
    guard host.maySend, let store = context.store else { return }
    do throws(StoreError) {
      guard let due = try due(store) else { return }
      try store.transaction { () throws(StoreError) in
        for batch in batches(toSubscribe, due.connections) {
          try server.queue(.subscribe(token: due.tokenID, Self.credentials(batch)), of: due.token, store)
        }
      }
      toSubscribe = []
      queued.send()
    } catch {
      context.log(.info, "a subscription waits for the next start", ["error": error.description])
    }
  }

  private static func credentials(_ batch: [StoredConnection]) -> [NotifierCredentials] {
    batch.compactMap { connection in
      guard let notifier = connection.notifierID, let key = connection.notifierKey else { return nil }
      return NotifierCredentials(notifier: notifier, key: key)
    }
  }

  /// Has the server check this connection, along with others.
  func check(_ id: Int64) {
    toCheck.append(id)
    askSoon()
  }

  /// Asks in the next turn, so that one request covers everything from one turn.
  private func askSoon() {
    context.timers.set(TimerName.announce, after: .zero) { [weak self] in self?.askServer() }
  }

  /// Asks now for what the next turn would ask.
  func askWhatIsDue() {
    if context.timers.isSet(TimerName.announce) { askServer() }
  }

  private func askServer() {
    let found = retries.read(
      orLater: TimerName.announce, { [weak self] in self?.askServer() },
      { (store) throws(StoreError) in try self.due(store) })
    guard let due = found else { return }
    let (subscribe, check) = (toSubscribe, toCheck)
    giveUp()
    // Useless before the token is active; that triggers them again.
    guard let due else {
      raise(.subscribeLost, at: subscribe, unlessClosed: host.relayIdentifier)
      return raise(.checkLost, at: check, unlessClosed: host.relayIdentifier)
    }
    let (token, id) = (due.token, due.tokenID)
    for batch in batches(subscribe, due.connections) {
      let command = ServerRequest.Command.subscribe(token: id, Self.credentials(batch))
      ask(command, token, batch, event: Self.subscribed, ifLost: .subscribeLost) {
        $0.isTemporary ? .subscribeFailedTemporary : .subscribeFailedPermanent
      }
    }
    for batch in batches(check, due.connections) {
      let check = ServerRequest.Command.checkSubscriptions(token: id, batch.compactMap(\.notifierID))
      ask(check, token, batch, event: Self.checked, ifLost: .checkLost) { _ in .checkFailedTemporary }
    }
  }

  /// The data for asking the server.
  private struct Due {
    let token: StoredToken
    let tokenID: [UInt8]
    /// The collected connections that still exist.
    let connections: [Int64: StoredConnection]
  }

  private func due(_ store: Store) throws(StoreError) -> Due? {
    guard let token = try store.token(), try token.wantsSubscriptions(), let tokenID = token.serverTokenID else {
      return nil
    }
    var connections = [Int64: StoredConnection]()
    for id in toSubscribe + toCheck {
      do throws(StoreError) { connections[id] = try store.connection(id) } catch .notFound {} catch .damaged {}
    }
    return Due(token: token, tokenID: tokenID, connections: connections)
  }

  /// Batches of as many connections as a request may name.
  private func batches(_ identifiers: [Int64], _ found: [Int64: StoredConnection]) -> [[StoredConnection]] {
    let connections = identifiers.compactMap { found[$0] }
    return stride(from: 0, to: connections.count, by: ServerRequest.maximumBatch).map {
      Array(connections[$0..<min(connections.count, $0 + ServerRequest.maximumBatch)])
    }
  }

  private static func subscribed(_ status: PorterPush.SubscriptionStatus) -> SubscriptionMachine.Event {
    switch status {
    case .refused, .end, .deleted: .subscribeAuthError
    case .failed: .subscribeFailedPermanent
    case .new, .pending, .active, .inactive: .subscribeOk
    }
  }

  private static func checked(_ status: PorterPush.SubscriptionStatus) -> SubscriptionMachine.Event {
    switch status {
    case .new: .checkNew
    case .pending: .checkPending
    case .active: .checkActive
    case .inactive: .checkInactive
    case .end, .deleted, .refused, .failed: .checkEnded
    }
  }

  private func ask(
    _ command: ServerRequest.Command, _ token: StoredToken, _ connections: [StoredConnection],
    event: @escaping (PorterPush.SubscriptionStatus) -> SubscriptionMachine.Event,
    ifLost lost: SubscriptionMachine.Event,
    ifFailed: @escaping (ServerFailure) -> SubscriptionMachine.Event
  ) {
    let relay = host.relayIdentifier
    server.ask(command, of: token) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let answer):
        FaultPoint.reach(.subscriptionAnswered)
        let statuses = answer.statuses
        let events = connections.map { connection in
          // A server that leaves a connection out has not answered about it.
          let status = connection.notifierID.flatMap { statuses[$0] }
          return Self.event(status.map(event) ?? ifFailed(.unexpected), connection)
        }
        self.raise(events)
      case .failure(.relay(.closed)): self.raise(lost, at: connections.map(\.id), unlessClosed: relay)
      case .failure(let failure): self.raise(connections.map { Self.event(ifFailed(failure), $0) })
      }
    }
  }

  private static func event(_ event: SubscriptionMachine.Event, _ connection: StoredConnection) -> SubscriptionEvent {
    SubscriptionEvent(event: event, connectionID: connection.id, key: connection.notifierKey?.publicKey)
  }

  /// The connection, if it still exists.
  private func connection(_ id: Int64, ifUnreadable event: SubscriptionMachine.Event) -> StoredConnection? {
    do throws(StoreError) {
      return try context.store?.connection(id)
    } catch .notFound {
      return nil
    } catch {
      raise([SubscriptionEvent(event: event, connectionID: id)])
      return nil
    }
  }
}

extension ServerAnswer {
  /// By notifier; empty for an answer to another request.
  fileprivate var statuses: [[UInt8]: PorterPush.SubscriptionStatus] {
    guard case .subscriptions(let states) = result else { return [:] }
    return Dictionary(states.map { ($0.notifier, $0.status) }, uniquingKeysWith: { $1 })
  }
}
