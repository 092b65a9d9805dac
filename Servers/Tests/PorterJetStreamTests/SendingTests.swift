import Foundation
import XCTest

@testable import PorterJetStream

final class SendingTests: XCTestCase {
  /// libnats would keep them for a millisecond, for others to come: longer than the cluster takes to answer.
  func testAMessageIsSentWhenItIsPublished() throws {
    let node = try Node()
    let connection = try NATSConnection(.init(servers: "nats://127.0.0.1:\(node.port)"), name: "test")
    defer { connection.close() }
    for _ in 0..<50 {
      connection.publish("subject", [1, 2, 3])
      XCTAssertEqual(connection.unsent, 0)
    }
  }

  /// A node that takes one connection, and everything that comes over it.
  private final class Node: Sendable {
    let port: UInt16
    private let listener: Int32

    init() throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
        }
      }
      try XCTSkipUnless(isListening, "no socket")
      self.listener = listener
      port = address.sin_port.bigEndian
      Thread.detachNewThread { Self.serve(listener) }
    }

    private static func serve(_ listener: Int32) {
      let connection = accept(listener, nil, nil)
      defer { close(connection) }
      put("INFO {\"server_id\":\"N\",\"version\":\"2.9.10\",\"headers\":true,\"max_payload\":1048576}\r\n", connection)
      var bytes = [UInt8](repeating: 0, count: 65_536)
      var text = ""
      while true {
        let count = read(connection, &bytes, bytes.count)
        guard count > 0 else { return }
        text += String(decoding: bytes[..<count], as: UTF8.self)
        while let ping = text.range(of: "PING\r\n") {
          text.removeSubrange(..<ping.upperBound)
          put("PONG\r\n", connection)
        }
      }
    }

    private static func put(_ text: String, _ connection: Int32) {
      let bytes = Array(text.utf8)
      _ = write(connection, bytes, bytes.count)
    }

    deinit { close(listener) }
  }
}
