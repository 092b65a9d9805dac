import Foundation
import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// A push was left to a client that listened, and that stops listening without having fetched.
final class LeavingTests: ClusterTestCase {
  private struct Watched {
    let mailbox: Fixture
    let notifiers: RelayNotifierClient
    let app: ClusterPort

    func due() throws -> [RelayNotification] { try notifiers.dueNotifications().notifications }
  }

  private func watch() throws -> Watched {
    let (mailbox, notifiers) = try watchedMailbox()
    let app = makePort(listener: "app")
    _ = try RelayClient(port: app, randomness: randomness).subscribe([(mailbox.recipient, mailbox.key)])
    return Watched(mailbox: mailbox, notifiers: notifiers, app: app)
  }

  private func pushInVain(_ watched: Watched) throws {
    try send("hello", to: watched.mailbox)
    XCTAssertEqual(try watched.due(), [], "the client is about to fetch")
    clock.advance(NotificationHold.pause)
    let due = try watched.due()
    XCTAssertEqual(due.count, 1)
    try watched.notifiers.acknowledge(due)
    XCTAssertEqual(try watched.due(), [])
  }

  func testWhatAListenerLeavesIsPushedOnceMore() throws {
    for leaves in [{ $0.detach("app") }, { $0.forget(["app"]) }] as [(ClusteredRelay) -> Void] {
      let watched = try watch()
      try pushInVain(watched)
      leaves(watched.app.relay)
      try awaitThat("it is due") { try watched.due().count == 1 }
      try watched.notifiers.acknowledge(try watched.due())
      leaves(watched.app.relay)
      try settle()
      XCTAssertEqual(try watched.due(), [], "it has left it before")
    }
  }

  /// The cluster is unreachable at first.
  func testItIsTriedAgain() throws {
    let watched = try watch()
    try pushInVain(watched)
    store.setOutOfReach(true)
    watched.app.relay.detach("app")
    try settle()
    store.setOutOfReach(false)
    try awaitThat("it is due") { try watched.due().count == 1 }
  }

  func testWhatWasFetchedIsOver() throws {
    let watched = try watch()
    try pushInVain(watched)
    XCTAssertEqual(try receiveAll(watched.mailbox), ["hello"], "by an extension, at another relay")
    watched.app.relay.detach("app")
    try settle()
    XCTAssertEqual(try watched.due(), [])
  }

  func testAnotherListenerMayStillFetch() throws {
    let watched = try watch()
    let other = RelayClient(port: ClusterPort(watched.app.relay, listener: "other"), randomness: randomness)
    _ = try other.subscribe([(watched.mailbox.recipient, watched.mailbox.key)])
    try pushInVain(watched)
    watched.app.relay.detach("app")
    try settle()
    XCTAssertEqual(try watched.due(), [])
    watched.app.relay.forget(["other"])
    try awaitThat("it is due") { try watched.due().count == 1 }
  }

  /// Whatever was begun has ended by then, if it ends at all.
  private func settle() throws { usleep(200_000) }

  private func awaitThat(_ what: String, _ condition: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 60)
    while try !condition() {
      guard end.timeIntervalSinceNow > 0 else { return XCTFail("not within a minute: \(what)") }
      usleep(5_000)
    }
  }
}
