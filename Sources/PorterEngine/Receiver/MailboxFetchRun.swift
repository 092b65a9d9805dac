import PorterMachines
import PorterPlatform
import PorterStore

/// How the fetch of one connection ended.
enum FetchResult: Equatable {
  /// Nothing is waiting now.
  case drained
  /// Another process claimed the connection in the meantime; what it commits is in the store (INC-04).
  case displaced(by: Owner?)
  /// Nothing was done, since the holder has the connection and is running (INC-19).
  case skipped(holder: Owner)
  /// The chat is suspending, or the source was closed.
  case interrupted
  /// The source did not answer for a long time, and a push asks again.
  case givenBack
  case sourceFailed(SourceError)
  case storeFailed(StoreError)
}

/// One fetch of one connection, from the first request until nothing waits: carries out the effects of `mailbox_fetch`.
final class MailboxFetchRun: MailboxFetchEffects {
  /// The data for an event of the machine.
  enum Finding {
    case asked(ClaimedConnection)
    case message(SourceMessage, ClaimedConnection)
    case empty(ClaimedConnection)
    case failed(SourceError, ClaimedConnection)
    /// Committed but not yet acknowledged; the operation lasts until then.
    case committed(SourceMessage, CommittedMessage, ClaimedConnection, Operation)
    case abandoned(FetchResult, ClaimedConnection)
    case acknowledged(SourceMessage, CommittedMessage, ClaimedConnection, Operation, NextMessage)
    case unacknowledged(SourceMessage, CommittedMessage, SourceError, ClaimedConnection, Operation)

    var claimed: ClaimedConnection {
      switch self {
      case .asked(let claimed), .message(_, let claimed), .empty(let claimed), .failed(_, let claimed),
        .committed(_, _, let claimed, _), .abandoned(_, let claimed), .acknowledged(_, _, let claimed, _, _),
        .unacknowledged(_, _, _, let claimed, _):
        claimed
      }
    }
  }

  private let context: EngineContext
  private let parts: Receiver.Parts
  private let connectionID: Int64
  private let rank: Int
  private var driver: MachineDriver<MailboxFetch, Finding>?
  /// How many acknowledgements were requested.
  private var acknowledgements = 0
  /// How often the source was asked what waits, alone or with an acknowledgement: a caller that came before the last
  /// time has its answer.
  private(set) var questions = 0
  /// The pending request to the source, and when it was made.
  private var request: (finding: Finding, asked: Moment)?
  /// Nil once called.
  private var then: ((FetchResult) -> Void)?

  init(
    _ context: EngineContext, _ parts: Receiver.Parts, _ connectionID: Int64, rank: Int,
    then: @escaping (FetchResult) -> Void
  ) {
    self.context = context
    self.parts = parts
    self.connectionID = connectionID
    self.rank = rank
    self.then = then
    let timers = FetchTimers(parts.source, context) { [weak self] in self?.request?.finding.claimed.claim }
    driver = MachineDriver(context.machines(timers: timers), subject: String(connectionID)) {
      [weak self] effect, finding in
      // An effect that ends the run may free it; then nothing is left to do.
      if let self { MailboxFetch.perform(effect, by: self, finding) }
    }
  }

  /// Takes the next message in a later turn; for a push in progress, it does not wait behind other deferred work
  /// (INC-43).
  func continueLater(under claimed: ClaimedConnection? = nil) {
    context.deferred.add(about: connectionID, isUrgent: parts.isNamedByPush(connectionID)) { [weak self] in
      self?.next(under: claimed)
    }
  }

  private func next(under claimed: ClaimedConnection?) {
    guard !hasEnded else { return }
    guard parts.lifecycle.operations.admits(.receiving), context.store != nil else {
      return finish(.interrupted, claimed)
    }
    if let claimed { return post(.get, .asked(claimed)) }
    let holder = ConnectionClaims.Holder(
      rank: rank, asked: { [weak self] in self?.request?.asked }, giveBack: { [weak self] in self?.giveBack() })
    parts.claims.claim(connectionID, for: holder) { [weak self] result in
      switch result {
      case .success(.granted(let claimed)): self?.post(.get, .asked(claimed))
      case .success(.skipped(let holder)): self?.finish(.skipped(holder: holder), nil)
      case .failure(let error): self?.finish(.storeFailed(error), nil)
      }
    }
  }

  private func post(_ event: MailboxFetch.Event, _ finding: Finding) {
    request = nil
    driver?.post(event, finding)
  }

  /// Anything the source still answers, or cannot give up, finds a run that has ended.
  private func giveBack() {
    guard let then, let request else { return }
    self.then = nil
    let claim = request.finding.claimed.claim
    parts.source.giveUp(claim)
    parts.claims.end(claim)
    then(.givenBack)
  }

  private var hasEnded: Bool { then == nil }

  private func finish(_ result: FetchResult, _ claimed: ClaimedConnection?) {
    guard let then else { return }
    self.then = nil
    if let claimed { parts.claims.end(claimed.claim) }
    then(result)
  }

  // MARK: Effects

  func sendGet(_ finding: Finding) {
    let claimed = finding.claimed
    request = (finding, context.clock.now())
    questions += 1
    FaultPoint.reach(.beforeFetch)
    parts.source.fetch(claimed) { [weak self] result in
      FaultPoint.reach(.afterFetch)
      switch result {
      case .success(let message?): self?.post(.message, .message(message, claimed))
      case .success(nil): self?.post(.empty, .empty(claimed))
      case .failure(let error): self?.post(.failed, .failed(error, claimed))
      }
    }
  }

