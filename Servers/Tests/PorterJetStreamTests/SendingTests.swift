import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

final class SendingTests: XCTestCase {
  /// libnats would hold them back for a millisecond to wait for others: longer than the cluster takes to answer.
  func testAMessageIsSentWhenItIsPublished() throws {
    let node = try FakeNode()
    let connection = try node.connect()
    defer { connection.close() }
    for _ in 0..<50 {
      connection.publish("subject", [1, 2, 3])
      XCTAssertEqual(connection.unsent, 0)
    }
  }

  /// What writes to a frozen node may wait.
  func testANodeThatHasNotAnsweredJustNowIsNotHeard() async throws {
    let node = try FakeNode { _ in .text("") }
    let connection = try node.connect()
    defer { connection.close() }
    XCTAssertFalse(connection.isHeard)
    var isHeard = false
    // A busy machine may run this late.
    for _ in 0..<100 where !isHeard {
      _ = try await connection.request("subject")
      isHeard = connection.isHeard
    }
    XCTAssertTrue(isHeard)
    try await Task.sleep(for: .milliseconds(60))
    XCTAssertFalse(connection.isHeard)
    XCTAssertTrue(NATSConnection.isHeard(at: 2, now: 1), "on another thread, while the time was read")
  }

  /// Messages that were not taken are given again, and may by then belong to another server.
  func testAnAcknowledgementThatNoQueueTakesIsAFailure() async throws {
    let node = try FakeNode { $0.subject.hasSuffix(".7.0.0.0") ? .text("") : .status(503) }
    let connection = try node.connect()
    defer { connection.close() }
    let queues = WorkQueues(
      JetStream(connection: connection, watch: StreamWatch()), name: "work", subject: "work.", leaseSeconds: 5)
    let handles = [7, 8].map { "$JS.ACK.work.a.1.\($0).0.0.0" }
    try await queues.acknowledge([handles[0]])
    do throws(ClusterFailure) {
      try await queues.acknowledge(handles)
      XCTFail("it was acknowledged")
    } catch {
      XCTAssertEqual(error.description, "the queue takes no acknowledgement: no quorum")
    }
  }

