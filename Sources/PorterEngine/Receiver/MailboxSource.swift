import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// The built-in source: a connection's mailbox at the relay, whose messages its ratchet opens. Threads: the engine's.
final class MailboxSource: Source {
  private let context: EngineContext
  private let relay: RelayLink
  private let sender: Sender
  private let opening: MailboxOpening
  private let listening: MailboxListening
  /// Whether a push in progress is about this connection.
  private let isNamedByPush: (Int64) -> Bool

  init(
    _ context: EngineContext, relay: RelayLink, connections: Connections, sender: Sender, requests: ContactRequests,
    calls: Calls, scopes: Scopes, disappearing: Disappearing, isNamedByPush: @escaping (Int64) -> Bool
  ) {
    self.context = context
    self.relay = relay
    self.sender = sender
    self.isNamedByPush = isNamedByPush
    listening = MailboxListening(context, relay: relay)
    opening = MailboxOpening(
      context, connections: connections, requests: requests, calls: calls, scopes: scopes, disappearing: disappearing)
  }

  // MARK: Hints

  func read(_ hint: SourceHint, _ store: Store) throws(StoreError) -> SourceHintReading {
    switch hint {
    case .everything:
      .named(try store.connectionIDs().map { NamedConnection(id: $0, record: nil) }, isRepeat: false)
    case .sealed(let nonce, let ciphertext): try read(nonce, ciphertext, store)
    }
  }

  private func read(
    _ nonce: BoxNonce, _ ciphertext: [UInt8], _ store: Store
  ) throws(StoreError) -> SourceHintReading {
    guard let secret = try store.overview().pushSecret else { return .unknown }
    let bundle: NotificationBundle
    do throws(PushError) { bundle = try NotificationBundle(opening: ciphertext, nonce: nonce, with: secret) } catch {
      return .unreadable("the push does not open: \(error)")
    }
    var isRepeat = true
    var named: [NamedConnection] = []
    var damage: StoreError?
    for entry in bundle.entries {
      let found: StoredConnection?
      do throws(StoreError) { found = try store.connection(notifierID: entry.notifier) } catch .damaged(let entity) {
        damage = .damaged(entity)
        continue
      }
      // An unknown mailbox, such as one of a deleted contact, is no reason to skip the others (INC-44).
      guard let connection = found else { continue }
      let index = named.firstIndex { $0.id == connection.id } ?? named.endIndex
      if index == named.endIndex { named.append(NamedConnection(id: connection.id, record: connection)) }
      let metadata = connection.notifierSecret.flatMap {
        try? RelayMessageMetadata(opening: entry.sealedMetadata, with: $0, nonce: entry.metadataNonce)
      }
      let known = try metadata.flatMap { (metadata) throws(StoreError) in
        try store.ledgerEntry(connectionID: connection.id, messageID: metadata.message.bytes)
      }
      if let known, known.isReceived {
        if known.kind == .call, known.waitsToBeShown { named[index].calls.append(known) }
        continue
      }
      isRepeat = false
      if metadata == nil { named[index].hasUnreadable = true }
      if let metadata { named[index].messages.append(metadata.message.bytes) }
      if let metadata, known == nil {
        named[index].expected.append(
          ExpectedMessage(identifier: metadata.message.bytes, timestamp: metadata.timestamp))
      }
    }
    // The newest entry is what the push was sent for: if it is a call, it does not wait for the others.
    if let newest = named.popLast() { named.insert(newest, at: 0) }
    if let damage { return .damaged(damage, named, isRepeat: isRepeat) }
    return named.isEmpty ? .unknown : .named(named, isRepeat: isRepeat)
  }

  // MARK: Listening

  /// An exchange with a file-based relay is bounded by its driver, and by the file's own patience.
  var endsRequestsInTime: Bool { !relay.isOpen || relay.isLocal }

  func listen(to connections: [StoredConnection], then: @escaping (Result<[Int64], SourceError>) -> Void) {
    let known = connections.compactMap { connection in
      RelayIdentifier(bytes: connection.recipientID).map { (connection.id, $0, connection.recipientKey) }
    }
    guard !known.isEmpty else { return then(.success([])) }
    listening.listen(to: known.map { (recipient: $0.1, key: $0.2) }) { result in
      let waiting = result.map { states in zip(known, states).filter { $0.1 == .waiting }.map(\.0.0) }
      then(waiting.mapError { SourceError($0) })
    }
  }

  func takeNews(then: @escaping (Result<[Int64]?, SourceError>) -> Void) {
    listening.takeNews { then($0.mapError { SourceError($0) }) }
  }

  func whoWaits(among connections: [Int64], then: @escaping (Result<[Int64]?, SourceError>) -> Void) {
    listening.whoWaits(among: connections[...], []) { then($0.mapError { SourceError($0) }) }
  }

