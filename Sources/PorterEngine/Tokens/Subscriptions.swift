import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

typealias SubscriptionMachine = PorterMachines.Subscription

/// One push subscription per connection: a notifier at the relay, which is given to the notification server.
///
/// Owns the machine `subscription`, whose state is stored with the connection, including requests in progress. Threads:
/// the engine's.
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
    context, host: host, server: server, queued: queued, retries: retries, raise: { [unowned self] in raise($0) })
  private lazy var reports = SubscriptionReports(context)
  /// The relay carrying the current requests. Requests stored as in progress with another one are lost.
  private var relay: Int?
  /// Events whose transaction failed.
  private var unstored: [SubscriptionEvent] = []

  init(
    _ context: EngineContext, host: any TokensHost, server: ServerRequests, queued: QueuedRequests, retries: Retries
  ) {
    self.context = context
    self.host = host
    self.server = server
    self.queued = queued
    self.retries = retries
  }

  /// Reports what could not be reported earlier, for example because the store was closed.
  func reportStatuses() { reports.report() }

  // MARK: What is wanted

  /// Brings the subscriptions of all connections to the state the token and the user require. Safe to call at any time:
  /// anything done or in progress is left alone, and failures are retried (INC-67, INC-68). So subscriptions for what
  /// the user mutes or hides are released by the next start if the process ends first, or if it was an extension.
  func ensure() {
    guard isReadyToAsk,
      let wishes = retries.read(
        orLater: TimerName.allSubscriptions, { [weak self] in self?.ensure() }, wishes)
    else { return }
    raise(.turnOff, at: wishes.unwanted.filter { $0.notifierKey != nil }) { $0.isToBeReleased }
    raise(.create, at: wishes.wanted) { $0.isDue || $0.isOff }
  }

  /// At a start: releases subscriptions that are turned off, creates missing ones, and checks the rest.
  func takeUpWork() {
    guard isReadyToAsk else { return }
    // After the steps for lost requests.
    context.steps.post { [weak self] in
      self?.release()
      self?.ensure()
      self?.check()
    }
  }

  /// Whether this process asks now. If a relay was opened since, requests stored as in progress are first marked lost:
  /// this is the only process that asks, and its requests end with their relay.
  private var isReadyToAsk: Bool {
    guard mayAsk, relay != host.relayIdentifier else { return mayAsk }
    let found = retries.read(
      orLater: TimerName.lostRequests, { [weak self] in self?.takeUpWork() },
      { (store) throws(StoreError) in
        var lost: [SubscriptionEvent] = []
        for state in SubscriptionMachine.State.allCases {
          guard let event = state.lost else { continue }
          lost += try store.connectionIDs(subscription: state.name).map { .init(event: event, connectionID: $0) }
        }
        return lost
      })
    guard let lost = found else { return false }
    relay = host.relayIdentifier
    raise(lost)
    return true
  }

  /// Asks the server about the subscriptions it has, at each start and once a day (INC-64).
  private func check() {
    guard isReadyToAsk,
      let connections = retries.read(
        orLater: TimerName.subscriptionCheck, { [weak self] in self?.check() }, wanted)
    else { return }
    raise(.checkDue, at: connections) { $0.isAtServer }
  }

  /// Asks the relay to drop subscriptions turned off while it could not be asked, or by another process.
  private func release() {
    guard isReadyToAsk,
      let due = retries.read(
        orLater: TimerName.releases, { [weak self] in self?.release() },
        { (store) throws(StoreError) in try store.connectionIDs(subscription: SubscriptionMachine.State.turningOff.name)
        })
    else { return }
    raise(due.map { SubscriptionEvent(event: .releaseDue, connectionID: $0) })
  }

  /// Repeats unanswered requests.
  private func retry() {
    guard isReadyToAsk else { return }
    release()
    guard
      let connections = retries.read(
        orLater: TimerName.subscriptions, { [weak self] in self?.retry() }, wanted)
    else { return }
    raise(.create, at: connections) { $0.isDue }
    raise(.checkDue, at: connections) { $0 == .unchecked }
  }

  /// Only the app asks on its own, and only with a relay.
  private var mayAsk: Bool { host.maySend && context.role == .app && host.relayIdentifier != nil }

  /// Connections that should have a subscription, and those that should not: all of them unless the mode is instant,
  /// and those the user has muted or hidden. A push for one of these that arrives while the store cannot be read would
  /// be shown as one about something unknown. While a token waits for its code or its repair, existing subscriptions
  /// stay as they are: the server has them when the token works again.
  private func wishes(
    _ store: Store
  ) throws(StoreError) -> (wanted: [StoredConnection], unwanted: [StoredConnection]) {
    guard let token = try store.token() else { return ([], try store.connections()) }
    switch NotificationMode(rawValue: token.mode) {
    // From a later version.
    case nil: return ([], [])
    case .periodic: return ([], try store.connections())
    case .instant: break
    }
    let silenced = try store.silencedConnectionIDs()
    let connections = try store.connections()
    let wanted = try token.wantsSubscriptions() ? connections.filter { !silenced.contains($0.id) } : []
    return (wanted, connections.filter { silenced.contains($0.id) })
  }

  private func wanted(_ store: Store) throws(StoreError) -> [StoredConnection] { try wishes(store).wanted }

  /// Raises the event on connections in a matching state. One with a damaged state is left out, but its neighbours are
  /// not (INC-44).
  private func raise(
    _ event: SubscriptionMachine.Event, at connections: [StoredConnection],
    where isMeant: (SubscriptionMachine.State) -> Bool
  ) {
    raise(
      connections.compactMap { connection in
        guard let state = try? SubscriptionMachine.State(of: connection) else {
          noteDamage(connection.id)
          return nil
        }
        return isMeant(state) ? SubscriptionEvent(event: event, connectionID: connection.id) : nil
      })
  }

  /// Asks the server now for what the next turn would ask.
  func askWhatIsDue() { requests.askWhatIsDue() }

  func relayWasClosed() {
    requests.giveUp()
    unstored = []
    relay = nil
  }

  private func retryLater() {
    retries.retry(TimerName.subscriptions) { [weak self] in self?.retry() }
  }

  // MARK: Steps

  /// Takes all the steps in transactions of bounded size: checking a thousand connections does not cause a thousand
  /// transactions, and none of them keeps other processes waiting for a long time.
  private func raise(_ events: [SubscriptionEvent]) {
    for start in stride(from: 0, to: events.count, by: Self.stepsAtOnce) {
      let some = Array(events[start..<min(events.count, start + Self.stepsAtOnce)])
      context.steps.post { [weak self] in self?.step(some) }
    }
  }

  private static let stepsAtOnce = 48

  private func step(_ events: [SubscriptionEvent]) {
    guard let store = context.store else { return }
    do throws(StoreError) {
      let steps =
        try self.isRecorded(events, store)
        ? try store.transaction { () throws(StoreError) in try self.take(events, store) }
        : try self.take(events, store)
      for taken in steps { driver.carryOut(taken) }
    } catch {
      context.log(.warning, "push subscriptions were not stored", ["error": error.description])
      unstored += events
      retries.later(TimerName.unstored) { [weak self] in self?.raiseUnstored() }
    }
  }

  /// Answers come once: one that could not be stored is not requested again while its state says it is awaited.
  private func raiseUnstored() {
    let events = unstored
    unstored = []
    raise(events)
  }

  private func isRecorded(_ events: [SubscriptionEvent], _ store: Store) throws(StoreError) -> Bool {
    for event in events {
      guard let connection = try connection(of: event, store) else { continue }
      if Driver.isRecorded(event.event, in: try SubscriptionMachine.State(of: connection)) { return true }
    }
    return false
  }

  private func take(_ events: [SubscriptionEvent], _ store: Store) throws(StoreError) -> [Driver.Taken] {
    var steps: [Driver.Taken] = []
    for event in events {
      // The connection as other steps have written it since counts, not as it was read when the event was raised.
      guard let connection = try connection(of: event, store) else { continue }
      steps.append(try take(event.event, connection, event.news, store))
    }
    return steps
  }

  /// Nil if the event no longer applies: the connection was deleted, its record is damaged, or it has another notifier
  /// key.
  private func connection(of event: SubscriptionEvent, _ store: Store) throws(StoreError) -> StoredConnection? {
    do throws(StoreError) {
      let connection = try store.connection(event.connectionID)
      _ = try SubscriptionMachine.State(of: connection)
      if let key = event.key, connection.notifierKey?.publicKey != key { return nil }
      return connection
    } catch .notFound {
      reports.forget(event.connectionID)
      return nil
    } catch .damaged {
      noteDamage(event.connectionID)
      return nil
    }
  }

  /// Takes a step in the caller's transaction, which may be the one ending a connection. Its other effects are carried
  /// out after the commit.
  func record(
    _ event: SubscriptionMachine.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) {
    let taken = try take(event, connection, .none, store)
    store.afterCommit { [driver] in driver.post(taken) }
  }

  /// Applies the token's step to every existing subscription. Part of that step's transaction.
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
      var change = SubscriptionRecorder.Change(event: event, connection: connection, news: news)
      try SubscriptionMachine.record(step, by: recorder, &change)
    }
  }

  private func noteDamage(_ id: Int64) {
    context.log(.error, "a push subscription is damaged", ["connection": String(id)])
  }
}

