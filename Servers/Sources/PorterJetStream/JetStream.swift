import PorterRelayCluster

/// JetStream's interface, as far as it is used here. `spec/protocol/relay-cluster.md` says what for.
struct JetStream: Sendable {
  /// `err_code` of JetStream's answers.
  enum Code {
    static let wrongLastSequence = 10_071
    static let noMessage = 10_037
    static let deleteFailed = 10_057
    static let replicasNotSupported = 10_074
    static let streamNotFound = 10_059
  }

  struct Stream: Sendable {
    var name: String
    var subject: String
    var replicas: Int
    /// The newest only.
    var isLastOfSubject = false
    /// For how long a message with the identifier of another one is refused.
    var memory = Duration.milliseconds(100)
    var isQueue = false
    var days = 0

    /// As JetStream takes it.
    var configuration: String {
      let nanoseconds = days * 86_400 * 1_000_000_000
      let window = Int(memory / .nanoseconds(1))
      return """
        {"name":"\(name)","subjects":["\(subject)"],"num_replicas":\(replicas),"storage":"file","discard":"new",\
        "retention":"\(isQueue ? "workqueue" : "limits")","max_age":\(nanoseconds),\
        "max_msgs_per_subject":\(isLastOfSubject ? 1 : -1),"max_msgs":-1,"max_bytes":-1,"max_consumers":-1,\
        "allow_direct":\(!isQueue),"duplicate_window":\(window)}
        """
    }
  }

  let connection: NATSConnection

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

