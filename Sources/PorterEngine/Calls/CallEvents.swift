import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Events about calls, which stay in the store until an app's host has taken them: only an app's host takes part in
/// calls. Threads: the engine's.
final class CallEvents {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let turns: any Turns
  private let takenEvents: TakenEvents

  /// Events that this process has emitted, and those that the store must forget because the host has taken them or they
  /// are obsolete.
  private var emitted: Set<Int64> = []
  private var taken: Set<Int64> = []

  init(_ context: EngineContext, lifecycle: Lifecycle, turns: any Turns, takenEvents: TakenEvents) {
    self.context = context
    self.lifecycle = lifecycle
    self.turns = turns
    self.takenEvents = takenEvents
  }

  /// Emits events that this process has not emitted yet, as many as the event queue has room for: they stay in the store,
  /// and must not displace events that do not. The others follow as the host takes these. False if some could not be
  /// read now.
  func emitWaiting() -> Bool {
    guard context.role == .app, let store = context.store else { return true }
    forgetTaken()
    do throws(StoreError) {
      for waiting in try store.callEvents() where !emitted.contains(waiting.id) && !taken.contains(waiting.id) {
        switch try state(of: waiting, store) {
        case .due(let event):
          let room = context.events.room { [turns] in turns.enqueue { $0.eventQueueHasRoom() } }
          guard room != nil else {
            keepTaken()
            return true
          }
          let id = waiting.id
          emitted.insert(id)
          context.events.post(event) { [turns] in turns.enqueue { $0.calls.noteTaken(id) } }
        case .later: break
        // If left there, it would pass for an event about the contact's next call.
        case .obsolete: taken.insert(waiting.id)
        }
      }
      keepTaken()
      return true
    } catch {
      context.log(.warning, "an event about a call is emitted later", ["error": error.description])
      return false
    }
  }

  /// Called before a contact is deleted, and the rows of these events with it: the ends of calls are emitted after the
  /// commit, and not again after a restart. Part of the caller's transaction.
  func emitEnds(contactID: Int64, _ store: Store) throws(StoreError) {
    guard context.role == .app else { return }
    for waiting in try store.callEvents() where waiting.contactID == contactID {
      guard waiting.kind == CallEventKind.ended.rawValue, !emitted.contains(waiting.id), !taken.contains(waiting.id),
        case .due(let event) = try state(of: waiting, store)
      else { continue }
      store.afterCommit { [context] in context.emit(event) }
    }
  }

  private enum WaitingState {
    case due(Event)
    /// The user must not be notified now.
    case later
    /// There is no longer anything to report.
    case obsolete
  }

  private func state(of waiting: StoredCallEvent, _ store: Store) throws(StoreError) -> WaitingState {
    do throws(StoreError) {
      if waiting.kind == CallEventKind.invitation.rawValue, try !isToRing(waiting.contactID, store) { return .later }
      return try event(waiting, store).map { .due($0) } ?? .obsolete
    } catch .notFound {
      return .obsolete
    } catch .damaged(let entity) {
      // A retry would not help, and other events do not wait for it.
      context.log(.error, "an event about a call cannot be read", ["damaged": entity.rawValue])
      return .obsolete
    }
  }

  /// Whether the host may ring. Otherwise it would ring for an invisible profile, or for a call that the user has
  /// answered from its notification if that is carried out only now, for example because the store was busy. For a
  /// muted contact or profile the host decides itself: a bot has use for the event.
  private func isToRing(_ contactID: Int64, _ store: Store) throws(StoreError) -> Bool {
    if try store.user(try store.contact(contactID).userID).isOutOfSight { return false }
    let answers = [NotificationAction.acceptCall, .rejectCall].map(\.rawValue)
    return try !store.openResponses().contains { answers.contains($0.action) && $0.chatID == "@\(contactID)" }
  }

  private func event(_ waiting: StoredCallEvent, _ store: Store) throws(StoreError) -> Event? {
    let contact = try store.contact(waiting.contactID)
    let user = UserRecord(try store.user(contact.userID))
    guard let kind = CallEventKind(rawValue: waiting.kind), let content = try? JSONValue(parsing: waiting.content)
    else {
      return nil
    }
    let record = ContactRecord(contact, connection: try connection(of: contact, for: kind, store))
    switch kind {
    case .ended: return .callEnded(user, record)
    case .answer: return MediaSession(json: content).map { .callAnswer(user, record, $0) }
    case .extra: return content["rtcIceCandidates"]?.stringValue.map { .callExtraInfo(user, record, candidates: $0) }
    case .invitation:
      guard let call = try store.call(contactID: contact.id), call.state == .ringing else { return nil }
      return .callInvitation(try CallInvitation(call, store))
    case .offer:
      guard let call = try store.call(contactID: contact.id), let offer = CallOffer(json: content) else { return nil }
      return .callOffer(
        user, record, offer, sharedKey: call.sharedKey.map { TextEncoding.base64URL($0.exposeForStorage()) },
        asksConfirmation: call.callType?.encrypts == true && !offer.type.encrypts)
    }
  }

  /// The end of a call is reported even without a connection: a host rings, or listens, until then.
  private func connection(
    of contact: StoredContact, for kind: CallEventKind, _ store: Store
  ) throws(StoreError) -> StoredConnection? {
    do throws(StoreError) { return try store.currentConnection(contactID: contact.id) } catch .damaged(let entity) {
      guard kind == .ended else { throw .damaged(entity) }
      return nil
    }
  }

  /// Notes that the host has the event: it does not come again after a restart.
  func noteTaken(_ id: Int64) {
    taken.insert(id)
    keepTaken()
  }

  private func keepTaken() {
    forgetTaken()
    if !taken.isEmpty { takenEvents.keep(taken, .calls) }
  }

  private func forgetTaken() {
    taken.formUnion(takenEvents.kept(.calls))
    guard !taken.isEmpty, lifecycle.operations.admits(.database), let store = context.store else { return }
    do throws(StoreError) {
      try takenEvents.unwaiting { () throws(StoreError) in try store.forgetCallEvents(Array(self.taken)) }
      FaultPoint.reach(.takenForgotten)
      // Last: a process killed in between leaves numbers that the store does not reuse.
      takenEvents.forget(.calls)
      emitted.subtract(taken)
      taken.removeAll()
    } catch {
      takenEvents.keep(taken, .calls)
      context.log(.info, "events about calls may come again", ["error": error.description])
    }
  }
}

extension CallInvitation {
  /// The invitation of a call that waits for the user.
  init(_ call: StoredCall, _ store: Store) throws(StoreError) {
    guard let type = call.callType else { throw .damaged(.call) }
    let contact = try store.contact(call.contactID)
    self.init(
      user: UserRecord(try store.user(contact.userID)),
      contact: ContactRecord(contact, connection: try store.connection(contactID: contact.id)), type: type,
      sharedKey: call.sharedKey.map { TextEncoding.base64URL($0.exposeForStorage()) }, uuid: call.uuid,
      calledAt: call.calledAt)
  }
}
