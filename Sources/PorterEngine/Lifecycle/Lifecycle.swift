import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Requests of the lifecycle to the engine's other parts.
protocol LifecycleWork: AnyObject {
  /// Starts reporting new ledger entries. Throws when the ledger cannot be read.
  func beginWatchingChanges() throws(StoreError)
  /// Opens the relay, if there is one.
  func openRelay()
  /// Closes the relay and abandons the requests to it. With `mayDoze` its file may stay open, unlocked.
  func closeRelay(mayDoze: Bool)
  func closeDozingRelay()
  var hasDozingRelay: Bool { get }
  /// Starts all work that a main run does on its own.
  func takeUpWork()
  /// Starts only the work found in the store, and checks the mailboxes when that is due.
  func takeUpWithoutSubscribing()
  /// Stops starting new work on its own.
  func stopReceiving()
  /// Called when the store is about to be closed.
  func storeWillClose()
  /// Called when an app leaves the screen, with its store still open.
  func showCalls()
  /// Called when an app has published another phase.
  func appPhaseChanged(to phase: AppPhase.State)
}

/// Controls whether the store is open and the chat runs, what other processes see of this, and which work may begin.
///
/// Owns the machines `app_phase` or `extension_phase`, `chat_lifecycle` and `operations`, the store, its key, and the
/// phase file. Threads: the engine's.
final class Lifecycle {
  let context: EngineContext
  let phaseFile: PhaseFile
  let peers: PeerLink
  unowned let work: any LifecycleWork

  lazy var chat = MachineDriver<ChatLifecycle, LifecycleRequest>(context.machines) {
    [unowned self] effect, request in ChatLifecycle.perform(effect, by: self, request)
  }
  private(set) lazy var phase: any ProcessPhase = makePhase()
  private(set) lazy var operations = OperationGate(
    context,
    releaseRelay: { [unowned self] in work.closeRelay(mayDoze: false) },
    giveUp: { [unowned self] request in
      work.closeRelay(mayDoze: request.suspension?.mayDoze ?? false)
      peers.close()
    }, reportRest: { [unowned self] in chat.post(.drained, $0) })

  /// The key that opens the store, for as long as it may be kept. Changing it closes a dozing store, which was opened
  /// with another.
  var heldKey = HeldKey(.none, isRetained: true) {
    didSet { closeDozing() }
  }
  /// Whether the store dozes between two pushes of this process instead of being closed.
  private(set) var dozesBetweenPushes = false
  /// The store in the state `dozing`: it holds no lock.
  var dozingStore: Store?
  /// Why the store could not be opened, or could not be read when the chat should have started.
  var storeProblem: StoreError?
  /// Whether this run receives and sends on its own; an extension fetches only what a push asks for.
  private(set) var isMain = false
  /// Callers waiting until the chat runs, or cannot run.
  private var activationWaiters: [(Bool) -> Void] = []
  private var stopWaiters: [() -> Void] = []
  /// Callers waiting until everything is released.
  private var releaseWaiters: [() -> Void] = []

  init(_ context: EngineContext, phaseFile: PhaseFile, peers: PeerLink, work: any LifecycleWork) {
    self.context = context
    self.phaseFile = phaseFile
    self.peers = peers
    self.work = work
  }

  private func makePhase() -> any ProcessPhase {
    let surroundings = PhaseSurroundings(
      context: context, file: phaseFile, peers: peers, chat: { [unowned self] in chat.post($0, $1) },
      takeUpWork: { [unowned self] in work.takeUpWork() },
      takeUpWithoutSubscribing: { [unowned self] in work.takeUpWithoutSubscribing() },
      showCalls: { [unowned self] in work.showCalls() },
      appPhaseChanged: { [unowned self] in work.appPhaseChanged(to: $0) })
    switch context.role {
    case .app: return AppProcessPhase(surroundings)
    case .extension, .share: return ExtensionProcessPhase(surroundings)
    }
  }

