import CCountedCrypto
import PorterCrypto
import PorterPlatform
import PorterRelay
import RefusedRequests
import XCTest

@testable import PorterRelayCluster

/// Neither an answer nor its timing reveals whether a mailbox exists: counted in requests to the cluster, signatures
/// verified, and hashes.
final class EqualQuestionsTests: ClusterTestCase {
  private struct Work: Equatable {
    var answer: RelayAnswer
    var requests: [String]
    var verifications: Int
    var hashes: Int
    var agreements: Int
  }

  private func measure(_ port: ClusterPort, _ request: RelayRequest) throws -> Work {
    let before = counted_crypto()
    var outcome: RelayService.Outcome?
    let requests = store.requests { outcome = port.outcome(of: request.encoded()) }
    let after = counted_crypto()
    guard case .answer(let bytes, _, _, _)? = outcome else { throw RelayError.unavailable }
    var answer = try RelayAnswer(decoding: bytes, correlation: request.correlation)
    // Each relay has its own positions.
    if case .listening(_, let results) = answer { answer = .subscriptions(results) }
    return Work(
      answer: answer, requests: requests, verifications: after.verifications - before.verifications,
      hashes: after.hashes - before.hashes, agreements: after.agreements - before.agreements)
  }

  /// With messages, a notifier and a shared key.
  private func filledMailbox(isSecured: Bool) throws -> (Fixture, [RefusedRequest.Name: RelayIdentifier]) {
    let (key, senderKey) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let made = try client.createMailbox(recipientKey: key, senderKey: isSecured ? senderKey.publicKey : nil)
    let notifier = try client.enableNotifier(
      made.recipient, key: key, notifierKey: try SigningKeyPair.generate(randomness: randomness).publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    for _ in 0..<3 {
      try client.send(
        [1], to: made.sender, key: isSecured ? senderKey : nil, attempt: .generate(randomness: randomness),
        notify: true)
    }
    XCTAssertEqual(try client.check([(recipient: made.recipient, key: key)]), [.waiting])
    return (
      Fixture(recipient: made.recipient, sender: made.sender, key: key, senderKey: senderKey),
      [.recipient: made.recipient, .sender: made.sender, .notifier: notifier.identifier]
    )
  }

  func testAWrongKeyTakesAsMuchWorkAsANameThatIsNotThere() throws {
    let (secured, open) = (try filledMailbox(isSecured: true), try filledMailbox(isSecured: false))
    let bare = try newMailbox()
    let wrong = try SigningKeyPair.generate(randomness: randomness)
    for each in RefusedRequest.all {
      // Another name of the same mailbox is the name of none.
      var present = [
        "secured": secured.1[each.names], "open": open.1[each.names],
        "bare": each.names == .sender ? bare.sender : bare.recipient,
        "another name": secured.1[each.names == .sender ? .recipient : .sender],
      ]
      // Anyone may send to a mailbox that is not secured, without a signature.
      if each.name == "send", !each.isSigned { present["open"] = nil }
      let missing = try measure(
        makePort(listener: "one"), each.make(.generate(randomness: randomness), wrong))
      XCTAssertTrue(missing.requests.contains("settle"), each.name)
      XCTAssertEqual(missing.verifications > 0, each.isSigned, each.name)
      for (what, entity) in present {
        let entity = try XCTUnwrap(entity)
        let port = makePort(listener: "one")
        XCTAssertEqual(try measure(port, each.make(entity, wrong)), missing, "\(each.name), \(what)")
        // Now this relay remembers the record.
        XCTAssertEqual(try measure(port, each.make(entity, wrong)), missing, "\(each.name), \(what), remembered")
      }
      // It is not its answers that a relay remembers.
      let port = makePort(listener: "one")
      for _ in 0..<2 {
        XCTAssertEqual(
          try measure(port, each.make(.generate(randomness: randomness), wrong)), missing, "\(each.name), another")
      }
    }
  }

  /// A record that changed since a relay saw it is checked again: only then does the work differ.
  func testARecordThatChangedIsCheckedAgain() throws {
    let mailbox = try newMailbox()
    let (old, other) = (makePort(), makeClient())
    let wrong = try SigningKeyPair.generate(randomness: randomness)
    let send = try XCTUnwrap(RefusedRequest.all.first { $0.name == "send" && $0.isSigned })
    XCTAssertEqual(try measure(old, send.make(mailbox.sender, wrong)).verifications, 1)
    try self.send("hello", to: mailbox, by: other)
    let changed = try measure(old, send.make(mailbox.sender, wrong))
    XCTAssertEqual(changed.answer, .failed(.auth))
    XCTAssertEqual(changed.verifications, 2)
    XCTAssertEqual(try measure(old, send.make(mailbox.sender, wrong)).verifications, 1)
  }
}
