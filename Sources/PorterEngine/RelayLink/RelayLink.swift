import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// What the other parts do when the relay comes or goes.
protocol RelayLinkHost: AnyObject {
  /// The relay could be opened at last: what waits for it is taken up.
  func relayOpenedLate()
  /// No request is under way any more. Those that were are reported as `closed` after this turn.
  func relayHasClosed()
}

/// The engine's connection to its relay: opens and closes it, and carries the other parts' requests to it.
///
/// Owns the relay's driver and the transport that a host gave. Threads: the engine's.
final class RelayLink {
  private let context: EngineContext
  private let turns: any Turns
  private let lifecycle: Lifecycle
  private unowned let host: any RelayLinkHost

  private(set) var driver: RelayDriver?
  /// A host's own transport, which is used in place of the embedded relay.
  private var hostTransport: (any RelayPort)?
  /// The embedded relay at this path, of which no file is locked.
  private var dozing: (path: String, relay: any RelayPort)?
  /// Where the relay is that is open, if it is in a file.
  private var path: String?
  private var opened = 0
  /// When the relay's news were last looked at.
  private var lastHeard = Moment(nanoseconds: 0)
  /// Reports to the callers of requests that ended with a relay that was closed.
  private var unreported: [() -> Void] = []

  init(_ context: EngineContext, turns: any Turns, lifecycle: Lifecycle, host: any RelayLinkHost) {
    self.context = context
    self.turns = turns
    self.lifecycle = lifecycle
    self.host = host
  }

  var isOpen: Bool { driver != nil }
  /// Whether it is a file of this machine, which bounds each request by itself.
  var isLocal: Bool { driver?.port.isLocal ?? false }
  /// For errors.
  var name: String { hostTransport == nil ? "embedded" : "host" }
  var hasHostTransport: Bool { hostTransport != nil }
  var isDozing: Bool { dozing != nil }

  // MARK: Opening and closing

  /// Takes the place of the embedded relay. Before the chat starts.
  func use(_ transport: any RelayPort) { hostTransport = transport }

  /// Opens the relay that the host gave or the settings name. Without one the chat still starts; commands that need it
  /// say so.
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
    // Read once already.
    let process = context.instance
    ports.identity = ProcessIdentity(boot: process.boot, process: process.process, started: process.started)
    open(
      EmbeddedRelay(
        path: path, ports: ports, log: context.log,
        // A file that is out of reach is reported as such, and not replaced by an empty one, in which nothing waits.
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
      // An app has commands to answer meanwhile; an extension has its pushes, which wait for this.
      asksInPlace: context.role == .extension && port.isLocal, fileIsBusy: { [weak self] in self?.hastenRetries() })
  }

  /// Afterwards no file of the relay is open, and no request of ours is under way, except in a host's transport that cannot end
  /// it. With `mayDoze` its files may stay open, if none is locked; then `open` or `closeDozing` is to follow.
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

  /// Calls `report` after the turn in which the relay was closed, since a push that ends then must find the store closed
  /// (INC-48).
  func afterClosing(_ report: @escaping () -> Void) { unreported.append(report) }

  /// Reports to the callers that wait for a relay that was closed that no answer comes.
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

  /// Asks the relay as part of the delivery of a message that the caller has begun.
  func continueDelivery<Value: Sendable>(
    about urgency: RelayWays.Urgency, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    guard let driver else { return then(.failure(.closed)) }
    driver.perform(
      work, on: lane(.delivery, urgency), under: urgency.claim, isShort: urgency.isShort, then: then)
  }

  /// A push is about this connection now.
  func hasten(_ connectionID: Int64) { driver?.hasten(connectionID) }

  /// Nothing waits any more for what is asked under this claim: it ends with `timeout`.
  func giveUp(_ claim: Claim) { driver?.giveUp(claim) }

  /// What is left of this time for what is asked under this claim, counted from when the relay was asked. Nil when nothing is.
  func timeLeft(_ claim: Claim, of span: Span) -> Span? { driver?.timeLeft(claim, of: span) }

  private func lane(_ kind: OperationKind, _ urgency: RelayWays.Urgency) -> RelayWays.Lane {
    switch kind {
    // What an extension receives is what its pushes are about.
    case .receiving, .delivery, .database: urgency.isPushed || context.role == .extension ? .push : .receiving
    case .notifications, .sending: urgency.isForReplies ? .replies : .sending
    }
  }

  /// Carries out the request of the driver with this number, in this turn.
  func answerInPlace(_ number: Int, driver identifier: Int) {
    guard let driver, driver.identifier == identifier else { return }
    driver.answerInPlace(number)
  }

  /// The answer to a request of the driver with this number, or its failure.
  func complete(_ number: Int, driver identifier: Int, failure: RelayError?) {
    guard let driver, driver.identifier == identifier else { return }
    driver.complete(number, failure: failure)
  }

  /// The request of the driver with this number has had no answer for long.
  func late(_ number: Int, driver identifier: Int) {
    guard let driver, driver.identifier == identifier else { return }
    driver.late(number)
  }

  /// The embedded relay's file is in use by another process. It may be free again at any moment, unlike a network, so that
  /// what waits for the relay is tried again soon, however often it has failed.
  private func hastenRetries() {
    let timers = context.timers
    guard !timers.isSet(TimerName.busyRelay) else { return }
    timers.set(TimerName.busyRelay, after: Durations.busyRelayRetry) {
      for name in TimerName.relayRetries { timers.hasten(name) }
    }
  }

  // MARK: News

  /// Set from the engine's thread as it waits in poll(2). Nil while news would begin more work before earlier work has
  /// ended, but not for long.
  var wakeDescriptor: Int32? {
    let isHeard = context.deferred.isEmpty || context.clock.now() - lastHeard > Self.patience
    return isHeard ? driver?.port.wakeDescriptor : nil
  }

  private static let patience = Span.milliseconds(500)

  /// False when there is no relay to have news.
  func takeNews() -> Bool {
    guard let driver else { return false }
    lastHeard = context.clock.now()
    driver.port.drainWake()
    return true
  }
}
