import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// An app that comes to the front while an extension works.
final class YieldingTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// The extension waits for a relay that does not answer. The app continues immediately, and the extension releases
  /// the store because it was asked to, long before its own deadline.
  func testINC22AWaitingExtensionYieldsWhenTheAppWakes() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let slow = try ScriptedHost(store: night.alice.store, background: true)
    defer { slow.process.kill() }
    try slow.call(#"np_set_relay $c "silent""#)
    try slow.call("&push = np_receive_push $c \(JSONValue(push.text).text) 30000")
    let working = Date(timeIntervalSinceNow: 15)
    while try night.alice.state["presence"]?["working"] != true, working.timeIntervalSinceNow > 0 { usleep(20_000) }

    try night.wakeAlice()
    let answer = try slow.call("join push", within: 25)
    XCTAssertEqual(answer["outcome"], "yielded", answer.text)
    XCTAssertEqual(answer["work"], "skipped")
    XCTAssertEqual(answer["quiescent"], true)
    let holder = answer["holders"]?.arrayValue?.first?.stringValue ?? ""
    XCTAssertTrue(holder.hasPrefix("app \(night.alice.process.identifier)@"), answer.text)
    try night.expectAliceHas(["hello"])
  }

  /// The extension has committed one message of two and is frozen; the app wakes. Thawed, the extension shows what it
  /// has and leaves the other to the app, which received it long before. The relay's file stays in use, so that the
  /// extension cannot find its mailbox empty before it hears the app.
  func testINC19INC22AYieldingExtensionShowsWhatItHasAndReportsPartial() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("one")
    let push = try night.nextPush()
    try night.bobSends("two")
    let working = try night.startExtension(push, environment: ["PORTER_STOP_AT": "afterCommit"])
    try working.waitUntilStopped()
    try night.wakeAlice()
    try night.expectAliceHas(["one", "two"])
    let relay = try Database(path: night.relay)
    try relay.execute("BEGIN IMMEDIATE")
    working.signal(SIGCONT)
    let answer = try night.answer(of: working)
    try relay.execute("COMMIT")
    try relay.close()
    XCTAssertEqual(answer["quiescent"], true)
    XCTAssertEqual(answer["work"], "partial", answer.text)
    XCTAssertEqual(answer["outcome"], "yielded", "the app has told of both already: \(answer.text)")
    XCTAssertEqual(answer["badge"], 2)
    XCTAssertFalse(answer["holders"]?.arrayValue?.isEmpty ?? true, answer.text)
  }

  /// INC-19: having fetched, having fetched nothing because another process is fetching, and having fetched everything
  /// are three answers.
  func testINC19DoingNothingIsNotReportedAsSuccess() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let whole = try night.present(push)
    XCTAssertEqual(whole["work"], "ran", whole.text)
    XCTAssertNil(whole["holders"])
    try night.wakeAlice()
    let skipped = try night.present(push)
    XCTAssertEqual(skipped["work"], "skipped", skipped.text)
    XCTAssertEqual(skipped["outcome"], "yielded")
    XCTAssertEqual(skipped["holders"]?.arrayValue?.count, 1, skipped.text)
  }

  /// The extension is frozen inside its transaction: the only moment at which it holds the store's lock. The app waits
  /// for its bounded time, and then names the holder; thawed, everything is there once.
  func testINC18ContentionNamesTheHolder() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let holding = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "insideCommit"])
    try holding.waitUntilStopped()
    try night.wakeAlice()
    let message: JSONValue = [["msgContent": ["type": "text", "text": "mine"], "mentions": [:]]]
    let command = "/_send @\(night.aliceContact) live=off json \(message.text)"
    let busy = try night.alice.answer(command)
    XCTAssertEqual(busy["error"]?["np"]?["code"], "ownedElsewhere", busy.text)
    let holder = busy["error"]?["np"]?["holder"]?.stringValue ?? ""
    XCTAssertTrue(holder.hasPrefix("extension \(holding.identifier)@"), busy.text)
    holding.signal(SIGCONT)
    let answer = try night.answer(of: holding)
    XCTAssertEqual(answer["quiescent"], true, answer.text)
    try night.alice.command(command, "newChatItems")
    try night.expectAliceHas(["hello"])
  }
}
