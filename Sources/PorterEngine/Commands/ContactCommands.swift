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
          status: ConnectionMachine.initial.name, isInitiated: false,
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
    let step = ConnectionMachine.step(.none, .invite)
    let connection = try stored { () throws(StoreError) in
      let id = try store.transaction { () throws(StoreError) in
        try self.insert(new, after: step, store)
      }
      return try store.connection(id)
    }
    connectionWasMade(connection, step)
    return connection
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
    try requireOthers(link, user)
    guard let joining = try reserve(link, user) else { return reply(try repeated(link, user)) }
    join(joining, reply: reply)
  }

  func newSigningKey() throws(ChatError) -> SigningKeyPair {
    do throws(CryptoError) { return try .generate(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
  }
}
