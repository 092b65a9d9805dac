import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// One event of the machine `call`, with its step's inputs and findings. Lives as long as its transaction.
struct CallChange {
  typealias Event = PorterMachines.Call.Event

  /// The event, with its data.
  enum Cause {
    case invited(CallType)
    case peerInvited(isLate: Bool)
    case accepted, rejected
    case offered(CallOffer)
    case peerOffered(CallOffer, key: BoxPublicKey?)
    case answered(MediaSession)
    case peerAnswered(MediaSession)
    case added(candidates: String)
    case peerAdded(candidates: String)
    case status(CallStatus)
    case ended, peerEnded, expired, replaced

    /// Nil for a status with no meaning for the call.
    var event: Event? {
      switch self {
      case .invited: .invite
      case .peerInvited(let isLate): isLate ? .peerLate : .peerInvited
      case .accepted: .accept
      case .rejected: .reject
      case .offered: .offer
      case .peerOffered: .peerOffered
      case .answered: .answer
      case .peerAnswered: .peerAnswered
      case .added: .extra
      case .peerAdded: .peerExtra
      case .status(.connecting): nil
      case .status(.connected): .statusConnected
      case .status(.disconnected): .statusDisconnected
      case .status(.failed): .statusFailed
      case .ended: .end
      case .peerEnded: .peerEnded
      case .expired: .expire
      case .replaced: .replace
      }
    }
  }

  let cause: Cause
  let store: Store
  let connection: StoredConnection
  /// Whether messages can be sent to the contact.
  let maySend: Bool
  var call: StoredCall
  /// The contact has another call, which continues: this one appears only in the chat.
  var isBesideAnother = false
  /// The step's change to the chat.
  var itemChange: ItemChange?

  init(_ cause: Cause, _ store: Store, _ connection: StoredConnection, _ call: StoredCall, maySend: Bool) {
    self.cause = cause
    self.store = store
    self.connection = connection
    self.call = call
    self.maySend = maySend
  }
}

/// Kinds of events that wait for the host.
enum CallEventKind: String {
  case invitation, offer, answer, extra, ended
}

/// Writes what the steps of `call` record.
struct CallRecorder: PorterMachines.CallRecord {
  typealias State = PorterMachines.Call.State

  let context: EngineContext
  /// Whether the user sees what happens in the app.
  let isOnScreen: () -> Bool

  // MARK: The chat

  func addItem(_ change: inout CallChange, _ next: State) throws(StoreError) {
    let call = change.call
    let content = CallItem(status: Self.status(next)).stored.text
    let now = context.clock.wall()
    if call.isIncoming {
      change.call.itemID = try change.store.insertReceivedItem(
        contactID: call.contactID, content: content, sharedID: nil, itemAt: call.calledAt, at: now
      ).id
    } else {
      let item = try change.store.insertSentItem(
        contactID: call.contactID, content: content, sharedID: nil, itemAt: call.calledAt, at: now,
        moment: context.sinceBoot)
      (change.call.itemID, change.itemChange) = (item, .sent(itemID: item))
    }
  }

  func updateItem(_ change: inout CallChange, _ next: State) throws(StoreError) {
    let now = context.clock.wall()
    if next == .connected { change.call.connectedAt = now }
    guard let item = change.call.itemID else { return }
    let duration = change.call.connectedAt.map { max(0, now.seconds - $0.seconds) } ?? 0
    let content = CallItem(status: Self.status(next), duration: next == .ended ? duration : 0)
    try change.store.setItemContent(item, content.stored.text, at: now)
    change.itemChange = .edited(itemID: item)
  }

  private static func status(_ state: State) -> CallItem.Status {
    switch state {
    case .idle, .invited, .ringing: .pending
    case .accepted, .offerSent, .offerReceived: .accepted
    case .negotiated: .negotiated
    case .connected: .progress
    case .ended: .ended
    case .missed: .missed
    case .rejected: .rejected
    case .failed: .error
    }
  }

  /// A user who answered has seen the call; otherwise it stays unread. Of a missed call a notification remains, unless
  /// the app on screen shows it.
  func stopRinging(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard let item = change.call.itemID else { return }
    switch next {
    case .accepted, .offerSent, .rejected:
      try change.store.recordRead(contactID: change.call.contactID, only: [item], at: context.clock.wall()) {
        context.disappearance(after: $0)
      }
    case .idle, .invited, .ringing, .offerReceived, .negotiated, .connected, .ended, .missed, .failed:
      let isShown = next == .missed && !isOnScreen()
      for entry in try change.store.ledgerEntries(itemID: item) {
        try change.store.raise(isShown ? .edit : .lapse, entry)
      }
    }
  }

