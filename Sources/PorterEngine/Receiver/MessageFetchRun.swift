import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Fetches the one message a command asks for: carries out the effects of `message_fetch`.
final class MessageFetchRun: MessageFetchEffects {
  /// The data for an event of the machine.
  enum Finding {
    case wanted
    /// The claim was not granted.
    case refused(String)
    case claimed(ClaimedConnection)
    case failed(SourceError, ClaimedConnection)
    case message(SourceMessage, ClaimedConnection)
    case abandoned(String, ClaimedConnection)
    /// Committed; also while the relay is asked what waits after it.
    case committed(SourceMessage, CommittedMessage, ClaimedConnection, Operation)

    var claimed: ClaimedConnection? {
      switch self {
      case .wanted, .refused: nil
      case .claimed(let claimed), .failed(_, let claimed), .message(_, let claimed), .abandoned(_, let claimed),
        .committed(_, _, let claimed, _):
        claimed
      }
    }

    /// The relay has a message, which is taken in unless one already was.
    fileprivate func with(_ message: SourceMessage, _ claimed: ClaimedConnection) -> Finding {
      if case .committed = self { self } else { .message(message, claimed) }
    }

    /// A committed message remains the result.
    fileprivate func with(_ error: SourceError, _ claimed: ClaimedConnection) -> Finding {
      if case .committed = self { self } else { .failed(error, claimed) }
    }
  }

  private unowned let engine: Engine
  private let connection: StoredConnection
  private let number: Int
  private var driver: MachineDriver<MessageFetch, Finding>?
  /// The pending request to the relay, and when it was made.
  private var request: (finding: Finding, asked: Moment)?
  private let then: (ReceivedNotification) -> Void
  /// A reference to itself until the command has its result: another process may displace the claim, and a push may
  /// give the request up, so neither keeps the run alive.
  private var unanswered: MessageFetchRun?

  init(_ engine: Engine, _ connection: StoredConnection, then: @escaping (ReceivedNotification) -> Void) {
    self.engine = engine
    self.connection = connection
    self.then = then
    number = engine.claims.takeNumber()
    // Several commands may wait for one connection, each with its own deadline.
    let timers = EngineMachineTimers(timers: engine.context.timers, owner: String(number))
    driver = MachineDriver(engine.context.machines(timers: timers), subject: String(connection.id)) {
      [weak self] effect, finding in
      if let self { MessageFetch.perform(effect, by: self, finding) }
    }
  }

  func begin() {
    unanswered = self
    post(.want, .wanted)
  }

  private func post(_ event: MessageFetch.Event, _ finding: Finding) {
    request = nil
    driver?.post(event, finding)
  }

  // MARK: Effects

  func claimMailbox(_ finding: Finding) {
    // Hastens work that holds it, and whose request waits behind others.
    engine.source.hasten(connection.id)
    let holder = ConnectionClaims.Holder(
      rank: 0, asked: { self.request?.asked },
      giveBack: { if let request = self.request { self.post(.timeout, request.finding) } }, number: number)
    engine.claims.claim(connection.id, known: connection, for: holder) { [self] result in
      switch result {
      case .success(.granted(let claimed)): take(claimed)
      case .success(.skipped(let holder)): post(.claimFailed, .refused("skipped: \(holder) has the connection"))
      case .failure(let error): post(.claimFailed, .refused(error.description))
      }
    }
  }

  private func take(_ claimed: ClaimedConnection) {
    // The command has its result by now.
    guard driver?.state == .claiming else { return engine.claims.end(claimed.claim) }
    post(.claimGranted, .claimed(claimed))
  }

  func withdrawClaim(_ finding: Finding) { engine.claims.withdraw(number, from: connection.id) }

  func sendGet(_ finding: Finding) {
    guard let claimed = finding.claimed else { return }
    request = (finding, engine.context.clock.now())
    engine.source.fetch(claimed) { [self] result in
      switch result {
      case .success(let message?): post(.message, finding.with(message, claimed))
      case .success(nil): post(.empty, finding)
      case .failure(let error): post(.failed, finding.with(error, claimed))
      }
    }
  }

  func deliverMessage(_ finding: Finding) {
    guard case .message(let message, let claimed) = finding else { return }
    let (isLeaving, operations) = (engine.lifecycle.phase.isLeaving, engine.lifecycle.operations)
    guard MessageAdmission.asked.admits(isLeaving: isLeaving, operations.state),
      let delivery = operations.begin(.delivery)
    else {
      return post(.abandoned, .abandoned("the chat suspends", claimed))
    }
    switch engine.committer.commit(message, under: claimed.claim) {
    case .failed(let error):
      delivery.end()
      post(.abandoned, .abandoned(error.description, claimed))
    case .committed(let committed):
      engine.sender.offerNew(alsoFor: connection.id)
      if committed.rings { engine.pushes.callCommitted(connection.id) }
      post(.committed, .committed(message, committed, claimed, delivery))
    case .repeated(let committed), .quarantined(let committed):
      post(.committed, .committed(message, committed, claimed, delivery))
    }
  }

  func sendAcknowledge(_ finding: Finding) {
    guard case .committed(let message, let committed, let claimed, let delivery) = finding else { return }
    request = (finding, engine.context.clock.now())
    engine.source.acknowledge(message, claimed.with(committed.connection)) { [self] result in
      delivery.end()
      switch result {
      case .success(.message): post(.message, finding)
      case .success(.nothing): post(.empty, finding)
      case .success(.unknown): post(.dropped, finding)
      case .failure: post(.failed, finding)
      }
    }
  }

  func giveUpRequest(_ finding: Finding) {
    if let claimed = finding.claimed { engine.source.giveUp(claimed.claim) }
  }

  func emitMarker(_ finding: Finding) {
    if case .committed(let message, let committed, _, _) = finding { engine.committer.emitMarker(message, committed) }
  }

  func releaseMailbox(_ finding: Finding) {
    if let claimed = finding.claimed { engine.claims.end(claimed.claim) }
  }

  func answer(_ finding: Finding) {
    unanswered = nil
    switch driver?.state {
    case .nothing: then(.information(nil))
    case .taken: then(committed(finding, more: nil))
    case .last: then(committed(finding, more: false))
    case .followed: then(committed(finding, more: true))
    case .untaken, .idle, .claiming, .getting, .received, .acknowledging, .looking, nil: then(.error(reason(finding)))
    }
  }

  private func committed(_ finding: Finding, more: Bool?) -> ReceivedNotification {
    guard case .committed(let message, _, _, _) = finding else { return .error(reason(finding)) }
    return .information(message.notification(more: more))
  }

  private func reason(_ finding: Finding) -> AgentError {
    switch finding {
    case .refused(let reason), .abandoned(let reason, _): .internal(reason)
    case .failed(let error, _): .broker(server: engine.relayLink.name, .network(reason: error.description))
    case .wanted, .claimed, .message, .committed: .broker(server: engine.relayLink.name, .timeout)
    }
  }
}

extension SourceMessage {
  fileprivate func notification(more: Bool?) -> NotificationMessage {
    var named = notification
    named.flags = .init(notification: notifies, more: more)
    return named
  }
}
