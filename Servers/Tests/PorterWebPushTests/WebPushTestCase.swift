import Foundation
import NIOCore
import PorterServer
import PorterWebPush
import PushStandIns
import XCTest

struct WebPushRequest: Decodable {
  let authorization: String
  let path: String
  let ttl: String
  let urgency: String
  let topic: String?
  let connection: Int
  /// As opened by http-ece.
  let body: String
}

/// The provider against a push service that shares no code with it: py-vapid verifies its tokens, http-ece opens its
/// messages.
class WebPushTestCase: XCTestCase {
  var mock: StandIn<WebPushRequest>!
  var provider: WebPushProvider!
  let clock = ManualClock()
  let outcomes = Outcomes()
  private(set) var sent = 0

  struct Receiver: Decodable {
    let p256dh: String
    let auth: String
    let sender: String
  }

  override func setUpWithError() throws {
    mock = try StandIn("webpush.py")
    provider = try WebPushProvider(options(), clock: clock)
  }

  override func tearDownWithError() throws {
    try provider?.close()
    mock?.close()
  }

  /// `streams`: the number of concurrent requests that the push service allows.
  func restart(streams: Int) throws {
    try tearDownWithError()
    mock = try StandIn("webpush.py", streams: streams)
    provider = try WebPushProvider(options(), clock: clock)
  }

  func options() throws -> WebPushOptions {
    var options = try WebPushOptions(
      key: mock.folder.appendingPathComponent("vapid.pem").path, contact: "mailto:operator@example.org")
    options.authority = mock.folder.appendingPathComponent("server.pem").path
    options.allowsPrivateAddresses = true
    return options
  }

  func receiver() throws -> Receiver { try JSONDecoder().decode(Receiver.self, from: mock.beginning) }

  func push(
    _ kind: ServedPush.Kind = .message, to endpoint: String? = nil, key: [UInt8]? = nil,
    payload: String = #"{"aps":{}}"#
  ) throws -> ServedPush {
    let receiver = try receiver()
    let target = WebPushTarget(
      endpoint: try endpoint ?? "https://localhost:\(mock.port)/push/\(sent)", key: try key ?? hex(receiver.p256dh),
      secret: try hex(receiver.auth))
    let isAlert = kind == .message
    return ServedPush(
      kind: kind, token: [], isAlert: isAlert, priority: isAlert ? 10 : 5, payload: Array(payload.utf8), webPush: target
    )
  }

  func hex(_ text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map {
      try XCTUnwrap(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
    }
  }

  func send(_ push: ServedPush) {
    sent += 1
    provider.send(push, then: outcomes.note(sent))
  }

  func outcome(_ push: ServedPush) -> PushOutcome? {
    send(push)
    return outcomes.wait(1)[sent]?.first
  }

  func outcome() throws -> PushOutcome? { outcome(try push()) }
}
