import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Uses invitations: each once, whichever process began it and however often it is requested. Threads: the engine's.
final class Joiner {
  private typealias ConnectionMachine = PorterMachines.Connection

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let relay: RelayLink
  private let connections: Connections
  private let sender: Sender

  /// Invitations being used.
  private var underWay = UnderWay<[UInt8]>()

  init(
    _ context: EngineContext, lifecycle: Lifecycle, relay: RelayLink, connections: Connections, sender: Sender
  ) {
    self.context = context
    self.lifecycle = lifecycle
    self.relay = relay
    self.connections = connections
    self.sender = sender
  }

  /// The relay was closed: what is in progress belongs to it.
  func relayHasClosed() { underWay.giveUp() }

  /// How the use of an invitation ended.
  enum Outcome {
    case joined(StoredUser, StoredConnection)
    /// The relay does not know the invitation's mailbox, or it was secured for another sender.
    case refused
    case failed(ChatError, isTemporary: Bool)
  }

  /// Records the contact that the connection is for, if known before it answers, and the result. Both are part of the
  /// transaction that records the connection.
  struct ContactRecording {
    let contact: (Store) throws(StoreError) -> Int64
    /// The profile the contact sees instead of the user's own. Read last: the user may have chosen it in the meantime.
    let incognito: (Store) throws(StoreError) -> String?
    let connection: (_ id: Int64, _ contactID: Int64, Store) throws(StoreError) -> Void
  }

  /// Reserves the invitation before the relay is asked, with everything needed to finish; nil when it was already used
  /// (INC-08). Nothing is sent before that, so an earlier command's unfinished request gives way: a user who tries
  /// again incognito does not show their own profile.
  func reserve(_ link: InvitationLink, userID: Int64, incognito: String?) throws(ChatError) -> Joining? {
    let material = Joining.material(
      user: userID, link: link, incognito: incognito, recipientKey: try context.newSigningKey(),
      peerKey: try context.newSigningKey())
    return try reserve(link.senderID, material) { (reserved, store) throws(StoreError) in
      // An earlier version may have reserved the mailbox for an unusable invitation.
      guard let known = Joining(reserved) else { return try store.revise(reserved, material: material) }
      guard let changed = known.material(asking: userID, incognito) else { return reserved }
      return try store.revise(reserved, material: changed)
    }
  }

  /// Takes over what was begun, as recorded.
  private func takeOver(_ left: StoredReservation) throws(ChatError) -> Joining? {
    try reserve(left.value, left.material) { (reserved, _) throws(StoreError) in reserved }
  }

