import PorterCrypto
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// Carries out what the user did with notifications: each response once, in an app, whichever process received it. Owns
/// the stored responses, each with its machine `notification_response`. Threads: the engine's.
final class Responses {
  typealias ResponseMachine = PorterMachines.NotificationResponse

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let peers: PeerLink
  private unowned let host: any ResponseHost
  private let work: ResponseWork
  private let turns: any Turns
  private lazy var driver = RecordedMachineDriver<ResponseMachine, Int64>(context.machines) {
    [unowned self] in ResponseMachine.perform($0, by: self, $1)
  }

  /// Accepts and rejects contact requests.
  weak var contactRequests: (any ContactRequestActions)?

  /// Responses being carried out by another part.
  private var underWay: Set<Int64> = []
  /// Events this process has emitted, and those of them the host has taken while the store was closed.
  private var emitted: Set<Int64> = []
  private var taken: Set<Int64> = []
  private let takenEvents: TakenEvents

  /// The limit on all open responses together, so that a host cannot fill the store with them.
  static let limit = 1_000

  init(
    _ context: EngineContext, lifecycle: Lifecycle, peers: PeerLink, host: any ResponseHost, turns: any Turns,
    takenEvents: TakenEvents
  ) {
    self.context = context
    self.lifecycle = lifecycle
    self.peers = peers
    self.host = host
    self.turns = turns
    self.takenEvents = takenEvents
    work = ResponseWork(context: context, host: host)
  }

  // MARK: Receiving

  /// What the transaction storing a response found.
  private enum Receipt {
    case stored(RecordedMachineDriver<ResponseMachine, Int64>.Taken, id: Int64)
    case known(StoredResponse)
    case tooMany
  }

  /// Stores the response, and carries it out if this process may.
  func receive(_ response: UserResponse) throws(ChatError) -> ResponseReport {
    if let text = response.text, text.utf8.count > Envelope.largestContent / 2 {
      throw .nightporter(.messageTooLarge(bytes: text.utf8.count, limit: Envelope.largestContent / 2))
    }
    let new = NewResponse(response)
    let event: ResponseMachine.Event = mayApply(response.action) ? .apply : .keep
    let receipt = try lifecycle.withStore { (store) throws(StoreError) in
      // A call that is over can no longer be rejected.
      if response.action == .rejectCall { try self.host.endCallsThatAreOver(store) }
      return try store.transaction { () throws(StoreError) in try self.store(new, event, store) }
    }
    FaultPoint.reach(.responseKept)
    switch receipt {
    case .tooMany: throw .nightporter(.responsesTooMany(limit: Self.limit))
    case .known(let known):
      driver.post(driver.take(.repeat, of: String(known.id), in: known.state, known.id))
      return try report(of: known, isRepeat: true)
    case .stored(let taken, let id):
      driver.post(taken)
      // A running app applies it.
      if event == .keep { peers.announceChange() }
      let stored = try lifecycle.withStore { (store) throws(StoreError) in try store.response(id) }
      return try report(of: stored, isRepeat: false)
    }
  }

  private func store(
    _ new: NewResponse, _ event: ResponseMachine.Event, _ store: Store
  ) throws(StoreError) -> Receipt {
    if let known = try store.response(like: new) { return .known(known) }
    guard try store.countOpenResponses() < Int64(Self.limit) else { return .tooMany }
    var change = ResponseChange(store: store, new: new, at: context.clock.wall())
    let step = ResponseMachine.step(ResponseMachine.initial, event)
    try ResponseMachine.record(step, by: ResponseRecorder(), &change)
    let taken = try driver.take(event, of: String(change.id), in: ResponseMachine.initial, change.id) {
      (_, _) throws(StoreError) in
    }
    return .stored(taken, id: change.id)
  }

