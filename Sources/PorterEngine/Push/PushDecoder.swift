import PorterMachines
import PorterPlatform
import PorterPush
import PorterStore

/// Decodes a push: has the source open its payload, and looks up the connections it names.
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
        // An interrupted registration is finished first, and provides the secret (INC-09).
        let attempt = try TokenAttempt.open(store)
        return try store.token()?.pushSecret == nil && attempt == nil ? .decodedUnknown : .decodedVerification
      case .checkMessages:
        run.foundNotice = NoticeMark(context.configuration).name
        // An app asks the relay which mailboxes have messages.
        if context.role == .app { return .decodedMessage }
        return try take(try source.read(.everything, store), run, store)
      case .message(let nonce, let ciphertext, _):
        run.foundNotice = NoticeMark(context.configuration).name
        return try take(try source.read(.sealed(nonce: nonce, ciphertext), store), run, store)
      }
    } catch {
      run.noteStoreError(error)
      return .storeFailed
    }
  }

  private func take(_ reading: SourceHintReading, _ run: PushRun, _ store: Store) throws(StoreError) -> Push.Event {
    switch reading {
    case .unknown: return .decodedUnknown
    case .unreadable(let reason):
      run.reason = reason
      return .decodedUndecryptable
    case .named(let connections, let isRepeat): return try look(into: connections, isRepeat: isRepeat, run, store)
    case .damaged(let error, let connections, let isRepeat):
      run.noteDamage(error)
      run.noteUnknownName()
      let event = try look(into: connections, isRepeat: isRepeat, run, store)
      return connections.isEmpty ? .storeFailed : event
    }
  }

  /// While a notice is on screen, a push also looks for what the notice may be about, as a round does.
  private func look(
    into named: [NamedConnection], isRepeat: Bool, _ run: PushRun, _ store: Store
  ) throws(StoreError) -> Push.Event {
    for connection in named {
      for message in connection.messages { engine.committer.expect(message, connection.id) }
    }
    if run.isRound {
      run.look(into: [], naming: named, others: named)
    } else if run.foundNotice != nil {
      let unseen = isRepeat ? [] : named
      run.look(into: unseen, naming: named, others: try others(than: unseen, run, store))
    } else {
      run.look(into: named, naming: named)
    }
    return isRepeat && run.foundNotice == nil ? .decodedRepeat : .decodedMessage
  }

  private func others(
    than named: [NamedConnection], _ run: PushRun, _ store: Store
  ) throws(StoreError) -> [NamedConnection] {
    // An app's look includes every mailbox.
    guard context.role != .app else { return [] }
    let known = Set(named.map(\.id))
    switch try source.read(.everything, store) {
    case .unknown, .unreadable: return []
    case .named(let all, _): return all.filter { !known.contains($0.id) }
    case .damaged(let error, let all, _):
      run.noteDamage(error)
      return all.filter { !known.contains($0.id) }
    }
  }

  /// Whether a call is already recorded, for example by a process that has ended, and must be shown in time by this
  /// push: a call the push names, or any call if the push does not say what waits.
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
}
