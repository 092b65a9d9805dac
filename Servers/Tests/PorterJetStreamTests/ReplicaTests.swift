import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

/// A message that the leader lacks: its other replicas are asked.
final class ReplicaTests: XCTestCase {
  private static let missing = FakeNode.Answer.text(
    #"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#)

  /// The answers of replicas, in turn, repeated; nil for none.
  private func message(_ copies: [FakeNode.Answer?]) async throws -> Result<[UInt8]?, ClusterFailure> {
    let asked = Mutex(0)
    let node = try FakeNode { request in
      switch request.subject {
      case "s.probe": return .text(#"{"stream":"s","seq":9}"#)
      case "$JS.API.STREAM.MSG.GET.s": return Self.missing
      case "$JS.API.DIRECT.GET.s":
        let turn = asked.withLock { asked in
          defer { asked += 1 }
          return asked
        }
        // The first one is asked before the leader.
        return turn == 0 ? .status(404) : copies[turn % copies.count]
      default: return .text("{}")
      }
    }
    let connection = try node.connect()
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch())
    do throws(ClusterFailure) {
      return .success(try await stream.message("s", 7, probe: "s.probe") { $0.count == 2 })
    } catch { return .failure(error) }
  }

  /// On a busy machine even this node may not answer in time.
  private func found(_ copies: [FakeNode.Answer?]) async throws -> [UInt8]? {
    for _ in 0..<20 {
      if case .success(let found) = try await message(copies) { return found }
    }
    return try await message(copies).get()
  }

  func testOneReplicaIsEnough() async throws {
    let all: [[FakeNode.Answer?]] = [
      [.status(404), .text("ok")], [.text("another"), .text("ok")], [nil, .text("ok")],
    ]
    for copies in all {
      let found = try await found(copies)
      XCTAssertEqual(found, Array("ok".utf8))
    }
  }

  func testWhatNoReplicaHasIsGone() async throws {
    let found = try await found([.status(404), .text("another")])
    XCTAssertNil(found)
  }

  /// A frozen node, which is asked until its neighbours notice. Half of an exchange's time is left after it.
  func testAReplicaThatDoesNotAnswerMayHaveIt() async throws {
    for silent in [nil, FakeNode.Answer.status(503)] {
      var found: ClusterFailure?
      // A busy machine may need the exchange's time for what comes before.
      for _ in 0..<20 where found?.description != "a replica of s does not answer" {
        let result = await ExchangeDeadline.$current.withValue(.now + ExchangeDeadline.span) {
          try? await message([.status(404), silent])
        }
        guard case .failure(let failure)? = result else { return XCTFail("\(String(describing: result))") }
        found = failure
      }
      let failure = try XCTUnwrap(found)
      XCTAssertTrue(failure.isOwn)
      XCTAssertFalse(failure.isUnsent)
      XCTAssertEqual(failure.description, "a replica of s does not answer")
    }
  }
}
