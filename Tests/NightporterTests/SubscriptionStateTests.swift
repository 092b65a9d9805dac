import Foundation
import PorterPlatform
import PorterPush
import XCTest

@testable import PorterStore

/// What the relay and the notification server report about a subscription, and the outcome of requests whose answers do
/// not arrive.
final class SubscriptionStateTests: XCTestCase {
  private func subscribed(_ alice: Watched, file: StaticString = #filePath, line: UInt = #line) throws {
    try alice.registerAtScript(file: file, line: line)
    try alice.wait("subscribed", file: file, line: line) { try alice.inState("subscription LIKE 'created%'") == 1 }
    try alice.waitUntilIdle(file: file, line: line)
  }

  /// A day passes, and the server is asked.
  private func nextDay(_ alice: Watched) {
    alice.clock.move(.days(1) + .seconds(1))
    alice.send("/_check running")
  }

  func testTheHostHearsWhatTheServerSaysOfASubscription() throws {
    let alice = try Watched({ _ in })
    try subscribed(alice)
    XCTAssertEqual(alice.subscriptionEvents(), ["active"])
    let answers: [(SubscriptionStatus, state: String, event: String?)] = [
      (.pending, "createdPending", "pending"), (.inactive, "createdInactive", nil),
      (.active, "createdActive", "active"),
      (.new, "createdNew", nil),
    ]
    for (status, state, event) in answers {
      alice.script?.answers("SCHK", .each(status))
      nextDay(alice)
      try alice.wait(state) { try alice.inState("subscription = '\(state)'") == 1 }
      let counts = alice.state["notifications"]["subscriptions"]
      XCTAssertEqual(counts[state].number, 1, counts.description)
      XCTAssertEqual(alice.subscriptionEvents(), event.map { [$0] } ?? [], state)
    }
    // The server ends it: it is created anew, and works again.
    alice.script?.answers("SCHK", .each(.end))
    nextDay(alice)
    var events: [String] = []
    try alice.wait("made anew") {
      events += alice.subscriptionEvents()
      return events.count >= 2
    }
    XCTAssertEqual(events, ["pending", "active"])
    let repairs = alice.state["notifications"]["repairs"]
    XCTAssertEqual(repairs.elements.map { $0["reason"].text }, ["check.ended"], repairs.description)
    XCTAssertEqual(repairs[0]["count"].number, 1)
    XCTAssertTrue(repairs[0]["ts"].text.hasSuffix("Z"), repairs.description)
  }

  func testTheHostHearsThatAConnectionIsNotPushedAnyMore() throws {
    let alice = try Watched({ _ in })
    try subscribed(alice)
    XCTAssertEqual(alice.subscriptionEvents(), ["active"])
    alice.send("/_ntf register apns_test \(alice.token) PERIODIC").assert("ntfTokenStatus")
    var events: [String] = []
    try alice.wait("off") {
      events += alice.subscriptionEvents()
      return try alice.inState("subscription = 'off'") == 1 && !events.isEmpty
    }
    XCTAssertEqual(events, ["noSub"])
  }

  func testAServerThatRefusesASubscription() throws {
    let alice = try Watched({ $0.answers("SNEW", .refusal(.quota)) })
    try alice.registerAtScript()
    try alice.wait("refused") { alice.subscriptionEvents() == ["removed"] }
    XCTAssertEqual(try alice.inState("subscription = 'key'"), 1)
    // Not asked again until there is a reason to.
    alice.script?.answers("SNEW", nil)
    nextDay(alice)
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
  }

  func testASubscriptionThatGetsNoAnswerIsAskedForAgain() throws {
    let alice = try Watched({ $0.answers("SNEW", .refusal(.internal)) })
    try alice.registerAtScript()
    try alice.wait("asked") { (alice.script?.count("SNEW") ?? 0) > 0 }
    alice.script?.answers("SNEW", nil)
    try alice.wait("subscribed") {
      alice.clock.move(.seconds(1))
      return try alice.inState("subscription LIKE 'created%'") == 1
    }
  }

  /// The relay no longer knows the notifier's key: another is created.
  func testASubscriptionWhoseKeysAreUnknownGetsOthers() throws {
    let alice = try Watched({ $0.answers("SNEW", .each(.refused)) })
    try alice.registerAtScript()
    try alice.wait("asked") {
      alice.clock.move(.milliseconds(100))
      return (alice.script?.count("SNEW") ?? 0) > 1
    }
    alice.script?.answers("SNEW", nil)
    try alice.wait("subscribed") {
      alice.clock.move(.seconds(1))
      return try alice.inState("subscription LIKE 'created%'") == 1
    }
    let repairs = alice.state["notifications"]["repairs"]
    XCTAssertEqual(repairs.elements.map { $0["reason"].text }, ["subscribe.authError"], repairs.description)
  }