  // MARK: States

  var chatState: ChatLifecycle.State { chat.state }
  var isActive: Bool { chat.state == .active }
  /// Everything is released until the chat is activated.
  var isSuspended: Bool { chat.state == .suspended || chat.state == .dozing }
  /// The network is stopped or stopping, and the store is open.
  var isInBackground: Bool { chat.state == .background }
  /// Commands read and write the store.
  var isStarted: Bool { isActive || isInBackground }
  var store: Store? { context.store }

  /// Whether this process sends waiting messages on its own.
  var maySend: Bool {
    guard isMain || context.role != .app, operations.admits(.sending) else { return false }
    // A push asks before it begins.
    return context.role != .share || !isStoppedByUser
  }

  /// Also passes while the chat suspends, until it is the store's turn: messages written then are sent when the network
  /// is back.
  func requireStarted() throws(ChatError) {
    guard isStarted || chat.state == .suspending && operations.admits(.database),
      context.role != .share || !isStoppedByUser
    else { throw .error(.chatNotStarted) }
  }

  /// For a command that only the network can answer.
  func requireNetwork() throws(ChatError) {
    guard isStarted else { throw .error(.chatNotStarted) }
    guard !isInBackground else { throw .nightporter(.networkStopped) }
  }

  /// Neither running nor suspended: the store may be replaced, and the relay may be set.
  var isAtRest: Bool {
    switch chat.state {
    case .closed, .stillOpen, .opened, .stopped: true
    case .starting, .active, .background, .suspending, .suspended, .dozing, .suspendedStillOpen, .activating, .stopping:
      false
    }
  }

  // MARK: Opening and closing for the host

  /// Opens the store. Nil when it is open or need not be; otherwise the reason.
  func open() -> StoreError? {
    chat.post(.open, .none)
    return store == nil ? storeProblem : nil
  }

  func close() { chat.post(.close, .none) }

  /// Returns "" or why the store is still open. A running chat is suspended first: a host that closes the store means
  /// it.
  func closeForHost() -> String {
    if !isAtRest {
      // Waits for nothing, but there is time to cut a long log.
      let end = context.clock.now() + Durations.backgroundSuspension
      phase.suspendNow(Suspension(end: end, waits: false, writesLogBack: false))
    }
    chat.post(.close, .none)
    return store == nil ? "" : "the store is still in use"
  }

  func reopenForHost() -> String {
    chat.post(.open, .none)
    if store != nil { return "" }
    // The text that programs written for SimpleX's interface expect.
    let forgotten = "reopenDBStore: no key"
    // A suspended chat stays quiescent until it is activated, which opens the files.
    if isSuspended { return heldKey.isForgotten ? forgotten : "" }
    if case .seal(.keyForgotten) = storeProblem { return forgotten }
    return storeProblem?.description ?? "the store could not be opened"
  }

  // MARK: Running

  /// `/_start`. False when the chat ran already.
  func start(mainApp: Bool) throws(ChatError) -> Bool {
    let wasActive = isActive
    isMain = mainApp && context.role == .app
    // An app that a background round has activated also takes up the work that waits for the user.
    try enter(Activation(kind: .start, takesUpWork: !wasActive || !phase.isOnScreen))
    return !wasActive
  }

  /// `/_app activate`.
  func activate(takesUpWork: Bool) throws(ChatError) {
    if case .refused = chat.answer(to: .activate) { throw .error(.chatNotStarted) }
    try enter(Activation(kind: .activate, takesUpWork: takesUpWork))
  }

  /// Whether the user stopped the chat, as an extension reads it from the app's phase file.
  private var isStoppedByUser: Bool { peers.peerFile.published()?.isStopped ?? false }