  private func report(of response: StoredResponse, isRepeat: Bool) throws(ChatError) -> ResponseReport {
    guard var report = ResponseReport(response, isRepeat: isRepeat) else { throw .nightporter(.storeDamaged) }
    report.waitsForRefresh = context.role == .app && report.outcome == .waiting && !report.action.opensApp
    return report
  }

  /// Only the app that receives and sends carries out responses, and those that bring it on screen only once it is
  /// there.
  private func mayApply(_ action: NotificationAction) -> Bool {
    guard context.role == .app, lifecycle.isActive, lifecycle.isMain else { return false }
    return !action.opensApp || lifecycle.phase.stateName == AppPhase.State.active.name
  }

  // MARK: Applying

  /// Carries out waiting responses, and reports those the host has not been notified of. Called when the app becomes
  /// active, and when another process has changed the store.
  func applyWaiting() {
    guard context.role == .app, lifecycle.isActive, lifecycle.isMain else { return }
    forgetTakenEvents()
    emitEvents()
    let open = context.retries.read(
      orLater: TimerName.responses, { [weak self] in self?.applyWaiting() },
      { (store) throws(StoreError) in try store.openResponses() })
    for response in open ?? [] where !underWay.contains(response.id) { apply(response) }
  }

  private func apply(_ response: StoredResponse) {
    guard let action = NotificationAction(rawValue: response.action), mayApply(action), let store = context.store else {
      return
    }
    do throws(StoreError) {
      let taken =
        RecordedMachineDriver<ResponseMachine, Int64>.isRecorded(.apply, in: response.state)
        ? try store.transaction { () throws(StoreError) in
          try self.take(
            .apply, of: response, ResponseChange(store: store, id: response.id, at: self.context.clock.wall()))
        } : driver.take(.apply, of: String(response.id), in: response.state, response.id)
      driver.post(taken)
    } catch {
      retryLater(response.id, error)
    }
  }

  private func retryLater(_ id: Int64, _ error: StoreError) {
    context.log(.warning, "a response is carried out later", ["response": String(id), "error": error.description])
    retryLater(id)
  }

  /// Carries out a response that changes only the store.
  private func carryOutInStore(_ action: NotificationAction, _ id: Int64, _ store: Store) throws(StoreError) {
    let ended = try store.transaction { () throws(StoreError) -> Ended? in
      // Read again: another process, such as a thawed app, may have stepped it.
      let response = try store.response(id)
      guard response.state == .applying else { return nil }
      let ending = try self.work.carryOut(action, response, store)
      let taken = try self.end(response, ending, store)
      FaultPoint.reach(.insideResponse)
      return Ended(taken: taken, hasReplied: action == .reply && ending.reason == nil)
    }
    FaultPoint.reach(.responseEnded)
    guard let ended else { return }
    context.retries.reset(TimerName.responses)
    driver.post(ended.taken)
    if ended.hasReplied { host.replyWasRecorded() }
  }

  private struct Ended {
    let taken: RecordedMachineDriver<ResponseMachine, Int64>.Taken
    let hasReplied: Bool
  }

  /// Part of the caller's transaction.
  private func end(
    _ response: StoredResponse, _ ending: ResponseEnding, _ store: Store
  ) throws(StoreError) -> RecordedMachineDriver<ResponseMachine, Int64>.Taken {
    try take(
      ending.reason == nil ? .carriedOut : .obsolete, of: response,
      ResponseChange(store: store, id: response.id, ending: ending, at: context.clock.wall()))
  }

  /// Takes the step: stores the state and what the step records. Part of the caller's transaction.
  private func take(
    _ event: ResponseMachine.Event, of response: StoredResponse, _ change: ResponseChange
  ) throws(StoreError) -> RecordedMachineDriver<ResponseMachine, Int64>.Taken {
    var change = change
    return try driver.take(event, of: String(response.id), in: response.state, response.id) {
      (step, id) throws(StoreError) in
      if step.next != response.state { try change.store.setResponseState(id, step.next) }
      try ResponseMachine.record(step, by: ResponseRecorder(), &change)
    }
  }

