import NIOCore
import NIOEmbedded
import XCTest

@testable import PorterRelayServer

/// Connections by where they come from.
final class SourceCountsTests: XCTestCase {
  private func channel(_ address: String) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(ipAddress: address, port: 4)).wait()
    return channel
  }

  /// Otherwise all clients of a balancer would share one source's limit.
  func testConnectionsOfATrustedSourceAreOnlyBoundedInTotal() throws {
    let trusted = try XCTUnwrap(TrustedSources("192.0.2.1,2001:db8:1::/64"))
    let connections = ConnectionSet(most: 20, mostOfSource: 2, trusted: trusted)
    let clients = try (0..<15).map { try channel($0 < 5 ? "192.0.2.1" : "2001:db8:1::\($0)") }
    XCTAssertTrue(clients.allSatisfy { connections.add($0) })
    let others = try (0..<3).map { _ in try channel("192.0.2.2") }
    XCTAssertEqual(others.map { connections.add($0) }, [true, true, false])
    let more = try (0..<4).map { _ in try channel("192.0.2.1") }
    XCTAssertEqual(more.map { connections.add($0) }, [true, true, true, false])
  }

  /// Otherwise 40 networks of one customer would take all connections.
  func testConnectionsOfACustomersNetworksAreBoundedTogether() throws {
    let connections = ConnectionSet(most: 100, mostOfSource: 2)
    let channels = try (0..<10).map { try channel("2001:db8:1:\($0)::1") }
    XCTAssertEqual(channels.map { connections.add($0) }, [Bool](repeating: true, count: 8) + [false, false])
    let same = try (0..<3).map { _ in try channel("2001:db8:2::1") }
    XCTAssertEqual(same.map { connections.add($0) }, [true, true, false], "another customer's, of one source")
    let old = try (0..<20).map { try channel("192.0.2.\($0)") }
    XCTAssertTrue(old.allSatisfy { connections.add($0) }, "IPv4 addresses have nothing in common")
    _ = try channels[0].finish()
    XCTAssertTrue(connections.add(try channel("2001:db8:1:ff::1")))
    XCTAssertFalse(connections.add(try channel("2001:db8:1:fe::1")))
  }
}