  private func enter(_ activation: Activation) throws(ChatError) {
    // The user's stop holds for all processes, for example while the store is copied.
    if context.role != .app, isStoppedByUser { throw .error(.chatNotStarted) }
    if !holdPhase() {
      if let problem = phaseFile.problem { throw ChatError(problem) }
      throw ownedElsewhere
    }
    storeProblem = nil
    var refusal: String?
    phase.enter(activation) { if case .refused(let reason) = $0 { refusal = reason } }
    if let refusal { throw .internal("refused: \(refusal)") }
    guard isActive else { throw activationError }
  }

  /// Called before anything is changed, so that a second app leaves the first one alone and stays as it is (INC-16).
  private func holdPhase() -> Bool {
    peers.listen()
    guard context.role == .app, !phaseFile.hold() else { return true }
    if !isActive { peers.close() }
    return false
  }

  /// Begins a bounded period of work after a wake-up in the background to fetch; the host ends it with `background` or
  /// `suspended`.
  func beginBackgroundRefresh() throws(ChatError) {
    guard context.role == .app else { throw .nightporter(.roleNotAllowed("background refresh")) }
    // Checked before anything is changed, as in `holdPhase`. Nothing is held: the machine may refuse.
    if phaseFile.isHeldElsewhere() { throw ownedElsewhere }
    // Before `/_start` this is not known to be the main run, and nothing would be fetched.
    guard isMain else { throw .error(.chatNotStarted) }
    var refusal: String?
    phase.beginBackgroundWork { if case .refused(let reason) = $0 { refusal = reason } }
    if let refusal { throw .internal("refused: \(refusal)") }
    guard isActive else { throw activationError }
  }

  private var activationError: ChatError { storeProblem.map { ChatError($0) } ?? .error(.chatNotStarted) }

  /// Another process is the app.
  private var ownedElsewhere: ChatError {
    .nightporter(.ownedElsewhere(holder: phaseFile.published()?.instance?.description ?? "another process"))
  }

  enum RunForPush {
    case runs
    /// `storeProblem` says why.
    case doesNot
    /// Another process is the app (INC-16); nil if it has not said which.
    case runsElsewhere(Owner?)
  }

  /// Makes the chat run for a push. `then` is called once.
  func runForPush(then: @escaping (RunForPush) -> Void) {
    if isActive {
      // The system grants an app time for each push that wakes it.
      if context.role == .app, !phase.isOnScreen { phase.beginBackgroundWork { _ in } }
      return then(.runs)
    }
    if context.role == .app, !holdPhase() {
      storeProblem = phaseFile.problem.map { .sqlite($0) }
      guard storeProblem == nil else { return then(.doesNot) }
      return then(.runsElsewhere(StoreHolder.find(among: [(context.role, phaseFile)], except: context.instance)))
    }
    // An app launched by the system in the background is the main run, although its host has not started it.
    if context.role == .app, isAtRest { isMain = true }
    activationWaiters.append { then($0 ? .runs : .doesNot) }
    phase.beginBackgroundWork { [weak self] answer in
      guard let self else { return }
      // Already under way, for a push that came in the same turn; its end is reported to both.
      if case .ignored = answer, !isActive { return }
      reportActivation(isActive)
    }
  }

  func reportActivation(_ isActive: Bool) {
    let waiting = activationWaiters
    activationWaiters = []
    for then in waiting { then(isActive) }
  }

  // MARK: Releasing

  /// The app left the screen: the network stops, and the store stays open until a suspension, which ends at `end`
  /// unless the host asks for one before.
  func leaveScreen(by end: Moment) { phase.leaveScreen(Suspension(end: end)) }

  /// `/_app doze`. A store opened before this closes after the next push, and dozes from the push after that on.
  func setDozing(_ dozes: Bool) {
    dozesBetweenPushes = dozes
    if !dozes { closeDozing() }
  }

  /// Closes a dozing store; it is reopened when needed.
  private func closeDozing() {
    if chat.state == .dozing { chat.post(.close, .none) }
  }

