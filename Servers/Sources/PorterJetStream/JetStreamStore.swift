import PorterRelayCluster
import PorterTelemetry
import Synchronization

/// Mailboxes in JetStream: records in a stream that keeps the newest message of each subject, bodies in a stream that
/// keeps them 21 days, notifications in a work queue with a consumer for each service.
final class JetStreamStore: ClusterStore {
  /// Settings shared by all relays of a cluster; the first relay decides them.
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

  /// A service that took a notification without acknowledging it gets it again after this time.
  private static let leaseSeconds = 5
  /// The length of the message identifier in front of each body.
  private static let messageBytes = 24
  /// The time for relays to answer, which have the requested bodies in memory.
  private static let keptPatience = Duration.milliseconds(200)

  let connection: NATSConnection
  let settings: Settings
  private let isReplicated: Bool
  let stream: JetStream
  private let name: String
  /// Part of a notification's number, so that none is reused when the stream was recreated.
  private let epoch: UInt64
  /// One for each service.
  private let queues: WorkQueues
  private let added = RecentNames()
  private let seen = SeenBodies()
  private let probes: SharedProbes
  private let holders = Mutex<[String: NATSConnection.Subscription]>([:])
  private let listener = Mutex<(any ClusterListener)?>(nil)

  /// Creates what is missing in the cluster.
  static func open(
    _ connection: NATSConnection, name: String, replicas: Int, partitions: Int, watch: StreamWatch
  ) async throws(ClusterFailure) -> JetStreamStore {
    let stream = JetStream(connection: connection, watch: watch)
    // Existing streams keep their replica count, and a node may be down at the moment.
    let known = try await stream.replicas(of: name + "_settings")
    let replicas =
      if let known { known } else if replicas > 1, try await !stream.hasReplicas(name) { 1 } else { replicas }
    let place = settingsStream(name, replicas)
    try await stream.prepare(place)
    let settings = try await Self.settings(stream, place, partitions)
    let made = try await prepare(stream, name, replicas: replicas, partitions: settings.partitions)
    return JetStreamStore(connection, stream, name, settings, epoch: made, isReplicated: replicas > 1)
  }

  /// The store of existing mailboxes; nil if there are none.
  static func existing(
    _ connection: NATSConnection, name: String, watch: StreamWatch
  ) async throws(ClusterFailure) -> JetStreamStore? {
    let stream = JetStream(connection: connection, watch: watch)
    guard let replicas = try await stream.replicas(of: name + "_settings") else { return nil }
    let place = settingsStream(name, replicas)
    guard let stored = try await stream.newest(place.name, place.subject) else { return nil }
    let settings = try Settings(stored.bytes)
    return JetStreamStore(connection, stream, name, settings, epoch: "", isReplicated: replicas > 1)
  }

  static func settingsStream(_ name: String, _ replicas: Int) -> JetStream.Stream {
    JetStream.Stream(name: name + "_settings", subject: name + ".settings", replicas: replicas, hasRecords: true)
  }

  /// Creates the streams that mailboxes need. Returns when the stream of notifications was created.
  static func prepare(
    _ stream: JetStream, _ name: String, replicas: Int, partitions: Int
  ) async throws(ClusterFailure) -> String {
    let partitioned = (0..<partitions).flatMap { partition in
      [
        JetStream.Stream(
          name: "\(name)_mailboxes_\(partition)", subject: "\(name).mailbox.\(partition).*", replicas: replicas,
          hasRecords: true),
        // A day longer than a record is valid, because that is measured by a relay's clock.
        JetStream.Stream(
          name: "\(name)_bodies_\(partition)", subject: "\(name).body.\(partition).*", replicas: replicas, days: 22),
      ]
    }
    let notifications = JetStream.Stream(
      name: "\(name)_notifications", subject: "\(name).notify.*", replicas: replicas, isQueue: true, days: 21)
    // Each stream must elect a leader.
    let made = try await eachAtOnce([notifications] + partitioned) { (each) async throws(ClusterFailure) in
      try await stream.prepare(each)
    }
    return made.first ?? ""
  }

