import PorterCrypto
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_hide user`, `/_unhide user`, `/_unmute user`, `/_delete user`.
extension Engine {
  /// A hidden profile requires its password unless it is active. A wrong password is answered as if the profile did not
  /// exist.
  func require(_ password: SecretText?, of user: StoredUser) throws(ChatError) {
    guard let hidden = user.viewPassword else { return }
    if password == nil, user.isActive { return }
    guard let password, Digest.password(Array(password.text.utf8), salt: hidden.salt) == hidden.hash else {
      throw .error(.userUnknown)
    }
  }

  func hideUser(_ id: Int64, _ password: SecretText) throws(ChatError) -> Response {
    let store = try requireStore()
    let before = try stored { () throws(StoreError) in try store.visibleUser(id) }
    if before.isHidden { throw .error(.userAlreadyHidden(id)) }
    if password.text.isEmpty { throw .error(.emptyUserPassword(id)) }
    let visible = try stored { () throws(StoreError) in try store.users().filter { !$0.isHidden }.count }
    guard visible > 1 else { throw .error(.cantHideLastUser(id)) }
    let salt = context.randomness.bytes(16)
    let hash = Digest.password(Array(password.text.utf8), salt: salt)
    return try setViewPassword(before, StoredPassword(hash: hash, salt: salt))
  }

  func unhideUser(_ id: Int64, _ password: SecretText) throws(ChatError) -> Response {
    let store = try requireStore()
    let before = try stored { () throws(StoreError) in try store.user(id) }
    guard before.isHidden else { throw .error(.userNotHidden(id)) }
    if password.text.isEmpty, !before.isOutOfSight { throw .error(.emptyUserPassword(id)) }
    try require(password, of: before)
    defer { profileCanBeSeen() }
    return try setViewPassword(before, nil)
  }

  private func setViewPassword(_ user: StoredUser, _ password: StoredPassword?) throws(ChatError) -> Response {
    let store = try requireStore()
    let after = try stored { () throws(StoreError) in try store.setViewPassword(user.id, password) }
    tokens.subscriptions.ensure()
    return .userPrivacy(user: UserRecord(user), updated: UserRecord(after))
  }

  func unmuteUser(_ id: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(id) }
    if user.isHidden { throw .error(.hiddenUserAlwaysMuted(id)) }
    return try setUserNotifications(id, shown: true)
  }

  /// Deletes the profile with everything it owns, in one transaction. Deletions at the relay and the notification
  /// server stay in the store until they are done.
  func deleteUser(_ id: Int64, deletesMailboxes: Bool, _ password: SecretText?) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.user(id) }
    try require(password, of: user)
    let isDeleted = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        let others = try store.users().filter { $0.id != id }
        // Another profile must become active first.
        if try store.user(id).isActive, others.contains(where: { !$0.isHidden }) { return false }
        try self.delete(user, isLast: others.isEmpty, deletesMailboxes: deletesMailboxes, store)
        FaultPoint.reach(.insideProfileDeletion)
        return true
      }
    }
    guard isDeleted else { throw .error(.cantDeleteActiveUser(id)) }
    FaultPoint.reach(.profileDeleted)
    connections.reportEnded()
    let active = try stored { () throws(StoreError) in try store.activeUser() }
    return .cmdOk(active.map { UserRecord($0) })
  }

  private func delete(
    _ user: StoredUser, isLast: Bool, deletesMailboxes: Bool, _ store: Store
  ) throws(StoreError) {
    try calls.profileIsDeleted(user.id, store)
    for connection in try store.connectionIDs(userID: user.id) {
      try connections.deleteSilently(connection, deletesMailbox: deletesMailboxes, store)
    }
    // An invitation that the profile was about to accept.
    for open in try store.openReservations(.invitation) where Joining(open.material)?.userID == user.id {
      try store.abandon(open)
    }
    try store.deleteUser(user.id)
    // After the connections: their subscriptions are reported to the server with the token.
    if isLast { try tokens.recordDeletion(store) }
  }
}
