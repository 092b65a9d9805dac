/// The store in which a relay keeps mailboxes together with every other relay of its cluster.
/// `spec/protocol/relay-cluster.md` defines the invariants.
///
/// Every call ends by the deadline of its exchange (`ExchangeDeadline`), and throws if the outcome is unknown.
public protocol ClusterStore: Sendable {
  // MARK: Records: one for each mailbox

  /// Afterwards, `record` returns nothing older than what was stored before this call. A leader that has just started
  /// may lag.
  func settle(_ keys: [String]) async throws(ClusterFailure)
  func record(_ key: String) async throws(ClusterFailure) -> StoredRecord?
  /// Replaces the record of this revision, 0 if there must be none, and returns the new revision. Nil if the record has
  /// a different one.
  func replace(_ key: String, _ bytes: [UInt8], revision: UInt64) async throws(ClusterFailure) -> UInt64?
  /// Returns false if the record has a different revision.
  func remove(_ key: String, revision: UInt64) async throws(ClusterFailure) -> Bool

  // MARK: Bodies: one for each message, for 21 days

  /// Returns the body's number once it is durable.
  func addBody(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64
  /// Nil if it is gone. Throws if it may not have arrived yet.
  func body(
    _ key: String, _ number: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]?
  /// Failures are not reported: a body without an entry in a record is never delivered, and expires on its own.
  func dropBodies(_ key: String, _ bodies: [StoredBody])
  /// Drops the body some seconds later, unless the record names its message: the node that refused the record may no
  /// longer lead, and the leader may have stored it.
  func dropUnnamedBody(_ key: String, _ body: StoredBody)
  /// A body that the cluster has lost, from the relay that stored it, while that relay keeps it in memory. Nil if no
  /// relay has it, or none answers in time.
  func keptBody(_ key: String, _ message: [UInt8]) async -> [UInt8]?

  // MARK: Notifications: a queue for each service, shared by all that ask in its name

  /// Two relays with the same `attempt` may add it twice, and so may one relay after a minute.
  func addNotification(_ service: String, _ bytes: [UInt8], attempt: String) async throws(ClusterFailure)
  /// Each is given again after a pause, to any relay that asks, until it is acknowledged.
  func takeNotifications(_ service: String, limit: Int) async throws(ClusterFailure) -> TakenNotifications
  func acknowledgeNotifications(_ service: String, _ numbers: [UInt64]) async throws(ClusterFailure)
  func postponeNotification(_ service: String, _ taken: TakenNotifications.Item, milliseconds: Int64)

  // MARK: Signals: between relays, fast, and lost when a connection breaks

  func signal(_ signal: ClusterSignal)
  /// How many milliseconds a recipient listening to the mailbox anywhere may have; 0 if none is listening.
  func hold(_ key: String) async -> Int64
  /// Whether this relay answers for the mailbox's hold from now on.
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

/// A body's number, and the message it belongs to. A cluster that has lost messages may reuse the number for another
/// message's body, which stays.
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
    /// The same each time it is given.
    public var number: UInt64
    public var bytes: [UInt8]
    /// The store's own handle, valid this time only.
    public var handle: String

    public init(number: UInt64, bytes: [UInt8], handle: String) {
      self.number = number
      self.bytes = bytes
      self.handle = handle
    }
  }

  public var items: [Item]
  /// Some may have been given earlier, and not be acknowledged yet.
  public var hasOthers: Bool

  public init(items: [Item], hasOthers: Bool) {
    self.items = items
    self.hasOthers = hasOthers
  }
}

/// Signals between relays.
public enum ClusterSignal: Sendable, Equatable {
  /// A message has arrived in the mailbox.
  case message(key: String, message: [UInt8])
  /// A notification is waiting for the service.
  case notification(service: String)
}

/// The relay's side of the signals. Calls come from any thread.
public protocol ClusterListener: AnyObject, Sendable {
  func received(_ signal: ClusterSignal)
  /// Signals may have been missed.
  func missed()
  /// Milliseconds that a listener of this relay may have for the mailbox.
  func hold(_ key: String) -> Int64
  /// A body that this relay stored recently.
  func keptBody(_ key: String, _ message: [UInt8]) -> [UInt8]?
}

/// The cluster did not answer, and the call may or may not have taken effect. If it lacks room, the node that answered
/// has done nothing.
public struct ClusterFailure: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String
  public let lacksRoom: Bool
  /// Only the request's own trouble: its time was over, or its mailbox is damaged or changes too often. It says nothing
  /// about the cluster, and clients can cause it.
  public let isOwn: Bool
  /// Nothing was asked of the cluster: it leaves no doubt.
  public let isUnsent: Bool

  public init(_ description: String, lacksRoom: Bool = false, isOwn: Bool = false, isUnsent: Bool = false) {
    (self.description, self.lacksRoom, self.isOwn) = (description, lacksRoom, isOwn)
    self.isUnsent = isUnsent
  }
}

/// The time limit for an exchange's calls to the cluster.
public enum ExchangeDeadline {
  /// Clients get an answer within a second.
  public static let span = Duration.milliseconds(900)
  @TaskLocal public static var current: ContinuousClock.Instant?
}
