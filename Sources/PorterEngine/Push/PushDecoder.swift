import PorterMachines
import PorterPlatform
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
      run.noteUnknownName()
      note(connections, run)
      if connections.isEmpty { return .storeFailed }
      return isRepeat ? .decodedRepeat : .decodedMessage
    }
  }

  /// Whether a call is recorded already, as by a process that has ended, that this push has to show in time: one that it names, or
  /// any if it says nothing of what waits.
  func findsCall(_ run: PushRun) -> Bool {
    guard let store = context.store else { return false }
    do throws(StoreError) {
      if case .checkMessages = run.payload { return try engine.calls.anyWaitsForUser(store) }
      for entry in (run.named ?? []).flatMap(\.calls) where try engine.calls.waitsForUser(entry, store) { return true }
    } catch {
      context.log(.warning, "it could not be read whether a call waits", ["error": error.description])
    }
    return false
  }

  private func note(_ connections: [NamedConnection], _ run: PushRun) {
    run.look(into: connections)
    for connection in connections {
      for message in connection.messages { engine.committer.expect(message, connection.id) }
    }
  }
}
