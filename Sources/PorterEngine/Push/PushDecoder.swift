import PorterCrypto
import PorterMachines
import PorterPush
import PorterRelay
import PorterStore

/// What a push is about: opens its payload, and looks up the connections that it names.
struct PushDecoder {
  private let context: EngineContext
  private let engine: Engine

  init(_ context: EngineContext, _ engine: Engine) {
    self.context = context
    self.engine = engine
  }

  func decode(_ run: PushRun) -> Push.Event {
    guard let store = context.store, let payload = run.payload else { return .storeFailed }
    do throws(StoreError) {
      switch payload {
      case .checkMessages:
        run.look(into: try store.connectionIDs())
        return .decodedMessage
      case .verification:
        // A registration that was cut off is finished first, and brings the secret (INC-09).
        let attempt = try engine.openTokenAttempt(store)
        return try store.token()?.pushSecret == nil && attempt == nil ? .decodedUnknown : .decodedVerification
      case .message(let nonce, let ciphertext):
        guard let secret = try store.token()?.pushSecret else { return .decodedUnknown }
        return try decode(nonce, ciphertext, secret, run, store)
      }
    } catch {
      run.reason = error.description
      return .storeFailed
    }
  }

  private func decode(
    _ nonce: BoxNonce, _ ciphertext: [UInt8], _ secret: BoxSharedKey, _ run: PushRun, _ store: Store
  ) throws(StoreError) -> Push.Event {
    let bundle: NotificationBundle
    do throws(PushError) { bundle = try NotificationBundle(opening: ciphertext, nonce: nonce, with: secret) } catch {
      run.reason = "the push does not open: \(error)"
      return .decodedUndecryptable
    }
    var isRepeat = true
    var connections: [Int64] = []
    for entry in bundle.entries {
      // A mailbox that is not known, such as one of a deleted contact, is no reason to leave the others (INC-44).
      guard let connection = try connection(notifierID: entry.notifier, run, store) else { continue }
      if !connections.contains(connection.id) { connections.append(connection.id) }
      let metadata = connection.notifierSecret.flatMap {
        try? RelayMessageMetadata(opening: entry.sealedMetadata, with: $0, nonce: entry.metadataNonce)
      }
      let known = try metadata.flatMap { (metadata) throws(StoreError) in
        try store.ledgerEntry(connectionID: connection.id, messageID: metadata.message.bytes)
      }
      if known == nil { isRepeat = false }
    }
    run.look(into: connections)
    if connections.isEmpty { return run.findings.hasFailed ? .storeFailed : .decodedUnknown }
    return isRepeat ? .decodedRepeat : .decodedMessage
  }

  /// Nil for one that is not known, or whose record is damaged.
  private func connection(
    notifierID: [UInt8], _ run: PushRun, _ store: Store
  ) throws(StoreError) -> StoredConnection? {
    do throws(StoreError) { return try store.connection(notifierID: notifierID) } catch .damaged(let entity) {
      run.noteDamage(.damaged(entity))
      return nil
    }
  }
}
