import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Work for other parts when a connection begins, changes or ends.
protocol ConnectionWork: AnyObject {
  /// Passes the event to the machine of the connection's push subscription. Part of the caller's transaction.
  func record(
    _ event: PorterMachines.Subscription.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError)
  /// Records that the contact of an accepted request cannot be reached. Part of the caller's transaction.
  func recordMailboxGone(contactID: Int64, _ store: Store) throws(StoreError)
  /// Records that the contact has deleted the connection. Part of the caller's transaction.
  func recordContactLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError)
  /// Listens to its mailbox, and announces it to the notification server if there is a token.
  func beginReceiving(_ connection: StoredConnection)
  /// Does the same for every connection in the store.
  func beginReceivingFromAll()
  /// Sends the other side, the relay and the notification server what is stored for them about ended connections.
  func reportEndedConnections()
}

/// The connections' records, each with its machine `connection`. A step's changes are part of the transaction that
/// caused it; work for the relay and the notification server stays in the store until it is done.
final class Connections {
  typealias ConnectionMachine = PorterMachines.Connection

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let relay: RelayLink
  private unowned let work: any ConnectionWork
  private let recorder: ConnectionRecorder
  private lazy var driver = RecordedMachineDriver<ConnectionMachine, Int64>(context.machines) {
    [unowned self] in ConnectionMachine.perform($0, by: self, $1)
  }

  init(_ context: EngineContext, lifecycle: Lifecycle, relay: RelayLink, work: any ConnectionWork) {
    self.context = context
    self.lifecycle = lifecycle
    self.relay = relay
    self.work = work
    recorder = ConnectionRecorder(context: context, work: work)
  }

  // MARK: Steps

  /// Takes the step: stores the machine's state and what the step records. Its other effects follow the commit. Part of
  /// the caller's transaction.
  @discardableResult
  func take(
    _ cause: ConnectionChange.Cause, of connection: StoredConnection, ratchet: StoredRatchet? = nil, _ store: Store
  ) throws(StoreError) -> (step: MachineStep<ConnectionMachine>, change: ConnectionChange) {
    let state = try state(of: connection)
    let change = ConnectionChange(cause, store, connection.id, connection, ratchet: ratchet)
    return try take(change, in: state) { (step) throws(StoreError) in
      if step.next != state, step.next != .deleted {
        try store.setStatus(connectionID: connection.id, step.next.name, at: self.context.clock.wall())
      }
    }
  }

  /// Creates a connection, from our user's invitation or by accepting another user's. Part of the caller's transaction.
  func make(
    _ new: NewConnection, _ cause: ConnectionChange.Cause, _ store: Store
  ) throws(StoreError) -> Int64 {
    var new = new
    new.status = ConnectionMachine.step(ConnectionMachine.initial, cause.event).next.name
    let id = try store.insertConnection(new, at: context.clock.wall())
    _ = try take(ConnectionChange(cause, store, id, nil, ratchet: nil), in: ConnectionMachine.initial) {
      (_) throws(StoreError) in
    }
    return id
  }

  private func take(
    _ change: ConnectionChange, in state: ConnectionMachine.State,
    storing: (MachineStep<ConnectionMachine>) throws(StoreError) -> Void
  ) throws(StoreError) -> (step: MachineStep<ConnectionMachine>, change: ConnectionChange) {
    var changed = change
    let taken = try driver.take(
      change.cause.event, of: String(change.connectionID), in: state, change.connectionID
    ) { (step, _) throws(StoreError) in
      try storing(step)
      try ConnectionMachine.record(step, by: recorder, &changed)
    }
    change.store.afterCommit { [weak self] in self?.driver.post(taken) }
    return (taken.step, changed)
  }

  /// Why the machine refuses the event; nil if it does not. Takes no step.
  func refusal(
    of event: ConnectionMachine.Event, _ connection: StoredConnection
  ) throws(StoreError) -> ConnectionMachine.Reason? {
    guard case .refused(let reason) = ConnectionMachine.step(try state(of: connection), event).answer else {
      return nil
    }
    return reason
  }

