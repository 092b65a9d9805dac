import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class SendingTests: XCTestCase {
  /// libnats would keep them for a millisecond, for others to come: longer than the cluster takes to answer.
  func testAMessageIsSentWhenItIsPublished() throws {
    let node = try FakeNode()
    let connection = try node.connect()
    defer { connection.close() }
    for _ in 0..<50 {
      connection.publish("subject", [1, 2, 3])
      XCTAssertEqual(connection.unsent, 0)
    }
  }

  /// What was not taken is given again, and may be another's by then.
  func testAnAcknowledgementThatNoQueueTakesIsAFailure() async throws {
    let node = try FakeNode { $0.subject.hasSuffix(".7.0.0.0") ? .text("") : .status(503) }
    let connection = try node.connect()
    defer { connection.close() }
    let queues = WorkQueues(
      JetStream(connection: connection, watch: StreamWatch()), name: "work", subject: "work.", leaseSeconds: 5)
    try await queues.acknowledge([queues.handle("a", 7)])
    do throws(ClusterFailure) {
      try await queues.acknowledge([queues.handle("a", 7), queues.handle("a", 8)])
      XCTFail("it was acknowledged")
    } catch {
      XCTAssertEqual(error.description, "the queue takes no acknowledgement: no quorum")
    }
  }

  /// The number of an outdated version may be that of another mailbox's record by then.
  func testNothingIsDeletedFromAStreamThatHasGoneBack() async throws {
    let numbers = Mutex([UInt64(10), 3, 4])
    let node = try FakeNode { request in
      guard request.subject == "s.a" else { return nil }
      return .text(#"{"stream":"s","seq":\#(numbers.withLock { $0.removeFirst() })}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    let outdated = OutdatedVersions.Version("s", "s.a", 2, replacement: 3, now: .now - .seconds(60))
    for _ in 0..<2 {
      _ = try await stream.publish("s.a", [])
      stream.outdated.note(outdated)
    }
    stream.outdated.note(outdated)
    _ = stream.lost("s")
    _ = try await stream.publish("s.a", [])
    XCTAssertEqual(node.requests.map(\.subject), ["s.a", "s.a", "s.a"])
  }

  /// Another node may lead by now, and have undone what has replaced it: then it is the record again.
  func testAVersionIsDeletedInDoubtOnlyIfWhatHasReplacedItIsThere() async throws {
    struct Message {
      var number: UInt64
      var subject = "s.a"
      var replaced: UInt64
    }
    let replaced = Message(number: 2, replaced: 1)
    let cases: [(what: String, stored: Message?, last: Message?, isDeleted: Bool)] = [
      ("as it was", replaced, Message(number: 3, replaced: 2), true),
      ("replaced once more", replaced, Message(number: 7, replaced: 3), true),
      ("undone", replaced, replaced, false),
      ("replaced anew after that", replaced, Message(number: 4, replaced: 2), false),
      (
        "another record's number", Message(number: 2, subject: "s.b", replaced: 0), Message(number: 7, replaced: 3),
        false
      ),
      ("gone", nil, Message(number: 3, replaced: 2), false),
      ("all gone", nil, nil, false),
    ]
    for (what, stored, last, isDeleted) in cases {
      let node = try FakeNode { request in
        switch request.subject {
        case "s.a": return .text(#"{"stream":"s","seq":20}"#)
        case "$JS.API.STREAM.MSG.GET.s":
          let found = request.payload.contains("last_by_subj") ? last : stored
          guard let found else { return .text(#"{"error":{"err_code":10037}}"#) }
          let headers = Array("NATS/1.0\r\nPorter-Replaces: \(found.replaced)\r\n\r\n".utf8)
          return .text(
            #"{"message":{"subject":"\#(found.subject)","seq":\#(found.number),"hdrs":"\#(Data(headers).base64EncodedString())"}}"#
          )
        default: return nil
        }
      }
      let connection = try node.connect()
      let stream = JetStream(connection: connection, watch: StreamWatch())
      stream.outdated.note(.init("s", "s.a", 2, replacement: 3, now: .now - .seconds(60)))
      // It never was valid.
      stream.outdated.note(.init("s", "s.a", 2, replacement: nil, now: .now - .seconds(60)))
      _ = try await stream.publish("s.a", [])
      let asks = stored?.subject == "s.a" ? 2 : 1
      try await node.awaitRequests(1 + asks + (isDeleted ? 1 : 0))
      connection.close()
      let deleted = node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.s" }.count
      XCTAssertEqual(deleted, isDeleted ? 1 : 0, what)
    }
  }

  /// Whoever has led all the time has undone nothing: nothing is asked.
  func testAVersionIsDeletedWithoutAQuestionWhileOneNodeLeads() async throws {
    let node = try FakeNode { $0.subject == "s.a" ? .text(#"{"stream":"s","seq":20}"#) : nil }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    for second in -10 ... -1 { stream.settledNumbers.note("s", UInt64(second + 20), now: .now + .seconds(second)) }
    stream.outdated.note(.init("s", "s.a", 2, replacement: 3, now: .now - .seconds(6)))
    _ = try await stream.publish("s.a", [])
    try await node.awaitRequests(2)
    XCTAssertEqual(node.requests.map(\.subject), ["s.a", "$JS.API.STREAM.MSG.DELETE.s"])
  }

  /// The record has the number of a body that was undone, and another mailbox's body has it now.
  func testABodyIsDeletedInDoubtOnlyIfItIsOfItsMailbox() async throws {
    for (subject, isDeleted) in [("b.mine", true), ("b.other", false)] {
      let node = try FakeNode { request in
        guard request.subject == "$JS.API.STREAM.MSG.GET.b" else { return nil }
        return .text(#"{"message":{"subject":"\#(subject)","seq":5}}"#)
      }
      let connection = try node.connect()
      defer { connection.close() }
      let stream = JetStream(connection: connection, watch: StreamWatch())
      stream.deleteSoon("b", 5, of: "b.mine")
      try await node.awaitRequests(isDeleted ? 2 : 1)
      XCTAssertEqual(node.requests.count, isDeleted ? 2 : 1)
    }
  }

  /// A first version is compared by no leader. While nodes may disagree about which of them leads, all of the stream is looked through.
  func testAfterAFailureAFirstVersionFollowsNothing() async throws {
    let answers = Mutex(UInt64(100))
    let isFailing = Mutex(false)
    let node = try FakeNode { request in
      guard !isFailing.withLock({ $0 }) else { return .status(503) }
      guard request.subject == "s.a" else { return .text(#"{"error":{"err_code":10037}}"#) }
      return .text(#"{"stream":"s","seq":\#(answers.withLock { $0 })}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    stream.settledNumbers.note("s", 90, now: .now - .seconds(10))
    func follows() async throws -> String? {
      // There is no such version when it is compared, which is a failure, too.
      _ = try? await stream.add("s", "s.a", [1])
      let stored = node.requests.last { $0.subject == "s.a" }
      return stored?.headers.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Porter-Follows") }.map(
        String.init)
    }
    let calm = try await follows()
    XCTAssertEqual(calm, "Porter-Follows: 90")
    isFailing.withLock { $0 = true }
    _ = try? await stream.get("s", "{}")
    isFailing.withLock { $0 = false }
    answers.withLock { $0 += 1 }
    let troubled = try await follows()
    XCTAssertEqual(troubled, "Porter-Follows: 0")
  }
}
