import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// The argument is the connection's id. A connection that was deleted meanwhile needs nothing.
extension Subscriptions: SubscriptionEffects {
  // MARK: At the relay

  func enableNotifier(_ id: Int64) {
    guard let connection = connection(id), let mailbox = RelayIdentifier(bytes: connection.recipientID),
      let key = connection.notifierKey, let boxKey = connection.notifierBoxKey
    else { return }
    let ticket = underWay.begin(id)
    host.withRelay(.notifications) { (client) throws(RelayError) in
      try client.enableNotifier(
        mailbox, key: connection.recipientKey, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.underWay.end(ticket)
      switch result {
      case .success(let notifier):
        guard let secret = try? boxKey.agree(with: notifier.relayBoxKey) else {
          return self.raise(.notifierFailedPermanent, id)
        }
        self.raise(.notifierEnabled, id, .notifier(id: notifier.identifier.bytes, secret: secret))
      case .failure(.closed): break
      case .failure(let error):
        self.raise(error.isTemporary ? .notifierFailedTemporary : .notifierFailedPermanent, id)
      }
    }
  }

  func disableNotifier(_ id: Int64) {
    // Otherwise asked at the next start.
    guard mayAsk, let connection = connection(id), connection.notifierKey != nil,
      let mailbox = RelayIdentifier(bytes: connection.recipientID)
    else { return }
    guard !underWay.contains(id) else { return scheduleRetry(id) }
    // Meanwhile the mailbox is given no other notifier, which this request would remove.
    let ticket = underWay.begin(id)
    host.withRelay(.notifications) { (client) throws(RelayError) in
      try client.disableNotifier(mailbox, key: connection.recipientKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.underWay.end(ticket)
      switch result {
      case .failure(.closed): break
      case .failure(let error) where error.isTemporary: self.scheduleRetry(id)
      // The relay no longer knows the mailbox, so the notifier is already gone.
      case .success, .failure: self.raise(.turnedOff, id)
      }
    }
  }

  // MARK: At the server

  func subscribeAtServer(_ id: Int64) { scheduleQuestions() }

  func checkAtServer(_ id: Int64) {
    unchecked.insert(id)
    scheduleQuestions()
  }

  /// At the end of the turn, so that those of one turn go in one request.
  private func scheduleQuestions() {
    guard context.role == .app else { return }
    context.timers.set(TimerName.announce, after: .zero) { [weak self] in self?.askServer() }
  }

  /// Asks now what the end of the turn would ask.
  func askWhatIsDue() {
    if context.timers.isSet(TimerName.announce) { askServer() }
  }

  private func askServer() {
    let found = retries.read(
      orLater: TimerName.announce, { [weak self] in self?.askServer() },
      { (store) throws(StoreError) -> Due? in try self.due(store) })
    // Of no use before the token is active; then `create` comes here again.
    guard case .some(.some(let due)) = found else { return }
    let (token, id) = (due.token, due.tokenID)
    for batch in batches(due.subscribe) {
      let credentials = batch.compactMap { connection -> NotifierCredentials? in
        guard let notifier = connection.notifierID, let key = connection.notifierKey else { return nil }
        return NotifierCredentials(notifier: notifier, key: key)
      }
      ask(.subscribe(token: id, credentials), token, batch, event: Self.subscribed) {
        $0.isTemporary ? .subscribeFailedTemporary : .subscribeFailedPermanent
      }
    }
    unchecked.formIntersection(due.created)
    for batch in batches(unchecked.sorted()) {
      ask(.checkSubscriptions(token: id, batch.compactMap(\.notifierID)), token, batch, event: Self.checked) { _ in
        .checkFailedTemporary
      }
    }
  }

  /// What the server is to be asked.
  private struct Due {
    let token: StoredToken
    let tokenID: [UInt8]
    let subscribe: [Int64]
    /// All that the server has.
    let created: [Int64]
  }

  private func due(_ store: Store) throws(StoreError) -> Due? {
    guard try wantsAny(store), let token = try store.token(), let tokenID = token.serverTokenID else { return nil }
    var created: [Int64] = []
    for state in SubscriptionMachine.State.allCases where state.isCreated {
      created += try store.connectionIDs(subscription: state.name)
    }
    let subscribe = try store.connectionIDs(subscription: SubscriptionMachine.State.key.name)
    return Due(token: token, tokenID: tokenID, subscribe: subscribe, created: created)
  }

  /// Those of them about which nothing is being asked, as many in one as a request may name.
  private func batches(_ identifiers: [Int64]) -> [[StoredConnection]] {
    let connections = identifiers.filter { !underWay.contains($0) }.compactMap { connection($0) }
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
    ifFailed: @escaping (ServerFailure) -> SubscriptionMachine.Event
  ) {
    let identifiers = connections.map(\.id)
    let ticket = underWay.begin(identifiers)
    requests.ask(command, of: token) { [weak self] result in
      guard let self else { return }
      self.underWay.end(ticket)
      switch result {
      case .success(let answer):
        self.unchecked.subtract(identifiers)
        guard case .subscriptions(let states) = answer.result else { return }
        for state in states {
          guard let connection = connections.first(where: { $0.notifierID == state.notifier }) else { continue }
          self.raise(event(state.status), connection.id)
        }
      case .failure(.relay(.closed)): break
      case .failure(let failure): for id in identifiers { self.raise(ifFailed(failure), id) }
      }
    }
  }

  // MARK: The other effects

  /// An extension leaves them to the app.
  func sendQueued(_ id: Int64) {
    if context.role == .app { queued.send() }
  }

  func subscribeAgain(_ id: Int64) { ensure() }

  /// In a day, counted from the first answer since the last check: new connections do not put it off.
  func scheduleCheck(_ id: Int64) {
    retries.reset(TimerName.subscriptions)
    guard !context.timers.isSet(TimerName.subscriptionCheck) else { return }
    context.timers.set(TimerName.subscriptionCheck, after: .days(1)) { [weak self] in self?.check() }
  }

  func scheduleRetry(_ id: Int64) {
    retries.retry(TimerName.subscriptions) { [weak self] in self?.retry() }
  }

  func reportError(_ id: Int64) {
    context.log(.warning, "a push subscription was refused", ["connection": String(id)])
  }

  /// The connection, if it is still there; asked for again later if it cannot be read now.
  private func connection(_ id: Int64) -> StoredConnection? {
    do throws(StoreError) {
      return try context.store?.connection(id)
    } catch .notFound {
      return nil
    } catch {
      scheduleRetry(id)
      return nil
    }
  }
}
