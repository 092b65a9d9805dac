import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Answers of `/connect` without using the invitation.
extension Engine {
  /// For an invitation that this store has used: the resulting contact, or the connection that still waits for the
  /// other side. An invitation that another profile used, or whose contact was deleted, can no longer be used; nor can
  /// one be used incognito if the user's own profile is on its way.
  func repeated(_ link: InvitationLink, _ user: StoredUser, incognito: Bool) throws(ChatError) -> Answer {
    let store = try requireStore()
    let connection = try stored { () throws(StoreError) in try store.connection(peerSenderID: link.senderID) }
    guard let connection, connection.userID == user.id else { throw .nightporter(.invitationUsed) }
    guard let contactID = connection.contactID else {
      let shown = Profile(incognito: connection.incognito)
      if incognito, shown == nil { throw .nightporter(.invitationUsed) }
      return .result(.sentConfirmation(UserRecord(user), PendingConnectionRecord(connection), incognito: shown))
    }
    let contact = try stored { () throws(StoreError) in try store.contact(contactID) }
    return .result(.contactAlreadyExists(UserRecord(user), ContactRecord(contact, connection: connection)))
  }

  /// Throws if a link leads to one of this user's own mailboxes.
  func requireOthers(_ senderID: [UInt8], _ user: StoredUser) throws(ChatError) {
    if try isOwn(senderID, user) { throw .nightporter(.invitationOwn) }
  }

  func isOwn(_ senderID: [UInt8], _ user: StoredUser) throws(ChatError) -> Bool {
    let store = try requireStore()
    let connections = try stored { () throws(StoreError) in try store.connections() }
    return connections.contains { $0.userID == user.id && $0.senderID == senderID }
  }

  // MARK: Plans

  /// Reports what `/connect` would do; reads only the store.
  func planConnection(_ userID: Int64, link text: String) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    let plan: ConnectionPlan =
      switch try ConnectionLink(checking: text) {
      case .invitation(let link): try plan(link, user, store)
      case .address(let link): .address(try plan(link, user, store))
      }
    return .connectionPlan(UserRecord(user), link: text, plan)
  }

  private func plan(
    _ link: InvitationLink, _ user: StoredUser, _ store: Store
  ) throws(ChatError) -> ConnectionPlan {
    if try isOwn(link.senderID, user) { return .invitation(.ownLink) }
    let connection = try stored { () throws(StoreError) in try store.connection(peerSenderID: link.senderID) }
    guard let connection, connection.userID == user.id else {
      // As `/connect` would answer: another profile used it, or its contact was deleted.
      let isUsed = try stored { () throws(StoreError) in try store.isUsed(.invitation, link.senderID) }
      return isUsed ? .error(.nightporter(.invitationUsed)) : .invitation(.ok)
    }
    let contact = try contact(of: connection, store)
    guard let contact, connection.isConnected else { return .invitation(.connecting(contact)) }
    return .invitation(.known(contact))
  }

  private func plan(_ link: AddressLink, _ user: StoredUser, _ store: Store) throws(ChatError) -> AddressPlan {
    if try isOwn(link.senderID, user) { return .ownLink }
    let asked = try stored { () throws(StoreError) in
      try store.connection(userID: user.id, addressMailbox: link.senderID)
    }
    guard let asked, !asked.hasLeft else { return .ok }
    guard let contact = try contact(of: asked, store) else { return .connectingConfirmReconnect }
    return asked.isConnected ? .known(contact) : .connectingProhibit(contact)
  }

  private func contact(of connection: StoredConnection, _ store: Store) throws(ChatError) -> ContactRecord? {
    guard let contactID = connection.contactID else { return nil }
    let contact = try stored { () throws(StoreError) in try store.contact(contactID) }
    return ContactRecord(contact, connection: connection)
  }
}

extension StoredConnection {
  /// Messages are exchanged, or were until the other side left.
  var isConnected: Bool { status == PorterMachines.Connection.State.ready.name || hasLeft }

  /// The other side has deleted the connection.
  var hasLeft: Bool { status == PorterMachines.Connection.State.left.name }
}

extension ConnectionLink {
  init(checking text: String) throws(ChatError) {
    do throws(InvitationLink.Failure) { self = try ConnectionLink(parsing: text) } catch {
      switch error {
      case .notAnInvitation: throw .error(.invalidConnReq)
      case .unsupportedVersion: throw .error(.unsupportedConnReq)
      }
    }
  }
}