  // MARK: Messages

  func hasten(_ connectionID: Int64) { relay.hasten(connectionID) }
  func giveUp(_ claim: Claim) { relay.giveUp(claim) }
  func timeLeft(_ claim: Claim, of span: Span) -> Span? { relay.timeLeft(claim, of: span) }

  private func urgency(_ claimed: ClaimedConnection) -> RelayWays.Urgency {
    .init(claim: claimed.claim, isPushed: isNamedByPush(claimed.claim.connectionID), isShort: true)
  }

  func validate(_ connection: StoredConnection) throws(StoreError) { _ = try Self.mailbox(of: connection) }

  func fetch(_ claimed: ClaimedConnection, then: @escaping (Result<SourceMessage?, SourceError>) -> Void) {
    guard let mailbox = try? Self.mailbox(of: claimed.connection) else { return then(.failure(.closed)) }
    let (key, clock) = (claimed.connection.recipientKey, context.clock)
    relay.perform(.receiving, about: urgency(claimed)) { (client) throws(RelayError) in
      // The message's age is measured at this moment; the engine's turn may come much later.
      try client.getMessage(mailbox, key: key).map { SourceMessage($0, at: clock.now()) }
    } then: { result in
      then(result.mapError { SourceError($0) })
    }
  }

  func open(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    let opened = try opening.open(message, connection, store)
    try opening.prune(connection, store)
    return opened
  }

  /// Secures the mailbox if still necessary, then acknowledges: a kill in between repeats both.
  func acknowledge(
    _ message: SourceMessage, _ claimed: ClaimedConnection, then: @escaping (Result<NextMessage, SourceError>) -> Void
  ) {
    let connection = claimed.connection
    guard let mailbox = try? Self.mailbox(of: connection), let identifier = RelayIdentifier(bytes: message.identifier)
    else { return then(.failure(.closed)) }
    let (key, clock) = (connection.recipientKey, context.clock)
    secureIfNeeded(mailbox, claimed) { [weak self] secured in
      if case .failure(let error) = secured { return then(.failure(SourceError(error))) }
      guard let self else { return then(.failure(.closed)) }
      self.relay.continueDelivery(about: self.urgency(claimed)) { (client) throws(RelayError) in
        // A relay that no longer had it has dropped it as well.
        switch try client.acknowledgeAndGet(identifier, in: mailbox, key: key).1 {
        case .unknown: NextMessage.unknown
        case .nothing: .nothing
        case .message(let next): .message(SourceMessage(next, at: clock.now()))
        }
      } then: { result in
        then(result.mapError { SourceError($0) })
      }
    }
  }

  /// A mailbox whose invitation was used accepts messages only from that one sender. If securing it cannot be recorded,
  /// the message that asks for it is not acknowledged, and comes again: nothing else would.
  private func secureIfNeeded(
    _ mailbox: RelayIdentifier, _ claimed: ClaimedConnection, then: @escaping (Result<Void, RelayError>) -> Void
  ) {
    let connection = claimed.connection
    guard context.store != nil else { return then(.failure(.closed)) }
    guard !connection.isSecured, let sender = connection.peerPublicKey.flatMap({ SigningPublicKey(bytes: $0) })
    else { return then(.success(())) }
    let key = connection.recipientKey
    relay.continueDelivery(about: urgency(claimed)) { (client) throws(RelayError) in
      try client.secureMailbox(mailbox, key: key, senderKey: sender)
    } then: { [weak self] result in
      guard let self, case .success = result else { return then(result) }
      do throws(StoreError) {
        try self.context.store?.setSecured(connectionID: connection.id)
      } catch {
        return then(.failure(Self.unavailable(error)))
      }
      // The answer to the confirmation was waiting for this.
      self.sender.offerNew(alsoFor: connection.id)
      then(result)
    }
  }

  private static func unavailable(_ error: StoreError) -> RelayError {
    if case .sqlite(let error) = error { .storage(error) } else { .unavailable }
  }

  private static func mailbox(of connection: StoredConnection) throws(StoreError) -> RelayIdentifier {
    guard let identifier = RelayIdentifier(bytes: connection.recipientID) else { throw .damaged(.connection) }
    return identifier
  }
}

extension SourceMessage {
  fileprivate init(_ message: RelayMessage, at now: Moment) {
    self.init(
      identifier: message.identifier.bytes, timestamp: message.timestamp, body: message.body,
      notifies: message.notify, arrival: message.age.map { now + .milliseconds(-Int64($0)) })
  }
}

extension SourceError {
  fileprivate init(_ error: RelayError) {
    let kind: Kind =
      switch error {
      case .auth: .denied
      case .closed: .closed
      default: .failed(isTemporary: error.isTemporary)
      }
    self.init(kind: kind, description: error.description)
  }
}
