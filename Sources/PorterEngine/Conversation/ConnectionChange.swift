import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// One event of the machine `connection`, with its step's inputs and findings. Lives as long as the transaction that
/// includes the step.
struct ConnectionChange {
  typealias Event = PorterMachines.Connection.Event
  typealias Recording = () throws(StoreError) -> Void

  /// The event, with its data.
  enum Cause {
    case invited
    case accepted(Acceptance)
    /// `key` is the other side's signing key; `profile` is our user's.
    case confirmed(key: SigningPublicKey, profile: Profile)
    case greeted
    case answered
    /// Records the message and puts it into the outbox.
    case given(Recording)
    /// Records the message.
    case arrived(Recording)
    case left
    case deleted
    case deletedSilently
    case published
    /// Records the request.
    case requestArrived(Recording)
    case abandoned

    var event: Event {
      switch self {
      case .invited: .invite
      case .accepted: .accept
      case .confirmed: .peerConfirmed
      case .greeted: .peerGreeted
      case .answered: .peerAnswered
      case .given: .messageGiven
      case .arrived: .messageArrived
      case .left: .peerLeft
      case .deleted: .delete
      case .deletedSilently: .deleteSilently
      case .published: .publish
      case .requestArrived: .requestArrived
      case .abandoned: .abandon
      }
    }
  }

  /// The data that accepting an invitation sends to the other side.
  struct Acceptance {
    let joined: KeyAgreement.Joined
    let signingKey: SigningPublicKey
    let profile: Profile
    let replyMailbox: [UInt8]
  }

  let cause: Cause
  let store: Store
  let connectionID: Int64
  /// Nil for a connection created by this step.
  let connection: StoredConnection?
  /// The ratchet of the message that caused the event; the caller stores it.
  var ratchet: StoredRatchet?

  /// The only key whose messages the relay may accept in our mailbox.
  private(set) var securingKey: [UInt8]?
  private(set) var isConnected = false
  private(set) var hasLeft = false

  init(
    _ cause: Cause, _ store: Store, _ connectionID: Int64, _ connection: StoredConnection?, ratchet: StoredRatchet?
  ) {
    self.cause = cause
    self.store = store
    self.connectionID = connectionID
    self.connection = connection
    self.ratchet = ratchet
  }

  mutating func secure(with key: SigningPublicKey) { securingKey = key.bytes }
  mutating func noteConnected() { isConnected = true }
  mutating func noteLeft() { hasLeft = true }
}

/// Writes what the steps of `connection` record.
struct ConnectionRecorder: PorterMachines.ConnectionRecord {
  typealias State = PorterMachines.Connection.State

  let context: EngineContext
  unowned let work: any ConnectionWork

  func sendConfirmation(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .accepted(let acceptance) = change.cause else { return misplaced("sendConfirmation", change) }
    let joined = acceptance.joined
    var ratchet = StoredRatchet(ratchet: joined.ratchet, associatedData: joined.associatedData)
    let information = ChatMessage.information(acceptance.profile, replyMailbox: acceptance.replyMailbox)
    let envelope = Envelope.confirmation(
      publicKeys: joined.publicKeys, signingKey: acceptance.signingKey, message: try ratchet.seal(information))
    // SimpleX flags confirmations, so that the user is notified of a new contact while the app sleeps.
    _ = try change.store.insertOutbox(
      connectionID: change.connectionID, itemID: nil, purpose: OutboxEntry.confirmationPurpose, isSigned: false,
      notifies: true, body: envelope.bytes, deduplication: context.randomness.bytes(24))
    try change.store.save(ratchet, connectionID: change.connectionID)
  }

  func secureMailbox(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .confirmed(let key, _) = change.cause else { return misplaced("secureMailbox", change) }
    change.secure(with: key)
  }

  func sendGreeting(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .confirmed(_, let profile) = change.cause else { return misplaced("sendGreeting", change) }
    try enqueue(.information(profile, replyMailbox: nil), &change)
  }

  func sendAnswer(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    try enqueue(.greeted, &change)
  }

  /// Each of these connects the other side, whose user is notified even while the app is suspended.
  private func enqueue(_ message: ChatMessage, _ change: inout ConnectionChange) throws(StoreError) {
    guard var ratchet = change.ratchet else { return misplaced("a message without a ratchet", change) }
    try change.store.enqueue(
      message, connectionID: change.connectionID, itemID: nil, with: &ratchet, attempt: context.randomness.bytes(24),
      notifies: true)
    change.ratchet = ratchet
  }

  /// The connection's outbox is deleted with it, so this message is queued with the requests to the server.
  func sendLeft(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard let connection = change.connection else { return misplaced("sendLeft", change) }
    guard connection.contactID != nil, let peer = connection.peerSenderID else { return }
    // Without the confirmation the other side would wait indefinitely. With it, it greets a mailbox that no longer
    // exists, and the relay's answer shows that this side has left.
    if let confirmation = try change.store.waitingConfirmation(connectionID: connection.id) {
      return try change.store.insertServerRequest(
        mailbox: peer, body: confirmation.body, deduplication: confirmation.deduplication)
    }
    // If the other side has not sent its greeting yet, its mailbox may refuse signed messages; then the same happens.
    guard var ratchet = try change.store.ratchet(connectionID: connection.id) else { return }
    let sealed = try ratchet.seal(.left)
    try change.store.insertServerRequest(
      mailbox: peer, key: connection.peerKey, body: Envelope.message(sealed[...]).bytes,
      deduplication: context.randomness.bytes(24))
  }

  /// Queued with the requests to the server, since the connection's outbox is deleted with it.
  func withdrawRequest(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard let request = change.connection?.request, let key = BoxPublicKey(bytes: request.key) else { return }
    let envelope: Envelope
    do throws(CryptoError) {
      envelope = try RequestMessage.withdrawn(person: request.person).sealed(for: key, randomness: context.randomness)
    } catch {
      throw .damaged(.connection)
    }
    try change.store.insertServerRequest(
      mailbox: request.mailbox, key: nil, body: envelope.bytes, deduplication: context.randomness.bytes(24))
  }

  func emitContactConnected(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    change.noteConnected()
  }

  func emitContactLeft(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    change.noteLeft()
    guard let connection = change.connection else { return misplaced("emitContactLeft", change) }
    try work.recordContactLeft(connection, change.store)
  }

  func deleteSubscription(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard let connection = change.connection else { return misplaced("deleteSubscription", change) }
    try work.record(.turnOff, connection, change.store)
  }

  func sendMessage(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .given(let record) = change.cause else { return misplaced("sendMessage", change) }
    try record()
  }

  func deliverMessage(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .arrived(let record) = change.cause else { return misplaced("deliverMessage", change) }
    try record()
  }

  func deliverRequest(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    guard case .requestArrived(let record) = change.cause else { return misplaced("deliverRequest", change) }
    try record()
  }

  func deleteMailbox(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    try change.store.queueMailboxDeletion(of: change.connectionID)
  }

  func forgetKeys(_ change: inout ConnectionChange, _ next: State) throws(StoreError) {
    try change.store.withdrawEntries(connectionID: change.connectionID)
    try work.record(.forget, try change.store.connection(change.connectionID), change.store)
  }

  /// Reports an effect that does not belong to this event.
  private func misplaced(_ effect: String, _ change: ConnectionChange) {
    assertionFailure("connection: \(effect) on \(change.cause.event.name)")
    context.log(.error, "an effect was not recorded", ["event": change.cause.event.name, "effect": effect])
  }
}
