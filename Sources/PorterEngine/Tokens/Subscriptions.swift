import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// One push subscription for each connection: a notifier at the relay, handed on to the notification server. Carries
/// out the effects of the machine `subscription`. Requests to the server are gathered, so that many connections go in
/// one (SimpleX's batches).
extension Engine {
  typealias SubscriptionMachine = PorterMachines.Subscription

  /// Brings the subscriptions of all connections to where the token wants them. Safe to call at any time: what is done
  /// already is checked, what failed is tried again (INC-67, INC-68).
  func ensureSubscriptions() {
    guard maySend, configuration.role == .app, let store, relay != nil, wantsSubscriptions,
      let connections = try? store.connections()
    else { return }
    for connection in connections where !announcing.contains(connection.id) {
      switch state(connection) {
      case .createdNew, .createdPending, .createdActive, .createdInactive: break
      case .new, .key, .off, .deleted: raise(.create, connection)
      }
    }
  }

  /// Asks the server about those that it has, once at each start (INC-64).
  func checkSubscriptions() {
    guard maySend, configuration.role == .app, wantsSubscriptions, let connections = try? store?.connections() else {
      return
    }
    for connection in connections where !announcing.contains(connection.id) {
      switch state(connection) {
      case .createdNew, .createdPending, .createdActive, .createdInactive: raise(.checkDue, connection)
      case .new, .key, .off, .deleted: break
      }
    }
  }

  private var wantsSubscriptions: Bool {
    guard let token = try? store?.token() else { return false }
    return tokenState(token) == .active && token.mode == NotificationMode.instant.rawValue
  }

  /// The token is gone, or wants no pushes for single messages.
  func forgetSubscriptions() {
    guard let connections = try? store?.connections() else { return }
    for connection in connections where connection.notifierKey != nil { raise(.turnOff, connection) }
  }

  private func state(_ connection: StoredConnection) -> SubscriptionMachine.State {
    .init(name: connection.subscription) ?? .new
  }

  private func raise(_ event: SubscriptionMachine.Event, _ connection: StoredConnection) {
    // What other steps have written meanwhile counts, not what the caller read earlier.
    guard let connection = try? store?.connection(connection.id) else { return }
    let step = SubscriptionMachine.step(state(connection), event)
    log(.debug, "subscription", ["connection": String(connection.id), "event": event.name, "state": step.next.name])
    for effect in step.effects { perform(effect, next: step.next, connection.id) }
  }

  private func perform(_ effect: SubscriptionMachine.Effect, next: SubscriptionMachine.State, _ id: Int64) {
    guard let store, let connection = try? store.connection(id) else { return }
    switch effect {
    case .makeNotifierKeys: makeNotifierKeys(connection, store)
    case .enableNotifier: enableNotifier(connection)
    // Written together with the notifier's id, by what enabled it.
    case .saveNotifier: break
    case .saveStatus: try? store.setSubscription(connectionID: id, next.name)
    case .subscribeAtServer: toSubscribe.append(id)
    case .checkAtServer: toCheck.append(id)
    case .releaseAtServer: release(connection, next)
    case .scheduleCheck: break
    case .scheduleRetry:
      timers.set(TimerName.subscriptions, after: .seconds(5)) { [weak self] in self?.ensureSubscriptions() }
    case .reportError: log(.warning, "a push subscription was refused", ["connection": String(id)])
    case .deleteRecord: break
    }
    if !toSubscribe.isEmpty || !toCheck.isEmpty {
      timers.set(TimerName.announce, after: .zero) { [weak self] in self?.askServerAboutSubscriptions() }
    }
  }

  // MARK: At the relay

  private func makeNotifierKeys(_ connection: StoredConnection, _ store: Store) {
    guard let key = try? newSigningKey(), let box = try? BoxKeyPair.generate(randomness: configuration.randomness)
    else {
      return
    }
    try? store.setNotifierKeys(connectionID: connection.id, key: key, boxKey: box.secretKey)
  }

