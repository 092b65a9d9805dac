public import PorterRelay

/// The storage of mailboxes and messages: a file, or a cluster.
public protocol RelayBackEnd: Sendable {
  /// Carries out one request. `done` is called once, on any thread, and with an answer only when everything the answer
  /// promises is durable.
  func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void)

  /// The listener has a stream and can be woken.
  func attach(_ listener: String)
  /// The listener has no stream for now.
  func detach(_ listener: String)
  /// Ends the listeners' subscriptions.
  func forget(_ listeners: [String])

  /// The number of waiting requests.
  var waiting: Int { get }
  /// The current problem; nil if there is none.
  var problem: String? { get }
  /// Whether exchanges are carried out: `problem` also reports what concerns an operator but goes unnoticed by clients.
  var isServing: Bool { get }
  /// Whether exchanges are refused because too many are waiting.
  var isOverloaded: Bool { get }
  /// Checks what changes with time. Called every few seconds.
  func look()

  /// Finishes waiting requests and releases everything. Blocks.
  func close()
}

extension RelayBackEnd {
  public var isServing: Bool { problem == nil }
  public var isOverloaded: Bool { false }
  public func look() {}
}

public enum RelayReply: Sendable, Equatable {
  /// The answer's bytes, names for counting, and whether a key was wrong or a mailbox does not exist.
  case answer([UInt8], command: String, result: String, refuses: Bool = false)
  /// This mailbox had too many requests.
  case limited
  /// Nothing can be carried out at present.
  case unavailable
}
