import Dispatch
import PorterRelayCluster
public import PorterServer
public import PorterTelemetry
import Synchronization

/// What notification servers share, in NATS JetStream: a key-value bucket for each kind of record, and a work queue.
public final class JetStreamPushStore: SharedStore {
  /// Longer than a message takes from its arrival at a stream's leader to its place in the stream.
  private static let flight = Duration.seconds(30)
  /// After which work of a server that has ended is another's. Servers extend it while they need longer.
  private static let leaseSeconds = 6
  private static let answerDays = 30
  private static let mostAtOnce = 256
  private static let patience = Duration.seconds(15)

  private let connection: NATSConnection
  private let stream: JetStream
  private let name: String
  private let queues: WorkQueues
  private let isReplicated: Bool

  /// Connects, and makes what is missing in the cluster. Blocks. `partitions` does not matter.
  public init(_ options: JetStreamOptions, log: LogWriter) throws(JetStreamError) {
    do throws(ClusterFailure) {
      (connection, isReplicated) = try Self.blocking { () async throws(ClusterFailure) in
        try await Result<(NATSConnection, Bool), ClusterFailure>.repeating(for: Self.patience) {
          () async throws(ClusterFailure) in try await Self.open(options)
        }.get()
      }
    } catch {
      throw JetStreamError(error.description)
    }
    name = options.name
    stream = JetStream(connection: connection)
    queues = WorkQueues(
      stream, name: "\(name)_push_work", subject: "\(name).push.work.", leaseSeconds: Self.leaseSeconds)
    connection.setReconnectHandler { log(.warning, "connected to the cluster again") }
    log(.info, "tokens and subscriptions are in JetStream")
  }

  private static func open(_ options: JetStreamOptions) async throws(ClusterFailure) -> (NATSConnection, Bool) {
    let connection = try NATSConnection(options.cluster, name: "porter-push")
    do throws(ClusterFailure) {
      let stream = JetStream(connection: connection)
      // What is there already has as many as it has, and a node may be down just now.
      let known = try await stream.replicas(of: bucket(.settings, options.name))
      let replicas =
        if let known { known } else if options.replicas > 1, try await !stream.hasReplicas(options.name + "_push") {
          1
        } else { options.replicas }
      for each in SharedKey.Bucket.allCases {
        try await stream.prepare(
          .init(
            name: bucket(each, options.name), subject: "$KV.\(options.name)_push_\(each.rawValue).*",
            replicas: replicas, isLastOfSubject: true, memory: flight, days: each == .answers ? answerDays : 0))
      }
      try await stream.prepare(
        .init(
          name: "\(options.name)_push_work", subject: "\(options.name).push.work.*", replicas: replicas,
          memory: .seconds(120), isQueue: true))
      return (connection, replicas > 1)
    } catch {
      connection.close()
      throw error
    }
  }

  public func close() { connection.close() }

  // MARK: Records

  private static func bucket(_ bucket: SharedKey.Bucket, _ name: String) -> String {
    "KV_\(name)_push_\(bucket.rawValue)"
  }

  private static func subject(_ key: SharedKey, _ name: String) -> String {
    "$KV.\(name)_push_\(key.bucket.rawValue).\(key.name)"
  }

  public func records(_ keys: [SharedKey]) throws(SharedStoreFailure) -> [SharedRecord?] {
    try asking { [self] () async throws(ClusterFailure) in
      // What a leader has applied, it answers with; and it acknowledges a message when it has applied it and all before it.
      if isReplicated {
        _ = try await eachAtOnce(Array(Set(keys.map(\.bucket)))) {
          [stream, name] (bucket) async throws(ClusterFailure) in
          try await stream.publish(Self.subject(SharedKey(bucket, "probe"), name), [])
        }
      }
      return try await inParts(keys) { [self] (key) async throws(ClusterFailure) in try await newest(key) }
    }
  }

  /// An empty one was removed.
  private func newest(_ key: SharedKey) async throws(ClusterFailure) -> SharedRecord? {
    let stored = try await stream.newest(Self.bucket(key.bucket, name), Self.subject(key, name))
    return stored.flatMap { $0.bytes.isEmpty ? nil : SharedRecord(bytes: $0.bytes, revision: $0.revision) }
  }

