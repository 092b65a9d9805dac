import CNightporter
import PorterNotifications
import PorterSchema
import XCTest

@testable import PorterEngine

/// What the app itself shows: while it is on screen, and what it received in the background without showing it.
final class AppNotificationTests: XCTestCase {
  /// Messages committed by a host that was only woken do not count as shown; they are shown when the app comes to the
  /// front.
  func testWhatCameInTheBackgroundIsShownWhenTheAppComesToTheFront() throws {
    let station = try Station()
    for (number, activate) in ["/_app activate", "/_app activate restore=off"].enumerated() {
      station.suspend()
      let push = try station.push(for: "hello \(number)")
      XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
      station.alice.event("newChatItems")
      XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_SUSPENDED), NP_OK)
      XCTAssertEqual(station.alice.waitingEvents("notifications").count, 0)

      station.alice.send(activate).assert("cmdOk")
      let event = try XCTUnwrap(station.alice.event("notifications"))["result"]
      XCTAssertEqual(event["notifications"].elements.map { $0["notification"]["body"].text }, ["hello \(number)"])
      XCTAssertEqual(event["badge"].number, number + 1)
      station.suspend()
      XCTAssertEqual(try station.present(push)["outcome"].text, "nothingNew")
    }
  }

  /// Or by the next push of an extension.
  func testWhatCameInTheBackgroundIsShownByTheNextPush() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    station.alice.event("newChatItems")
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_SUSPENDED), NP_OK)
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
    station.wake(expecting: ["hello"])
    XCTAssertEqual(station.alice.waitingScreenEvents().count, 0)
  }

  /// S14: the first with a sound, those that follow within 30 s only in the list; nothing from muted chats.
  func testAnAppOnScreenIsToldWhatToShow() throws {
    let pair = try Pair()
    let connected = try XCTUnwrap(pair.alice.event("notifications"))["result"]["notifications"][0]
    XCTAssertEqual(connected["notification"]["title"].text, "bob is connected!")
    XCTAssertEqual(connected["presentation"].count, 3)
    try pair.alice.forgetSounds()
    var presentations: [[String]] = []
    for text in ["one", "two"] {
      pair.send(text, from: pair.bob)
      let event = try XCTUnwrap(pair.alice.event("notifications"))["result"]
      XCTAssertEqual(event["user"]["userId"].number, 1)
      let shown = event["notifications"][0]
      XCTAssertEqual(shown["notification"]["title"].text, "bob:")
      XCTAssertEqual(shown["notification"]["body"].text, text)
      presentations.append(shown["presentation"].elements.map(\.text))
    }
    XCTAssertEqual(presentations, [["sound", "banner", "list"], ["list"]])
    pair.alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk")
    pair.send("three", from: pair.bob)
    pair.alice.event("newChatItems")
    // Answered by the engine after the turn in which it committed.
    _ = pair.alice.state
    XCTAssertEqual(pair.alice.waitingEvents("notifications").count, 0)
  }

  func testHowANotificationIsShownOnScreen() {
    for category in NotificationCategory.allCases {
      for isRecent in [false, true] {
        let expected: [String] =
          switch category {
          case .callInvitation, .connectionEvent, .checkMessage: []
          case .messageReceived, .manyEvents: isRecent ? ["list"] : ["sound", "banner", "list"]
          case .contactRequest, .contactConnected: isRecent ? ["banner", "list"] : ["sound", "banner", "list"]
          }
        XCTAssertEqual(ForegroundPresentation(of: category, isRecent: isRecent).names, expected, "\(category)")
      }
    }
  }
}