  /// Makes the stream unless it is there; when it was made.
  @discardableResult
  func prepare(_ stream: Stream) async throws(ClusterFailure) -> String {
    let known = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream.name)").data)
    if known.errorCode == nil, let created = known.text("created") { return created }
    guard known.errorCode == Code.streamNotFound else { throw failure(known, "stream \(stream.name)") }
    let made = Reply(
      try await connection.request("$JS.API.STREAM.CREATE.\(stream.name)", Array(stream.configuration.utf8)).data)
    guard made.errorCode == nil, let created = made.text("created") else {
      throw failure(made, "stream \(stream.name)")
    }
    return created
  }

  /// Whether this is a cluster that can have replicas.
  func hasReplicas(_ name: String) async throws(ClusterFailure) -> Bool {
    let probe = Stream(name: name + "_probe", subject: name + ".probe", replicas: 3)
    let made = Reply(
      try await connection.request("$JS.API.STREAM.CREATE.\(probe.name)", Array(probe.configuration.utf8)).data)
    if made.errorCode == Code.replicasNotSupported { return false }
    guard made.errorCode == nil else { throw failure(made, "replicas") }
    _ = try await connection.request("$JS.API.STREAM.DELETE.\(probe.name)")
    return true
  }

  func failure(_ reply: Reply, _ what: String) -> ClusterFailure { ClusterFailure("\(what): \(reply.errorText)") }

  // MARK: Messages

  /// The sequence number. A second message with the same identifier within minutes is not stored.
  func publish(
    _ subject: String, _ bytes: [UInt8], identifier: String? = nil
  ) async throws(ClusterFailure) -> UInt64 {
    let headers = identifier.map { [(name: "Nats-Msg-Id", value: $0)] } ?? []
    guard let sequence = try await send(subject, bytes, headers)?.sequence else {
      throw ClusterFailure("publish: refused")
    }
    return sequence
  }

  /// Compare-and-set. Nil if the subject's last message is not `after`, 0 for none.
  ///
  /// The header alone is none in a cluster of nats-server 2.9 and 2.10: the leader compares before it orders the message among
  /// others, so two that arrive together both pass. What every replica does in the same order is to drop a second message with one
  /// identifier, so each revision has one successor; and to compare, where none is expected.
  func publish(
    _ subject: String, _ bytes: [UInt8], after last: UInt64
  ) async throws(ClusterFailure) -> UInt64? {
    var headers = [(name: "Nats-Expected-Last-Subject-Sequence", value: String(last))]
    if last > 0 { headers.append(("Nats-Msg-Id", String(last))) }
    guard let stored = try await send(subject, bytes, headers), !stored.isRepeat else { return nil }
    return stored.sequence
  }

  /// Nil if a comparison failed.
  private func send(
    _ subject: String, _ bytes: [UInt8], _ headers: [(name: String, value: String)]
  ) async throws(ClusterFailure) -> (sequence: UInt64, isRepeat: Bool)? {
    let message = try await connection.request(subject, bytes, headers: headers)
    let reply = Reply(message.data)
    if reply.errorCode == Code.wrongLastSequence { return nil }
    guard message.status == nil, reply.errorCode == nil, let sequence = reply.number("seq"), sequence > 0 else {
      throw message.status == "503" ? ClusterFailure("no stream takes messages: no quorum") : failure(reply, "publish")
    }
    return (sequence, reply.isTrue("duplicate"))
  }

  /// The newest message of a subject, as the leader of the stream knows it.
  func newest(_ stream: String, _ subject: String) async throws(ClusterFailure) -> StoredRecord? {
    try await leaderMessage(stream, #"{"last_by_subj":"\#(subject)"}"#)
  }

  /// The first message of these subjects that comes after this one in the stream.
  func next(
    _ stream: String, _ subjects: String, after sequence: UInt64
  ) async throws(ClusterFailure) -> (subject: String, revision: UInt64, isEmpty: Bool)? {
    let query = #"{"seq":\#(sequence + 1),"next_by_subj":"\#(subjects)"}"#
    let message = try await connection.request("$JS.API.STREAM.MSG.GET.\(stream)", Array(query.utf8))
    let reply = Reply(message.data)
    if reply.errorCode == Code.noMessage { return nil }
    guard message.status == nil, reply.errorCode == nil, let subject = reply.text("subject"),
      let sequence = reply.number("seq")
    else {
      throw message.status == "503" ? ClusterFailure("no stream answers: no quorum") : failure(reply, "get")
    }
    return (subject, sequence, reply.data("data")?.isEmpty ?? true)
  }

  func lastSequence(_ stream: String) async throws(ClusterFailure) -> UInt64 {
    let information = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream)").data)
    guard let last = information.number("last_seq") else { throw failure(information, "stream \(stream)") }
    return last
  }

  private func leaderMessage(_ stream: String, _ query: String) async throws(ClusterFailure) -> StoredRecord? {
    let message = try await connection.request("$JS.API.STREAM.MSG.GET.\(stream)", Array(query.utf8))
    let reply = Reply(message.data)
    if reply.errorCode == Code.noMessage { return nil }
    guard message.status == nil, reply.errorCode == nil, let sequence = reply.number("seq") else {
      throw message.status == "503" ? ClusterFailure("no stream answers: no quorum") : failure(reply, "get")
    }
    return StoredRecord(bytes: reply.data("data") ?? [], revision: sequence)
  }

  /// A message never changes, so any replica that has it may answer; that it is not there, only the leader may say, and only if it
  /// has come as far. Nil if the message is gone.
  func message(
    _ stream: String, _ sequence: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]? {
    let query = #"{"seq":\#(sequence)}"#
    if let message = try? await connection.request("$JS.API.DIRECT.GET.\(stream)", Array(query.utf8)),
      message.status == nil, isRight(message.data)
    {
      return message.data
    }
    if let message = try await leaderMessage(stream, query)?.bytes, isRight(message) { return message }
    let information = Reply(try await connection.request("$JS.API.STREAM.INFO.\(stream)").data)
    guard let last = information.number("last_seq"), last >= sequence else {
      throw ClusterFailure("a message is not there yet")
    }
    return nil
  }

  /// False if there is no such message.
  func delete(_ stream: String, _ sequence: UInt64) async throws(ClusterFailure) -> Bool {
    let message = try await connection.request(
      "$JS.API.STREAM.MSG.DELETE.\(stream)", Array(#"{"seq":\#(sequence),"no_erase":true}"#.utf8))
    let reply = Reply(message.data)
    if reply.errorCode == Code.deleteFailed || reply.errorCode == Code.noMessage { return false }
    guard message.status == nil, reply.errorCode == nil else { throw failure(reply, "delete") }
    return true
  }

  /// Without an answer.
  func deleteSoon(_ stream: String, _ sequence: UInt64) {
    connection.publish(
      "$JS.API.STREAM.MSG.DELETE.\(stream)", Array(#"{"seq":\#(sequence),"no_erase":true}"#.utf8))
  }
}
