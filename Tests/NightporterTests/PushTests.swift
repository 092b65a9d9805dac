import CNightporter
import Foundation
import PorterPlatform
import PorterStore
import PropertyTesting
import XCTest

/// Real pushes from the real server, through the C interface: what an extension shows, and what it never shows.
final class PushTests: XCTestCase {
  func testAPushIsPresentedWithTitleBodyAndBadge() throws {
    let station = try Station()
    station.suspend()
    let answer = try station.present(station.push(for: "hello"))
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.titles, ["bob:"])
    XCTAssertEqual(answer.bodies, ["hello"])
    XCTAssertEqual(answer["badge"].number, 1)
    XCTAssertEqual(answer["notifications"][0]["badge"].number, 1)
    XCTAssertEqual(answer["notifications"][0]["targetContentIdentifier"].text, "@1")
    XCTAssertEqual(answer["withdrawals"].count, 0)
    station.wake(expecting: ["hello"])
  }

  func testINC34ARepeatedPushShowsNothingNew() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
    let second = try station.present(push)
    XCTAssertEqual(second["outcome"].text, "nothingNew", second.description)
    XCTAssertEqual(second.bodies, [])
    XCTAssertEqual(second["badge"].number, 1)
    station.wake(expecting: ["hello"])
  }

  /// A running host also gets each push as it came.
  func testAnAppThatHasTheMessageGetsItsPushAsWell() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.wake(expecting: ["hello"])
    let answer = station.alice.push(push)
    XCTAssertEqual(answer["outcome"].text, "nothingNew", answer.description)
    XCTAssertEqual([answer["notifications"].count, answer["withdrawals"].count], [0, 0], answer.description)
    XCTAssertEqual(station.pair.texts(station.alice), ["hello"])
    XCTAssertEqual(try station.present(push)["outcome"].text, "yielded")
  }

  /// A reaction has no notification.
  func testWhatIsSilentIsTakenInBeforeTheMessageBehindIt() throws {
    let station = try Station()
    station.pair.send("question", from: station.alice)
    let asked = try XCTUnwrap(station.bob.event("newChatItems"))["result"]["chatItems"][0]["chatItem"]
    station.suspend()
    let item = asked["meta"]["itemId"].number
    station.bob.send(#"/_reaction @1 \#(item) on {"type":"emoji","emoji":"👍"}"#).assert("chatItemReaction")
    let answer = try station.present(station.push(for: "answer"))
    XCTAssertEqual(answer.bodies, ["answer"], answer.description)
    let store = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? store.close() }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM reactions"), 1)
  }

  /// INC-36: the same for one extension process that the platform keeps for both.
  func testINC34ARepeatedPushInOneProcess() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    XCTAssertEqual(service.push(push).bodies, ["hello"])
    XCTAssertEqual(service.push(push)["outcome"].text, "nothingNew")
    XCTAssertEqual(service.push(try station.push(for: "again")).bodies, ["again"])
    XCTAssertTrue(service.state["quiescent"].flag)
    station.wake(expecting: ["hello", "again"])
  }

  /// INC-40: one process handles both pushes. What the first could not show is not in the answer to the second.
  func testINC40WhatAPushLeavesOutIsNotInALaterAnswer() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.get)
    let first = service.push(try station.push(for: "one"))
    XCTAssertEqual(first["outcome"].text, "offline", first.description)
    XCTAssertEqual(first.placeholders, ["message received"])
    transport.fail(nil)
    // Alice reads the message in the app, so nothing of it is left to show.
    station.wake(expecting: ["one"])
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "two")
    let second = service.push(push)
    XCTAssertEqual(second["notifications"].elements.map { $0["body"].text }, ["two"], second.description)
    XCTAssertEqual(second["badge"].number, 1)
    XCTAssertEqual(second.withdrawn, first.identifiers)
    let third = service.push(push)
    XCTAssertEqual(third["notifications"].count + third["withdrawals"].count, 0, third.description)
  }

  /// M14: an extension subscribes to nothing. Between pushes it requests no message, however much time passes and
  /// whatever news its host reports, even when its chat is started.
  func testAnExtensionAsksForNothingBetweenPushes() throws {
    let station = try Station()
    station.suspend()
    let clock = MovedClock()
    let service = try station.makeExtension(clock: clock)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    XCTAssertEqual(service.push(try station.push(for: "one")).bodies, ["one"])
    let asked = transport.countOfAll
    let push = try station.push(for: "two")
    for isStarted in [false, true] {
      if isStarted { service.send("/_start main=off snd_files=off").assert("chatStarted") }
      np_relay_ready(service.handle)
      clock.move(.days(1))
      // Any call makes the engine check its timers.
      _ = service.state
      awaitRest(of: service)
      if !isStarted { XCTAssertEqual(transport.countOfAll, asked) }
    }
    XCTAssertEqual(transport.count(.subscribe), 0)
    XCTAssertEqual(station.pair.texts(service), ["one"])
    service.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(service.push(push).bodies, ["two"])
  }

  func testINC35INC38ThreeMessagesAndOnePushShowThree() throws {
    let station = try Station()
    station.suspend()
    for text in ["one", "two", "three"] { station.pair.send(text, from: station.bob) }
    let pushes = try station.allPushes()
    let answer = try station.present(try XCTUnwrap(pushes.last))
    XCTAssertEqual(answer.bodies, ["one", "two", "three"], answer.description)
    XCTAssertEqual(answer["badge"].number, 3)
    XCTAssertEqual(Set(answer.identifiers).count, 3)
    for late in pushes.dropLast() { XCTAssertEqual(try station.present(late).bodies, []) }
    station.wake(expecting: ["one", "two", "three"])
  }

  func testINC37AMutedChatShowsNothingAndDoesNotCount() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "quiet")
    // The push is already on its way; the server sends none for a muted chat.
    try station.carryOut([#"/_settings @1 {"enableNtfs":"none","favorite":false}"#])
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "nothingNew", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertEqual(answer["badge"].number, 0)
    station.wake(expecting: ["quiet"])
  }

  /// A muted chat has no pushes, so not even one that arrives while nothing can be read reveals it. With `mentions` it
  /// has them.
  func testINC37AMutedChatHasNoPush() throws {
    let station = try Station()
    let set = { (mode: String) in
      station.alice.send("/_settings @1 {\"enableNtfs\":\"\(mode)\",\"favorite\":false}").assert("cmdOk")
    }
    try station.awaitWatched(1)
    set("none")
    try station.awaitWatched(0)
    station.suspend()
    station.pair.send("quiet", from: station.bob)
    awaitRest(of: station.bob)
    XCTAssertNil(station.server.nextPush(to: station.token, within: .zero))
    station.wake(expecting: ["quiet"])
    set("mentions")
    try station.awaitWatched(1)
    station.suspend()
    let push = try station.push(for: "hello @alice")
    XCTAssertEqual(try station.present(push).bodies, ["hello @alice"])
    station.wake(expecting: ["quiet", "hello @alice"])
    // Muted while no relay is reachable: the app carries this out when it next runs.
    station.suspend()
    try station.carryOut([#"/_settings @1 {"enableNtfs":"none","favorite":false}"#])
    station.alice.send("/_app activate").assert("cmdOk")
    try station.awaitWatched(0)
  }

  /// The app leaves the screen right afterwards.
  func testAChatThatWasJustUnmutedHasPushesWhileTheAppSleeps() throws {
    let station = try Station()
    let set = { (mode: String) in
      station.alice.send("/_settings @1 {\"enableNtfs\":\"\(mode)\",\"favorite\":false}").assert("cmdOk")
    }
    try station.awaitWatched(1)
    set("none")
    try station.awaitWatched(0)
    set("all")
    station.suspend()
    try station.awaitWatched(1)
    XCTAssertEqual(try station.present(try station.push(for: "hello")).bodies, ["hello"])
  }

  func testAPushForADeletedContactIsUnknown() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "too late")
    station.wake(expecting: ["too late"])
    station.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    station.suspend()
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "unknown", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertEqual(answer["badge"].number, 0)
  }

  func testINC32APushWhileTheAppIsActiveIsLeftToIt() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.wake(expecting: ["hello"])
    let service = try station.makeExtension()
    let answer = service.push(push, deadline: 30_000)
    XCTAssertEqual(answer["outcome"].text, "yielded", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    station.wake(expecting: ["hello"])
  }

  func testINC62TheExtensionVerifiesTheToken() throws {
    let station = try Station(activates: false)
    let verification = try station.register(station.token, of: station.alice)
    station.suspend()
    let answer = try station.present(verification)
    XCTAssertEqual(answer["outcome"].text, "verified", answer.description)
    XCTAssertEqual(answer.bodies, [])
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.send("/_ntf get")["result"]["status"].text, "ACTIVE")
    XCTAssertEqual(station.alice.send("/_ntf check apns_test \(station.token)")["result"]["status"].text, "ACTIVE")
    station.suspend()
    XCTAssertEqual(try station.present(station.push(for: "hello")).bodies, ["hello"])
  }

  func testINC46ReadMessagesAreWithdrawnOnceByTheNextPush() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(station.push(for: "first"))
    station.wake(expecting: ["first"])
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let next = try station.present(station.push(for: "second"))
    XCTAssertEqual(next.withdrawn, shown.identifiers, "INC-46: \(next)")
    XCTAssertEqual(next.bodies, ["second"])
    XCTAssertEqual(next["badge"].number, 1)
    XCTAssertEqual(try station.present(station.push(for: "third"))["withdrawals"].count, 0)
  }

  func testAReplayedOldPayloadShowsNothingNew() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
    station.wake(expecting: ["hello"])
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    // The first may still bring the withdrawal; after that there is nothing.
    XCTAssertEqual(try station.present(push).bodies, [])
    for _ in 0..<3 {
      let replayed = try station.present(push)
      XCTAssertEqual(replayed["outcome"].text, "nothingNew", replayed.description)
      XCTAssertEqual(replayed.bodies, [])
      XCTAssertEqual(replayed["badge"].number, 0)
    }
    station.wake(expecting: ["hello"])
  }

  /// INC-45: the core decides what may be shown, based on settings the app saved.
  func testINC45PreviewModeAndAppLockDecideWhatIsShown() throws {
    let station = try Station()
    let cases: [(settings: String, title: String, body: String)] = [
      (#"{}"#, "bob:", "text 0"), (#"{"notificationPreviewMode":"message"}"#, "bob:", "text 1"),
      (#"{"notificationPreviewMode":"contact"}"#, "bob:", "new message"),
      (#"{"notificationPreviewMode":"hidden"}"#, "Contact hidden:", "new message"),
      (#"{"notificationPreviewMode":"message","appLock":true}"#, "Contact hidden:", "new message"),
      (#"{"notificationPreviewMode":"message","appLock":false}"#, "bob:", "text 5"),
    ]
    for (number, expected) in cases.enumerated() {
      station.alice.send("/_save app settings \(expected.settings)").assert("cmdOk")
      station.suspend()
      let answer = try station.present(station.push(for: "text \(number)"))
      XCTAssertEqual(answer.titles, [expected.title], "\(expected.settings): \(answer)")
      XCTAssertEqual(answer.bodies, [expected.body], expected.settings)
      let isHidden = expected.title != "bob:"
      XCTAssertFalse(isHidden && answer.description.contains("bob"), "\(expected.settings): \(answer)")
      XCTAssertFalse(expected.body == "new message" && answer.description.contains("text \(number)"), "\(answer)")
      station.alice.send("/_app activate").assert("cmdOk")
    }
  }

  func testAppSettingsAreStoredAndReturned() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let settings = { (answer: JSON) in answer["result"]["appSettings"] }
    XCTAssertEqual(settings(host.send("/_get app settings"))["notificationPreviewMode"].text, "message")
    let saved = #"{"privacyProtectScreen":true,"theirs":{"deep":[1,2]},"notificationPreviewMode":"hidden"}"#
    host.send("/_save app settings \(saved)").assert("cmdOk")
    for answer in [
      host.send("/_get app settings"), host.send(#"/_get app settings {"notificationPreviewMode":"contact","x":1}"#),
    ] {
      XCTAssertEqual(settings(answer)["notificationPreviewMode"].text, "hidden", answer.description)
      XCTAssertTrue(settings(answer)["privacyProtectScreen"].flag)
      XCTAssertEqual(settings(answer)["theirs"]["deep"][1].number, 2)
      XCTAssertTrue(settings(answer)["appLock"].exists)
    }
    XCTAssertEqual(settings(host.send(#"/_get app settings {"x":7}"#))["x"].number, 7)
    XCTAssertEqual(host.send(#"/_save app settings {"notificationPreviewMode":"all"}"#).errorTag, "commandError")
    host.free()
    let again = try XCTUnwrap(Host.open(folder.file("a")).host)
    XCTAssertEqual(settings(again.send("/_get app settings"))["notificationPreviewMode"].text, "hidden")
    again.send("/_save app settings {}").assert("cmdOk")
    XCTAssertEqual(settings(again.send("/_get app settings"))["notificationPreviewMode"].text, "message")
  }
}
