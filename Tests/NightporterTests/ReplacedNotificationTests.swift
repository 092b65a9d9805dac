import Foundation
import PorterStore
import XCTest

/// Notifications shown again under their identifier because their content has changed or has arrived.
final class ReplacedNotificationTests: XCTestCase {
  private func lastItem(_ host: Host) -> Int {
    host.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
  }

  private func edit(_ text: String, of host: Host, line: UInt = #line) {
    let message = #"{"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}"#
    host.send("/_update item @1 \(lastItem(host)) json \(message)").assert("chatItemUpdated", #filePath, line)
  }

  private func comeBack(_ host: Host) {
    host.send("/_app suspend 0").assert("cmdOk")
    host.send("/_app activate").assert("cmdOk")
  }

  private struct Shown {
    let notification: JSON
    let presentation: [String]
  }

  /// The next notification for the app on screen.
  private func shown(_ host: Host, line: UInt = #line) throws -> Shown {
    let event = try XCTUnwrap(host.screenEvent(line: line), line: line)["notifications"]
    XCTAssertEqual(event.count, 1, event.description, line: line)
    return Shown(
      notification: event[0]["notification"], presentation: event[0]["presentation"].elements.map(\.text))
  }

  /// A message that alice's app has shown on screen, and its notification as shown again after an edit.
  private func shownAnew(_ pair: Pair, tapping: (JSON) -> Void = { _ in }) throws -> (first: Shown, then: Shown) {
    pair.alice.event("notifications")
    try pair.alice.forgetSounds()
    pair.send("helo", from: pair.bob)
    let first = try shown(pair.alice)
    tapping(first.notification)
    edit("hello", of: pair.bob)
    pair.alice.event("chatItemUpdated")
    try pair.alice.forgetSounds()
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
    // That made no sound for the chat.
    pair.send("next", from: pair.bob)
    XCTAssertEqual(try shown(pair.alice).presentation, ["sound", "banner", "list"])
  }

  /// A summary shown by an extension gives the number of messages, which an edit does not change.
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
    try station.alice.forgetSounds()
    comeBack(station.alice)
    station.pair.send("next", from: station.bob)
    XCTAssertEqual(try self.shown(station.alice).notification["body"].text, "next")
  }

  // MARK: Taps

  func testATapOnAMessageThatIsShownAnewLeadsThereOnce() throws {
    let pair = try Pair()
    let (_, then) = try shownAnew(pair) { self.tap($0, of: pair.alice) }
    tap(then.notification, of: pair.alice)
  }

  /// INC-47: the message has the identifier of its placeholder.
  func testATapOnAMessageWhosePlaceholderWasTappedLeadsThere() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.get)
    let placeholder = service.push(push)["notifications"][0]
    service.free()
    XCTAssertEqual(station.alice.respond(to: placeholder)["result"]["outcome"].text, "waiting")
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    var (taps, message): (Int, JSON?) = (0, nil)
    while taps == 0 || message == nil, let event = station.alice.event()?["result"] {
      if event["type"].text == "ntfResponse" { taps += 1 }
      if event["type"].text == "notifications", event["notifications"].count > 0 {
        message = event["notifications"][0]["notification"]
      }
    }
    XCTAssertEqual(taps, 1)
    XCTAssertEqual(message?["identifier"].text, placeholder["identifier"].text)
    tap(try XCTUnwrap(message), of: station.alice)
  }

  /// Likewise with an extension, which shows the message before the app has applied the second tap.
  func testAMessageThatAnExtensionShowsAnewIsTappedAgain() throws {
    let station = try Station()
    station.suspend()
    let first = try station.present(try station.push(for: "helo"))["notifications"][0]
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.dropEvents()
    tap(first, of: station.alice)
    station.suspend()
    edit("hello", of: station.bob)
    let next = try station.present(try station.push(for: "two"))
    XCTAssertEqual(next.bodies, ["hello", "two"], next.description)
    XCTAssertEqual(next.identifiers.first, first["identifier"].text)
    station.alice.send("/_app activate").assert("cmdOk")
    tap(next["notifications"][0], of: station.alice)
  }

  /// A tap that leads to the chat and is then repeated by the platform.
  private func tap(_ notification: JSON, of host: Host, line: UInt = #line) {
    let answer = host.respond(to: notification)
    XCTAssertFalse(answer["result"]["repeated"].flag, answer.description, line: line)
    XCTAssertEqual(host.event("ntfResponse", line: line)?["result"]["chatId"].text, "@1", line: line)
    let repeated = host.respond(to: notification)
    XCTAssertTrue(repeated["result"]["repeated"].flag, repeated.description, line: line)
    host.expectNone("ntfResponse", line: line)
  }
}
