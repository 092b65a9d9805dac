import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// A program whose cluster is not up tries again four times a second, for as long as that takes.
final class FailedConnectionTests: XCTestCase {
  func testNothingStaysOfAConnectionThatFailsOrIsClosed() throws {
    let before = NATSConnection.registered
    for _ in 0..<20 { XCTAssertThrowsError(try NATSConnection(.init(servers: "nats://127.0.0.1:1"), name: "test")) }
    XCTAssertEqual(NATSConnection.registered, before)
    for _ in 0..<3 {
      let node = try FakeNode()
      let connection = try node.connect()
      XCTAssertGreaterThan(NATSConnection.registered, before)
      connection.close()
    }
    // The thread of a connection's deadlines may be the last to release it.
    let end = ContinuousClock.now + .seconds(20)
    while NATSConnection.registered != before, .now < end { usleep(1_000) }
    XCTAssertEqual(NATSConnection.registered, before)
  }

  /// The pending request fails because libnats reports the loss.
  func testTheLossOfAConnectionIsNoticed() async throws {
    var failure = ""
    for _ in 0..<5 {
      var node: FakeNode? = try FakeNode { $0.subject == "end" ? .end : nil }
      let connection = try XCTUnwrap(node).connect()
      defer { connection.close() }
      node = nil
      do throws(ClusterFailure) {
        _ = try await connection.request("end")
        failure = "answered"
      } catch { failure = error.description }
      // A busy machine may need all of the request's time.
      guard failure == "the cluster did not answer in time" else { break }
    }
    XCTAssertEqual(failure, "the connection to the cluster was lost")
  }
}
