import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import XCTest

final class SubscriptionTests: XCTestCase {
  /// The server's record is lost, and the process keeps running: a day later it notices.
  func testAForgottenSubscriptionIsRestoredWithinADayINC64() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    for _ in 0..<2 {
      try alice.execute("DELETE FROM subscription")
      alice.clock.move(.days(1) + .seconds(60))
      try alice.wait("subscribed again") {
        try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1
      }
    }
  }

  /// The day's check gets no answer: it is repeated within minutes, not a day later.
  func testACheckThatGotNoAnswerIsRepeatedINC67() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    alice.stopServer()
    try alice.execute("DELETE FROM subscription")
    alice.clock.move(.days(1) + .seconds(60))
    alice.send("/_check running")
    // The longest the check waits; the server's late answer is no longer expected.
    alice.clock.move(.seconds(60))
    alice.send("/_check running")
    try alice.startServer()
    alice.clock.move(.seconds(200))
    try alice.wait("subscribed again") { try alice.watched == 1 }
  }

  /// Disabled while the relay is out of reach: both are notified when it is back.
  func testDisabledSubscriptionsAreReleasedAtTheServerAndTheRelay() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    alice.stopServer()
    let locker = try Database(path: alice.folder.file("relay.db"))
    try locker.execute("BEGIN EXCLUSIVE")
    alice.send("/_ntf register apns_test \(alice.token) PERIODIC")
    try alice.wait("turned off") { try alice.inState("subscription IN ('turningOff', 'releasing')") == 1 }
    XCTAssertEqual(try alice.inState("notifier_key IS NOT NULL"), 1, "kept until the relay has released it")
    XCTAssertEqual(try alice.count("SELECT count(*) FROM server_outbox", in: "alice_chat.db"), 1)
    try locker.execute("ROLLBACK")
    try locker.close()
    try alice.startServer()
    try alice.wait("released") {
      alice.clock.move(.seconds(200))
      return try alice.watched == 0 && alice.inState("notifier_key IS NULL AND subscription = 'off'") == 1
    }
    XCTAssertEqual(try alice.count("SELECT count(*) FROM notifier", in: "relay.db"), 0)
    // And back.
    alice.send("/_ntf register apns_test \(alice.token) INSTANT").assert("ntfTokenStatus")
    try alice.wait("subscribed again") { try alice.watched == 1 }
  }

  /// The relay is out of reach when the profile is muted, and the process ends: the next one makes both forget it.
  func testAMutedOrHiddenProfileIsNotWatched() throws {
    let alice = try Watched()
    let isWatched = { (count: Int64) throws in
      try alice.wait("\(count) watched") {
        alice.clock.move(.seconds(200))
        return try alice.watched == count && alice.count("SELECT count(*) FROM notifier", in: "relay.db") == count
      }
    }
    try isWatched(1)
    alice.stopServer()
    let locker = try Database(path: alice.folder.file("relay.db"))
    try locker.execute("BEGIN EXCLUSIVE")
    alice.send("/_mute user 1").assert("userPrivacy")
    alice.stop()
    try locker.execute("ROLLBACK")
    try locker.close()
    XCTAssertEqual(try alice.watched, 1, "it was never asked")
    try alice.startServer()
    try alice.start()
    try isWatched(0)
    alice.send("/_unmute user 1").assert("userPrivacy")
    try isWatched(1)
    alice.send(#"/_create user {"profile":{"displayName":"work"}}"#).assert("activeUser")
    alice.send(#"/_hide user 1 "open sesame""#).assert("userPrivacy")
    try isWatched(0)
    // The relay forgets it before that is recorded.
    try alice.wait("noted") { try alice.inState("notifier_key IS NOT NULL") == 0 }
    // Not while its owner is looking at it, either: it is in no notification.
    alice.send(#"/_user 1 "open sesame""#).assert("activeUser")
    alice.send("/_connect 1").assert("invitation")
    XCTAssertEqual(try alice.inState("notifier_key IS NOT NULL"), 0)
    alice.send(#"/_unhide user 1 "open sesame""#).assert("userPrivacy")
    try isWatched(2)
  }

  func testTheServerForgetsADeletedInvitation() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    alice.send("/_delete :1").assert("contactConnectionDeleted")
    XCTAssertEqual(try alice.inState("1"), 0)
    try alice.wait("forgotten") { try alice.watched == 0 }
  }

  /// INC-44: a state unknown to this version is left as it is, and its neighbour is processed.
  func testINC44AnUnknownSubscriptionStateIsLeftAlone() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.executeAtHome("UPDATE connections SET subscription = 'fromTheFuture'")
    alice.send("/_app activate").assert("cmdOk")
    alice.send("/_connect 1").assert("invitation")
    try alice.wait("the neighbour is subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
    XCTAssertEqual(try alice.inState("subscription = 'fromTheFuture'"), 1)
  }

  func testAnUnknownTokenStateIsNotTreatedAsNew() throws {
    let alice = try Watched()
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.executeAtHome("UPDATE token SET status = 'fromTheFuture'")
    alice.send("/_app activate").assert("cmdOk")
    for command in ["get", "check apns_test \(alice.token)", "delete apns_test \(alice.token)"] {
      let answer = alice.send("/_ntf \(command)")
      XCTAssertEqual(answer["error"]["np"]["code"].text, "storeDamaged", answer.description)
    }
    XCTAssertEqual(try alice.count("SELECT count(*) FROM token WHERE status = 'fromTheFuture'", in: "alice_chat.db"), 1)
    // Work unrelated to the token continues.
    alice.send("/_connect 1").assert("invitation")
  }

  /// A token that the server knows under another id has no subscriptions yet.
  func testSubscriptionsMoveToATokenThatIsRegisteredAnew() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    let notifier = try alice.notifier()
    try alice.execute("DELETE FROM subscription; DELETE FROM token")
    alice.send("/_ntf check apns_test \(alice.token)")
    try alice.verify(alice.token)
    try alice.wait("subscribed again") { try alice.watched == 1 }
    XCTAssertEqual(try alice.notifier(), notifier, "with the same notifier")
  }

  /// A host must register a token that the server reported as expired: the machine refuses to verify it.
  func testAnUnusableTokenIsNotVerified() throws {
    let alice = try Watched()
    let token = TextEncoding.hex(SystemRandomness().bytes(32))
    alice.send("/_ntf register apns_test \(token) INSTANT").assert("ntfTokenStatus")
    let data = JSON(try XCTUnwrap(alice.server?.nextPush(to: token, within: .seconds(20))))["notificationData"]
    let verify = "/_ntf verify apns_test \(token) \(data["nonce"].text) \(data["verification"].text)"
    alice.send(verify).assert("cmdOk")
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.executeAtHome("UPDATE token SET status = 'expired'")
    // Otherwise it would be registered anew before the command.
    alice.stopServer()
    alice.send("/_app activate").assert("cmdOk")
    let answer = alice.send(verify)
    XCTAssertTrue(answer["error"].description.contains("tokenUnusable"), answer.description)
  }

  /// The server does not know the old token, so the new one is registered from the beginning. That succeeds, and the
  /// host gets that answer.
  func testATokenThatCannotReplaceAForgottenOneIsRegisteredAndAnswered() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    try alice.execute("DELETE FROM subscription; DELETE FROM token")
    let token = TextEncoding.hex(SystemRandomness().bytes(32))
    let answer = alice.send("/_ntf register apns_test \(token) INSTANT")
    answer.assert("ntfTokenStatus")
    XCTAssertEqual(answer["result"]["status"].text, "REGISTERED", answer.description)
    try alice.verify(token)
    try alice.wait("subscribed again") { try alice.watched == 1 }
  }

  /// Each attempt to register or replace the token is stored (INC-09), and replaces the previous one: a server that is
  /// away for a month does not leave thousands of rows.
  func testAttemptsAtTheServerDoNotPileUp() throws {
    let alice = try Watched()
    for _ in 0..<4 { try alice.activate(TextEncoding.hex(SystemRandomness().bytes(32))) }
    XCTAssertLessThanOrEqual(
      try alice.count("SELECT count(*) FROM reservations WHERE kind = 'token'", in: "alice_chat.db"), 1)
  }

  /// A push in an app expires in the middle of its work: it has no claim afterwards, and a command that waits for the
  /// notification server keeps waiting for it.
  func testAnExpiredPushInAnAppLeavesAWaitingCommandAlone() throws {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    alice.stopServer()
    let answered = expectation(description: "the command's answer")
    let answer = Box("")
    Thread.detachNewThread {
      answer.value = alice.send("/_ntf check apns_test \(alice.token)").description
      answered.fulfill()
    }
    awaitThat("it waits for the server") { alice.state["holds"].elements.contains { $0.text.contains("answers") } }
    try alice.execute(
      """
      INSERT INTO message (mailbox, identifier, attempt, sent_at, notify, body)
      SELECT number, randomblob(24), randomblob(24), 0, 0, zeroblob(64) FROM mailbox
      """, in: "relay.db")
    let holder = try Database(path: alice.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    XCTAssertEqual(alice.wakeUp(within: 500)["outcome"].text, "expired")
    try holder.execute("COMMIT")
    try holder.close()
    try alice.wait("no claim") { alice.state["claims"].count == 0 }
    try alice.startServer()
    wait(for: [answered], timeout: 20)
    XCTAssertEqual(JSON(answer.value)["result"]["status"].text, "ACTIVE", answer.value)
  }
}

extension Watched {
  fileprivate func notifier() throws -> String {
    let database = try Database(path: folder.file("alice_chat.db"))
    defer { try? database.close() }
    return try database.rows("SELECT hex(notifier_id) FROM connections") { $0.text(0) }.joined()
  }
}
