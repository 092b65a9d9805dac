import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// Everything behind one controller: creates the parts and connects them. Each part owns its state and its machines;
/// see the README of this target.
///
/// Threads: used in its turns only.
package final class Engine {
  let context: EngineContext
  let turns: any Turns
  let phaseFile: PhaseFile
  private(set) lazy var peers = PeerLink(context, host: self)
  private(set) lazy var lifecycle = Lifecycle(context, phaseFile: phaseFile, peers: peers, work: self)
  private(set) lazy var relayLink = RelayLink(context, turns: turns, lifecycle: lifecycle, host: self)
  private(set) lazy var connections = Connections(context, lifecycle: lifecycle, relay: relayLink, work: self)
  private(set) lazy var sender = Sender(
    context, lifecycle: lifecycle, relay: relayLink, connections: connections, changes: changes,
    mayBegin: { [unowned self] in pushes.admitsSending })
  private(set) lazy var disappearing = Disappearing(context, lifecycle: lifecycle, changes: changes)
  private(set) lazy var joiner = Joiner(
    context, lifecycle: lifecycle, relay: relayLink, connections: connections, sender: sender)
  private(set) lazy var requests = ContactRequests(
    context, lifecycle: lifecycle, joiner: joiner, connections: connections, changes: changes)
  private lazy var screenEvents = ScreenEvents(context)
  private(set) lazy var screen = ScreenPresentation(
    context, lifecycle: lifecycle, strings: strings, events: screenEvents)
  private(set) lazy var withdrawals = ScreenWithdrawals(
    context, lifecycle: lifecycle, strings: strings, events: screenEvents)
  private lazy var takenEvents = TakenEvents(context)
  private(set) lazy var scopes: Scopes = Scopes(context) { [unowned self] in changes.emit($0, of: $1) }
  private(set) lazy var changes: CommittedChanges = CommittedChanges(
    context, screen: screen, turns: turns, scopes: scopes, takenEvents: takenEvents,
    contactLeft: { [unowned self] in connections.reportEnded() },
    announce: { [unowned self] in peers.announceChange() })
  private(set) lazy var source: any Source =
    configuration.makeSource?(self)
    ?? MailboxSource(
      context, relay: relayLink, connections: connections, sender: sender, requests: requests, calls: calls,
      scopes: scopes, disappearing: disappearing, isNamedByPush: { [unowned self] in pushes.name($0) })
  private(set) lazy var claims = ConnectionClaims(context, peers: peers, source: source, changes: changes)
  private(set) lazy var mailboxWatch = MailboxWatch(context, claims)
  private(set) lazy var committer = MessageCommitter(
    context, peers: peers, source: source, claims: claims, changes: changes, connections: connections, screen: screen)
  private(set) lazy var receiver = Receiver(
    context,
    Receiver.Parts(
      lifecycle: lifecycle, source: source, claims: claims, watch: mailboxWatch, committer: committer, sender: sender,
      rang: { [unowned self] in pushes.callCommitted($0) }, isNamedByPush: { [unowned self] in pushes.name($0) },
      foundEmpty: { [unowned self] in reportMissed() }))

  private(set) lazy var tokens = Tokens(context, host: self)
  private(set) lazy var strings = NotificationStrings(context)
  private(set) lazy var calls: Calls = Calls(
    context, lifecycle: lifecycle, connections: connections, sender: sender, changes: changes, turns: turns,
    takenEvents: takenEvents, isOnScreen: { [unowned self] in screen.isVisible })
  private(set) lazy var pushes = PushRunner(self)
  private(set) lazy var responses: Responses = {
    let responses = Responses(
      context, lifecycle: lifecycle, peers: peers, host: self, turns: turns, takenEvents: takenEvents)
    responses.contactRequests = requests
    return responses
  }()
  private lazy var startingWork = PiecewiseWork(clock: configuration.clock) { [unowned self] in context.later($0) }
  private(set) lazy var refresh = Refresh(context, lifecycle: lifecycle) { [unowned self] in pushes.expireAll() }

  init(
    configuration: Configuration, turns: any Turns, queue: EventQueue, stop: StopSignal, statusBoard: StatusBoard
  ) {
    self.turns = turns
    let (timers, storeAccess) = (Timers(clock: configuration.clock), StoreAccess())
    context = EngineContext(
      configuration: configuration, instance: Instance(configuration.ports), timers: timers, steps: StepQueue(),
      events: queue, stop: stop, board: statusBoard, storeAccess: storeAccess, deferred: DeferredWork(stop: stop),
      retries: Retries(timers: timers, storeAccess: storeAccess, log: configuration.log))
    phaseFile = PhaseFile(prefix: configuration.prefix, role: configuration.role.rawValue, ports: configuration.ports)
  }

  var configuration: Configuration { context.configuration }
  var instance: Instance { context.instance }
  var timers: Timers { context.timers }
  var queue: EventQueue { context.events }
  var stop: StopSignal { context.stop }
  var statusBoard: StatusBoard { context.board }
  var store: Store? { context.store }
  var isMain: Bool { lifecycle.isMain }

  // MARK: For commands and tokens

  var maySend: Bool { lifecycle.maySend }

  func admits(_ kind: OperationKind) -> Bool { lifecycle.operations.admits(kind) }

  func begin(_ kind: OperationKind) -> Operation? { lifecycle.operations.begin(kind) }

  func requireStarted() throws(ChatError) { try lifecycle.requireStarted() }

  func requireNetwork() throws(ChatError) { try lifecycle.requireNetwork() }

  var relay: RelayDriver? { relayLink.driver }
  var relayName: String { relayLink.name }

  func withRelay<Value: Sendable>(
    _ kind: OperationKind, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    relayLink.perform(kind, work, then: then)
  }

  func lookForReplies<Value: Sendable>(
    _ work: @escaping RelayDriver.Work<Value>, then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    relayLink.perform(.notifications, about: .init(isForReplies: true), work, then: then)
  }

  func later(_ work: @escaping () -> Void) { context.later(work) }

  func newSigningKey() throws(ChatError) -> SigningKeyPair { try context.newSigningKey() }

  // MARK: Events and log

  func emit(_ event: Event) { context.emit(event) }

  func log(_ level: Log.Level, _ message: StaticString, _ values: KeyValuePairs<StaticString, String> = [:]) {
    configuration.log(level, message, values)
  }

  // MARK: Turns

  // The channel's descriptor, which the engine waits for between turns.
  var channelDescriptor: Int32? { peers.descriptor }
  func channelHasNews() { peers.receive() }

  /// Called when all work caused by one job, timer or wake-up is done.
  func endTurn() -> Bool { lifecycle.endTurn() }

  /// The last turn.
  func end() {
    lifecycle.end()
    relayLink.reportClosed()
    context.deferred.runAll()
    queue.close()
  }

  /// The relay woke this process: it names the mailboxes that have something.
  func relayHasNews() {
    guard relayLink.takeNews() else { return }
    if isMain { receiver.takeNews() }
    tokens.takeReplies()
  }
}

