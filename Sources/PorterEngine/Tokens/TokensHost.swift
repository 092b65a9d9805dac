import PorterRelay
import PorterSchema
import PorterStore

/// What tokens and subscriptions ask of the engine's other parts.
protocol TokensHost: AnyObject {
  /// Which relay is open: another number after each opening. Nil without one.
  var relayIdentifier: Int? { get }
  /// In error texts.
  var relayName: String { get }
  /// Whether this run takes part in receiving and sending by itself.
  var isMain: Bool { get }
  /// Whether this process may send by itself now.
  var maySend: Bool { get }
  func admits(_ kind: OperationKind) -> Bool
  /// Asks the relay, as a piece of work of this kind. `then` is called once; with `closed` when there is no relay or the
  /// work may not begin.
  func withRelay<Value: Sendable>(
    _ kind: OperationKind, _ work: @escaping RelayDriver.Work<Value>,
    then: @escaping (Result<Value, RelayError>) -> Void)
  /// The same for the mailbox of the notification server's answers. What is sent does not wait for this.
  func lookForReplies<Value: Sendable>(
    _ work: @escaping RelayDriver.Work<Value>, then: @escaping (Result<Value, RelayError>) -> Void)
  /// Does this in a later turn.
  func later(_ work: @escaping () -> Void)
  func requireStore() throws(ChatError) -> Store
  /// Runs a piece of work on the store, and puts its errors into the interface's terms.
  func stored<Value>(_ work: () throws(StoreError) -> Value) throws(ChatError) -> Value
}

extension TokensHost {
  /// As what the relay is asked about subscriptions counts. A process that comes to rest begins no request that waits for a
  /// server, but what the relay answers by itself, or keeps for the server, is handed over with the messages: a user who
  /// unmutes a chat and leaves the app gets its pushes.
  var askingKind: OperationKind { admits(.notifications) ? .notifications : .sending }
}
