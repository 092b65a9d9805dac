import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// One push after another, with real processes on both sides of the store.
final class PushScenarioTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// INC-34, INC-36: the platform may deliver one push twice.
  func testTheSamePushTwiceShowsItsMessageOnce() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let first = try night.present(push)
    XCTAssertEqual(first["outcome"], "presented", first.text)
    XCTAssertEqual(first.bodies, ["hello"])
    let second = try night.present(push)
    XCTAssertEqual(second["outcome"], "nothingNew", second.text)
    XCTAssertEqual(second.bodies, [])
    XCTAssertEqual(second["badge"], 1)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
  }

  /// INC-38: of several pushes a platform may deliver only the newest. A push is a hint: everything waiting is shown.
  /// INC-36: the other pushes arrive late and find everything shown: there is no text, for example about something
  /// missed.
  func testINC36INC38ThreeMessagesAndOnePushShowThreeAndTheOthersNothing() throws {
    let night = try makeNight()
    try night.suspendAlice()
    for text in ["one", "two", "three"] { try night.bobSends(text) }
    let pushes = try night.allPushes()
    let newest = try XCTUnwrap(pushes.last)
    let content = try night.present(newest)
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["one", "two", "three"])
    XCTAssertEqual(content["badge"], 3)
    for push in pushes.dropLast() {
      let late = try night.present(push)
      XCTAssertEqual(late["outcome"], "nothingNew", late.text)
      XCTAssertEqual(late["notifications"], [], late.text)
      XCTAssertEqual(late["badge"], 3)
    }
    try night.wakeAlice()
    try night.expectAliceHas(["one", "two", "three"])
  }

  /// INC-32: a push that cannot improve ends immediately.
  func testAPushForADeletedContactShowsNothingAndEndsSoon() throws {
    let night = try makeNight()
    // Awake, she might fetch it before the server is notified, and there would be no push.
    try night.suspendAlice()
    try night.bobSends("too late")
    let push = try night.nextPush()
    try night.wakeAlice()
    try night.expectAliceHas(["too late"])
    let deleted = try night.alice.answer("/_delete @\(night.aliceContact) full notify=off")
    XCTAssertNotNil(deleted["result"], deleted.text)
    try night.suspendAlice()
    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "unknown", content.text)
    XCTAssertEqual(content.bodies, [])
    XCTAssertEqual(content["badge"], 0)
  }

  func testAPushWhileTheApplicationIsActiveIsLeftToIt() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    try night.wakeAlice()
    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "yielded", content.text)
    XCTAssertEqual(content.bodies, [])
    try night.expectAliceHas(["hello"])
  }

  /// INC-13: an application that crashed while active remained published as active until its next launch.
  func testINC13AnApplicationThatCrashedWhileActiveIsNotYieldedTo() throws {
    let night = try makeNight()
    try night.bobSends("before")
    try night.expectAliceHas(["before"])
    try night.remainingPushes()
    night.alice.process.kill()
    try night.bobSends("afterwards")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["afterwards"])
    XCTAssertEqual(content["badge"], 2)
  }

  /// INC-07: a suspended application is frozen, and cannot be asked anything.
  func testINC07AFrozenApplicationDoesNotDelayTheExtension() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.alice.process.freeze()
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], content.text)
    night.alice.process.signal(SIGCONT)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
  }

  /// INC-30, INC-31: the platform's "time is up" comes while the relay does not answer; there is one answer, and it is
  /// immediate.
  func testExpiryDuringTheFetchAnswersImmediatelyAndLosesNothing() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()

    let slow = try ScriptedHost(store: night.alice.store, background: true)
    try slow.call(#"np_set_relay $c "silent""#)
    let expired = try repeating(while: \.isWithoutEngine, of: slow) {
      try slow.call("&push = np_receive_push $c \(JSONValue(push.text).text) 30000")
      try awaitThat("it fetches") { try slow.state["machines"]?["push"] == "fetching" }
      XCTAssertEqual(try slow.call("np_expire_push $c"), "NP_OK")
      return try slow.call("join push", within: 10)
    }
    XCTAssertEqual(expired["outcome"], "expired", expired.text)
    // A push that was answered before the store was closed is not repeated: its placeholder is already recorded.
    XCTAssertEqual(try expired.isLate ? slow.state["quiescent"] : expired["quiescent"], true, expired.text)
    XCTAssertEqual(expired.bodies, [])
    XCTAssertEqual(expired.placeholders, ["message received"])
    XCTAssertEqual(try slow.call("np_expire_push $c"), "NP_ERROR_NOTHING_PENDING")
    slow.process.kill()

    let content = try night.present(push)
    XCTAssertEqual(content.bodies, ["hello"], content.text)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
  }

  /// INC-39: every wait has a deadline.
  func testADeadlineEndsAPushThatTheRelayDoesNotAnswer() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let slow = try ScriptedHost(store: night.alice.store, background: true)
    try slow.call(#"np_set_relay $c "silent""#)
    let content = try slow.call("np_receive_push $c \(JSONValue(push.text).text) 700")
    XCTAssertEqual(content["outcome"], "expired", content.text)
    slow.process.kill()
    XCTAssertEqual(try night.present(push).bodies, ["hello"])
  }

  func testAMissingRelayIsReportedAndTheMessageComesLater() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let offline = try ScriptedHost(store: night.alice.store, background: true)
    try offline.call(#"np_set_relay $c "offline""#)
    let content = try offline.call("np_receive_push $c \(JSONValue(push.text).text) 10000")
    XCTAssertEqual(content["outcome"], "offline", content.text)
    XCTAssertEqual(content["quiescent"], true)
    XCTAssertEqual(content.bodies, [])
    XCTAssertEqual(content.placeholders, ["message received"])
    offline.process.kill()
    XCTAssertEqual(try night.present(push).bodies, ["hello"])
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
  }

  /// The same with the relay's file itself unreachable, as on an unmounted disk.
  func testAMissingRelayFileIsNotRecreated() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let away = night.relay + ".away"
    try FileManager.default.moveItem(atPath: night.relay, toPath: away)
    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "offline", content.text)
    XCTAssertFalse(FileManager.default.fileExists(atPath: night.relay))
    try FileManager.default.moveItem(atPath: away, toPath: night.relay)
    XCTAssertEqual(try night.present(push).bodies, ["hello"])
  }

  func testARestartedServerKnowsItsTokensAndSubscriptions() throws {
    for killed in [false, true] {
      let night = try makeNight()
      try night.suspendAlice()
      night.stopServer(byKilling: killed)
      try night.bobSends("while it was away")
      try night.startServerAgain()
      let content = try night.present(try night.nextPush())
      XCTAssertEqual(content.bodies, ["while it was away"], content.text)
      try night.bobSends("afterwards")
      let next = try night.present(try night.nextPush())
      XCTAssertEqual(next.bodies, ["afterwards"], next.text)
      try night.wakeAlice()
      try night.expectAliceHas(["while it was away", "afterwards"])
    }
  }
}
