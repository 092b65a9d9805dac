import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import PorterEngine
@testable import PorterStore

/// A notice stays until what it was about is shown: it is taken away by an answer that knows of all that waited.
final class NoticeWithdrawalTests: XCTestCase {
  private static let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// Before the device is unlocked more chats write than a push can name.
  func testTheFirstPushAfterTheUnlockShowsWhatItDoesNotName() throws {
    let (station, friends) = try CallStation.make(["c1", "c2", "c3", "c4", "c5", "c6", "c7"])
    try givingNotices(station) { service in
      for (number, friend) in friends.enumerated() {
        friend.send("/_send @1 text from \(number + 1)").assert("newChatItems")
        XCTAssertEqual(service.push(try station.nextPush()).identifiers, ["np:notice"])
      }
    }
    let push = try station.push(for: "from bob")
    let late = try station.present(push)
    XCTAssertEqual(late.bodies.sorted(), (1...7).map { "from \($0)" } + ["from bob"], late.description)
    XCTAssertEqual(late.withdrawals, ["np:notice"], late.description)
    XCTAssertEqual(try station.present(push).bodies, [])
    XCTAssertEqual(try station.present(Self.wake).bodies, [], "nothing was left")
  }

  /// The push that is delivered once more names nothing that is not shown.
  func testARepeatedPushShowsWhatTheNoticeWasAbout() throws {
    let station = try Station()
    station.suspend()
    let first = try station.push(for: "one")
    XCTAssertEqual(try station.present(first).bodies, ["one"])
    try givingNotices(station) { service in
      XCTAssertEqual(service.push(try station.push(for: "two")).identifiers, ["np:notice"])
    }
    let again = try station.present(first)
    XCTAssertEqual(again.bodies, ["two"], again.description)
    XCTAssertEqual(again.withdrawals, ["np:notice"], again.description)
    XCTAssertEqual(try station.present(first)["outcome"].text, "nothingNew")
  }

  /// The same push, to an app that is not on screen.
  func testAnAppsRepeatedPushShowsWhatTheNoticeWasAbout() throws {
    let station = try Station()
    station.suspend()
    let first = try station.push(for: "one")
    XCTAssertEqual(try station.present(first).bodies, ["one"])
    try givingNotices(station) { service in
      XCTAssertEqual(service.push(try station.push(for: "two")).identifiers, ["np:notice"])
    }
    let again = station.alice.push(first, deadline: 20_000)
    XCTAssertEqual(again.bodies, ["two"], again.description)
    XCTAssertEqual(again.withdrawals, ["np:notice"], again.description)
  }

  /// A push whose own message is shown, while it cannot be known what else waits.
  func testANoticeStaysWhileTheOtherMailboxesCannotBeReached() throws {
    let (station, friends) = try CallStation.make(["carol", "dave"])
    try givingNotices(station) { service in
      friends[0].send("/_send @1 text from carol").assert("newChatItems")
      XCTAssertEqual(service.push(try station.nextPush()).identifiers, ["np:notice"])
    }
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    let mailboxes = try CallStation.mailboxes(of: station)
    transport.hang(mailboxes: [mailboxes["carol"]])
    let cut = service.push(try station.push(for: "hello"), deadline: 2_000)
    XCTAssertEqual(cut.bodies, ["hello"], cut.description)
    XCTAssertEqual(cut.withdrawals, [], cut.description)
    transport.hang(mailboxes: [])
    let whole = service.push(Self.wake)
    XCTAssertEqual(whole.bodies, ["from carol"], whole.description)
    XCTAssertEqual(whole.withdrawals, ["np:notice"], whole.description)
  }

  /// Pushes that were at work before it was given do not know what it is about.
  func testPushesThatBeganBeforeANoticeLeaveIt() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let push = try station.push(for: "hello")
    let answers = (0..<64).map { _ in service.inBackground { $0.push(push, deadline: 30_000).description } }
    awaitThat("all have begun") { service.state["pushesWaiting"].number == 63 }
    transport.waitUntilInside()
    XCTAssertEqual(service.push(push).identifiers, ["np:notice"], "one too many")
    transport.hang(false)
    for answer in answers {
      XCTAssertEqual(JSON(try XCTUnwrap(answer.wait(atMost: .seconds(40)))).withdrawals, [])
    }
    XCTAssertEqual(service.push(push).withdrawals, ["np:notice"])
  }

  /// Every event of a push, before and after it has looked into what there is.
  func testANoticeIsTakenAwayOnlyAfterAWholeLook() {
    let cutting: Set<Push.Event> = [
      .expire, .appStopped, .storeLocked, .storeWrongSchema, .storeFailed, .claimFailed, .commitFailed, .fetchOffline,
      .acknowledgeFailed, .verifyFailed, .callWaits,
    ]
    for event in Push.Event.allCases {
      XCTAssertEqual(looksWhole([event]), event == .claimNoneLeft, event.name)
      XCTAssertEqual(looksWhole([event, .claimNoneLeft]), !cutting.contains(event), event.name)
      XCTAssertEqual(looksWhole([.claimNoneLeft, event]), !cutting.contains(event), event.name)
    }
  }

  private func looksWhole(_ events: [Push.Event]) -> Bool {
    var findings = PushFindings()
    for event in events { findings.note(event) }
    return findings.hasLookedEverywhere
  }

  /// An extension that is refused the store, as before the first unlock.
  private func givingNotices(_ station: Station, _ body: (Host) throws -> Void) throws {
    let service = try station.makeExtension()
    service.send("/_app suspend 0").assert("cmdOk")
    let database = try Database(path: station.alice.prefix + "_chat.db")
    let version = try database.integer("PRAGMA user_version") ?? 0
    try database.setUserVersion(999)
    try body(service)
    try database.setUserVersion(Int32(clamping: version))
    try database.close()
  }
}

extension JSON {
  fileprivate var withdrawals: [String] { self["withdrawals"].elements.map(\.text) }
}
