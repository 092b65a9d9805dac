import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// Notifications shown by extensions are removed from the screen when the user reads them in the app, not with the next
/// push (INC-46).
final class ScreenWithdrawalTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// The app's event that removes something. `isSettled`: nothing arrives that would change the badge in the meantime.
  private func withdrawal(_ host: Host, isSettled: Bool = true, line: UInt = #line) throws -> JSON {
    while let event = host.event(within: 20) {
      let result = event["result"]
      guard result["type"].text == "notifications", result["withdrawals"].count > 0 else { continue }
      if isSettled { XCTAssertEqual(result["badge"].number, host.state["unread"].number, line: line) }
      return result
    }
    XCTFail("nothing is withdrawn", line: line)
    return JSON("")
  }

  private func withdrawn(_ host: Host, isSettled: Bool = true, line: UInt = #line) throws -> [String] {
    try withdrawal(host, isSettled: isSettled, line: line)["withdrawals"].elements.map(\.text)
  }

  func testWhatTheUserReadsInTheAppIsWithdrawnAtOnce() throws {
    let station = try Station()
    station.suspend()
    var shown: [String] = []
    for text in ["one", "two"] { shown += try station.present(try station.push(for: text)).identifiers }
    XCTAssertEqual(shown.count, 2)
    station.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    station.alice.send("/_read chat @1").assert("cmdOk")
    shown.append("np:connected:1:1")
    XCTAssertEqual(try withdrawn(station.alice).sorted(), shown.sorted())
    // Once by an event; and once more with the next answer, for a host that did not get to it.
    station.alice.send("/_read chat @1").assert("cmdOk")
    awaitRest(of: station.alice)
    station.alice.expectNone("notifications")
    station.suspend()
    let answer = try station.present(wake)
    XCTAssertEqual(answer["withdrawals"].elements.map(\.text).sorted(), shown.sorted(), answer.description)
  }

  /// "bob is connected!" has no item, and counts nowhere.
  func testThatAContactConnectedIsWithdrawnWhenTheChatIsRead() throws {
    for command in ["/_read chat @1", "/_read user 1"] {
      let station = try Station()
      awaitRest(of: station.alice)
      station.alice.dropEvents()
      station.alice.send(command).assert("cmdOk")
      XCTAssertEqual(try withdrawn(station.alice), ["np:connected:1:1"], command)
      station.suspend()
      XCTAssertEqual(try station.present(wake)["withdrawals"].elements.map(\.text), ["np:connected:1:1"], command)
      XCTAssertEqual(try station.present(wake)["withdrawals"].count, 0, command)
    }
  }

  func testWhatItsAuthorDeletesWhileTheAppIsOpenIsWithdrawnAtOnce() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(try station.push(for: "one")).identifiers
    station.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: station.alice)
    station.bob.send("/_delete item @1 1 broadcast").assert("chatItemsDeleted")
    XCTAssertEqual(try withdrawn(station.alice), shown)
  }

  /// A summary is updated with the number left, silently.
  func testASummaryIsShownWithWhatIsLeft() throws {
    let station = try Station()
    station.suspend()
    for number in 1...9 { station.pair.send("hello \(number)", from: station.bob) }
    try awaitThat("all are sent") {
      let store = try Database(path: station.bob.prefix + "_chat.db")
      defer { try? store.close() }
      return try store.integer("SELECT count(*) FROM outbox") == 0
    }
    XCTAssertEqual(try station.present(wake).bodies, ["9 new messages"])
    station.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    let items = station.alice.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"]
    station.alice.send("/_read chat items @1 \(items[0]["meta"]["itemId"].number)").assert("itemsReadForChat")
    let event = try XCTUnwrap(station.alice.event("notifications"))["result"]
    XCTAssertEqual(event["notifications"].count, 1, event.description)
    XCTAssertEqual(event["notifications"][0]["notification"]["body"].text, "8 new messages")
    XCTAssertEqual(event["notifications"][0]["presentation"].elements.map(\.text), ["list"])
    // It is not shown again each time the user, who may have dismissed it, comes back.
    for _ in 0..<2 {
      station.alice.send("/_app suspend 0").assert("cmdOk")
      station.alice.send("/_app activate").assert("cmdOk")
      XCTAssertEqual(try badges(station.alice, until: 8), [8])
      awaitRest(of: station.alice)
      station.alice.expectNone("notifications")
    }
    station.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(try withdrawn(station.alice).sorted(), ["np:connected:1:1", "np:many:1:@1"])
  }

  // MARK: The badge

  /// The badges of the events that only give one, until `last`.
  private func badges(_ host: Host, until last: Int, line: UInt = #line) throws -> [Int] {
    var badges: [Int] = []
    while badges.last != last {
      let event = try XCTUnwrap(host.event("notifications", line: line), line: line)["result"]
      XCTAssertEqual(event["notifications"].count + event["withdrawals"].count, 0, event.description, line: line)
      badges.append(event["badge"].number)
    }
    return badges
  }

  /// Nothing on screen changes but the number on the app's icon (INC-60).
  func testTheBadgeIsReportedWhenNothingIsWithdrawn() throws {
    let station = try Station()
    let (alice, bob) = (station.alice, station.bob)
    for number in 1...3 { station.pair.send("hello \(number)", from: bob) }
    awaitThat("all are shown") { alice.state["unread"].number == 3 }
    awaitRest(of: alice)
    alice.dropEvents()
    alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk")
    XCTAssertEqual(try badges(alice, until: 0), [0])
    alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":false}"#).assert("cmdOk")
    XCTAssertEqual(try badges(alice, until: 3), [3])
    alice.send("/_mute user 1").assert("userPrivacy")
    XCTAssertEqual(try badges(alice, until: 0), [0])
    alice.send("/_unmute user 1").assert("userPrivacy")
    XCTAssertEqual(try badges(alice, until: 3), [3])
    alice.expectNone("notifications")
  }

  /// The notification of a call that is over is gone; the call counts until it is read.
  func testTheBadgeIsReportedWhenMissedCallsAreRead() throws {
    let pair = try Pair()
    pair.alice.send("/_read chat @1").assert("cmdOk")
    for _ in 1...2 {
      pair.bob.send(#"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#).assert("cmdOk")
      pair.alice.event("callInvitation")
      pair.bob.send("/_call end @1").assert("cmdOk")
      pair.alice.event("callEnded")
    }
    awaitRest(of: pair.alice)
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
    pair.alice.dropEvents()
    pair.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(try badges(pair.alice, until: 0), [0])
  }

  /// In the meantime another process has set it, perhaps to a number that the app does not know.
  func testTheBadgeIsReportedWhenTheAppComesToTheScreen() throws {
    let station = try Station()
    station.suspend()
    XCTAssertEqual(try station.present(try station.push(for: "one"))["badge"].number, 1)
    try station.carryOut(["/_read chat @1"])
    XCTAssertGreaterThan(try station.present(wake)["withdrawals"].count, 0)
    for _ in 0..<2 {
      station.alice.dropEvents()
      station.alice.send("/_app activate").assert("cmdOk")
      XCTAssertEqual(try badges(station.alice, until: 0), [0])
      awaitRest(of: station.alice)
      station.alice.expectNone("notifications")
      station.suspend()
    }
  }

  /// No profile is active afterwards: what was shown for the profile is still withdrawn.
  func testWhatTheLastProfileShowedIsWithdrawnWhenItIsDeleted() throws {
    for leavesAHiddenOne in [false, true] {
      let station = try Station()
      if leavesAHiddenOne {
        station.alice.send(#"/_create user {"profile":{"displayName":"secret"}}"#).assert("activeUser")
        station.alice.send("/_user 1").assert("activeUser")
        station.alice.send(#"/_hide user 2 "pw""#).assert("userPrivacy")
      }
      station.suspend()
      let shown = try station.present(try station.push(for: "private words")).identifiers
      XCTAssertEqual(shown.count, 1)
      station.alice.send("/_app activate").assert("cmdOk")
      awaitRest(of: station.alice)
      station.alice.dropEvents()
      station.alice.send("/_delete user 1 del_smp=on").assert("cmdOk")
      XCTAssertEqual(station.alice.send("/u").errorTag, "noActiveUser")
      let event = try withdrawal(station.alice)
      XCTAssertEqual(
        Set(event["withdrawals"].elements.map(\.text)), Set(shown + ["np:connected:1:1"]), event.description)
      XCTAssertFalse(event["user"].exists, event.description)
    }
  }

  /// A removal gets the number of an earlier one that another process has reported and taken out of the store.
  func testEachDeletedContactsNotificationsAreWithdrawn() throws {
    let station = try Station()
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    let store = try Database(path: station.alice.prefix + "_chat.db")
    let removals = "SELECT removal_id FROM removals"
    station.alice.send("/_delete @1 full notify=on").assert("contactDeleted")
    XCTAssertEqual(try withdrawn(station.alice), ["np:connected:1:1"])
    let first = try store.rows(removals) { $0.integer(0) }
    try store.execute("DELETE FROM removals")
    let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    station.pair.bob.send("/connect \(link)").assert("sentConfirmation")
    station.alice.event("contactConnected")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    station.alice.send("/_delete @2 full notify=on").assert("contactDeleted")
    XCTAssertEqual(try withdrawn(station.alice), ["np:connected:1:2"])
    XCTAssertEqual(try store.rows(removals) { $0.integer(0) }, first, "or it shows nothing")
    try store.close()
  }

  /// A notice that the store could not be read is withdrawn when the app reads the store.
  func testANoticeGoesWhenTheAppIsOpened() throws {
    let station = try Station()
    let prefix = station.alice.prefix
    // More than one night of one process.
    for (night, activate) in [(1, "/_app activate"), (2, "/_app activate"), (3, "/_app activate restore=off")] {
      station.suspend()
      let push = try station.push(for: "hello \(night)")
      let service = try XCTUnwrap(Host.open(prefix, isExtension: true).host)
      service.send("/_app suspend 0").assert("cmdOk")
      var lock: OpeningLock? = try OpeningLock(
        file: prefix + "_chat.db", .exclusive, creates: true, timeout: .seconds(1))
      XCTAssertEqual(service.push(push).identifiers, ["np:notice"])
      withExtendedLifetime(lock) {}
      lock = nil
      station.alice.dropEvents()
      station.alice.send(activate).assert("cmdOk")
      XCTAssertEqual(try withdrawn(station.alice, isSettled: false), ["np:notice"], "night \(night)")
      // The next push that reads the store forgets the notice.
      station.suspend()
      XCTAssertEqual(service.push(push)["withdrawals"].elements.map(\.text), ["np:notice"])
      service.free()
      station.alice.send("/_app activate").assert("cmdOk")
    }
  }
}
