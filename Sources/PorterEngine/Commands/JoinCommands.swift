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
    let reservation = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try store.reserve(
          .invitation, link.senderID, by: self.context.identity, material: material, at: self.configuration.clock.wall()
        )
      }
    }
    guard let reservation else { return nil }
    guard let joining = Joining(reservation) else { throw .nightporter(.storeDamaged) }
    return joining
  }

  /// For an invitation that this store has used: the contact that came of it, or the connection that still waits for the
  /// other side. One that another profile used, or whose contact was deleted, is of no use any more.
  func repeated(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) -> Answer {
    let store = try requireStore()
    let connection = try stored { () throws(StoreError) in try store.connection(peerSenderID: link.senderID)
    }
    guard let connection, connection.userID == user.id else { throw .nightporter(.invitationUsed) }
    guard let contactID = connection.contactID else {
      return .result(.sentConfirmation(UserRecord(user), PendingConnectionRecord(connection)))
    }
    let contact = try stored { () throws(StoreError) in try store.contact(contactID) }
    return .result(.contactAlreadyExists(UserRecord(user), ContactRecord(contact, connection: connection)))
  }

  /// Throws if `link` leads to a mailbox of this user's.
  func requireOthers(_ link: InvitationLink, _ user: StoredUser) throws(ChatError) {
    let store = try requireStore()
    let connections = try stored { () throws(StoreError) in try store.connections() }
    if connections.contains(where: { $0.userID == user.id && $0.senderID == link.senderID }) {
      throw .nightporter(.invitationOwn)
    }
  }

  /// The same key again gives the same mailbox, so that an attempt that was cut off leaves nothing behind.
  func join(_ joining: Joining, reply: @escaping Reply) {
    let (recipientKey, peerKey) = (joining.recipientKey, joining.link.peerKey)
    let ticket = self.joining.begin(joining.link.senderID)
    withRelay(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: peerKey)
    } then: { [weak self] result in
      guard let self else { return }
      FaultPoint.reach(.beforeJoin)
      self.joining.end(ticket)
      switch result {
      case .failure(let error):
        // Whoever was told that it failed may try again; suspending is no failure, and is gone on with.
        if error != .closed, let reservation = joining.reservation { self.undo(reservation) }
        reply(.error(self.chatError(error)))
      case .success(let mailbox):
        do throws(ChatError) {
          let (user, connection) = try self.join(joining, mailbox)
          self.confirm(connection, user, reply)
        } catch {
          reply(.error(error))
        }
      }
    }
  }

  /// Sends the confirmation, and answers when the relay has answered: it refuses a first attempt if the invitation's mailbox
  /// was secured for another sender, or deleted. A later attempt it may also refuse because an earlier one arrived, whose
  /// answer was lost. What the relay cannot take now waits in the outbox.
  private func confirm(_ connection: StoredConnection, _ user: StoredUser, _ reply: @escaping Reply) {
    confirming[connection.id] = { isRefused in
      if isRefused { return reply(.error(.nightporter(.invitationUsed))) }
      reply(.result(.sentConfirmation(UserRecord(user), PendingConnectionRecord(connection))))
    }
    flushOutbox()
    // Nothing is sent while the chat suspends.
    if !sending.contains(connection.id) { confirmationEnded(connection.id, isRefused: false) }
  }

  func confirmationEnded(_ connectionID: Int64, isRefused: Bool) {
    confirming.removeValue(forKey: connectionID)?(isRefused)
  }

  /// No contact will come of the connection. False when that could not be recorded; then the confirmation is tried again.
  func dropRefused(_ connectionID: Int64) -> Bool {
    guard let store else { return false }
    do throws(StoreError) {
      try store.transaction { () throws(StoreError) in
        try self.letGo(of: try store.connection(connectionID), tellsPeer: false, store)
      }
    } catch .notFound {
      return true
    } catch {
      log(.warning, "a refused confirmation could not be recorded", ["error": error.description])
      return false
    }
    finishLettingGo()
    return true
  }

  private func undo(_ reservation: Reservation) {
    do throws(StoreError) {
      try store?.transaction(under: reservation) { () throws(StoreError) in
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
        { (store) throws(StoreError) in try store.openReservations(.invitation) },
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
  private func join(_ joining: Joining, _ mailbox: RelayClient.Mailbox) throws(ChatError) -> (
    StoredUser, StoredConnection
  ) {
    let store = try requireStore()
    guard let reservation = joining.reservation else { throw .nightporter(.ownershipLost(holder: "another process")) }
    let (link, recipientKey, peerKey) = (joining.link, joining.recipientKey, joining.peerKey)
    let user = try stored { () throws(StoreError) in try store.user(joining.userID) }
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
    let connection = try stored { () throws(StoreError) in
      let id = try store.transaction(under: reservation) { () throws(StoreError) in
        try store.use(reservation)
        let id = try self.insert(new, after: step, store)
        for effect in step.effects {
          switch effect {
          case .sendConfirmation:
            var ratchet = StoredRatchet(ratchet: joined.ratchet, associatedData: joined.associatedData)
            let information = ChatMessage.information(user.profileToSend, replyMailbox: mailbox.sender.bytes)
            let envelope = Envelope.confirmation(
              publicKeys: joined.publicKeys, signingKey: peerKey.publicKey,
              message: try self.seal(information, &ratchet))
            // SimpleX flags confirmations, so that a person learns of a new contact while the app sleeps.
            _ = try store.insertOutbox(
              connectionID: id, itemID: nil, purpose: "confirmation", isSigned: false, notifies: true,
              body: envelope.bytes, deduplication: self.configuration.randomness.bytes(24))
            try store.save(ratchet, connectionID: id)
          // After the transaction.
          case .createSubscription: break
          case .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected, .emitContactLeft,
            .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
            self.misplaced(effect, .accept)
          }
        }
        return id
      }
      return try store.connection(id)
    }
    connectionWasMade(connection, step)
    return (user, connection)
  }
}
