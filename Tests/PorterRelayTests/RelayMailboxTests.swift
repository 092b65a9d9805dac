import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

final class RelayMailboxTests: RelayTestCase {
  func testMessagesComeOutInOrderEachUntilItIsAcknowledged() throws {
    let mailbox = try newMailbox()
    XCTAssertNil(try head(of: mailbox))
    try send("first", to: mailbox, notify: true)
    clock.advance(.milliseconds(5))
    try send("second", to: mailbox)

    let first = try XCTUnwrap(try head(of: mailbox))
    XCTAssertEqual(first.body, Array("first".utf8))
    XCTAssertTrue(first.notify)
    XCTAssertEqual(first.timestamp, WallTime(milliseconds: clock.wall().milliseconds - 5))
    XCTAssertEqual(try head(of: mailbox), first, "the same until it is acknowledged")
    XCTAssertEqual(try client.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.recipientKey), .done)
    XCTAssertEqual(
      try client.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.recipientKey), .noMessage)

    let second = try XCTUnwrap(try head(of: mailbox))
    XCTAssertEqual(second.body, Array("second".utf8))
    XCTAssertFalse(second.notify)
    XCTAssertNotEqual(second.identifier, first.identifier)
    XCTAssertEqual(try receiveAll(mailbox), ["second"])
    XCTAssertNil(try head(of: mailbox))
  }

  func testMailboxOutlivesTheRelayThatMadeIt() throws {
    let mailbox = try newMailbox()
    try send("kept", to: mailbox)
    relay.close()
    let next = RelayClient(port: another(), randomness: randomness)
    XCTAssertEqual(try next.getMessage(mailbox.recipient, key: mailbox.recipientKey)?.body, Array("kept".utf8))
  }

  func testCreatingAgainWithTheSameKeyGivesTheSameMailbox() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let first = try client.createMailbox(recipientKey: recipientKey, senderKey: senderKey.publicKey)
    XCTAssertEqual(try client.createMailbox(recipientKey: recipientKey, senderKey: senderKey.publicKey), first)
    XCTAssertEqual(try client.createMailbox(recipientKey: recipientKey), first)
    let other = try newKey().publicKey
    assertRefused(.auth) { try client.createMailbox(recipientKey: recipientKey, senderKey: other) }
    XCTAssertNotEqual(try client.createMailbox(recipientKey: try newKey()), first)
  }

  func testAMailboxNeedsItsOwnKeysSignature() throws {
    let (owner, thief) = (try newKey(), try newKey())
    let command = RelayCommand.createMailbox(recipientKey: owner.publicKey, senderKey: nil)
    assertRefused(.auth) { try client.exchangeOrThrow(command, entity: nil, key: thief) }
    assertRefused(.auth) { try client.exchangeOrThrow(command, entity: nil, key: nil) }
  }

  func testRepeatedSendKeepsOneMessage() throws {
    let mailbox = try newMailbox()
    let attempt = try newAttempt()
    for _ in 0..<3 {
      try client.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    }
    XCTAssertEqual(try receiveAll(mailbox).count, 1)
    // Also if the repeat arrives after the message was fetched: the sender saw no answer, the recipient was fast.
    try client.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    XCTAssertEqual(try receiveAll(mailbox), [])
    // An attempt identifies a message in its own mailbox only.
    let other = try newMailbox()
    try client.send([1], to: other.sender, key: other.senderKey, attempt: attempt, notify: false)
    XCTAssertEqual(try receiveAll(other).count, 1)
  }

  func testBodyMayBeEmptyOrOfTheLimitAndNoLonger() throws {
    let mailbox = try newMailbox()
    for size in [0, 1, RelayLimits.body - 1, RelayLimits.body] {
      let body = randomness.bytes(size)
      try client.send(body, to: mailbox.sender, key: mailbox.senderKey, attempt: try newAttempt(), notify: false)
      let message = try XCTUnwrap(try head(of: mailbox))
      XCTAssertEqual(message.body, body)
      try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    }
    let tooLong = randomness.bytes(RelayLimits.body + 1)
    let attempt = try newAttempt()
    assertRefused(.size) {
      try client.send(tooLong, to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    }
    // The relay does not rely on the client for this.
    assertRefused(.size) {
      try client.exchangeOrThrow(
        .send(attempt: attempt, notify: false, body: tooLong), entity: mailbox.sender, key: mailbox.senderKey)
    }
    XCTAssertNil(try head(of: mailbox))
  }

  func testDeletedMailboxIsAsUnknownAsOneThatNeverExisted() throws {
    let mailbox = try newMailbox()
    try send("gone", to: mailbox, notify: true)
    try client.deleteMailbox(mailbox.recipient, key: mailbox.recipientKey)
    assertRefused(.auth) { try client.deleteMailbox(mailbox.recipient, key: mailbox.recipientKey) }
    assertRefused(.auth) { try head(of: mailbox) }
    assertRefused(.auth) { try send("late", to: mailbox) }
    let again = try client.createMailbox(recipientKey: mailbox.recipientKey)
    XCTAssertNil(try client.getMessage(again.recipient, key: mailbox.recipientKey))
  }

  // MARK: Quota and retention

  func testFullMailboxRefusesUntilOneIsAcknowledged() throws {
    let mailbox = try newMailbox()
    let attempt = try newAttempt()
    try client.send([0], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    for number in 1..<RelayLimits.undelivered { try send("\(number)", to: mailbox) }
    assertRefused(.quota) { try send("one too many", to: mailbox) }
    // A message already stored is confirmed, however full the mailbox is.
    try client.send([0], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    try send("another mailbox", to: try newMailbox())

    let first = try XCTUnwrap(try head(of: mailbox))
    try client.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    try send("room for one", to: mailbox)
    assertRefused(.quota) { try send("one too many", to: mailbox) }
    XCTAssertEqual(try receiveAll(mailbox).count, RelayLimits.undelivered)
  }

  func testMessagesAreKeptForTwentyOneDays() throws {
    let mailbox = try newMailbox()
    try send("old", to: mailbox)
    clock.advance(.days(1))
    try send("younger", to: mailbox)
    clock.advance(.days(20))
    XCTAssertEqual(try head(of: mailbox)?.body, Array("old".utf8), "on the last millisecond")
    clock.advance(.milliseconds(1))
    XCTAssertEqual(try receiveAll(mailbox), ["younger"])
  }

  func testExpiredMessagesMakeRoomAndLeaveTheFile() throws {
    let (quiet, mailbox) = (try newMailbox(), try newMailbox())
    for number in 0..<100 { try send("\(number)", to: quiet) }
    for number in 0..<RelayLimits.undelivered { try send("\(number)", to: mailbox) }
    clock.advance(.days(22))
    try send("fits", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["fits"])
    relay.close()
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    // A sweep has removed the 64 oldest, and the full mailbox all of its own.
    XCTAssertEqual(try file.database.integer("SELECT count(*) FROM message"), 37)
  }

  func testExpiredMessagesOfAQuietMailboxLeaveTheFileBitByBit() throws {
    let (quiet, busy) = (try newMailbox(), try newMailbox())
    for number in 0..<100 { try send("\(number)", to: quiet) }
    relay.close()
    clock.advance(.days(22))
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    for (sent, left) in [(1, Int64(36)), (2, 0), (3, 0)] {
      var request = RelayRequest(
        correlation: try newAttempt(), entity: busy.sender,
        command: .send(attempt: try newAttempt(), notify: false, body: []))
      request.signature = busy.senderKey.sign(request.signedBytes)
      _ = try file.send(request, attempt: try newAttempt(), notify: false, body: [])
      XCTAssertEqual(try file.database.integer("SELECT count(*) FROM message"), left + Int64(sent))
    }
  }

  func testThreadsShareOneRelay() throws {
    let mailbox = try newMailbox()
    let client = client
    let attempts = try (0..<80).map { _ in try newAttempt() }
    DispatchQueue.concurrentPerform(iterations: attempts.count) { number in
      do {
        try client.send(
          [UInt8(number)], to: mailbox.sender, key: mailbox.senderKey, attempt: attempts[number], notify: false)
      } catch {
        XCTFail("\(error)")
      }
    }
    var bodies: Set<[UInt8]> = []
    while let message = try head(of: mailbox) {
      bodies.insert(message.body)
      try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    }
    XCTAssertEqual(bodies.count, attempts.count)
  }

  /// INC-14: whichever process looks at the file, and however wrong its wall clock is.
  func testASteppedWallClockLosesNothing() throws {
    let mailbox = try newMailbox()
    try send("before", to: mailbox)
    clock.setWall(by: .days(-365))
    try send("between", to: mailbox)
    clock.setWall(by: .days(3 * 365))
    try send("after", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["before", "between", "after"])
  }

  /// The clock of a machine that was restarted a minute ago.
  private final class NewBootClock: Clock {
    private let since: TestClock
    private let start: Moment
    init(_ clock: TestClock) { (since, start) = (clock, clock.now()) }
    func now() -> Moment { Moment(nanoseconds: 0) + .seconds(60) + (since.now() - start) }
    func wall() -> WallTime { since.wall() }
    func pause(_ span: Span) { since.pause(span) }
  }

  func testTimeBeforeAnotherBootCountsAsFarAsItWasStored() throws {
    let mailbox = try newMailbox()
    try send("old", to: mailbox)
    clock.advance(.days(15))
    try send("younger", to: mailbox)
    relay.close()
    // The machine was off for a year, so nothing could be fetched.
    clock.advance(.days(365))
    let bootClock = NewBootClock(clock)
    func rebooted(_ boot: String) -> RelayClient {
      let identity = ProcessIdentity(boot: boot, process: 1, started: 1)
      let ports = Ports(clock: bootClock, randomness: randomness, identity: identity)
      return RelayClient(port: EmbeddedRelay(path: path, ports: ports, log: .silent), randomness: randomness)
    }
    func head(_ client: RelayClient) throws -> String? {
      try client.getMessage(mailbox.recipient, key: mailbox.recipientKey).map {
        String(decoding: $0.body, as: UTF8.self)
      }
    }
    let client = rebooted("second boot")
    XCTAssertEqual(try head(client), "old")
    clock.advance(.days(7))
    XCTAssertEqual(try head(client), "younger")
  }

  /// A message's age is the time that the relay has had it, in every process and after another boot, whatever their
  /// wall clocks say.
  func testTheAgeOfAMessageIsTheRelaysOwn() throws {
    let mailbox = try newMailbox()
    // Open before anything is stored.
    let early = RelayClient(port: another(), randomness: randomness)
    XCTAssertNil(try early.getMessage(mailbox.recipient, key: mailbox.recipientKey))
    clock.advance(.seconds(600))
    try send("hello", to: mailbox)
    clock.setWall(by: .days(365))
    clock.advance(.seconds(90))
    for client in [early, client, RelayClient(port: another(), randomness: randomness)] {
      XCTAssertEqual(try client.getMessage(mailbox.recipient, key: mailbox.recipientKey)?.age, 90_000)
    }
    clock.setWall(by: .days(-2 * 365))
    XCTAssertEqual(try head(of: mailbox)?.age, 90_000)
    let ports = Ports(
      clock: NewBootClock(clock), randomness: randomness, identity: ProcessIdentity(boot: "2", process: 1, started: 1))
    let rebooted = RelayClient(port: EmbeddedRelay(path: path, ports: ports, log: .silent), randomness: randomness)
    XCTAssertEqual(
      try rebooted.getMessage(mailbox.recipient, key: mailbox.recipientKey)?.age, 60_000, "at least as old as the boot")
  }

  func testAFileOfTheFirstVersionIsTakenOver() throws {
    let mailbox = try newMailbox()
    try send("kept", to: mailbox)
    relay.close()
    let file = try Database(path: path)
    try file.execute(
      """
      \(Self.undoSixthVersion)
      DROP TABLE taken_notification; DROP INDEX subscription_listener;
      DROP INDEX notification_held; ALTER TABLE notification DROP COLUMN held_until;
      ALTER TABLE listener DROP COLUMN unanswered_since; ALTER TABLE mailbox DROP COLUMN check_key;
      ALTER TABLE message DROP COLUMN stored_at; DROP TABLE age; PRAGMA user_version=1
      """)
    try file.close()
    let client = RelayClient(port: another(), randomness: randomness)
    XCTAssertEqual(try client.getMessage(mailbox.recipient, key: mailbox.recipientKey)?.body, Array("kept".utf8))
  }
}

extension RelayClient {
  /// A raw command, without the checks of the typed functions.
  func exchangeOrThrow(
    _ command: RelayCommand, entity: RelayIdentifier?, key: SigningKeyPair?
  ) throws -> RelayAnswer {
    try exchange(command, entity: entity, key: key)
  }
}
