import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Calls with contacts: signalling only, no media. Owns the calls in the store, each with its machine `call`. Threads:
/// the engine's.
final class Calls {
  typealias CallMachine = PorterMachines.Call

  let context: EngineContext
  let lifecycle: Lifecycle
  let connections: Connections
  let sender: Sender
  let events: CallEvents
  private let changes: CommittedChanges
  private let recorder: CallRecorder
  private lazy var driver = RecordedMachineDriver<CallMachine, Void>(context.machines) {
    [unowned self] in CallMachine.perform($0, by: self, $1)
  }

  init(
    _ context: EngineContext, lifecycle: Lifecycle, connections: Connections, sender: Sender, changes: CommittedChanges,
    turns: any Turns, takenEvents: TakenEvents, isOnScreen: @escaping () -> Bool
  ) {
    self.changes = changes
    self.context = context
    self.lifecycle = lifecycle
    self.connections = connections
    self.sender = sender
    events = CallEvents(context, lifecycle: lifecycle, turns: turns, takenEvents: takenEvents)
    recorder = CallRecorder(context: context, isOnScreen: isOnScreen)
  }

  /// States in which an invitation can expire.
  private static let pending: [CallMachine.State] = [.invited, .ringing, .accepted]

  func isOver(_ call: StoredCall) -> Bool {
    Self.pending.contains(call.state) && call.isOver(boot: context.instance.boot, now: context.clock.now())
  }

  // MARK: Steps

  /// Takes the step. Part of the caller's transaction.
  @discardableResult
  func take(_ change: CallChange) throws(StoreError) -> (
    call: StoredCall, answer: MachineAnswer<CallMachine.Reason>
  ) {
    guard let event = change.cause.event else { return (change.call, .stayed) }
    var changed = change
    let taken = try driver.take(event, of: String(change.call.contactID), in: change.call.state, ()) {
      (step, _) throws(StoreError) in
      guard step.answer == .moved || step.answer == .stayed else { return }
      changed.call.state = step.next
      if changed.call.id == 0, !changed.isBesideAnother {
        changed.call.id = try changed.store.insertCall(changed.call)
      }
      try CallMachine.record(step, by: recorder, &changed)
      if !changed.isBesideAnother { try changed.store.update(changed.call) }
      try enter(changed.itemChange, of: changed)
    }
    change.store.afterCommit { [weak self] in self?.driver.post(taken) }
    return (changed.call, taken.step.answer)
  }

  private func enter(_ itemChange: ItemChange?, of change: CallChange) throws(StoreError) {
    guard let itemChange else { return }
    try changes.enter(
      .changed, connectionID: change.connection.id, contactID: change.call.contactID, change.store, itemChange)
  }

  /// The call of an item, if it still rings.
  func ringing(itemID: Int64, _ store: Store) throws(StoreError) -> CallType? {
    guard let call = try store.call(itemID: itemID), call.state == .ringing, !isOver(call) else { return nil }
    return call.callType
  }

  // MARK: Time

  /// Ends expired calls, emits events the host has not received, and sets the timer for the rest.
  func takeUpWork() {
    expireDue()
    if !events.emitWaiting() { tryAgain() }
    armTimer()
  }

  /// Ends expired invitations: they neither ring nor are sent. A call with damaged records keeps no other from ending.
  func expireDue() {
    guard let store = context.store, lifecycle.operations.admits(.database) else { return }
    do throws(StoreError) { try expireDue(store) } catch {
      context.log(.warning, "calls that are over could not be ended", ["error": error.description])
      tryAgain()
    }
  }

  /// Not in a transaction of the caller.
  func expireDue(_ store: Store) throws(StoreError) {
    let due = try store.calls(in: Self.pending).filter(isOver).map(\.id)
    guard !due.isEmpty else { return }
    do throws(StoreError) { try expire(due, store) } catch .damaged { try expireOneByOne(due, store) }
  }

  private func expire(_ due: [Int64], _ store: Store) throws(StoreError) {
    try store.transaction { () throws(StoreError) in
      // Reads their current states: another process may have ended one.
      for call in try store.calls(in: Self.pending) where due.contains(call.id) && self.isOver(call) {
        let connection = try store.connection(contactID: call.contactID)
        // Otherwise a call that the user rejected in time would count as missed.
        let cause: CallChange.Cause = try self.isRejected(call, connection, store) ? .rejected : .expired
        try self.take(CallChange(cause, store, connection, call, maySend: false))
      }
    }
  }

  /// Whether it rings, and the user has rejected it from its notification, which is not carried out yet. Calls that are
  /// over end before a rejection is stored (`expireDue(_:)`), so it came in time, whatever clocks and boots say since.
  func isRejected(_ call: StoredCall, _ connection: StoredConnection, _ store: Store) throws(StoreError) -> Bool {
    guard call.state == .ringing else { return false }
    for response in try store.openResponses() where response.action == NotificationAction.rejectCall.rawValue {
      if try ResponseWork.item(of: response, connection, store) == call.itemID { return true }
    }
    return false
  }

  private func expireOneByOne(_ due: [Int64], _ store: Store) throws(StoreError) {
    for id in due {
      do throws(StoreError) { try expire([id], store) } catch .damaged(let entity) {
        context.log(
          .error, "a call that is over could not be ended", ["call": String(id), "damaged": entity.rawValue])
      }
    }
  }

  private func tryAgain() {
    context.retries.later(TimerName.callsAgain) { [weak self] in self?.takeUpWork() }
  }

  /// Calls that have already expired do not set it.
  func armTimer() {
    guard context.role == .app, lifecycle.isActive, let store = context.store,
      let calls = try? store.calls(in: Self.pending),
      let next = calls.filter({ !isOver($0) }).map(\.deadline).min()
    else { return }
    context.timers.set(TimerName.calls, after: max(.zero, next - context.clock.now())) { [weak self] in
      self?.takeUpWork()
    }
  }

  /// Notes that the host has the event: it does not come again after a restart.
  func noteTaken(_ id: Int64) { events.noteTaken(id) }
}

extension Calls: CallEffects {
  /// In a later step: the waiting ones may include the user's response to another call's notification; that call then
  /// does not ring.
  func emitEvents(_: Void) {
    context.steps.post { [weak self] in
      guard let self else { return }
      if !events.emitWaiting() { tryAgain() }
      armTimer()
    }
  }
}

extension StoredCall {
  /// The capabilities of the inviting side; nil if malformed.
  var callType: CallType? { (try? JSONValue(parsing: type)).flatMap { CallType(json: $0) } }
}
