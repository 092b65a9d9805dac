import PorterMachines
import PorterPlatform
import PorterRelay
import PorterStore

/// Carries out the effects of the machine `operations`, and lets work begin and end.
extension Engine {
  /// An event that is raised while another is carried out waits for its turn.
  func raise(_ event: Operations.Event) {
    guard operationsPump.offer(event) else { return }
    while let event = operationsPump.next() {
      let step = operations.handle(event)
      log(.debug, "operations", ["event": event.name, "state": operations.state.name])
      for effect in step.effects { perform(effect) }
    }
  }

  private func perform(_ effect: Operations.Effect) {
    switch effect {
    // Counted where it begins, by whoever gets the answer.
    case .admit: break
    case .awaitNotifications: awaitEnd(of: .notifications)
    case .awaitReceiving: awaitEnd(of: .receiving)
    case .awaitDelivery: awaitEnd(of: .delivery)
    case .awaitSending: awaitEnd(of: .sending)
    case .awaitDatabase: awaitEnd(of: .database)
    case .armDeadline: armDeadline()
    case .cancelDeadline:
      awaited = nil
      deadline.end()
      stop.set(.drain, nil)
      timers.cancel(Self.deadlineTimer)
    case .letGo:
      awaited = nil
      stop.set(.drain, nil)
      book.rest()
      closeRelay()
      closeChannel()
    case .reportQuiescent: raise(ChatLifecycle.Event.drained)
    }
  }

  // MARK: Work

  /// Whether the machine would let work of this kind begin now.
  func admits(_ kind: OperationKind) -> Bool { Operations.step(operations.state, kind.begin).answer == .stayed }

  /// Nil when the machine refuses: then the work stays where it is, in the store or at the relay, and is taken up by
  /// `resume` at the next activation.
  func begin(_ kind: OperationKind) -> Operation? {
    guard operations.handle(kind.begin).answer == .stayed else { return nil }
    return Operation(book.begin(kind), of: self)
  }

  func operationEnded(_ ticket: OperationBook.Ticket) { book.end(ticket) }

  /// Asks the relay, as a piece of work of this kind. `then` is called once; with `closed` when there is no relay or
  /// the work may not begin.
  func withRelay<Value: Sendable>(
    _ kind: OperationKind, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    guard let relay, let operation = begin(kind) else { return then(.failure(.closed)) }
    relay.perform(work) { result in
      then(result)
      operation.end()
    }
  }

  // MARK: Coming to rest

  private func awaitEnd(of kind: OperationKind) {
    if book.count(kind) == 0 { return raise(kind.idle) }
    awaited = kind
  }

  /// Called when everything that one job, timer or wake-up brought has been done. What has ended is noticed here and not
  /// where it ended, so that the store is never closed under the feet of whoever is about to go on.
  func endTurn() {
    guard let kind = awaited, book.count(kind) == 0 else { return }
    awaited = nil
    raise(kind.idle)
  }

  private static let deadlineTimer = "drain"
  /// After `/_stop`, which names no delay.
  private static let stopDelay = Span.seconds(3)

  /// Of the time that the suspension has.
  var suspensionLeft: Span {
    suspendEnd.map { max(.zero, $0 - configuration.clock.now()) } ?? Durations.backgroundSuspension
  }

  var isDraining: Bool {
    switch operations.state {
    case .quiescent, .storeOnly, .running: false
    case .drainingNotifications, .drainingReceiving, .drainingDelivery, .drainingSending, .drainingDatabase: true
    }
  }

  private func armDeadline() {
    let number = deadline.begin()
    let left = lifecycle.state == .stopping ? Self.stopDelay : suspensionLeft
    // For the turn that is under way when it comes.
    stop.set(.drain, configuration.clock.now() + left)
    timers.set(Self.deadlineTimer, after: left) { [weak self] in
      guard let self, self.deadline.fire(number) else { return }
      self.hurrying { self.raise(Operations.Event.deadline) }
    }
  }
}

/// The store asks before each of its transactions.
extension Engine: TransactionGate {
  package func transactionBegins() -> Bool {
    guard operations.handle(.beginDatabase).answer == .stayed else { return false }
    transactions.append(book.begin(.database))
    bulletin.begin(.transaction)
    return true
  }

  package func transactionEnded() {
    if let ticket = transactions.popLast() { book.end(ticket) }
    bulletin.end()
  }
}
