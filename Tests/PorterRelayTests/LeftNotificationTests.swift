import Foundation
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// A service has pushed for a message, and the push was left to the app, which listened. It is due once more if the app
/// stops listening without having fetched.
final class LeftNotificationTests: RelayTestCase {
  private let pause = NotificationHold.pause

  /// The app does not fetch, and the service takes the notification.
  private func pushInVain(_ watched: Watched) throws {
    try send(watched)
    clock.advance(pause)
    let due = try watched.service.dueNotifications().notifications
    XCTAssertEqual(due.count, 1)
    try watched.service.acknowledge(due)
    XCTAssertEqual(try dueCount(watched), 0)
    watched.servicePort.drainWake()
  }

  private func assertWoken(_ watched: Watched, _ isWoken: Bool = true, line: UInt = #line) throws {
    var entry = pollfd(fd: try XCTUnwrap(watched.servicePort.wakeDescriptor), events: Int16(POLLIN), revents: 0)
    XCTAssertEqual(poll(&entry, 1, 0) == 1, isWoken, line: line)
    watched.servicePort.drainWake()
  }

  func testWhatAListenerLeavesIsDueOnceMore() throws {
    let watched = try newWatched()
    for _ in 0..<2 {
      let app = try App(another(), watched.mailbox)
      try app.fetchAll()
      try pushInVain(watched)
      app.port.releaseFiles()
      try assertWoken(watched)
      let due = try watched.service.dueNotifications()
      XCTAssertEqual(due.notifications.count, 1)
      XCTAssertNil(due.nextIn)
      // No client is listening now: that was the last time.
      try watched.service.acknowledge(due.notifications)
      XCTAssertNil(try watched.service.dueNotifications().nextIn)
      let other = another()
      _ = try App(other, watched.mailbox)
      other.releaseFiles()
      XCTAssertEqual(try dueCount(watched), 0)
    }
  }

  func testWhatWasFetchedMeanwhileIsOver() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try pushInVain(watched)
    XCTAssertEqual(try receiveAll(watched.mailbox), ["hello"], "an extension has fetched it")
    app.port.releaseFiles()
    try assertWoken(watched, false)
    XCTAssertEqual(try dueCount(watched), 0)

    let late = try App(another(), watched.mailbox)
    try pushInVain(watched)
    try late.fetchAll()
    late.port.releaseFiles()
    XCTAssertEqual(try dueCount(watched), 0)
    XCTAssertEqual(try taken(), 0)
  }

  /// The service pushes first and acknowledges afterwards, and the listener leaves in between: the acknowledgement is
  /// for the push that was left to it.
  func testAnAcknowledgementThatComesAfterTheListenerHasLeftEndsNothing() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try send(watched)
    clock.advance(pause)
    let pushed = try watched.service.dueNotifications().notifications
    XCTAssertEqual(pushed.count, 1)
    watched.servicePort.drainWake()
    app.port.releaseFiles()
    try assertWoken(watched)
    try watched.service.acknowledge(pushed)
    let again = try watched.service.dueNotifications().notifications
    XCTAssertEqual(again.count, 1)
    XCTAssertNotEqual(again.map(\.nonce), pushed.map(\.nonce))
    try watched.service.acknowledge(again)
    XCTAssertEqual(try dueCount(watched), 0)
  }

  func testAnotherListenerMayStillFetchIt() throws {
    let watched = try newWatched()
    let (first, second) = (try App(another(), watched.mailbox), try App(another(), watched.mailbox))
    try pushInVain(watched)
    first.port.releaseFiles()
    XCTAssertEqual(try dueCount(watched), 0)
    second.port.releaseFiles()
    try assertWoken(watched)
    XCTAssertEqual(try dueCount(watched), 1)
  }

  func testWithoutAListenerAServiceTakesItForGood() throws {
    let watched = try newWatched()
    try send(watched)
    try watched.service.acknowledge(try watched.service.dueNotifications().notifications)
    XCTAssertEqual(try taken(), 0)
    let app = try App(another(), watched.mailbox)
    app.port.releaseFiles()
    XCTAssertEqual(try dueCount(watched), 0)
  }

  /// A killed process reports nothing, and the relay may not be used for hours. So the answer sets a time for the
  /// service's next question.
  func testAKilledListenerIsLookedForByTheService() throws {
    let watched = try newWatched()
    let app = try App(another(), watched.mailbox)
    try pushInVain(watched)
    let next = try XCTUnwrap(try watched.service.dueNotifications().nextIn)
    XCTAssertLessThanOrEqual(next, 10_000)
    let folder = path + ".wake"
    let socket = try listener(in: "subscription")
    try FileManager.default.removeItem(atPath: folder + "/" + socket)
    clock.advance(.milliseconds(Int64(next)))
    XCTAssertEqual(try dueCount(watched), 1)
    XCTAssertNil(try watched.service.dueNotifications().nextIn)
    withExtendedLifetime(app) {}
  }

  /// An earlier version does not know such notifications; those that it left are kept.
  func testAFileOfAnEarlierVersionIsTakenOver() throws {
    let watched = try newWatched()
    try send(watched)
    for port in [relay, watched.servicePort] { port.releaseFiles() }
    let earlier = try Database(path: path)
    try earlier.execute(
      Self.undoSixthVersion + "DROP TABLE taken_notification; DROP INDEX subscription_listener; PRAGMA user_version=4")
    try earlier.close()
    XCTAssertEqual(try dueCount(watched), 1)
    XCTAssertEqual(try taken(), 0)
    XCTAssertEqual(try receiveAll(watched.mailbox), ["hello"])
  }

  /// A process of an earlier version that has the file open does not look at its version again.
  func testAnEarlierVersionsStatementsStillCountOnAFileOfThisOne() throws {
    let watched = try newWatched()
    try send(watched)
    let earlier = try Database(path: path)
    XCTAssertEqual(try earlier.integer("SELECT count(*) FROM notification WHERE service IS NOT NULL"), 1)
    try earlier.execute(
      """
      CREATE TEMP TABLE old AS SELECT * FROM notification; DELETE FROM notification;
      INSERT INTO notification(message, mailbox, sent_at, nonce, metadata, held_until)
      SELECT message, mailbox, sent_at, nonce, metadata, held_until FROM old
      """)
    XCTAssertEqual(try dueCount(watched), 1)
    try earlier.execute("UPDATE notifier SET service = x'01'")
    XCTAssertEqual(try dueCount(watched), 0)
    try earlier.close()
  }

  /// Such as a backup, before a relay of this version has opened it.
  func testAnAdministratorReadsAFileOfAnEarlierVersionAsItIs() throws {
    let watched = try newWatched()
    try send(watched)
    for port in [relay, watched.servicePort] { port.releaseFiles() }
    let earlier = try Database(path: path)
    try earlier.execute(Self.undoSixthVersion + "PRAGMA user_version=5")
    let administration = RelayAdministration(path: path)
    XCTAssertEqual(administration.problems(), [])
    XCTAssertEqual(try administration.usage(of: watched.mailbox.recipient.base64URL)?.waiting, 1)
    XCTAssertEqual(try earlier.userVersion, 5)
    try earlier.close()
  }

  private func taken() throws -> Int64 {
    let database = try Database(path: path)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM taken_notification") ?? 0
  }

  private func listener(in table: String) throws -> String {
    let database = try Database(path: path)
    defer { try? database.close() }
    let names = try database.rows("SELECT name FROM listener JOIN \(table) ON listener = number") { $0.text(0) }
    return try XCTUnwrap(names.first)
  }
}
