import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// A service's request that acknowledges, gets, and looks into a mailbox.
final class NotifierQuestionTests: ClusterTestCase {
  func testOneExchangeAcknowledgesAndGivesAndSaysWhatWaits() throws {
    let (mailbox, notifiers) = try watchedMailbox()
    let own = try newMailbox()
    func ask(_ stored: [RelayNotification], key: SigningKeyPair? = nil) throws -> (
      [RelayNotification], RelaySubscription
    ) {
      let (due, state) = try notifiers.acknowledgeAndGet(stored, mailbox: (own.recipient, key ?? own.key))
      return (due.notifications, state)
    }

    var (due, state) = try ask([])
    XCTAssertEqual(due, [])
    XCTAssertEqual(state, .subscribed)
    try send("one", to: mailbox)
    try send("a request", to: own)
    (due, state) = try ask([])
    XCTAssertEqual(due.count, 1)
    XCTAssertEqual(state, .waiting)
    let first = due
    try send("two", to: mailbox)
    (due, state) = try ask(first)
    XCTAssertEqual(due.count, 1)
    XCTAssertNotEqual(due, first)
    (due, state) = try ask(due, key: mailbox.key)
    XCTAssertEqual(due, [])
    XCTAssertEqual(state, .auth)
    // Longer than the cluster assigns a notification to one server.
    clock.advance(.seconds(60))
    XCTAssertEqual(try notifiers.dueNotifications().notifications, [])
  }

  /// The notifications were taken from the cluster, which gives them to no server for some seconds.
  func testNotificationsAreGivenThoughTheMailboxCannotBeLookedInto() throws {
    let (mailbox, notifiers) = try watchedMailbox()
    let own = try newMailbox()
    try send("one", to: mailbox)
    func ask() throws -> (due: RelayDueNotifications, mailbox: RelaySubscription) {
      try notifiers.acknowledgeAndGet([], mailbox: (own.recipient, own.key))
    }

    let calls = try store.requests {
      let (due, state) = try ask()
      XCTAssertEqual(due.notifications.count, 1)
      XCTAssertEqual(state, .subscribed)
    }.count
    // The mailbox is read beside the notification's, so it varies which call is which.
    var states: [RelaySubscription] = []
    for call in Array(repeating: 1...calls, count: 10).joined() {
      clock.advance(.seconds(60))
      store.fail(call: call, .before)
      guard let (due, state) = try? ask() else { continue }
      XCTAssertEqual(due.notifications.count, 1)
      states.append(state)
    }
    XCTAssertGreaterThanOrEqual(states.count { $0 == .waiting }, 5, "it says so if it has not looked")
  }

  /// Another relay may have given the message out since.
  func testTheRecordIsReadUnlessThisRelayHasJustStoredIt() throws {
    let port = makePort(listener: "service")
    let (mailbox, notifiers) = try watchedMailbox(at: port)
    let own = RelayClient(port: port, randomness: randomness)
    let cases: [(RelayClient, Int64, Bool)] = [
      (own, 0, false), (own, 249, false), (own, 250, true), (client, 0, true),
    ]
    for (sender, milliseconds, reads) in cases {
      try send("one", to: mailbox, by: sender)
      clock.advance(.milliseconds(milliseconds))
      let requests = try store.requests {
        let due = try notifiers.dueNotifications().notifications
        XCTAssertEqual(due.count, 1)
        try notifiers.acknowledge(due)
      }
      XCTAssertEqual(requests.contains("record"), reads, "\(requests) after \(milliseconds) ms")
      XCTAssertFalse(requests.contains("settle"))
    }
  }
}