// MARK: - The effects

/// The argument is the connection's id. Nothing is done for a connection deleted in the meantime.
extension Subscriptions: SubscriptionEffects {
  func enableNotifier(_ id: Int64) { requests.enableNotifier(id) }
  func disableNotifier(_ id: Int64) { requests.disableNotifier(id) }
  func subscribeAtServer(_ id: Int64) { requests.subscribe(id) }
  func checkAtServer(_ id: Int64) { requests.check(id) }

  /// If it cannot ask now, this happens at the next start of the app.
  func requestRelease(_ id: Int64) {
    if isReadyToAsk { raise([SubscriptionEvent(event: .releaseDue, connectionID: id)]) }
  }

  /// An extension leaves them to the app.
  func sendQueued(_ id: Int64) {
    if context.role == .app { queued.send() }
  }

  func subscribeAgain(_ id: Int64) { ensure() }

  /// In a day, counted from the first answer since the last check: new connections do not postpone it.
  func scheduleCheck(_ id: Int64) {
    retries.reset(TimerName.subscriptions)
    guard !context.timers.isSet(TimerName.subscriptionCheck) else { return }
    context.timers.set(TimerName.subscriptionCheck, after: .days(1)) { [weak self] in self?.check() }
  }

  func scheduleRetry(_ id: Int64) { retryLater() }

