import NIOCore
import XCTest

@testable import PorterRelayServer

/// Sources without a rate limit.
final class TrustedSourcesTests: XCTestCase {
  private func trusts(_ text: String, _ address: String) throws -> Bool {
    try XCTUnwrap(TrustedSources(text), text).contains(SocketAddress(ipAddress: address, port: 4))
  }

  func testAddressesAndNetworksAreTrusted() throws {
    let text = "10.0.0.7, 192.168.0.0/16,172.16.128.0/17 , 2001:db8:7::/48, fd00::1"
    for address in [
      "10.0.0.7", "192.168.0.1", "192.168.255.255", "172.16.128.1", "2001:db8:7:ffff::1", "fd00::1", "::ffff:10.0.0.7",
    ] { XCTAssertTrue(try trusts(text, address), address) }
    for address in ["10.0.0.8", "192.169.0.1", "172.16.127.255", "2001:db8:8::1", "fd00::2", "::a00:7", "0.0.0.0"] {
      XCTAssertFalse(try trusts(text, address), address)
    }
    XCTAssertTrue(try trusts("0.0.0.0/0", "203.0.113.9"))
    XCTAssertFalse(try trusts("0.0.0.0/0", "::1"), "another family")
  }

  func testNoneIsTrustedUnlessSaid() throws {
    XCTAssertFalse(TrustedSources().contains(try SocketAddress(ipAddress: "127.0.0.1", port: 4)))
    XCTAssertFalse(try trusts("10.0.0.7", "127.0.0.1"))
    let everyone = try XCTUnwrap(TrustedSources("0.0.0.0/0,::/0"))
    XCTAssertFalse(everyone.contains(try SocketAddress(unixDomainSocketPath: "/a")))
    XCTAssertFalse(everyone.contains(nil))
  }

  func testWhatDoesNotReadIsRefused() {
    for text in [
      "relay.example.org", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0", "/8",
      "10.0.0.7/8", "2001:db8::/129", "2001:db8::1/64", "10.0.0.7 10.0.0.8", "10.0.0.7,nonsense",
    ] { XCTAssertNil(TrustedSources(text), text) }
  }
}
