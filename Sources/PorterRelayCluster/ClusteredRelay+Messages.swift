import PorterCrypto
import PorterPlatform
import PorterRelay

/// Messages: send, get, acknowledge.
extension ClusteredRelay {
  /// The outcome of a send, according to the record.
  private enum Acceptance: Sendable {
    /// If notified, with the service to notify.
    case accepted(service: SigningPublicKey?, expired: [StoredBody])
    case waits(message: RelayIdentifier, service: SigningPublicKey?)
    case dropped
  }

  // MARK: Send

  /// Stores the body first, then the record that makes it a message, then the notification for its service; then
  /// answers. A sender without an answer resends with the same attempt, which completes any missing step.
  func send(
    _ request: RelayRequest, _ attempt: RelayIdentifier, notify: Bool, _ body: [UInt8]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedBySender(request, attempt)
    let message = try randomIdentifier()
    let key = mailbox.key
    var stored: [StoredBody] = []
    if case .new = mailbox.record.state(of: attempt), mailbox.record.waiting.count < RelayLimits.undelivered {
      stored = [try await addBody(body, of: message, in: mailbox)]
    }
    var acceptance = try await accept(
      request, attempt, notify: notify, message, body: stored.first, in: mailbox)
    if acceptance == nil {
      // There is room, or the attempt is new, after all.
      let late = try await addBody(body, of: message, in: mailbox)
      stored = [late]
      acceptance = try await accept(request, attempt, notify: notify, message, body: late, in: mailbox)
    }
    switch acceptance {
    case .accepted(let service, let expired):
      store.dropBodies(key, expired)
      try await announce(message, in: mailbox.parts, key, to: service, attempt: message)
    case .waits(let earlier, let service):
      store.dropBodies(key, stored)
      // Another relay may have stored it, and may have ended since.
      keep(body, of: earlier, in: mailbox)
      try await announce(earlier, in: mailbox.parts, key, to: service, attempt: earlier)
    case .dropped, nil:
      store.dropBodies(key, stored)
    }
    return .done
  }

  /// Prefixes the message's name: a cluster that has lost messages may reuse their numbers. It is kept in memory
  /// whatever follows: a record that was stored without an answer names it, and its repeat stores no other.
  private func addBody(
    _ body: [UInt8], of message: RelayIdentifier, in mailbox: FoundMailbox
  ) async throws(ExchangeFailure) -> StoredBody {
    let (bytes, key) = (message.bytes + body, mailbox.key)
    let number = try await asking { [store] () async throws(ClusterFailure) in try await store.addBody(key, bytes) }
    keep(body, of: message, in: mailbox)
    return StoredBody(number: number, message: message.bytes)
  }

  private func keep(_ body: [UInt8], of message: RelayIdentifier, in mailbox: FoundMailbox) {
    let bytes = message.bytes + body
    accepted.note(
      .init(key: mailbox.key, parts: mailbox.parts, message: message, bytes: bytes, at: ports.clock.now()))
  }

  /// Nil if the message is new, and its body is not stored yet.
  private func accept(
    _ request: RelayRequest, _ attempt: RelayIdentifier, notify: Bool, _ message: RelayIdentifier, body: StoredBody?,
    in mailbox: FoundMailbox
  ) async throws(ExchangeFailure) -> Acceptance? {
    do throws(ExchangeFailure) {
      let senderKey = mailbox.record.senderKey
      return try await change(mailbox, .sender) { (record, recency) throws(ExchangeFailure) in
        guard record.senderKey == senderKey || (request.signature == nil && record.knows(attempt)) else {
          throw .refused(.auth)
        }
        switch record.state(of: attempt) {
        case .waiting(let entry):
          guard recency > .remembered else { return .settle }
          if entry.message == message {
            // A change that was reported as refused has stored it.
            return .keep(.accepted(service: entry.hasNotification ? record.notifier?.service : nil, expired: []))
          }
          return .keep(.waits(message: entry.message, service: entry.hasNotification ? record.notifier?.service : nil))
        case .dropped: return recency > .remembered ? .keep(.dropped) : .settle
        case .new: break
        }
        let now = wall
        let expired = record.waiting.count < RelayLimits.undelivered ? [] : record.expire(at: now)
        guard record.waiting.count < RelayLimits.undelivered else { throw .refused(.quota) }
        guard let body else { return recency > .remembered ? .keep(nil) : .settle }
        let hasNotification = notify && record.notifier != nil
        record.waiting.append(
          MailboxRecord.Entry(
            body: body.number, message: message, attempt: attempt, sentAt: max(now, record.waiting.last?.sentAt ?? 0),
            notify: notify, hasNotification: hasNotification))
        return .replace(.accepted(service: hasNotification ? record.notifier?.service : nil, expired: expired))
      }
    } catch {
      // No record names the body, as far as the answering node knows. In a cluster without room it would take up what
      // acknowledgements need, so the backlog could not be read away.
      switch error {
      case .refused, .full: if let body { store.dropUnnamedBody(mailbox.key, body) }
      case .limited, .failed, .own: break
      }
      throw error
    }
  }