  private static func settings(
    _ stream: JetStream, _ place: JetStream.Stream, _ partitions: Int
  ) async throws(ClusterFailure) -> Settings {
    // Another relay may start for the first time at the same moment: then the first one's settings are valid.
    for _ in 0..<3 {
      if let stored = try await stream.newest(place.name, place.subject) { return try Settings(stored.bytes) }
      var secret: [UInt8] = []
      for _ in 0..<32 { secret.append(.random(in: .min ... .max)) }
      let own = Settings(secret: secret, partitions: partitions)
      if try await stream.replace(place.name, place.subject, own.bytes, 0) != nil { return own }
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
    probes = SharedProbes { (subject) async throws(ClusterFailure) in _ = try await stream.publish(subject, []) }
    stream.settledNumbers.noteStart()
    queues = WorkQueues(
      stream, name: "\(name)_notifications", subject: "\(name).notify.", leaseSeconds: Self.leaseSeconds)
    self.epoch = epoch.utf8.reduce(5_381) { ($0 &* 33) ^ UInt64($1) } & 0xff_ffff
  }

  // MARK: Records

  /// Asks the leader less often, until the task is cancelled.
  func follow(_ log: LogWriter) async {
    await stream.follow((0..<settings.partitions).map { "\(name)_mailboxes_\($0)" }, log)
  }

  static func partition(_ key: String, of partitions: Int) -> Int {
    Int(key.utf8.reduce(UInt32(5_381)) { ($0 &* 33) ^ UInt32($1) } % UInt32(partitions))
  }

  private func partition(_ key: String) -> Int { Self.partition(key, of: settings.partitions) }

  private func mailboxes(_ key: String) -> String { "\(name)_mailboxes_\(partition(key))" }
  private func mailboxSubject(_ key: String) -> String { "\(name).mailbox.\(partition(key)).\(key)" }
  private func bodies(_ key: String) -> String { "\(name)_bodies_\(partition(key))" }
  private func bodySubject(_ key: String) -> String { "\(name).body.\(partition(key)).\(key)" }

  /// A leader answers with what it has applied, and acknowledges a message once it has applied it and all before it.
  func settle(_ keys: [String]) async throws(ClusterFailure) {
    guard isReplicated else { return }
    _ = try await eachAtOnce(Array(Set(keys.map(partition)))) {
      [name, probes] (partition) async throws(ClusterFailure) in
      try await probes.settle("\(name).mailbox.\(partition).probe")
    }
  }

  /// An empty message is a deleted mailbox.
  func record(_ key: String) async throws(ClusterFailure) -> StoredRecord? {
    guard let newest = try await stream.newest(mailboxes(key), mailboxSubject(key)), !newest.bytes.isEmpty else {
      return nil
    }
    return newest
  }

  func replace(_ key: String, _ bytes: [UInt8], revision: UInt64) async throws(ClusterFailure) -> UInt64? {
    let (mailboxes, subject) = (mailboxes(key), mailboxSubject(key))
    // A deleted mailbox counts as none.
    if revision == 0 { return try await stream.add(mailboxes, subject, bytes) }
    return try await stream.replace(mailboxes, subject, bytes, revision)
  }

  /// Uses a replacement, so that no other one comes between. The message in its place is then unneeded, and is deleted
  /// later.
  func remove(_ key: String, revision: UInt64) async throws(ClusterFailure) -> Bool {
    let mailboxes = mailboxes(key)
    guard let deleted = try await stream.replace(mailboxes, mailboxSubject(key), [], revision) else { return false }
    stream.forget(mailboxes, mailboxSubject(key), removal: deleted)
    return true
  }

  /// Writes to each partition: one without a quorum accepts nothing. Returns the time of the first write, in
  /// milliseconds since 1970.
  func probe() async throws(ClusterFailure) -> Int64 {
    let times = try await eachAtOnce(Array(0..<settings.partitions)) {
      [name, stream] (partition) async throws(ClusterFailure) -> Int64 in
      let probe = "\(name).mailbox.\(partition).probe"
      if partition == 0 { return try await stream.time("\(name)_mailboxes_0", probe: probe) }
      _ = try await stream.publish(probe, [])
      return 0
    }
    return times.first ?? 0
  }

  /// Checks that there is room for a message: probes and records are small, and streams may have limits of their own.
  func trial() async throws(ClusterFailure) {
    for partition in 0..<settings.partitions {
      let stored = try await stream.publish("\(name).body.\(partition).probe", [UInt8](repeating: 0, count: 16 << 10))
      stream.deleteSoon("\(name)_bodies_\(partition)", stored)
    }
  }

  /// Deletes what is no longer needed. The message that fills the last room takes a little more than there is, and
  /// nothing is acknowledged until some of it is freed.
  func makeRoom(isFull: Bool) async throws(ClusterFailure) {
    // In other trouble, the node that answers may wrongly consider itself the leader.
    if isFull || stream.isAtRest { try await stream.deleteOutdated() }
    for partition in 0..<settings.partitions {
      try await stream.deleteEarlier("\(name)_mailboxes_\(partition)", "\(name).mailbox.\(partition).probe")
    }
  }

  /// Deletions wait for the stream's next message, so this relay stores one where it has stored none for a while.
  func deleteOutdatedWhereIdle() async throws(ClusterFailure) {
    for partition in 0..<settings.partitions {
      let bodies = "\(name)_bodies_\(partition)"
      guard stream.isAtRest, stream.outdated.isOverdue(bodies) else { continue }
      stream.deleteSoon(bodies, try await stream.publish("\(name).body.\(partition).probe", []))
    }
  }

  // MARK: Bodies

  func addBody(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64 {
    let begin = ContinuousClock.now
    let number = try await stream.publish(bodySubject(key), bytes)
    seen.note(Self.stored(number, bytes), bodies(key), at: begin)
    return number
  }

  func body(
    _ key: String, _ number: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]? {
    let (begin, isAtRest) = (ContinuousClock.now, stream.isAtRest)
    let found = try await stream.message(
      bodies(key), number, probe: "\(name).body.\(partition(key)).probe", isRight: isRight)
    // A node that is cut off from the others may have messages that they have undone.
    if let found, isAtRest { seen.note(Self.stored(number, found), bodies(key), at: begin) }
    return found
  }

  func dropBodies(_ key: String, _ bodies: [StoredBody]) {
    let stream = self.bodies(key)
    for body in bodies {
      self.stream.drop(body, stream, bodySubject(key), seenAt: seen.time(body, stream))
    }
  }

  func dropUnnamedBody(_ key: String, _ body: StoredBody) {
    // With a single node, no other node can have stored the record.
    guard isReplicated else { return dropBodies(key, [body]) }
    let reason = OutdatedMessages.Message.Reason.unnamed(
      message: body.message, stream: mailboxes(key), subject: mailboxSubject(key))
    stream.outdated.note(.init(bodies(key), bodySubject(key), body.number, reason, certainFrom: nil))
  }

  private static func stored(_ number: UInt64, _ bytes: [UInt8]) -> StoredBody {
    StoredBody(number: number, message: Array(bytes.prefix(messageBytes)))
  }

  /// Relays that do not have it do not answer.
  func keptBody(_ key: String, _ message: [UInt8]) async -> [UInt8]? {
    let end = ContinuousClock.now + Self.keptPatience
    return await ExchangeDeadline.$current.withValue(min(end, ExchangeDeadline.current ?? end)) {
      let answer = try? await connection.request(name + ".kept", message + Array(key.utf8))
      return answer.flatMap { $0.status == nil ? $0.data : nil }
    }
  }

  // MARK: Notifications

  func addNotification(_ service: String, _ bytes: [UInt8], attempt: String) async throws(ClusterFailure) {
    guard !added.contains(attempt) else { return }
    _ = try await stream.publish("\(name).notify.\(service)", bytes)
    added.insert(attempt)
  }

  func takeNotifications(_ service: String, limit: Int) async throws(ClusterFailure) -> TakenNotifications {
    let items = try await queues.take(service, limit: limit).map {
      TakenNotifications.Item(number: epoch << 40 | $0.sequence, bytes: $0.bytes, handle: $0.handle)
    }
    // Who gets some asks again, so only that question needs to be answered exactly.
    guard items.isEmpty else { return TakenNotifications(items: items, hasOthers: true) }
    let unacknowledged = try await queues.unacknowledged(service)
    return TakenNotifications(items: [], hasOthers: unacknowledged > 0)
  }

  func acknowledgeNotifications(_ service: String, _ numbers: [UInt64]) async throws(ClusterFailure) {
    let sequences = numbers.filter { $0 >> 40 == epoch }.map(Self.sequence(ofNotification:))
    try await queues.acknowledge(service, sequences)
  }

  /// The sequence number in the stream.
  static func sequence(ofNotification number: UInt64) -> UInt64 { number & 0xff_ffff_ffff }

  func postponeNotification(_ service: String, _ taken: TakenNotifications.Item, milliseconds: Int64) {
    queues.postpone(taken.handle, milliseconds: milliseconds)
  }

  // MARK: Signals

  /// From now on the listener receives signals of all relays, including this one.
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
      try connection.subscribe(name + ".kept") { [weak self, weak listener] message in
        guard let self, let reply = message.reply, message.data.count > 24 else { return }
        let key = String(decoding: message.data.dropFirst(24), as: UTF8.self)
        if let body = listener?.keptBody(key, Array(message.data.prefix(24))) { self.connection.publish(reply, body) }
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

  /// A relay without a listener for the mailbox has no subscription, and the cluster reports when there is none.
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
