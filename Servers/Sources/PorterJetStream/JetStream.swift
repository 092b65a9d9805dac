import PorterRelayCluster
import PorterServer
import PorterTelemetry

/// JetStream's interface, as far as it is used here. `spec/protocol/relay-cluster.md` describes the use.
struct JetStream: Sendable {
  /// `err_code` values of JetStream's answers.
  enum Code {
    static let wrongLastSequence = 10_071
    static let noMessage = 10_037
    static let deleteFailed = 10_057
    static let consumerNotFound = 10_014
    /// The message was deleted before, in the middle of a stream.
    static let sequenceNotFound = 10_043
    static let replicasNotSupported = 10_074
    static let streamNotFound = 10_059
    /// A limit of the account, the node, or the account's storage: the leader accepts nothing.
    static let full = [10_002, 10_023, 10_047]
    /// The leader's store has refused the message, for the reason in the text.
    static let storeFailed = 10_077
  }

  struct Stream: Sendable {
    var name: String
    var subject: String
    var replicas: Int
    /// Each subject is a record, with several versions for a few seconds (`JetStream+Records`).
    var hasRecords = false
    var isQueue = false
    var days = 0

    /// More than one record gets within the time a replacement takes. Versions are deleted long before; those left
    /// behind by an ended relay make room one after the other.
    static let mostVersions = 1_024

    /// In JetStream's format.
    var configuration: String {
      let nanoseconds = days * 86_400 * 1_000_000_000
      return """
        {"name":"\(name)","subjects":["\(subject)"],"num_replicas":\(replicas),"storage":"file","discard":"new",\
        "retention":"\(isQueue ? "workqueue" : "limits")","max_age":\(nanoseconds),\
        "max_msgs_per_subject":\(hasRecords ? Self.mostVersions : -1),"max_msgs":-1,"max_bytes":-1,"max_consumers":-1,\
        "allow_direct":\(!isQueue),"duplicate_window":100000000}
        """
    }
  }

  /// How often one of the replicas is asked, chosen at random: all of three are reached with a probability of 97 in
  /// 100.
  private static let mostReplicas = 10
  private static let replicaPatience = Duration.milliseconds(200)

  let connection: NATSConnection
  let watch: StreamWatch
  let outdated = OutdatedMessages()
  let settledNumbers = SettledNumbers()
  let followers = VersionFollowers()
  let deletions = DeletionGate()
  let confirmed = ConfirmedVersions()
  /// Included in the messages that this process stores.
  let writer = String(UInt64.random(in: .min ... .max), radix: 36)

  private static let followerInterval = Duration.seconds(1)

  /// Nodes announce each leader they elect. Without this, no leader is known to have led for a long time.
  private let elections: NATSConnection.Subscription?

  /// Replaced versions that are present so long after a scan found them have been left: servers delete theirs in two
  /// rounds.
  let leftAfter: Duration

  /// How long a removal stays after what it removed was deleted.
  let removalsKept: Duration

  init(
    connection: NATSConnection, watch: StreamWatch, leftAfter: Duration = .seconds(600),
    removalsKept: Duration = .zero
  ) {
    (self.connection, self.watch, self.leftAfter, self.removalsKept) = (connection, watch, leftAfter, removalsKept)
    let (settledNumbers, followers) = (settledNumbers, followers)
    let subject = "$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED."
    elections = try? connection.subscribe(subject + "*") { message in
      let stream = String(message.subject.dropFirst(subject.utf8.count))
      settledNumbers.noteElection(stream)
      followers.distrust(stream)
    }
  }

  /// Whether one node has led the stream ever since, as far as can be seen: then it has undone nothing that it had
  /// acknowledged.
  func hasOneLeader(_ stream: String, since time: ContinuousClock.Instant) -> Bool {
    elections != nil && settledNumbers.hasOneLeader(stream, since: time)
  }

  /// Nothing has failed, and no node was elected, for as long as a node can wrongly consider itself the leader.
  var isAtRest: Bool { settledNumbers.rest <= .now }

