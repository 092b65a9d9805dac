import PorterCrypto
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// A connection that this process may advance, with what it takes to ask the relay for its messages.
struct ClaimedMailbox {
  let claim: Claim
  let mailbox: RelayIdentifier
  let key: SigningKeyPair
}

/// The three steps of taking a message in, each with its own result. What drives them is a machine: `mailbox_fetch` in
/// the app, `push` in an extension. Between two steps nothing is held.
extension Engine {
  func getMessage(_ claimed: ClaimedMailbox, then: @escaping (Result<RelayMessage?, RelayError>) -> Void) {
    FaultPoint.reach(.beforeFetch)
    let (mailbox, key) = (claimed.mailbox, claimed.key)
    withRelay(.receiving) { (client) throws(RelayError) in
      try client.getMessage(mailbox, key: key)
    } then: { result in
      FaultPoint.reach(.afterFetch)
      then(result)
    }
  }

  /// Secures the mailbox if that is still to be done, then acknowledges: a kill in between repeats both. Part of the
  /// delivery that the caller has begun.
  func acknowledge(
    _ message: RelayMessage, _ claimed: ClaimedMailbox,
    then: @escaping (Result<RelayClient.Acknowledgement, RelayError>) -> Void
  ) {
    FaultPoint.reach(.beforeAcknowledge)
    secureIfNeeded(claimed) { [weak self] secured in
      if case .failure(let error) = secured { return then(.failure(error)) }
      guard let self, let relay = self.relay else { return then(.failure(.closed)) }
      let (mailbox, key) = (claimed.mailbox, claimed.key)
      relay.perform { (client) throws(RelayError) in
        try client.acknowledge(message.identifier, in: mailbox, key: key)
      } then: {
        then($0)
      }
    }
  }

  /// A mailbox whose invitation was used takes messages of that one sender only. Where it cannot be put on record that it
  /// does, the message that asks for it is not acknowledged, and comes again: nothing else would.
  private func secureIfNeeded(_ claimed: ClaimedMailbox, then: @escaping (Result<Void, RelayError>) -> Void) {
    guard let store, let relay else { return then(.failure(.closed)) }
    let connection: StoredConnection
    do throws(StoreError) {
      connection = try store.connection(claimed.claim.connectionID)
    } catch .notFound {
      return then(.success(()))
    } catch {
      return then(.failure(Self.unavailable(error)))
    }
    guard !connection.isSecured, let sender = connection.peerPublicKey.flatMap({ SigningPublicKey(bytes: $0) })
    else { return then(.success(())) }
    let (mailbox, key) = (claimed.mailbox, claimed.key)
    relay.perform { (client) throws(RelayError) in
      try client.secureMailbox(mailbox, key: key, senderKey: sender)
    } then: { [weak self] result in
      guard let self, case .success = result else { return then(result) }
      do throws(StoreError) {
        try self.store?.setSecured(connectionID: connection.id)
      } catch {
        return then(.failure(Self.unavailable(error)))
      }
      // The answer to the confirmation was waiting for this.
      self.sender.flush()
      then(result)
    }
  }

  private static func unavailable(_ error: StoreError) -> RelayError {
    if case .sqlite(let error) = error { .storage(error) } else { .unavailable }
  }

  /// SimpleX's `ntfMessage`: a message was taken in, and the relay told.
  func emitMarker(_ message: RelayMessage, connectionID: Int64) {
    guard let store, let connection = try? store.connection(connectionID), let user = try? store.user(connection.userID)
    else { return }
    let contact = connection.contactID.flatMap { try? store.contact($0) }
    let entity = ConnectionEntity(
      connection: ConnectionRecord(connection), contact: contact.map { ContactRecord($0, connection: connection) })
    emit(
      .ntfMessage(
        UserRecord(user), entity,
        NotificationMessage(id: message.identifier.base64URL, timestamp: message.timestamp)))
  }

  static func relayIdentifier(_ stored: [UInt8]) throws(StoreError) -> RelayIdentifier {
    guard let identifier = RelayIdentifier(bytes: stored) else { throw .damaged(.connection) }
    return identifier
  }
}
