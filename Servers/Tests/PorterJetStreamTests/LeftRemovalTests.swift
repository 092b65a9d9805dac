import Foundation
import PorterServer
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterJetStream

/// A process that removes a record deletes its versions some seconds later, unless it ends first, as `porter-admin
/// revoke` does. They would stay, and count towards the number of tokens.
final class LeftRemovalTests: XCTestCase {
  /// A bucket of tokens.
  private final class Bucket: Sendable {
    struct Version {
      let number: UInt64
      let key: String
      var replaced: UInt64 = 0
      var text = ""
    }

    private static let stream = "KV_porter_push_tokens"
    private let versions: Mutex<[Version]>
    private let deletions = Mutex<[(number: UInt64, at: ContinuousClock.Instant)]>([])
    private let node = Mutex<FakeNode?>(nil)

    init(_ versions: [Version]) throws {
      self.versions = Mutex(versions)
      let made = try FakeNode { [weak self] in self?.answer($0) }
      node.withLock { $0 = made }
    }

    var port: UInt16 { node.withLock { $0?.port ?? 0 } }
    var numbers: [UInt64] { versions.withLock { $0.map(\.number) } }
    /// In order.
    var deleted: [(number: UInt64, at: ContinuousClock.Instant)] { deletions.withLock { $0 } }

    private func answer(_ request: FakeNode.Request) -> FakeNode.Answer? {
      let query = Reply(Array(request.payload.utf8))
      switch request.subject {
      case "$JS.API.STREAM.MSG.GET.\(Self.stream)":
        guard let found = version(query) else { return .text(#"{"error":{"code":404,"err_code":10037}}"#) }
        let headers = Data("NATS/1.0\r\nPorter-Replaces: \(found.replaced)\r\n\r\n".utf8).base64EncodedString()
        let data = Data(found.text.utf8).base64EncodedString()
        let subject = "$KV.porter_push_tokens.\(found.key)"
        return .text(
          #"{"message":{"subject":"\#(subject)","seq":\#(found.number),"hdrs":"\#(headers)","data":"\#(data)"}}"#)
      case "$JS.API.STREAM.MSG.DELETE.\(Self.stream)":
        let number = query.number("seq") ?? 0
        deletions.withLock { $0.append((number, .now)) }
        versions.withLock { $0.removeAll { $0.number == number } }
        return .text(#"{"success":true}"#)
      default:
        let last = versions.withLock { $0.last?.number ?? 0 }
        return request.subject.hasPrefix("$JS.API.STREAM.INFO.")
          ? .text(
            #"{"config":{"num_replicas":1,"max_msgs_per_subject":1024},"created":"2026","state":{"last_seq":\#(last)}}"#
          )
          : nil
      }
    }

    private func version(_ query: Reply) -> Version? {
      versions.withLock { versions in
        func isAsked(_ version: Version, _ subjects: String) -> Bool {
          subjects.hasSuffix("*") || subjects.hasSuffix("." + version.key)
        }
        if let subject = query.text("last_by_subj") { return versions.last { isAsked($0, subject) } }
        let number = query.number("seq") ?? 0
        guard let subjects = query.text("next_by_subj") else { return versions.first { $0.number == number } }
        return versions.first { $0.number >= number && isAsked($0, subjects) }
      }
    }
  }

  private static let removalsKept = Duration.seconds(2)

  private func tokens(_ bucket: Bucket, isMaking: Bool = true) throws -> [String] {
    var options = JetStreamOptions(cluster: .init(servers: "nats://127.0.0.1:\(bucket.port)"))
    options.cluster.patience = FakeNode.patience
    options.isMaking = isMaking
    options.removalsKept = Self.removalsKept
    let store = JetStreamPushStore(options, log: LogWriter(minimum: .error, form: .logfmt))
    addTeardownBlock { store.close() }
    var (keys, position): ([String], UInt64) = ([], 0)
    while let next = try store.token(after: position) {
      keys.append(next.key)
      position = next.revision
    }
    return keys
  }

  private func wait(for numbers: [UInt64], _ bucket: Bucket) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while bucket.numbers != numbers, .now < end { try await Task.sleep(for: .milliseconds(10)) }
    XCTAssertEqual(bucket.numbers, numbers)
  }

  func testAServerCompletesThem() async throws {
    let bucket = try Bucket([
      .init(number: 1, key: "revoked", text: "document"), .init(number: 2, key: "kept", text: "document"),
      .init(number: 3, key: "revoked", replaced: 1),
    ])
    let begin = ContinuousClock.now
    XCTAssertEqual(try tokens(bucket), ["revoked", "kept"])
    try await wait(for: [2], bucket)
    let deleted = bucket.deleted
    XCTAssertEqual(deleted.map(\.number), [1, 3])
    XCTAssertGreaterThanOrEqual(
      deleted[0].at - begin, OutdatedMessages.pause, "another server may be about to replace what was removed")
    XCTAssertGreaterThanOrEqual(deleted[1].at - deleted[0].at, Self.removalsKept)
  }

  /// A removal that came late, and one whose record was made anew.
  func testARemovalThatIsNotTheRecordIsNotCompleted() async throws {
    let bucket = try Bucket([
      .init(number: 1, key: "changed", text: "document"), .init(number: 2, key: "changed", replaced: 1, text: "newer"),
      .init(number: 3, key: "changed", replaced: 1), .init(number: 4, key: "revoked", text: "document"),
      .init(number: 5, key: "revoked", replaced: 4), .init(number: 6, key: "again", text: "document"),
      .init(number: 7, key: "again", replaced: 6), .init(number: 8, key: "again", replaced: 7, text: "anew"),
    ])
    _ = try tokens(bucket)
    try await wait(for: [1, 2, 3, 6, 7, 8], bucket)
  }

  /// Commands only read.
  func testACommandCompletesNone() async throws {
    let bucket = try Bucket([
      .init(number: 1, key: "revoked", text: "document"), .init(number: 2, key: "revoked", replaced: 1),
    ])
    _ = try tokens(bucket, isMaking: false)
    try await Task.sleep(for: OutdatedMessages.pause + .seconds(1))
    XCTAssertEqual(bucket.numbers, [1, 2])
  }
}
