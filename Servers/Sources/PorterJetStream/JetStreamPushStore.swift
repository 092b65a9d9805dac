import Dispatch
import PorterRelayCluster
public import PorterServer
public import PorterTelemetry
import Synchronization

/// The shared state of notification servers, in NATS JetStream: a key-value bucket for each kind of record, and a work
/// queue.
public final class JetStreamPushStore: SharedStore {
  /// After this time, the work of a server that has ended goes to another. Servers that need longer extend it.
  private static let leaseSeconds = 6
  private static let answerDays = 30
  private static let mostAtOnce = 256
  private static let readAhead: UInt64 = 16

  /// Available once the cluster has been reached for the first time.
  private struct Cluster: Sendable {
    let connection: NATSConnection
    let stream: JetStream
    let queues: WorkQueues
    let isReplicated: Bool
  }

  private let options: JetStreamOptions
  private let log: LogWriter
  private let watch: StreamWatch
  private let added = RecentNames()
  /// For what each push reads, of which there may be millions.
  private let files: [SharedKey.Bucket: RecordFile]
  private let cluster = Mutex<Cluster?>(nil)
  private let isClosed = Mutex(false)
  private let following = Mutex<Task<Void, Never>?>(nil)
  private var name: String { options.name }

  /// Connects, and creates what is missing in the cluster, on the first call; until that succeeds, calls throw the
  /// reason. `partitions` does not matter.
  public init(_ options: JetStreamOptions, log: LogWriter) {
    (self.options, self.log) = (options, log)
    var files: [SharedKey.Bucket: RecordFile] = [:]
    if let path = options.files {
      for bucket in [SharedKey.Bucket.tokens, .subscriptions] {
        files[bucket] = RecordFile(path: path + bucket.rawValue)
      }
    }
    self.files = files
    watch = StreamWatch { log(.error, "the cluster has lost messages that it had acknowledged", ["stream": $0]) }
  }

  /// What the cluster has lost; nil if nothing.
  public var problem: String? { watch.problem() }

  public var lastTrouble: ContinuousClock.Instant? {
    cluster.withLock { $0 }?.stream.settledNumbers.lastTrouble
  }

  private func reached() async throws(ClusterFailure) -> Cluster {
    if let cluster = cluster.withLock({ $0 }) { return cluster }
    guard !isClosed.withLock({ $0 }) else { throw ClusterFailure("the connection is closed") }
    let made = try await open()
    made.connection.setReconnectHandler { [log, stream = made.stream] in
      log(.warning, "connected to the cluster again")
      stream.noteReconnect()
    }
    let (kept, isNew) = cluster.withLock { cluster in
      guard cluster == nil, !isClosed.withLock({ $0 }) else { return (cluster, false) }
      cluster = made
      return (made, true)
    }
    guard isNew else {
      made.connection.close()
      guard let kept else { throw ClusterFailure("the connection is closed") }
      return kept
    }
    log(.info, "tokens and subscriptions are in JetStream")
    // Only servers follow; other processes ask a single question.
    if options.isMaking {
      let buckets = SharedKey.Bucket.allCases.map { Self.bucket($0, name) }
      let task = Task.detached { [log, known = known()] in await made.stream.follow(buckets, known: known, log) }
      following.withLock { $0 = task }
      if isClosed.withLock({ $0 }) { task.cancel() }
    }
    return made
  }

  private func known() -> [String: (file: RecordFile, probe: String)] {
    var known: [String: (file: RecordFile, probe: String)] = [:]
    for (bucket, file) in files {
      known[Self.bucket(bucket, name)] = (file, Self.subject(SharedKey(bucket, "probe"), name))
    }
    return known
  }

  private func open() async throws(ClusterFailure) -> Cluster {
    let connection = try NATSConnection(options.cluster, name: "porter-push")
    do throws(ClusterFailure) {
      let stream = JetStream(connection: connection, watch: watch, removalsKept: options.removalsKept)
      // Existing streams keep their replica count, and a node may be down at the moment.
      let known = try await stream.replicas(of: Self.bucket(.settings, name))
      let replicas: Int
      if let known {
        replicas = known
      } else {
        guard options.isMaking else { throw ClusterFailure("the cluster has no tokens of \(name)") }
        replicas =
          if options.replicas > 1, try await !stream.hasReplicas(name + "_push") { 1 } else { options.replicas }
      }
      if options.isMaking { try await Self.prepare(stream, name, replicas: replicas) }
      let queues = WorkQueues(
        stream, name: "\(name)_push_work", subject: "\(name).push.work.", leaseSeconds: Self.leaseSeconds)
      return Cluster(connection: connection, stream: stream, queues: queues, isReplicated: replicas > 1)
    } catch {
      connection.close()
      throw error
    }
  }