  private func reserve(
    _ mailbox: [UInt8], _ material: SecretBytes,
    revised: (Reservation, Store) throws(StoreError) -> Reservation
  ) throws(ChatError) -> Joining? {
    let store = try lifecycle.requireStore()
    let reservation = try lifecycle.mapStoreErrors { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> Reservation? in
        let reserved = try store.reserve(
          .invitation, mailbox, by: self.context.identity, material: material, at: self.context.clock.wall())
        guard let reserved else { return nil }
        return try revised(reserved, store)
      }
    }
    guard let reservation else { return nil }
    guard let joining = Joining(reservation) else { throw .nightporter(.storeDamaged) }
    return joining
  }

  /// The same key gives the same mailbox again, so that an interrupted attempt leaves nothing behind.
  func join(_ joining: Joining, _ recording: ContactRecording? = nil, then: @escaping (Outcome) -> Void) {
    let (recipientKey, peerKey) = (joining.recipientKey, joining.link.peerKey)
    let ticket = underWay.begin(joining.link.senderID)
    relay.perform(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: peerKey)
    } then: { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.beforeJoin)
      self.underWay.end(ticket)
      switch result {
      case .failure(let error):
        // After a failure the host may try again; a suspension is not a failure, and the attempt continues later.
        if error != .closed, let reservation = joining.reservation { self.undo(reservation) }
        then(.failed(ChatError(error, relay: self.relay.name), isTemporary: error.isTemporary))
      case .success(let mailbox):
        do throws(ChatError) {
          let (user, connection) = try self.join(joining, mailbox, recording)
          self.sender.confirm(connection.id, isNew: true) { isRefused in
            then(isRefused ? .refused : .joined(user, connection))
          }
        } catch {
          then(.failed(error, isTemporary: error.isTemporary))
        }
      }
    }
  }

  private func undo(_ reservation: Reservation) {
    do throws(StoreError) {
      try context.store?.transaction(under: reservation) { () throws(StoreError) in
        try self.context.store?.undo(reservation)
      }
    } catch {
      context.log(.info, "a reservation stays as it is", ["error": error.description])
    }
  }

  /// Finishes what a process that ended, or a suspension, left unfinished.
  func finishLeft() {
    guard lifecycle.maySend,
      let open = context.retries.read(
        orLater: TimerName.joining, { [weak self] in self?.finishLeft() },
        { (store) throws(StoreError) in try store.openReservations(.invitation) })
    else { return }
    for left in open where !underWay.contains(left.value) && !isRequest(left.value) {
      guard Joining(left.material) != nil else { continue }
      do throws(ChatError) {
        if let joining = try takeOver(left) { join(joining) { _ in } }
      } catch {
        context.log(.info, "an invitation that was begun is taken up later")
        context.retries.later(TimerName.joining) { [weak self] in self?.finishLeft() }
      }
    }
  }

  /// Whether it belongs to a request: the use of an accepted request's invitation continues with the request. A mailbox
  /// named in a stranger's request does not hold back the user's own use of it.
  private func isRequest(_ mailbox: [UInt8]) -> Bool {
    let request = try? context.store?.contactRequest(invitationMailbox: mailbox)
    return request?.state == PorterMachines.ContactRequest.State.accepting.name
  }

  /// Records the connection, its ratchet and the confirmation to send in one transaction.
  private func join(
    _ joining: Joining, _ mailbox: RelayClient.Mailbox, _ recording: ContactRecording?
  ) throws(ChatError) -> (StoredUser, StoredConnection) {
    let store = try lifecycle.requireStore()
    guard let reservation = joining.reservation else { throw .nightporter(.ownershipLost(holder: "another process")) }
    let (link, recipientKey, peerKey) = (joining.link, joining.recipientKey, joining.peerKey)
    let user = try lifecycle.mapStoreErrors { () throws(StoreError) in try store.user(joining.userID) }
    let joined: KeyAgreement.Joined
    do throws(CryptoError) {
      joined = try KeyAgreement.join(invitationKeys: link.publicKeys, randomness: context.randomness)
    } catch {
      switch error {
      case .publicKeyRefused, .malformed: throw .error(.invalidConnReq)
      default: throw .internal(error.description)
      }
    }
    var new = NewConnection(
      userID: user.id, contactID: nil, agentID: context.randomness.bytes(24),
      status: ConnectionMachine.initial.name, isInitiated: true, recipientID: mailbox.recipient.bytes,
      recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: true, peerSenderID: link.senderID,
      peerKey: peerKey, invitation: nil, link: nil)
    new.incognito = joining.incognito
    let connection = try lifecycle.mapStoreErrors { () throws(StoreError) in
      let id = try store.transaction(under: reservation) { () throws(StoreError) in
        try store.use(reservation)
        new.contactID = try recording?.contact(store)
        if let recording { new.incognito = try recording.incognito(store) }
        let id = try self.connections.make(
          new,
          .accepted(
            .init(
              joined: joined, signingKey: peerKey.publicKey,
              profile: Profile(incognito: new.incognito) ?? user.profileToSend, replyMailbox: mailbox.sender.bytes)),
          store)
        if let recording, let contactID = new.contactID { try recording.connection(id, contactID, store) }
        return id
      }
      return try store.connection(id)
    }
    return (user, connection)
  }
}
