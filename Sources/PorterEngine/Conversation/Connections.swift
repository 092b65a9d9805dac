import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// What other parts do when a connection begins, changes or ends.
protocol ConnectionWork: AnyObject {
  /// The machine of the connection's push subscription takes the event. Part of the caller's transaction.
  func record(
    _ event: PorterMachines.Subscription.Event, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError)
  /// Listens to its mailbox, and announces it to the notification server if there is a token.
  func beginReceiving(_ connection: StoredConnection)
  /// Tells the other side, the relay and the notification server what is stored for them about connections that ended.
  func reportEndedConnections()
}

/// The connections' records, each with its machine `connection`. What a step changes is part of the transaction that
/// brought it about; what the relay and the notification server have to do waits in the store until it is done.
final class Connections {
  typealias ConnectionMachine = PorterMachines.Connection

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let relay: RelayLink
  private unowned let work: any ConnectionWork

  init(_ context: EngineContext, lifecycle: Lifecycle, relay: RelayLink, work: any ConnectionWork) {
    self.context = context
    self.lifecycle = lifecycle
    self.relay = relay
    self.work = work
  }

  /// Steps the machine and stores its state. The caller carries out the effects, each in a switch that names them all, but
  /// for `deleteSubscription`, which is done here. Part of the caller's transaction.
  func step(
    _ connection: StoredConnection, _ event: ConnectionMachine.Event, _ store: Store
  ) throws(StoreError) -> MachineStep<ConnectionMachine> {
    let state = try self.state(of: connection)
    let step = ConnectionMachine.step(state, event)
    context.log(
      .debug, "connection", ["connection": String(connection.id), "event": event.name, "state": step.next.name])
    if step.next != state, step.next != .deleted {
      try store.setStatus(connectionID: connection.id, step.next.name, at: context.clock.wall())
    }
    for effect in step.effects {
      switch effect {
      case .deleteSubscription: try work.record(.turnOff, connection, store)
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected,
        .emitContactLeft, .createSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        break
      }
    }
    return step
  }

  /// The machine asks for something that does not belong to this event.
  func misplaced(_ effect: ConnectionMachine.Effect, _ event: ConnectionMachine.Event) {
    assertionFailure("connection: \(effect.name) on \(event.name)")
    context.log(.error, "an effect was not carried out", ["event": event.name, "effect": effect.name])
  }

  /// Whether the machine takes a message of our user's.
  func takesMessages(_ connection: StoredConnection) throws(StoreError) -> Bool {
    var takes = false
    for effect in ConnectionMachine.step(try state(of: connection), .messageGiven).effects {
      switch effect {
      case .sendMessage: takes = true
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected,
        .emitContactLeft, .createSubscription, .deleteSubscription, .deliverMessage, .deleteMailbox, .forgetKeys:
        misplaced(effect, .messageGiven)
      }
    }
    return takes
  }

  func state(of connection: StoredConnection) throws(StoreError) -> ConnectionMachine.State {
    guard let state = ConnectionMachine.State(name: connection.status) else { throw .damaged(.connection) }
    return state
  }

  // MARK: Making

  /// A connection begins, with our user's invitation or with the use of another's.
  func insert(
    _ new: NewConnection, after step: MachineStep<ConnectionMachine>, _ store: Store
  ) throws(StoreError) -> Int64 {
    var new = new
    new.status = step.next.name
    return try store.insertConnection(new, at: context.clock.wall())
  }

  /// After the transaction that made the connection.
  func wasMade(_ connection: StoredConnection, _ step: MachineStep<ConnectionMachine>) {
    for effect in step.effects {
      switch effect {
      case .createSubscription:
        work.beginReceiving(connection)
      // In the transaction that made it.
      case .sendConfirmation: break
      case .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected, .emitContactLeft,
        .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        misplaced(effect, connection.isInitiated ? .accept : .invite)
      }
    }
  }

  // MARK: Deleting

  /// Our user deletes the connection. Part of the caller's transaction; `reportEnded` comes after it.
  func delete(_ connection: StoredConnection, tellsPeer: Bool, _ store: Store) throws(StoreError) {
    let event: ConnectionMachine.Event = tellsPeer ? .delete : .deleteSilently
    let step = try step(connection, event, store)
    for effect in step.effects {
      switch effect {
      case .sendLeft: try queueLeft(connection, store)
      case .deleteMailbox: try store.listForDeletion(mailboxOf: connection.id)
      case .forgetKeys:
        try store.withdrawEntries(connectionID: connection.id)
        try work.record(.forget, try store.connection(connection.id), store)
      case .deleteSubscription: break
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .emitContactConnected, .emitContactLeft,
        .createSubscription, .sendMessage, .deliverMessage:
        misplaced(effect, event)
      }
    }
  }

  /// The connection's own outbox is deleted with it, so this waits among the requests to the server.
  private func queueLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    // Before the other side has confirmed it accepts nothing that is signed, and learns of it from the relay.
    guard connection.contactID != nil, let peer = connection.peerSenderID,
      var ratchet = try store.ratchet(connectionID: connection.id)
    else { return }
    let sealed = try ratchet.seal(.left)
    try store.insertServerRequest(
      mailbox: peer, key: connection.peerKey, body: Envelope.message(sealed).bytes,
      deduplication: context.randomness.bytes(24))
  }

  /// Tells the relay, the other side and the notification server. What cannot be reached now is retried later.
  func reportEnded() {
    work.reportEndedConnections()
    deleteMailboxes()
  }

  // MARK: At the relay

  /// Has the relay delete the mailboxes of connections that are gone.
  func deleteMailboxes() {
    guard lifecycle.maySend, relay.isOpen,
      let mailboxes = context.retries.read(
        { (store) throws(StoreError) in try store.deletedMailboxes() }, orLater: TimerName.mailboxes,
        { [weak self] in self?.deleteMailboxes() })
    else { return }
    for mailbox in mailboxes {
      guard let identifier = RelayIdentifier(bytes: mailbox.id) else { continue }
      relay.perform(.sending) { (client) throws(RelayError) in
        try client.deleteMailbox(identifier, key: mailbox.key)
      } then: { [weak self] result in
        switch result {
        // A mailbox that the relay does not know is as good as deleted.
        case .success, .failure(.auth):
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
