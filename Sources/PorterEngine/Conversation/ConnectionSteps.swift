import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Steps of the machine `connection`. What a step changes on record is part of the transaction of whatever brought it
/// about; what is to be done at the relay and at the notification server waits in the store until it is done.
extension Engine {
  typealias ConnectionMachine = PorterMachines.Connection

  /// Steps the machine and stores its state. The caller carries out the effects, each in a switch that names them all, but
  /// for `deleteSubscription`, which is done here. Part of the caller's transaction.
  func step(
    _ connection: StoredConnection, _ event: ConnectionMachine.Event, _ store: Store
  ) throws(StoreError) -> MachineStep<ConnectionMachine> {
    let state = try self.state(of: connection)
    let step = ConnectionMachine.step(state, event)
    log(
      .debug, "connection", ["connection": String(connection.id), "event": event.name, "state": step.next.name])
    if step.next != state, step.next != .deleted {
      try store.setStatus(connectionID: connection.id, step.next.name, at: configuration.clock.wall())
    }
    for effect in step.effects {
      switch effect {
      case .deleteSubscription: try record(.turnOff, connection, store)
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
    log(.error, "an effect was not carried out", ["event": event.name, "effect": effect.name])
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
    return try store.insertConnection(new, at: configuration.clock.wall())
  }

  /// After the transaction: it is listened to at once, and announced to the notification server when there is a token.
  func connectionWasMade(_ connection: StoredConnection, _ step: MachineStep<ConnectionMachine>) {
    for effect in step.effects {
      switch effect {
      case .createSubscription:
        subscribe([connection])
        ensureSubscriptions()
      // In the transaction that made it.
      case .sendConfirmation: break
      case .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected, .emitContactLeft,
        .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        misplaced(effect, connection.isInitiated ? .accept : .invite)
      }
    }
  }

  // MARK: Deleting

  /// Our user is done with a connection. Part of the caller's transaction; `finishLettingGo` comes after it.
  func letGo(of connection: StoredConnection, tellsPeer: Bool, _ store: Store) throws(StoreError) {
    let event: ConnectionMachine.Event = tellsPeer ? .delete : .deleteSilently
    let step = try step(connection, event, store)
    for effect in step.effects {
      switch effect {
      case .sendLeft: try queueLeft(connection, store)
      case .deleteMailbox: try store.listForDeletion(mailboxOf: connection.id)
      case .forgetKeys:
        try store.withdrawEntries(connectionID: connection.id)
        try record(.forget, try store.connection(connection.id), store)
      case .deleteSubscription: break
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .emitContactConnected, .emitContactLeft,
        .createSubscription, .sendMessage, .deliverMessage:
        misplaced(effect, event)
      }
    }
  }

  /// The connection's own outbox goes with it, so this waits among the requests that nobody waits for.
  private func queueLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    // Who has not confirmed yet takes nothing that is signed, and hears of it from the relay.
    guard connection.contactID != nil, let peer = connection.peerSenderID,
      var ratchet = try store.ratchet(connectionID: connection.id)
    else { return }
    let sealed = try seal(.left, &ratchet)
    try store.insertServerRequest(
      mailbox: peer, key: connection.peerKey, body: Envelope.message(sealed).bytes,
      deduplication: configuration.randomness.bytes(24))
  }

  /// Tells the relay, the other side and the notification server; whoever cannot be told now is told later.
  func finishLettingGo() {
    flushServerRequests()
    releaseNotifiers()
    deleteMailboxes()
  }
}
