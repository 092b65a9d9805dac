import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// What the relay and the notification server are asked about the subscriptions. Requests to the server are gathered, so
/// that many connections go in one (SimpleX's batches). Threads: the engine's.
final class SubscriptionRequests {
  typealias Raise = (SubscriptionMachine.Event, Int64, SubscriptionNews) -> Void

  private let context: EngineContext
  private unowned let host: any TokensHost
  private let server: ServerRequests
  private let retries: Retries
  /// Raises an event at a connection's machine.
  private let raise: Raise
  /// Has what got no answer asked again.
  private let retryLater: () -> Void
  /// Connections about which the relay or the server is being asked.
  private var underWay = UnderWay<Int64>()
  /// Connections whose check the server has not answered. Not stored, since each start checks all.
  private var unchecked: Set<Int64> = []

  init(
    _ context: EngineContext, host: any TokensHost, server: ServerRequests, retries: Retries, raise: @escaping Raise,
    retryLater: @escaping () -> Void
  ) {
    self.context = context
    self.host = host
    self.server = server
    self.retries = retries
    self.raise = raise
    self.retryLater = retryLater
  }

  func isUnderWay(_ id: Int64) -> Bool { underWay.contains(id) }
  func isUnchecked(_ id: Int64) -> Bool { unchecked.contains(id) }

  /// The requests under way ended with the relay. The next start asks again.
  func giveUp() {
    underWay.giveUp()
    unchecked.removeAll()
  }

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
          return self.raise(.notifierFailedPermanent, id, .none)
        }
        self.raise(.notifierEnabled, id, .notifier(id: notifier.identifier.bytes, secret: secret))
      case .failure(.closed): break
      case .failure(let error):
        self.raise(error.isTemporary ? .notifierFailedTemporary : .notifierFailedPermanent, id, .none)
      }
    }
  }

  func disableNotifier(_ id: Int64) {
    guard let connection = connection(id), connection.notifierKey != nil,
      let mailbox = RelayIdentifier(bytes: connection.recipientID)
    else { return }
    guard !underWay.contains(id) else { return retryLater() }
    // Meanwhile the mailbox is given no other notifier, which this request would remove.
    let ticket = underWay.begin(id)
    host.withRelay(.notifications) { (client) throws(RelayError) in
      try client.disableNotifier(mailbox, key: connection.recipientKey)
    } then: { [weak self] result in
      guard let self else { return }
      self.underWay.end(ticket)
      switch result {
      case .failure(.closed): break
      case .failure(let error) where error.isTemporary: self.retryLater()
      // The relay no longer knows the mailbox, so the notifier is already gone.
      case .success, .failure: self.raise(.turnedOff, id, .none)
      }
    }
  }

  // MARK: At the server

  /// Has the server check this one, with others.
  func check(_ id: Int64) {
    unchecked.insert(id)
    askSoon()
  }

  /// Asks in the next turn, so that those of one turn go in one request.
  func askSoon() {
    guard context.role == .app else { return }
    context.timers.set(TimerName.announce, after: .zero) { [weak self] in self?.askServer() }
  }

  /// Asks now what the next turn would ask.
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
    guard let token = try store.token(), try token.wantsSubscriptions(), let tokenID = token.serverTokenID else {
      return nil
    }
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
    server.ask(command, of: token) { [weak self] result in
      guard let self else { return }
      self.underWay.end(ticket)
      switch result {
      case .success(let answer):
        self.unchecked.subtract(identifiers)
        guard case .subscriptions(let states) = answer.result else { return }
        for state in states {
          guard let connection = connections.first(where: { $0.notifierID == state.notifier }) else { continue }
          self.raise(event(state.status), connection.id, .none)
        }
      case .failure(.relay(.closed)): break
      case .failure(let failure): for id in identifiers { self.raise(ifFailed(failure), id, .none) }
      }
    }
  }

  /// The connection, if it is still there; asked about again later if it cannot be read now.
  private func connection(_ id: Int64) -> StoredConnection? {
    do throws(StoreError) {
      return try context.store?.connection(id)
    } catch .notFound {
      return nil
    } catch {
      retryLater()
      return nil
    }
  }
}