  static func prepare(_ stream: JetStream, _ name: String, replicas: Int) async throws(ClusterFailure) {
    for each in SharedKey.Bucket.allCases {
      try await stream.prepare(
        .init(
          name: bucket(each, name), subject: subject(SharedKey(each, "*"), name), replicas: replicas, hasRecords: true,
          days: each == .answers ? answerDays : 0))
    }
    try await stream.prepare(
      .init(name: "\(name)_push_work", subject: "\(name).push.work.*", replicas: replicas, isQueue: true))
  }

  public func close() {
    isClosed.withLock { $0 = true }
    following.withLock { $0 }?.cancel()
    cluster.withLock { $0 }?.connection.close()
    for file in files.values { file.close() }
  }

  // MARK: Records

  static func bucket(_ bucket: SharedKey.Bucket, _ name: String) -> String {
    "KV_\(name)_push_\(bucket.rawValue)"
  }

  static func subject(_ key: SharedKey, _ name: String) -> String {
    "$KV.\(name)_push_\(key.bucket.rawValue).\(key.name)"
  }

  public func records(_ keys: [SharedKey]) throws(SharedStoreFailure) -> [SharedRecord?] {
    try asking { [self] (cluster) async throws(ClusterFailure) in
      try await records(keys, cluster, probes: try await probes(Set(keys.map(\.bucket)), cluster))
    }
  }

  public func probe(_ buckets: Set<SharedKey.Bucket>) throws(SharedStoreFailure) -> SharedProbe {
    try asking { [self] (cluster) async throws(ClusterFailure) in
      SharedProbe(ends: try await probes(buckets, cluster))
    }
  }

  public func records(
    _ keys: [SharedKey], asOf probe: SharedProbe
  ) throws(SharedStoreFailure) -> [SharedRecord?] {
    if let known = recordsNow(keys, probes: probe.ends) { return known }
    return try asking { [self] (cluster) async throws(ClusterFailure) in
      try await records(keys, cluster, probes: probe.ends)
    }
  }

  /// Nil if one of them is unknown, or the probe has not been followed yet.
  private func recordsNow(_ keys: [SharedKey], probes: [SharedKey.Bucket: UInt64]) -> [SharedRecord]? {
    guard let stream = cluster.withLock({ $0 })?.stream else { return nil }
    var found: [SharedRecord] = []
    for key in keys {
      guard let probe = probes[key.bucket],
        let known = stream.followers.records(Self.bucket(key.bucket, name)),
        let record = known.recordNow(Self.subject(key, name), asOf: probe)
      else { return nil }
      found.append(record)
    }
    return found
  }

  private func records(
    _ keys: [SharedKey], _ cluster: Cluster, probes: [SharedKey.Bucket: UInt64]
  ) async throws(ClusterFailure) -> [SharedRecord?] {
    try await inParts(keys) { [self] (key) async throws(ClusterFailure) in
      try await newest(key, cluster.stream, probe: probes[key.bucket])
    }
  }

  /// Publishes to each bucket, unless it has one node and its records are not known. A leader answers with what it has
  /// applied, and acknowledges a message once it has applied it and all before it.
  private func probes(
    _ buckets: Set<SharedKey.Bucket>, _ cluster: Cluster
  ) async throws(ClusterFailure) -> [SharedKey.Bucket: UInt64] {
    let stream = cluster.stream
    let probed = buckets.filter { cluster.isReplicated || stream.followers.records(Self.bucket($0, name)) != nil }
    let numbers = try await eachAtOnce(Array(probed)) { [name] (bucket) async throws(ClusterFailure) in
      (bucket, try await stream.publish(Self.subject(SharedKey(bucket, "probe"), name), []))
    }
    return Dictionary(uniqueKeysWithValues: numbers)
  }

