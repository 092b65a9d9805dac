import PorterPlatform
import PorterSchema
import PorterStore

/// `/u`, `/_create user`, `/users`, `/_user`, `/_mute user`.
extension Engine {
  func requireStore() throws(ChatError) -> Store {
    guard let store else { throw .nightporter(.storeClosed) }
    return store
  }

  func requireActiveUser() throws(ChatError) -> StoredUser {
    let store = try requireStore()
    guard let user = try stored({ () throws(PorterStore.StoreError) in try store.activeUser() }) else {
      throw .error(.noActiveUser)
    }
    return user
  }

  /// The user a command names must exist; SimpleX's commands carry the id so that a switch of users in between is
  /// noticed.
  func requireActiveUser(_ id: Int64) throws(ChatError) -> StoredUser {
    let user = try requireActiveUser()
    guard user.id == id else { throw .error(.differentActiveUser(commanded: id, active: user.id)) }
    return user
  }

  /// Runs a piece of work on the store, and puts its errors into the interface's words.
  func stored<Value>(_ work: () throws(PorterStore.StoreError) -> Value) throws(ChatError) -> Value {
    do throws(PorterStore.StoreError) {
      return try work()
    } catch {
      if let holder = holder(in: error) { throw .nightporter(.ownedElsewhere(holder: holder)) }
      throw ChatError(error)
    }
  }

  func createUser(_ profile: Profile?) throws(ChatError) -> Response {
    let store = try requireStore()
    let displayName = profile?.displayName ?? "user"
    let fullName = profile?.fullName ?? ""
    let valid = DisplayName.sanitized(displayName)
    guard !valid.isEmpty, valid == displayName else {
      throw .error(.invalidDisplayName(given: displayName, valid: valid))
    }
    do throws(PorterStore.StoreError) {
      let user = try store.createUser(
        displayName: displayName, fullName: fullName, at: configuration.clock.wall())
      return .activeUser(UserRecord(user))
    } catch .duplicate(.user) {
      throw .error(.userExists(name: displayName))
    } catch {
      throw ChatError(error)
    }
  }

  func listUsers() throws(ChatError) -> Response {
    let store = try requireStore()
    let users = try stored { () throws(PorterStore.StoreError) in try store.users() }
    return .usersList(users.map { UserSummary(user: UserRecord($0), unreadCount: $0.unread) })
  }

  func switchUser(_ id: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    return .activeUser(UserRecord(try stored { () throws(PorterStore.StoreError) in try store.setActiveUser(id) }))
  }

  func setUserNotifications(_ id: Int64, shown: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let before = try stored { () throws(PorterStore.StoreError) in try store.user(id) }
    let after = try stored { () throws(PorterStore.StoreError) in try store.setUserNotifications(id, shown: shown) }
    return .userPrivacy(user: UserRecord(before), updated: UserRecord(after))
  }
}
