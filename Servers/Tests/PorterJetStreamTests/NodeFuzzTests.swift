import Foundation
import PorterMutation
import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// Everything that a server reads from a NATS node is read without a trap, and means what it says. `make verify` runs
/// this with the address sanitizer and many more inputs; PORTER_FUZZ_SEED repeats a run.
final class NodeFuzzTests: XCTestCase {
  private var mutator = Mutator()

  override func setUp() { print("seed \(mutator.seed)") }

  /// As received from nodes of 2.9.10 and 2.11.11.
  private let replies: [[UInt8]] = [
    #"{"stream":"porter_bodies_0", "seq":18446744073709551615,"duplicate": true}"#,
    #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"box","seq":0}"#,
    #"{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}"#,
    """
    {"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":{"subject":"porter.mailbox.0.AAEC","seq":12,\
    "hdrs":"TkFUUy8xLjANClBvcnRlci1SZXBsYWNlczogMTENClBvcnRlci1Gb2xsb3dzOiA5DQoNCg==","data":"AAEC/+8=",\
    "time":"2026-11-22T14:34:26.123456789Z"}}
    """,
    """
    {"config":{"name":"porter_mailboxes_0","subjects":["porter.mailbox.0.*","b"],"num_replicas":3},\
    "created":"2026-11-22T14:34:26Z","state":{"messages":7,"last_seq":9,"subjects":{"porter.notify.x": 2}},\
    "num_pending":4,"num_ack_pending":1,"cluster":null}
    """,
    #"{"time":"999999999-12-31T23:59:59.999999999Z"}"#,
  ].map { Array($0.utf8) }

  private func isConsistent(_ reply: Reply, _ bytes: [UInt8]) {
    XCTAssertFalse(reply.lacksRoom && reply.errorCode == nil)
    XCTAssertLessThanOrEqual(reply.errorText.utf8.count, 3 * max(200, bytes.count))
    for name in ["data", "hdrs", "seq", "subject"] {
      XCTAssertLessThanOrEqual(reply.data(name)?.count ?? 0, bytes.count / 4 * 3 + 2)
      XCTAssertLessThanOrEqual(reply.text(name)?.utf8.count ?? 0, 3 * bytes.count)
    }
    for name in ["subjects", "cluster"] { XCTAssertLessThanOrEqual(reply.texts(name).count, bytes.count / 2) }
    // Before the year 10000.
    for name in ["time", "created"] {
      XCTAssertLessThan(abs(reply.time(name) ?? 0), 253_402_300_800_000 + 86_400_000_000)
    }
    _ = (reply.isTrue("duplicate"), reply.number("num_pending"), reply.number("last_seq"))
    _ = JetStream.replaced(String(decoding: reply.data("hdrs") ?? [], as: UTF8.self))
  }

  func testRepliesAreRead() {
    var (numbers, contents, errors) = (0, 0, 0)
    for _ in 0..<mutator.runs {
      let bytes = mutator.bytes(like: replies)
      let reply = Reply(bytes)
      isConsistent(reply, bytes)
      if reply.number("seq") != nil { numbers += 1 }
      if reply.data("data") != nil { contents += 1 }
      if reply.errorCode != nil { errors += 1 }
    }
    XCTAssertGreaterThan(min(numbers, contents, errors), mutator.runs / 40)
  }

