import PorterRelayCluster
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterJetStream

/// Addresses of a cluster may contain users and passwords, if a host names them so.
final class AddressTests: XCTestCase {
  func testAnAddressIsShownWithoutItsUser() {
    for (servers, shown) in [
      ("nats://one:4222", "nats://one:4222"), ("nats://me:hush@one:4222", "nats://one:4222"),
      ("nats://me:hush@one:4222,tls://token@two", "nats://one:4222,tls://two"), ("me:hush@one", "one"),
      // A password with a comma or an @ in it.
      ("nats://me:hu,sh@one", "nats://one"), ("nats://me:hu@sh@one", "nats://one"),
    ] {
      XCTAssertEqual(NATSOptions(servers: servers).shownServers, shown)
    }
  }

  func testNeitherAFailureNorTheLogHasTheUser() async throws {
    let lines = Mutex<[String]>([])
    let options = JetStreamOptions(cluster: .init(servers: "nats://me:hush@127.0.0.1:1,nats://you:hush@127.0.0.1:2"))
    let backEnd = JetStreamBackEnd(
      options, log: LogWriter { line in lines.withLock { $0.append(line) } }, admit: { _ in true }, onNews: { _ in })
    defer { backEnd.close() }
    let problem = try XCTUnwrap(backEnd.problem)
    XCTAssertTrue(problem.hasPrefix("no connection to nats://127.0.0.1:1,nats://127.0.0.1:2: "), problem)
    for text in [problem] + lines.withLock({ $0 }) {
      XCTAssertFalse(text.contains("hush") || text.contains("me:") || text.contains("you:"), text)
    }
    XCTAssertThrowsError(try NATSConnection(.init(servers: "nats://me:hush@[one"), name: "test")) { error in
      XCTAssertFalse("\(error)".contains("hush"), "\(error)")
    }
  }
}