  private func enableNotifier(_ connection: StoredConnection) {
    guard let mailbox = RelayIdentifier(bytes: connection.recipientID), let key = connection.notifierKey,
      let boxKey = connection.notifierBoxKey
    else { return }
    announcing.insert(connection.id)
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.enableNotifier(
        mailbox, key: connection.recipientKey, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.announcing.remove(connection.id)
      switch result {
      case .success(let notifier):
        guard let secret = try? boxKey.agree(with: notifier.relayBoxKey) else {
          return self.raise(.notifierFailedPermanent, connection)
        }
        try? self.store?.setNotifier(
          connectionID: connection.id, id: notifier.identifier.bytes, secret: secret,
          subscription: connection.subscription)
        self.raise(.notifierEnabled, connection)
      case .failure(.closed): break
      case .failure(let error):
        self.raise(error.isTemporary ? .notifierFailedTemporary : .notifierFailedPermanent, connection)
      }
    }
  }

  private func release(_ connection: StoredConnection, _ next: SubscriptionMachine.State) {
    if let token = try? store?.token(), let id = token.serverTokenID, let notifier = connection.notifierID {
      ask(.unsubscribe(token: id, [notifier]), of: token, within: Durations.serverAnswer) { _ in }
    }
    try? store?.clearNotifier(connectionID: connection.id, subscription: next.name)
    guard let mailbox = RelayIdentifier(bytes: connection.recipientID) else { return }
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.disableNotifier(mailbox, key: connection.recipientKey)
    } then: { [weak self] result in
      if case .success = result { self?.raise(.turnedOff, connection) }
    }
  }

  // MARK: At the server

  func askServerAboutSubscriptions() {
    let (subscribe, check) = (toSubscribe, toCheck)
    toSubscribe.removeAll()
    toCheck.removeAll()
    guard let store, let token = try? store.token(), let id = token.serverTokenID else { return }
    for batch in Self.batches(subscribe) {
      let connections = batch.compactMap { try? store.connection($0) }
      let credentials = connections.compactMap { connection -> NotifierCredentials? in
        guard let notifier = connection.notifierID, let key = connection.notifierKey else { return nil }
        return NotifierCredentials(notifier: notifier, key: key)
      }
      askServer(.subscribe(token: id, credentials), token, connections) { status in
        switch status {
        case .refused, .end, .deleted: .subscribeAuthError
        case .failed: .subscribeFailedPermanent
        case .new, .pending, .active, .inactive: .subscribeOk
        }
      } ifFailed: {
        $0.isTemporary ? .subscribeFailedTemporary : .subscribeFailedPermanent
      }
    }
    for batch in Self.batches(check) {
      let connections = batch.compactMap { try? store.connection($0) }
      askServer(.checkSubscriptions(token: id, connections.compactMap(\.notifierID)), token, connections) { status in
        switch status {
        case .new: .checkNew
        case .pending: .checkPending
        case .active: .checkActive
        case .inactive: .checkInactive
        case .end, .deleted, .refused, .failed: .checkEnded
        }
      } ifFailed: { _ in
        .checkFailedTemporary
      }
    }
  }

  private static func batches(_ identifiers: [Int64]) -> [ArraySlice<Int64>] {
    stride(from: 0, to: identifiers.count, by: ServerRequest.maximumBatch).map {
      identifiers[$0..<min(identifiers.count, $0 + ServerRequest.maximumBatch)]
    }
  }

  private func askServer(
    _ command: ServerRequest.Command, _ token: StoredToken, _ connections: [StoredConnection],
    event: @escaping (PorterPush.SubscriptionStatus) -> SubscriptionMachine.Event,
    ifFailed: @escaping (ServerFailure) -> SubscriptionMachine.Event
  ) {
    let identifiers = connections.map(\.id)
    announcing.formUnion(identifiers)
    ask(command, of: token, within: Durations.serverAnswer) { [weak self] result in
      guard let self else { return }
      self.announcing.subtract(identifiers)
      switch result {
      case .success(let answer):
        guard case .subscriptions(let states) = answer.result else { return }
        for state in states {
          guard let connection = connections.first(where: { $0.notifierID == state.notifier }) else { continue }
          self.raise(event(state.status), connection)
        }
      case .failure(.relay(.closed)): break
      case .failure(let failure): for connection in connections { self.raise(ifFailed(failure), connection) }
      }
    }
  }
}
