import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// `/_ntf conns` and `/_ntf conn messages`, for hosts that drive a push step by step, as SimpleX's extension does.
extension Engine {
  func notifiedConnections(nonce: [UInt8], sealed: [UInt8]) throws(ChatError) -> Response {
    try requireStarted()
    let store = try requireStore()
    let token = try tokens.requireToken(nil)
    guard let nonce = BoxNonce(bytes: nonce) else { throw .command("the nonce has 24 bytes") }
    guard let secret = token.pushSecret else { throw .noToken }
    let bundle: NotificationBundle
    do throws(PushError) { bundle = try NotificationBundle(opening: sealed, nonce: nonce, with: secret) } catch {
      throw .agent(.notificationServer(server: token.server, .crypto))
    }
    var notified: [NotifiedConnection] = []
    var failures: [ChatError] = []
    for entry in bundle.entries {
      do throws(ChatError) {
        // Deleted connections are left out, as in the interface this one mirrors.
        guard
          let connection = try stored({ () throws(StoreError) in
            try store.connection(notifierID: entry.notifier)
          })
        else { continue }
        notified.append(try notifiedConnection(connection, entry, store))
      } catch {
        // One damaged record does not stop the others from being named (INC-44).
        failures.append(error)
      }
    }
    if !failures.isEmpty { emit(.chatErrors(failures)) }
    return .ntfConns(notified)
  }

  private func notifiedConnection(
    _ connection: StoredConnection, _ entry: NotificationBundle.Entry, _ store: Store
  ) throws(ChatError) -> NotifiedConnection {
    let user = try stored { () throws(StoreError) in try store.user(connection.userID) }
    let contact = try stored { () throws(StoreError) -> StoredContact? in
      guard let id = connection.contactID else { return nil }
      return try store.contact(id)
    }
    let metadata = connection.notifierSecret.flatMap {
      try? RelayMessageMetadata(opening: entry.sealedMetadata, with: $0, nonce: entry.metadataNonce)
    }
    if let metadata { committer.expect(metadata.message.bytes, connection.id) }
    return NotifiedConnection(
      user: UserRecord(user), agentConnectionID: TextEncoding.base64URL(connection.agentID), queueID: connection.id,
      entity: ConnectionEntity(connection, contact, store),
      expected: metadata.map { NotificationMessage(id: $0.message.base64URL, timestamp: $0.timestamp) })
  }

  /// Takes in one message per request, in order; each has its own result (INC-44).
  func connectionMessages(_ requests: [ConnectionMessageRequest], reply: @escaping Reply) throws(ChatError) {
    try requireNetwork()
    var results: [ReceivedNotification] = []
    var rest = requests[...]
    // Each in its own turn, like the messages of a push.
    func next() {
      guard let request = rest.popFirst() else { return reply(.result(.connNtfMessages(results))) }
      takeOne(request) { [weak self] result in
        results.append(result)
        if rest.isEmpty { next() } else { self?.later(next) }
      }
    }
    next()
  }

  private func takeOne(_ request: ConnectionMessageRequest, then: @escaping (ReceivedNotification) -> Void) {
    guard let store else { return then(.error(.internal("the chat suspends"))) }
    let connection: StoredConnection?
    do throws(StoreError) {
      connection = try TextEncoding.base64URLDecoded(request.agentConnectionID).flatMap {
        (id) throws(StoreError) in try store.connection(agentID: id)
      }
    } catch {
      return then(.error(.internal(error.description)))
    }
    guard let connection else { return then(.error(.connection(.notFound, context: ""))) }
    committer.expect(request.timestamp, connection.id)
    MessageFetchRun(self, connection, then: then).begin()
  }

  /// Sends the server a harmless query about a token it cannot know. Any answer shows that the path works in both
  /// directions.
  func testServer(_ address: ServerAddress, reply: @escaping Reply) throws(ChatError) {
    try requireNetwork()
    let user = try requireActiveUser()
    let token = try tokens.requireToken(nil)
    guard token.server == address.description else {
      throw .nightporter(.notSupported("testing another server than the token's"))
    }
    guard let id = token.serverTokenID else { throw .noToken }
    tokens.requests.ask(.check(token: id), of: token) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success, .failure(.refused):
        reply(.result(.serverTestResult(UserRecord(user), server: address.description, failure: nil)))
      case .failure(let failure):
        reply(.error(ChatError(failure, server: address.description, relay: self.relayName)))
      }
    }
  }
}
