import PorterRelayCluster
import Synchronization

/// Mailboxes in JetStream: a record of each in a stream that keeps the newest message of a subject, bodies in a stream that keeps them
/// 21 days, notifications in a work queue with a consumer for each service.
final class JetStreamStore: ClusterStore {
  /// What all relays of a cluster share, and the first one decides.
  struct Settings: Equatable {
    var secret: [UInt8]
    var partitions: Int

    static let version: UInt8 = 1

    var bytes: [UInt8] { [Self.version, UInt8(clamping: partitions)] + secret }

    init(secret: [UInt8], partitions: Int) {
      self.secret = secret
      self.partitions = partitions
    }

    init(_ bytes: [UInt8]) throws(ClusterFailure) {
      guard bytes.count == 34, bytes[0] == Self.version, bytes[1] > 0 else {
        throw ClusterFailure("the cluster's settings are of another version")
      }
      self.init(secret: Array(bytes.dropFirst(2)), partitions: Int(bytes[1]))
    }
  }

  /// Longer than a message takes from its arrival at a stream's leader to its place in the stream, after which it is compared with
  /// what the leader has.
  private static let flight = Duration.seconds(30)
  /// A service that took a notification and did not acknowledge it gets it again after this time.
  private static let leaseSeconds = 5

  /// An election takes up to 9 s.
  private static let stall = Duration.seconds(15)

  let connection: NATSConnection
  let settings: Settings
  private let isReplicated: Bool
  private let stream: JetStream
  private let name: String
  /// Part of a notification's number, so that none is used twice when the stream was made anew.
  private let epoch: UInt64
  private let consumers = Mutex<Set<String>>([])
  /// Since when a service's consumer does not answer.
  private let stalled = Mutex<[String: ContinuousClock.Instant]>([:])
  private let holders = Mutex<[String: NATSConnection.Subscription]>([:])
  private let listener = Mutex<(any ClusterListener)?>(nil)

  /// Makes what is missing in the cluster.
  static func open(
    _ connection: NATSConnection, name: String, replicas: Int, partitions: Int
  ) async throws(ClusterFailure) -> JetStreamStore {
    let stream = JetStream(connection: connection)
    // What is there already has as many as it has, and a node may be down just now.
    let known = try await stream.replicas(of: name + "_settings")
    let replicas =
      if let known { known } else if replicas > 1, try await !stream.hasReplicas(name) { 1 } else { replicas }
    let settingsStream = JetStream.Stream(
      name: name + "_settings", subject: name + ".settings", replicas: replicas, isLastOfSubject: true)
    try await stream.prepare(settingsStream)
    let settings = try await Self.settings(stream, settingsStream, partitions)
    for partition in 0..<settings.partitions {
      try await stream.prepare(
        .init(
          name: "\(name)_mailboxes_\(partition)", subject: "\(name).mailbox.\(partition).*", replicas: replicas,
          isLastOfSubject: true, memory: Self.flight))
      // A day more than a record counts, whose clock is a relay's.
      try await stream.prepare(
        .init(
          name: "\(name)_bodies_\(partition)", subject: "\(name).body.\(partition).*", replicas: replicas, days: 22))
    }
    let made = try await stream.prepare(
      .init(
        name: "\(name)_notifications", subject: "\(name).notify.*", replicas: replicas, memory: .seconds(120),
        isQueue: true, days: 21))
    return JetStreamStore(connection, stream, name, settings, epoch: made, isReplicated: replicas > 1)
  }

  private static func settings(
    _ stream: JetStream, _ place: JetStream.Stream, _ partitions: Int
  ) async throws(ClusterFailure) -> Settings {
    // Another relay may start for the first time as well: then the first one's are valid.
    for _ in 0..<3 {
      if let stored = try await stream.newest(place.name, place.subject) { return try Settings(stored.bytes) }
      var secret: [UInt8] = []
      for _ in 0..<32 { secret.append(.random(in: .min ... .max)) }
      let own = Settings(secret: secret, partitions: partitions)
      if try await stream.publish(place.subject, own.bytes, after: 0) != nil { return own }
    }
    throw ClusterFailure("the cluster's settings cannot be stored")
  }

  private init(
    _ connection: NATSConnection, _ stream: JetStream, _ name: String, _ settings: Settings, epoch: String,
    isReplicated: Bool
  ) {
    self.isReplicated = isReplicated
    self.connection = connection
    self.stream = stream
    self.name = name
    self.settings = settings
    self.epoch = epoch.utf8.reduce(5_381) { ($0 &* 33) ^ UInt64($1) } & 0xff_ffff
  }

