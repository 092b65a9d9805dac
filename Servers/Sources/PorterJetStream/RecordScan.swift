import PorterRelayCluster
import PorterTelemetry

/// Reads a stream's records once after the start, and after knowledge has ended: each that is not known costs the
/// leader's files when its first push comes (`KnownRecords`). Finds also the versions that were replaced, but not
/// deleted, by servers that ended.
extension JetStream {
  private static let scanned = 200
  private static let mostFailures = 10

  /// Call once a second.
  func scanIfDue(_ streams: [String], _ log: LogWriter) {
    for stream in streams {
      guard let records = followers.records(stream), let scan = records.beginScan() else { continue }
      // Detached: takes minutes with millions of records.
      Task.detached { await self.scan(stream, records, scan, log) }
    }
  }

  private func scan(_ stream: String, _ records: KnownRecords, _ scan: KnownRecords.Scan, _ log: LogWriter) async {
    var (position, failures, turn): (UInt64, Int, Int) = (0, 0, 0)
    var (present, replaced): ([UInt64], [UInt64]) = ([], [])
    while position < scan.end, failures < Self.mostFailures {
      turn += 1
      let consumer = "\(writer)-scan-\(turn)"
      do throws(ClusterFailure) {
        try await makeScanner(consumer, stream, after: position)
        while position < scan.end {
          let began = ContinuousClock.now
          let found = try await scanned(consumer, stream)
          guard records.noteScanned(found.versions, by: scan) else {
            return await deleteScanner(consumer, stream)
          }
          present += found.versions.map(\.number)
          replaced += found.versions.map(\.replaced)
          position = max(position, found.last)
          // Others wait for the node as well.
          try? await Task.sleep(for: max(.milliseconds(1), ContinuousClock.now - began))
        }
      } catch {
        failures += 1
        try? await Task.sleep(for: .seconds(1))
      }
      await deleteScanner(consumer, stream)
    }
    guard records.endScan(scan, isComplete: position >= scan.end) else { return }
    log(.info, "the records of a stream are known", ["stream": stream, "messages": String(present.count)])
    await deleteLeft(stream, records, Self.common(present, replaced))
  }

  /// Those in both, in order. `present` is in order.
  static func common(_ present: [UInt64], _ replaced: [UInt64]) -> [UInt64] {
    let replaced = replaced.sorted()
    var (common, index): ([UInt64], Int) = ([], 0)
    for number in present {
      while index < replaced.count, replaced[index] < number { index += 1 }
      if index < replaced.count, replaced[index] == number { common.append(number) }
    }
    return common
  }

  /// It delivers each message once, and ends by itself.
  private func makeScanner(
    _ consumer: String, _ stream: String, after position: UInt64
  ) async throws(ClusterFailure) {
    let configuration = """
      {"stream_name":"\(stream)","config":{"name":"\(consumer)","deliver_policy":"by_start_sequence",\
      "opt_start_seq":\(position + 1),"ack_policy":"none","replay_policy":"instant","mem_storage":true,"num_replicas":1,\
      "inactive_threshold":10000000000}}
      """
    let create = "$JS.API.CONSUMER.CREATE.\(stream).\(consumer)"
    let reply = Reply(try await connection.request(create, Array(configuration.utf8)).data)
    guard reply.errorCode == nil else { throw failure(reply, "consumer") }
  }

  private func deleteScanner(_ consumer: String, _ stream: String) async {
    _ = try? await connection.request("$JS.API.CONSUMER.DELETE.\(stream).\(consumer)")
  }

  /// The next versions, and the number of the last message, which may be no version.
  private func scanned(
    _ consumer: String, _ stream: String
  ) async throws(ClusterFailure) -> (versions: [KnownRecords.Version], last: UInt64) {
    let query = #"{"batch":\#(Self.scanned),"no_wait":true}"#
    let messages = try await connection.request(
      "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(consumer)", Array(query.utf8), headers: KnownRecords.Version.headers
    ) { message, count in message.status != nil || count == Self.scanned }
    if messages.last?.status == "503" { throw ClusterFailure("the consumer does not answer") }
    var (versions, last): ([KnownRecords.Version], UInt64) = ([], 0)
    for message in messages where message.status == nil {
      guard let delivery = message.reply.flatMap({ Delivery($0) }) else { continue }
      if let version = KnownRecords.Version(message, delivery) { versions.append(version) }
      last = delivery.number
    }
    return (versions, last)
  }

  /// Deletes those of these messages, in order, that are versions of records of which a later one is known.
  private func deleteLeft(_ stream: String, _ records: KnownRecords, _ numbers: [UInt64]) async {
    guard !numbers.isEmpty else { return }
    try? await Task.sleep(for: leftAfter)
    for number in numbers {
      while !isAtRest {
        guard !connection.isClosed else { return }
        try? await Task.sleep(for: max(.milliseconds(100), settledNumbers.rest - .now))
      }
      guard let stored = try? await get(stream, #"{"seq":\#(number)}"#), let subject = stored.text("subject"),
        records.revision(subject) ?? 0 > number, isAtRest
      else { continue }
      _ = try? await delete(stream, number)
    }
  }
}
