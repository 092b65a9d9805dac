import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// What the other parts do when the relay opens or closes.
protocol RelayLinkHost: AnyObject {
  /// The relay could finally be opened: work waiting for it is taken up.
  func relayOpenedLate()
  /// No request is in progress any longer. Those that were are reported as `closed` after this turn.
  func relayHasClosed()
}

/// The engine's connection to its relay: opens and closes it, and carries the other parts' requests to it.
///
/// Owns the relay's driver and the transport provided by a host. Threads: the engine's.
final class RelayLink {
  private let context: EngineContext
  private let turns: any Turns
  private let lifecycle: Lifecycle
  private unowned let host: any RelayLinkHost

  private(set) var driver: RelayDriver?
  /// A host's own transport, used instead of the embedded relay.
  private var hostTransport: (any RelayPort)?
  /// The embedded relay at this path, with none of its files locked.
  private var dozing: (path: String, relay: any RelayPort)?
  /// The path of the open relay, if it is in a file.
  private var path: String?
  private var opened = 0
  /// When the relay's news was last looked at.
  private var lastHeard = Moment(nanoseconds: 0)
  /// Reports to the callers of requests that ended with a closed relay.
  private var unreported: [() -> Void] = []

  init(_ context: EngineContext, turns: any Turns, lifecycle: Lifecycle, host: any RelayLinkHost) {
    self.context = context
    self.turns = turns
    self.lifecycle = lifecycle
    self.host = host
  }

  var isOpen: Bool { driver != nil }
  /// Whether it is a file on this machine, which itself bounds each request.
  var isLocal: Bool { driver?.port.isLocal ?? false }
  /// For errors.
  var name: String { hostTransport == nil ? "embedded" : "host" }
  var hasHostTransport: Bool { hostTransport != nil }
  var isDozing: Bool { dozing != nil }

  // MARK: Opening and closing

  /// Uses this transport instead of the embedded relay. Must be called before the chat starts.
  func use(_ transport: any RelayPort) { hostTransport = transport }

  /// Opens the relay given by the host or named by the settings. Without one the chat still starts; commands that need
  /// it report that.
  func open() {
    guard driver == nil else { return }
    if let hostTransport { return open(hostTransport) }
    let named = context.retries.read(
      orLater: TimerName.relay, { [weak self] in self?.openAgain() },
      { (store) throws(StoreError) in try store.overview(settings: [Setting.relay]).settings[Setting.relay] })
    guard let path = named ?? nil else { return }
    self.path = path
    if let dozing, dozing.path == path {
      self.dozing = nil
      return open(dozing.relay)
    }
    closeDozing()
    var ports = context.configuration.ports
    // Already read once.
    let process = context.instance
    ports.identity = ProcessIdentity(boot: process.boot, process: process.process, started: process.started)
    open(
      EmbeddedRelay(
        path: path, ports: ports, log: context.log,
        // An unreachable file is reported as such, and not replaced by an empty one in which nothing waits.
        mayCreate: context.role == .app, isBrief: context.role == .extension,
        mayDoze: lifecycle.dozesBetweenPushes, stop: context.stop))
  }

  private func openAgain() {
    guard lifecycle.isActive else { return }
    open()
    if isOpen { host.relayOpenedLate() }
  }

  private func open(_ port: any RelayPort) {
    opened += 1
    port.open()
    driver = RelayDriver(
      identifier: opened, port: port, randomness: context.randomness, turns: turns,
      makeWorker: { [context] in context.configuration.execution.makeWorker(isAwaited: port.isLocal) },
      clock: context.clock, timers: context.timers, sharesSending: context.role == .extension,
      // An app has commands to answer in the meantime; an extension has its pushes, which wait for this.
      asksInPlace: context.role == .extension && port.isLocal, fileIsBusy: { [weak self] in self?.hastenRetries() })
  }

  /// Closes the relay. Afterwards none of its files is open, and none of our requests is in progress, except in a
  /// host's transport that cannot end it. With `mayDoze` its files may stay open if none is locked; `open` or
  /// `closeDozing` must follow.
  func close(mayDoze: Bool = false) {
    let closing = driver
    driver = nil
    if !mayDoze { closeDozing() }
    if mayDoze, let closing, let path, let tell = closing.doze() {
      dozing = (path, closing.port)
      unreported.append(tell)
    } else if let closing {
      unreported.append(closing.port.endsExchanges ? closing.close() : closing.forget())
    }
    host.relayHasClosed()
    if !unreported.isEmpty { turns.enqueue { $0.relayLink.reportClosed() } }
  }