  // MARK: Records

  private func partition(_ key: String) -> Int {
    Int(key.utf8.reduce(UInt32(5_381)) { ($0 &* 33) ^ UInt32($1) } % UInt32(settings.partitions))
  }

  private func mailboxes(_ key: String) -> String { "\(name)_mailboxes_\(partition(key))" }
  private func mailboxSubject(_ key: String) -> String { "\(name).mailbox.\(partition(key)).\(key)" }
  private func bodies(_ key: String) -> String { "\(name)_bodies_\(partition(key))" }

  /// What a leader has applied, it answers with; and it acknowledges a message when it has applied it and all before it.
  func settle(_ keys: [String]) async throws(ClusterFailure) {
    guard isReplicated else { return }
    for partition in Set(keys.map(partition)) {
      _ = try await stream.publish("\(name).mailbox.\(partition).probe", [])
    }
  }

  /// An empty message is a mailbox that was deleted.
  func record(_ key: String) async throws(ClusterFailure) -> StoredRecord? {
    guard let newest = try await stream.newest(mailboxes(key), mailboxSubject(key)), !newest.bytes.isEmpty else {
      return nil
    }
    return newest
  }

  func replace(_ key: String, _ bytes: [UInt8], revision: UInt64) async throws(ClusterFailure) -> UInt64? {
    let subject = mailboxSubject(key)
    if let stored = try await stream.publish(subject, bytes, after: revision) { return stored }
    // A deleted one is none.
    guard revision == 0, let deleted = try await stream.newest(mailboxes(key), subject), deleted.bytes.isEmpty else {
      return nil
    }
    return try await stream.publish(subject, bytes, after: deleted.revision)
  }

  /// By a replacement, so that no other one comes between. What takes its place is not needed then, and is deleted unless there is a
  /// new record.
  func remove(_ key: String, revision: UInt64) async throws(ClusterFailure) -> Bool {
    guard let deleted = try await stream.publish(mailboxSubject(key), [], after: revision) else { return false }
    stream.deleteSoon(mailboxes(key), deleted)
    return true
  }

  /// A write to each partition: one without a quorum takes none.
  func probe() async throws(ClusterFailure) {
    for partition in 0..<settings.partitions {
      _ = try await stream.publish("\(name).mailbox.\(partition).probe", [])
    }
  }

  // MARK: Bodies

