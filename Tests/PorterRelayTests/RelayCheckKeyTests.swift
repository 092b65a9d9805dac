import PorterCrypto
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import PorterRelay

/// Asking about many mailboxes with keys shared with the relay, instead of a signature for each.
final class RelayCheckKeyTests: RelayTestCase {
  private func end(_ mailbox: Fixture) -> (recipient: RelayIdentifier, key: SigningKeyPair) {
    (recipient: mailbox.recipient, key: mailbox.recipientKey)
  }

  /// Records the requests; may refuse commands like a relay that does not know them.
  private final class Port: RelayPort {
    private let relay: EmbeddedRelay
    private let refused: Set<RelayCommand.Tag>
    private let asked = Mutex<[RelayCommand]>([])

    init(_ relay: EmbeddedRelay, refusing refused: Set<RelayCommand.Tag> = []) {
      self.relay = relay
      self.refused = refused
    }

    var commands: [RelayCommand] { asked.withLock { $0 } }
    var tags: [RelayCommand.Tag] { commands.map(\.tag) }

    func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
      let decoded = try RelayRequest(decoding: request)
      asked.withLock { $0.append(decoded.command) }
      if refused.contains(decoded.command.tag) {
        return RelayAnswer.failed(.syntax).encoded(for: decoded.correlation)
      }
      return try relay.exchange(request)
    }

