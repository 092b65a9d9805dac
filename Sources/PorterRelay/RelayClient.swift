import PorterCrypto
import PorterPlatform

/// A relay's mailboxes, for recipients and senders: builds each command, signs it, carries it through the port and
/// checks the answer.
///
/// Every function blocks for one exchange and may be called from any thread. Each may be repeated after a crash or a
/// time-out: a repeat changes nothing more.
package struct RelayClient: Sendable {
  package struct Mailbox: Hashable, Sendable {
    /// Identifies the recipient's end; needs the recipient's key.
    package let recipient: RelayIdentifier
    /// Identifies the sender's end; goes into the invitation.
    package let sender: RelayIdentifier
  }

  package struct Notifier: Hashable, Sendable {
    /// The notifier that a notification service subscribes to; needs the notifier's key.
    package let identifier: RelayIdentifier
    /// For agreeing on the key that opens `RelayMessageMetadata`.
    package let relayBoxKey: BoxPublicKey
  }

  package enum Acknowledgement: Hashable, Sendable {
    case done
    /// It was acknowledged earlier, or has expired.
    case noMessage
  }

  /// The state of a mailbox after a message in it was acknowledged.
  package enum Next: Hashable, Sendable {
    /// The relay has an earlier version and was not asked.
    case unknown
    case nothing
    /// It stays until it is acknowledged itself.
    case message(RelayMessage)
  }

  let port: any RelayPort
  let randomness: any Randomness
  private let version = RelayVersion()

  package init(port: any RelayPort, randomness: any Randomness) {
    self.port = port
    self.randomness = randomness
  }

  /// A new identifier, for `send`.
  package func newIdentifier() throws(RelayError) -> RelayIdentifier { try .generate(randomness: randomness) }

  // MARK: Recipient

  /// Creates a mailbox owned by `recipientKey`. The same keys yield the same mailbox again, so store the key first.
  ///
  /// Without `senderKey`, anyone who knows the sender's identifier can send, until `secureMailbox`.
  package func createMailbox(
    recipientKey: SigningKeyPair, senderKey: SigningPublicKey? = nil
  ) throws(RelayError) -> Mailbox {
    let command = RelayCommand.createMailbox(recipientKey: recipientKey.publicKey, senderKey: senderKey)
    guard case .mailbox(let recipient, let sender) = try exchange(command, entity: nil, key: recipientKey) else {
      throw .answer
    }
    return Mailbox(recipient: recipient, sender: sender)
  }

  /// Allows only `senderKey` to send from now on. Throws `auth` if the mailbox is already secured with another key.
  package func secureMailbox(
    _ recipient: RelayIdentifier, key: SigningKeyPair, senderKey: SigningPublicKey
  ) throws(RelayError) {
    try expectDone(.secureMailbox(senderKey: senderKey), entity: recipient, key: key)
  }

  /// The oldest waiting message, with its age if the relay can report it; the same one until it is acknowledged. Nil if
  /// there is none.
  package func getMessage(_ recipient: RelayIdentifier, key: SigningKeyPair) throws(RelayError) -> RelayMessage? {
    do throws(RelayError) {
      let answer = try version.exchange(
        .getMessageWithAge,
        { () throws(RelayError) in try exchange(.getMessageWithAge, entity: recipient, key: key) },
        orEarlier: { () throws(RelayError) in try exchange(.getMessage, entity: recipient, key: key) })
      guard case .message(let message) = answer else { throw .answer }
      return message
    } catch {
      if error == .noMessage { return nil }
      throw error
    }
  }

  /// Lets the relay delete the message. Call it only after the message is committed to the store: until then the relay
  /// has the only copy.
  @discardableResult
  package func acknowledge(
    _ message: RelayIdentifier, in recipient: RelayIdentifier, key: SigningKeyPair
  ) throws(RelayError) -> Acknowledgement {
    do throws(RelayError) {
      try expectDone(.acknowledge(message: message), entity: recipient, key: key)
      return .done
    } catch {
      if error == .noMessage { return .noMessage }
      throw error
    }
  }

  /// Like `acknowledge`, and also returns the next message, in one exchange if the relay supports it.
  package func acknowledgeAndGet(
    _ message: RelayIdentifier, in recipient: RelayIdentifier, key: SigningKeyPair
  ) throws(RelayError) -> (Acknowledgement, Next) {
    try version.exchange(
      .acknowledgeAndGet,
      { () throws(RelayError) in
        let answer = try exchange(.acknowledgeAndGet(message: message), entity: recipient, key: key)
        guard case .acknowledged(let wasThere, let next) = answer else { throw .answer }
        return (wasThere ? .done : .noMessage, next.map { .message($0) } ?? .nothing)
      },
      orEarlier: { () throws(RelayError) in (try acknowledge(message, in: recipient, key: key), .unknown) })
  }

  /// Wakes this process (`RelayPort.wakeDescriptor`) when a message arrives. One result per mailbox, in order; a bad
  /// one does not prevent the others from being subscribed (INC-44).
  package func subscribe(
    _ mailboxes: [(recipient: RelayIdentifier, key: SigningKeyPair)]
  ) throws(RelayError) -> [RelaySubscription] {
    try exchangeBatch(mailboxes) { .subscribe($0) }
  }

  /// Whether something is waiting in each of these mailboxes: one result per mailbox, in order. Uses keys derived from
  /// the mailboxes' own, sharing them with the relay if it does not know them yet; a signature for each mailbox costs
  /// far more.
  ///
  /// Throws `syntax` if the relay does not know the command.
  package func check(
    _ mailboxes: [(recipient: RelayIdentifier, key: SigningKeyPair)]
  ) throws(RelayError) -> [RelaySubscription] {
    try version.exchange(
      .checkByKeys, { () throws(RelayError) in try checkByKeys(mailboxes) },
      orEarlier: { () throws(RelayError) in try exchangeBatch(mailboxes) { .check($0) } })
  }

  private func checkByKeys(
    _ mailboxes: [(recipient: RelayIdentifier, key: SigningKeyPair)]
  ) throws(RelayError) -> [RelaySubscription] {
    let known = mailboxes.map { (recipient: $0.recipient, key: $0.key, shared: RelayCheckKey(of: $0.key)) }
    var results = try exchange(known) { (correlation, chunk) in
      .checkByKeys(
        chunk.map { .init(entity: $0.recipient, tag: $0.shared.tag(correlation: correlation, $0.recipient)) })
    }
    let refused = results.indices.filter { results[$0] == .auth }
    let shared = try exchange(refused.map { known[$0] }) { (correlation, chunk) in
      .shareCheckKeys(
        chunk.map { mailbox in
          let signed = RelayRequest.signedBytes(
            correlation: correlation, sharing: mailbox.shared, of: mailbox.recipient)
          return .init(entity: mailbox.recipient, key: mailbox.shared, signature: mailbox.key.sign(signed))
        })
    }
    for (index, result) in zip(refused, shared) { results[index] = result }
    return results
  }

  /// Like `subscribe`; afterwards `arrivals` names what reached the mailboxes subscribed under `key`. The position
  /// precedes the first of them.
  ///
  /// Throws `syntax` if the relay does not know the command.
  package func listen(
    to mailboxes: [(recipient: RelayIdentifier, key: SigningKeyPair)], as key: SigningKeyPair
  ) throws(RelayError) -> (position: RelayPosition, results: [RelaySubscription]) {
    var first: RelayPosition?
    let results = try exchangeBatch(
      mailboxes, key: key, { .listen(key: key.publicKey, $0) },
      results: { (answer) throws(RelayError) in
        guard case .listening(let position, let results) = answer else { throw .answer }
        first = first ?? position
        return results
      })
    guard let first else { throw .answer }
    return (first, results)
  }

  /// Mailboxes under `key` that received something after `position`, and the position for the next call; a mailbox may
  /// be named more than once. Throws `auth` if the relay no longer knows the key or the position, or names more than
  /// anybody listens to: then listen again.
  package func arrivals(
    after position: RelayPosition, as key: SigningKeyPair
  ) throws(RelayError) -> (position: RelayPosition, mailboxes: [RelayIdentifier]) {
    var (position, all): (RelayPosition, [RelayIdentifier]) = (position, [])
    while all.count < RelayLimits.arrivalsAtOnce {
      let command = RelayCommand.arrivals(
        key: key.publicKey, after: position, limit: UInt16(clamping: RelayLimits.batch))
      guard case .arrivals(let next, let mailboxes) = try exchange(command, entity: nil, key: key) else {
        throw .answer
      }
      all += mailboxes
      guard mailboxes.count == RelayLimits.batch, next != position else { return (next, all) }
      position = next
    }
    throw .auth
  }

  /// Makes the relay write a notification for each message sent with `notify`. Replaces an earlier notifier that has
  /// different keys; for the same keys it returns the same answer again.
  ///
  /// The secret half of `notifierKey` goes to the notification service, that of `boxKey` stays with the recipient.
  package func enableNotifier(
    _ recipient: RelayIdentifier, key: SigningKeyPair, notifierKey: SigningPublicKey, boxKey: BoxPublicKey
  ) throws(RelayError) -> Notifier {
    let command = RelayCommand.enableNotifier(notifierKey: notifierKey, boxKey: boxKey)
    guard case .notifier(let identifier, let relayBoxKey) = try exchange(command, entity: recipient, key: key) else {
      throw .answer
    }
    return Notifier(identifier: identifier, relayBoxKey: relayBoxKey)
  }

  package func disableNotifier(_ recipient: RelayIdentifier, key: SigningKeyPair) throws(RelayError) {
    try expectDone(.disableNotifier, entity: recipient, key: key)
  }

  /// Deletes the mailbox with its contents. A repeat throws `auth`, as for any nonexistent mailbox.
  package func deleteMailbox(_ recipient: RelayIdentifier, key: SigningKeyPair) throws(RelayError) {
    try expectDone(.deleteMailbox, entity: recipient, key: key)
  }

  // MARK: Sender

  /// Puts a message into a mailbox; durable when it returns.
  ///
  /// `key` is nil while the mailbox is unsecured. `attempt` identifies this message among the sender's: store it with
  /// the message before sending, and reuse it for each retry. However often the message arrives, one copy is kept.
  /// `body` has at most `RelayLimits.body` bytes.
  package func send(
    _ body: [UInt8], to sender: RelayIdentifier, key: SigningKeyPair?, attempt: RelayIdentifier, notify: Bool
  ) throws(RelayError) {
    guard body.count <= RelayLimits.body else { throw .size }
    try expectDone(.send(attempt: attempt, notify: notify, body: body), entity: sender, key: key)
  }
}

