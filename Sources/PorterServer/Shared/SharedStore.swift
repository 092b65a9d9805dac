/// What several notification servers keep their state in together. `spec/protocol/push-cluster.md` has what must hold.
///
/// Calls come from one thread, and block for a bounded time. One that throws may have happened or not.
public protocol SharedStore: AnyObject, Sendable {
  // MARK: Records

  /// One for each key, in their order; nil where there is none. Nothing that was stored before the call is missing.
  func records(_ keys: [SharedKey]) throws(SharedStoreFailure) -> [SharedRecord?]
  /// Replaces records of these revisions, each on its own; a replacement without bytes removes. Returns the new revisions, nil
  /// where the record has another one.
  func replace(_ changes: [SharedChange]) throws(SharedStoreFailure) -> [UInt64?]
  /// The next of all tokens that were stored after this revision, in the order of their revisions; nil if there is none.
  func token(after revision: UInt64) throws(SharedStoreFailure) -> (key: String, revision: UInt64)?
  /// The revision of the one that was stored last; 0 if there is none.
  func newestToken() throws(SharedStoreFailure) -> UInt64
  /// How many tokens there are. One that was removed lately may count; no scan.
  func tokenCount() throws(SharedStoreFailure) -> Int

  /// Milliseconds since 1970, by the clock that gives what is stored now its time.
  func time() throws(SharedStoreFailure) -> Int64

  // MARK: Work: queues that all servers share

  /// Durable when it returns. An item is not stored again if this process has stored one with the same identifier within a minute.
  func add(_ items: [SharedWork]) throws(SharedStoreFailure)
  /// Items that no other server has. One that is neither ended nor extended within the lease is given again, to any server.
  func take(_ queue: String, limit: Int) throws(SharedStoreFailure) -> [TakenWork]
  func end(_ work: [TakenWork]) throws(SharedStoreFailure)
  /// Gives it again after this time. If that is lost, the lease decides.
  func postpone(_ work: TakenWork, milliseconds: Int64)
  /// Begins the lease anew.
  func extend(_ work: [TakenWork])

  /// When a call last failed, another node was elected or the connection was lost: what was read or stored before may be undone. Nil if never.
  /// From any thread.
  var lastTrouble: ContinuousClock.Instant? { get }
  /// What it has lost, in a line for an operator; nil if nothing. From any thread.
  var problem: String? { get }

  func close()
}

extension SharedStore {
  public var lastTrouble: ContinuousClock.Instant? { nil }
  public var problem: String? { nil }
}

public struct SharedKey: Hashable, Sendable {
  public enum Bucket: String, CaseIterable, Sendable {
    /// The server's identity, where subscriptions are, and how far the daily check has come.
    case settings
    /// Everything about a token, by its identifier.
    case tokens
    /// The tokens that watch notifiers, in a fixed number of records, by their numbers.
    case subscriptions
    /// The tokens of a device, by a digest of what its platform calls it.
    case devices
    /// Answers to requests, by their correlation; for 30 days.
    case answers
  }

  public let bucket: Bucket
  /// Letters, digits, `-` and `_`.
  public let name: String

  public init(_ bucket: Bucket, _ name: String) { (self.bucket, self.name) = (bucket, name) }
}

public struct SharedRecord: Sendable, Equatable {
  public var bytes: [UInt8]
  public var revision: UInt64

  public init(bytes: [UInt8], revision: UInt64) { (self.bytes, self.revision) = (bytes, revision) }
}

public struct SharedChange: Sendable {
  public let key: SharedKey
  public let bytes: [UInt8]
  /// That of the record which is replaced; 0: there is none.
  public let revision: UInt64

  public init(_ key: SharedKey, _ bytes: [UInt8], revision: UInt64) {
    (self.key, self.bytes, self.revision) = (key, bytes, revision)
  }
}

public struct SharedWork: Sendable {
  /// `requests`, `wakes`, or `push-` and a provider.
  public let queue: String
  public let bytes: [UInt8]
  public let identifier: String?

  public init(_ queue: String, _ bytes: [UInt8], identifier: String? = nil) {
    (self.queue, self.bytes, self.identifier) = (queue, bytes, identifier)
  }
}

public struct TakenWork: Sendable {
  /// The same each time.
  public let number: UInt64
  public let bytes: [UInt8]
  /// The store's own, for this time.
  public let handle: String
  /// How many times it was given, this one included.
  public let times: Int

  public init(number: UInt64, bytes: [UInt8], handle: String, times: Int) {
    (self.number, self.bytes, self.handle, self.times) = (number, bytes, handle, times)
  }
}

/// The cluster gave no answer, and what was asked for may have happened or not.
public struct SharedStoreFailure: Error, Sendable, Equatable {
  public let reason: String

  public init(_ reason: String) { self.reason = reason }
}
