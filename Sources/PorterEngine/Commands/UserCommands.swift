import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/u`, `/_create user`, `/_profile`, `/users`, `/_user`, `/_mute user`.
extension Engine {
  func requireStore() throws(ChatError) -> Store { try lifecycle.requireStore() }

  func requireActiveUser() throws(ChatError) -> StoredUser { try lifecycle.requireActiveUser() }

  /// The user named by a command must be the active one; SimpleX's commands carry the id so that a switch of users in
  /// between is noticed.
  func requireActiveUser(_ id: Int64) throws(ChatError) -> StoredUser {
    let user = try requireActiveUser()
    guard user.id == id else { throw .error(.differentActiveUser(commanded: id, active: user.id)) }
    return user
  }

  /// Runs a piece of work on the store, with its errors in the interface's terms.
  func stored<Value>(_ work: () throws(StoreError) -> Value) throws(ChatError) -> Value {
    try lifecycle.mapStoreErrors(work)
  }

  func createUser(_ profile: Profile?) throws(ChatError) -> Response {
    let store = try requireStore()
    let profile = profile ?? Profile(displayName: "user")
    try check(profile)
    do throws(StoreError) {
      let user = try store.createUser(
        displayName: profile.displayName, fullName: profile.fullName, profile: profile.stored,
        at: configuration.clock.wall())
      return .activeUser(UserRecord(user))
    } catch .duplicate(.user) {
      throw .error(.userExists(name: profile.displayName))
    } catch {
      throw ChatError(error)
    }
  }

  private func check(_ profile: Profile) throws(ChatError) {
    let valid = DisplayName.sanitized(profile.displayName)
    guard !valid.isEmpty, valid == profile.displayName else {
      throw .error(.invalidDisplayName(given: profile.displayName, valid: valid))
    }
    // The whole profile goes into one message to each contact.
    let bytes = profile.json.utf8.count
    guard bytes <= Envelope.largestContent else {
      throw .nightporter(.messageTooLarge(bytes: bytes, limit: Envelope.largestContent))
    }
  }

  /// Queues the change for each contact in the outbox, in the transaction that changes the profile.
  func updateProfile(_ id: Int64, _ profile: Profile) throws(ChatError) -> Response {
    let store = try requireStore()
    try requireStarted()
    try check(profile)
    let before = try stored { () throws(StoreError) in try store.visibleUser(id) }
    guard before.profileToSend != profile else { return .userProfileNoChange(UserRecord(before)) }
    var told: [ContactRecord] = []
    do throws(StoreError) {
      told = try store.transaction { () throws(StoreError) in
        try store.setUserProfile(
          id, displayName: profile.displayName, fullName: profile.fullName, profile: profile.stored)
        return try self.tellContacts(of: try store.user(id), store)
      }
    } catch .duplicate(.user) {
      throw .error(.userExists(name: profile.displayName))
    } catch {
      throw ChatError(error)
    }
    sender.offerNew()
    let after = try stored { () throws(StoreError) in try store.user(id) }
    return .userProfileUpdated(
      UserRecord(after),
      ProfileChange(
        from: before.profileToSend, to: profile, successes: Int64(told.count), failures: 0, changedContacts: told))
  }

  /// Queues the profile for each contact. Part of the transaction that changes the profile; the caller then triggers
  /// the sender.
  func tellContacts(
    of user: StoredUser, _ store: Store
  ) throws(StoreError) -> [ContactRecord] {
    var told: [ContactRecord] = []
    // A contact that sees an incognito profile receives nothing about the user's own.
    for connection in try store.connections() where connection.userID == user.id && connection.incognito == nil {
      do throws(StoreError) {
        if let contact = try tell(connection, of: user, store) { told.append(contact) }
      } catch .damaged(let entity) {
        context.log(
          .error, "a contact does not learn of the new profile",
          ["connection": String(connection.id), "damaged": entity.rawValue])
      }
    }
    return told
  }

  /// Reads everything that can be damaged before it writes. Nil if there is no contact to report. With a ratchet the
  /// change is sent anyway: the confirmation of an invitation that we accepted carries the old profile.
  private func tell(
    _ connection: StoredConnection, of user: StoredUser, _ store: Store
  ) throws(StoreError) -> ContactRecord? {
    guard var ratchet = try store.ratchet(connectionID: connection.id) else { return nil }
    var contact: StoredContact?
    if let contactID = connection.contactID { contact = try store.contact(contactID) }
    let profile = contact.map { connection.profileToSend(user, to: $0) } ?? connection.profileToSend(user)
    var told: ContactRecord?
    let enqueue = { () throws(StoreError) in
      try store.enqueue(
        .information(profile, replyMailbox: nil), connectionID: connection.id, itemID: nil, with: &ratchet,
        attempt: self.context.randomness.bytes(24))
      try store.save(ratchet, connectionID: connection.id)
      told = contact.map { ContactRecord($0, connection: connection) }
    }
    try connections.take(.given(enqueue), of: connection, store)
    return told
  }

  func listUsers() throws(ChatError) -> Response {
    let store = try requireStore()
    // Not even the existence of a hidden profile is revealed, except while it is active.
    let users = try stored { () throws(StoreError) in try store.users().filter { !$0.isOutOfSight } }
    return .usersList(users.map { UserSummary(user: UserRecord($0), unreadCount: $0.unread) })
  }

  func switchUser(_ id: Int64, _ password: SecretText?) throws(ChatError) -> Response {
    let store = try requireStore()
    try require(password, of: try stored { () throws(StoreError) in try store.user(id) })
    let user = try stored { () throws(StoreError) in try store.setActiveUser(id) }
    profileCanBeSeen()
    return .activeUser(UserRecord(user))
  }

  /// Called when a profile becomes visible: calls of a hidden profile have waited for this.
  func profileCanBeSeen() {
    if lifecycle.isStarted { calls.takeUpWork() }
  }

  func setUserNotifications(_ id: Int64, shown: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let before = try stored { () throws(StoreError) in try store.visibleUser(id) }
    let after = try stored { () throws(StoreError) in try store.setUserNotifications(id, shown: shown) }
    tokens.subscriptions.ensure()
    return .userPrivacy(user: UserRecord(before), updated: UserRecord(after))
  }
}