  /// An empty record was removed.
  private func newest(
    _ key: SharedKey, _ stream: JetStream, probe: UInt64?
  ) async throws(ClusterFailure) -> SharedRecord? {
    let (bucket, subject) = (Self.bucket(key.bucket, name), Self.subject(key, name))
    if let probe, let record = await stream.followers.records(bucket)?.record(subject, asOf: probe) { return record }
    // What a leader returns may be old, and only what was followed or scanned is known to be the newest.
    let stored = try await stream.newest(bucket, subject)
    return stored.flatMap { $0.bytes.isEmpty ? nil : SharedRecord(bytes: $0.bytes, revision: $0.revision) }
  }

  public func replace(_ changes: [SharedChange]) throws(SharedStoreFailure) -> [UInt64?] {
    try asking { [self] (cluster) async throws(ClusterFailure) in
      try await inParts(changes) { [self] (change) async throws(ClusterFailure) in
        try await replace(change, cluster.stream)
      }
    }
  }

  public func beginReplacing(_ changes: [SharedChange]) -> any SharedReplacement {
    Replacement(
      Self.begin { [self] () async throws(ClusterFailure) in
        let stream = try await reached().stream
        return try await inParts(changes) { [self] (change) async throws(ClusterFailure) in
          try await replace(change, stream)
        }
      })
  }

  private struct Replacement: SharedReplacement {
    private let outcome: Outcome<[UInt64?]>

    init(_ outcome: Outcome<[UInt64?]>) { self.outcome = outcome }

    func wait() throws(SharedStoreFailure) -> [UInt64?] {
      do throws(ClusterFailure) { return try outcome.wait().get() } catch {
        throw SharedStoreFailure(error.description)
      }
    }
  }

  private func replace(_ change: SharedChange, _ stream: JetStream) async throws(ClusterFailure) -> UInt64? {
    let (bucket, subject) = (Self.bucket(change.key.bucket, name), Self.subject(change.key, name))
    let stored =
      if change.revision == 0 { try await stream.add(bucket, subject, change.bytes) } else {
        try await stream.replace(bucket, subject, change.bytes, change.revision)
      }
    if let stored, change.bytes.isEmpty { stream.forget(bucket, subject, removal: stored) }
    return stored
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
    try asking { [name, isMaking = options.isMaking] (cluster) async throws(ClusterFailure) in
      var (position, end) = (revision, UInt64?.none)
      let (bucket, subject) = (Self.bucket(.tokens, name), Self.subject(SharedKey(.tokens, "*"), name))
      let stream = cluster.stream
      var removals: [(subject: String, revision: UInt64)] = []
      defer { if isMaking, !removals.isEmpty { stream.completeRemovals(bucket, removals) } }
      while position < end ?? .max {
        // A token is often followed by hundreds of probes, so several messages are requested at a time.
        let starts = end == nil ? [position] : (0..<Self.readAhead).map { position + $0 }
        let found = try await eachAtOnce(starts) { (start) async throws(ClusterFailure) in
          try await stream.next(bucket, subject, after: start)
        }
        for case let next? in found {
          let key = String(next.subject.split(separator: ".").last ?? "")
          if !next.isEmpty, key != "probe" { return (key, next.revision) }
          if key != "probe", removals.last?.revision ?? 0 < next.revision {
            removals.append((next.subject, next.revision))
          }
          position = max(position, next.revision)
        }
        if found.contains(where: { $0 == nil }) { return nil }
        // Servers publish probes constantly: this must not chase them.
        if end == nil { end = try await stream.lastSequence(bucket) }
      }
      return nil
    }
  }

  public func time() throws(SharedStoreFailure) -> Int64 {
    try asking { [name] (cluster) async throws(ClusterFailure) in
      try await cluster.stream.time(
        Self.bucket(.settings, name), probe: Self.subject(SharedKey(.settings, "probe"), name))
    }
  }

  public func newestToken() throws(SharedStoreFailure) -> UInt64 {
    try asking { [name] (cluster) async throws(ClusterFailure) in
      try await cluster.stream.lastSequence(Self.bucket(.tokens, name))
    }
  }