  public func replace(_ changes: [SharedChange]) throws(SharedStoreFailure) -> [UInt64?] {
    try asking { [self] () async throws(ClusterFailure) in
      try await inParts(changes) { [self] (change) async throws(ClusterFailure) in try await replace(change) }
    }
  }

  private func replace(_ change: SharedChange) async throws(ClusterFailure) -> UInt64? {
    let (bucket, subject) = (Self.bucket(change.key.bucket, name), Self.subject(change.key, name))
    if let stored = try await stream.publish(subject, change.bytes, after: change.revision) {
      // Unless there is a new one, which its place in the stream says.
      if change.bytes.isEmpty { stream.deleteSoon(bucket, stored) }
      return stored
    }
    guard change.revision == 0, let removed = try await stream.newest(bucket, subject), removed.bytes.isEmpty else {
      return nil
    }
    return try await stream.publish(subject, change.bytes, after: removed.revision)
  }

  private func inParts<Item: Sendable, Value: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) async throws(ClusterFailure) -> Value
  ) async throws(ClusterFailure) -> [Value] {
    var (values, rest): ([Value], ArraySlice<Item>) = ([], items[...])
    while !rest.isEmpty {
      values += try await eachAtOnce(Array(rest.prefix(Self.mostAtOnce)), body)
      rest = rest.dropFirst(Self.mostAtOnce)
    }
    return values
  }

  public func token(after revision: UInt64) throws(SharedStoreFailure) -> (key: String, revision: UInt64)? {
    try asking { [stream, name] () async throws(ClusterFailure) in
      var position = revision
      let subject = Self.subject(SharedKey(.tokens, "*"), name)
      while let next = try await stream.next(Self.bucket(.tokens, name), subject, after: position) {
        let key = String(next.subject.split(separator: ".").last ?? "")
        if !next.isEmpty, key != "probe" { return (key, next.revision) }
        position = next.revision
      }
      return nil
    }
  }

  public func newestToken() throws(SharedStoreFailure) -> UInt64 {
    try asking { [stream, name] () async throws(ClusterFailure) in
      try await stream.lastSequence(Self.bucket(.tokens, name))
    }
  }

  // MARK: Work

  public func add(_ items: [SharedWork]) throws(SharedStoreFailure) {
    try asking { [self] () async throws(ClusterFailure) in
      _ = try await inParts(items) { [stream, name] (item) async throws(ClusterFailure) in
        let identifier = item.identifier.map { "\(item.queue)-\($0)" }
        return try await stream.publish("\(name).push.work.\(item.queue)", item.bytes, identifier: identifier)
      }
    }
  }

  public func take(_ queue: String, limit: Int) throws(SharedStoreFailure) -> [TakenWork] {
    try asking { [queues] () async throws(ClusterFailure) in
      try await queues.take(queue, limit: limit).map {
        TakenWork(bytes: $0.bytes, handle: $0.handle, times: $0.times)
      }
    }
  }

  public func end(_ work: [TakenWork]) throws(SharedStoreFailure) {
    try asking { [queues] () async throws(ClusterFailure) in try await queues.acknowledge(work.map(\.handle)) }
  }

  public func postpone(_ work: TakenWork, milliseconds: Int64) {
    queues.postpone(work.handle, milliseconds: milliseconds)
  }

  public func extend(_ work: [TakenWork]) { for each in work { queues.extend(each.handle) } }

  // MARK: Waiting

  private func asking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(ClusterFailure) -> Value
  ) throws(SharedStoreFailure) -> Value {
    do throws(ClusterFailure) { return try Self.blocking(body) } catch { throw SharedStoreFailure(error.description) }
  }

  /// Never on a thread of Swift's pool, which would then have one less to end it with.
  private static func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(ClusterFailure) -> Value
  ) throws(ClusterFailure) -> Value {
    let result = Mutex<Result<Value, ClusterFailure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let task = Task {
      do throws(ClusterFailure) {
        let value = try await body()
        result.withLock { $0 = .success(value) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    _ = task
    guard let result = result.withLock({ $0 }) else { throw ClusterFailure("not answered") }
    return try result.get()
  }
}
