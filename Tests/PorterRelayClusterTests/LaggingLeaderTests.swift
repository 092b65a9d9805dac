import PorterCrypto
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// A node that has just begun to lead, or no longer leads and does not know it yet, answers with an earlier state.
/// Nothing is refused, dropped or given again because of that.
final class LaggingLeaderTests: ClusterTestCase {
  private struct Notifier {
    let identifier: RelayIdentifier
    let key: SigningKeyPair
    let boxKey: BoxKeyPair
  }

  private func enableNotifier(_ mailbox: Fixture) throws -> Notifier {
    let (key, boxKey) = (
      try SigningKeyPair.generate(randomness: randomness), try BoxKeyPair.generate(randomness: randomness)
    )
    let made = try client.enableNotifier(
      mailbox.recipient, key: mailbox.key, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
    return Notifier(identifier: made.identifier, key: key, boxKey: boxKey)
  }

  private func subscribe(_ service: SigningKeyPair, _ notifier: Notifier) throws -> RelaySubscription {
    try notifiers(of: service, at: makePort()).subscribe([(notifier: notifier.identifier, key: notifier.key)])[0]
  }

  private func first(_ mailbox: Fixture, at client: RelayClient? = nil) throws -> RelayMessage? {
    try (client ?? self.client).getMessage(mailbox.recipient, key: mailbox.key)
  }

  // MARK: Irrevocable decisions

  func testANotificationIsNotEndedByARecordFromBeforeItsMessage() throws {
    let (mailbox, service) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    XCTAssertEqual(try subscribe(service, try enableNotifier(mailbox)), .subscribed)
    let before = store.records
    try send("hello", to: mailbox)
    store.lag(as: before)
    let relay = notifiers(of: service, at: makePort())
    for _ in 0..<2 {
      XCTAssertEqual(try relay.dueNotifications().notifications.count, 1, "until it is acknowledged")
    }
    XCTAssertEqual(ended.all.count, 0)
  }

  func testANotificationWhoseMessageIsGoneIsEnded() throws {
    let (mailbox, service) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    _ = try subscribe(service, try enableNotifier(mailbox))
    try send("hello", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["hello"])
    let relay = notifiers(of: service, at: makePort())
    XCTAssertEqual(try relay.dueNotifications().notifications.count, 0)
    XCTAssertEqual(try store.requests { _ = try relay.dueNotifications() }, ["takeNotifications"])
    XCTAssertEqual(ended.all.map(\.reason), [.noMessage])
    XCTAssertEqual(ended.all.map(\.revision), store.records.values.map(\.revision))
  }

  func testAMessageIsNotGivenAgainByARecordFromBeforeItsAcknowledgement() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second"] { try send(text, to: mailbox) }
    let message = try XCTUnwrap(try first(mailbox))
    store.lag()
    store.keepBodies()
    XCTAssertEqual(try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key), .done)
    XCTAssertEqual(try first(mailbox, at: makeClient())?.body, Array("second".utf8))
  }

  func testAMessageIsAcknowledgedThoughTheRecordIsFromBeforeIt() throws {
    let mailbox = try newMailbox()
    let before = store.records
    for text in ["first", "second", "third"] { try send(text, to: mailbox) }
    var message = try XCTUnwrap(try first(mailbox))
    store.lag(as: before)
    XCTAssertEqual(try makeClient().acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key), .done)
    message = try XCTUnwrap(try first(mailbox))
    store.lag(as: before)
    let answer = try makeClient().acknowledgeAndGet(message.identifier, in: mailbox.recipient, key: mailbox.key)
    XCTAssertEqual(answer.0, .done)
    XCTAssertEqual(try receiveAll(mailbox), ["third"])
  }

  func testANotifierThatTheRecordDoesNotHaveYetIsDisabled() throws {
    let (mailbox, service) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    let before = store.records
    let notifier = try enableNotifier(mailbox)
    store.lag(as: before)
    try makeClient().disableNotifier(mailbox.recipient, key: mailbox.key)
    XCTAssertEqual(try subscribe(service, notifier), .auth)
  }

  /// The same notifier is requested again after it was disabled, and the record still has the old one.
  func testANotifierThatTheRecordStillHasIsMadeAnew() throws {
    let (mailbox, service) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    let notifier = try enableNotifier(mailbox)
    let before = store.records
    try client.disableNotifier(mailbox.recipient, key: mailbox.key)
    store.lag(as: before)
    let again = try makeClient().enableNotifier(
      mailbox.recipient, key: mailbox.key, notifierKey: notifier.key.publicKey, boxKey: notifier.boxKey.publicKey)
    let made = Notifier(identifier: again.identifier, key: notifier.key, boxKey: notifier.boxKey)
    XCTAssertEqual(try subscribe(service, made), .subscribed)
  }

  // MARK: Listeners

  func testAnArrivalIsReportedThoughTheRecordIsFromBeforeIt() throws {
    let (mailbox, key) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    let listener = RelayClient(port: makePort(listener: "listener"), randomness: randomness)
    let listening = try listener.listen(to: [(mailbox.recipient, mailbox.key)], as: key)
    XCTAssertEqual(listening.results, [.subscribed])
    let before = store.records
    try send("hello", to: mailbox)
    store.lag(as: before)
    XCTAssertEqual(try listener.arrivals(after: listening.position, as: key).mailboxes, [mailbox.recipient])
  }

  /// A client takes an answer that is not full for the last one.
  func testArrivalsBehindManyThatAreGoneAreReported() throws {
    let (busy, other) = (try newMailbox(), try newMailbox())
    let key = try SigningKeyPair.generate(randomness: randomness)
    let listener = RelayClient(port: makePort(listener: "listener"), randomness: randomness)
    let listening = try listener.listen(
      to: [(busy.recipient, busy.key), (other.recipient, other.key)], as: key)
    for _ in 0..<3 {
      for number in 0..<100 { try send("\(number)", to: busy) }
      XCTAssertEqual(try receiveAll(busy).count, 100)
    }
    try send("hello", to: other)
    XCTAssertEqual(try listener.arrivals(after: listening.position, as: key).mailboxes, [other.recipient])
  }

  /// It gets no signal for what arrived before it.
  func testAListenerSeesWhatCameBeforeItThoughAnotherLeaderBegins() throws {
    let (mailbox, key) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    let before = store.records
    try send("hello", to: mailbox)
    store.lag(as: before, untilSettled: 2)
    let listener = RelayClient(port: makePort(listener: "listener"), randomness: randomness)
    XCTAssertEqual(try listener.listen(to: [(mailbox.recipient, mailbox.key)], as: key).results, [.waiting])
  }

  // MARK: Refusals

  /// Its own record is outdated, and the one that it reads is older still.
  func testASenderIsNotRefusedByARecordFromBeforeTheMailbox() throws {
    let (before, mailbox, other) = (store.records, try newMailbox(), makeClient())
    try send("first", to: mailbox, by: other)
    try send("second", to: mailbox)
    store.lag(as: before)
    try send("third", to: mailbox, by: other)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second", "third"])
  }

  func testASenderIsNotRefusedByARecordFromBeforeItsKey() throws {
    let (key, senderKey) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let made = try client.createMailbox(recipientKey: key)
    let before = store.records
    try client.secureMailbox(made.recipient, key: key, senderKey: senderKey.publicKey)
    let mailbox = Fixture(recipient: made.recipient, sender: made.sender, key: key, senderKey: senderKey)
    let other = makeClient()
    try send("first", to: mailbox, by: other)
    try send("second", to: mailbox)
    store.lag(as: before)
    try send("third", to: mailbox, by: other)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second", "third"])
  }

  func testAMailboxThatWasFullTakesAMessage() throws {
    let mailbox = try newMailbox()
    for number in 0..<RelayLimits.undelivered { try send("\(number)", to: mailbox) }
    let message = try XCTUnwrap(try first(mailbox))
    store.lag()
    try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key)
    try send("last", to: mailbox, by: makeClient())
    XCTAssertEqual(try receiveAll(mailbox).last, "last")
  }

  func testAMailboxIsDeletedThoughTheRecordIsOutdated() throws {
    let mailbox = try newMailbox()
    let before = store.records
    try send("hello", to: mailbox)
    store.lag(as: before)
    try makeClient().deleteMailbox(mailbox.recipient, key: mailbox.key)
    XCTAssertEqual(store.records.count, 0)
  }

  func testAMailboxThatIsMadeAgainHasItsNewNames() throws {
    let mailbox = try newMailbox()
    let before = store.records
    try client.deleteMailbox(mailbox.recipient, key: mailbox.key)
    let made = try client.createMailbox(recipientKey: mailbox.key)
    store.lag(as: before)
    let again = try makeClient().createMailbox(recipientKey: mailbox.key)
    XCTAssertEqual(again.recipient, made.recipient)
  }

  // MARK: Remembered state

  func testARelayForgetsWhatTheClusterHasLostAndGoesOn() throws {
    let mailbox = try newMailbox()
    let before = store.records
    try send("lost", to: mailbox)
    store.undo(to: before)
    XCTAssertThrowsError(try first(mailbox), "once, as another leader may have it") {
      XCTAssertEqual($0 as? RelayError, .unavailable)
    }
    XCTAssertNil(try first(mailbox))
    try send("kept", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["kept"])
  }

  // MARK: Costs

  /// One probe more than without settling: it writes to the stream, and is shared by simultaneous readers.
  func testWhatMessagesCostTheCluster() throws {
    let (mailbox, other) = (try newMailbox(), makeClient())
    XCTAssertEqual(try store.requests { try send("first", to: mailbox) }, ["addBody", "replace"])
    try send("second", to: mailbox)
    XCTAssertEqual(try store.requests { _ = try first(mailbox, at: other) }, ["settle", "record", "body"])
    let message = try XCTUnwrap(try first(mailbox))
    XCTAssertEqual(
      try store.requests { _ = try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key) },
      ["replace"])
    let next = try XCTUnwrap(try first(mailbox))
    XCTAssertEqual(
      try store.requests {
        _ = try client.acknowledgeAndGet(next.identifier, in: mailbox.recipient, key: mailbox.key)
      }, ["replace"])
    XCTAssertEqual(try store.requests { _ = try first(mailbox) }, ["settle", "record"])
  }
}
