import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// `/_accept`, `/_reject`, and `/connect` with an address link.
extension Engine {
  // MARK: Requests of others

  func acceptContact(_ id: Int64, incognito: Bool, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    try requests.accept(id, incognito: incognito, for: .command) { [weak self] acceptance in
      guard let self else { return }
      switch acceptance {
      case .pending(let error, _), .stale(let error): reply(.error(error))
      case .accepted(let contact):
        reply(
          Answer(catching: { () throws(ChatError) in
            let store = try self.requireStore()
            let user = try self.stored { () throws(StoreError) in try store.user(contact.userID) }
            return .acceptingContactRequest(UserRecord(user), try self.contactRecord(contact))
          }))
      }
    }
  }

  func rejectContact(_ id: Int64) throws(ChatError) -> Response {
    let request = try requests.reject(id)
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.user(request.userID) }
    return .contactRequestRejected(UserRecord(user), UserContactRequest(request))
  }

  // MARK: Our request

  /// Asks, at the address, for a connection. Asking again resends the same request, which the other side recognises,
  /// with the profile it has. A user who now wants to hide theirs is not answered as if it were hidden.
  func connect(
    address link: AddressLink, _ user: StoredUser, incognito: String?, reply: @escaping Reply
  ) throws(ChatError) {
    try requireOthers(link.senderID, user)
    let store = try requireStore()
    let asked = try stored { () throws(StoreError) in
      try store.connection(userID: user.id, addressMailbox: link.senderID)
    }
    if let asked, !asked.hasLeft {
      guard let contactID = asked.contactID else {
        try Self.requireHidden(asked, incognito)
        return try askAgain(asked, user, reply: reply)
      }
      let contact = try stored { () throws(StoreError) in try store.contact(contactID) }
      return reply(.result(.contactAlreadyExists(UserRecord(user), ContactRecord(contact, connection: asked))))
    }
    try ask(link, user, incognito: incognito, reply: reply)
  }

  private func ask(
    _ link: AddressLink, _ user: StoredUser, incognito: String?, reply: @escaping Reply
  ) throws(ChatError) {
    let secret: InvitationSecret
    do throws(CryptoError) { secret = try .create(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    let person = configuration.randomness.bytes(RequestMessage.personCount)
    try makeMailbox(for: user, secret: SecretBytes(secret.exposeForStorage()), reply: reply) { engine, new in
      var new = new
      new.incognito = incognito
      new.request = AddressRequest(mailbox: link.senderID, key: link.key.bytes, person: person)
      do throws(ChatError) {
        let (connection, isNew) = try engine.insertRequest(new)
        try Self.requireHidden(connection, incognito)
        engine.finishAsking(connection, isNew: isNew, user, reply: reply)
      } catch {
        reply(.error(error))
      }
    }
  }

  private static func requireHidden(_ asked: StoredConnection, _ incognito: String?) throws(ChatError) {
    if incognito != nil, asked.incognito == nil { throw .nightporter(.profileShown) }
  }

  private func askAgain(_ connection: StoredConnection, _ user: StoredUser, reply: @escaping Reply) throws(ChatError) {
    let store = try requireStore()
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        // If accepted in the meantime, there is nothing to ask for; if not yet sent, it is already asked for.
        let connection = try store.connection(connection.id)
        guard connection.contactID == nil, try !store.hasOutbox(connectionID: connection.id) else { return }
        try self.enqueueRequest(connection, store)
      }
    }
    finishAsking(connection, isNew: false, user, reply: reply)
  }

  private func insertRequest(
    _ new: NewConnection
  ) throws(ChatError) -> (connection: StoredConnection, isNew: Bool) {
    let store = try requireStore()
    return try stored { () throws(StoreError) in
      let (id, isNew) = try store.transaction { () throws(StoreError) -> (Int64, Bool) in
        // Requested in the meantime by another command or process.
        if let request = new.request,
          let asked = try store.connection(userID: new.userID, addressMailbox: request.mailbox), !asked.hasLeft
        {
          try store.queueMailboxDeletion(recipientID: new.recipientID, key: new.recipientKey)
          return (asked.id, false)
        }
        let id = try self.connections.make(new, .invited, store)
        try self.enqueueRequest(try store.connection(id), store)
        return (id, true)
      }
      return (try store.connection(id), isNew)
    }
  }

  /// Encrypted once, in the transaction that records it.
  private func enqueueRequest(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let request = connection.request, let key = BoxPublicKey(bytes: request.key),
      let secret = connection.invitation.flatMap({ InvitationSecret(stored: $0.exposeForStorage()) })
    else { throw .damaged(.connection) }
    let invitation = InvitationLink(
      senderID: connection.senderID, publicKeys: secret.publicKeys, peerKey: connection.peerKey.publicKey)
    let message = RequestMessage.contact(
      connection.profileToSend(try store.user(connection.userID)), person: request.person, invitation: invitation)
    let envelope: Envelope
    do throws(CryptoError) {
      envelope = try message.sealed(for: key, randomness: configuration.randomness)
    } catch {
      throw .damaged(.connection)
    }
    // SimpleX flags requests, so that a person is notified of one while the app sleeps.
    _ = try store.insertOutbox(
      connectionID: connection.id, itemID: nil, purpose: OutboxEntry.requestPurpose, isSigned: false, notifies: true,
      body: envelope.bytes, deduplication: context.randomness.bytes(24))
  }

  private func finishAsking(
    _ connection: StoredConnection, isNew: Bool, _ user: StoredUser, reply: @escaping Reply
  ) {
    sender.confirm(connection.id, isNew: isNew) { [weak self] isRefused in
      // The address was deleted.
      if isRefused { return reply(.error(ChatError(.auth, relay: self?.relayLink.name ?? ""))) }
      reply(
        .result(
          .sentInvitation(
            UserRecord(user), PendingConnectionRecord(connection), incognito: Profile(incognito: connection.incognito)
          )))
    }
  }
}
