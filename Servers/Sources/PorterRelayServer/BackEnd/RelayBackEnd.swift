public import PorterRelay

/// What keeps mailboxes and messages. The file is one; a cluster can be another.
public protocol RelayBackEnd: Sendable {
  /// Carries out one request. `done` is called once, on any thread: with an answer only when everything that the answer
  /// promises is durable.
  func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void)

  /// The listener has a stream, and can be woken.
  func attach(_ listener: String)
  /// It has none for now.
  func detach(_ listener: String)
  /// Its subscriptions end.
  func forget(_ listeners: [String])

  /// Requests that wait.
  var waiting: Int { get }
  /// What is wrong; nil if nothing.
  var problem: String? { get }
  /// Whether exchanges are carried out: `problem` also says what an operator has to know and clients do not notice.
  var isServing: Bool { get }
  /// Whether exchanges are refused because too many wait.
  var isOverloaded: Bool { get }
  /// At what changes with time. Called every few seconds.
  func look()

  /// Finishes what waits and releases everything. Blocks.
  func close()
}

extension RelayBackEnd {
  public var isServing: Bool { problem == nil }
  public var isOverloaded: Bool { false }
  public func look() {}
}

public enum RelayReply: Sendable, Equatable {
  /// Bytes to answer with, and names for counting.
  case answer([UInt8], command: String, result: String)
  /// This mailbox had too many requests.
  case limited
  /// Nothing could be carried out now.
  case unavailable
}
