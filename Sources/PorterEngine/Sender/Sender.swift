import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Sends what waits in the outboxes: each message was encrypted once, in the transaction that recorded it, and is
/// offered to the relay until the relay has it. Threads: the engine's.
final class Sender {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let relay: RelayLink
  private let connections: Connections
  private let changes: CommittedChanges

  /// Whether something may be handed to the relay now, in addition to the lifecycle's own check.
  private let mayBegin: () -> Bool

  /// Connections whose outbox is being sent.
  private var sending = UnderWay<Int64>()
  private var queue = OutboxQueue()
  /// By connection, until the first attempt to send the confirmation has ended.
  private var confirming = [Int64: Confirming]()
  private var flushing: Coalescer
  /// Whether every connection with an outbox gets a turn in the next round; otherwise only these, and those with new
  /// entries.
  private var areAllDue = false
  private var due: Set<Int64> = []
  /// Called when nothing is in progress.
  private var awaitingRest: [() -> Void] = []

  /// Concurrent requests. They wait in the relay driver's queue with their bodies, and requests made in the meantime
  /// wait behind them.
  private static let mostUnderWay = 16

  private struct Confirming {
    /// Whether it was made in this step, and not sent yet.
    var isNew: Bool
    /// Called with whether the relay refused it. Several commands may wait for one request.
    var waiting: [(Bool) -> Void] = []
  }

  init(
    _ context: EngineContext, lifecycle: Lifecycle, relay: RelayLink, connections: Connections,
    changes: CommittedChanges,
    mayBegin: @escaping () -> Bool
  ) {
    self.changes = changes
    self.context = context
    self.lifecycle = lifecycle
    self.relay = relay
    self.connections = connections
    self.mayBegin = mayBegin
    flushing = Coalescer("outbox", context.configuration.log)
  }

  /// The relay was closed: what is in progress belongs to it. Another process may send from here on.
  func relayHasClosed() {
    sending.giveUp()
    queue = OutboxQueue()
    reportRest()
  }

  /// Offers each connection's oldest message to the relay; the next one follows once the relay has answered.
  func flush() {
    areAllDue = true
    offer()
  }

  /// Offers new outbox entries, and the oldest message of this connection, which has changed. Messages waiting for
  /// other contacts have their own schedule: a person who sends does not wait for them.
  func offerNew(alsoFor connectionID: Int64? = nil) {
    if let connectionID { due.insert(connectionID) }
    offer()
  }

  private func offer() {
    guard flushing.want() else { return }
    repeat { offerDue() } while flushing.end()
  }

  /// Like `flush`. `then` is called once, in a later step, when nothing is in progress: everything is sent, or waits
  /// for later.
  func flush(then: @escaping () -> Void) {
    awaitingRest.append(then)
    flush()
    if sending.isEmpty { reportRest() }
  }

  private func reportRest() {
    let waiting = awaitingRest
    awaitingRest = []
    for then in waiting { context.steps.post(then) }
  }

  /// Sends the connection's confirmation; `isNew` in the step that made it. `then` is called when the relay has
  /// answered: it refuses a first attempt if the invitation's mailbox was secured for another sender, or deleted. It
  /// may also refuse a later attempt because an earlier one arrived and its answer was lost. What the relay cannot
  /// accept now waits in the outbox.
  func confirm(_ connectionID: Int64, isNew: Bool, then: @escaping (_ isRefused: Bool) -> Void) {
    confirming[connectionID, default: Confirming(isNew: isNew)].waiting.append(then)
    offerNew(alsoFor: connectionID)
    // Its caller waits, but not for the other messages.
    if maySend, !sending.contains(connectionID), let entry = queue.head(of: connectionID) { send(entry, connectionID) }
    // Nothing is sent while the chat suspends.
    if !sending.contains(connectionID) { confirmationEnded(connectionID, isRefused: false) }
  }

  private func confirmationEnded(_ connectionID: Int64, isRefused: Bool) {
    for then in confirming.removeValue(forKey: connectionID)?.waiting ?? [] { then(isRefused) }
  }

  private var maySend: Bool { !context.stop.isRaised && lifecycle.maySend && relay.isOpen && mayBegin() }

  private func offerDue() {
    // A suspension does not wait for a full outbox.
    guard !context.stop.isRaised else { return retryLater() }
    let known = queue.last
    guard maySend,
      let new = context.retries.read(
        orLater: TimerName.outbox, { [weak self] in self?.flush() },
        { (store) throws(StoreError) in try store.outboxEntries(after: known) })
    else { return }
    queue.note(new)
    if areAllDue { queue.makeAllReady() } else { queue.makeReady(new.map(\.connectionID) + due.sorted()) }
    areAllDue = false
    due = []
    offerReady()
  }

  private func offerReady() {
    guard !context.stop.isRaised else { return retryLater() }
    while maySend, sending.count < Self.mostUnderWay, let (connectionID, entry) = queue.next() {
      if !sending.contains(connectionID) { send(entry, connectionID) }
    }
  }

