import PorterPlatform
import PorterSchema
import PorterStore

/// `/_delete`: a contact, an invitation, or a conversation.
extension Engine {
  func deleteChat(
    _ chat: ChatReference, _ deletion: ChatDeletion, tellsPeer: Bool
  ) throws(ChatError) -> Response {
    switch (chat, deletion) {
    case (.contact(let id), .full): return try deleteContact(id, tellsPeer: tellsPeer)
    case (.contact(let id), .messages): return try deleteMessages(id)
    case (.contact(let id), .entity): return try deleteKeepingConversation(id, tellsPeer: tellsPeer)
    case (.pendingConnection(let id), _): return try deletePendingConnection(id, tellsPeer: tellsPeer)
    case (.group, _): throw .nightporter(.notSupported("groups"))
    case (.noteFolder, _): throw .nightporter(.notSupported("note folders"))
    }
  }

  private func deleteContact(_ contactID: Int64, tellsPeer: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    let record = try contactRecord(contact)
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        if let connection = try store.currentConnection(contactID: contactID) {
          try self.calls.contactIsDeleted(connection, store)
          try self.connections.delete(connection, tellsPeer: tellsPeer, store)
        }
        try store.deleteContact(contactID)
      }
    }
    connections.reportEnded()
    return .contactDeleted(UserRecord(user), record)
  }

  /// Ends the connection as if the contact were fully deleted, but keeps its messages with a contact that has no
  /// connection. A repeat changes nothing.
  private func deleteKeepingConversation(_ contactID: Int64, tellsPeer: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        guard let connection = try store.currentConnection(contactID: contactID) else { return }
        try self.calls.contactHasLeft(connection, store)
        try store.keepConversation(contactID: contactID, at: self.context.clock.wall()) {
          self.context.disappearance(after: $0)
        }
        try self.connections.delete(connection, tellsPeer: tellsPeer, store)
      }
    }
    connections.reportEnded()
    disappearing.takeUp()
    return .contactDeleted(UserRecord(user), try contactRecord(try requireContact(contactID)))
  }

  /// Keeps the contact, and the ledger's entries, by which a repeated message is recognised.
  private func deleteMessages(_ contactID: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    try stored { () throws(StoreError) in try store.deleteItems(contactID: contactID) }
    return .contactDeleted(UserRecord(user), try contactRecord(try requireContact(contactID)))
  }

  private func deletePendingConnection(_ id: Int64, tellsPeer: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let connection = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> StoredConnection? in
        guard let connection = try store.pendingConnection(id) else { return nil }
        try self.connections.delete(connection, tellsPeer: tellsPeer, store)
        return connection
      }
    }
    guard let connection else { throw .store(.pendingConnectionNotFound(id)) }
    let user = try stored { () throws(StoreError) in try store.user(connection.userID) }
    connections.reportEnded()
    return .contactConnectionDeleted(UserRecord(user), PendingConnectionRecord(connection))
  }
}

extension Store {
  /// A connection that has no contact yet and is not an address; nil if there is none, or if its profile is accessible
  /// only with the password.
  func pendingConnection(_ id: Int64) throws(StoreError) -> StoredConnection? {
    let found: StoredConnection
    do throws(StoreError) { found = try connection(id) } catch .notFound(.connection) { return nil }
    guard found.contactID == nil, !found.isAddress, try !user(found.userID).isOutOfSight else { return nil }
    return found
  }
}
