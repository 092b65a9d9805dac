import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterServer
import XCTest

final class LocalProviderTests: XCTestCase {
  private var path = ""

  override func setUp() { path = "/tmp/porter-\(UUID().uuidString.prefix(8)).sock" }
  override func tearDown() { unlink(path) }

  private func push() throws -> OutgoingPush {
    let key = try BoxKeyPair.generate(randomness: randomness)
    let payload = try NotificationBundle([]).push(
      sealedWith: key.secretKey.agree(with: key.publicKey), nonce: .generate(randomness: randomness))
    return try OutgoingPush(payload, to: XCTUnwrap(PushToken(provider: "apns_test", bytes: [0xab, 0x01])))
  }

  /// The timeout allows for a busy machine; only a device that stays silent uses all of it.
  private func provider(_ timeout: Span = .seconds(60)) throws -> LocalProvider {
    try LocalProvider(path: path, timeout: timeout)
  }

  func testAPushIsOneLineWithTheWholePayload() throws {
    let socket = try DeviceSocket(path: path)
    defer { socket.shut() }
    let push = try push()
    XCTAssertEqual(try provider().deliver(push), .accepted)
    let json = try XCTUnwrap(socket.next())
    XCTAssertEqual(json["token"], "ab01")
    XCTAssertEqual(json["provider"], "apns_test")
    XCTAssertEqual(json["type"], "alert")
    XCTAssertEqual(json["priority"], 10)
    XCTAssertEqual(json["payload"], push.payload)
    XCTAssertNoThrow(try PushPayload(decoding: XCTUnwrap(json["payload"]).utf8))
  }

  func testTheDevicesAnswersAreReadLikeAPNs() throws {
    let socket = try DeviceSocket(path: path)
    defer { socket.shut() }
    let answers: [(String, PushOutcome)] = [
      (#"{"status":400,"reason":"BadDeviceToken"}"#, .invalid(.bad)),
      (#"{"status":410,"reason":"Unregistered"}"#, .invalid(.unregistered)),
      (#"{"status":413,"reason":"PayloadTooLarge"}"#, .rejected(status: 413)),
      (#"{"status":503}"#, .unreachable(.answer(status: 503, reason: nil))),
    ]
    for (answer, outcome) in answers {
      socket.behave(.answer(answer))
      XCTAssertEqual(try provider().deliver(push()), outcome, answer)
    }
  }

  func testAMissingOrSilentDeviceIsUnreachableWithinTheTimeout() throws {
    XCTAssertEqual(try provider().deliver(push()), .unreachable(.connectionRefused), "no socket")
    let socket = try DeviceSocket(path: path)
    socket.behave(.silent)
    XCTAssertEqual(try provider(.seconds(1)).deliver(push()), .unreachable(.noAnswer(seconds: 1)), "silent")
    let behaviours: [(DeviceSocket.Behaviour, ProviderFailure)] = [
      (.hangUp, .closed), (.answer("hello"), .malformedAnswer), (.answer("{}"), .malformedAnswer),
      (.answer(#"{"status":"ok"}"#), .malformedAnswer), (.answer(#"{"status":-5}"#), .malformedAnswer),
      (.answer(String(repeating: "x", count: 10_000)), .closed),
    ]
    for (behaviour, failure) in behaviours {
      socket.behave(behaviour)
      XCTAssertEqual(try provider().deliver(push()), .unreachable(failure), "\(behaviour)")
    }
    socket.shut()
    XCTAssertEqual(try provider().deliver(push()), .unreachable(.connectionRefused), "a socket without a listener")
  }

  func testAPathTooLongForASocketIsRefused() {
    XCTAssertThrowsError(try LocalProvider(path: "/" + String(repeating: "x", count: 200))) { error in
      guard case ServerError.socketPathTooLong? = error as? ServerError else { return XCTFail("\(error)") }
    }
  }
}
