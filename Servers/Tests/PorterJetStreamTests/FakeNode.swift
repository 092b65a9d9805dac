import Foundation
import Synchronization
import XCTest

@testable import PorterJetStream

/// A node that accepts one connection, or several one after another, and answers requests as the test specifies.
final class FakeNode: Sendable {
  struct Request: Sendable {
    var subject: String
    /// `NATS/1.0` and lines, as received; empty without headers.
    var headers: String
    var payload: String
    var reply: String?
  }

  enum Answer: Sendable {
    case text(String)
    /// Without contents.
    case status(Int)
    /// The connection ends.
    case end
  }

  /// An open socket.
  private final class Listener: Sendable {
    let descriptor: Int32
    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  /// For tests in which requests have their answers: longer than a busy machine takes.
  static let patience = Duration.seconds(30)

  let port: UInt16
  private let listener: Listener
  private let taken = Mutex<[Request]>([])
  private let client = Client()

  /// The connected client.
  private final class Client: Sendable {
    private struct State {
      var connection: Int32?
      var subscriptions: [(subject: String, identifier: String)] = []
    }

    private let state = Mutex(State())

    func begin(_ connection: Int32) { state.withLock { $0 = State(connection: connection) } }
    func end() { state.withLock { $0.connection = nil } }
    func subscribe(_ subject: String, _ identifier: String) {
      state.withLock { $0.subscriptions.append((subject, identifier)) }
    }

    /// False without a subscription that matches `deliveredOn`. `subject`: the message's, if it differs.
    func put(
      _ kind: String, on deliveredOn: String, subject: String? = nil, reply: String? = nil, sizes: [Int], _ text: String
    ) -> Bool {
      state.withLock { state in
        guard let connection = state.connection,
          let subscription = state.subscriptions.last(where: { FakeNode.matches(deliveredOn, $0.subject) })
        else { return false }
        let words =
          [kind, subject ?? deliveredOn, subscription.identifier] + [reply].compactMap(\.self) + sizes.map(String.init)
        FakeNode.put("\(words.joined(separator: " "))\r\n\(text)\r\n", connection)
        return true
      }
    }
  }

  /// All requests received, in order.
  var requests: [Request] { taken.withLock { $0 } }

  /// Waits until this many have arrived, and a moment longer: there must be no others.
  func awaitRequests(_ count: Int) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while requests.count < count, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(50))
  }

  /// Sends a message to the subscription that matches `deliveredOn`.
  func give(
    _ subject: String, on deliveredOn: String, reply: String? = nil, headers: [String] = [], status: Int? = nil,
    data: String = ""
  ) {
    let first = status.map { "NATS/1.0 \($0)" } ?? "NATS/1.0"
    let head = ([first] + headers + ["", ""]).joined(separator: "\r\n")
    let sizes = [head.utf8.count, head.utf8.count + data.utf8.count]
    if !client.put("HMSG", on: deliveredOn, subject: subject, reply: reply, sizes: sizes, head + data) {
      XCTFail("no subscription to \(deliveredOn)")
    }
  }

  init(connections: Int = 1, _ answer: @escaping @Sendable (Request) -> Answer? = { _ in nil }) throws {
    let listener = Listener(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    let descriptor = listener.descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try XCTSkipUnless(isListening, "no socket")
    self.listener = listener
    port = address.sin_port.bigEndian
    Thread.detachNewThread { [client, weak self] in
      for _ in 0..<connections {
        let connection = accept(listener.descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        Self.put(
          "INFO {\"server_id\":\"N\",\"version\":\"2.9.10\",\"headers\":true,\"max_payload\":1048576}\r\n", connection)
        client.begin(connection)
        defer { client.end() }
        Self.serve(connection, client) { request in
          self?.taken.withLock { $0.append(request) }
          return answer(request)
        }
      }
    }
  }

  /// `patience`: how long requests wait for their answers; nil: as long as those of a relay.
  func connect(patience: Duration? = nil) throws -> NATSConnection {
    var options = NATSOptions(servers: "nats://127.0.0.1:\(port)")
    if let patience { options.patience = patience }
    return try NATSConnection(options, name: "test")
  }

  private static func serve(_ connection: Int32, _ client: Client, _ answer: (Request) -> Answer?) {
    var reader = Reader(connection)
    while let line = reader.line() {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "PING": put("PONG\r\n", connection)
      case "SUB": client.subscribe(words[1], words[words.count - 1])
      case "PUB", "HPUB":
        let (isWithHeaders, total) = (words[0] == "HPUB", Int(words[words.count - 1]) ?? 0)
        let head = isWithHeaders ? Int(words[words.count - 2]) ?? 0 : 0
        let hasReply = words.count == (isWithHeaders ? 5 : 4)
        guard let bytes = reader.bytes(total + 2) else { return }
        let request = Request(
          subject: words[1], headers: String(decoding: bytes.prefix(head), as: UTF8.self),
          payload: String(decoding: bytes[head..<total], as: UTF8.self), reply: hasReply ? words[2] : nil)
        guard let answered = answer(request), hasReply else { continue }
        switch answered {
        case .text(let text): _ = client.put("MSG", on: words[2], sizes: [text.utf8.count], text)
        case .end: return
        case .status(let number):
          let head = "NATS/1.0 \(number)\r\n\r\n"
          _ = client.put("HMSG", on: words[2], sizes: [head.utf8.count, head.utf8.count], head)
        }
      default: break
      }
    }
  }

  private static func matches(_ subject: String, _ pattern: String) -> Bool {
    pattern == subject || (pattern.hasSuffix(".*") && subject.hasPrefix(pattern.dropLast()))
  }

  private struct Reader {
    private let connection: Int32
    private var buffer: [UInt8] = []

    init(_ connection: Int32) { self.connection = connection }

    mutating func line() -> String? {
      while true {
        if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(in: .newlines)
          buffer.removeSubrange(...end)
          return line
        }
        guard more() else { return nil }
      }
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
      while buffer.count < count { guard more() else { return nil } }
      defer { buffer.removeFirst(count) }
      return Array(buffer.prefix(count))
    }

    private mutating func more() -> Bool {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(connection, &bytes, bytes.count)
      guard count > 0 else { return false }
      buffer += bytes.prefix(count)
      return true
    }
  }

  private static func put(_ text: String, _ connection: Int32) {
    let bytes = Array(text.utf8)
    _ = write(connection, bytes, bytes.count)
  }

  // Ends the wait for another connection.
  deinit { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
}