  // MARK: What contact requests carry out

  private func answerRequest(_ action: NotificationAction, _ response: StoredResponse) {
    guard let contactRequests, let requestID = response.requestID else {
      return finish(response, .stale(.noSuchRequest))
    }
    underWay.insert(response.id)
    switch action {
    case .acceptContact, .acceptContactIncognito:
      contactRequests.acceptContactRequest(requestID: requestID, incognito: action == .acceptContactIncognito) {
        [weak self] in
        self?.requestAnswered(response, $0.map { "@\($0)" })
      }
    case .rejectContact:
      contactRequests.rejectContactRequest(requestID: requestID) { [weak self] in
        self?.requestAnswered(response, $0.map { nil })
      }
    case .open, .acceptCall, .rejectCall, .markRead, .reply: break
    }
  }

  private func requestAnswered(_ response: StoredResponse, _ result: Result<String?, ContactRequestFailure>) {
    underWay.remove(response.id)
    switch result {
    case .success(let chatID): finish(response, ResponseEnding(userID: response.userID, chatID: chatID))
    case .failure(.pending): postpone(response.id)
    case .failure(.gone): finish(response, .stale(.noSuchRequest))
    case .failure(.refused):
      context.log(.info, "a contact request could not be answered", ["response": String(response.id)])
      finish(response, .stale(.refused))
    }
  }

  /// Ends a response that another part has carried out or refused.
  private func finish(_ response: StoredResponse, _ ending: ResponseEnding) {
    guard let store = context.store else { return }
    do throws(StoreError) {
      let taken = try store.transaction {
        () throws(StoreError) -> RecordedMachineDriver<ResponseMachine, Int64>.Taken? in
        let response = try store.response(response.id)
        guard response.state == .applying else { return nil }
        var ending = ending
        // Its profile may have been hidden or deleted while the relay was asked: no tap leads there any longer.
        if ending.reason == nil, case .gone(let reason) = try ResponseTarget.find(response, store) {
          ending = .stale(reason)
        }
        let taken = try self.end(response, ending, store)
        FaultPoint.reach(.insideResponse)
        return taken
      }
      FaultPoint.reach(.responseEnded)
      if let taken { driver.post(taken) }
    } catch {
      retryLater(response.id, error)
    }
  }

  private func postpone(_ id: Int64) {
    // It has begun, and stays that way.
    driver.post(driver.take(.postpone, of: String(id), in: .applying, id))
  }

  // MARK: Events

  private func emitEvents() {
    guard let store = context.store else { return }
    do throws(StoreError) {
      let unreported = try store.unreportedResponses()
      drop(unreported.damaged)
      for response in unreported.readable where emitted.insert(response.id).inserted {
        guard let report = ResponseReport(response) else { continue }
        if [.acceptCall, .rejectCall].contains(NotificationAction(rawValue: response.action)) {
          host.callAnswerHasEnded()
        }
        let id = response.id
        context.events.post(.ntfResponse(report)) { [turns] in
          turns.enqueue { $0.responses.noteTaken(id) }
        }
      }
    } catch {
      context.log(.warning, "an event about a response is emitted later", ["error": error.description])
      context.retries.retry(TimerName.responses) { [weak self] in self?.applyWaiting() }
    }
  }

  /// Drops events that cannot be read and will not be readable later (INC-44).
  private func drop(_ damaged: [Int64]) {
    for id in damaged where !taken.contains(id) {
      context.log(.error, "an event about a response is dropped, since its record is damaged", ["response": String(id)])
      noteTaken(id)
    }
  }

  /// The host has the event, or there is none: it is not repeated after a restart.
  func noteTaken(_ id: Int64) {
    taken.insert(id)
    forgetTakenEvents()
    if !taken.isEmpty { takenEvents.keep(taken, .responses) }
  }