  func addBody(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64 {
    try await stream.publish("\(name).body.\(partition(key)).\(key)", bytes)
  }

  func body(
    _ key: String, _ number: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]? {
    try await stream.message(bodies(key), number, isRight: isRight)
  }

  func dropBodies(_ key: String, _ numbers: [UInt64]) {
    for number in numbers { stream.deleteSoon(bodies(key), number) }
  }

  // MARK: Notifications

  private var queue: String { "\(name)_notifications" }

  func addNotification(_ service: String, _ bytes: [UInt8], attempt: String) async throws(ClusterFailure) {
    _ = try await stream.publish("\(name).notify.\(service)", bytes, identifier: attempt)
  }

  func takeNotifications(_ service: String, limit: Int) async throws(ClusterFailure) -> TakenNotifications {
    do throws(ClusterFailure) {
      let taken = try await take(service, limit)
      stalled.withLock { $0[service] = nil }
      return taken
    } catch {
      let since = stalled.withLock { stalled in
        let since = stalled[service] ?? .now
        stalled[service] = since
        return since
      }
      if ContinuousClock.now - since > Self.stall { try await replaceConsumer(service) }
      throw error
    }
  }

  /// A consumer's nodes of 2.9 can stay without a leader after several were killed. What it has in the queue is not lost with it, and
  /// is given again by another consumer.
  private func replaceConsumer(_ service: String) async throws(ClusterFailure) {
    stalled.withLock { $0[service] = nil }
    consumers.withLock { _ = $0.remove(service) }
    _ = try await connection.request("$JS.API.CONSUMER.DELETE.\(queue).\(service)")
  }

  private func take(_ service: String, _ limit: Int) async throws(ClusterFailure) -> TakenNotifications {
    if !consumers.withLock({ $0.contains(service) }) { try await makeConsumer(service) }
    let query = #"{"batch":\#(limit),"no_wait":true}"#
    let messages = try await connection.request("$JS.API.CONSUMER.MSG.NEXT.\(queue).\(service)", Array(query.utf8)) {
      message, count in message.status != nil || count == limit
    }
    if messages.last?.status == "503" {
      consumers.withLock { _ = $0.remove(service) }
      throw ClusterFailure("the queue does not answer: no quorum")
    }
    let items = messages.compactMap { message -> TakenNotifications.Item? in
      guard message.status == nil, let handle = message.reply, let sequence = Self.sequence(handle) else { return nil }
      return .init(number: epoch << 40 | sequence, bytes: message.data, handle: handle)
    }
    guard items.count < limit else { return TakenNotifications(items: items, hasOthers: true) }
    let information = Reply(try await connection.request("$JS.API.CONSUMER.INFO.\(queue).\(service)").data)
    let unacknowledged = Int(information.number("num_ack_pending") ?? 0)
    return TakenNotifications(items: items, hasOthers: unacknowledged > items.count)
  }

  private func makeConsumer(_ service: String) async throws(ClusterFailure) {
    let configuration = """
      {"stream_name":"\(queue)","config":{"durable_name":"\(service)","filter_subject":"\(name).notify.\(service)",\
      "deliver_policy":"all","ack_policy":"explicit","ack_wait":\(Self.leaseSeconds * 1_000_000_000),\
      "max_deliver":-1,"max_ack_pending":-1,"max_waiting":512,"replay_policy":"instant"}}
      """
    let reply = Reply(
      try await connection.request(
        "$JS.API.CONSUMER.DURABLE.CREATE.\(queue).\(service)", Array(configuration.utf8)
      ).data)
    guard reply.errorCode == nil else { throw stream.failure(reply, "queue of a service") }
    consumers.withLock { _ = $0.insert(service) }
  }

  /// `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<…>.<…>.<…>`
  private static func sequence(_ handle: String) -> UInt64? {
    let parts = handle.split(separator: ".")
    return parts.count >= 9 ? UInt64(parts[parts.count - 4]) : nil
  }

  func acknowledgeNotifications(_ service: String, _ numbers: [UInt64]) async throws(ClusterFailure) {
    let sequences = numbers.filter { $0 >> 40 == epoch }.map { $0 & 0xff_ffff_ffff }
    let results = await withTaskGroup(of: ClusterFailure?.self) { [connection, queue] group in
      for sequence in sequences {
        group.addTask {
          do throws(ClusterFailure) {
            _ = try await connection.request("$JS.ACK.\(queue).\(service).1.\(sequence).0.0.0", Array("+ACK".utf8))
            return nil
          } catch {
            return error
          }
        }
      }
      var results: [ClusterFailure?] = []
      for await result in group { results.append(result) }
      return results
    }
    if let failure = results.compactMap({ $0 }).first { throw failure }
  }

  func postponeNotification(_ service: String, _ taken: TakenNotifications.Item, milliseconds: Int64) {
    connection.publish(taken.handle, Array(#"-NAK {"delay": \#(milliseconds * 1_000_000)}"#.utf8))
  }

  // MARK: Signals

  /// From now on signals of all relays, this one included, go to the listener.
  func start(_ listener: any ClusterListener) throws(ClusterFailure) -> [NATSConnection.Subscription] {
    self.listener.withLock { $0 = listener }
    return [
      try connection.subscribe(name + ".message") { [weak listener] message in
        guard message.data.count > 24 else { return }
        let key = String(decoding: message.data.dropFirst(24), as: UTF8.self)
        listener?.received(.message(key: key, message: Array(message.data.prefix(24))))
      },
      try connection.subscribe(name + ".service") { [weak listener] message in
        listener?.received(.notification(service: String(decoding: message.data, as: UTF8.self)))
      },
    ]
  }

  func stop() {
    listener.withLock { $0 = nil }
    holders.withLock { $0 = [:] }
  }

  func signal(_ signal: ClusterSignal) {
    switch signal {
    case .message(let key, let message): connection.publish(name + ".message", message + Array(key.utf8))
    case .notification(let service): connection.publish(name + ".service", Array(service.utf8))
    }
  }

  /// A relay without a listener for the mailbox has no subscription, and where there is none the cluster says so.
  func hold(_ key: String) async -> Int64 {
    guard let message = try? await connection.request("\(name).hold.\(key)"), message.status == nil else { return 0 }
    return Int64(String(decoding: message.data, as: UTF8.self)) ?? 0
  }

  func answersHold(_ key: String, _ answers: Bool) {
    guard answers else {
      holders.withLock { $0[key] = nil }
      return
    }
    let subscription = try? connection.subscribe("\(name).hold.\(key)") { [weak self] message in
      guard let self, let reply = message.reply else { return }
      let milliseconds = listener.withLock { $0 }?.hold(key) ?? 0
      connection.publish(reply, Array(String(milliseconds).utf8))
    }
    holders.withLock { $0[key] = subscription }
  }
}
