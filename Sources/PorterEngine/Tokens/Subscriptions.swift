import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

typealias SubscriptionMachine = PorterMachines.Subscription

/// One push subscription for each connection: a notifier at the relay, which the notification server gets. Requests to the
/// server are gathered, so that many connections go in one (SimpleX's batches).
///
/// Owns the machine `subscription`, whose state is stored with the connection. Threads: the engine's.
final class Subscriptions {
  private typealias Driver = RecordedMachineDriver<SubscriptionMachine, Int64>

  let context: EngineContext
  unowned let host: any TokensHost
  let requests: ServerRequests
  let queued: QueuedRequests
  let retries: Retries
  private lazy var driver = Driver(context.machines) { [unowned self] effect, id in
    SubscriptionMachine.perform(effect, by: self, id)
  }
  /// Connections about whose subscription the relay or the server is being asked.
  var underWay = UnderWay<Int64>()
  /// Connections whose check the server has not answered. Not stored, since each start checks all.
  var unchecked: Set<Int64> = []

  init(
    _ context: EngineContext, host: any TokensHost, requests: ServerRequests, queued: QueuedRequests, retries: Retries
  ) {
    self.context = context
    self.host = host
    self.requests = requests
    self.queued = queued
    self.retries = retries
  }

  // MARK: What is wanted

  /// Brings the subscriptions of all connections to where the token wants them. Safe to call at any time: what is done
  /// already is left alone, what failed is tried again (INC-67, INC-68).
  func ensure() {
    guard mayAsk,
      let connections = retries.read(
        orLater: TimerName.allSubscriptions, { [weak self] in self?.ensure() }, wanted)
    else { return }
    for (connection, state) in idle(connections) where !state.isCreated { raise(.create, connection.id) }
  }

  /// At a start: releases what is turned off, makes what is missing, and checks the rest.
  func takeUpWork() {
    release()
    ensure()
    check()
  }

  /// Asks the server about those that it has, at each start and once a day (INC-64).
  func check() {
    guard host.maySend, context.role == .app,
      let connections = retries.read(
        orLater: TimerName.subscriptionCheck, { [weak self] in self?.check() }, wanted)
    else { return }
    for (connection, state) in idle(connections) where state.isCreated { raise(.checkDue, connection.id) }
  }

  /// Asks the relay again to drop those that were turned off while it could not be asked, or by another process.
  func release() {
    guard mayAsk,
      let due = retries.read(
        orLater: TimerName.releases, { [weak self] in self?.release() },
        { (store) throws(StoreError) in try store.connectionsToRelease() })
    else { return }
    for connection in due { disableNotifier(connection.id) }
  }

  /// Asks again for what got no answer: the check of one that the server has, else the next step towards it.
  func retry() {
    guard host.maySend else { return }
    release()
    guard
      let connections = retries.read(
        orLater: TimerName.subscriptions, { [weak self] in self?.retry() }, wanted)
    else { return }
    for (connection, state) in idle(connections) where state != .off {
      if !state.isCreated {
        raise(.create, connection.id)
      } else if unchecked.contains(connection.id) {
        raise(.checkDue, connection.id)
      }
    }
  }

  /// Only the app asks by itself, and only with a relay.
  var mayAsk: Bool { host.maySend && context.role == .app && host.relayIdentifier != nil }

  func wantsAny(_ store: Store) throws(StoreError) -> Bool {
    guard let token = try store.token() else { return false }
    return try TokenMachine.State(of: token) == .active && token.mode == NotificationMode.instant.rawValue
  }

  /// Connections that are to have a subscription.
  private func wanted(_ store: Store) throws(StoreError) -> [StoredConnection] {
    try wantsAny(store) ? store.connections() : []
  }

  /// Those about which nothing is being asked, with their states. One whose state is damaged is left out, and its
  /// neighbours are not (INC-44).
  private func idle(_ connections: [StoredConnection]) -> [(StoredConnection, SubscriptionMachine.State)] {
    connections.compactMap { connection in
      guard !underWay.contains(connection.id) else { return nil }
      do throws(StoreError) { return (connection, try SubscriptionMachine.State(of: connection)) } catch {
        noteDamage(connection.id)
        return nil
      }
    }
  }

  /// The requests under way were given up with the relay. The next start asks again.
  func relayWasClosed() {
    underWay.giveUp()
    unchecked.removeAll()
  }

  // MARK: Steps

  func raise(_ event: SubscriptionMachine.Event, _ id: Int64, _ news: SubscriptionNews = .none) {
    context.steps.post { [weak self] in self?.step(event, id, news) }
  }

  private func step(_ event: SubscriptionMachine.Event, _ id: Int64, _ news: SubscriptionNews) {
    do throws(StoreError) {
      guard let store = context.store else { return }
      // What other steps have written meanwhile counts, not what was read when the event was raised.
      let state = try SubscriptionMachine.State(of: try store.connection(id))
      guard Driver.isRecorded(event, in: state) else {
        return driver.carryOut(driver.take(event, of: String(id), in: state, id))
      }
      let taken = try store.transaction { () throws(StoreError) in
        try self.take(event, try store.connection(id), news, store)
      }
      driver.carryOut(taken)
    } catch .notFound {
      // Deleted meanwhile.
    } catch {
      context.log(.warning, "a push subscription was not stored", ["error": error.description])
    }
  }

  /// Takes a step in the caller's transaction, which may be that of the end of a connection. Its other effects are carried
  /// out after the commit.
  func record(
    _ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) {
    let taken = try take(event, connection, .none, store)
    store.afterCommit { [driver] in driver.post(taken) }
  }

  /// What the token's step means for every subscription there is. Part of that step's transaction.
  func recordForAll(_ event: SubscriptionMachine.Event, _ store: Store) throws(StoreError) {
    for connection in try store.connections() where connection.notifierKey != nil {
      do throws(StoreError) {
        try record(event, connection, store)
      } catch .damaged(.connection) {
        noteDamage(connection.id)
      }
    }
  }

  private func take(
    _ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ news: SubscriptionNews, _ store: Store
  ) throws(StoreError) -> Driver.Taken {
    let recorder = SubscriptionRecorder(context: context, requests: requests, store: store)
    let state = try SubscriptionMachine.State(of: connection)
    return try driver.take(event, of: String(connection.id), in: state, connection.id) {
      (step, _) throws(StoreError) in
      var change = SubscriptionRecorder.Change(connection: connection, news: news)
      try SubscriptionMachine.record(step, by: recorder, &change)
    }
  }

  private func noteDamage(_ id: Int64) {
    context.log(.error, "a push subscription is damaged", ["connection": String(id)])
  }
}

extension SubscriptionMachine.State {
  /// Throws for a state that this version does not know: taken for another, it would be worked on, and overwritten.
  init(of connection: StoredConnection) throws(StoreError) {
    guard let state = Self(name: connection.subscription) else { throw .damaged(.connection) }
    self = state
  }

  /// The server has it.
  var isCreated: Bool {
    switch self {
    case .createdNew, .createdPending, .createdActive, .createdInactive: true
    case .new, .key, .off, .deleted: false
    }
  }
}
