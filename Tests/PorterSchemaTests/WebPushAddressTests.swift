import PorterSchema
import XCTest

final class WebPushAddressTests: XCTestCase {
  private func address(_ endpoint: String, first: UInt8 = 4) -> WebPushAddress? {
    WebPushAddress(
      bytes: [first] + [UInt8](repeating: 7, count: 64) + [UInt8](repeating: 9, count: 16) + Array(endpoint.utf8))
  }

  func testItHasItsParts() throws {
    let address = try XCTUnwrap(address("https://push.example:8443/abc?d=e"))
    XCTAssertEqual(address.endpoint, "https://push.example:8443/abc?d=e")
    XCTAssertEqual(address.key, [4] + [UInt8](repeating: 7, count: 64))
    XCTAssertEqual(address.secret, [UInt8](repeating: 9, count: 16))
    XCTAssertNotNil(self.address("https://[2001:db8::1]/"))
  }

  func testWhatIsNoneIsRefused() {
    let long = "https://a/" + String(repeating: "b", count: 990)
    XCTAssertNotNil(address(long))
    XCTAssertNil(address(long + "b"))
    XCTAssertNil(address("https://a/b", first: 2), "a compressed point")
    for endpoint in [
      "", "https://", "https:///a", "https://a", "http://a/b", "HTTPS://a/b", "https://user@a/b", "https://a/b#c",
      "https://a/ b",
      "https://a/\u{e9}", "https://a\"/b", "https://a\\/b", "https://a?b/c", "https://a%20/b", "https://a/\n",
    ] {
      XCTAssertNil(address(endpoint), endpoint)
    }
    for count in 0...81 { XCTAssertNil(WebPushAddress(bytes: [UInt8](repeating: 4, count: count))) }
  }
}
