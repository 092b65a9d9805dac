import Foundation
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterJetStream

/// A node on which a back end finds its streams, each with one replica, and stores messages. Queries for records and
/// bodies get the answer that the test specifies, or none.
final class OpenNode: Sendable {
  private static let settings = JetStreamStore.Settings(secret: [UInt8](repeating: 7, count: 32), partitions: 1)

  let node: FakeNode

  init(_ answer: @escaping @Sendable (FakeNode.Request) -> FakeNode.Answer? = { _ in nil }) throws {
    let last = Mutex<UInt64>(1)
    node = try FakeNode(connections: .max) { request in
      let (subject, payload) = (request.subject, request.payload)
      if subject.hasPrefix("$JS.API.STREAM.INFO.") {
        return .text(
          #"{"config":{"num_replicas":1,"max_msgs_per_subject":1024},"created":"2026-01-01T00:00:00Z","state":{"last_seq":1}}"#
        )
      }
      if subject == "$JS.API.STREAM.MSG.GET.porter_settings" {
        return .text(Self.message("porter.settings", 1, Self.settings.bytes))
      }
      // The time that a probe was stored at.
      if subject == "$JS.API.STREAM.MSG.GET.porter_mailboxes_0", payload.hasPrefix(#"{"seq":"#),
        !payload.contains("next_by_subj")
      {
        return .text(Self.message("porter.mailbox.0.probe", last.withLock { $0 }, []))
      }
      if let answered = answer(request) { return answered }
      guard subject.hasPrefix("porter."), subject.hasSuffix(".probe") else { return nil }
      let sequence = last.withLock { last in
        last += 1
        return last
      }
      return .text(#"{"stream":"porter_mailboxes_0","seq":\#(sequence)}"#)
    }
  }

  static func message(_ subject: String, _ sequence: UInt64, _ bytes: [UInt8]) -> String {
    let time = Date.now.formatted(.iso8601)
    return
      #"{"message":{"subject":"\#(subject)","seq":\#(sequence),"data":"\#(Data(bytes).base64EncodedString())","time":"\#(time)"}}"#
  }

  /// A back end that has opened the node. It tries again when a busy machine is late.
  func open(exchanges: Int = 8_192) throws -> JetStreamBackEnd {
    var options = JetStreamOptions(cluster: .init(servers: "nats://127.0.0.1:\(node.port)"))
    options.exchanges = exchanges
    let backEnd = JetStreamBackEnd(
      options, log: LogWriter(minimum: .error, form: .logfmt), admit: { _ in true }, onNews: { _ in })
    let end = ContinuousClock.now + .seconds(60)
    while backEnd.problem != nil, .now < end { usleep(10_000) }
    XCTAssertNil(backEnd.problem)
    return backEnd
  }

  /// The number of queries for the newest version of a record.
  var queries: Int {
    node.requests.count { $0.subject == "$JS.API.STREAM.MSG.GET.porter_mailboxes_0" && $0.payload.contains("last_by") }
  }
}