  /// By then the number of an outdated version may belong to another mailbox's record.
  func testNothingIsDeletedFromAStreamThatHasGoneBack() async throws {
    for isLost in [false, true] {
      let node = try FakeNode { $0.subject == "s.a" ? .text(#"{"stream":"s","seq":20}"#) : nil }
      let connection = try node.connect()
      defer { connection.close() }
      let stream = JetStream(connection: connection, watch: StreamWatch())
      for second in -60...0 { stream.settledNumbers.note("s", UInt64(second + 70), now: .now + .seconds(second)) }
      stream.outdated.note(.init("s", "s.a", 2, .replaced(by: 3), now: .now - .seconds(6)))
      if isLost { _ = stream.lost("s") }
      stream.drop(StoredBody(number: 4, message: [1]), "s", "s.b", seenAt: .now - .seconds(1))
      _ = try await stream.publish("s.a", [])
      try await node.awaitRequests(isLost ? 1 : 3)
      let deleted = node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.s" }.count
      XCTAssertEqual(deleted, isLost ? 0 : 2)
    }
  }

  /// Another node may lead by now, and have undone the replacement: then it is the record again.
  func testAVersionIsDeletedInDoubtOnlyIfItIsNotTheRecordAgain() async throws {
    typealias Message = (subject: String, replaced: UInt64)
    let (late, mine) = (OutdatedMessages.Message.Reason.late(replacing: 1), "s.a")
    let unnamed = OutdatedMessages.Message.Reason.unnamed(message: Array("mine".utf8), stream: "s", subject: "s.record")
    let cases:
      [(what: String, reason: OutdatedMessages.Message.Reason, messages: [UInt64: Message], isOutdated: Bool)] = [
        ("as it was", .replaced(by: 3), [2: (mine, 1), 3: (mine, 2)], true),
        ("replaced once more", .replaced(by: 3), [2: (mine, 1), 7: (mine, 3)], true),
        ("and another came late", .replaced(by: 3), [2: (mine, 1), 3: (mine, 2), 4: (mine, 2)], true),
        ("undone", .replaced(by: 3), [2: (mine, 1)], false),
        ("replaced anew after that", .replaced(by: 3), [2: (mine, 1), 3: ("s.b", 0), 4: (mine, 2)], false),
        ("another record's number", .replaced(by: 3), [2: ("s.b", 0), 7: (mine, 3)], false),
        ("gone", .replaced(by: 3), [3: (mine, 2)], false),
        ("all gone", .replaced(by: 3), [:], false),
        ("late", late, [1: (mine, 0), 2: (mine, 1)], false),
        ("late, and the first is there", .late(replacing: 1), [1: (mine, 0), 2: (mine, 1)], false),
        ("late, behind the first", .late(replacing: 0), [1: (mine, 0), 2: (mine, 0)], true),
        ("late, and the first was replaced", .late(replacing: 0), [2: (mine, 0), 7: (mine, 1)], true),
        ("late, and its number is another's", .late(replacing: 0), [1: (mine, 0), 2: (mine, 1)], false),
        ("a body", .dropped(message: Array("mine".utf8)), [2: (mine, 0)], true),
        ("another mailbox's body", .dropped(message: Array("mine".utf8)), [2: ("s.b", 0)], false),
        ("a body that its record names", unnamed, [2: (mine, 0), 3: ("s.record", 0)], false),
        ("a body that another record names", unnamed, [2: (mine, 0), 3: ("s.record of others", 0)], true),
        ("a body that its record named", unnamed, [2: (mine, 0), 3: ("s.record", 0), 4: ("s.record", 3)], true),
        ("a body without a record", unnamed, [2: (mine, 0)], true),
        ("another mailbox's body, not named", unnamed, [2: ("s.b", 0)], false),
        ("another message's body", .dropped(message: Array("yours".utf8)), [2: (mine, 0)], false),
      ]
    for (what, reason, messages, isOutdated) in cases {
      let node = try FakeNode { request in
        guard request.subject == "$JS.API.STREAM.MSG.GET.s" else { return nil }
        let query = Reply(Array(request.payload.utf8))
        let subject = query.text("last_by_subj") ?? query.text("next_by_subj")
        let ours = messages.keys.filter { messages[$0]?.subject == subject }.sorted()
        let number =
          if query.text("last_by_subj") != nil { ours.last } else if query.text("next_by_subj") != nil {
            ours.first { $0 >= query.number("seq") ?? 0 }
          } else { query.number("seq") }
        guard let number, let message = messages[number] else { return .text(#"{"error":{"err_code":10037}}"#) }
        let headers = Data("NATS/1.0\r\nPorter-Replaces: \(message.replaced)\r\n\r\n".utf8).base64EncodedString()
        let body = Data((number == 4 ? "no more" : "mine, and what it says").utf8).base64EncodedString()
        return .text(
          #"{"message":{"subject":"\#(message.subject)","seq":\#(number),"hdrs":"\#(headers)","data":"\#(body)"}}"#)
      }
      let connection = try node.connect()
      let stream = JetStream(connection: connection, watch: StreamWatch())
      let found = try await stream.isOutdated(.init("s", "s.a", 2, reason))
      XCTAssertEqual(found, isOutdated, what)
      connection.close()
    }
  }

  /// The leader of records may be cut off while the leader of bodies is not: the others may have what it lacks.
  func testABodyThatARecordMayNameIsKeptInDoubtThoughThereIsNoRoom() async throws {
    let node = try FakeNode { request in
      guard request.subject == "$JS.API.STREAM.MSG.GET.bodies" else { return .text(#"{"error":{"err_code":10037}}"#) }
      return .text(#"{"message":{"subject":"bodies.a","seq":2,"data":"\#(Data("mine".utf8).base64EncodedString())"}}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    for isInDoubt in [true, false] {
      let stream = JetStream(connection: connection, watch: StreamWatch())
      if isInDoubt { stream.settledNumbers.noteTrouble() }
      let reason = OutdatedMessages.Message.Reason.unnamed(
        message: Array("mine".utf8), stream: "records", subject: "records.a")
      stream.outdated.note(.init("bodies", "bodies.a", 2, reason, certainFrom: nil, now: .now - .seconds(6)))
      try? await stream.deleteOutdated()
      let deleted = node.requests.contains { $0.subject == "$JS.API.STREAM.MSG.DELETE.bodies" }
      XCTAssertEqual(deleted, !isInDoubt)
      XCTAssertEqual(stream.outdated.due(now: .now + .seconds(60)).count, isInDoubt ? 1 : 0)
    }
  }

  /// A removal and a late replacement passed together. Without the removal the replacement would be the record.
  func testARemovedRecordDoesNotComeBack() async throws {
    let messages = Mutex<[UInt64: UInt64]>([2: 1, 3: 2, 4: 2, 5: 3])
    let node = try FakeNode { request in
      let query = Reply(Array(request.payload.utf8))
      guard let number = query.number("seq") else { return nil }
      if request.subject == "$JS.API.STREAM.MSG.DELETE.s" {
        messages.withLock { $0[number] = nil }
        return .text(#"{"success":true}"#)
      }
      let isNext = query.text("next_by_subj") != nil
      let found = messages.withLock { messages in
        messages.filter { isNext ? $0.key >= number : $0.key == number }.min { $0.key < $1.key }
      }
      guard let (sequence, replaced) = found else { return .text(#"{"error":{"err_code":10037}}"#) }
      let headers = Data("NATS/1.0\r\nPorter-Replaces: \(replaced)\r\n\r\n".utf8).base64EncodedString()
      return .text(#"{"message":{"subject":"s.a","seq":\#(sequence),"hdrs":"\#(headers)"}}"#)
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    stream.forget("s", "s.a", removal: 3)
    let end = ContinuousClock.now + .seconds(20)
    while messages.withLock({ $0[3] }) != nil, .now < end { try await Task.sleep(for: .milliseconds(10)) }
    // 5 was created after the removal.
    XCTAssertEqual(messages.withLock { $0 }, [5: 3])
    let deleted = node.requests.filter { $0.subject.contains("DELETE") }.map {
      Reply(Array($0.payload.utf8)).number("seq")
    }
    XCTAssertEqual(deleted, [4, 2, 3])
  }

  /// A node that has led all the time has undone nothing. In doubt the cluster is asked, unless something has just
  /// failed.
  func testTheClusterIsAskedOnlyInDoubtAndAtRest() async throws {
    for (what, isCertain, troubledAgo, asked, deleted) in [
      ("one leader", true, nil, 0, 1), ("in doubt", false, 20, 2, 1), ("in trouble", false, 5, 0, 0),
    ] as [(String, Bool, Int?, Int, Int)] {
      let node = try FakeNode { request in
        if request.subject == "s.a" { return .text(#"{"stream":"s","seq":20}"#) }
        guard request.subject == "$JS.API.STREAM.MSG.GET.s" else { return nil }
        let headers = Data("NATS/1.0\r\nPorter-Replaces: 3\r\n\r\n".utf8).base64EncodedString()
        return .text(#"{"message":{"subject":"s.a","seq":7,"hdrs":"\#(headers)"}}"#)
      }
      let connection = try node.connect()
      let stream = JetStream(connection: connection, watch: StreamWatch())
      for second in -10...0 where isCertain {
        stream.settledNumbers.note("s", UInt64(second + 20), now: .now + .seconds(second))
      }
      if let troubledAgo { stream.settledNumbers.noteTrouble(now: .now - .seconds(troubledAgo)) }
      stream.outdated.note(.init("s", "s.a", 2, .replaced(by: 3), now: .now - .seconds(6)))
      _ = try await stream.publish("s.a", [])
      try await node.awaitRequests(1 + asked + deleted)
      connection.close()
      XCTAssertEqual(node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.GET.s" }.count, asked, what)
      XCTAssertEqual(node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.s" }.count, deleted, what)
    }
  }

  /// That one node leads when a body is dropped says nothing about the number that its record has had for longer: it is
  /// certain only for a relay that has stored or read it under that leader. Otherwise the leader is asked, and reports
  /// here that the number is another message's.
  func testABodysNumberIsInDoubtUnlessItWasSeenUnderThePresentLeader() async throws {
    for (seenAgo, asked) in [(Double?.some(20), 0), (40, 1), (nil, 1)] {
      let node = try FakeNode { request in
        if request.subject == "b.mine" { return .text(#"{"stream":"b","seq":200}"#) }
        guard request.subject == "$JS.API.STREAM.MSG.GET.b" else { return nil }
        return .text(#"{"message":{"subject":"b.mine","seq":5,"data":"\#(Data([2]).base64EncodedString())"}}"#)
      }
      let connection = try node.connect()
      defer { connection.close() }
      let stream = JetStream(connection: connection, watch: StreamWatch())
      for second in -30...0 {
        stream.settledNumbers.note("b", UInt64(second + 100), now: .now + .seconds(second))
      }
      stream.outdated.note(
        .init(
          "b", "b.mine", 5, .dropped(message: [1]), certainFrom: seenAgo.map { .now - .seconds($0) },
          now: .now - .seconds(6)))
      _ = try await stream.publish("b.mine", [])
      try await node.awaitRequests(2)
      XCTAssertEqual(node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.GET.b" }.count, asked)
      XCTAssertEqual(node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.b" }.count, 1 - asked)
    }
  }

  /// No leader compares a first version. While nodes may disagree about which of them leads, the whole stream is
  /// searched.
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
      // There is no such version when it is compared, which is a failure too.
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
