import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_set alias`, `/_set custom`, `/_set prefs`, `/_groups`.
extension Engine {
  private func owner(of contact: StoredContact) throws(ChatError) -> UserRecord {
    let store = try requireStore()
    return UserRecord(try stored { () throws(StoreError) in try store.user(contact.userID) })
  }

  func setContactAlias(_ id: Int64, _ alias: String) throws(ChatError) -> Response {
    let (store, contact) = (try requireStore(), try requireContact(id))
    try stored { () throws(StoreError) in try store.setContactAlias(id, alias) }
    return .contactAliasUpdated(try owner(of: contact), try contactRecord(try requireContact(id)))
  }

  func setConnectionAlias(_ id: Int64, _ alias: String) throws(ChatError) -> Response {
    let store = try requireStore()
    guard let connection = try stored({ () throws(StoreError) in try store.pendingConnection(id) }) else {
      throw .store(.pendingConnectionNotFound(id))
    }
    try stored { () throws(StoreError) in try store.setConnectionAlias(id, alias) }
    var record = PendingConnectionRecord(connection)
    record.localAlias = alias
    let user = try stored { () throws(StoreError) in try store.user(connection.userID) }
    return .connectionAliasUpdated(UserRecord(user), record)
  }

  func setCustomData(_ id: Int64, _ data: JSONObject?) throws(ChatError) -> Response {
    let (store, contact) = (try requireStore(), try requireContact(id))
    try stored { () throws(StoreError) in try store.setCustomData(id, data.map { JSONValue.object($0).text }) }
    return .cmdOk(try owner(of: contact))
  }

  /// The contact is notified through an updated profile, queued in the transaction that records the change.
  func setContactPreferences(_ id: Int64, _ preferences: Preferences) throws(ChatError) -> Response {
    let (store, contact) = (try requireStore(), try requireContact(id))
    try requireStarted()
    let from = try contactRecord(contact)
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try store.setContactPreferences(id, preferences.json.text)
        guard let connection = try store.currentConnection(contactID: id) else { return }
        guard var ratchet = try store.ratchet(connectionID: connection.id) else { return }
        let profile = connection.profileToSend(try store.user(contact.userID), to: try store.contact(id))
        let enqueue = { () throws(StoreError) in
          try store.enqueue(
            .information(profile, replyMailbox: nil), connectionID: connection.id, itemID: nil, with: &ratchet,
            attempt: self.context.randomness.bytes(24))
          try store.save(ratchet, connectionID: connection.id)
        }
        try self.connections.take(.given(enqueue), of: connection, store)
      }
    }
    sender.offerNew()
    return .contactPrefsUpdated(try owner(of: contact), from: from, to: try contactRecord(try requireContact(id)))
  }

  func listGroups(_ userID: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    return .groupsList(UserRecord(try stored { () throws(StoreError) in try store.visibleUser(userID) }))
  }
}
