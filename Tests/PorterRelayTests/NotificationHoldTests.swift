import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import PropertyTesting
import XCTest

@testable import PorterRelay

/// A notification is briefly withheld from its service while the recipient's process listens.
final class NotificationHoldTests: RelayTestCase {
  private let pause = NotificationHold.pause

  // MARK: The decision

  func testTheDecisionByTable() {
    let now = Moment(nanoseconds: 5_000_000_000_000)
    func ago(_ milliseconds: Int64) -> Moment { now + .milliseconds(-milliseconds) }
    let whole = pause.milliseconds
    let cases: [(since: Moment?, left: Int64?, String)] = [
      (nil, whole, "it has answered so far"),
      (now, whole, "woken just now"),
      (ago(1), whole - 1, "the pause counts from the first wake-up"),
      (ago(whole - 1), 1, "the last moment"),
      (ago(whole), nil, "it has had its pause"),
      (ago(86_400_000), nil, "frozen since yesterday"),
      (now + .milliseconds(1), nil, "a time of an earlier boot"),
    ]
    for (since, left, name) in cases {
      let end = NotificationHold(unansweredSince: since).end(at: now)
      XCTAssertEqual(end.map { ($0 - now).milliseconds }, left, name)
    }
    XCTAssertNil(NotificationHold.end(at: now, listeners: []), "without a listener nothing is withheld")
    XCTAssertEqual(
      NotificationHold.end(
        at: now, listeners: [NotificationHold(unansweredSince: ago(86_400_000)), NotificationHold()]),
      now + pause, "one that answers is enough")

    XCTAssertEqual(NotificationHold.remainder(until: now + pause, at: now), pause)
    XCTAssertEqual(NotificationHold.remainder(until: now + .milliseconds(1), at: now), .milliseconds(1))
    XCTAssertNil(NotificationHold.remainder(until: now, at: now))
    XCTAssertNil(NotificationHold.remainder(until: Moment(nanoseconds: 0), at: now), "never withheld")
    XCTAssertNil(
      NotificationHold.remainder(until: now + pause + .milliseconds(1), at: now), "a time of an earlier boot")
  }

  // MARK: At the relay

