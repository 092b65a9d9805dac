import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Using somebody's invitation: once, whoever began it and however often it is asked for.
extension Engine {
  /// Reserved before the relay is asked, with all that it takes to finish: nil when the invitation was used (INC-08).
  func reserve(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) -> Joining? {
    let store = try requireStore()
    let material = Joining.material(
      user: user.id, link: link, recipientKey: try newSigningKey(), peerKey: try newSigningKey())
    let reservation = try stored { () throws(PorterStore.StoreError) in
      try store.transaction { () throws(PorterStore.StoreError) in
        try store.reserve(
          .invitation, link.senderID, by: self.context.identity, material: material, at: self.configuration.clock.wall()
        )
      }
    }
    guard let reservation else { return nil }
    guard let joining = Joining(reservation) else { throw .nightporter(.storeDamaged) }
    return joining
  }

  /// Whoever used it before, in this process or another, made the connection; the answer is the same.
  func repeated(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) -> Answer {
    let store = try requireStore()
    let connection = try stored { () throws(PorterStore.StoreError) in try store.connection(peerSenderID: link.senderID)
    }
    guard let connection else { throw .error(.invalidConnReq) }
    return .result(.sentConfirmation(UserRecord(user), PendingConnectionRecord(connection)))
  }

  /// The same key again gives the same mailbox, so that an attempt that was cut off leaves nothing behind.
  func join(_ joining: Joining, reply: @escaping Reply) {
    let (recipientKey, peerKey) = (joining.recipientKey, joining.link.peerKey)
    self.joining.insert(joining.link.senderID)
    withRelay(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: peerKey)
    } then: { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.beforeJoin)
      self.joining.remove(joining.link.senderID)
      switch result {
      case .failure(let error):
        // Whoever was told that it failed may try again; suspending is no failure, and is gone on with.
        if error != .closed, let reservation = joining.reservation { self.undo(reservation) }
        reply(.error(self.chatError(error)))
      case .success(let mailbox):
        reply(Answer(catching: { () throws(ChatError) in try self.join(joining, mailbox) }))
        self.flushOutbox()
      }
    }
  }

  private func undo(_ reservation: Reservation) {
    do throws(PorterStore.StoreError) {
      try store?.transaction(under: reservation) { () throws(PorterStore.StoreError) in
        try self.store?.undo(reservation)
      }
    } catch {
      log(.info, "a reservation stays as it is", ["error": error.description])
    }
  }

  /// Goes on with what a process that is gone, or a suspension, left behind.
  func finishJoining() {
    guard maySend,
      let open = read(
        { (store) throws(PorterStore.StoreError) in try store.openReservations(.invitation) },
        orLater: TimerName.joining, Engine.finishJoining)
    else { return }
    for left in open where !joining.contains(left.value) {
      guard let link = Joining(left.material)?.link else { continue }
      do throws(ChatError) {
        // The user on record counts, not this one; there is one in any case.
        if let joining = try reserve(link, try requireActiveUser()) { join(joining) { _ in } }
      } catch {
        log(.info, "an invitation that was begun is taken up later")
        later(TimerName.joining, Engine.finishJoining)
      }
    }
  }

  /// Records the connection, its ratchet and the confirmation to be sent in one transaction.
  private func join(_ joining: Joining, _ mailbox: RelayClient.Mailbox) throws(ChatError) -> Response {
    let store = try requireStore()
    guard let reservation = joining.reservation else { throw .nightporter(.ownershipLost(holder: "another process")) }
    let (link, recipientKey, peerKey) = (joining.link, joining.recipientKey, joining.peerKey)
    let user = try stored { () throws(PorterStore.StoreError) in try store.user(joining.userID) }
    let joined: KeyAgreement.Joined
    do throws(CryptoError) {
      joined = try KeyAgreement.join(invitationKeys: link.publicKeys, randomness: configuration.randomness)
    } catch {
      throw .error(.invalidConnReq)
    }
    let step = ConnectionMachine.step(.none, .accept)
    let new = NewConnection(
      userID: user.id, contactID: nil, agentID: configuration.randomness.bytes(24),
      status: step.next.name, isInitiated: true, recipientID: mailbox.recipient.bytes,
      recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: true, peerSenderID: link.senderID,
      peerKey: peerKey, invitation: nil, link: nil)
    let connection = try stored { () throws(PorterStore.StoreError) in
      let id = try store.transaction(under: reservation) { () throws(PorterStore.StoreError) in
        try store.use(reservation)
        let id = try self.insert(new, after: step, store)
        guard step.effects.contains(.sendConfirmation) else { return id }
        var ratchet = StoredRatchet(ratchet: joined.ratchet, associatedData: joined.associatedData)
        let information = ChatMessage.information(user.profileToSend, replyMailbox: mailbox.sender.bytes)
        let sealed = try self.seal(information, &ratchet)
        let envelope = Envelope.confirmation(
          publicKeys: joined.publicKeys, signingKey: peerKey.publicKey, message: sealed)
        // SimpleX flags confirmations, so that a person learns of a new contact while the app sleeps.
        _ = try store.insertOutbox(
          connectionID: id, itemID: nil, purpose: "confirmation", isSigned: false, notifies: true, body: envelope.bytes,
          deduplication: self.configuration.randomness.bytes(24))
        try store.save(ratchet, connectionID: id)
        return id
      }
      return try store.connection(id)
    }
    connectionWasMade(connection, step)
    return .sentConfirmation(UserRecord(user), PendingConnectionRecord(connection))
  }
}