  /// Contents that read as standard base64 are the same as others read them.
  func testContentsAreReadAsOthersReadThem() {
    var read = 0
    for _ in 0..<mutator.runs {
      let text = mutator.text(
        like: Data((0..<20).map { _ in UInt8.random(in: 0...255, using: &mutator) }).base64EncodedString())
      // Foundation reads padding in the middle.
      let isPlain = !text.contains("\"") && text.wholeMatch(of: /[^=]*={0,2}/) != nil
      guard isPlain, let other = Data(base64Encoded: text) else { continue }
      read += 1
      XCTAssertEqual(Reply(Array(#"{"data":"\#(text)"}"#.utf8)).data("data"), [UInt8](other), text)
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
  }

  /// A time that grows faster than the answer would not end here.
  func testALongReplyIsReadInItsLength() {
    for piece in [#""seq":"#, "\"", #""data":""#, #"{"error":"#, "A", #"","","#, "9"] {
      let bytes = Array(String(repeating: piece, count: 400_000 / piece.utf8.count).utf8)
      isConsistent(Reply(bytes), bytes)
      isConsistent(Reply(Array(#"{"data":""#.utf8) + bytes), bytes)
      isConsistent(Reply(Array(#"{"subjects":["#.utf8) + bytes), bytes)
    }
  }

  /// Any process that may publish to the cluster can send a beat.
  func testBeatsAreHeard() {
    var peer = Heartbeat()
    var missed = 0
    for run in 0..<mutator.runs {
      // Each name is kept for a minute.
      if run.isMultiple(of: 256) { peer = Heartbeat() }
      let number = [0, 1, 2, UInt64.max - 1, .max][Int.random(in: 0..<5, using: &mutator)]
      let beat = mutator.bytes(like: [Array("3w5e11264sgsf \(number)".utf8), peer.next()])
      if peer.hear(beat) { missed += 1 }
    }
    XCTAssertGreaterThan(missed, 0)
  }

  func testDeliveriesAreReadOrPassedOver() {
    let seeds = [
      "$JS.ACK.porter_notifications.AbC-_.1.12.7.1795358066123456789.0",
      "$JS.ACK.domain.account.porter_mailboxes_0.follower.3.18446744073709551615.9.-1.4.token",
    ].map { Array($0.utf8) }
    var read = 0
    for _ in 0..<mutator.runs {
      let bytes = mutator.bytes(like: seeds)
      guard let delivery = Delivery(String(decoding: bytes, as: UTF8.self)) else { continue }
      read += 1
      XCTAssertLessThanOrEqual(abs(delivery.storedAt), .max / 1_000_000)
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
    XCTAssertLessThan(read, mutator.runs)
  }

  func testSettingsOfAClusterAreReadOrRefused() {
    let seeds = [1, 16, 255].map {
      JetStreamStore.Settings(secret: [UInt8](repeating: 7, count: 32), partitions: $0).bytes
    }
    var (read, refused) = (0, 0)
    for _ in 0..<mutator.runs {
      let bytes = mutator.bytes(like: seeds)
      do throws(ClusterFailure) {
        let settings = try JetStreamStore.Settings(bytes)
        read += 1
        XCTAssertEqual(settings.bytes, bytes)
        XCTAssertTrue((1...255).contains(settings.partitions))
        let key = mutator.text(like: "AAECAwQFBgcICQoLDA0ODw")
        XCTAssertTrue((0..<settings.partitions).contains(JetStreamStore.partition(key, of: settings.partitions)))
      } catch { refused += 1 }
    }
    XCTAssertGreaterThan(min(read, refused), mutator.runs / 20)
  }

  /// A node whose answers are damaged: each request ends, with a result or a failure.
  func testRequestsEndWhateverANodeAnswers() async throws {
    let answers = replies
    let seed = mutator.seed
    let node = try FakeNode { request in
      // Each request has answers of its own, so that their order does not matter.
      var mutator = Mutator(seed: seed ^ UInt64(truncatingIfNeeded: request.payload.hashValue))
      let text = String(decoding: mutator.bytes(like: answers), as: UTF8.self)
      return .text(text.replacing("\r\n", with: " "))
    }
    let connection = try node.connect()
    let stream = JetStream(connection: connection, watch: StreamWatch())
    for number in 0..<min(2_000, mutator.runs / 8) {
      let subject = "porter.mailbox.0.m\(number)"
      _ = try? await stream.newest("porter_mailboxes_0", subject)
      _ = try? await stream.next("porter_mailboxes_0", subject, after: mutator.next() >> 2)
      _ = try? await stream.nextMessage("porter_mailboxes_0", subject, after: mutator.next() >> 2)
    }
  }
}