  private func forgetTakenEvents() {
    taken.formUnion(takenEvents.kept(.responses))
    guard !taken.isEmpty, lifecycle.operations.admits(.database), let store = context.store else { return }
    do throws(StoreError) {
      try takenEvents.unwaiting { () throws(StoreError) in try store.forgetResponseEvents(Array(self.taken)) }
      FaultPoint.reach(.takenForgotten)
      // Last: a process killed in between leaves numbers that the store does not reuse.
      takenEvents.forget(.responses)
      emitted.subtract(taken)
      taken.removeAll()
    } catch {
      takenEvents.keep(taken, .responses)
      context.log(.info, "events about responses may come again", ["error": error.description])
    }
  }
}

extension Responses: NotificationResponseEffects {
  func carryOut(_ id: Int64) {
    FaultPoint.reach(.responseBegun)
    guard let store = context.store else { return }
    do throws(StoreError) {
      let response = try store.response(id)
      guard let action = NotificationAction(rawValue: response.action) else { return }
      switch action {
      case .acceptContact, .acceptContactIncognito, .rejectContact:
        switch try ResponseTarget.find(response, store) {
        case .request: answerRequest(action, response)
        case .gone(let reason): finish(response, .stale(reason))
        case .app, .contact: finish(response, .stale(.noSuchRequest))
        }
      case .open, .acceptCall, .rejectCall, .markRead, .reply: try carryOutInStore(action, id, store)
      }
    } catch {
      context.log(.warning, "a response could not be carried out", ["error": error.description])
      switch error {
      // It will not improve later (INC-44).
      case .damaged, .notFound: finishRefused(id)
      default: postpone(id)
      }
    }
  }

  private func finishRefused(_ id: Int64) {
    guard let response = try? context.store?.response(id) else { return }
    finish(response, .stale(.refused))
  }

  func retryLater(_ id: Int64) {
    context.retries.retry(TimerName.responses) { [weak self] in self?.applyWaiting() }
  }

  func emitEvent(_ id: Int64) { emitEvents() }
}

// MARK: - What a step records

/// One event of the machine `notification_response`, with what its step needs. Lives as long as its transaction.
struct ResponseChange {
  let store: Store
  var new: NewResponse?
  var id: Int64 = 0
  var ending: ResponseEnding?
  let at: WallTime
}

/// Writes what the steps of `notification_response` record.
private struct ResponseRecorder: NotificationResponseRecord {
  typealias State = PorterMachines.NotificationResponse.State

  func keepResponse(_ change: inout ResponseChange, _ next: State) throws(StoreError) {
    guard let new = change.new else { throw .damaged(.response) }
    change.id = try change.store.insertResponse(new, next, at: change.at)
  }

  func activateProfile(_ change: inout ResponseChange, _ next: State) throws(StoreError) {
    let store = change.store
    do throws(StoreError) {
      let response = try store.response(change.id)
      guard response.requestID != nil, let action = NotificationAction(rawValue: response.action),
        case .request(let user, let request) = try ResponseTarget.find(response, store), !user.isActive,
        try RequestDestination(request).activatesProfile(action, isIncognito: request.incognito != nil)
      else { return }
      try store.makeActive(user.id)
    } catch .damaged {
      // Carrying it out finds the damage, and ends it.
    }
  }

  func queueEvent(_ change: inout ResponseChange, _ next: State) throws(StoreError) {
    guard let ending = change.ending else { throw .damaged(.response) }
    try change.store.endResponse(
      change.id, userID: ending.userID, chatID: ending.chatID, reason: ending.reason?.rawValue)
  }
}

extension NewResponse {
  fileprivate init(_ response: UserResponse) {
    let identity = ResponseIdentity(response)
    self.init(
      action: response.action.rawValue, identifier: identity.identifier, digest: identity.digest, text: response.text,
      userID: response.userID, chatID: response.chatID, requestID: response.contactRequestID,
      connection: response.connection)
  }
}