  /// Signals recipients before services, so that by the time a service asks it is known whether a recipient is
  /// listening.
  func announce(
    _ message: RelayIdentifier, in mailbox: ClusterKey.Parts, _ key: String, to service: SigningPublicKey?,
    attempt: RelayIdentifier
  ) async throws(ExchangeFailure) {
    store.signal(.message(key: key, message: message.bytes))
    guard let service else { return }
    try await addNotification(message, in: mailbox, to: service, attempt: attempt)
    store.signal(.notification(service: Self.name(of: service)))
  }

  /// A secured mailbox requires its sender's signature; an unsecured one rejects any. The change that follows proves
  /// that it is still unsecured. A sender without an answer repeats the request, and the recipient may have secured the
  /// mailbox in the meantime. Only that sender knows the attempt.
  private func authorizedBySender(
    _ request: RelayRequest, _ attempt: RelayIdentifier
  ) async throws(ExchangeFailure) -> FoundMailbox {
    try await admitted(.sender, request, .remembered) { (found) throws(ExchangeFailure) in
      if let found, request.signature == nil, found.record.senderKey == nil || found.record.knows(attempt) { return }
      try authorize(request, key: found?.record.senderKey)
    }
  }

  // MARK: Get and acknowledge

  func getMessage(
    _ request: RelayRequest, withAge: Bool, _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    // A lagging record would give again what another relay has dropped.
    let mailbox = try await authorizedMailbox(request, .settled)
    guard var message = try await oldestMessage(in: mailbox) else {
      listeners.noteSignOfLife(listener)
      listeners.noteEmpty(mailbox.key, for: listener)
      throw .refused(.noMessage)
    }
    if !withAge { message.age = nil }
    return .message(message)
  }

  func acknowledge(
    _ request: RelayRequest, _ message: RelayIdentifier, _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedMailbox(request, .remembered)
    return try await drop(message, from: mailbox, listener).wasThere ? .done : .failed(.noMessage)
  }

  func acknowledgeAndGet(
    _ request: RelayRequest, _ message: RelayIdentifier, _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedMailbox(request, .remembered)
    let dropped = try await drop(message, from: mailbox, listener)
    var rest = mailbox
    rest.record = dropped.record
    return .acknowledged(wasThere: dropped.wasThere, next: try await oldestMessage(in: rest))
  }

  /// The returned record is the one after the message was dropped, or a settled one.
  private func drop(
    _ message: RelayIdentifier, from mailbox: FoundMailbox, _ listener: String?
  ) async throws(ExchangeFailure) -> (wasThere: Bool, record: MailboxRecord) {
    listeners.noteSignOfLife(listener)
    let now = wall
    let (entry, record) = try await change(mailbox, .recipient) { (record, recency) throws(ExchangeFailure) in
      guard let entry = record.drop(message, at: now) else {
        return recency == .settled ? .keep((MailboxRecord.Entry?.none, record)) : .settle
      }
      // An expired message counts as missing.
      let isExpired = MailboxRecord.isExpired(entry.sentAt, at: now)
      return .replace((isExpired ? nil : entry, record))
    }
    if let entry { store.dropBodies(mailbox.key, [entry.stored]) }
    if record.waiting.isEmpty { listeners.noteEmpty(mailbox.key, for: listener) }
    return (entry != nil, record)
  }

  /// A missing body was lost by the cluster, or has expired before its record: the cluster's clock is ahead of this
  /// relay's. The relay that accepted the message within the last two minutes still has it, and restores it. Until then
  /// the mailbox is not reported empty: a client takes that as final, and looks again only after its next message. Later
  /// messages are given, and after that time the message is skipped.
  private func oldestMessage(in mailbox: FoundMailbox) async throws(ExchangeFailure) -> RelayMessage? {
    let (now, key) = (wall, mailbox.key)
    var lost: [MailboxRecord.Entry] = []
    var oldest: (entry: MailboxRecord.Entry, bytes: [UInt8])?
    var trouble: ExchangeFailure?
    for entry in mailbox.record.waiting where !MailboxRecord.isExpired(entry.sentAt, at: now) {
      do throws(ExchangeFailure) {
        let stored = try await asking { [store] () async throws(ClusterFailure) in
          try await store.body(key, entry.body) { $0.starts(with: entry.message.bytes) }
        }
        if let stored {
          oldest = (entry, stored)
          break
        }
      } catch {
        // Whether it is there is unknown.
        guard case .own = error else { throw error }
        trouble = trouble ?? error
      }
      lost.append(entry)
    }
    switch try await kept(of: lost, key) {
    case .found(let entry, let bytes): oldest = (entry, bytes)
    case .late where oldest == nil: throw trouble ?? .own("a message's body is missing")
    case .late, .gone: if oldest == nil, let trouble { throw trouble }
    }
    return oldest.map { (entry, bytes) in
      RelayMessage(
        identifier: entry.message, timestamp: WallTime(milliseconds: entry.sentAt), notify: entry.notify,
        body: Array(bytes.dropFirst(RelayIdentifier.count)), age: UInt32(clamping: now - entry.sentAt))
    }
  }
}
