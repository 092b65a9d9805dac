import Foundation
import PorterStore
import XCTest

/// Notifications that are shown anew under their identifier, since what they say has changed or has come.
final class ReplacedNotificationTests: XCTestCase {
  private func lastItem(_ host: Host) -> Int {
    host.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
  }

  private func edit(_ text: String, of host: Host, line: UInt = #line) {
    let message = #"{"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}"#
    host.send("/_update item @1 \(lastItem(host)) json \(message)").assert("chatItemUpdated", #filePath, line)
  }

  /// More than 30 s pass for the chat's sound.
  private func forgetSounds(_ host: Host) throws {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute("UPDATE connections SET sounded_boot = NULL")
  }

  private func comeBack(_ host: Host) {
    host.send("/_app suspend 0").assert("cmdOk")
    host.send("/_app activate").assert("cmdOk")
  }

  private struct Shown {
    let notification: JSON
    let presentation: [String]
  }

  /// The next that the app on screen has to show.
  private func shown(_ host: Host, line: UInt = #line) throws -> Shown {
    let event = try XCTUnwrap(host.event("notifications", line: line), line: line)["result"]["notifications"]
    XCTAssertEqual(event.count, 1, event.description, line: line)
    return Shown(
      notification: event[0]["notification"], presentation: event[0]["presentation"].elements.map(\.text))
  }

  /// A message that alice's app has shown on screen, and its notification as shown anew after it was edited.
  private func shownAnew(_ pair: Pair, tapping: (JSON) -> Void = { _ in }) throws -> (first: Shown, then: Shown) {
    pair.alice.event("notifications")
    pair.send("helo", from: pair.bob)
    let first = try shown(pair.alice)
    tapping(first.notification)
    edit("hello", of: pair.bob)
    pair.alice.event("chatItemUpdated")
    try forgetSounds(pair.alice)
    comeBack(pair.alice)
    return (first, try shown(pair.alice))
  }

  // MARK: On screen

  func testAnEditedMessageIsShownAnewOnScreenWithoutASound() throws {
    let pair = try Pair()
    let (first, then) = try shownAnew(pair)
    XCTAssertEqual(first.presentation, ["sound", "banner", "list"])
    XCTAssertEqual(then.notification["identifier"].text, first.notification["identifier"].text)
    XCTAssertEqual(then.notification["body"].text, "hello")
    XCTAssertEqual(then.presentation, ["list"])
    XCTAssertFalse(then.notification["sound"].exists, then.notification.description)
    // The chat has made no sound with that.
    pair.send("next", from: pair.bob)
    XCTAssertEqual(try shown(pair.alice).presentation, ["sound", "banner", "list"])
  }

  /// A summary that an extension has shown says how many there are, which an edit does not change.
  func testAnEditedMessageOfASummaryIsNotShownSingly() throws {
    let station = try Station()
    station.suspend()
    station.alice.dropEvents()
    let messages = (0..<8).map { #"{"msgContent":{"type":"text","text":"text \#($0)"},"mentions":{}}"# }
    station.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    let shown = try station.allPushes().flatMap { try station.present($0)["notifications"].elements }
    XCTAssertEqual(shown.last?["categoryIdentifier"].text, "NTF_CAT_MANY_EVENTS", "\(shown)")
    station.alice.send("/_app activate").assert("cmdOk")
    edit("edited", of: station.bob)
    station.alice.event("chatItemUpdated")
    try forgetSounds(station.alice)
    comeBack(station.alice)
    station.pair.send("next", from: station.bob)
    XCTAssertEqual(try self.shown(station.alice).notification["body"].text, "next")
  }
}