  func testARelayThatDoesNotTakeTheNotifier() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    alice.transport?.fail(.notifier)
    try alice.registerAtScript()
    try alice.wait("asked") { (alice.transport?.count(.notifier) ?? 0) > 0 }
    alice.transport?.fail(nil)
    try alice.wait("subscribed") {
      alice.clock.move(.seconds(1))
      return try alice.inState("subscription LIKE 'created%'") == 1
    }
    // The relay has deleted the mailbox, so it cannot be given a notifier.
    try alice.waitUntilIdle()
    _ = alice.subscriptionEvents()
    try alice.execute("DELETE FROM mailbox WHERE number IN (SELECT mailbox FROM notifier)", in: "relay.db")
    alice.script?.answers("SCHK", .each(.deleted))
    nextDay(alice)
    try alice.wait("refused") { alice.subscriptionEvents().last == "removed" }
    XCTAssertEqual(try alice.inState("subscription = 'new'"), 1)
  }

  /// Each kind of request is in progress when the process ends: the next start repeats it.
  func testRequestsUnderWayAreAskedAgainAfterTheProcessEnded() throws {
    let alice = try Watched({ $0.answers("SNEW", .silence) }, throughHost: true)
    // At the server, which does not answer.
    try alice.registerAtScript(idle: false)
    try alice.wait("under way") { try alice.inState("subscription = 'subscribing'") == 1 }
    try alice.restart()
    try alice.wait("asked again") { alice.script?.count("SNEW") == 2 }
    alice.script?.answers("SNEW", nil)
    try alice.restart()
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
    alice.script?.answers("SCHK", .silence)
    nextDay(alice)
    try alice.wait("under way") { try alice.inState("subscription = 'checking'") == 1 }
    alice.script?.answers("SCHK", nil)
    try alice.restart()
    try alice.wait("checked") { try alice.inState("subscription = 'createdActive'") == 1 }
    try alice.waitUntilIdle()

    // At the relay, whose transport hangs.
    alice.script?.answers("SCHK", .each(.end))
    alice.transport?.hang(.notifier)
    nextDay(alice)
    try alice.wait("under way") { try alice.inState("subscription = 'enabling'") == 1 }
    try alice.restart()
    alice.script?.answers("SCHK", nil)
    alice.transport?.hang(nil)
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
    try alice.waitUntilIdle()
    alice.transport?.hang(.notifier)
    alice.send("/_ntf register apns_test \(alice.token) PERIODIC")
    try alice.wait("under way") { try alice.inState("subscription = 'releasing'") == 1 }
    try alice.restart()
    alice.transport?.hang(nil)
    try alice.wait("released") { try alice.inState("subscription = 'off' AND notifier_key IS NULL") == 1 }
  }

  /// The app leaves the screen before the relay has answered: the server still gets the request, and the next start
  /// learns that it has it.
  func testWhatIsUnmutedBeforeTheAppComesToRestIsSubscribed() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try subscribed(alice)
    alice.send("/_mute user 1").assert("userPrivacy")
    try alice.wait("off") { try alice.inState("subscription = 'off'") == 1 }
    try alice.waitUntilIdle()
    let asked = alice.script?.count("SNEW") ?? 0
    alice.transport?.hang(.notifier)
    alice.send("/_unmute user 1").assert("userPrivacy")
    try alice.wait("asked") { try alice.inState("subscription = 'enabling'") == 1 }
    alice.send("/_app suspend 60000000").assert("cmdOk")
    alice.transport?.hang(nil)
    try alice.wait("at rest") { alice.state["quiescent"].flag }
    try alice.wait("asked for") { alice.script?.count("SNEW") == asked + 1 }
    alice.send("/_app activate").assert("cmdOk")
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
  }

  // MARK: Reports that cannot be made

  /// The server reports that it no longer watches, and then the store cannot be read.
  private func unreported() throws -> Watched {
    let alice = try Watched({ _ in })
    try subscribed(alice)
    XCTAssertEqual(alice.subscriptionEvents(), ["active"])
    try alice.executeAtHome(
      """
      CREATE TABLE kept AS SELECT signing_key FROM token;
      CREATE TRIGGER spoils AFTER UPDATE OF subscription ON connections WHEN new.subscription = 'createdPending'
        BEGIN UPDATE token SET signing_key = x'00'; END;
      """)
    alice.script?.answers("SCHK", .each(.pending))
    nextDay(alice)
    try alice.wait("pending") { try alice.inState("subscription = 'createdPending'") == 1 }
    XCTAssertEqual(alice.subscriptionEvents(), [])
    return alice
  }

  private func mend(_ alice: Watched) throws {
    try alice.executeAtHome(
      "DROP TRIGGER spoils; UPDATE token SET signing_key = (SELECT signing_key FROM kept); DROP TABLE kept")
  }

  func testAStatusThatCannotBeReadIsReportedLater() throws {
    let alice = try unreported()
    try mend(alice)
    var events: [String] = []
    try alice.wait("reported") {
      alice.clock.move(.seconds(1))
      events += alice.subscriptionEvents()
      return !events.isEmpty
    }
    XCTAssertEqual(events, ["pending"])
  }

  /// Also if the app was suspended in the meantime, and resumes nothing that waits.
  func testAStatusThatWasNotReportedBeforeTheStoreWasClosedIsReportedWhenItIsOpen() throws {
    let alice = try unreported()
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.wait("at rest") { alice.state["quiescent"].flag }
    try mend(alice)
    alice.send("/_app activate restore=off").assert("cmdOk")
    try alice.wait("reported") { alice.subscriptionEvents() == ["pending"] }
  }

  /// A store from when a disabled subscription was `off` before the relay knew.
  func testAStoreOfAnEarlierVersionIsReleased() throws {
    let alice = try Watched({ _ in })
    try subscribed(alice)
    alice.stop()
    // As that version left it; then the migration.
    try alice.executeAtHome(
      """
      UPDATE connections SET subscription = 'off'; UPDATE token SET mode = 'PERIODIC';
      ALTER TABLE token DROP COLUMN repair_reason; ALTER TABLE token DROP COLUMN repair_at;
      """)
    try alice.executeAtHome(Schema.pushHealth)
    try alice.start()
    try alice.wait("released") { try alice.inState("subscription = 'off' AND notifier_key IS NULL") == 1 }
    XCTAssertEqual(try alice.count("SELECT count(*) FROM notifier", in: "relay.db"), 0)
  }
}

extension Watched {
  fileprivate func subscriptionEvents() -> [String] {
    events("subscriptionStatus").map { $0["subscriptionStatus"]["type"].text }
  }
}
