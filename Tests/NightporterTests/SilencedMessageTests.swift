import Foundation
import PorterStore
import XCTest

/// Messages not shown by the user's choice that an edit turns into shown ones, or the other way round.
final class SilencedMessageTests: XCTestCase {
  private func notify(_ mode: String, _ host: Host, line: UInt = #line) {
    host.send(#"/_settings @1 {"enableNtfs":"\#(mode)","favorite":false}"#).assert("cmdOk", #filePath, line)
  }

  /// Edits the message that bob sent `back` messages ago.
  private func edit(_ text: String, of host: Host, back: Int = 0, line: UInt = #line) {
    let items = host.send("/_get chat @1 count=\(back + 1)")["result"]["chat"]["chatItems"]
    let item = items[0]["meta"]["itemId"].number
    host.send("/_update item @1 \(item) text \(text)").assert("chatItemUpdated", #filePath, line)
  }

  private func state(of text: String, _ host: Host) throws -> String? {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    return try store.rows(
      "SELECT ledger.state FROM ledger JOIN items ON items.ledger_entry = ledger.entry_id WHERE content LIKE ?",
      [.text("%\(text)%")]
    ) { $0.text(0) }.first
  }

  /// The combined answers of extensions to the pushes of this message.
  private func present(_ text: String, _ station: Station) throws -> (notifications: [JSON], withdrawals: [String]) {
    station.pair.send(text, from: station.bob)
    let answers = try station.allPushes().map { try station.present($0) }
    return (
      answers.flatMap { $0["notifications"].elements }, answers.flatMap { $0["withdrawals"].elements.map(\.text) }
    )
  }

  private struct Shown: Equatable {
    let body: String
    let presentation: [String]
  }

  /// The next notification for the app on screen.
  private func shown(_ host: Host, line: UInt = #line) throws -> Shown {
    let event = try XCTUnwrap(host.event("notifications", line: line), line: line)["result"]["notifications"]
    XCTAssertEqual(event.count, 1, event.description, line: line)
    return Shown(
      body: event[0]["notification"]["body"].text, presentation: event[0]["presentation"].elements.map(\.text))
  }

  // MARK: In an extension

  func testAMentionThatAnEditAddsSoundsLikeANewMessage() throws {
    let station = try Station()
    notify("mentions", station.alice)
    station.suspend()
    try station.alice.forgetSounds()
    XCTAssertEqual(try present("look", station).notifications.count, 0)
    XCTAssertEqual(try state(of: "look", station.alice), "silenced")
    edit("look, @alice", of: station.bob)
    let added = try present("nothing to hear", station).notifications
    XCTAssertEqual(added.map { $0["body"].text }, ["look, @alice"])
    XCTAssertEqual(added.first?["sound"].text, "default", "\(added)")
    // It is on screen: from here on it is replaced.
    try station.alice.forgetSounds()
    edit("look here, @alice", of: station.bob, back: 1)
    let replaced = try present("nor this", station).notifications
    XCTAssertEqual(replaced.map { $0["body"].text }, ["look here, @alice"])
    XCTAssertEqual(replaced.first?["identifier"].text, added.first?["identifier"].text)
    XCTAssertFalse(replaced.first?["sound"].exists ?? true, "\(replaced)")
  }

  /// A chat makes one sound in 30 s, even with a mention that an edit adds.
  func testAMentionThatAnEditAddsIsQuietRightAfterAnother() throws {
    let station = try Station()
    notify("mentions", station.alice)
    station.suspend()
    try station.alice.forgetSounds()
    XCTAssertEqual(try present("look", station).notifications.count, 0)
    edit("look, @alice", of: station.bob)
    let both = try present("and you, @alice", station).notifications
    XCTAssertEqual(both.map { $0["body"].text }, ["look, @alice", "and you, @alice"])
    XCTAssertEqual(both.filter { $0["sound"].exists }.count, 1, "\(both)")
  }

  func testAMentionThatAnEditTakesAwayIsWithdrawnAndNewWhenItIsBack() throws {
    let station = try Station()
    notify("mentions", station.alice)
    station.suspend()
    let first = try present("look, @alice", station).notifications
    let identifier = try XCTUnwrap(first.first)["identifier"].text
    edit("look, all", of: station.bob)
    let without = try present("nothing to hear", station)
    XCTAssertEqual(without.notifications.count, 0, "\(without)")
    XCTAssertEqual(without.withdrawals, [identifier], "once")
    try station.alice.forgetSounds()
    edit("look again, @alice", of: station.bob, back: 1)
    let back = try present("nor this", station)
    XCTAssertEqual(back.notifications.map { $0["identifier"].text }, [identifier])
    XCTAssertEqual(back.notifications.first?["sound"].text, "default", "\(back)")
    XCTAssertEqual(back.withdrawals, [])
  }

  /// Messages that were read or deleted stay away, whatever an edit says.
  func testAnEditOfWhatWasReadShowsNothing() throws {
    let station = try Station()
    notify("mentions", station.alice)
    station.suspend()
    XCTAssertEqual(try present("look", station).notifications.count, 0)
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(try state(of: "look", station.alice), "read")
    station.suspend()
    edit("look, @alice", of: station.bob)
    XCTAssertEqual(try present("nothing to hear", station).notifications.count, 0)
  }

  // MARK: On screen

  func testAMentionThatAnEditAddsIsHeardOnScreen() throws {
    let pair = try Pair()
    pair.alice.event("notifications")
    try pair.alice.forgetSounds()
    notify("mentions", pair.alice)
    pair.send("look", from: pair.bob)
    pair.alice.event("newChatItems")
    XCTAssertEqual(try state(of: "look", pair.alice), "silenced")
    edit("look, @alice", of: pair.bob)
    XCTAssertEqual(try shown(pair.alice), Shown(body: "look, @alice", presentation: ["sound", "banner", "list"]))
    try pair.alice.forgetSounds()
    edit("look here, @alice", of: pair.bob)
    XCTAssertEqual(try shown(pair.alice), Shown(body: "look here, @alice", presentation: ["list"]))
  }

  /// The user has muted the chat while its message was on screen: the earlier text is withdrawn, and once more with the
  /// next answer.
  func testAMessageThatIsEditedInAMutedChatIsWithdrawn() throws {
    let station = try Station()
    station.alice.dropEvents()
    station.pair.send("look", from: station.bob)
    let event = try XCTUnwrap(station.alice.event("notifications"))["result"]["notifications"]
    let identifier = event[0]["notification"]["identifier"].text
    notify("none", station.alice)
    edit("look, all", of: station.bob)
    station.alice.event("chatItemUpdated")
    XCTAssertEqual(try state(of: "look", station.alice), "silenced")
    let removed = try XCTUnwrap(station.alice.event("notifications"))["result"]
    XCTAssertEqual(removed["withdrawals"].elements.map(\.text), [identifier])
    XCTAssertEqual(removed["notifications"].count, 0)
    station.suspend()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    XCTAssertEqual(try station.present(wake)["withdrawals"].elements.map(\.text), [identifier])
  }
}