extension Engine: LifecycleWork {
  func beginWatchingChanges() throws(StoreError) {
    try changes.beginWatching()
    if let store { withdrawals.beginWatching(store) }
    if isMain { tokens.subscriptions.reportStatuses() }
  }

  func openRelay() { relayLink.open() }

  func closeRelay(mayDoze: Bool) { relayLink.close(mayDoze: mayDoze) }
  func closeDozingRelay() { relayLink.closeDozing() }
  var hasDozingRelay: Bool { relayLink.isDozing }

  /// Starts all work that a main run does on its own.
  func takeUpWork() {
    let pieces: [(Engine) -> Void] = [
      { $0.receiver.listenToAll() }, { $0.tokens.takeReplies() }, { $0.joiner.finishLeft() },
      { $0.requests.takeUpWork() }, { $0.sender.flush() }, { $0.disappearing.takeUp() },
      { $0.connections.deleteMailboxes() }, { $0.tokens.takeUpWork() },
    ]
    takeUp(storedWork + (isMain ? pieces : []))
  }

  /// Each piece reads the store.
  private func takeUp(_ pieces: [(Engine) -> Void]) {
    startingWork.begin(pieces.map { piece in { [unowned self] in piece(self) } })
  }

  /// Reports and shows the contents of the store, and carries out the user's responses to notifications.
  private var storedWork: [(Engine) -> Void] {
    [{ $0.changes.report() }, { $0.changes.showWhatWaits() }, { $0.withdrawals.reportAnew() }]
      + (isMain ? [{ $0.takeUpCalls() }] : [])
  }

