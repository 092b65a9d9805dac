import PorterRelayCluster
import PorterServer
import Synchronization

/// Follows the versions of a stream's records with its own consumer, which delivers only the messages' headers unless
/// records are to be known.
final class VersionFollower: Sendable {
  private struct State {
    var subscription: NATSConnection.Subscription?
    /// The newest consumer's turn; messages from earlier consumers are ignored.
    var turn = 0
    /// Turns whose consumers may exist.
    var made: Set<Int> = []
    /// Whether the newest consumer has sent anything.
    var isHeard = false
    /// The last of the consumer's messages, which it numbers without gaps.
    var last: UInt64 = 0
    var heardAt: ContinuousClock.Instant = .now
    var isWanted = true
    /// Since a consumer last sent anything.
    var failures = 0
    var triedAt: ContinuousClock.Instant?

    /// A node that is down may have been chosen for a consumer; each attempt leaves it one to create.
    func mayTry(_ now: ContinuousClock.Instant) -> Bool {
      guard failures > 0, let triedAt else { return true }
      return now - triedAt >= .seconds(1 << min(failures - 1, 3))
    }
  }

  private static let lastByConsumer = "Nats-Last-Consumer"
  private static let heartbeatMilliseconds = 500
  /// A consumer sends at least a heartbeat at each interval.
  private static let silence = Duration.seconds(2)
  /// Consumers beyond this many, oldest first, are not deleted.
  private static let mostMade = 64

  let versions: RecentVersions
  let records: KnownRecords?
  private let connection: NATSConnection
  private let stream: String
  private let name: String
  private let state = Mutex(State())

  /// `name`: the first part of its consumers' names, unique to this process. `patience`: how long to wait for an
  /// acknowledged message. `file`: for the records; nil: they are not known.
  init(
    _ connection: NATSConnection, stream: String, name: String, patience: Duration = .milliseconds(50),
    records file: RecordFile? = nil, numbers: SettledNumbers = SettledNumbers()
  ) {
    (self.connection, self.stream, self.name) = (connection, stream, name)
    let versions = RecentVersions(patience: patience)
    self.versions = versions
    records = file.map { KnownRecords(stream, in: $0, numbers, versions) }
  }

  /// The contents of the stream's replicas may have changed other than by later messages.
  func distrust() { state.withLock { distrust(&$0) } }

  /// Failures while disconnected say nothing about the cluster.
  func noteReconnect() {
    state.withLock { state in
      (state.failures, state.triedAt) = (0, nil)
      distrust(&state)
    }
  }

  private func distrust(_ state: inout State) {
    state.isWanted = true
    forget()
  }

  private func forget() {
    versions.reset()
    records?.forgetAll()
  }

  var isFollowing: Bool { state.withLock { !$0.isWanted && $0.isHeard } }

  /// Call once a second. Without a consumer nothing is known, and the leader is asked. Returns the failure, if any.
  func keep(now: ContinuousClock.Instant = .now) async -> ClusterFailure? {
    var (earlier, failed): (NATSConnection.Subscription?, NATSConnection.Subscription?)
    let (turn, isSilent) = state.withLock { state -> (Int?, Bool) in
      let isSilent = !state.isWanted && now - state.heardAt > Self.silence
      if isSilent {
        state.failures += 1
        distrust(&state)
      }
      guard state.isWanted, state.mayTry(now) else { return (nil, isSilent) }
      earlier = state.subscription
      (state.last, state.heardAt, state.subscription, state.isWanted) = (0, now, nil, false)
      (state.turn, state.triedAt, state.isHeard) = (state.turn + 1, now, false)
      state.made.insert(state.turn)
      if state.made.count > Self.mostMade { state.made.remove(state.made.min() ?? 0) }
      forget()
      return (state.turn, isSilent)
    }
    if let turn {
      do throws(ClusterFailure) { try await makeConsumer(turn) } catch {
        state.withLock { state in
          (failed, state.subscription) = (state.subscription, nil)
          state.failures += 1
          distrust(&state)
        }
        withExtendedLifetime((earlier, failed)) {}
        return error
      }
    } else {
      await deleteEarlier()
    }
    withExtendedLifetime(earlier) {}
    return isSilent ? ClusterFailure("a consumer of \(stream) says nothing") : nil
  }

  private func consumer(_ turn: Int) -> String { "\(name)-\(turn)" }

  /// The consumer ends by itself when nothing is subscribed to its subject.
  private func makeConsumer(_ turn: Int) async throws(ClusterFailure) {
    let subject = connection.freshSubject()
    let headers = [JetStream.replaces, JetStream.follows, JetStream.writer, Self.lastByConsumer]
    let subscription = try connection.subscribe(subject, headers: headers) { [weak self] in self?.take($0, turn) }
    state.withLock { state in if state.turn == turn { state.subscription = subscription } }
    let configuration = """
      {"stream_name":"\(stream)","config":{"name":"\(consumer(turn))","deliver_subject":"\(subject)","deliver_policy":"new","ack_policy":"none",\
      "replay_policy":"instant","headers_only":\(records == nil),"mem_storage":true,"num_replicas":1,\
      "idle_heartbeat":\(Self.heartbeatMilliseconds * 1_000_000),"inactive_threshold":5000000000}}
      """
    let create = "$JS.API.CONSUMER.CREATE.\(stream).\(consumer(turn))"
    let reply = Reply(try await connection.request(create, Array(configuration.utf8)).data)
    guard reply.errorCode == nil else {
      state.withLock { _ = $0.made.remove(turn) }
      throw ClusterFailure("consumer: \(reply.errorText)")
    }
  }

