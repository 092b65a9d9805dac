import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// Asking about many mailboxes at the same time: which have messages waiting, and where something has arrived since.
final class RelayArrivalTests: RelayTestCase {
  private typealias End = (recipient: RelayIdentifier, key: SigningKeyPair)

  private func end(_ mailbox: Fixture) -> End { (recipient: mailbox.recipient, key: mailbox.recipientKey) }

  func testACheckSaysWhereSomethingWaitsAndSubscribesToNothing() throws {
    let (empty, full, other) = (try newMailbox(), try newMailbox(), try newMailbox())
    try send("waits", to: full)
    let stranger = End(recipient: other.recipient, key: try newKey())
    let asking = another()
    let results = try RelayClient(port: asking, randomness: randomness).check([end(empty), end(full), stranger])
    XCTAssertEqual(results, [.subscribed, .waiting, .auth])
    XCTAssertNil(asking.wakeDescriptor)
    _ = try receiveAll(full)
    XCTAssertEqual(try client.check([end(full)]), [.subscribed])
  }

  /// Names new mailboxes with each answer.
  private final class EndlessPort: RelayPort {
    let isLocal = false
    private let randomness = SystemRandomness()

    func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
      let request = try RelayRequest(decoding: request)
      let first = try RelayIdentifier.generate(randomness: randomness)
      guard let position = RelayPosition(bytes: first.bytes + first.bytes.prefix(8)) else { throw .answer }
      let mailboxes = [RelayIdentifier](repeating: first, count: RelayLimits.batch)
      return RelayAnswer.arrivals(position, mailboxes).encoded(for: request.correlation)
    }

    var wakeDescriptor: Int32? { nil }
    func drainWake() {}
    func close() {}
  }

  func testARelayThatNamesMailboxesWithoutEndIsListenedToAnew() throws {
    let client = RelayClient(port: EndlessPort(), randomness: randomness)
    let start = try XCTUnwrap(RelayPosition(bytes: [UInt8](repeating: 0, count: RelayPosition.count)))
    XCTAssertThrowsError(try client.arrivals(after: start, as: try newKey())) {
      XCTAssertEqual($0 as? RelayError, .auth)
    }
  }

  func testArrivalsNameTheMailboxesThatGotSomethingSince() throws {
    let (first, second, foreign) = (try newMailbox(), try newMailbox(), try newMailbox())
    try send("earlier", to: second)
    let key = try newKey()
    let (start, results) = try client.listen(to: [end(first), end(second)], as: key)
    XCTAssertEqual(results, [.subscribed, .waiting])
    XCTAssertEqual(try client.arrivals(after: start, as: key).mailboxes, [], "what waited is not news")
    try send("x", to: foreign)
    try send("y", to: first)
    let (position, mailboxes) = try client.arrivals(after: start, as: key)
    XCTAssertEqual(mailboxes, [first.recipient])
    XCTAssertEqual(try client.arrivals(after: start, as: key).mailboxes, [first.recipient], "asked again")
    XCTAssertEqual(try client.arrivals(after: position, as: key).mailboxes, [])
    // One more mailbox under the same key.
    let (later, _) = try client.listen(to: [end(foreign)], as: key)
    XCTAssertEqual(later, position)
    try send("z", to: foreign)
    XCTAssertEqual(try client.arrivals(after: position, as: key).mailboxes, [foreign.recipient])
  }

  func testMoreArrivalsThanAnAnswerHoldsAreAllReported() throws {
    let mailboxes = try (0..<3).map { _ in try newMailbox() }
    let key = try newKey()
    let (start, _) = try client.listen(to: mailboxes.map(end), as: key)
    for mailbox in mailboxes { for number in 0..<100 { try send("\(number)", to: mailbox) } }
    let arrived = try client.arrivals(after: start, as: key).mailboxes
    XCTAssertEqual(arrived.count, 300)
    XCTAssertEqual(Set(arrived), Set(mailboxes.map(\.recipient)))
  }

  func testAnUnknownKeyOrPositionIsRefused() throws {
    let (mailbox, newest) = (try newMailbox(), try newMailbox())
    let key = try newKey()
    try send("newest", to: newest)
    let (position, _) = try client.listen(to: [end(mailbox)], as: key)
    func refused(_ key: SigningKeyPair, _ relay: EmbeddedRelay) {
      XCTAssertThrowsError(try RelayClient(port: relay, randomness: randomness).arrivals(after: position, as: key)) {
        XCTAssertEqual($0 as? RelayError, .auth)
      }
    }
    refused(try newKey(), relay)
    refused(key, another())
    // The number of the newest message is reused for another one.
    try client.deleteMailbox(newest.recipient, key: newest.recipientKey)
    try send("of the same number", to: mailbox)
    refused(key, relay)
    relay.releaseFiles()
    refused(key, relay)
  }

  /// The cost of one arrival does not grow with the mailboxes, nor with the messages waiting in them.
  func testAnArrivalCostsTheSameInAThousandMailboxes() throws {
    let few = try cost(ofAnArrivalIn: 2)
    let many = try cost(ofAnArrivalIn: 1_000)
    XCTAssertLessThan(many, few + 50, "it was \(few)")
  }

  private func cost(ofAnArrivalIn count: Int) throws -> Int {
    let mailboxes = try (0..<count).map { _ in try newMailbox() }
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    defer { try? file.database.close() }
    let key = try newKey()
    let (start, _) = try client.listen(to: mailboxes.map(end), as: key)
    try send("x", to: mailboxes[count / 2])
    let listener = try XCTUnwrap(file.listeners().first)
    var request = RelayRequest(
      correlation: try newAttempt(), entity: nil,
      command: .arrivals(key: key.publicKey, after: start, limit: 256))
    request.signature = key.sign(request.signedBytes)
    let before = file.database.instructions
    let answer = try file.arrivals(request, key: key.publicKey, listener: listener, after: start, limit: 256)
    guard case .arrivals(_, let named) = answer else { throw RelayError.answer }
    XCTAssertEqual(named, [mailboxes[count / 2].recipient])
    return file.database.instructions - before
  }

  /// Both commands go to relays of earlier versions, which refuse unknown ones.
  func testACommandOfALaterVersionIsRefusedAsSyntax() throws {
    let request = [RelayLimits.version] + (try newAttempt()).bytes + [0, 0, 200]
    let answer = try RelayAnswer(
      decoding: try relay.exchange(request), correlation: RelayRequest.correlation(of: request))
    XCTAssertEqual(answer, .failed(.syntax))
  }
}
