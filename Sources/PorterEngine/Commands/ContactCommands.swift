import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// `/_connect` makes an invitation, `/connect` uses one.
extension Engine {
  func requireRelay() throws(ChatError) -> RelayDriver {
    guard let relay else { throw .nightporter(.relayMissing) }
    return relay
  }

  func addContact(_ selection: UserSelection, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    _ = try requireRelay()
    let recipientKey = try newSigningKey()
    let peerKey = try newSigningKey()
    let secret: InvitationSecret
    do throws(CryptoError) { secret = try .create(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    withRelay(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: nil)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): reply(.error(self.chatError(error)))
      case .success(let mailbox):
        let link = InvitationLink(
          senderID: mailbox.sender.bytes, publicKeys: secret.publicKeys, peerKey: peerKey.publicKey)
        let new = NewConnection(
          userID: user.id, contactID: nil, agentID: self.configuration.randomness.bytes(24),
          status: PorterMachines.Connection.State.requested.name, isInitiated: false,
          recipientID: mailbox.recipient.bytes,
          recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: false, peerSenderID: nil,
          peerKey: peerKey,
          invitation: SecretBytes(secret.exposeForStorage()), link: link.text)
        self.finishAddContact(user, new, link: link.text, reply)
      }
    }
  }

  private func finishAddContact(_ user: StoredUser, _ new: NewConnection, link: String, _ reply: Reply) {
    reply(
      Answer(catching: { [self] () throws(ChatError) in
        let connection = try insert(new)
        return .invitation(UserRecord(user), link: link, PendingConnectionRecord(connection))
      }))
  }

  private func insert(_ new: NewConnection) throws(ChatError) -> StoredConnection {
    let store = try requireStore()
    let connection = try stored { () throws(PorterStore.StoreError) in
      let id = try store.transaction { () throws(PorterStore.StoreError) in
        try store.insertConnection(new, at: self.configuration.clock.wall())
      }
      return try store.connection(id)
    }
    connectionWasMade(connection)
    return connection
  }

  /// It is listened to at once, and announced to the notification server when there is a token.
  func connectionWasMade(_ connection: StoredConnection) {
    subscribe([connection])
    ensureSubscriptions()
  }

  func connect(_ selection: UserSelection, link text: String, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    _ = try requireRelay()
    let link: InvitationLink
    do throws(InvitationLink.Failure) { link = try InvitationLink(parsing: text) } catch {
      switch error {
      case .notAnInvitation: throw .error(.invalidConnReq)
      case .unsupportedVersion: throw .error(.unsupportedConnReq)
      }
    }
    guard let joining = try reserve(link, user) else { return reply(try repeated(link, user)) }
    join(joining, reply: reply)
  }

  func newSigningKey() throws(ChatError) -> SigningKeyPair {
    do throws(CryptoError) { return try .generate(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
  }

  // MARK: Deleting

  func deleteChat(_ chat: ChatReference, _ deletion: ChatDeletion) throws(ChatError) -> Response {
    switch (chat, deletion) {
    case (.contact(let id), .full), (.contact(let id), .entity): return try deleteContact(id)
    case (.contact, .messages): throw .nightporter(.notSupported("deleting messages only"))
    case (.pendingConnection(let id), _): return try deletePendingConnection(id)
    case (.group, _): throw .nightporter(.notSupported("groups"))
    case (.noteFolder, _): throw .nightporter(.notSupported("note folders"))
    }
  }

  private func deletePendingConnection(_ id: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    let connection = try stored { () throws(PorterStore.StoreError) in try store.connection(id) }
    guard connection.contactID == nil else { throw .store(.pendingConnectionNotFound(id)) }
    let user = try stored { () throws(PorterStore.StoreError) in try store.user(connection.userID) }
    try stored { () throws(PorterStore.StoreError) in try store.deletePendingConnection(id) }
    deleteMailboxes()
    return .contactConnectionDeleted(UserRecord(user), PendingConnectionRecord(connection))
  }

  /// Works off the list of mailboxes that nobody reads any more.
  func deleteMailboxes() {
    guard maySend, relay != nil, let store, let mailboxes = try? store.deletedMailboxes() else { return }
    for mailbox in mailboxes {
      guard let identifier = RelayIdentifier(bytes: mailbox.id) else { continue }
      withRelay(.sending) { (client) throws(RelayError) in
        try client.deleteMailbox(identifier, key: mailbox.key)
      } then: { [weak self] result in
        switch result {
        // A mailbox that the relay does not know is as good as deleted.
        case .success, .failure(.auth): try? self?.store?.forgetDeletedMailbox(mailbox.id)
        case .failure: break
        }
      }
    }
  }
}