  public func tokenCount() throws(SharedStoreFailure) -> Int {
    try asking { [name, removalsKept = options.removalsKept] (cluster) async throws(ClusterFailure) in
      let bucket = Self.bucket(.tokens, name)
      let count = try await cluster.stream.subjectCount(bucket)
      // The probes have a subject as well.
      let probe = Self.subject(SharedKey(.tokens, "probe"), name)
      let hasProbes = try await cluster.stream.get(bucket, #"{"last_by_subj":"\#(probe)"}"#) != nil
      let removed = cluster.stream.followers.records(bucket)?.removals(within: removalsKept) ?? 0
      return max(0, Int(clamping: count) - (hasProbes ? 1 : 0) - removed)
    }
  }

  // MARK: Work

  public func add(_ items: [SharedWork]) throws(SharedStoreFailure) {
    try asking { [self] (cluster) async throws(ClusterFailure) in
      _ = try await inParts(Self.distinct(items)) { [name, added] (item) async throws(ClusterFailure) in
        let identifier = Self.identifier(item)
        if let identifier, added.contains(identifier) { return }
        _ = try await cluster.stream.publish("\(name).push.work.\(item.queue)", item.bytes)
        if let identifier { added.insert(identifier) }
      }
    }
  }

  private static func identifier(_ item: SharedWork) -> String? { item.identifier.map { "\(item.queue)-\($0)" } }

  /// Without repetitions, because items are added concurrently.
  static func distinct(_ items: [SharedWork]) -> [SharedWork] {
    var identifiers: Set<String> = []
    return items.filter { item in identifier(item).map { identifiers.insert($0).inserted } ?? true }
  }

  public func take(_ queue: String, limit: Int) throws(SharedStoreFailure) -> [TakenWork] {
    try asking { (cluster) async throws(ClusterFailure) in
      try await cluster.queues.take(queue, limit: limit).map {
        TakenWork(
          number: $0.sequence, bytes: $0.bytes, handle: $0.handle, times: $0.times, addedAt: $0.addedAt)
      }
    }
  }

  public func end(_ work: [TakenWork]) throws(SharedStoreFailure) {
    try asking { (cluster) async throws(ClusterFailure) in
      try await cluster.queues.acknowledge(work.map(\.handle))
    }
  }

  public func endSoon(_ work: [TakenWork]) {
    guard let cluster = cluster.withLock({ $0 }) else { return }
    for each in work { cluster.queues.acknowledgeSoon(each.handle) }
  }

  public func postpone(_ work: TakenWork, milliseconds: Int64) {
    cluster.withLock { $0 }?.queues.postpone(work.handle, milliseconds: milliseconds)
  }

  public func extend(_ work: [TakenWork]) {
    guard let cluster = cluster.withLock({ $0 }) else { return }
    for each in work { cluster.queues.extend(each.handle) }
  }

  public func isServed() throws(SharedStoreFailure) -> Bool {
    try asking { [name] (cluster) async throws(ClusterFailure) in
      try await cluster.connection.hears(WorkQueues.requests(name).map { ("a notification server", $0) }) != nil
    }
  }

  // MARK: Waiting

  private func asking<Value: Sendable>(
    _ body: @escaping @Sendable (Cluster) async throws(ClusterFailure) -> Value
  ) throws(SharedStoreFailure) -> Value {
    do throws(ClusterFailure) {
      return try Self.blocking { [self] () async throws(ClusterFailure) in try await body(try await reached()) }
    } catch {
      throw SharedStoreFailure(error.description)
    }
  }

  /// Must not run on a thread of Swift's pool: the pool would have one less to complete the call with.
  static func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(ClusterFailure) -> Value
  ) throws(ClusterFailure) -> Value {
    try begin(body).wait().get()
  }

  private static func begin<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(ClusterFailure) -> Value
  ) -> Outcome<Value> {
    let outcome = Outcome<Value>()
    InPlaceExecutor.run {
      Task(executorPreference: InPlaceExecutor.shared) {
        do throws(ClusterFailure) { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
      }
    }
    return outcome
  }

  private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, ClusterFailure>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ result: Result<Value, ClusterFailure>) {
      self.result.withLock { $0 = result }
      done.signal()
    }

    func wait() -> Result<Value, ClusterFailure> {
      done.wait()
      // For the next call.
      done.signal()
      return result.withLock { $0 } ?? .failure(ClusterFailure("not answered"))
    }
  }
}
