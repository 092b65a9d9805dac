import PorterRelay
import PorterSchema
import PorterStore

/// What tokens and subscriptions need from the engine's other parts.
protocol TokensHost: AnyObject {
  /// Identifies the open relay: a new number after each opening. Nil without one.
  var relayIdentifier: Int? { get }
  /// For error texts.
  var relayName: String { get }
  /// Whether this run takes part in receiving and sending on its own.
  var isMain: Bool { get }
  /// Whether this process may now send on its own.
  var maySend: Bool { get }
  func admits(_ kind: OperationKind) -> Bool
  /// Asks the relay, as a piece of work of this kind. `then` is called once; with `closed` when there is no relay or
  /// the work may not begin.
  func withRelay<Value: Sendable>(
    _ kind: OperationKind, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void)
  /// Like `withRelay`, for the mailbox of the notification server's answers. Sending does not wait for this.
  func lookForReplies<Value: Sendable>(
    _ work: @escaping RelayDriver.Work<Value>, then: @escaping (Result<Value, RelayError>) -> Void)
  /// Runs this in a later turn.
  func later(_ work: @escaping () -> Void)
  func requireStore() throws(ChatError) -> Store
  /// Runs a piece of work on the store, and translates its errors into the interface's terms.
  func stored<Value>(_ work: () throws(StoreError) -> Value) throws(ChatError) -> Value
}

extension TokensHost {
  /// The kind of work that relay requests about subscriptions count as. A process coming to rest begins no request that
  /// waits for a server. But requests that the relay answers itself, or keeps for the server, are handed over with the
  /// messages: a user who unmutes a chat and leaves the app gets its pushes.
  var askingKind: OperationKind { admits(.notifications) ? .notifications : .sending }
}