  func reportStatus(_ id: Int64) {
    guard let state = state(id), let status = SubscriptionStatus(state) else { return }
    reports.add(status, of: id)
  }

  func reportError(_ id: Int64) {
    context.log(.warning, "a push subscription was refused", ["connection": String(id)])
    reports.add(.removed(reason: state(id) == .key ? "refused by the server" : "refused by the relay"), of: id)
  }

  private func state(_ id: Int64) -> SubscriptionMachine.State? {
    guard let connection = try? context.store?.connection(id) else { return nil }
    return try? SubscriptionMachine.State(of: connection)
  }
}

extension SubscriptionMachine.State {
  /// Throws for a state unknown to this version: mistaken for another, it would be worked on and overwritten.
  init(of connection: StoredConnection) throws(StoreError) {
    guard let state = Self(name: connection.subscription) else { throw .damaged(.connection) }
    self = state
  }

  /// Whether the next step towards a subscription is due to be requested.
  var isDue: Bool {
    switch self {
    case .new, .key: true
    case .enabling, .subscribing, .createdNew, .createdPending, .createdActive, .createdInactive, .checking, .unchecked,
      .turningOff, .releasing, .off, .deleted:
      false
    }
  }

  /// The event to raise when no answer will come; nil where none is awaited.
  var lost: SubscriptionMachine.Event? {
    switch self {
    case .enabling: .notifierLost
    case .subscribing: .subscribeLost
    case .checking: .checkLost
    case .releasing: .releaseLost
    case .new, .key, .createdNew, .createdPending, .createdActive, .createdInactive, .unchecked, .turningOff, .off,
      .deleted:
      nil
    }
  }

  /// As far as is known, the server has it.
  var isAtServer: Bool {
    switch self {
    case .createdNew, .createdPending, .createdActive, .createdInactive, .unchecked: true
    case .new, .enabling, .key, .subscribing, .checking, .turningOff, .releasing, .off, .deleted: false
    }
  }

  /// Whether a turnOff has any effect.
  var isToBeReleased: Bool {
    switch self {
    case .new, .enabling, .key, .subscribing, .createdNew, .createdPending, .createdActive, .createdInactive, .checking,
      .unchecked:
      true
    case .turningOff, .releasing, .off, .deleted: false
    }
  }

  var isOff: Bool {
    switch self {
    case .turningOff, .off: true
    case .new, .enabling, .key, .subscribing, .createdNew, .createdPending, .createdActive, .createdInactive, .checking,
      .unchecked, .releasing, .deleted:
      false
    }
  }
}