  /// A consumer on a node that is down does not end by itself: once back, the node would look for it and be unhealthy.
  private func deleteEarlier() async {
    let earlier = state.withLock { state in state.isWanted ? nil : state.made.filter { $0 < state.turn }.min() }
    guard let earlier else { return }
    let answer = try? await connection.request("$JS.API.CONSUMER.DELETE.\(stream).\(consumer(earlier))")
    guard let answer, answer.status == nil else { return }
    let reply = Reply(answer.data)
    guard reply.errorCode == nil || reply.errorCode == JetStream.Code.consumerNotFound else { return }
    state.withLock { _ = $0.made.remove(earlier) }
  }

  private func take(_ message: NATSMessage, _ turn: Int) {
    if message.status != nil { return takeHeartbeat(message, turn) }
    guard let delivery = message.reply.flatMap({ Delivery($0) }) else { return }
    let version = KnownRecords.Version(message, delivery)
    state.withLock { state in
      guard state.turn == turn, !state.isWanted else { return }
      (state.heardAt, state.failures, state.isHeard) = (.now, 0, true)
      guard delivery.consumerNumber == state.last + 1 else { return distrust(&state) }
      state.last = delivery.consumerNumber
      guard let records else {
        return versions.note(
          delivery.number, message.subject,
          version.map { .init(number: $0.number, replaced: $0.replaced, writer: $0.writer) })
      }
      records.note(delivery.number, message.subject, version)
    }
  }

  /// A heartbeat names the last message the consumer delivered, so a loss at the end is noticed.
  private func takeHeartbeat(_ message: NATSMessage, _ turn: Int) {
    let last = message.headers[Self.lastByConsumer].flatMap { UInt64($0) }
    state.withLock { state in
      guard state.turn == turn, !state.isWanted else { return }
      (state.heardAt, state.failures, state.isHeard) = (.now, 0, true)
      if let last, last != state.last { distrust(&state) }
    }
  }
}

/// The contents of a consumer message's reply subject:
/// `$JS.ACK.<stream>.<consumer>.<times>.<number>.<consumer's number>.<time>.<pending>`.
struct Delivery {
  let times: Int
  /// Its sequence number in the stream.
  let number: UInt64
  /// Its number among the consumer's deliveries.
  let consumerNumber: UInt64
  /// When the stream took the message, in milliseconds since 1970.
  let storedAt: Int64

  init?(_ reply: String) {
    let parts = reply.utf8.split(separator: UInt8(ascii: "."))
    // Stream and consumer come first, or domain, account, stream and consumer; then there may be more at the end (ADR-15).
    guard parts.count == 9 || parts.count >= 11 else { return nil }
    let start = parts.count == 9 ? 4 : 6
    guard let times = Int(Substring(parts[start])), let number = UInt64(Substring(parts[start + 1])),
      let given = UInt64(Substring(parts[start + 2])), let nanoseconds = Int64(Substring(parts[start + 3])),
      number > 0, max(number, given) <= Reply.mostNumber
    else { return nil }
    (self.times, self.number, consumerNumber, storedAt) = (times, number, given, nanoseconds / 1_000_000)
  }
}

/// The followers of a process, by stream.
final class VersionFollowers: Sendable {
  private let followers: Mutex<[String: VersionFollower]> = Mutex([:])

  func add(_ follower: VersionFollower, _ stream: String) { followers.withLock { $0[stream] = follower } }

  /// Nil if the stream is not followed.
  func versions(_ stream: String) -> RecentVersions? { followers.withLock { $0[stream] }?.versions }

  /// Nil if the stream's records are not known.
  func records(_ stream: String) -> KnownRecords? { followers.withLock { $0[stream] }?.records }

  func distrust(_ stream: String) { followers.withLock { $0[stream] }?.distrust() }
  func noteReconnect() { for follower in followers.withLock({ Array($0.values) }) { follower.noteReconnect() } }

  var areFollowing: Bool { followers.withLock { Array($0.values) }.allSatisfy(\.isFollowing) }

  /// Returns the failures of those that started anew.
  func keep(now: ContinuousClock.Instant = .now) async -> [ClusterFailure] {
    await withTaskGroup(of: ClusterFailure?.self) { group in
      for follower in followers.withLock({ Array($0.values) }) { group.addTask { await follower.keep(now: now) } }
      var failures: [ClusterFailure] = []
      for await case let failure? in group { failures.append(failure) }
      return failures
    }
  }
}