  /// Keeps the versions of these streams' records known, until the task is cancelled; and the records themselves of those
  /// with a file, named `known`, for which it publishes to the subject given there when no message was acknowledged.
  func follow(
    _ streams: [String], known: [String: (file: RecordFile, probe: String)] = [:], _ log: LogWriter
  ) async {
    // Without announced elections, nothing could be known for long.
    let known = elections == nil ? [:] : known
    for stream in streams {
      followers.add(
        VersionFollower(
          connection, stream: stream, name: writer, records: known[stream]?.file, numbers: settledNumbers), stream)
    }
    var isFailing = false
    while !Task.isCancelled {
      if let failure = await followers.keep().first, !isFailing {
        isFailing = true
        log(.warning, "records cannot be followed, and cost the cluster more", ["reason": failure.description])
      } else if isFailing, followers.areFollowing {
        isFailing = false
        log(.info, "records are followed again")
      }
      for (stream, (_, probe)) in known where settledNumbers.isQuiet(stream) {
        Task.detached { _ = try? await publish(probe, []) }
      }
      scanIfDue(Array(known.keys), log)
      try? await Task.sleep(for: Self.followerInterval)
    }
  }

  /// The connection was lost, and messages with it.
  func noteReconnect() {
    settledNumbers.noteTrouble()
    followers.noteReconnect()
  }

  // MARK: Streams

  /// Nil if there is no such stream.
  func replicas(of name: String) async throws(ClusterFailure) -> Int? {
    let known = Reply(try await connection.request("$JS.API.STREAM.INFO.\(name)").data)
    if known.errorCode == Code.streamNotFound { return nil }
    guard known.errorCode == nil, let replicas = known.number("num_replicas") else {
      throw failure(known, "stream \(name)")
    }
    return Int(clamping: replicas)
  }