  func testNothingIsWithheldWithoutAListener() throws {
    let watched = try newWatched()
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 1)
    XCTAssertNil(try watched.service.dueNotifications().nextIn)
  }

  func testAMessageThatTheListenerFetchesInTimeIsNeverDue() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    for _ in 0..<3 {
      try send(watched)
      let due = try watched.service.dueNotifications()
      XCTAssertEqual(due.notifications, [])
      XCTAssertGreaterThan(try XCTUnwrap(due.nextIn), UInt32(pause.milliseconds) - 1)
      try app.fetchAll()
      XCTAssertNil(try watched.service.dueNotifications().nextIn)
      clock.advance(.seconds(60))
      XCTAssertEqual(try dueCount(watched), 0)
    }
  }

  func testAFrozenListenerDelaysTheNotificationsOfOnePause() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    clock.advance(.milliseconds(500))
    try send(watched)
    let due = try watched.service.dueNotifications()
    XCTAssertEqual(due.notifications, [])
    let left = Span.milliseconds(Int64(try XCTUnwrap(due.nextIn)))
    XCTAssertLessThanOrEqual(left, pause - .milliseconds(499), "both end with the first one's pause")
    clock.advance(left)
    XCTAssertEqual(try dueCount(watched), 2)
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 3, "it does not count as listening any more")

    // Thawed, it counts again.
    try app.fetchAll()
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 0)
  }

  /// Another process of the device took what it did not fetch; it finds nothing, and was awake to look.
  func testAListenerThatFindsNothingHasShownThatItLives() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    clock.advance(pause)
    _ = try receiveAll(watched.mailbox)
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 1, "what another process fetches is no sign of the listener's life")
    _ = try receiveAll(watched.mailbox)
    XCTAssertNil(try app.fetch())
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 0)
  }

  /// The same for one that asks about all its mailboxes in one request. Mailboxes named in the answer are still to be
  /// fetched.
  func testAListenerThatAsksAndHearsOfNothingHasShownThatItLives() throws {
    let watched = try newWatched()
    let app = RelayClient(port: another(), randomness: randomness)
    let key = try newKey()
    let (start, _) = try app.listen(
      to: [(recipient: watched.mailbox.recipient, key: watched.mailbox.recipientKey)], as: key)
    try send(watched)
    clock.advance(pause)
    XCTAssertEqual(try app.arrivals(after: start, as: key).mailboxes, [watched.mailbox.recipient])
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 2, "it may end before it has fetched")
    _ = try receiveAll(watched.mailbox)
    XCTAssertEqual(try app.arrivals(after: start, as: key).mailboxes, [])
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 0)
  }

  func testAListenerThatFetchesAndDoesNotAcknowledgeIsNotEnough() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    XCTAssertNotNil(try app.fetch())
    clock.advance(pause)
    XCTAssertEqual(try dueCount(watched), 1)
  }

  /// Its socket is gone, so the sender notices, and the push does not wait.
  func testAKilledListenerDelaysNothing() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    let folder = path + ".wake"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let server = try XCTUnwrap(
      names.first { name in
        (try? listenerNames(of: "service_subscription").contains(name)) ?? false
      })
    for name in names where name != server { try FileManager.default.removeItem(atPath: folder + "/" + name) }
    watched.servicePort.drainWake()
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 1)
    withExtendedLifetime(app) {}
  }

  private func listenerNames(of table: String) throws -> [String] {
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    defer { try? file.database.close() }
    return try file.database.rows(
      "SELECT name FROM listener JOIN \(table) ON listener = listener.number"
    ) { $0.text(0) }
  }

  func testAListenerThatReleasesItsFilesDelaysNothing() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    app.port.releaseFiles()
    XCTAssertEqual(try dueCount(watched), 1, "what was withheld for it is due")
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 2)
  }

  func testOnlyTheListenersOwnMailboxesAreWithheld() throws {
    let (watched, other) = (try newWatched(), try newWatched())
    let app = try App(another(), watched.mailbox)
    try send(other)
    XCTAssertEqual(try dueCount(other), 1)
    try send(watched)
    XCTAssertEqual(try dueCount(watched), 0)
    XCTAssertNil(try other.service.dueNotifications().nextIn)
    withExtendedLifetime(app) {}
  }

  /// A service that does not know `dueNotifications` gets all of them, as from any earlier relay.
  func testAnEarlierServiceIsNotMadeToWait() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    XCTAssertEqual(try watched.service.pendingNotifications().count, 1)
    withExtendedLifetime(app) {}
  }

  func testAnEarlierRelayIsAskedInItsOwnWords() throws {
    let (mailbox, notifierKey) = (try newMailbox(), try newKey())
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    let port = EarlierRelay(another(), last: .acknowledgeNotifications)
    let service = RelayNotifierClient(port: port, randomness: randomness, service: try newKey())
    try service.subscribe([(notifier: notifier.identifier, key: notifierKey)])
    try send("hello", to: mailbox, notify: true)
    _ = port.takeCount()
    for asked in [2, 1] {
      let due = try service.dueNotifications()
      XCTAssertEqual(due.notifications.count, 1)
      XCTAssertNil(due.nextIn)
      XCTAssertEqual(port.takeCount(), asked, "it is remembered")
    }
    let recipient = RelayClient(port: port, randomness: randomness)
    for asked in [2, 1] {
      let message = try XCTUnwrap(try recipient.getMessage(mailbox.recipient, key: mailbox.recipientKey))
      XCTAssertEqual(message.body, Array("hello".utf8))
      XCTAssertNil(message.age)
      XCTAssertEqual(port.takeCount(), asked)
    }
  }

  // MARK: Any order

  private enum Step { case send, fetch, freeze, thaw, release, listen, pass(Int64) }

  private static var steps: Generator<[Step]> {
    Generator<Step> { choices in
      switch choices.number(below: 12) {
      case 0...3: .send
      case 4, 5: .fetch
      case 6: .freeze
      case 7: .thaw
      case 8: .release
      case 9: .listen
      default: .pass(Int64(choices.number(below: 1_500)))
      }
    }.array(1...25)
  }

  /// Whatever the listener does: an unacknowledged message is due at the latest one pause after it was sent, and the
  /// service always learns when to ask next; a message acknowledged before it was due never becomes due.
  func testWhateverTheListenerDoesNothingIsWithheldForLongerThanOnePause() throws {
    forAll(Self.steps, runs: 40) { steps in
      let watched = try self.newWatched()
      var app: App? = try App(self.another(), watched.mailbox)
      var isFrozen = false
      var sent: [Moment] = []
      for step in steps {
        switch step {
        case .send:
          try self.send(watched)
          sent.append(self.clock.now())
        case .fetch:
          guard !isFrozen, let app else { continue }
          try app.fetchAll()
          sent = []
        case .freeze: isFrozen = true
        case .thaw: isFrozen = false
        case .release:
          app?.port.close()
          app = nil
        case .listen: app = try app ?? App(self.another(), watched.mailbox)
        case .pass(let milliseconds): self.clock.advance(.milliseconds(milliseconds))
        }
        let now = self.clock.now()
        let due = try watched.service.dueNotifications()
        let overdue = sent.filter { now - $0 >= self.pause }.count
        try expect(due.notifications.count >= overdue, "\(overdue) overdue, \(due.notifications.count) due")
        try expect(due.notifications.count <= sent.count, "more due than were sent and not acknowledged")
        try expect(
          due.notifications.count == sent.count || due.nextIn != nil, "withheld, and the service does not know")
        try expect(Int64(due.nextIn ?? 0) <= self.pause.milliseconds + 1, "\(due.nextIn ?? 0) ms")
      }
    }
  }
}