  private func send(_ id: Int64, _ connectionID: Int64) {
    let entry: OutboxEntry
    let connection: StoredConnection
    do throws(StoreError) {
      guard let store = context.store else { return }
      // Sent by another process in the meantime, or deleted with its connection.
      guard let found = try store.outboxEntry(id), found.connectionID == connectionID else {
        return queue.remove(id, of: connectionID)
      }
      entry = found
      connection = try store.connection(connectionID)
    } catch .notFound {
      return
    } catch {
      return retryLater()
    }
    guard connection.mayTake(entry), let peer = connection.mailbox(for: entry).flatMap({ RelayIdentifier(bytes: $0) }),
      let attempt = RelayIdentifier(bytes: entry.deduplication)
    else { return }
    // The process that made it may be frozen in its own first attempt, whose refusal says nothing about this one. Only a
    // power failure loses the count, and it ends that process too.
    let isFirst = confirming[connectionID]?.isNew == true
    if isFirst {
      confirming[connectionID]?.isNew = false
    } else if entry.isFirstMessage {
      do throws(StoreError) { try context.store?.countOutboxAttempt(id) } catch { return retryLater() }
    }
    let ticket = sending.begin(entry.connectionID)
    let key = entry.isSigned ? connection.peerKey : nil
    FaultPoint.reach(.beforeSend)
    relay.perform(.sending) { (client) throws(RelayError) in
      try client.send(entry.body, to: peer, key: key, attempt: attempt, notify: entry.notifies)
    } then: { [weak self] result in
      FaultPoint.reach(.afterSend)
      guard let self else { return }
      self.sending.end(ticket)
      self.sent(entry, isFirst: isFirst, result)
      if self.sending.isEmpty { self.reportRest() }
    }
  }

  private func sent(_ entry: OutboxEntry, isFirst: Bool, _ result: Result<Void, RelayError>) {
    let isAwaited = confirming[entry.connectionID] != nil
    var isRefused = isAwaited && result.failure == .auth
    defer { confirmationEnded(entry.connectionID, isRefused: isRefused) }
    let isFinished: Bool
    switch result {
    case .success:
      isFinished = finish(entry, Self.sentStatus)
      if isFinished, entry.isConfirmation { reportReady(entry.connectionID) }
    // Suspending is not a refusal: the message waits for the next start.
    case .failure(.closed): return
    case .failure(let error) where error.isUndecided:
      if isFirst || !entry.isFirstMessage { try? context.store?.countOutboxAttempt(entry.id) }
      retryLater()
      return offerReady()
    case .failure(.auth) where isAwaited:
      let dropping = dropRefused(entry, isFirst: isFirst)
      isFinished = dropping == .isRepeat ? finish(entry, Self.refusedStatus) : dropping != .failed
      isRefused = dropping != .wasSent
    case .failure(.auth): isFinished = recordEnd(of: entry) && finish(entry, Self.refusedStatus)
    case .failure(let error): isFinished = finish(entry, "sndError \(error)")
    }
    // On a full disk it stays in the outbox, and is retried later: a relay that answers immediately would otherwise be
    // asked endlessly.
    guard isFinished else { return retryLater() }
    context.retries.reset(TimerName.outbox)
    queue.remove(entry.id, of: entry.connectionID)
    offerReady()
  }

  private enum Dropping {
    case dropped
    /// By another process, while this one was frozen: the refusal says nothing about what the other side has.
    case wasSent
    /// It may have been sent before, by a process that was killed or suspended too: an answer may be in our mailbox.
    case isRepeat
    /// The confirmation is retried.
    case failed
  }

  /// The connection will never have a contact.
  private func dropRefused(_ entry: OutboxEntry, isFirst: Bool) -> Dropping {
    guard let store = context.store else { return .failed }
    do throws(StoreError) {
      let result = try store.transaction { () throws(StoreError) -> Dropping in
        let connection = try store.connection(entry.connectionID)
        guard let left = try store.outboxEntry(entry.id) else { return .wasSent }
        guard isFirst, left.attempts == 0 else { return .isRepeat }
        try self.connections.drop(connection, store)
        return .dropped
      }
      guard result == .dropped else { return result }
    } catch .notFound {
      return .dropped
    } catch {
      context.log(.warning, "a refused confirmation could not be recorded", ["error": error.description])
      return .failed
    }
    connections.reportEnded()
    return .dropped
  }