  func deliverMessage(_ finding: Finding) {
    let claimed = finding.claimed
    guard let message = fetched(finding), let delivery = parts.lifecycle.operations.begin(.delivery) else {
      return post(.abandoned, .abandoned(.interrupted, claimed))
    }
    switch parts.committer.commit(message, under: claimed.claim) {
    case .committed(let committed):
      FaultPoint.reach(.afterCommit)
      parts.sender.offerNew(alsoFor: connectionID)
      if committed.rings { parts.rang(connectionID) }
      post(.committed, .committed(message, committed, claimed, delivery))
    case .repeated(let committed), .quarantined(let committed):
      post(.committed, .committed(message, committed, claimed, delivery))
    case .failed(let error):
      delivery.end()
      if case .staleEpoch(let owner) = error {
        post(.abandoned, .abandoned(.displaced(by: owner), claimed))
      } else {
        post(.abandoned, .abandoned(.storeFailed(error), claimed))
      }
    }
  }

  /// Nil if nothing more may be received.
  private func fetched(_ finding: Finding) -> SourceMessage? {
    switch finding {
    case .message(let message, _): return admits(.asked) ? message : nil
    case .acknowledged(_, _, _, let delivery, .message(let next)):
      delivery.end()
      return admits(.followed) ? next : nil
    case .asked, .empty, .failed, .committed, .abandoned, .acknowledged, .unacknowledged: return nil
    }
  }

  private func admits(_ admission: MessageAdmission) -> Bool {
    guard !hasEnded, context.store != nil else { return false }
    return admission.admits(isLeaving: parts.lifecycle.phase.isLeaving, parts.lifecycle.operations.state)
  }

  func sendAcknowledge(_ finding: Finding) {
    guard case .committed(let message, let committed, let claimed, let delivery) = finding else { return }
    acknowledgements += 1
    let number = acknowledgements
    request = (finding, context.clock.now())
    questions += 1
    FaultPoint.reach(.beforeAcknowledge)
    parts.source.acknowledge(message, claimed.with(committed.connection)) { [weak self] result in
      FaultPoint.reach(.afterAcknowledge)
      // The next message in a late answer is not the answer to a later request.
      guard let self, self.acknowledgements == number, self.driver?.state == .acknowledging else { return }
      switch result {
      case .success(let next):
        self.post(next.event, .acknowledged(message, committed, claimed, delivery, next))
      case .failure(let error): self.post(.failed, .unacknowledged(message, committed, error, claimed, delivery))
      }
    }
  }

  func reportEmpty(_ finding: Finding) {
    VanishedMessages(context).note(finding.claimed.connection)
    finish(.drained, finding.claimed)
  }

  func reportFailed(_ finding: Finding) {
    if case .failed(let error, let claimed) = finding {
      if error.kind == .denied { VanishedMessages(context).note(claimed.connection) }
      return finish(.sourceFailed(error), claimed)
    }
    finish(.sourceFailed(.timeout), finding.claimed)
  }

  func giveUpRequest(_ finding: Finding) { parts.source.giveUp(finding.claimed.claim) }

  func emitMarker(_ finding: Finding) {
    switch finding {
    case .acknowledged(let message, let committed, _, _, _), .committed(let message, let committed, _, _),
      .unacknowledged(let message, let committed, _, _, _):
      parts.committer.emitMarker(message, committed)
    case .asked, .message, .empty, .failed, .abandoned: break
    }
  }

  /// The machine is idle again: continues with the next message, unless this was the end.
  func releaseMailbox(_ finding: Finding) {
    switch finding {
    case .asked, .message, .empty, .failed: break
    case .acknowledged(_, _, let claimed, let delivery, _):
      delivery.end()
      continueLater(under: claimed)
    case .abandoned(let result, let claimed): finish(result, claimed)
    // Committed, and the acknowledgement got no answer: the source delivers it again if it still has it.
    case .committed(_, _, let claimed, let delivery):
      delivery.end()
      finish(.sourceFailed(.timeout), claimed)
    case .unacknowledged(_, _, let error, let claimed, let delivery):
      delivery.end()
      finish(.sourceFailed(error), claimed)
    }
  }
}

extension NextMessage {
  fileprivate var event: MailboxFetch.Event {
    switch self {
    case .unknown: .dropped
    case .nothing: .empty
    case .message: .message
    }
  }
}

/// The deadlines of a fetch, each counted from the request to the source.
private struct FetchTimers: MachineTimers {
  private let source: any Source
  private let timers: any MachineTimers
  /// The claim under which the pending request was made.
  private let claim: () -> Claim?

  init(_ source: any Source, _ context: EngineContext, claim: @escaping () -> Claim?) {
    self.source = source
    timers = context.machines.timers
    self.claim = claim
  }

  func set(_ name: String, milliseconds: UInt32, _ fire: @escaping () -> Void) {
    if !source.endsRequestsInTime { set(name, for: .milliseconds(Int64(milliseconds)), of: milliseconds, fire) }
  }

  private func set(_ name: String, for span: Span, of milliseconds: UInt32, _ fire: @escaping () -> Void) {
    timers.set(name, milliseconds: UInt32(clamping: max(1, span.milliseconds))) {
      let left = claim().flatMap { source.timeLeft($0, of: .milliseconds(Int64(milliseconds))) }
      if let left { set(name, for: left, of: milliseconds, fire) } else { fire() }
    }
  }

  func cancel(_ name: String) { timers.cancel(name) }
}