// MARK: Exchanges

extension RelayClient {
  func expectDone(_ command: RelayCommand, entity: RelayIdentifier?, key: SigningKeyPair?) throws(RelayError) {
    guard case .done = try exchange(command, entity: entity, key: key) else { throw .answer }
  }

  /// One command, signed if there is a key. Throws the relay's refusal.
  func exchange(
    _ command: RelayCommand, entity: RelayIdentifier?, key: SigningKeyPair?
  ) throws(RelayError) -> RelayAnswer {
    var request = RelayRequest(correlation: try newIdentifier(), entity: entity, command: command)
    request.signature = key?.sign(request.signedBytes)
    return try exchange(request)
  }

  /// A command for many entities, in as many requests as the protocol's limit requires. `key`, if given, signs each
  /// request as a whole; there is then one request even for no entities.
  func exchangeBatch(
    _ entities: [(RelayIdentifier, SigningKeyPair)], key: SigningKeyPair? = nil,
    _ command: ([RelayCommand.Entry]) -> RelayCommand,
    results unpack: (RelayAnswer) throws(RelayError) -> [RelaySubscription] = {
      (answer) throws(RelayError) in
      guard case .subscriptions(let results) = answer else { throw .answer }
      return results
    }
  ) throws(RelayError) -> [RelaySubscription] {
    var results: [RelaySubscription] = []
    var rest = entities[...]
    var isDue = key != nil || !rest.isEmpty
    while isDue {
      let chunk = rest.prefix(RelayLimits.batch)
      rest = rest.dropFirst(RelayLimits.batch)
      let correlation = try newIdentifier()
      let empty = command([])
      let entries = chunk.map { entity, key in
        let signed = RelayRequest.signedBytes(correlation: correlation, entry: entity, of: empty)
        return RelayCommand.Entry(entity: entity, signature: key.sign(signed))
      }
      var request = RelayRequest(correlation: correlation, entity: nil, command: command(entries))
      request.signature = key?.sign(request.signedBytes)
      let answers = try unpack(try exchange(request))
      guard answers.count == chunk.count else { throw .answer }
      results += answers
      isDue = !rest.isEmpty
    }
    return results
  }

  /// Likewise for a command whose entries are proven in another way; one result per entity, in order.
  private func exchange<Entity>(
    _ entities: [Entity], _ command: (RelayIdentifier, ArraySlice<Entity>) -> RelayCommand
  ) throws(RelayError) -> [RelaySubscription] {
    var results: [RelaySubscription] = []
    while results.count < entities.count {
      let chunk = entities[results.count...].prefix(RelayLimits.batch)
      let correlation = try newIdentifier()
      let request = RelayRequest(correlation: correlation, entity: nil, command: command(correlation, chunk))
      guard case .subscriptions(let answers) = try exchange(request), answers.count == chunk.count else {
        throw .answer
      }
      results += answers
    }
    return results
  }

  private func exchange(_ request: RelayRequest) throws(RelayError) -> RelayAnswer {
    let answer = try RelayAnswer(
      decoding: try port.exchange(request.encoded()), correlation: request.correlation)
    if case .failed(let error) = answer { throw error }
    return answer
  }
}
