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
    let key: BoxKeyPair
    do throws(CryptoError) { key = try .generate(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    // Requests are answered in separate mailboxes, so that nothing is signed with this one's key.
    try makeMailbox(for: user, secret: SecretBytes(key.secretKey.exposeForStorage()), reply: reply) { engine, new in
      reply(
        Answer(catching: { () throws(ChatError) in
          let link = AddressLink(senderID: new.senderID, key: key.publicKey).text
          try engine.insertAddress(new, link: link)
          return .userContactLinkCreated(UserRecord(user), link: link)
        }))
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
    // Created in the meantime by another command or process.
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

  /// Deletes the address. Contacts stay; waiting requests can no longer be accepted. The link is removed from the
  /// profile in the same transaction: a killed process leaves no profile behind with a link that leads nowhere.
  func deleteAddress(_ selection: UserSelection) throws(ChatError) -> Response {
    let (user, address) = try requireAddress(try userID(selection))
    let store = try requireStore()
    try requireStarted()
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try self.requests.withdrawAll(of: address, store)
        try self.connections.deleteSilently(address.connectionID, deletesMailbox: true, store)
        FaultPoint.reach(.insideAddressDeletion)
        try self.removeLink(of: address, store)
      }
    }
    FaultPoint.reach(.addressDeleted)
    connections.reportEnded()
    sender.offerNew()
    return .userContactLinkDeleted(UserRecord(try stored { () throws(StoreError) in try store.user(user.id) }))
  }

  private func removeLink(of address: StoredAddress, _ store: Store) throws(StoreError) {
    let user = try store.user(address.userID)
    var profile = user.profileToSend
    guard profile.contactLink == address.link else { return }
    profile.contactLink = nil
    try store.setUserProfile(
      user.id, displayName: profile.displayName, fullName: profile.fullName, profile: profile.stored)
    _ = try tellContacts(of: try store.user(user.id), store)
  }

  func setProfileAddress(_ userID: Int64, _ isShown: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    var profile = user.profileToSend
    profile.contactLink = isShown ? try requireAddress(userID).1.link : nil
    return try updateProfile(userID, profile)
  }
}
