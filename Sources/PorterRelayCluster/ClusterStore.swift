/// What a relay of a cluster keeps mailboxes in, with every other relay of the cluster. `spec/protocol/relay-cluster.md` has what
/// must hold.
///
/// Every call ends by the deadline of its exchange (`ExchangeDeadline`), and throws when it cannot say what happened.
public protocol ClusterStore: Sendable {
  // MARK: Records: one for each mailbox

  /// After this, `record` returns nothing older than what was stored before it. A leader that has just begun may lag.
  func settle(_ keys: [String]) async throws(ClusterFailure)
  func record(_ key: String) async throws(ClusterFailure) -> StoredRecord?
  /// Replaces the record of this revision, 0 if there must be none, and returns the new one's. Nil if the record has another.
  func replace(_ key: String, _ bytes: [UInt8], revision: UInt64) async throws(ClusterFailure) -> UInt64?
  /// False if the record has another revision.
  func remove(_ key: String, revision: UInt64) async throws(ClusterFailure) -> Bool

  // MARK: Bodies: one for each message, for 21 days

  /// Returns the body's number when it is durable.
  func addBody(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64
  /// Nil if it is gone. Throws if it may not be there yet.
  func body(
    _ key: String, _ number: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]?
  /// Nothing is said when it fails: a body without an entry in a record is given to no one, and ends by itself.
  func dropBodies(_ key: String, _ bodies: [StoredBody])
  /// Some seconds later, if the record does not name its message: the node that has refused the record may lead no more, and the leader may have
  /// stored it.
  func dropUnnamedBody(_ key: String, _ body: StoredBody)
  /// A body that the cluster has lost, from the relay that has stored it, while that keeps it in memory. Nil if no relay has it, or none
  /// answers soon.
  func keptBody(_ key: String, _ message: [UInt8]) async -> [UInt8]?

  // MARK: Notifications: a queue for each service, shared by all that ask in its name

  /// May be added twice by two relays with the same `attempt`, and by one after a minute.
  func addNotification(_ service: String, _ bytes: [UInt8], attempt: String) async throws(ClusterFailure)
  /// Each is given again after a pause, to whichever relay asks, until it is acknowledged.
  func takeNotifications(_ service: String, limit: Int) async throws(ClusterFailure) -> TakenNotifications
  func acknowledgeNotifications(_ service: String, _ numbers: [UInt64]) async throws(ClusterFailure)
  func postponeNotification(_ service: String, _ taken: TakenNotifications.Item, milliseconds: Int64)

  // MARK: Signals: between relays, fast, and lost when a connection breaks

  func signal(_ signal: ClusterSignal)
  /// How many milliseconds a recipient of the mailbox that listens somewhere may have; 0 if none does.
  func hold(_ key: String) async -> Int64
  /// From now on this relay is asked, or not asked, for the mailbox's hold.
  func answersHold(_ key: String, _ answers: Bool)
}

public struct StoredRecord: Sendable {
  public var bytes: [UInt8]
  public var revision: UInt64

  public init(bytes: [UInt8], revision: UInt64) {
    self.bytes = bytes
    self.revision = revision
  }
}

/// A body's number, and the message that it belongs to. A cluster that has lost messages may give the number to the body of another one,
/// which stays.
public struct StoredBody: Sendable, Equatable {
  public var number: UInt64
  public var message: [UInt8]

  public init(number: UInt64, message: [UInt8]) {
    self.number = number
    self.message = message
  }
}

public struct TakenNotifications: Sendable {
  public struct Item: Sendable {
    /// The same each time.
    public var number: UInt64
    public var bytes: [UInt8]
    /// The store's own, for this time.
    public var handle: String

    public init(number: UInt64, bytes: [UInt8], handle: String) {
      self.number = number
      self.bytes = bytes
      self.handle = handle
    }
  }

  public var items: [Item]
  /// Some were given before and are not acknowledged.
  public var hasOthers: Bool

  public init(items: [Item], hasOthers: Bool) {
    self.items = items
    self.hasOthers = hasOthers
  }
}

/// What relays tell each other.
public enum ClusterSignal: Sendable, Equatable {
  /// A message has come to the mailbox.
  case message(key: String, message: [UInt8])
  /// A notification waits for the service.
  case notification(service: String)
}

/// The relay's side of the signals. Calls come from any thread.
public protocol ClusterListener: AnyObject, Sendable {
  func received(_ signal: ClusterSignal)
  /// Signals may have been missed.
  func missed()
  /// Milliseconds that a listener of this relay may have for the mailbox.
  func hold(_ key: String) -> Int64
  /// A body that this relay has stored lately.
  func keptBody(_ key: String, _ message: [UInt8]) -> [UInt8]?
}

/// The cluster gave no answer, and what was asked for may have happened or not. If it lacks room, the node that has answered has done
/// nothing.
public struct ClusterFailure: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String
  public let lacksRoom: Bool

  public init(_ description: String, lacksRoom: Bool = false) {
    (self.description, self.lacksRoom) = (description, lacksRoom)
  }
}

/// Until when an exchange may ask the cluster.
public enum ExchangeDeadline {
  /// Clients get an answer within a second.
  public static let span = Duration.milliseconds(900)
  @TaskLocal public static var current: ContinuousClock.Instant?
}
