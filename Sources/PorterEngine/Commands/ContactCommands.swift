import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// `/_connect` makes an invitation, `/connect` uses one.
extension Engine {
  func requireRelay() throws(ChatError) {
    try requireNetwork()
    if relayLink.isOpen { return }
    // The store may know a relay, and could not be read when the chat began: a host is not to choose another one.
    throw context.timers.isSet(TimerName.relay)
      ? .nightporter(.relayUnavailable("the store could not be read")) : .nightporter(.relayMissing)
  }

  func addContact(_ selection: UserSelection, incognito: Bool, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    try requireRelay()
    let recipientKey = try context.newSigningKey()
    let peerKey = try context.newSigningKey()
    let secret: InvitationSecret
    do throws(CryptoError) { secret = try .create(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    relayLink.perform(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: nil)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): reply(.error(ChatError(error, relay: self.relayLink.name)))
      case .success(let mailbox):
        let link = InvitationLink(
          senderID: mailbox.sender.bytes, publicKeys: secret.publicKeys, peerKey: peerKey.publicKey)
        var new = NewConnection(
          userID: user.id, contactID: nil, agentID: self.configuration.randomness.bytes(24),
          status: PorterMachines.Connection.initial.name, isInitiated: false,
          recipientID: mailbox.recipient.bytes,
          recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: false, peerSenderID: nil,
          peerKey: peerKey,
          invitation: SecretBytes(secret.exposeForStorage()), link: link.text)
        if incognito { new.incognito = IncognitoProfile.make(self.configuration.randomness).json.text }
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
    return try stored { () throws(StoreError) in
      let id = try store.transaction { () throws(StoreError) in
        try self.connections.make(new, .invited, store)
      }
      return try store.connection(id)
    }
  }

  func connect(
    _ selection: UserSelection, link text: String, incognito: Bool, reply: @escaping Reply
  ) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    try requireRelay()
    let profile = incognito ? IncognitoProfile.make(configuration.randomness).json.text : nil
    switch try ConnectionLink(checking: text) {
    case .address(let link): try connect(address: link, user, incognito: profile, reply: reply)
    case .invitation(let link):
      try requireOthers(link.senderID, user)
      guard let joining = try joiner.reserve(link, userID: user.id, incognito: profile) else {
        return reply(try repeated(link, user))
      }
      joiner.join(joining) { outcome in
        switch outcome {
        case .joined(let user, let connection):
          reply(
            .result(
              .sentConfirmation(
                UserRecord(user), PendingConnectionRecord(connection),
                incognito: Profile(incognito: connection.incognito))))
        case .refused: reply(.error(.nightporter(.invitationUsed)))
        case .failed(let error, _): reply(.error(error))
        }
      }
    }
  }
}