  /// The relay no longer knows the other side's mailbox. Before our hello was answered, this means that the other side
  /// has deleted the connection: its notice of that cannot arrive. Returns false when that could not be recorded.
  private func recordEnd(of entry: OutboxEntry) -> Bool {
    // What the relay does not know is the address, which may be deleted once it has served its purpose.
    if entry.isRequest { return true }
    guard let store = context.store else { return false }
    let connectionID = entry.connectionID
    do throws(StoreError) {
      let hasLeft = try store.transaction { () throws(StoreError) in
        let connection = try store.connection(connectionID)
        guard try store.outboxEntry(entry.id) != nil, try self.connections.awaitsAnswer(connection) else {
          return false
        }
        let hasLeft = try self.connections.take(.left, of: connection, store).change.hasLeft
        if hasLeft, let contactID = connection.contactID {
          try self.changes.enter(.left, connectionID: connectionID, contactID: contactID, store)
        }
        return hasLeft
      }
      guard hasLeft else { return true }
      connections.reportEnded()
      // An app's host is notified through the ledger entry.
      guard context.role != .app else { return true }
      let connection = try store.connection(connectionID)
      if let contactID = connection.contactID {
        let contact = try store.contact(contactID)
        context.emit(
          .contactDeletedByContact(
            UserRecord(try store.user(contact.userID)), ContactRecord(contact, connection: connection)))
      }
    } catch .notFound {
      return true
    } catch {
      context.log(.warning, "the end of a connection could not be recorded", ["error": error.description])
      return false
    }
    return true
  }

  private static let sentStatus = "sndSent"
  private static let refusedStatus = "sndErrorAuth"

  /// Enters what the app's host must be notified of. Part of the transaction that takes the entry out of the outbox.
  private func enterOutcome(of entry: OutboxEntry, isSent: Bool, _ store: Store) throws(StoreError) {
    do throws(StoreError) {
      guard let contactID = try store.connection(entry.connectionID).contactID else { return }
      if isSent, entry.isConfirmation {
        try changes.enter(.ready, connectionID: entry.connectionID, contactID: contactID, store)
      }
      // The app's own host gets it with the message, when it is started again.
      if let itemID = entry.itemID, context.role != .app {
        try changes.enter(
          .changed, connectionID: entry.connectionID, contactID: contactID, store, .statusChanged(itemID: itemID))
      }
    } catch .notFound {
      // Deleted in the meantime.
    }
  }

  /// Returns false when the entry is still in the outbox.
  private func finish(_ entry: OutboxEntry, _ status: String) -> Bool {
    guard let store = context.store else { return false }
    do throws(StoreError) {
      try store.lightTransaction { () throws(StoreError) in
        guard try store.finishOutbox(entry, itemStatus: status, at: self.context.clock.wall()) else { return }
        try self.enterOutcome(of: entry, isSent: status == Self.sentStatus, store)
      }
    } catch {
      context.log(.warning, "a sent message could not be recorded", ["error": error.description])
      return false
    }
    reportStatus(of: entry, store)
    return true
  }

  private func reportStatus(of entry: OutboxEntry, _ store: Store) {
    guard let itemID = entry.itemID else { return }
    do throws(StoreError) {
      let item = try store.item(itemID)
      let contact = try store.contact(item.contactID)
      let connection = try store.connection(entry.connectionID)
      context.emit(
        .chatItemsStatusesUpdated(
          UserRecord(try store.user(contact.userID)),
          [
            ChatItemInChat(
              info: .direct(ContactRecord(contact, connection: connection)), item: ChatItemRecord(item))
          ]))
    } catch {
      context.log(.warning, "a sent message could not be reported", ["error": error.description])
    }
  }

  /// The relay has the acceptance of the contact's request: from now on the host may write to the contact. Has no
  /// effect for an invitation, whose contact is not yet known. An app's host is notified through the ledger entry.
  private func reportReady(_ connectionID: Int64) {
    guard context.role != .app, let store = context.store else { return }
    do throws(StoreError) {
      let connection = try store.connection(connectionID)
      guard let contactID = connection.contactID else { return }
      let contact = try store.contact(contactID)
      context.emit(
        .contactSndReady(
          UserRecord(try store.user(contact.userID)), ContactRecord(contact, connection: connection)))
    } catch .notFound {
      // Deleted in the meantime.
    } catch {
      context.log(.info, "a contact that is ready was not reported", ["error": error.description])
    }
  }

  private func retryLater() { context.retries.retry(TimerName.outbox) { [weak self] in self?.flush() } }
}

extension StoredConnection {
  /// Whether the other side's mailbox, and ours for its answer, are ready for the entry.
  fileprivate func mayTake(_ entry: OutboxEntry) -> Bool {
    if entry.isRequest { return true }
    // Until our mailbox accepts the other side's signature, it permanently refuses what the other side signs: our hello
    // would be answered, and the answer lost. Securing it flushes the outbox again.
    guard isSecured else { return false }
    // The same holds for the other side's: anything after our confirmation waits for its hello.
    return !(entry.isSigned && isInitiated && status == PorterMachines.Connection.State.accepted.name)
  }

  fileprivate func mailbox(for entry: OutboxEntry) -> [UInt8]? { entry.isRequest ? request?.mailbox : peerSenderID }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
