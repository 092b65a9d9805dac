import PorterRelayCluster
import Synchronization

/// Queues in one stream, each with a durable consumer that all who take from it share.
final class WorkQueues: Sendable {
  struct Item: Sendable {
    let bytes: [UInt8]
    /// Where it is acknowledged, this time.
    let handle: String
    /// Its place in the stream.
    let sequence: UInt64
    /// How many times it was given.
    let times: Int
  }

  /// An election takes up to 9 s.
  private static let stall = Duration.seconds(15)

  private let stream: JetStream
  private let name: String
  /// Before the queue's name.
  private let subject: String
  /// What is not acknowledged is given again after this time.
  private let leaseSeconds: Int
  private let consumers = Mutex<Set<String>>([])
  /// Since when a queue's consumer does not answer.
  private let stalled = Mutex<[String: ContinuousClock.Instant]>([:])

  /// What a comparison of a queue with its consumer has found.
  private struct Comparison {
    let at: ContinuousClock.Instant
    /// The number of the first message, if the queue has more than its consumer knows of.
    var first: UInt64?
  }

  private let pause: Duration
  private let comparisons = Mutex<[String: Comparison]>([:])

  /// `pause`: between two comparisons of a queue with its consumer.
  init(_ stream: JetStream, name: String, subject: String, leaseSeconds: Int, pause: Duration = .seconds(15)) {
    self.stream = stream
    self.pause = pause
    self.name = name
    self.subject = subject
    self.leaseSeconds = leaseSeconds
  }

  private var connection: NATSConnection { stream.connection }

  /// Does not wait for more to come.
  func take(_ queue: String, limit: Int) async throws(ClusterFailure) -> [Item] {
    do throws(ClusterFailure) {
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

  /// A consumer's nodes of 2.9 can stay without a leader after several were killed. What it has in the queue is not lost with it, and
  /// is given again by another consumer.
  private func replaceConsumer(_ queue: String) async throws(ClusterFailure) {
    stalled.withLock { $0[queue] = nil }
    comparisons.withLock { $0[queue]?.first = nil }
    consumers.withLock { _ = $0.remove(queue) }
    _ = try await connection.request("$JS.API.CONSUMER.DELETE.\(name).\(queue)")
  }

  /// A consumer whose stream has gone back gives nothing up to where it was: its nodes never go back (`PartitionTests`). What it passes over is
  /// given by another one. Nothing is said when this fails: it is done again.
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
    // What was acknowledged between the answers looks the same, but not twice.
    if first == last.first { try? await replaceConsumer(queue) }
  }

  /// The number of the first message, if there are more than the consumer is going to give, or has given and waits for. Nil if not.
  private func passedOver(_ queue: String) async throws(ClusterFailure) -> UInt64? {
    let filter = #"{"subjects_filter":"\#(subject)\#(queue)"}"#
    let stored = Reply(try await connection.request("$JS.API.STREAM.INFO.\(name)", Array(filter.utf8)).data)
    guard stored.errorCode == nil, let count = stored.number(subject + queue), count > 0 else { return nil }
    // Later, so that what is added meanwhile is not taken for one.
    let known = Reply(try await connection.request("$JS.API.CONSUMER.INFO.\(name).\(queue)").data)
    guard known.errorCode == nil, let pending = known.number("num_pending"),
      let unacknowledged = known.number("num_ack_pending"), count > pending + unacknowledged
    else { return nil }
    return try await stream.next(name, subject + queue, after: 0)?.revision
  }

  private func takeNow(_ queue: String, _ limit: Int) async throws(ClusterFailure) -> [Item] {
    if !consumers.withLock({ $0.contains(queue) }) { try await makeConsumer(queue) }
    let query = #"{"batch":\#(limit),"no_wait":true}"#
    let messages = try await connection.request("$JS.API.CONSUMER.MSG.NEXT.\(name).\(queue)", Array(query.utf8)) {
      message, count in message.status != nil || count == limit
    }
    if messages.last?.status == "503" {
      consumers.withLock { _ = $0.remove(queue) }
      throw ClusterFailure("the queue does not answer: no quorum")
    }
    return messages.compactMap { message in
      guard message.status == nil, let handle = message.reply else { return nil }
      return Self.item(message.data, handle)
    }
  }

  private func makeConsumer(_ queue: String) async throws(ClusterFailure) {
    let configuration = """
      {"stream_name":"\(name)","config":{"durable_name":"\(queue)","filter_subject":"\(subject)\(queue)",\
      "deliver_policy":"all","ack_policy":"explicit","ack_wait":\(leaseSeconds * 1_000_000_000),\
      "max_deliver":-1,"max_ack_pending":-1,"max_waiting":512,"replay_policy":"instant"}}
      """
    let reply = Reply(
      try await connection.request("$JS.API.CONSUMER.DURABLE.CREATE.\(name).\(queue)", Array(configuration.utf8)).data)
    guard reply.errorCode == nil else { throw stream.failure(reply, "queue") }
    consumers.withLock { _ = $0.insert(queue) }
  }

  private static func item(_ bytes: [UInt8], _ handle: String) -> Item? {
    Delivery(handle).map { Item(bytes: bytes, handle: handle, sequence: $0.number, times: $0.times) }
  }

  /// How many were given and are not acknowledged.
  func unacknowledged(_ queue: String) async throws(ClusterFailure) -> Int {
    let information = Reply(try await connection.request("$JS.API.CONSUMER.INFO.\(name).\(queue)").data)
    return Int(information.number("num_ack_pending") ?? 0)
  }

  /// The same for every server that the item was given to, and for each time.
  func handle(_ queue: String, _ sequence: UInt64) -> String { "$JS.ACK.\(name).\(queue).1.\(sequence).0.0.0" }

  func acknowledge(_ handles: [String]) async throws(ClusterFailure) {
    let connection = connection
    _ = try await eachAtOnce(handles) { (handle) async throws(ClusterFailure) in
      let answer = try await connection.request(handle, Array("+ACK".utf8))
      guard answer.status == nil else { throw ClusterFailure("the queue takes no acknowledgement: no quorum") }
    }
  }

  func postpone(_ handle: String, milliseconds: Int64) {
    connection.publish(handle, Array(#"-NAK {"delay": \#(milliseconds * 1_000_000)}"#.utf8))
  }

  func extend(_ handle: String) { connection.publish(handle, Array("+WPI".utf8)) }
}

/// What `body` makes of each, in order, all at the same time. Throws one of the failures when all have ended.
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
