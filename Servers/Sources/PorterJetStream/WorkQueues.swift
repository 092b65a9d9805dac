import PorterRelayCluster
import Synchronization

/// Queues in one stream, each with a durable consumer shared by all its takers.
final class WorkQueues: Sendable {
  struct Item: Sendable {
    let bytes: [UInt8]
    /// The acknowledgement subject of this delivery.
    let handle: String
    /// Its sequence number in the stream.
    let sequence: UInt64
    /// The number of deliveries so far.
    let times: Int
    /// When the stream took it, in milliseconds since 1970.
    let addedAt: Int64
  }

  /// An election takes up to 9 s.
  private static let stall = Duration.seconds(15)
  /// Nodes delete a consumer that has had no request for this long. A client needs only a key to name a queue, and each
  /// consumer is a group of nodes with files of its own.
  static let disuse = Duration.seconds(3_600)

  private let stream: JetStream
  private let name: String
  /// The prefix of queue names in subjects.
  private let subject: String
  /// Unacknowledged items are redelivered after this time.
  private let leaseSeconds: Int
  /// When this process last asked each queue's consumer.
  private let consumers = Mutex<[String: ContinuousClock.Instant]>([:])
  /// The time since which each queue's consumer has not answered.
  private let stalled = Mutex<[String: ContinuousClock.Instant]>([:])

  /// The result of comparing a queue with its consumer.
  private struct Comparison {
    let at: ContinuousClock.Instant
    /// The number of the first message, if the queue has more messages than its consumer knows of.
    var first: UInt64?
  }

  private let pause: Duration
  private let disuse: Duration
  private let comparisons = Mutex<[String: Comparison]>([:])

  /// `pause`: the time between two comparisons of a queue with its consumer.
  init(
    _ stream: JetStream, name: String, subject: String, leaseSeconds: Int, pause: Duration = .seconds(15),
    disuse: Duration = disuse
  ) {
    self.stream = stream
    (self.pause, self.disuse) = (pause, disuse)
    self.name = name
    self.subject = subject
    self.leaseSeconds = leaseSeconds
  }

  private var connection: NATSConnection { stream.connection }

  /// Does not wait for more items.
  func take(_ queue: String, limit: Int) async throws(ClusterFailure) -> [Item] {
    do throws(ClusterFailure) {
      guard try await prepare(queue) else { return [] }
      let taken = try await takeNow(queue, limit)
      stalled.withLock { $0[queue] = nil }
      if taken.isEmpty { await compare(queue) }
      return taken
    } catch {
      let since = stalled.withLock { stalled in
        let since = stalled[queue] ?? .now
        stalled[queue] = since
        return since
      }
      if ContinuousClock.now - since > Self.stall { try await replaceConsumer(queue) }
      throw error
    }
  }

  /// A consumer can stay without a leader on nodes of 2.9 after several were killed. Its items remain in the queue, and
  /// another consumer delivers them.
  private func replaceConsumer(_ queue: String) async throws(ClusterFailure) {
    stalled.withLock { $0[queue] = nil }
    comparisons.withLock { $0[queue]?.first = nil }
    consumers.withLock { $0[queue] = nil }
    _ = try await connection.request("$JS.API.CONSUMER.DELETE.\(name).\(queue)")
  }

  /// A consumer whose stream has gone back delivers nothing up to its old position: its nodes never go back
  /// (`PartitionTests`). Another consumer delivers what it skips. Failures are ignored because the comparison is
  /// repeated.
  private func compare(_ queue: String) async {
    let now = ContinuousClock.now
    let last = comparisons.withLock { comparisons -> Comparison? in
      let last = comparisons[queue]
      if let last, now - last.at < pause { return nil }
      comparisons[queue] = Comparison(at: now, first: nil)
      return last ?? Comparison(at: now, first: nil)
    }
    guard let last, let first = try? await passedOver(queue) else { return }
    comparisons.withLock { $0[queue]?.first = first }
    // Messages acknowledged between the two answers look the same, but not twice.
    if first == last.first { try? await replaceConsumer(queue) }
  }

  /// The number of the first message, if there are more than the consumer will deliver or has delivered unacknowledged.
  /// Nil if not.
  private func passedOver(_ queue: String) async throws(ClusterFailure) -> UInt64? {
    let filter = #"{"subjects_filter":"\#(subject)\#(queue)"}"#
    let stored = Reply(try await connection.request("$JS.API.STREAM.INFO.\(name)", Array(filter.utf8)).data)
    guard stored.errorCode == nil, let count = stored.number(subject + queue), count > 0 else { return nil }
    // Asked second, so that a message added in between is not mistaken for a skipped one.
    let known = Reply(try await connection.request("$JS.API.CONSUMER.INFO.\(name).\(queue)").data)
    guard known.errorCode == nil, let pending = known.number("num_pending"),
      let unacknowledged = known.number("num_ack_pending"), count > pending + unacknowledged
    else { return nil }
    return try await stream.next(name, subject + queue, after: 0)?.revision
  }

  /// One that may be unused counts as missing before the nodes delete it: its absence looks like a failure.
  private func hasConsumer(_ queue: String) -> Bool {
    consumers.withLock { consumers in
      guard let asked = consumers[queue] else { return false }
      if ContinuousClock.now - asked < disuse / 2 { return true }
      consumers[queue] = nil
      return false
    }
  }