  /// Carries out the user's responses to notifications before calls are reported: a call that was rejected or accepted
  /// does not ring in the host.
  private func takeUpCalls() {
    // First: expired calls are neither sent nor answered.
    calls.expireDue()
    responses.applyWaiting()
    // The responses are carried out in steps that come before this one.
    context.steps.post { [weak self] in self?.calls.takeUpWork() }
  }

  func callAnswerHasEnded() {
    context.steps.post { [weak self] in self?.calls.takeUpWork() }
  }

  func takeUpWithoutSubscribing() { takeUp(storedWork + [{ $0.receiver.polling.resume() }]) }

  func stopReceiving() {
    startingWork.end()
    tokens.stopReceiving()
    for name in TimerName.work { timers.cancel(name) }
  }

  func storeWillClose() { claims.forgetAll() }

  func showCalls() {
    guard let store else { return }
    // Even if everything must be released now.
    context.stop.withReleaseBudget(Durations.releaseBudget) {
      calls.expireDue()
      screen.showCalls(in: store)
    }
  }

  func appPhaseChanged(to phase: AppPhase.State) {
    refresh.phaseChanged(to: phase)
    withdrawals.phaseChanged()
  }
}

extension Engine: TokensHost {
  var relayIdentifier: Int? { relay?.identifier }
}

extension Engine: PeerLinkHost {
  /// An extension leaves its push to an app on screen that answers. One that cannot reach the relay would show nothing,
  /// so it is silent; an extension may have more luck, or says that something has come.
  var answersQuestions: Bool {
    phaseFile.isHeld && (receiver.isInReach || configuration.role != .app || !screen.isVisible || !isMain)
  }

  /// The relay may not have told this process of what the push is about: it may wait to try again, without a connection
  /// to the relay, while the device has one again.
  ///
  /// Nor may it have heard of what an extension has committed.
  func extensionHasPush() {
    guard isMain, phaseFile.isHeld else { return }
    reportMissed()
    receiver.takeNews()
  }

  /// Reports what another process has committed, if its message about that was lost.
  private func reportMissed() {
    guard lifecycle.isStarted, !startingWork.isUnderWay else { return }
    changes.report()
  }

  func appAsksToYield(_ app: Owner) {
    if !pushes.yieldToApp(app) { lifecycle.yieldToApp() }
  }

  /// Claims may no longer hold, and new entries must be reported to the host.
  func storeChanged() {
    guard lifecycle.isStarted else { return }
    claims.suspectAll()
    guard !startingWork.isUnderWay else { return startingWork.repeatAfterwards() }
    changes.report()
    takeUpCalls()
    if isMain {
      requests.takeUpWork()
      disappearing.takeUp()
    }
    sender.flush()
  }
}

extension Engine {
  /// The host has taken events. Called for whichever part last asked for room: others may wait for it too.
  func eventQueueHasRoom() {
    changes.report()
    calls.emitEvents(())
  }
}

extension Engine: RelayLinkHost {
  func relayOpenedLate() { takeUpWork() }

  func relayHasClosed() {
    sender.relayHasClosed()
    joiner.relayHasClosed()
    requests.relayHasClosed()
    receiver.relayHasClosed()
    if let end = tokens.relayWasClosed() { relayLink.afterClosing(end) }
  }
}

extension Engine: ConnectionWork {
  func recordMailboxGone(contactID: Int64, _ store: Store) throws(StoreError) {
    try requests.noteMailboxGone(contactID: contactID, store)
  }

  func recordContactLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    try calls.contactHasLeft(connection, store)
    try disappearing.contactHasLeft(connection, store)
  }

  func beginReceiving(_ connection: StoredConnection) {
    receiver.listen(to: [connection])
    tokens.subscriptions.ensure()
  }

  func beginReceivingFromAll() {
    receiver.listenToAll()
    tokens.subscriptions.ensure()
  }

  func record(
    _ event: PorterMachines.Subscription.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) {
    try tokens.subscriptions.record(event, connection, store)
  }

  func reportEndedConnections() { tokens.sendQueued() }
}
