import PorterMachines
import PorterPush
import PorterStore

/// What a push is about: has the source open its payload, and look up the connections that it names.
struct PushDecoder {
  private let context: EngineContext
  private let source: any Source
  private let engine: Engine

  init(_ context: EngineContext, _ source: any Source, _ engine: Engine) {
    self.context = context
    self.source = source
    self.engine = engine
  }

  func decode(_ run: PushRun) -> Push.Event {
    guard let store = context.store, let payload = run.payload else { return .storeFailed }
    do throws(StoreError) {
      switch payload {
      case .verification:
        // A registration that was cut off is finished first, and brings the secret (INC-09).
        let attempt = try TokenAttempt.open(store)
        return try store.token()?.pushSecret == nil && attempt == nil ? .decodedUnknown : .decodedVerification
      case .checkMessages:
        // An app asks the relay which mailboxes have something.
        if context.role == .app { return .decodedMessage }
        return take(try source.read(.everything, store), run)
      case .message(let nonce, let ciphertext, _):
        return take(try source.read(.sealed(nonce: nonce, ciphertext), store), run)
      }
    } catch {
      run.noteStoreError(error)
      return .storeFailed
    }
  }

  private func take(_ reading: SourceHintReading, _ run: PushRun) -> Push.Event {
    switch reading {
    case .unknown: return .decodedUnknown
    case .unreadable(let reason):
      run.reason = reason
      return .decodedUndecryptable
    case .named(let connections, let isRepeat):
      note(connections, run)
      return isRepeat ? .decodedRepeat : .decodedMessage
    case .damaged(let error, let connections, let isRepeat):
      run.noteDamage(error)
      note(connections, run)
      if connections.isEmpty { return .storeFailed }
      return isRepeat ? .decodedRepeat : .decodedMessage
    }
  }

  /// Whether a call that the push names is recorded already, as by a command or by a process that has ended, and still rings. Nothing
  /// else would hurry the push, which has to show it.
  func namesRingingCall(_ run: PushRun) -> Bool {
    guard let store = context.store, let named = run.named else { return false }
    return named.contains { $0.calls.contains { engine.calls.isRinging(itemID: $0, store) } }
  }

  private func note(_ connections: [NamedConnection], _ run: PushRun) {
    run.look(into: connections)
    for connection in connections {
      for message in connection.messages { engine.committer.expect(message, connection.id) }
    }
  }
}
