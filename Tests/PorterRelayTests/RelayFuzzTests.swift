import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterRelay

final class RelayFuzzTests: RelayTestCase {
  /// Whatever bytes arrive, the relay answers with the requested result or with a protocol error. It never throws its
  /// own file's errors, and never traps.
  func testAnyBytesAreAnswered() throws {
    let mailbox = try newMailbox()
    let service = try newKey()
    let relay = relay
    var tally: [RelayError: Int] = [:]
    var refused = 0
    // So that the few sends that are accepted fill the mailbox in every run.
    for number in 0..<100 { try send("\(number)", to: mailbox) }
    forAll(both(RelayGenerators.request, Generator<[UInt8]>.bytes(0...40)), runs: 3_400) { request, noise in
      for bytes in self.variants(of: request, noise, mailbox, service) {
        let answer = try relay.exchange(bytes)
        let correlation = RelayRequest.correlation(of: bytes)
        guard case .failed(let error) = try RelayAnswer(decoding: answer, correlation: correlation) else { continue }
        tally[error, default: 0] += 1
        refused += 1
      }
    }
    // Otherwise the requests get no further than the first length.
    for error in [RelayError.auth, .syntax, .version, .size, .noMessage, .quota] {
      XCTAssertGreaterThan(tally[error, default: 0], 0, "no request was refused with \(error): \(tally)")
    }
    XCTAssertGreaterThan(refused, 1_000)
    XCTAssertEqual(tally[.unavailable, default: 0], 0)
    let untouched = try newMailbox()
    try send("still running", to: untouched)
    XCTAssertEqual(try receiveAll(untouched), ["still running"])
  }

  /// Noise; the request with some bytes changed; and the request for an existing mailbox, properly signed and then
  /// changed in one place.
  private func variants(
    of request: RelayRequest, _ noise: [UInt8], _ mailbox: Fixture, _ service: SigningKeyPair
  ) -> [[UInt8]] {
    var changed = request.encoded()
    for (offset, byte) in noise.enumerated() {
      let position = (offset &* 37 &+ Int(byte) &* 11) % changed.count
      switch byte % 4 {
      case 0: changed[position] ^= byte
      case 1: changed.insert(byte, at: position)
      case 2: changed.removeSubrange(position..<min(position + Int(byte % 8), changed.count))
      default: changed[position] = 0xff
      }
      if changed.isEmpty { break }
    }
    return [noise, changed, signed(request, noise, mailbox, service).encoded()]
  }

  private func signed(
    _ request: RelayRequest, _ noise: [UInt8], _ mailbox: Fixture, _ service: SigningKeyPair
  ) -> RelayRequest {
    var request = request
    let key: SigningKeyPair
    switch request.command {
    case .send(let attempt, let notify, let body):
      request.entity = mailbox.sender
      key = mailbox.senderKey
      if noise.count == 7 {
        request.command = .send(
          attempt: attempt, notify: notify, body: body + [UInt8](repeating: 0, count: RelayLimits.body))
      }
    case .deleteMailbox, .getMessage, .getMessageWithAge, .acknowledge, .acknowledgeAndGet, .secureMailbox,
      .enableNotifier, .disableNotifier, .subscribe, .check, .checkByKeys, .shareCheckKeys:
      if case .deleteMailbox = request.command { request.command = .getMessage }
      request.entity = mailbox.recipient
      key = mailbox.recipientKey
    case .createMailbox(_, let senderKey):
      request.entity = nil
      key = mailbox.recipientKey
      request.command = .createMailbox(recipientKey: key.publicKey, senderKey: senderKey)
    case .subscribeNotifiers(_, let entries):
      request.entity = nil
      key = service
      request.command = .subscribeNotifiers(service: key.publicKey, entries)
    case .listen(_, let entries):
      request.entity = nil
      key = service
      request.command = .listen(key: key.publicKey, entries)
    case .arrivals(_, let position, let limit):
      request.entity = nil
      key = service
      request.command = .arrivals(key: key.publicKey, after: position, limit: limit)
    case .notifications(_, let limit):
      request.entity = nil
      key = service
      request.command = .notifications(service: key.publicKey, limit: limit)
    case .dueNotifications(_, let limit):
      request.entity = nil
      key = service
      request.command = .dueNotifications(service: key.publicKey, limit: limit)
    case .acknowledgeNotifications(_, let nonces):
      request.entity = nil
      key = service
      request.command = .acknowledgeNotifications(service: key.publicKey, nonces)
    case .acknowledgeAndGetNotifications(_, let limit, let nonces, let entries):
      request.entity = nil
      key = service
      request.command = .acknowledgeAndGetNotifications(
        service: key.publicKey, limit: limit, acknowledged: nonces, mailboxes: entries)
    }
    request.signature = key.sign(request.signedBytes)
    return request
  }
}
