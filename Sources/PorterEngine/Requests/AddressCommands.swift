import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// `/_address` and its settings.
extension Engine {
  private func requireAddress(_ userID: Int64) throws(ChatError) -> (StoredUser, StoredAddress) {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    let address = try stored { () throws(StoreError) in try store.address(userID: userID) }
    guard let address else { throw .store(.userContactLinkNotFound) }
    return (user, address)
  }

  func createAddress(_ selection: UserSelection, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser(try userID(selection))
    let store = try requireStore()
    guard try stored({ () throws(StoreError) in try store.address(userID: user.id) }) == nil else {
      throw .store(.duplicateContactLink)
    }
    try requireRelay()
    let recipientKey = try context.newSigningKey()
    // Requests are answered in mailboxes of their own, so that nothing is signed with this one.
    let peerKey = try context.newSigningKey()
    let key: BoxKeyPair
    do throws(CryptoError) { key = try .generate(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    relayLink.perform(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: nil)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): reply(.error(ChatError(error, relay: self.relayLink.name)))
      case .success(let mailbox):
        let link = AddressLink(senderID: mailbox.sender.bytes, key: key.publicKey).text
        let new = NewConnection(
          userID: user.id, contactID: nil, agentID: self.configuration.randomness.bytes(24),
          status: PorterMachines.Connection.initial.name, isInitiated: false, recipientID: mailbox.recipient.bytes,
          recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: false, peerSenderID: nil,
          peerKey: peerKey, invitation: SecretBytes(key.secretKey.exposeForStorage()), link: nil)
        reply(
          Answer(catching: { () throws(ChatError) in
            try self.insertAddress(new, link: link)
            return .userContactLinkCreated(UserRecord(user), link: link)
          }))
      }
    }
  }

  private func insertAddress(_ new: NewConnection, link: String) throws(ChatError) {
    let store = try requireStore()
    let isNew = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        guard try store.address(userID: new.userID) == nil else {
          try store.queueMailboxDeletion(recipientID: new.recipientID, key: new.recipientKey)
          return false
        }
        let id = try self.connections.make(new, .published, store)
        try store.insertAddress(
          userID: new.userID, connectionID: id, link: link, settings: AddressSettings.initial.json.text,
          at: self.configuration.clock.wall())
        return true
      }
    }
    guard !isNew else { return }
    // Made meanwhile by another command, or another process.
    connections.deleteMailboxes()
    throw .store(.duplicateContactLink)
  }

  func showAddress(_ selection: UserSelection) throws(ChatError) -> Response {
    let (user, address) = try requireAddress(try userID(selection))
    return .userContactLink(UserRecord(user), AddressRecord(address))
  }

  func setAddressSettings(_ userID: Int64, _ settings: AddressSettings) throws(ChatError) -> Response {
    let (user, address) = try requireAddress(userID)
    let bytes = settings.reply?.json.utf8.count ?? 0
    guard bytes <= Envelope.largestContent else {
      throw .nightporter(.messageTooLarge(bytes: bytes, limit: Envelope.largestContent))
    }
    let store = try requireStore()
    try stored { () throws(StoreError) in try store.setAddressSettings(address.id, settings.json.text) }
    return .userContactLinkUpdated(
      UserRecord(user), AddressRecord(id: address.id, link: address.link, settings: settings))
  }

  /// Contacts stay; requests that wait cannot be accepted any more.
  func deleteAddress(_ selection: UserSelection) throws(ChatError) -> Response {
    let (user, address) = try requireAddress(try userID(selection))
    let store = try requireStore()
    try requireStarted()
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try self.requests.withdrawAll(of: address, store)
        try self.connections.delete(try store.connection(address.connectionID), tellsPeer: false, store)
      }
    }
    connections.reportEnded()
    var profile = user.profileToSend
    if profile.contactLink == address.link {
      profile.contactLink = nil
      _ = try updateProfile(user.id, profile)
    }
    return .userContactLinkDeleted(UserRecord(user))
  }

  func setProfileAddress(_ userID: Int64, _ isShown: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    var profile = user.profileToSend
    profile.contactLink = isShown ? try requireAddress(userID).1.link : nil
    return try updateProfile(userID, profile)
  }
}
