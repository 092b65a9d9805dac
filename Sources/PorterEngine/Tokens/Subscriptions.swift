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
  /// already is left alone, what failed is tried again (INC-67, INC-68).
  func ensureSubscriptions() {
    guard maySend, configuration.role == .app, relay != nil,
      let connections = read(
        wantedConnections, orLater: TimerName.allSubscriptions, Engine.ensureSubscriptions)
    else { return }
    for (connection, state) in known(connections) where !Self.isCreated(state) { raise(.create, connection) }
  }

  /// Asks the server about those that it has, at each start and once a day (INC-64).
  func checkSubscriptions() {
    guard maySend, configuration.role == .app,
      let connections = read(wantedConnections, orLater: TimerName.subscriptionCheck, Engine.checkSubscriptions)
    else { return }
    for (connection, state) in known(connections) where Self.isCreated(state) { raise(.checkDue, connection) }
  }

  private func wantsSubscriptions(_ store: Store) throws(StoreError) -> Bool {
    guard let token = try store.token() else { return false }
    return try tokenState(token) == .active && token.mode == NotificationMode.instant.rawValue
  }

  /// Those that a push is wanted for.
  private func wantedConnections(_ store: Store) throws(StoreError) -> [StoredConnection] {
    try wantsSubscriptions(store) ? store.connections() : []
  }

  /// What the token's step means for every subscription there is. Part of that step's transaction.
  func recordForAll(_ event: SubscriptionMachine.Event, _ store: Store) throws(StoreError) {
    for connection in try store.connections() where connection.notifierKey != nil {
      do throws(StoreError) {
        try record(event, connection, store)
      } catch .damaged(.connection) {
        log(.error, "a push subscription is damaged", ["connection": String(connection.id)])
      }
    }
  }

  /// Throws for a state that this version does not know: taken for another, it would be worked on, and overwritten.
  private func state(_ connection: StoredConnection) throws(StoreError) -> SubscriptionMachine.State {
    guard let state = SubscriptionMachine.State(name: connection.subscription) else { throw .damaged(.connection) }
    return state
  }

  /// Those about which nothing is being asked, with their states. One whose state is damaged is left out, and its
  /// neighbours are not (INC-44).
  private func known(_ connections: [StoredConnection]) -> [(StoredConnection, SubscriptionMachine.State)] {
    connections.compactMap { connection in
      guard !announcing.contains(connection.id) else { return nil }
      do throws(StoreError) { return (connection, try state(connection)) } catch {
        log(.error, "a push subscription is damaged", ["connection": String(connection.id)])
        return nil
      }
    }
  }

  private static func isCreated(_ state: SubscriptionMachine.State) -> Bool {
    switch state {
    case .createdNew, .createdPending, .createdActive, .createdInactive: true
    case .new, .key, .off, .deleted: false
    }
  }

  // MARK: Steps

  /// What the relay answered, for the effect that puts it on record.
  private typealias Granted = (id: [UInt8], secret: BoxSharedKey)

  private func raise(_ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ granted: Granted? = nil) {
    do throws(StoreError) {
      // What other steps have written meanwhile counts, not what the caller read earlier.
      guard let store else { return }
      var step = SubscriptionMachine.step(try state(try store.connection(connection.id)), event)
      if step.effects.contains(where: Self.isRecorded) {
        step = try store.transaction { () throws(StoreError) in
          try self.record(event, try store.connection(connection.id), granted, store)
        }
      }
      for effect in step.effects { perform(effect, connection.id) }
    } catch .notFound {
      // Deleted meanwhile.
    } catch {
      log(.warning, "a push subscription was not put on record", ["error": error.description])
    }
  }

  /// Takes a step, and carries out what of it is on record. Part of the caller's transaction, which may be that of
  /// whatever ends the connection; what is left to do then is found by `releaseNotifiers` and `flushServerRequests`.
  func record(
    _ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) { _ = try record(event, connection, nil, store) }

  private func record(
    _ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ granted: Granted?, _ store: Store
  ) throws(StoreError) -> MachineStep<SubscriptionMachine> {
    let step = SubscriptionMachine.step(try state(connection), event)
    log(.debug, "subscription", ["connection": String(connection.id), "event": event.name, "state": step.next.name])
    for effect in step.effects {
      switch effect {
      case .makeNotifierKeys: try makeNotifierKeys(connection, store)
      case .saveNotifier:
        if let granted { try store.setNotifier(connectionID: connection.id, id: granted.id, secret: granted.secret) }
      case .saveStatus: try store.setSubscription(connectionID: connection.id, step.next.name)
      case .releaseAtServer: try queueRelease(connection, store)
      case .forgetNotifier: try store.clearNotifier(connectionID: connection.id)
      case .deleteRecord: try store.deleteConnection(connection.id)
      case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer, .scheduleCheck, .scheduleRetry,
        .reportError:
        break
      }
    }
    return step
  }

  private static func isRecorded(_ effect: SubscriptionMachine.Effect) -> Bool {
    switch effect {
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .releaseAtServer, .forgetNotifier, .deleteRecord: true
    case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer, .scheduleCheck, .scheduleRetry,
      .reportError:
      false
    }
  }

  private func perform(_ effect: SubscriptionMachine.Effect, _ id: Int64) {
    switch effect {
    // On record, by the step.
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .releaseAtServer, .forgetNotifier, .deleteRecord: break
    case .enableNotifier: enableNotifier(id)
    case .disableNotifier: disableNotifier(id)
    case .subscribeAtServer: toSubscribe.append(id)
    case .checkAtServer: toCheck.append(id)
    case .scheduleCheck: scheduleSubscriptionCheck()
    case .scheduleRetry: retrySubscription(id)
    case .reportError: log(.warning, "a push subscription was refused", ["connection": String(id)])
    }
    if !toSubscribe.isEmpty || !toCheck.isEmpty {
      timers.set(TimerName.announce, after: .zero) { [weak self] in self?.askServerAboutSubscriptions() }
    }
  }

  // MARK: Later

  /// In a day, counted from the first answer since the last check: new connections do not put it off.
  private func scheduleSubscriptionCheck() {
    backoffs.pushSubscriptions.reset()
    guard !timers.isSet(TimerName.subscriptionCheck) else { return }
    timers.set(TimerName.subscriptionCheck, after: .days(1)) { [weak self] in self?.checkSubscriptions() }
  }

  private func retrySubscription(_ id: Int64) {
    toRetry.insert(id)
    retry(TimerName.subscriptions, \.pushSubscriptions, Engine.retrySubscriptions)
  }

  /// Asks again for what got no answer: the check of one that the server has, else the next step towards it.
  private func retrySubscriptions() {
    guard maySend else { return toRetry.removeAll() }
    releaseNotifiers()
    guard let connections = read(wantedConnections, orLater: TimerName.subscriptions, Engine.retrySubscriptions) else {
      return
    }
    let due = toRetry
    toRetry.removeAll()
    for (connection, state) in known(connections.filter { due.contains($0.id) }) where state != .off {
      raise(Self.isCreated(state) ? .checkDue : .create, connection)
    }
  }

  /// The connection, if it is still there; asked again later if that cannot be read now.
  private func connection(_ id: Int64) -> StoredConnection? {
    do throws(StoreError) {
      return try store?.connection(id)
    } catch .notFound {
      return nil
    } catch {
      retrySubscription(id)
      return nil
    }
  }

  // MARK: At the relay

  private func makeNotifierKeys(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let key = try? newSigningKey(), let box = try? BoxKeyPair.generate(randomness: configuration.randomness)
    else { throw .damaged(.connection) }
    try store.setNotifierKeys(connectionID: connection.id, key: key, boxKey: box.secretKey)
  }

  private func enableNotifier(_ id: Int64) {
    guard let connection = connection(id), let mailbox = RelayIdentifier(bytes: connection.recipientID),
      let key = connection.notifierKey, let boxKey = connection.notifierBoxKey
    else { return }
    let ticket = announcing.begin(id)
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.enableNotifier(
        mailbox, key: connection.recipientKey, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.announcing.end(ticket)
      switch result {
      case .success(let notifier):
        guard let secret = try? boxKey.agree(with: notifier.relayBoxKey) else {
          return self.raise(.notifierFailedPermanent, connection)
        }
        self.raise(.notifierEnabled, connection, (notifier.identifier.bytes, secret))
      case .failure(.closed): break
      case .failure(let error):
        self.raise(error.isTemporary ? .notifierFailedTemporary : .notifierFailedPermanent, connection)
      }
    }
  }

  private func disableNotifier(_ id: Int64) {
    guard let connection = connection(id), let mailbox = RelayIdentifier(bytes: connection.recipientID) else { return }
    guard !announcing.contains(id) else { return retrySubscription(id) }
    // Nobody gives the mailbox another notifier meanwhile, which this request would take away.
    let ticket = announcing.begin(id)
    withRelay(.notifications) { (client) throws(RelayError) in
      try client.disableNotifier(mailbox, key: connection.recipientKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.announcing.end(ticket)
      switch result {
      case .failure(.closed): break
      case .failure(let error) where error.isTemporary: self.retrySubscription(id)
      // A relay that does not know the mailbox has let go of it as well.
      case .success, .failure:
        self.raise(.turnedOff, connection)
        self.ensureSubscriptions()
      }
    }
  }

  /// Tells the relay of those that were turned off while it could not be told, or in a transaction of something else.
  func releaseNotifiers() {
    guard maySend, configuration.role == .app, relay != nil,
      let due = read(
        { (store) throws(StoreError) in try store.connectionsToRelease() }, orLater: TimerName.releases,
        Engine.releaseNotifiers)
    else { return }
    for connection in due { disableNotifier(connection.id) }
  }

  /// Part of the caller's transaction: whatever happens afterwards, the server hears of it.
  private func queueRelease(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let notifier = connection.notifierID, let token = try store.token(), let id = token.serverTokenID,
      let mailbox = token.replyMailbox, let sealed = try? seal(.unsubscribe(token: id, [notifier]), token, mailbox)
    else { return }
    try store.insertServerRequest(
      mailbox: sealed.mailbox, body: sealed.body, deduplication: configuration.randomness.bytes(RelayIdentifier.count))
  }

  // MARK: At the server

  func askServerAboutSubscriptions() {
    let found = read(
      { (store) throws(StoreError) -> StoredToken? in
        try self.wantsSubscriptions(store) ? store.token() : nil
      }, orLater: TimerName.announce, Engine.askServerAboutSubscriptions)
    guard let found else { return }
    let (subscribe, check) = (toSubscribe, toCheck)
    toSubscribe.removeAll()
    toCheck.removeAll()
    // Of no use before the token is active; then `create` comes here again.
    guard let token = found, let id = token.serverTokenID else { return }
    for batch in Self.batches(subscribe) {
      let connections = batch.compactMap { connection($0) }
      guard !connections.isEmpty else { continue }
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
      let connections = batch.compactMap { connection($0) }
      guard !connections.isEmpty else { continue }
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
    let ticket = announcing.begin(connections.map(\.id))
    ask(command, of: token, within: Durations.serverAnswer) { [weak self] result in
      guard let self else { return }
      self.announcing.end(ticket)
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
