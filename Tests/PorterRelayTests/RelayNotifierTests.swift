import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

final class RelayNotifierTests: RelayTestCase {
  private struct Notified {
    let mailbox: Fixture
    let notifier: RelayClient.Notifier
    let notifierKey: SigningKeyPair
    let shared: BoxSharedKey
  }

  private func newNotified() throws -> Notified {
    let mailbox = try newMailbox()
    let notifierKey = try newKey()
    let box = try BoxKeyPair.generate(randomness: randomness)
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey, boxKey: box.publicKey)
    return Notified(
      mailbox: mailbox, notifier: notifier, notifierKey: notifierKey,
      shared: try box.secretKey.agree(with: notifier.relayBoxKey))
  }

  private func newService() throws -> RelayNotifierClient {
    RelayNotifierClient(port: relay, randomness: randomness, service: try newKey())
  }

  private func subscription(_ notified: Notified) -> (notifier: RelayIdentifier, key: SigningKeyPair) {
    (notifier: notified.notifier.identifier, key: notified.notifierKey)
  }

  // MARK: Acknowledging and getting in one exchange

  func testOneExchangeAcknowledgesAndGivesAndSaysWhatWaitsForTheService() throws {
    let notified = try newNotified()
    let port = EarlierRelay(another(), last: .acknowledgeAndGetNotifications)
    defer { port.close() }
    let service = RelayNotifierClient(port: port, randomness: randomness, service: try newKey())
    let own = try newMailbox()
    let mailbox = (recipient: own.recipient, key: own.recipientKey)
    try service.subscribe([subscription(notified)])
    _ = port.takeCount()
    XCTAssertEqual(
      try service.acknowledgeAndGet([], mailbox: mailbox).due, RelayDueNotifications(notifications: [], nextIn: nil))
    for text in ["one", "two", "three"] { try send(text, to: notified.mailbox, notify: true) }
    let (first, nothing) = try service.acknowledgeAndGet([], limit: 2, mailbox: mailbox)
    XCTAssertEqual(first.notifications.count, 2)
    XCTAssertEqual(nothing, .subscribed)
    try send("a request", to: own)
    let (second, something) = try service.acknowledgeAndGet(first.notifications, limit: 2, mailbox: mailbox)
    XCTAssertEqual(second.notifications.count, 1)
    XCTAssertEqual(something, .waiting)
    XCTAssertEqual(try service.pendingNotifications(), second.notifications)
    // As after a lost answer.
    XCTAssertEqual(try service.acknowledgeAndGet(first.notifications, mailbox: mailbox).due, second)
    XCTAssertEqual(try service.acknowledgeAndGet(second.notifications, mailbox: mailbox).due.notifications, [])
    XCTAssertEqual(port.takeCount(), 6)
  }

  func testAnotherKeyLearnsNothingOfAMailbox() throws {
    let (own, service) = (try newMailbox(), try newService())
    try send("a request", to: own)
    for (recipient, key) in [
      (own.recipient, try newKey()), (try newAttempt(), own.recipientKey), (own.sender, own.recipientKey),
    ] {
      XCTAssertEqual(try service.acknowledgeAndGet([], mailbox: (recipient: recipient, key: key)).mailbox, .auth)
    }
  }

  /// An entry made for one service is worthless in another's request.
  func testAnEntryCannotBeMovedToAnotherService() throws {
    let (own, first, second) = (try newMailbox(), try newKey(), try newKey())
    try send("a request", to: own)
    for (service, expected) in [(first, RelaySubscription.waiting), (second, .auth)] {
      let correlation = try newAttempt()
      func command(_ service: SigningKeyPair, _ entries: [RelayCommand.Entry]) -> RelayCommand {
        .acknowledgeAndGetNotifications(service: service.publicKey, limit: 9, acknowledged: [], mailboxes: entries)
      }
      let signed = RelayRequest.signedBytes(correlation: correlation, entry: own.recipient, of: command(first, []))
      let entry = RelayCommand.Entry(entity: own.recipient, signature: own.recipientKey.sign(signed))
      var request = RelayRequest(correlation: correlation, entity: nil, command: command(service, [entry]))
      request.signature = service.sign(request.signedBytes)
      let answer = try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation)
      guard case .acknowledgedNotifications(_, let results) = answer else { return XCTFail("\(answer)") }
      XCTAssertEqual(results, [expected])
    }
  }

  /// Another process may accept a request and then a message between the two looks: the request is seen, or neither is.
  func testTheMailboxIsLookedIntoAfterTheNotifications() throws {
    #if DEBUG
      let (own, key) = (try newMailbox(), try newKey())
      let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
      defer { XCTAssertNoThrow(try file.database.close()) }
      var looks: [String] = []
      file.database.observer = { sql in
        for look in ["FROM notification", "message_waiting"] where sql.contains(look) {
          looks.append(look)
        }
      }
      let correlation = try newAttempt()
      func command(_ entries: [RelayCommand.Entry]) -> RelayCommand {
        .acknowledgeAndGetNotifications(service: key.publicKey, limit: 9, acknowledged: [], mailboxes: entries)
      }
      let signed = RelayRequest.signedBytes(correlation: correlation, entry: own.recipient, of: command([]))
      let entry = RelayCommand.Entry(entity: own.recipient, signature: own.recipientKey.sign(signed))
      var request = RelayRequest(correlation: correlation, entity: nil, command: command([entry]))
      request.signature = key.sign(request.signedBytes)
      _ = try file.acknowledgeAndGetNotifications(request, key.publicKey, limit: 9, [], [entry])
      XCTAssertEqual(looks.count, 3)
      XCTAssertEqual(looks.last, "message_waiting")
    #endif
  }

  func testAnEarlierRelayIsAskedInTheWordsThatItKnows() throws {
    for last in [RelayCommand.Tag.shareCheckKeys, .acknowledgeNotifications] {
      let notified = try newNotified()
      let port = EarlierRelay(another(), last: last)
      defer { port.close() }
      let service = RelayNotifierClient(port: port, randomness: randomness, service: try newKey())
      let own = try newMailbox()
      let mailbox = (recipient: own.recipient, key: own.recipientKey)
      try service.subscribe([subscription(notified)])
      try send("one", to: notified.mailbox, notify: true)
      let (first, unknown) = try service.acknowledgeAndGet([], mailbox: mailbox)
      XCTAssertEqual(first.notifications.count, 1)
      XCTAssertEqual(unknown, .waiting)
      _ = port.takeCount()
      try send("two", to: notified.mailbox, notify: true)
      let second = try service.acknowledgeAndGet(first.notifications, mailbox: mailbox).due
      XCTAssertEqual(second.notifications.count, 1)
      XCTAssertNotEqual(second, first)
      XCTAssertEqual(port.takeCount(), 2, "it is not asked again for what it has refused")
    }
  }

  func testServiceLearnsThatAMessageWaitsButNotWhich() throws {
    let notified = try newNotified()
    let service = try newService()
    XCTAssertEqual(try service.subscribe([subscription(notified)]), [.subscribed])
    try send("silent", to: notified.mailbox, notify: false)
    XCTAssertEqual(try service.pendingNotifications(), [])
    try send("loud", to: notified.mailbox, notify: true)

    let pending = try service.pendingNotifications()
    XCTAssertEqual(pending.map(\.notifier), [notified.notifier.identifier])
    let notification = try XCTUnwrap(pending.first)
    XCTAssertEqual(notification.timestamp, clock.wall())
    XCTAssertEqual(notification.metadata.count, RelayLimits.metadata + Box.overhead)
    let metadata = try RelayMessageMetadata(
      opening: notification.metadata, with: notified.shared, nonce: notification.nonce)
    XCTAssertEqual(metadata.timestamp, clock.wall())
    XCTAssertEqual(try service.pendingNotifications(), pending, "the same until they are acknowledged")

    let silent = try XCTUnwrap(try head(of: notified.mailbox))
    XCTAssertNotEqual(silent.identifier, metadata.message)
    try client.acknowledge(
      silent.identifier, in: notified.mailbox.recipient, key: notified.mailbox.recipientKey)
    XCTAssertEqual(try head(of: notified.mailbox)?.identifier, metadata.message)

    let stranger = try BoxKeyPair.generate(randomness: randomness).secretKey.agree(with: notified.notifier.relayBoxKey)
    XCTAssertThrowsError(
      try RelayMessageMetadata(opening: notification.metadata, with: stranger, nonce: notification.nonce))
    try service.acknowledge(pending)
    XCTAssertEqual(try service.pendingNotifications(), [])
    try service.acknowledge(pending)
  }

  func testNotificationIsRemovedWithItsMessage() throws {
    let notified = try newNotified()
    let service = try newService()
    try service.subscribe([subscription(notified)])
    try send("read before the push", to: notified.mailbox, notify: true)
    XCTAssertEqual(try receiveAll(notified.mailbox).count, 1)
    XCTAssertEqual(try service.pendingNotifications(), [])
  }

  func testNotificationsWaitForAServiceThatComesLateOrAgain() throws {
    let notified = try newNotified()
    try send("early", to: notified.mailbox, notify: true)
    let key = try newKey()
    let service = RelayNotifierClient(port: relay, randomness: randomness, service: key)
    XCTAssertEqual(try service.subscribe([subscription(notified)]), [.waiting])
    XCTAssertEqual(try service.pendingNotifications().count, 1)
    relay.close()
    let restarted = RelayNotifierClient(port: another(), randomness: randomness, service: key)
    XCTAssertEqual(try restarted.subscribe([]), [])
    XCTAssertEqual(try restarted.pendingNotifications().count, 1)
  }

  func testServicesSeeTheirOwnNotifiersOnly() throws {
    let (first, second) = (try newNotified(), try newNotified())
    let (service, other) = (try newService(), try newService())
    try service.subscribe([subscription(first)])
    try other.subscribe([subscription(second)])
    for notified in [first, second] { try send("x", to: notified.mailbox, notify: true) }
    let pending = try service.pendingNotifications()
    XCTAssertEqual(pending.map(\.notifier), [first.notifier.identifier])
    try other.acknowledge(pending)
    XCTAssertEqual(try service.pendingNotifications(), pending, "not for another to acknowledge")
    // The holder of the notifier's key may move it to another service.
    try other.subscribe([subscription(first)])
    XCTAssertEqual(try service.pendingNotifications(), [])
    XCTAssertEqual(try other.pendingNotifications().count, 2)
  }

  func testEnablingAgainWithTheSameKeysIsTheSameNotifierAndWithOthersANewOne() throws {
    let mailbox = try newMailbox()
    let (firstKey, secondKey) = (try newKey(), try newKey())
    let box = try BoxKeyPair.generate(randomness: randomness).publicKey
    func enable(_ key: SigningKeyPair) throws -> RelayClient.Notifier {
      try client.enableNotifier(
        mailbox.recipient, key: mailbox.recipientKey, notifierKey: key.publicKey, boxKey: box)
    }
    let first = try enable(firstKey)
    XCTAssertEqual(try enable(firstKey), first)
    let service = try newService()
    try service.subscribe([(notifier: first.identifier, key: firstKey)])
    try send("for the first", to: mailbox, notify: true)
    let second = try enable(secondKey)
    XCTAssertNotEqual(second, first)
    XCTAssertEqual(try service.pendingNotifications(), [])
    XCTAssertEqual(
      try service.subscribe([
        (notifier: first.identifier, key: firstKey), (notifier: second.identifier, key: secondKey),
      ]),
      [.auth, .subscribed])
  }

  func testDisabledOrDeletedNotifierIsGone() throws {
    let (disabled, deleted) = (try newNotified(), try newNotified())
    let service = try newService()
    try service.subscribe([subscription(disabled), subscription(deleted)])
    for notified in [disabled, deleted] { try send("x", to: notified.mailbox, notify: true) }
    try client.disableNotifier(disabled.mailbox.recipient, key: disabled.mailbox.recipientKey)
    try client.disableNotifier(disabled.mailbox.recipient, key: disabled.mailbox.recipientKey)
    try client.deleteMailbox(deleted.mailbox.recipient, key: deleted.mailbox.recipientKey)
    XCTAssertEqual(try service.pendingNotifications(), [])
    XCTAssertEqual(try service.subscribe([subscription(disabled), subscription(deleted)]), [.auth, .auth])
    try send("still delivered", to: disabled.mailbox, notify: true)
    XCTAssertEqual(try receiveAll(disabled.mailbox), ["x", "still delivered"])
  }

  func testLowOrderKeyIsRefused() throws {
    let mailbox = try newMailbox()
    let zero = try XCTUnwrap(BoxPublicKey(bytes: [UInt8](repeating: 0, count: 32)))
    let key = try newKey()
    assertRefused(.syntax) {
      try client.enableNotifier(
        mailbox.recipient, key: mailbox.recipientKey, notifierKey: key.publicKey, boxKey: zero)
    }
  }

  func testLimitAndWrongServiceKey() throws {
    let notified = try newNotified()
    let key = try newKey()
    let service = RelayNotifierClient(port: relay, randomness: randomness, service: key)
    try service.subscribe([subscription(notified)])
    for number in 0..<5 { try send("\(number)", to: notified.mailbox, notify: true) }
    XCTAssertEqual(try service.pendingNotifications(limit: 2).count, 2)
    XCTAssertEqual(try service.pendingNotifications(limit: 0).count, 0)
    XCTAssertEqual(try service.pendingNotifications(limit: -1).count, 0)
    XCTAssertEqual(try service.pendingNotifications().count, 5)
    let thief = try newKey()
    for command in [
      RelayCommand.notifications(service: key.publicKey, limit: 9), .dueNotifications(service: key.publicKey, limit: 9),
      .acknowledgeNotifications(service: key.publicKey, []),
      .acknowledgeAndGetNotifications(service: key.publicKey, limit: 9, acknowledged: [], mailboxes: []),
      .subscribeNotifiers(service: key.publicKey, []),
    ] {
      assertRefused(.auth) { try client.exchangeOrThrow(command, entity: nil, key: thief) }
      assertRefused(.auth) { try client.exchangeOrThrow(command, entity: nil, key: nil) }
    }
  }

  /// All notifications of a full answer fit into one exchange.
  func testLargestAnswerFits() throws {
    let service = try newService()
    for _ in 0..<3 {
      let notified = try newNotified()
      try service.subscribe([subscription(notified)])
      for number in 0..<RelayLimits.undelivered { try send("\(number)", to: notified.mailbox, notify: true) }
    }
    let pending = try service.pendingNotifications(limit: .max)
    XCTAssertEqual(pending.count, RelayLimits.batch)
    try service.acknowledge(pending + pending)
    XCTAssertEqual(try service.pendingNotifications().count, 3 * RelayLimits.undelivered - RelayLimits.batch)
  }
}
