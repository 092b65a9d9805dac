import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import PorterEngine
@testable import PorterStore

/// A notice stays until its subject is shown: it is withdrawn by an answer that has seen everything that was waiting.
final class NoticeWithdrawalTests: XCTestCase {
  private static let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// Before the device is unlocked, more chats receive messages than a push can name.
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

  /// A keychain is as locked as the store before the first unlock: the extension has no key, and shows a notice too.
  func testANoticeAboutAMissingKeyIsWithdrawn() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    var handle: chat_ctrl?
    let refused = take(chat_migrate_init_key(station.alice.prefix, nil, 0, "error", 1, &handle))
    XCTAssertEqual(JSON(refused)["notice"]["identifier"].text, "np:notice", refused)
    let shown = try station.present(push)
    XCTAssertEqual(shown.bodies, ["hello"], shown.description)
    XCTAssertEqual(shown.withdrawals, ["np:notice"], shown.description)
  }

  /// The push that is delivered again names nothing that is not shown.
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

  /// A push whose own message is shown, although it cannot be known what else is waiting.
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
    let push = try station.push(for: "hello")
    let cut = repeating(while: \.isWithoutEngine, of: service) { service.push(push, deadline: 8_000) }
    XCTAssertEqual(cut.bodies, ["hello"], cut.description)
    XCTAssertEqual(cut.withdrawals, [], cut.description)
    transport.hang(mailboxes: [])
    let whole = service.push(Self.wake)
    XCTAssertEqual(whole.bodies, ["from carol"], whole.description)
    XCTAssertEqual(whole.withdrawals, ["np:notice"], whole.description)
  }

  /// Pushes that were in progress before the notice was given do not know its subject.
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

  // MARK: Answers that the caller does not get

  /// The engine hangs in the middle of a push, and the caller is answered without it, with a notice unknown to the
  /// push.
  func testANoticeThatIsGivenMeanwhileLasts() throws {
    for isOnScreenBefore in [false, true] {
      let station = try Station()
      station.suspend()
      if isOnScreenBefore {
        try givingNotices(station) { service in
          XCTAssertEqual(service.push(try station.push(for: "first")).identifiers, ["np:notice"])
        }
      }
      let push = try station.push(for: "hello")
      try answerWithoutEngine(push, to: station, hangingOn: "commit.done")
      let late = try station.present(push)
      XCTAssertEqual(late.bodies, isOnScreenBefore ? ["first", "hello"] : ["hello"], late.description)
      XCTAssertEqual(late.withdrawals, ["np:notice"], late.description)
      XCTAssertEqual(try station.present(push).withdrawals, [])
    }
  }

  /// Likewise when it hangs after finding that the earlier notice is over: its caller never gets that result.
  func testANoticeLastsUntilACallerHasItsWithdrawal() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    try givingNotices(station) { XCTAssertEqual($0.push(push).identifiers, ["np:notice"]) }
    station.wake(expecting: ["hello"])
    station.suspend()
    try answerWithoutEngine(push, to: station, hangingOn: "composed.show")
    XCTAssertEqual(try station.present(push).withdrawals, ["np:notice"])
    XCTAssertEqual(try station.present(push).withdrawals, [])
  }

  /// Checks every combination of what may have happened between the look and the answer.
  func testAWithdrawalEndsTheNoticeThatItIsAboutAndNoOther() throws {
    let folder = try TemporaryFolder()
    let configuration = Configuration(prefix: folder.file("alice"), role: .extension, confirmation: .error)
    let mark = NoticeMark(configuration)
    mark.set(isHeard: true)
    XCTAssertNil(mark.name, "nothing is created where there is no store")
    try Data().write(to: URL(fileURLWithPath: configuration.location.file))
    for (isAnother, isTaken, hasEnded) in [
      (false, true, true), (false, false, false), (true, true, false), (true, false, false),
    ] {
      mark.set(isHeard: true)
      let found = try XCTUnwrap(mark.name)
      if isAnother { mark.set(isHeard: true) }
      mark.end(found, isTaken: isTaken)
      XCTAssertEqual(mark.isSet, !hasEnded, "another \(isAnother), taken \(isTaken)")
    }
    mark.end(nil, isTaken: true)
    XCTAssertTrue(mark.isSet, "by an answer that withdraws none")
    try Data().write(to: URL(fileURLWithPath: folder.file("alice_notice")))
    mark.end(mark.name, isTaken: true)
    XCTAssertFalse(mark.isSet, "one of an earlier version has no name")
  }

  /// An extension whose engine hangs until its caller is answered, and then ends the push.
  private func answerWithoutEngine(_ push: String, to station: Station, hangingOn event: String) throws {
    let (hangs, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let log = Log(minimum: .debug) { _, line in
      guard line.contains("machine=push "), line.contains("event=\(event) ") else { return }
      hangs.signal()
      mayContinue.wait()
    }
    let configuration = Configuration(prefix: station.alice.prefix, role: .extension, confirmation: .error, log: log)
    let service = try XCTUnwrap(Controller.open(configuration).1)
    let answer = Promise<String>()
    Thread.detachNewThread { answer.fulfil(service.receivePush(push, deadline: .seconds(25))) }
    XCTAssertEqual(hangs.wait(timeout: .now() + 30), .success)
    XCTAssertTrue(service.expirePush())
    let cut = JSON(try XCTUnwrap(answer.wait(atMost: .seconds(30))))
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    XCTAssertEqual(cut.identifiers, ["np:notice"], cut.description)
    for _ in 1...4 { mayContinue.signal() }
    awaitThat("the push has ended") { JSON(service.state())["quiescent"].flag }
    service.stop()
  }

  /// Every event of a push, before and after it has checked everything there is.
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