  /// Returns false if there is nothing in the queue, and perhaps no consumer: naming a queue takes no more than a key,
  /// and each consumer costs the nodes a group of their own.
  private func prepare(_ queue: String) async throws(ClusterFailure) -> Bool {
    if hasConsumer(queue) { return true }
    guard try await stream.get(name, #"{"last_by_subj":"\#(subject)\#(queue)"}"#) != nil else { return false }
    try await makeConsumer(queue)
    return true
  }

  /// The subjects on which servers ask for work: of queues that were never used they ask for the last item.
  static func requests(_ name: String) -> [String] {
    ["$JS.API.CONSUMER.MSG.NEXT.\(name)_push_work.*", "$JS.API.STREAM.MSG.GET.\(name)_push_work"]
  }

  private func takeNow(_ queue: String, _ limit: Int) async throws(ClusterFailure) -> [Item] {
    let asked = ContinuousClock.now
    let query = #"{"batch":\#(limit),"no_wait":true}"#
    let messages = try await connection.request("$JS.API.CONSUMER.MSG.NEXT.\(name).\(queue)", Array(query.utf8)) {
      message, count in message.status != nil || count == limit
    }
    if messages.last?.status == "503" {
      consumers.withLock { $0[queue] = nil }
      throw ClusterFailure("the queue does not answer: no quorum")
    }
    consumers.withLock { if $0[queue] != nil { $0[queue] = asked } }
    return messages.compactMap { message in
      guard message.status == nil, let handle = message.reply else { return nil }
      return Self.item(message.data, handle)
    }
  }

  private func makeConsumer(_ queue: String) async throws(ClusterFailure) {
    let configuration = """
      {"stream_name":"\(name)","config":{"durable_name":"\(queue)","filter_subject":"\(subject)\(queue)",\
      "deliver_policy":"all","ack_policy":"explicit","ack_wait":\(leaseSeconds * 1_000_000_000),\
      "max_deliver":-1,"max_ack_pending":-1,"max_waiting":512,"replay_policy":"instant",\
      "inactive_threshold":\(disuse.components.seconds * 1_000_000_000)}}
      """
    let reply = Reply(
      try await connection.request("$JS.API.CONSUMER.DURABLE.CREATE.\(name).\(queue)", Array(configuration.utf8)).data)
    guard reply.errorCode == nil else { throw stream.failure(reply, "queue") }
    forgetUnused()
    consumers.withLock { $0[queue] = .now }
  }

  private func forgetUnused() {
    let oldest = ContinuousClock.now - disuse
    consumers.withLock { $0 = $0.filter { $0.value > oldest } }
    stalled.withLock { $0 = $0.filter { $0.value > oldest } }
    comparisons.withLock { $0 = $0.filter { $0.value.at > oldest } }
  }

  private static func item(_ bytes: [UInt8], _ handle: String) -> Item? {
    Delivery(handle).map {
      Item(bytes: bytes, handle: handle, sequence: $0.number, times: $0.times, addedAt: $0.storedAt)
    }
  }

  /// The number of items delivered but not acknowledged.
  func unacknowledged(_ queue: String) async throws(ClusterFailure) -> Int {
    let information = Reply(try await connection.request("$JS.API.CONSUMER.INFO.\(name).\(queue)").data)
    return Int(information.number("num_ack_pending") ?? 0)
  }

  /// Acknowledges items by their sequence numbers, which are the same for every server they were delivered to, and for
  /// each delivery.
  func acknowledge(_ queue: String, _ sequences: [UInt64]) async throws(ClusterFailure) {
    // Without a consumer nothing takes an acknowledgement. What another one had delivered is delivered again.
    guard !sequences.isEmpty, try await prepare(queue) else { return }
    try await acknowledge(sequences.map { "$JS.ACK.\(name).\(queue).1.\($0).0.0.0" })
  }

  func acknowledge(_ handles: [String]) async throws(ClusterFailure) {
    let connection = connection
    _ = try await eachAtOnce(handles) { (handle) async throws(ClusterFailure) in
      let answer = try await connection.request(handle, Array("+ACK".utf8))
      guard answer.status == nil else { throw ClusterFailure("the queue takes no acknowledgement: no quorum") }
    }
  }

  /// Does not wait for an answer.
  func acknowledgeSoon(_ handle: String) { connection.publish(handle, Array("+ACK".utf8)) }

  func postpone(_ handle: String, milliseconds: Int64) {
    connection.publish(handle, Array(#"-NAK {"delay": \#(milliseconds * 1_000_000)}"#.utf8))
  }

  func extend(_ handle: String) { connection.publish(handle, Array("+WPI".utf8)) }
}

/// The results of `body` for each item, in order, all run concurrently. Throws one of the failures once all have ended.
func eachAtOnce<Item: Sendable, Value: Sendable>(
  _ items: [Item], _ body: @escaping @Sendable (Item) async throws(ClusterFailure) -> Value
) async throws(ClusterFailure) -> [Value] {
  let results = await withTaskGroup(of: (Int, Result<Value, ClusterFailure>).self) { group in
    for (index, item) in items.enumerated() {
      group.addTask {
        do throws(ClusterFailure) { return (index, .success(try await body(item))) } catch {
          return (index, .failure(error))
        }
      }
    }
    var results: [(Int, Result<Value, ClusterFailure>)] = []
    for await result in group { results.append(result) }
    return results
  }
  var values: [Value] = []
  for (_, result) in results.sorted(by: { $0.0 < $1.0 }) { values.append(try result.get()) }
  return values
}