    var isLocal: Bool { true }
    var wakeDescriptor: Int32? { relay.wakeDescriptor }
    func drainWake() { relay.drainWake() }
    func close() { relay.close() }
  }

  func testNothingIsSignedOnceTheRelayKnowsTheKeys() throws {
    let (empty, full) = (try newMailbox(), try newMailbox())
    try send("waits", to: full)
    let port = Port(another())
    let client = RelayClient(port: port, randomness: randomness)
    XCTAssertEqual(try client.check([end(empty), end(full)]), [.subscribed, .waiting])
    XCTAssertEqual(port.tags, [.checkByKeys, .shareCheckKeys])
    port.close()
    // Another process, which keeps nothing of the first.
    let later = Port(another())
    let asking = RelayClient(port: later, randomness: randomness)
    XCTAssertEqual(try asking.check([end(empty), end(full)]), [.subscribed, .waiting])
    _ = try receiveAll(full)
    XCTAssertEqual(try asking.check([end(full), end(empty)]), [.subscribed, .subscribed])
    XCTAssertEqual(later.tags, [.checkByKeys, .checkByKeys])
    // For a mailbox new to the relay, only that mailbox's key is shared.
    let new = try newMailbox()
    try send("waits", to: new)
    XCTAssertEqual(try asking.check([end(empty), end(new)]), [.subscribed, .waiting])
    guard case .shareCheckKeys(let shared)? = later.commands.last else { return XCTFail("\(later.tags)") }
    XCTAssertEqual(shared.map(\.entity), [new.recipient])
    XCTAssertNil(later.wakeDescriptor, "nothing is subscribed to")
  }

  func testMoreMailboxesThanARequestHolds() throws {
    let mailboxes = try (0..<300).map { _ in try newMailbox() }
    try send("waits", to: mailboxes[299])
    let port = Port(relay)
    let client = RelayClient(port: port, randomness: randomness)
    for _ in 0..<2 {
      let results = try client.check(mailboxes.map(end))
      XCTAssertEqual(results.indices.filter { results[$0] == .waiting }, [299])
      XCTAssertEqual(results.count { $0 == .subscribed }, 299)
    }
    XCTAssertEqual(
      port.tags, [.checkByKeys, .checkByKeys, .shareCheckKeys, .shareCheckKeys, .checkByKeys, .checkByKeys])
    XCTAssertEqual(try client.check([]), [])
  }

  private func ask(
    _ correlation: RelayIdentifier, _ entries: [RelayCommand.Tagged]
  ) throws -> [RelaySubscription] {
    let request = RelayRequest(correlation: correlation, entity: nil, command: .checkByKeys(entries))
    let answer = try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation)
    guard case .subscriptions(let results) = answer else { throw RelayError.answer }
    return results
  }

  func testOnlyATagOfThisRequestByTheSharedKeyIsAnswered() throws {
    let (mailbox, other, unshared) = (try newMailbox(), try newMailbox(), try newMailbox())
    _ = try client.check([end(mailbox), end(other)])
    let (one, another) = (try newAttempt(), try newAttempt())
    let (key, otherKey) = (RelayCheckKey(of: mailbox.recipientKey), RelayCheckKey(of: other.recipientKey))
    XCTAssertNotEqual(key, otherKey)
    let tag = key.tag(correlation: one, mailbox.recipient)
    XCTAssertEqual(try ask(one, [.init(entity: mailbox.recipient, tag: tag)]), [.subscribed])
    XCTAssertEqual(try ask(another, [.init(entity: mailbox.recipient, tag: tag)]), [.auth], "of another request")
    XCTAssertEqual(
      try ask(
        one,
        [
          .init(entity: other.recipient, tag: tag),
          .init(entity: mailbox.recipient, tag: otherKey.tag(correlation: one, mailbox.recipient)),
          .init(entity: mailbox.recipient, tag: [UInt8](repeating: 0, count: 32)),
          .init(
            entity: unshared.recipient,
            tag: RelayCheckKey(of: unshared.recipientKey).tag(correlation: one, unshared.recipient)),
          .init(entity: try newAttempt(), tag: tag), .init(entity: mailbox.recipient, tag: tag),
        ]), [.auth, .auth, .auth, .auth, .auth, .subscribed])
    try client.deleteMailbox(mailbox.recipient, key: mailbox.recipientKey)
    XCTAssertEqual(try ask(one, [.init(entity: mailbox.recipient, tag: tag)]), [.auth])
    XCTAssertEqual(try client.check([end(mailbox)]), [.auth])
  }

  func testAKeyIsSharedByItsMailboxAlone() throws {
    let mailbox = try newMailbox()
    _ = try client.check([end(mailbox)])
    let stranger = RelayCheckKey(of: try newKey())
    let correlation = try newAttempt()
    func share(_ key: RelayCheckKey, signing signed: RelayCheckKey, by signer: SigningKeyPair) throws -> RelayAnswer {
      let bytes = RelayRequest.signedBytes(correlation: correlation, sharing: signed, of: mailbox.recipient)
      let entry = RelayCommand.SharedKey(entity: mailbox.recipient, key: key, signature: signer.sign(bytes))
      let request = RelayRequest(correlation: correlation, entity: nil, command: .shareCheckKeys([entry]))
      return try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation)
    }
    XCTAssertEqual(try share(stranger, signing: stranger, by: try newKey()), .subscriptions([.auth]))
    let own = RelayCheckKey(of: mailbox.recipientKey)
    XCTAssertEqual(
      try share(stranger, signing: own, by: mailbox.recipientKey), .subscriptions([.auth]), "the key is signed too")
    let tag = RelayCommand.Tagged(entity: mailbox.recipient, tag: own.tag(correlation: correlation, mailbox.recipient))
    XCTAssertEqual(try ask(correlation, [tag]), [.subscribed], "the key is the same as before")
    XCTAssertEqual(try share(stranger, signing: stranger, by: mailbox.recipientKey), .subscriptions([.subscribed]))
    XCTAssertEqual(try ask(correlation, [tag]), [.auth], "the key was replaced")
  }

  /// A client may use one key for several mailboxes; a tag is still for one of them.
  func testATagIsForOneMailboxAlsoWhereTwoHaveOneKey() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    let key = RelayCheckKey(of: mailbox.recipientKey)
    let correlation = try newAttempt()
    let entries = [mailbox, other].map { mailbox in
      RelayCommand.SharedKey(
        entity: mailbox.recipient, key: key,
        signature: mailbox.recipientKey.sign(
          RelayRequest.signedBytes(correlation: correlation, sharing: key, of: mailbox.recipient)))
    }
    let request = RelayRequest(correlation: correlation, entity: nil, command: .shareCheckKeys(entries))
    XCTAssertEqual(
      try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation),
      .subscriptions([.subscribed, .subscribed]))
    let tag = key.tag(correlation: correlation, mailbox.recipient)
    XCTAssertEqual(
      try ask(
        correlation, [.init(entity: mailbox.recipient, tag: tag), .init(entity: other.recipient, tag: tag)]),
      [.subscribed, .auth])
  }

  /// Each key replaces the one before: only the last could count.
  func testOneRequestSharesOneKeyOfAMailbox() throws {
    let mailbox = try newMailbox()
    let correlation = try newAttempt()
    let entries = [mailbox.recipientKey, try newKey()].map { source in
      let key = RelayCheckKey(of: source)
      let signed = RelayRequest.signedBytes(correlation: correlation, sharing: key, of: mailbox.recipient)
      return RelayCommand.SharedKey(
        entity: mailbox.recipient, key: key, signature: mailbox.recipientKey.sign(signed))
    }
    let request = RelayRequest(correlation: correlation, entity: nil, command: .shareCheckKeys(entries))
    XCTAssertEqual(
      try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation), .failed(.syntax))
  }

  func testARequestThatNamesAnEntityOrIsSignedIsNone() throws {
    let mailbox = try newMailbox()
    for command in [RelayCommand.checkByKeys([]), .shareCheckKeys([])] {
      let request = RelayRequest(correlation: try newAttempt(), entity: mailbox.recipient, command: command)
      XCTAssertEqual(
        try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: request.correlation),
        .failed(.syntax))
    }
  }

  func testARelayOfAnEarlierVersionIsAskedWithSignatures() throws {
    let mailbox = try newMailbox()
    try send("waits", to: mailbox)
    let port = Port(relay, refusing: [.checkByKeys, .shareCheckKeys])
    let client = RelayClient(port: port, randomness: randomness)
    for _ in 0..<2 { XCTAssertEqual(try client.check([end(mailbox)]), [.waiting]) }
    XCTAssertEqual(port.tags, [.checkByKeys, .check, .check])
  }

  func testAMessagePastItsRetentionDoesNotWait() throws {
    let mailbox = try newMailbox()
    try send("too old", to: mailbox)
    XCTAssertEqual(try client.check([end(mailbox)]), [.waiting])
    clock.advance(.days(22))
    XCTAssertEqual(try client.check([end(mailbox)]), [.subscribed])
  }

  /// SQLite's locks are taken once, and each mailbox is one question.
  func testACheckIsOneTransaction() throws {
    let mailboxes = try (0..<50).map { _ in try newMailbox() }
    _ = try client.check(mailboxes.map(end))
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    defer { XCTAssertNoThrow(try file.database.close()) }
    let statements = Mutex<[String]>([])
    file.database.observer = { text in statements.withLock { $0.append(text) } }
    let correlation = try newAttempt()
    let tags = mailboxes.map { mailbox in
      RelayCommand.Tagged(
        entity: mailbox.recipient,
        tag: RelayCheckKey(of: mailbox.recipientKey).tag(correlation: correlation, mailbox.recipient))
    }
    let request = RelayRequest(correlation: correlation, entity: nil, command: .checkByKeys(tags))
    XCTAssertEqual(
      try file.checkByKeys(request, tags), .subscriptions([RelaySubscription](repeating: .subscribed, count: 50)))
    file.database.observer = nil
    let asked = statements.withLock { $0 }
    XCTAssertEqual(asked.first, "BEGIN DEFERRED")
    XCTAssertEqual(asked.last, "COMMIT")
    XCTAssertLessThanOrEqual(asked.count, 50 + 3)
  }
}