  /// Creates the stream if it does not exist. Returns its creation time.
  @discardableResult
  func prepare(_ stream: Stream) async throws(ClusterFailure) -> String {
    let known = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream.name)").data)
    if known.errorCode == nil, let created = known.text("created") {
      guard !stream.hasRecords || known.number("max_msgs_per_subject") == UInt64(Stream.mostVersions) else {
        throw ClusterFailure("stream \(stream.name) was made by another version")
      }
      return created
    }
    guard known.errorCode == Code.streamNotFound else { throw failure(known, "stream \(stream.name)") }
    let made = Reply(
      try await connection.request("$JS.API.STREAM.CREATE.\(stream.name)", Array(stream.configuration.utf8)).data)
    guard made.errorCode == nil, let created = made.text("created") else {
      throw failure(made, "stream \(stream.name)")
    }
    return created
  }

  /// Whether this cluster supports replicas.
  func hasReplicas(_ name: String) async throws(ClusterFailure) -> Bool {
    let probe = Stream(name: name + "_probe", subject: name + ".probe", replicas: 3)
    let made = Reply(
      try await connection.request("$JS.API.STREAM.CREATE.\(probe.name)", Array(probe.configuration.utf8)).data)
    if made.errorCode == Code.replicasNotSupported { return false }
    guard made.errorCode == nil else { throw failure(made, "replicas") }
    _ = try await connection.request("$JS.API.STREAM.DELETE.\(probe.name)")
    return true
  }

  func lost(_ stream: String) -> ClusterFailure {
    watch.lost(stream)
    // Their numbers may belong to other messages now. A body names its message, so bodies stay noted.
    outdated.forgetVersions(stream)
    followers.distrust(stream)
    settledNumbers.forget(stream)
    settledNumbers.noteTrouble()
    return ClusterFailure("stream \(stream) has lost messages")
  }

  func failure(_ reply: Reply, _ what: String) -> ClusterFailure {
    ClusterFailure("\(what): \(reply.errorText)", lacksRoom: reply.lacksRoom)
  }

  // MARK: Messages

  /// Returns the sequence number.
  ///
  /// No message has an identifier (`Nats-Msg-Id`), or expects its subject to be empty. A replica of nats-server 2.9
  /// refuses such a message while applying it, and counts its refusals. When a replica restarts, the counts diverge,
  /// and replicas then skip messages that others have acknowledged.
  func publish(_ subject: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64 {
    guard let sequence = try await send(subject, bytes, []) else { throw ClusterFailure("publish: refused") }
    return sequence
  }

  /// Nil if the leader's comparison failed: the last message was another one.
  func send(
    _ subject: String, _ bytes: [UInt8], _ headers: [(name: String, value: String)]
  ) async throws(ClusterFailure) -> UInt64? {
    try await noting { () async throws(ClusterFailure) in try await sendNow(subject, bytes, headers) }
  }

  private func sendNow(
    _ subject: String, _ bytes: [UInt8], _ headers: [(name: String, value: String)]
  ) async throws(ClusterFailure) -> UInt64? {
    let marks = watch.marks
    let message = try await connection.request(subject, bytes, headers: headers)
    let reply = Reply(message.data)
    if reply.errorCode == Code.wrongLastSequence { return nil }
    guard message.status == nil, reply.errorCode == nil, let sequence = reply.number("seq"), sequence > 0 else {
      throw message.status == "503" ? ClusterFailure("no stream takes messages: no quorum") : failure(reply, "publish")
    }
    if let stream = reply.text("stream") {
      if !watch.acknowledged(stream, sequence, after: marks) { _ = lost(stream) }
      settledNumbers.note(stream, sequence)
      deleteOutdatedSoon(stream)
    }
    return sequence
  }

  /// Deletes all but the newest message of the subject, and leaves the rest of many for the next time.
  ///
  /// One by one: a replica of nats-server 2.9 that restarts applies the purge of one subject in its log again, to all
  /// subjects, and so loses every message before it.
  func deleteEarlier(_ stream: String, _ subject: String) async throws(ClusterFailure) {
    guard let newest = try await get(stream, #"{"last_by_subj":"\#(subject)"}"#)?.number("seq") else { return }
    var position: UInt64 = 0
    for _ in 0..<Self.deletionsAtOnce {
      let query = #"{"seq":\#(position + 1),"next_by_subj":"\#(subject)"}"#
      guard let found = try await get(stream, query)?.number("seq"), found < newest else { return }
      _ = try await delete(stream, found)
      position = found
    }
  }

  private static let deletionsAtOnce = 64

  /// The time at which the cluster stores a message, by its leader's clock, in milliseconds since 1970.
  func time(_ stream: String, probe: String) async throws(ClusterFailure) -> Int64 {
    let sequence = try await publish(probe, [])
    guard let time = try await get(stream, #"{"seq":\#(sequence)}"#)?.time("time") else {
      throw ClusterFailure("the leader of \(stream) lags")
    }
    return time
  }

  func lastSequence(_ stream: String) async throws(ClusterFailure) -> UInt64 {
    let information = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream)").data)
    guard let last = information.number("last_seq") else { throw failure(information, "stream \(stream)") }
    return last
  }

  /// Counts all stored messages' subjects: nodes maintain the number.
  func subjectCount(_ stream: String) async throws(ClusterFailure) -> UInt64 {
    let information = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream)").data)
    guard information.errorCode == nil, information.number("last_seq") != nil else {
      throw failure(information, "stream \(stream)")
    }
    // The member is missing if there are none.
    return information.number("num_subjects") ?? 0
  }

  /// According to the stream's leader.
  func bytes(_ stream: String, _ sequence: UInt64) async throws(ClusterFailure) -> [UInt8]? {
    try await get(stream, #"{"seq":\#(sequence)}"#).map { $0.data("data") ?? [] }
  }

  /// The stream leader's answer; nil if there is no such message.
  func get(_ stream: String, _ query: String) async throws(ClusterFailure) -> Reply? {
    try await noting { () async throws(ClusterFailure) in try await getNow(stream, query) }
  }

  private func noting<Value>(
    _ body: () async throws(ClusterFailure) -> sending Value
  ) async throws(ClusterFailure) -> sending Value {
    do throws(ClusterFailure) { return try await body() } catch {
      // Also if only the exchange's own time was over: what it asked for may have been carried out or not. An exchange
      // whose time was over before has asked for nothing.
      if !error.isUnsent { settledNumbers.noteFailure() }
      throw error
    }
  }

  private func getNow(_ stream: String, _ query: String) async throws(ClusterFailure) -> Reply? {
    let message = try await connection.request("$JS.API.STREAM.MSG.GET.\(stream)", Array(query.utf8))
    let reply = Reply(message.data)
    if reply.errorCode == Code.noMessage { return nil }
    guard message.status == nil, reply.errorCode == nil, reply.number("seq") != nil else {
      throw message.status == "503" ? ClusterFailure("no stream answers: no quorum") : failure(reply, "get")
    }
    return reply
  }

  /// A message never changes, so any replica that has it may answer. Only the leader may report it missing, and only
  /// after it has accepted a later message, twice: by then there may be another leader, which lags for a moment. Nil if
  /// the message is gone; a replica that does not answer may have it.
  func message(
    _ stream: String, _ sequence: UInt64, probe: String, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]? {
    if let message = await anyReplica(stream, sequence), isRight(message) { return message }
    for _ in 0..<2 {
      let later = try await publish(probe, [])
      deleteSoon(stream, later)
      guard later > sequence else { throw lost(stream) }
      if let message = try await bytes(stream, sequence), isRight(message) { return message }
    }
    switch await replicas(stream, sequence, isRight) {
    case .message(let message): return message
    case .missing: return nil
    case .unknown: throw ClusterFailure("a replica of \(stream) does not answer", isOwn: true)
    }
  }

  /// A replica's answer, or those of several together.
  private enum Copy: Sendable {
    case message([UInt8])
    case missing
    case unknown
  }

  /// A leader of 2.9 that was cut off from the others can come back without messages that they have
  /// (`test_replicas.py`). So each replica is asked, with high probability, and all at the same time: a
  /// frozen one does not answer, and the exchange needs its remaining time to ask the other relays.
  private func replicas(
    _ stream: String, _ sequence: UInt64, _ isRight: @Sendable ([UInt8]) -> Bool
  ) async -> Copy {
    let end = min(.now + Self.replicaPatience, ExchangeDeadline.current ?? .now + Self.replicaPatience)
    return await ExchangeDeadline.$current.withValue(end) {
      await withTaskGroup(of: Copy.self) { group in
        for _ in 0..<Self.mostReplicas { group.addTask { await copy(stream, sequence) } }
        var all = Copy.missing
        for await each in group {
          switch each {
          case .message(let message) where isRight(message): return each
          case .message, .missing: break
          case .unknown: all = .unknown
          }
        }
        return all
      }
    }
  }

  private func anyReplica(_ stream: String, _ sequence: UInt64) async -> [UInt8]? {
    guard case .message(let message) = await copy(stream, sequence) else { return nil }
    return message
  }

  private func copy(_ stream: String, _ sequence: UInt64) async -> Copy {
    let query = Array(#"{"seq":\#(sequence)}"#.utf8)
    guard let message = try? await connection.request("$JS.API.DIRECT.GET.\(stream)", query) else { return .unknown }
    switch message.status {
    case nil: return .message(message.data)
    case "404": return .missing
    default: return .unknown
    }
  }

  /// False if there is no such message.
  func delete(_ stream: String, _ sequence: UInt64) async throws(ClusterFailure) -> Bool {
    let message = try await connection.request(Self.deletion(stream), Self.query(sequence))
    let reply = Reply(message.data)
    if let code = reply.errorCode, [Code.deleteFailed, Code.noMessage, Code.sequenceNotFound].contains(code) {
      return false
    }
    guard message.status == nil, reply.errorCode == nil else { throw failure(reply, "delete") }
    return true
  }

  /// Does not wait for an answer.
  func deleteSoon(_ stream: String, _ sequence: UInt64) {
    connection.publish(Self.deletion(stream), Self.query(sequence))
  }

  private static func deletion(_ stream: String) -> String { "$JS.API.STREAM.MSG.DELETE.\(stream)" }
  private static func query(_ sequence: UInt64) -> [UInt8] { Array(#"{"seq":\#(sequence),"no_erase":true}"#.utf8) }
}