  func closeDozing() {
    dozing?.relay.close()
    dozing = nil
  }

  /// Calls `report` after the turn in which the relay was closed, since a push that ends then must find the store
  /// closed (INC-48).
  func afterClosing(_ report: @escaping () -> Void) { unreported.append(report) }

  /// Reports to callers waiting for a closed relay that no answer will come.
  func reportClosed() {
    while !unreported.isEmpty { unreported.removeFirst()() }
  }

  // MARK: Requests

  /// Asks the relay, as a piece of work of this kind. `then` is called once; with `closed` when there is no relay or
  /// the work may not begin.
  func perform<Value: Sendable>(
    _ kind: OperationKind, about urgency: RelayWays.Urgency = .init(), _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    guard let driver, let operation = lifecycle.operations.begin(kind) else { return then(.failure(.closed)) }
    driver.perform(work, on: lane(kind, urgency), under: urgency.claim, isShort: urgency.isShort) { result in
      then(result)
      operation.end()
    }
  }

  /// Asks the relay as part of a message delivery that the caller has begun.
  func continueDelivery<Value: Sendable>(
    about urgency: RelayWays.Urgency, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    guard let driver else { return then(.failure(.closed)) }
    driver.perform(
      work, on: lane(.delivery, urgency), under: urgency.claim, isShort: urgency.isShort, then: then)
  }

  /// A push is now about this connection.
  func hasten(_ connectionID: Int64) { driver?.hasten(connectionID) }

  /// Ends what is asked under this claim with `timeout`: nothing waits for it any longer.
  func giveUp(_ claim: Claim) { driver?.giveUp(claim) }

  /// The rest of this time span for a request made under this claim, counted from when the relay was asked. Nil when
  /// none is left.
  func timeLeft(_ claim: Claim, of span: Span) -> Span? { driver?.timeLeft(claim, of: span) }

  private func lane(_ kind: OperationKind, _ urgency: RelayWays.Urgency) -> RelayWays.Lane {
    switch kind {
    // Whatever an extension receives is what its pushes are about.
    case .receiving, .delivery, .database: urgency.isPushed || context.role == .extension ? .push : .receiving
    case .notifications, .sending: urgency.isForReplies ? .replies : .sending
    }
  }

  /// Carries out this request, of the driver with this number, in this turn.
  func answerInPlace(_ number: Int, driver identifier: Int) {
    guard let driver, driver.identifier == identifier else { return }
    driver.answerInPlace(number)
  }

  /// Passes on the answer to a request of the driver with this number, or its failure.
  func complete(_ number: Int, driver identifier: Int, failure: RelayError?) {
    guard let driver, driver.identifier == identifier else { return }
    driver.complete(number, failure: failure)
  }

  /// A request of the driver with this number has been unanswered for a long time.
  func late(_ number: Int, driver identifier: Int) {
    guard let driver, driver.identifier == identifier else { return }
    driver.late(number)
  }

  /// The embedded relay's file is in use by another process. It may be free again at any moment, unlike a network, so
  /// whatever waits for the relay is retried soon, however often it has failed.
  private func hastenRetries() {
    let timers = context.timers
    guard !timers.isSet(TimerName.busyRelay) else { return }
    timers.set(TimerName.busyRelay, after: Durations.busyRelayRetry) {
      for name in TimerName.relayRetries { timers.hasten(name) }
    }
  }

  // MARK: News

  /// Watched by the engine's thread as it waits in poll(2). Nil while news would start more work before earlier work has
  /// ended, but not for a long time.
  var wakeDescriptor: Int32? {
    let isHeard = context.deferred.isEmpty || context.clock.now() - lastHeard > Self.patience
    return isHeard ? driver?.port.wakeDescriptor : nil
  }

  private static let patience = Span.milliseconds(500)

  /// Returns false when there is no relay to have news.
  func takeNews() -> Bool {
    guard let driver else { return false }
    lastHeard = context.clock.now()
    driver.port.drainWake()
    return true
  }
}
