import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterRelay
import PropertyTesting
import XCTest

@testable import PorterPush
@testable import PorterServer

/// Anyone with a server's link can write to it. Whatever they seal is answered in the protocol or ignored, and others
/// are served. PORTER_FUZZ_RUNS sets the number of runs, PORTER_SEED repeats one.
final class RequestFuzzTests: XCTestCase {
  func testWhateverAClientSealsAndSignsIsAnsweredOrIgnored() throws {
    let world = try World()
    let (device, witness) = (try Device(world), try Device(world))
    try witness.activate()
    try device.activate()
    var results: [String: Int] = [:]
    var silent = 0
    forAll(both(Generator.edits, Generator<UInt8>.number()), runs: Edits.runs(600)) { edits, number in
      let commands = try self.commands(device)
      let text = try device.request(commands[Int(number) % commands.count])
      try device.deliver(try device.sealed(edits.applied(to: text)))
      repeat { try world.server.serve() } while world.server.hasMoreToDo
      try expect(world.server.problems.isEmpty, "\(world.server.problems)")
      guard let answer = try device.answer() else { return silent += 1 }
      results[name(of: answer), default: 0] += 1
      try expect(try device.answer() == nil, "a second answer")
    }
    // Otherwise the requests get no further than their first bytes.
    for result in ["token", "done", "subscriptions", "AUTH", "SYNTAX", "QUOTA"] {
      XCTAssertGreaterThan(results[result, default: 0], 0, "\(results)")
    }
    XCTAssertGreaterThan(silent, 0, "a request that cannot be read has no answer")
    XCTAssertEqual(try witness.status(), .active)
  }

  func testWhateverIsSentToAServerIsIgnored() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let whole = try device.sealed(try device.request(.check(token: device.token)))
    forAll(.edits, runs: Edits.runs(300)) { edits in
      let body = edits.applied(to: whole)
      try assume(body != whole && body.count <= 16_000)
      try device.deliver(body)
      repeat { try world.server.serve() } while world.server.hasMoreToDo
      try expect(try device.answer() == nil, "what was changed outside of its box is answered")
    }
    XCTAssertEqual(try device.status(), .active)
  }

  private func name(of answer: ServerAnswer) -> String {
    switch answer.result {
    case .token: "token"
    case .done: "done"
    case .subscriptions: "subscriptions"
    case .refused(let reason): reason.rawValue
    }
  }

  /// All commands except TDEL, after which the others would be refused.
  private func commands(_ device: Device) throws -> [ServerRequest.Command] {
    let credentials = try (0..<2).map { _ in
      try XCTUnwrap(
        NotifierCredentials(notifier: randomness.bytes(24), key: try SigningKeyPair.generate(randomness: randomness)))
    }
    return [
      device.newToken, .verify(token: device.token, try .generate(randomness: randomness)), .check(token: device.token),
      .setPeriod(token: device.token, minutes: 7), .setPeriod(token: device.token, minutes: 30),
      .subscribe(token: device.token, credentials),
      .checkSubscriptions(token: device.token, credentials.map(\.notifier)),
      .unsubscribe(token: device.token, credentials.map(\.notifier)),
    ]
  }
}

extension Device {
  /// The JSON of a request, as specified by the protocol.
  fileprivate func request(_ command: ServerRequest.Command) throws -> [UInt8] {
    ServerRequest(
      correlation: try .generate(randomness: randomness), replyMailbox: replies.sender.bytes, command: command
    ).json.utf8
  }

  /// Written from the text of `spec/protocol/notification-server.md`.
  fileprivate func sealed(_ text: [UInt8]) throws -> [UInt8] {
    let signed = Array("nightporter notification server request".utf8) + [1] + link.key.bytes + text
    let shared = try boxKey.secretKey.agree(with: link.key)
    let nonce = try BoxNonce.generate(randomness: randomness)
    let box = try shared.sealPadded(signingKey.sign(signed) + text, to: 8_192, nonce: nonce)
    return [1] + boxKey.publicKey.bytes + nonce.bytes + box
  }
}
