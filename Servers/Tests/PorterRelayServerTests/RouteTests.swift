import NIOHTTP1
import XCTest

@testable import PorterRelayServer

/// The route that a request's head selects.
final class RouteTests: XCTestCase {
  private let listener = String(repeating: "aZ0-_", count: 8) + "abc"

  private func route(_ method: HTTPMethod, _ path: String, _ headers: [(String, String)] = []) -> Route {
    Route(HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: HTTPHeaders(headers)))
  }

  private func status(_ route: Route) -> Int? {
    guard case .refused(let refusal) = route else { return nil }
    return Int(refusal.status.code)
  }

  private let type = ("Content-Type", "application/octet-stream")

  func testTheProtocolsPaths() {
    XCTAssertEqual(route(.POST, "/v1/exchange", [type]), .exchange(listener: nil))
    XCTAssertEqual(route(.POST, "/v1/exchange", [type, ("porter-listener", listener)]), .exchange(listener: listener))
    XCTAssertEqual(route(.GET, "/v1/news", [("Porter-Listener", listener)]), .news(listener: listener, after: nil))
    XCTAssertEqual(
      route(.GET, "/v1/news", [("Porter-Listener", listener), ("Last-Event-ID", "a.7")]),
      .news(listener: listener, after: NewsPosition(epoch: 10, count: 7)))
    XCTAssertEqual(route(.GET, "/health"), .health)
  }

  func testEverythingElseIsRefused() {
    XCTAssertEqual(status(route(.GET, "/")), 404)
    XCTAssertEqual(status(route(.GET, "/metrics")), 404)
    XCTAssertEqual(status(route(.POST, "/v1/exchange?x", [type])), 404)
    XCTAssertEqual(status(route(.POST, "//v1/exchange", [type])), 404)
    XCTAssertEqual(status(route(.GET, "/v1/exchange")), 405)
    XCTAssertEqual(status(route(.POST, "/v1/news")), 405)
    XCTAssertEqual(status(route(.POST, "/v1/exchange")), 415)
    XCTAssertEqual(status(route(.POST, "/v1/exchange", [("Content-Type", "text/plain")])), 415)
    XCTAssertEqual(status(route(.POST, "/v1/exchange", [type, ("Content-Length", "65537")])), 413)
    XCTAssertEqual(status(route(.GET, "/v1/news")), 400)
    for bad in ["", "short", listener + "a", String(listener.dropLast()) + "+", String(listener.dropLast()) + "="] {
      XCTAssertEqual(status(route(.GET, "/v1/news", [("Porter-Listener", bad)])), 400, bad)
      XCTAssertEqual(status(route(.POST, "/v1/exchange", [type, ("Porter-Listener", bad)])), 400, bad)
    }
    XCTAssertEqual(
      status(route(.GET, "/v1/news", [("Porter-Listener", listener), ("Porter-Listener", listener)])), 400)
  }

  func testAnIdThatCannotBeReadIsUnknownAndNotIgnored() {
    XCTAssertEqual(
      route(.GET, "/v1/news", [("Porter-Listener", listener), ("Last-Event-ID", "what")]),
      .news(listener: listener, after: NewsPosition(epoch: .max, count: 0)))
  }

  func testMakingAMailboxIsRecognisedInAnyRequest() {
    let start = [1] + [UInt8](repeating: 7, count: 24)
    let signature = [1] + [UInt8](repeating: 9, count: 64)
    let entity = [1] + [UInt8](repeating: 8, count: 24)
    for head in [[0, 0], signature + [0], [0] + entity, signature + entity] {
      XCTAssertTrue(RequestPeek.makesMailbox(start + head + [1]))
      XCTAssertFalse(RequestPeek.makesMailbox(start + head + [3]))
      for length in 0..<(start.count + head.count) {
        XCTAssertFalse(RequestPeek.makesMailbox(Array((start + head).prefix(length))), "\(length)")
      }
    }
  }
}
