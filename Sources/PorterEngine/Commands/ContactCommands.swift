import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// `/_connect` creates an invitation, `/connect` accepts one.
extension Engine {
  func requireRelay() throws(ChatError) {
    try requireNetwork()
    if relayLink.isOpen { return }
    // The store, which could not be read when the chat began, may name a relay: the host must not choose another one.
    throw context.timers.isSet(TimerName.relay)
      ? .nightporter(.relayUnavailable("the store could not be read")) : .nightporter(.relayMissing)
  }

  func addContact(_ selection: UserSelection, incognito: Bool, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    let secret: InvitationSecret
    do throws(CryptoError) { secret = try .create(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    try makeMailbox(for: user, secret: SecretBytes(secret.exposeForStorage()), reply: reply) { engine, new in
      reply(
        Answer(catching: { () throws(ChatError) in
          var new = new
          let link = InvitationLink(
            senderID: new.senderID, publicKeys: secret.publicKeys, peerKey: new.peerKey.publicKey
          ).text
          new.link = link
          if incognito { new.incognito = IncognitoProfile.make(engine.configuration.randomness).json.text }
          return .invitation(UserRecord(user), link: link, PendingConnectionRecord(try engine.insert(new)))
        }))
    }
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
        return reply(try repeated(link, user, incognito: incognito))
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
