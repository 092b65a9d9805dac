/// Where several notification servers keep their shared state. `spec/protocol/push-cluster.md` defines the invariants.
///
/// Calls come from one thread, and block for a bounded time. A call that throws may or may not have taken effect.
public protocol SharedStore: AnyObject, Sendable {
  // MARK: Records

  /// Returns one per key, in the same order; nil where there is none. Includes everything stored before the call.
  func records(_ keys: [SharedKey]) throws(SharedStoreFailure) -> [SharedRecord?]
  /// Probes these buckets, so that several reads can share the wait for it.
  func probe(_ buckets: Set<SharedKey.Bucket>) throws(SharedStoreFailure) -> SharedProbe
  /// Like `records`, of the buckets that were probed. Includes everything stored before that.
  func records(_ keys: [SharedKey], asOf probe: SharedProbe) throws(SharedStoreFailure) -> [SharedRecord?]
  /// Replaces records of these revisions, each independently; a replacement without bytes removes. Returns the new
  /// revisions, nil where the record has a different one.
  func replace(_ changes: [SharedChange]) throws(SharedStoreFailure) -> [UInt64?]
  /// Likewise, without waiting for the cluster. Probes and calls that begin later see what it has stored.
  func beginReplacing(_ changes: [SharedChange]) -> any SharedReplacement
  /// The next token stored after this revision, in order of revision; nil if there is none.
  func token(after revision: UInt64) throws(SharedStoreFailure) -> (key: String, revision: UInt64)?
  /// The revision of the token stored last; 0 if there is none.
  func newestToken() throws(SharedStoreFailure) -> UInt64
  /// The number of tokens. May include recently removed ones; needs no scan.
  func tokenCount() throws(SharedStoreFailure) -> Int

  /// Milliseconds since 1970, by the clock that timestamps whatever is stored now.
  func time() throws(SharedStoreFailure) -> Int64

  // MARK: Work: queues that all servers share

  /// Durable when it returns. An item is not stored again if this process has stored one with the same identifier
  /// within a minute.
  func add(_ items: [SharedWork]) throws(SharedStoreFailure)
  /// Takes items that no other server has. An item neither ended nor extended within the lease is given again, to any
  /// server.
  func take(_ queue: String, limit: Int) throws(SharedStoreFailure) -> [TakenWork]
  func end(_ work: [TakenWork]) throws(SharedStoreFailure)
  /// Does not wait for the cluster. What is lost is given again after the lease.
  func endSoon(_ work: [TakenWork])
  /// Gives it again after this time. If the call is lost, the lease decides.
  func postpone(_ work: TakenWork, milliseconds: Int64)
  /// Restarts the lease.
  func extend(_ work: [TakenWork])

  /// The last time a call failed, another node was elected or the connection was lost: anything read or stored earlier
  /// may be undone. Nil if never. From any thread.
  var lastTrouble: ContinuousClock.Instant? { get }
  /// A loss in the store, in one line for an operator; nil if there is none. From any thread.
  var problem: String? { get }

  /// Whether any server takes work. Listens for some seconds.
  func isServed() throws(SharedStoreFailure) -> Bool

  func close()
}

extension SharedStore {
  public var lastTrouble: ContinuousClock.Instant? { nil }
  public var problem: String? { nil }
}

/// A call of `replace` that has begun.
public protocol SharedReplacement: Sendable {
  /// Waits for its result, which is the same each time.
  func wait() throws(SharedStoreFailure) -> [UInt64?]
}

/// The end of each bucket when it was probed; none where the store needs no probe.
public struct SharedProbe: Sendable {
  public let ends: [SharedKey.Bucket: UInt64]

  public init(ends: [SharedKey.Bucket: UInt64]) { self.ends = ends }
}

public struct SharedKey: Hashable, Sendable {
  public enum Bucket: String, CaseIterable, Sendable {
    /// The server's identity, where subscriptions are, and the progress of the daily check.
    case settings
    /// Everything about a token, by its identifier.
    case tokens
    /// The tokens that watch notifiers, in a fixed number of numbered records.
    case subscriptions
    /// The tokens of devices, in a fixed number of numbered records.
    case devices
    /// Answers to requests, by their correlation; kept for 30 days.
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
  /// The revision of the record being replaced; 0 if there is none.
  public let revision: UInt64

  public init(_ key: SharedKey, _ bytes: [UInt8], revision: UInt64) {
    (self.key, self.bytes, self.revision) = (key, bytes, revision)
  }
}

public struct SharedWork: Sendable {
  /// `requests`, `push-` and a provider, or a queue of wake-ups.
  public let queue: String
  public let bytes: [UInt8]
  public let identifier: String?

  public init(_ queue: String, _ bytes: [UInt8], identifier: String? = nil) {
    (self.queue, self.bytes, self.identifier) = (queue, bytes, identifier)
  }
}

public struct TakenWork: Sendable {
  /// The same each time it is given.
  public let number: UInt64
  public let bytes: [UInt8]
  /// The store's own handle, valid this time only.
  public let handle: String
  /// How many times it was given, including this time.
  public let times: Int
  /// When it was added, by the clock of `SharedStore.time`.
  public let addedAt: Int64

  public init(number: UInt64, bytes: [UInt8], handle: String, times: Int, addedAt: Int64) {
    (self.number, self.bytes, self.handle, self.times, self.addedAt) = (number, bytes, handle, times, addedAt)
  }
}

/// The cluster did not answer, and the call may or may not have taken effect.
public struct SharedStoreFailure: Error, Sendable, Equatable {
  public let reason: String

  public init(_ reason: String) { self.reason = reason }
}
