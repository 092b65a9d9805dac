import PorterCrypto
import PorterPlatform
import PorterRelay

/// A notification that reaches no service, for an operator investigating it.
public struct EndedNotification: Sendable, Equatable {
  public enum Reason: String, Sendable {
    case malformed
    case noMailbox = "no mailbox"
    case otherNotifier = "another notifier or service"
    case noMessage = "its message is gone"
    case expired
  }

  /// Its number in its service's queue.
  public let number: UInt64
  public let reason: Reason
  /// The revision of the record that shows this; 0 if there is none.
  public let revision: UInt64
}

/// Notifiers, and the notifications for a service.
///
/// For each message that notifies, the queue of a service holds the mailbox and the message. The notification itself is
/// built when the service asks: only then is it known whether the message is still waiting, and whether its recipient
/// is about to fetch it.
extension ClusteredRelay {
  // MARK: Recipient's side

  func enableNotifier(
    _ request: RelayRequest, _ notifierKey: SigningPublicKey, _ boxKey: BoxPublicKey
  ) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedMailbox(request, .read)
    let relayKeys: BoxKeyPair
    do throws(CryptoError) { relayKeys = try BoxKeyPair.generate(randomness: ports.randomness) } catch {
      throw .failed("\(error)")
    }
    let shared: BoxSharedKey
    // A low-order key is the client's mistake, or an attack.
    do throws(CryptoError) { shared = try relayKeys.secretKey.agree(with: boxKey) } catch { throw .refused(.syntax) }
    let generation = random(8)
    let notifier = try await change(mailbox, .recipient) { (record, recency) throws(ExchangeFailure) in
      if let existing = record.notifier, existing.key == notifierKey, existing.recipientBoxKey == boxKey {
        return recency == .settled ? .keep(existing) : .settle
      }
      // The earlier notifier's notifications could not be opened with the new key, so they end with it.
      for index in record.waiting.indices { record.waiting[index].hasNotification = false }
      let new = MailboxRecord.Notifier(
        generation: generation, key: notifierKey, recipientBoxKey: boxKey, relayBoxKey: relayKeys.publicKey,
        sharedKey: shared.exposeForStorage(), service: nil)
      record.notifier = new
      return .replace(new)
    }
    let parts = ClusterKey.Parts(mailbox: mailbox.parts.mailbox, generation: notifier.generation)
    guard let identifier = identifiers.identifier(.notifier, parts) else { throw .failed("no identifier") }
    return .notifier(identifier, boxKey: notifier.relayBoxKey)
  }

  func disableNotifier(_ request: RelayRequest) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedMailbox(request, .read)
    return try await change(mailbox, .recipient) { (record, recency) throws(ExchangeFailure) in
      if record.notifier == nil { return recency == .settled ? .keep(.done) : .settle }
      record.notifier = nil
      for index in record.waiting.indices { record.waiting[index].hasNotification = false }
      return .replace(.done)
    }
  }

  // MARK: Service's side

  /// The name of a service's queue.
  static func name(of service: SigningPublicKey) -> String { TextEncoding.base64URL(service.bytes) }

  /// A repeat with the same `attempt` at this relay, within a minute, adds nothing.
  func addNotification(
    _ message: RelayIdentifier, in mailbox: ClusterKey.Parts, to service: SigningPublicKey, attempt: RelayIdentifier
  ) async throws(ExchangeFailure) {
    let (bytes, name) = (mailbox.mailbox + mailbox.generation + message.bytes, Self.name(of: service))
    let attempt = "\(attempt.base64URL)-\(name)"
    try await asking { [store] () async throws(ClusterFailure) in
      try await store.addNotification(name, bytes, attempt: attempt)
    }
  }

  func subscribeNotifiers(
    _ request: RelayRequest, _ service: SigningPublicKey, _ entries: [RelayCommand.Entry], _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: service)
    if let listener { listeners.subscribe(listener, service: Self.name(of: service)) }
    let mailboxes = try await mailboxes(of: entries, .notifier, of: request) { $0.notifier?.key }
    return .subscriptions(
      try await concurrently(mailboxes) { [self] (mailbox) async throws(ExchangeFailure) in
        guard let mailbox else { return .auth }
        do throws(ExchangeFailure) { return try await take(mailbox, service) } catch {
          if case .refused(.auth) = error { return .auth }
          throw error
        }
      })
  }

  /// Assigns the notifier to the service, along with what is waiting. The record says which of it must still be queued:
  /// a service without an answer asks again, and by then it owns the notifier.
  private func take(
    _ mailbox: FoundMailbox, _ service: SigningPublicKey
  ) async throws(ExchangeFailure) -> RelaySubscription {
    let record = try await change(mailbox, .notifier) { (record, recency) throws(ExchangeFailure) in
      if record.notifier?.service == service { return recency == .settled ? .keep(record) : .settle }
      record.notifier?.service = service
      // The service may have had them before, and lost them to another.
      for index in record.waiting.indices { record.waiting[index].isOwed = record.waiting[index].hasNotification }
      return .replace(record)
    }
    let waiting = record.waiting.filter { $0.hasNotification && !MailboxRecord.isExpired($0.sentAt, at: wall) }
    let owed = waiting.filter(\.isOwed)
    if !owed.isEmpty {
      let parts = ClusterKey.Parts(mailbox: mailbox.parts.mailbox, generation: record.generation)
      for entry in owed {
        try await addNotification(entry.message, in: parts, to: service, attempt: try randomIdentifier())
      }
      try await settle(owed.map(\.message), of: mailbox, service)
    }
    return waiting.isEmpty ? .subscribed : .waiting
  }

  /// Marks the messages as being in the service's queue.
  private func settle(
    _ messages: [RelayIdentifier], of mailbox: FoundMailbox, _ service: SigningPublicKey
  ) async throws(ExchangeFailure) {
    try await change(mailbox, .notifier) { (record, _) throws(ExchangeFailure) in
      let settled = record.waiting.indices.filter { messages.contains(record.waiting[$0].message) }
      guard record.notifier?.service == service, !settled.isEmpty else { return .keep(()) }
      for index in settled { record.waiting[index].isOwed = false }
      return .replace(())
    }
  }

  /// Due notifications. Those that are over, because the message is gone or the notifier was replaced, are acknowledged
  /// here.
  func notifications(
    _ request: RelayRequest, _ service: SigningPublicKey, limit: UInt16
  ) async throws(ExchangeFailure) -> RelayDueNotifications {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: service)
    return try await due(try await take(limit, for: service), for: service)
  }

  private func take(
    _ limit: UInt16, for service: SigningPublicKey
  ) async throws(ExchangeFailure) -> TakenNotifications {
    let (name, most) = (Self.name(of: service), max(1, min(Int(limit), RelayLimits.batch)))
    return try await asking { [store] () async throws(ClusterFailure) in
      try await store.takeNotifications(name, limit: most)
    }
  }

  private func due(
    _ taken: TakenNotifications, for service: SigningPublicKey
  ) async throws(ExchangeFailure) -> RelayDueNotifications {
    let name = Self.name(of: service)
    let found = try await concurrently(taken.items) { [self] (item) async throws(ExchangeFailure) in
      try await finding(item, service, .remembered)
    }
    var notifications: [RelayNotification] = []
    var ended: [UInt64] = []
    var nextIn: Int64?
    for (item, finding) in zip(taken.items, try await confirmed(found, of: taken.items, service)) {
      switch finding {
      case .due(let notification): notifications.append(notification)
      case .over(let reason, let revision):
        ended.append(item.number)
        onEnded(EndedNotification(number: item.number, reason: reason, revision: revision))
      case .held(let milliseconds):
        store.postponeNotification(name, item, milliseconds: milliseconds)
        nextIn = min(nextIn ?? .max, milliseconds + 1)
      }
    }
    if !ended.isEmpty {
      let numbers = ended
      try await asking { [store] () async throws(ClusterFailure) in
        try await store.acknowledgeNotifications(name, numbers)
      }
    }
    // Notifications held by another server of this service, and not acknowledged, are given to the next server that
    // asks.
    if nextIn == nil, taken.hasOthers { nextIn = 1_000 }
    return RelayDueNotifications(
      notifications: notifications, nextIn: nextIn.map { UInt32(clamping: $0) })
  }

  /// As long as a message's notification takes to be asked for.
  private static let memory = Span.milliseconds(250)

  private enum Finding: Sendable {
    case due(RelayNotification)
    case held(Int64)
    /// According to the record of this revision; 0 if there is none.
    case over(EndedNotification.Reason, UInt64)
  }

  /// Acknowledged notifications never return. So a notification that is over according to a record that may lag is
  /// checked again once that is settled.
  private func confirmed(
    _ findings: [Finding], of items: [TakenNotifications.Item], _ service: SigningPublicKey
  ) async throws(ExchangeFailure) -> [Finding] {
    let doubtful = findings.indices.filter { if case .over = findings[$0] { true } else { false } }
    guard !doubtful.isEmpty else { return findings }
    try await settle(doubtful.map { ClusterKey.text(Array(items[$0].bytes.prefix(16))) })
    let again = try await concurrently(doubtful) { [self] (index) async throws(ExchangeFailure) in
      try await finding(items[index], service, .settled)
    }
    var findings = findings
    for (index, finding) in zip(doubtful, again) { findings[index] = finding }
    return findings
  }

  private func finding(
    _ item: TakenNotifications.Item, _ service: SigningPublicKey, _ recency: Recency
  ) async throws(ExchangeFailure) -> Finding {
    guard item.bytes.count == 48, let message = RelayIdentifier(bytes: item.bytes.suffix(24)) else {
      return .over(.malformed, 0)
    }
    let (mailbox, generation) = (Array(item.bytes.prefix(16)), Array(item.bytes[16..<24]))
    let key = ClusterKey.text(mailbox)
    func finding(
      in found: (record: MailboxRecord, revision: UInt64)?
    ) async throws(ExchangeFailure) -> Finding {
      guard let found, found.record.generation == generation else { return .over(.noMailbox, 0) }
      return try await self.finding(message, item.number, in: found, mailbox, service)
    }
    // This relay has usually just stored the message. If another one has dropped it since, a push is superfluous.
    if recency == .remembered, let known = cache.record(key, within: Self.memory) {
      let finding = try await finding(in: known)
      if case .over = finding {} else { return finding }
    }
    return try await finding(in: try await read(key, max(recency, .read)))
  }

  private func finding(
    _ message: RelayIdentifier, _ number: UInt64, in found: (record: MailboxRecord, revision: UInt64),
    _ mailbox: [UInt8], _ service: SigningPublicKey
  ) async throws(ExchangeFailure) -> Finding {
    let ((record, revision), now) = (found, wall)
    guard let notifier = record.notifier, notifier.service == service else { return .over(.otherNotifier, revision) }
    guard let entry = record.entry(message) else { return .over(.noMessage, revision) }
    guard entry.hasNotification else { return .over(.otherNotifier, revision) }
    guard !MailboxRecord.isExpired(entry.sentAt, at: now) else { return .over(.expired, revision) }
    let youth = NotificationHold.pause.milliseconds - max(0, now - entry.sentAt)
    if youth > 0 {
      let hold = min(youth, await store.hold(ClusterKey.text(mailbox)))
      if hold > 0 { return .held(hold) }
    }
    return .due(try notification(number, of: entry, notifier, mailbox, service))
  }

  private func notification(
    _ number: UInt64, of entry: MailboxRecord.Entry, _ notifier: MailboxRecord.Notifier, _ mailbox: [UInt8],
    _ service: SigningPublicKey
  ) throws(ExchangeFailure) -> RelayNotification {
    // No two notifications share both number and message, so no nonce is used twice under a key.
    let timestamp = WallTime(milliseconds: entry.sentAt)
    let metadata = RelayMessageMetadata(message: entry.message, timestamp: timestamp)
    guard let nonce = nonce(number, service), let shared = BoxSharedKey(stored: notifier.sharedKey),
      let sealed = try? metadata.sealed(with: shared, nonce: nonce),
      let identifier = identifiers.identifier(
        .notifier, ClusterKey.Parts(mailbox: mailbox, generation: notifier.generation))
    else { throw .own("a notification cannot be sealed") }
    return RelayNotification(notifier: identifier, timestamp: timestamp, nonce: nonce, metadata: sealed)
  }

  private func nonce(_ number: UInt64, _ service: SigningPublicKey) -> BoxNonce? {
    var bytes: [UInt8] = []
    bytes.append(signed64: Int64(bitPattern: number))
    return BoxNonce(bytes: identifiers.permuted(bytes + service.bytes.prefix(16), .notification))
  }

  private func number(of nonce: BoxNonce, _ service: SigningPublicKey) -> UInt64? {
    let bytes = identifiers.restored(nonce.bytes, .notification)
    guard Array(bytes.suffix(16)) == Array(service.bytes.prefix(16)) else { return nil }
    return bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  func acknowledgeNotifications(
    _ request: RelayRequest, _ service: SigningPublicKey, _ nonces: [BoxNonce]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: service)
    try await acknowledge(nonces, of: service)
    return .done
  }

  /// All in one exchange. The mailboxes are read after notifications are taken: a message that arrived in one of them
  /// before one of these was due is seen.
  func acknowledgeAndGetNotifications(
    _ request: RelayRequest, _ service: SigningPublicKey, limit: UInt16, _ nonces: [BoxNonce],
    _ entries: [RelayCommand.Entry]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: service)
    // First, or some of these could be given once more.
    try await acknowledge(nonces, of: service)
    let taken = try await take(limit, for: service)
    async let states = result { [self] () async throws(ExchangeFailure) in
      try await statesForService(entries, of: request)
    }
    let due = try await due(taken, for: service)
    return .acknowledgedNotifications(due, try await states.get())
  }

  /// What cannot be read counts as waiting: otherwise the notifications would be given to no server for some seconds.
  private func statesForService(
    _ entries: [RelayCommand.Entry], of request: RelayRequest
  ) async throws(ExchangeFailure) -> [RelaySubscription] {
    do throws(ExchangeFailure) { return try await states(of: entries, of: request, nil) } catch {
      switch error {
      case .failed, .own: return entries.map { _ in .waiting }
      case .refused, .limited, .full: throw error
      }
    }
  }

  private func result<Value: Sendable>(
    _ body: @Sendable () async throws(ExchangeFailure) -> Value
  ) async -> Result<Value, ExchangeFailure> {
    do throws(ExchangeFailure) { return .success(try await body()) } catch { return .failure(error) }
  }

  private func acknowledge(_ nonces: [BoxNonce], of service: SigningPublicKey) async throws(ExchangeFailure) {
    let (numbers, name) = (nonces.compactMap { number(of: $0, service) }, Self.name(of: service))
    if !numbers.isEmpty {
      try await asking { [store] () async throws(ClusterFailure) in
        try await store.acknowledgeNotifications(name, numbers)
      }
    }
  }
}
