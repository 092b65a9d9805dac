import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

typealias SubscriptionMachine = PorterMachines.Subscription

/// One push subscription for each connection: a notifier at the relay, which the notification server gets.
///
/// Owns the machine `subscription`, whose state is stored with the connection, and the requests under way. Threads: the
/// engine's.
final class Subscriptions {
  private typealias Driver = RecordedMachineDriver<SubscriptionMachine, Int64>

  private let context: EngineContext
  private unowned let host: any TokensHost
  private let server: ServerRequests
  private let queued: QueuedRequests
  private let retries: Retries
  private lazy var driver = Driver(context.machines) { [unowned self] effect, id in
    SubscriptionMachine.perform(effect, by: self, id)
  }
  private lazy var requests = SubscriptionRequests(
    context, host: host, server: server, retries: retries, raise: { [unowned self] in raise($0, $1, $2) },
    retryLater: { [unowned self] in retryLater() })

  init(
    _ context: EngineContext, host: any TokensHost, server: ServerRequests, queued: QueuedRequests, retries: Retries
  ) {
    self.context = context
    self.host = host
    self.server = server
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
  private func check() {
    guard host.maySend, context.role == .app,
      let connections = retries.read(
        orLater: TimerName.subscriptionCheck, { [weak self] in self?.check() }, wanted)
    else { return }
    for (connection, state) in idle(connections) where state.isCreated { raise(.checkDue, connection.id) }
  }

  /// Asks the relay again to drop those that were turned off while it could not be asked, or by another process.
  private func release() {
    guard mayAsk,
      let due = retries.read(
        orLater: TimerName.releases, { [weak self] in self?.release() },
        { (store) throws(StoreError) in try store.connectionsToRelease() })
    else { return }
    for connection in due { disableNotifier(connection.id) }
  }

  /// Asks again for what got no answer: the check of one that the server has, else the next step towards it.
  private func retry() {
    guard host.maySend else { return }
    release()
    guard
      let connections = retries.read(
        orLater: TimerName.subscriptions, { [weak self] in self?.retry() }, wanted)
    else { return }
    for (connection, state) in idle(connections) where state != .off {
      if !state.isCreated {
        raise(.create, connection.id)
      } else if requests.isUnchecked(connection.id) {
        raise(.checkDue, connection.id)
      }
    }
  }

  /// Only the app asks by itself, and only with a relay.
  private var mayAsk: Bool { host.maySend && context.role == .app && host.relayIdentifier != nil }

  /// Connections that are to have a subscription.
  private func wanted(_ store: Store) throws(StoreError) -> [StoredConnection] {
    try store.token()?.wantsSubscriptions() ?? false ? store.connections() : []
  }

  /// Those about which nothing is being asked, with their states. One whose state is damaged is left out, and its
  /// neighbours are not (INC-44).
  private func idle(_ connections: [StoredConnection]) -> [(StoredConnection, SubscriptionMachine.State)] {
    connections.compactMap { connection in
      guard !requests.isUnderWay(connection.id) else { return nil }
      do throws(StoreError) { return (connection, try SubscriptionMachine.State(of: connection)) } catch {
        noteDamage(connection.id)
        return nil
      }
    }
  }

  /// Asks the server now what the next turn would ask.
  func askWhatIsDue() { requests.askWhatIsDue() }

  func relayWasClosed() { requests.giveUp() }

  private func retryLater() {
    retries.retry(TimerName.subscriptions) { [weak self] in self?.retry() }
  }

  // MARK: Steps

  private func raise(_ event: SubscriptionMachine.Event, _ id: Int64, _ news: SubscriptionNews = .none) {
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
    let recorder = SubscriptionRecorder(context: context, requests: server, store: store)
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

// MARK: - The effects

/// The argument is the connection's id. A connection that was deleted meanwhile needs nothing.
extension Subscriptions: SubscriptionEffects {
  func enableNotifier(_ id: Int64) { requests.enableNotifier(id) }

  /// Otherwise asked at the next start of the app.
  func disableNotifier(_ id: Int64) {
    if mayAsk { requests.disableNotifier(id) }
  }

  /// The server is asked about all of this state.
  func subscribeAtServer(_ id: Int64) { requests.askSoon() }

  func checkAtServer(_ id: Int64) { requests.check(id) }

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

  func scheduleRetry(_ id: Int64) { retryLater() }

  func reportError(_ id: Int64) {
    context.log(.warning, "a push subscription was refused", ["connection": String(id)])
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
