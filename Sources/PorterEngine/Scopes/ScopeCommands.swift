import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// `/_ntf scope …`: mailboxes through which a host's service sends its own pushes. All concern the active profile.
extension Engine {
  private func requireScope(_ name: String) throws(ChatError) -> StoredScope {
    let store = try requireStore()
    let user = try requireActiveUser()
    let scope = try stored { () throws(StoreError) in try store.scope(userID: user.id, name: name) }
    guard let scope else { throw .nightporter(.scopeNotFound) }
    return scope
  }

  /// An existing scope keeps its address, and takes over the settings.
  func subscribeScope(_ request: ScopeRequest, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let user = try requireActiveUser()
    let store = try requireStore()
    let settings = ScopeSettings(request)
    if let known = try stored({ () throws(StoreError) in try store.scope(userID: user.id, name: request.name) }) {
      return reply(
        Answer(catching: { () throws(ChatError) in
          .ntfScope(
            try self.stored { () throws(StoreError) in
              try store.transaction { () throws(StoreError) in try self.update(known, settings, store) }
            })
        }))
    }
    let count = try stored { () throws(StoreError) in try store.scopes(userID: user.id).count }
    guard count < ScopeLimits.scopes else { throw .nightporter(.scopesTooMany(limit: ScopeLimits.scopes)) }
    let key: BoxKeyPair
    do throws(CryptoError) { key = try .generate(randomness: configuration.randomness) } catch {
      throw .internal(error.description)
    }
    try makeMailbox(for: user, secret: SecretBytes(key.secretKey.exposeForStorage()), reply: reply) { engine, new in
      reply(
        Answer(catching: { () throws(ChatError) in
          guard let address = ScopeAddress(key: key.publicKey, mailbox: new.senderID) else {
            throw .internal("the relay's identifier has another size")
          }
          return .ntfScope(try engine.insertScope(new, settings, address))
        }))
    }
  }

  private func insertScope(
    _ new: NewConnection, _ settings: ScopeSettings, _ address: ScopeAddress
  ) throws(ChatError) -> ScopeRecord {
    let store = try requireStore()
    let (record, isNew) = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> (ScopeRecord, Bool) in
        if let known = try store.scope(userID: new.userID, name: settings.name) {
          try store.queueMailboxDeletion(recipientID: new.recipientID, key: new.recipientKey)
          return (try self.update(known, settings, store), false)
        }
        let id = try self.connections.make(new, .published, store)
        try store.insertScope(
          settings, userID: new.userID, connectionID: id, address: "\(address)", at: self.configuration.clock.wall())
        guard let scope = try store.scope(connectionID: id) else { throw .notFound(.scope) }
        return (try ScopeRecord(scope, store), true)
      }
    }
    // Created in the meantime by another command.
    if !isNew { connections.deleteMailboxes() }
    return record
  }

  /// Part of the caller's transaction.
  private func update(
    _ scope: StoredScope, _ settings: ScopeSettings, _ store: Store
  ) throws(StoreError) -> ScopeRecord {
    try store.update(scope: scope.id, settings)
    // Messages its service sent with the new key may have arrived earlier.
    if settings.serviceKey != scope.serviceKey { try committer.openQuarantined(scope.connectionID, store) }
    return try ScopeRecord(try store.scope(scope.id), store)
  }

  func listScopes() throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try requireActiveUser()
    return .ntfScopes(
      try stored { () throws(StoreError) in
        try store.scopes(userID: user.id).map { (scope) throws(StoreError) in try ScopeRecord(scope, store) }
      })
  }

  /// Everything received through it is deleted with it, including pushes not handed over.
  func deleteScope(_ name: String) throws(ChatError) -> Response {
    try requireStarted()
    let scope = try requireScope(name)
    let store = try requireStore()
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try self.connections.delete(try store.connection(scope.connectionID), tellsPeer: false, store)
      }
    }
    connections.reportEnded()
    return .cmdOk(UserRecord(try requireActiveUser()))
  }

  func listApplicationPushes(scope name: String) throws(ChatError) -> Response {
    let scope = try requireScope(name)
    let store = try requireStore()
    return .ntfScopePushes(
      try stored { () throws(StoreError) in
        var records: [HandedPush] = []
        for push in try store.unsettledApplicationPushes(scopeID: scope.id) {
          if let record = try self.scopes.record(of: push, store) { records.append(record) }
        }
        return records
      })
  }

  func settleApplicationPushes(_ ids: [Int64]) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try requireActiveUser()
    try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in try self.scopes.settle(ids, userID: user.id, store) }
    }
    return .cmdOk(UserRecord(user))
  }
}

extension ScopeSettings {
  init(_ request: ScopeRequest) {
    self.init(
      name: request.name, serviceKey: request.serviceKey, version: request.version,
      commands: request.commands.map { JSONValue.array($0.map(JSONValue.string)).text })
  }
}

extension ScopeRecord {
  init(_ scope: StoredScope, _ store: Store) throws(StoreError) {
    guard let address = ScopeAddress(parsing: scope.address) else { throw .damaged(.scope) }
    self.init(
      userID: scope.userID, name: scope.name, address: scope.address,
      publicKey: TextEncoding.base64URL(address.key.bytes), serviceKey: TextEncoding.base64URL(scope.serviceKey),
      version: scope.version, commands: scope.commandNames,
      unsettled: try store.countUnsettledApplicationPushes(scopeID: scope.id), created: scope.createdAt)
  }
}
