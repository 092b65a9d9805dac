import PorterMachines
import PorterPlatform
import PorterStore

/// Admits work, counts it, and drains it; the machine `operations` decides.
final class OperationGate {
  private let context: EngineContext
  private let closeRelay: () -> Void
  private let giveUp: (LifecycleRequest) -> Void
  private let reportRest: (LifecycleRequest) -> Void
  private lazy var driver = MachineDriver<Operations, LifecycleRequest>(context.machines) {
    [unowned self] effect, request in Operations.perform(effect, by: self, request)
  }
  private(set) var counter = OperationCounter()
  private var transactions: [Operation] = []

  /// `releaseRelay` is called when the network has stopped; `giveUp` releases what abandoned work holds; `reportRest`
  /// is called when nothing is under way any longer.
  init(
    _ context: EngineContext, releaseRelay: @escaping () -> Void,
    giveUp: @escaping (LifecycleRequest) -> Void,
    reportRest: @escaping (LifecycleRequest) -> Void
  ) {
    self.context = context
    closeRelay = releaseRelay
    self.giveUp = giveUp
    self.reportRest = reportRest
  }

  var state: Operations.State { driver.state }

  func post(_ event: Operations.Event, _ request: LifecycleRequest = .none) { driver.post(event, request) }

  // MARK: Work

  /// Whether work of this kind may begin now.
  func admits(_ kind: OperationKind) -> Bool {
    if case .stayed = driver.answer(to: kind.begin) { true } else { false }
  }

  /// Nil when the machine refuses: the work then stays where it is, in the store or at the relay, and is taken up when
  /// the chat is next activated.
  func begin(_ kind: OperationKind) -> Operation? {
    guard case .stayed = driver.decide(kind.begin, .work(kind)) else { return nil }
    return Operation(counter.ticket(for: kind), of: self)
  }

  func ended(_ ticket: OperationCounter.Ticket) { counter.end(ticket) }

  // MARK: Coming to rest

  /// Called when all work caused by one job, timer or wake-up is done. The end of work is noticed here rather than
  /// where it ended, so the store is never closed while a caller further up the stack still uses it. Returns whether
  /// any ended.
  func endTurn() -> Bool {
    guard let kind = drainingKind, counter.count(kind) == 0 else { return false }
    driver.post(kind.idle, .none)
    return true
  }

  private var drainingKind: OperationKind? {
    switch driver.state {
    case .quiescent, .storeOnly, .running, .networkStopped: nil
    case .stoppingNotifications, .drainingNotifications: .notifications
    case .stoppingReceiving, .drainingReceiving: .receiving
    case .stoppingDelivery, .drainingDelivery: .delivery
    case .stoppingSending, .drainingSending: .sending
    case .drainingDatabase: .database
    }
  }

  private func answerIfIdle(_ kind: OperationKind, _ request: LifecycleRequest) {
    if counter.count(kind) == 0 { driver.post(kind.idle, request) }
  }

  private static let deadlineTimer = "drain"
}

extension OperationGate: OperationsEffects {
  func admit(_ request: LifecycleRequest) {
    if case .work(let kind) = request { counter.begin(kind) }
  }

  func awaitNotifications(_ request: LifecycleRequest) { answerIfIdle(.notifications, request) }
  func awaitReceiving(_ request: LifecycleRequest) { answerIfIdle(.receiving, request) }
  func awaitDelivery(_ request: LifecycleRequest) { answerIfIdle(.delivery, request) }
  func awaitSending(_ request: LifecycleRequest) { answerIfIdle(.sending, request) }
  func awaitDatabase(_ request: LifecycleRequest) { answerIfIdle(.database, request) }

  func armDeadline(_ request: LifecycleRequest) {
    let now = context.clock.now()
    let end = request.suspension?.end ?? now + Durations.backgroundSuspension
    // For the turn in progress at the deadline.
    context.stop.set(.drain, end)
    context.timers.set(Self.deadlineTimer, after: max(.zero, end - now)) { [weak self] in
      guard let self else { return }
      self.driver.post(.deadline, .suspension(.immediate(at: self.context.clock.now())))
    }
  }

  func cancelDeadline(_ request: LifecycleRequest) {
    context.stop.set(.drain, nil)
    context.timers.cancel(Self.deadlineTimer)
  }

  func giveUpWork(_ request: LifecycleRequest) {
    context.stop.set(.drain, nil)
    counter.reset()
    giveUp(request)
  }

  func reportQuiescent(_ request: LifecycleRequest) { reportRest(request) }
  func releaseRelay(_ request: LifecycleRequest) { closeRelay() }
}

/// The store asks before each of its transactions.
extension OperationGate: TransactionGate {
  package func transactionBegins() -> Bool {
    guard case .stayed = driver.decide(.beginDatabase, .work(.database)) else { return false }
    transactions.append(Operation(counter.ticket(for: .database), of: self))
    context.board.begin(.transaction)
    return true
  }

  package func transactionEnded() {
    transactions.popLast()?.end()
    context.board.end()
  }

  package func silenceWritten() { FaultPoint.reach(.silenceWritten) }
}
