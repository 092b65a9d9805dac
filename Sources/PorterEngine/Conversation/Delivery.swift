import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Sending: encrypted once, in the transaction that records it; then offered to the relay until it has it.
extension Engine {
  /// Part of the caller's transaction, which also stores the ratchet.
  func enqueue(
    _ message: ChatMessage, connectionID: Int64, itemID: Int64?, with stored: inout StoredRatchet, _ store: Store
  ) throws(StoreError) {
    let sealed = try seal(message, &stored)
    _ = try store.insertOutbox(
      connectionID: connectionID, itemID: itemID, purpose: "message", isSigned: true, notifies: message.notifies,
      body: Envelope.message(sealed).bytes, deduplication: configuration.randomness.bytes(24))
  }

  func seal(_ message: ChatMessage, _ stored: inout StoredRatchet) throws(StoreError) -> [UInt8] {
    do throws(CryptoError) {
      let padded = try Padding.pad(message.bytes, to: Envelope.paddedCount)
      return try stored.ratchet.encrypt(padded, associatedData: stored.associatedData)
    } catch {
      // Sizes are checked before; what is left is a ratchet that cannot be what we stored.
      throw .damaged(.connection)
    }
  }

  /// Offers the oldest message of each connection to the relay; the next one follows when the relay has answered.
  func flushOutbox() {
    guard flushing.want() else { return }
    repeat { flushHeads() } while flushing.end()
  }

  private func flushHeads() {
    // A suspension does not wait for a full outbox.
    guard !stop.isRaised else { return retryLater() }
    guard maySend, relay != nil,
      let heads = read(
        { (store) throws(StoreError) in try store.outboxHeads() }, orLater: TimerName.outbox,
        Engine.flushOutbox)
    else { return }
    for entry in heads where !sending.contains(entry.connectionID) { send(entry) }
  }

  private func send(_ entry: OutboxEntry) {
    let connection: StoredConnection
    do throws(StoreError) {
      guard let store else { return }
      connection = try store.connection(entry.connectionID)
    } catch .notFound {
      // Deleted meanwhile, and the outbox with it.
      return
    } catch {
      return retryLater()
    }
    // Before our mailbox takes the other side's signature it refuses what the other side signs, for good: our hello would
    // be answered, and the answer lost. Securing it flushes the outbox again.
    guard connection.isSecured, let peer = connection.peerSenderID.flatMap({ RelayIdentifier(bytes: $0) }),
      let attempt = RelayIdentifier(bytes: entry.deduplication)
    else { return }
    let ticket = sending.begin(entry.connectionID)
    let key = entry.isSigned ? connection.peerKey : nil
    withRelay(.sending) { (client) throws(RelayError) in
      try client.send(entry.body, to: peer, key: key, attempt: attempt, notify: entry.notifies)
    } then: { [weak self] result in
      self?.sending.end(ticket)
      self?.sent(entry, result)
    }
  }

  private func sent(_ entry: OutboxEntry, _ result: Result<Void, RelayError>) {
    let isFirstConfirmation = confirming[entry.connectionID] != nil
    defer {
      confirmationEnded(entry.connectionID, isRefused: isFirstConfirmation && result.failure == .auth)
    }
    let isFinished: Bool
    switch result {
    case .success: isFinished = finish(entry, "sndSent")
    // Suspending is no refusal: the message waits for the next start.
    case .failure(.closed): return
    // After an answer that is none nobody knows whether it was carried out; sent again, it is recognised.
    case .failure(let error) where error.isTemporary || error == .answer:
      try? store?.countOutboxAttempt(entry.id)
      retryLater()
      return
    case .failure(.auth) where isFirstConfirmation: isFinished = dropRefused(entry.connectionID)
    case .failure(.auth): isFinished = finish(entry, "sndErrorAuth")
    case .failure(let error): isFinished = finish(entry, "sndError \(error)")
    }
    // On a full disk it stays in the outbox: a relay that answers at once would be asked without end.
    guard isFinished else { return retryLater() }
    backoffs.outbox.reset()
    flushOutbox()
  }

  /// False when the entry is still in the outbox.
  private func finish(_ entry: OutboxEntry, _ status: String) -> Bool {
    guard let store else { return false }
    do throws(StoreError) {
      try store.finishOutbox(entry, itemStatus: status, at: configuration.clock.wall())
    } catch {
      log(.warning, "a sent message could not be recorded", ["error": error.description])
      return false
    }
    tellStatus(of: entry, store)
    return true
  }

  private func tellStatus(of entry: OutboxEntry, _ store: Store) {
    guard let itemID = entry.itemID else { return }
    do throws(StoreError) {
      let item = try store.item(itemID)
      let contact = try store.contact(item.contactID)
      let connection = try store.connection(entry.connectionID)
      emit(
        .chatItemsStatusesUpdated(
          UserRecord(try store.user(contact.userID)),
          [
            ChatItemInChat(
              info: .direct(ContactRecord(contact, connection: connection)), item: ChatItemRecord(item))
          ]))
    } catch {
      log(.warning, "a sent message could not be told", ["error": error.description])
    }
  }

  private func retryLater() { retry(TimerName.outbox, \.outbox, Engine.flushOutbox) }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