  /// Whether the other side, whose invitation our user accepted, has not sent its greeting yet.
  func awaitsGreeting(_ connection: StoredConnection) throws(StoreError) -> Bool {
    try state(of: connection) == .accepted && connection.isInitiated
  }

  /// Whether the other side, which accepted our user's invitation, has not answered our greeting yet.
  func awaitsAnswer(_ connection: StoredConnection) throws(StoreError) -> Bool {
    try state(of: connection) == .accepted && !connection.isInitiated
  }

  private func state(of connection: StoredConnection) throws(StoreError) -> ConnectionMachine.State {
    guard let state = ConnectionMachine.State(name: connection.status) else { throw .damaged(.connection) }
    return state
  }

  // MARK: Deleting

  /// Deletes the connection for our user. Part of the caller's transaction; call `reportEnded` after it.
  func delete(_ connection: StoredConnection, tellsPeer: Bool, _ store: Store) throws(StoreError) {
    try take(tellsPeer ? .deleted : .deletedSilently, of: connection, store)
  }

  /// Drops a connection that can never complete: its first message was addressed to a mailbox unknown to the relay.
  /// Part of the caller's transaction.
  func drop(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let contactID = connection.contactID else { return try delete(connection, tellsPeer: false, store) }
    try work.recordMailboxGone(contactID: contactID, store)
  }

  /// Deletes a connection whose profile is deleted, or an address, without a message to the other side. A damaged
  /// record is deleted as well: its keys are useless for requests. Part of the caller's transaction.
  func deleteSilently(_ connectionID: Int64, deletesMailbox: Bool, _ store: Store) throws(StoreError) {
    do throws(StoreError) {
      let connection = try store.connection(connectionID)
      try take(deletesMailbox ? .deletedSilently : .abandoned, of: connection, store)
    } catch .damaged {
      try store.withdrawEntries(connectionID: connectionID)
      try store.deleteConnection(connectionID)
    }
  }

  /// Notifies the relay, the other side and the notification server. Those that cannot be reached now are retried
  /// later.
  func reportEnded() {
    work.reportEndedConnections()
    deleteMailboxes()
  }

  // MARK: At the relay

  /// Makes the relay delete the mailboxes of deleted connections.
  func deleteMailboxes() {
    guard lifecycle.maySend, relay.isOpen,
      let mailboxes = context.retries.read(
        orLater: TimerName.mailboxes, { [weak self] in self?.deleteMailboxes() },
        { (store) throws(StoreError) in try store.deletedMailboxes() })
    else { return }
    for mailbox in mailboxes {
      guard let identifier = RelayIdentifier(bytes: mailbox.id) else { continue }
      relay.perform(.sending) { (client) throws(RelayError) in
        try client.deleteMailbox(identifier, key: mailbox.key)
      } then: { [weak self] result in
        switch result {
        // A mailbox unknown to the relay counts as deleted.
        case .success, .failure(.auth):
          FaultPoint.reach(.mailboxDeleted)
          self?.context.retries.reset(TimerName.mailboxes)
          try? self?.context.store?.forgetDeletedMailbox(mailbox.id)
        case .failure(let error): if error.isTemporary { self?.deleteMailboxesLater() }
        }
      }
    }
  }

  private func deleteMailboxesLater() {
    context.retries.retry(TimerName.mailboxes) { [weak self] in self?.deleteMailboxes() }
  }
}

extension Connections: ConnectionEffects {
  func createSubscription(_ connectionID: Int64) {
    let connection = context.retries.read(
      orLater: TimerName.subscribe, { [weak self] in self?.work.beginReceivingFromAll() }
    ) { (store) throws(StoreError) in try store.connection(connectionID) }
    if let connection { work.beginReceiving(connection) }
  }
}