  // MARK: To the contact

  func sendInvitation(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard case .invited(let type) = change.cause else { return misplaced("sendInvitation", change) }
    try send(.invitation(type, key: change.call.secret?.publicKey), &change, item: change.call.itemID)
    change.call.invitationID = try change.store.newestOutboxEntry(connectionID: change.connection.id)
  }

  func withdrawInvitation(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard let entry = change.call.invitationID else { return }
    try change.store.withdrawOutboxEntry(entry)
    change.call.invitationID = nil
  }

  func sendOffer(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard case .offered(let offer) = change.cause else { return misplaced("sendOffer", change) }
    try send(.offer(offer, key: offer.type.encrypts ? change.call.secret?.publicKey : nil), &change)
  }

  func sendAnswer(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard case .answered(let session) = change.cause else { return misplaced("sendAnswer", change) }
    try send(.answer(session), &change)
  }

  func sendExtra(_ change: inout CallChange, _ next: State) throws(StoreError) {
    guard case .added(let candidates) = change.cause else { return misplaced("sendExtra", change) }
    try send(.extra(candidates: candidates), &change)
  }

  func sendEnd(_ change: inout CallChange, _ next: State) throws(StoreError) {
    // The invitation may have been on its way when it was withdrawn. Only the end of a call that was not answered wakes
    // a sleeping device, on which its notification still rings.
    if change.maySend { try send(.end, &change, notifies: next == .missed) }
  }

  private func send(
    _ content: CallSignal.Content, _ change: inout CallChange, item: Int64? = nil, notifies: Bool? = nil
  ) throws(StoreError) {
    let id = change.connection.id
    guard var ratchet = try change.store.ratchet(connectionID: id) else { throw .notFound(.connection) }
    try change.store.enqueue(
      .call(CallSignal(id: change.call.sharedID, content)), connectionID: id, itemID: item, with: &ratchet,
      attempt: context.randomness.bytes(24), notifies: notifies)
    try change.store.save(ratchet, connectionID: id)
  }

  // MARK: To the host

  func queueEvent(_ change: inout CallChange, _ next: State) throws(StoreError) {
    let (kind, content): (CallEventKind, JSONValue)
    switch change.cause {
    case .peerInvited: (kind, content) = (.invitation, [:])
    case .peerOffered(let offer, let key):
      try agree(with: key, &change)
      (kind, content) = (.offer, offer.json)
    case .peerAnswered(let session): (kind, content) = (.answer, session.json)
    case .peerAdded(let candidates):
      guard try hasRoomForExtra(change) else {
        return context.log(
          .warning, "an addition to a call was dropped, since too many wait", ["call": String(change.call.id)])
      }
      (kind, content) = (.extra, ["rtcIceCandidates": .string(candidates)])
    default: return misplaced("queueEvent", change)
    }
    try change.store.queueCallEvent(contactID: change.call.contactID, kind: kind.rawValue, content: content.text)
  }

  /// Additions are the only events of which a contact can send any number. A connected call does not expire, and its
  /// host may not be running.
  private func hasRoomForExtra(_ change: CallChange) throws(StoreError) -> Bool {
    try change.store.hasRoomForCallEvent(
      contactID: change.call.contactID, kind: CallEventKind.extra.rawValue, count: 256, bytes: 262_144)
  }

  func forgetEvents(_ change: inout CallChange, _ next: State) throws(StoreError) {
    // The host must still be notified of the end of an earlier call, which it may be showing.
    try change.store.dropCallEvents(contactID: change.call.contactID, after: CallEventKind.ended.rawValue)
  }

  func queueEnd(_ change: inout CallChange, _ next: State) throws(StoreError) {
    try change.store.dropCallEvents(contactID: change.call.contactID)
    try change.store.queueCallEvent(
      contactID: change.call.contactID, kind: CallEventKind.ended.rawValue, content: "{}")
  }

  /// Without a valid key from the contact, the media get no key of their own.
  private func agree(with key: BoxPublicKey?, _ change: inout CallChange) throws(StoreError) {
    guard let secret = change.call.secret else { return }
    if let key, let shared = try? secret.agree(with: key) {
      change.call.sharedKey = SecretBytes(shared.exposeForStorage())
    }
    change.call.secret = nil
  }

  /// Reports an effect that does not belong to this event.
  private func misplaced(_ effect: String, _ change: CallChange) {
    assertionFailure("call: \(effect) in \(change.call.state.name)")
    context.log(.error, "an effect was not recorded", ["effect": effect])
  }
}