  /// `/_stop`. `then` is called once, when work under way is finished or out of time, and the store may be replaced.
  func stop(then: @escaping () -> Void) {
    phase.stop(Suspension(end: context.clock.now() + Durations.stop))
    reportReleased()
    stopWaiters.append(then)
  }

  /// Returns whether any caller was waiting.
  private func reportStopped() -> Bool {
    guard !stopWaiters.isEmpty, chat.state != .stopping else { return false }
    let waiting = stopWaiters
    stopWaiters = []
    for then in waiting { then() }
    return true
  }

  /// `/_app suspend`: within `delay`, or immediately if there is none.
  func suspend(within delay: Span) {
    guard delay > .zero else { return suspendNow() }
    phase.suspend(Suspension(end: context.clock.now() + delay))
  }

  /// Releases everything for a push that is about to be answered. `then` is called once, in a later step, when nothing
  /// is open or locked any longer.
  func release(by end: Moment, then: @escaping () -> Void) {
    releaseWaiters.append(then)
    // A key that must not stay in memory is dropped together with the files.
    let mayDoze = dozesBetweenPushes && heldKey.isRetained
    phase.suspendNow(Suspension(end: end, waits: false, writesLogBack: false, mayDoze: mayDoze))
  }

  /// The app's time in the background is over: releases everything by `end`, and lets work under way finish until then.
  /// `then` is called as by `release`, and also if the app continues or is stopped in the meantime.
  func endBackgroundWork(by end: Moment, then: @escaping () -> Void) {
    releaseWaiters.append(then)
    let now = context.clock.now()
    guard end > now else { return phase.suspendNow(.immediate(at: now)) }
    phase.suspend(Suspension(end: end))
  }

  func reportReleased() {
    let waiting = releaseWaiters
    releaseWaiters = []
    for then in waiting { context.steps.post(then) }
  }

  /// Suspends immediately. Safe at any moment, and emits no event. When called from outside a step, no file of the
  /// store is open on return.
  func suspendNow() {
    let now = context.clock.now()
    // There is no time for anything that can be left to other processes, including at the relay.
    context.stop.set(.command, now)
    defer { context.stop.set(.command, nil) }
    phase.suspendNow(.immediate(at: now))
  }

  /// Ends the controller's work; called last.
  func end() {
    phase.suspendNow(.final(at: context.clock.now()))
    _ = reportStopped()
  }

  /// An app came to the foreground, and no push is in progress.
  func yieldToApp() {
    (phase as? ExtensionProcessPhase)?.yieldToApp(Suspension(end: context.clock.now() + Durations.backgroundSuspension))
  }

  /// The process that had the store, if that is the cause of the error (INC-18): the one that the kernel reports at
  /// work on it, of any role.
  func holder(in error: StoreError) -> String? {
    guard case .sqlite(let error) = error, error.kind == .busy || error.kind == .locked else { return nil }
    let roles = [context.role.peer] + [.share, .extension, .app].filter { $0 != context.role.peer }
    let files = roles.map { (role: $0, file: $0 == context.role ? phaseFile : peers.file(of: $0)) }
    let holder = StoreHolder.find(among: files, except: context.instance)
    return holder?.description ?? "another process"
  }

  /// Called at the end of each turn. Returns whether anything happened.
  func endTurn() -> Bool {
    let cameToRest = operations.endTurn()
    let wasStopped = reportStopped()
    assert(isConsistent, "chat_lifecycle says \(chat.state.name), the store is \(store == nil ? "closed" : "open")")
    return cameToRest || wasStopped
  }

  /// The invariants of `chat_lifecycle`.
  private var isConsistent: Bool {
    switch chat.state {
    case .closed, .suspended: store == nil && dozingStore == nil && !work.hasDozingRelay
    case .dozing: store == nil && dozingStore != nil
    case .stillOpen, .opened, .active, .background, .suspending, .suspendedStillOpen, .stopping, .stopped: store != nil
    case .starting, .activating: false
    }
  }
}
