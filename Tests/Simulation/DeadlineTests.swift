import Foundation
import PorterEngine
import PorterInbox
import PorterJSON
import PorterPlatform
import PorterStore
import XCTest

/// Deadlines, by the simulation's clock: exact, however busy the machine is.
final class DeadlineTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// The time that a push with this deadline takes, and its answer.
  private func push(_ deadline: Span, to notifier: SimulatedHost, in house: SimulatedHouse) throws -> (Span, JSONValue)
  {
    let start = house.clock.elapsed
    let answer = try notifier.push(wake, deadline: deadline)
    return (house.clock.elapsed - start, answer)
  }

  /// INC-07, INC-18, INC-30: another process holds the store's write lock the whole time.
  func testINC30APushIsAnsweredWithinItsDeadlineThoughTheStoreIsHeld() throws {
    _ = try SimulatedHouse.run(seed: 1) { house in
      let cast = try Cast(house)
      try cast.bobSends("hello")
      let notifier = try house.host("notifier", store: "alice", .extension)
      let holder = try Database(path: house.path("alice_chat.db"), options: .init(key: try house.key(of: "alice")))
      try holder.execute("BEGIN IMMEDIATE")
      let (taken, answer) = try push(.seconds(1), to: notifier, in: house)
      XCTAssertEqual(answer["outcome"], "expired", answer.text)
      XCTAssertEqual(answer["quiescent"], true, answer.text)
      XCTAssertLessThanOrEqual(taken, .seconds(1))
      try holder.execute("COMMIT")
      try holder.close()
      let (_, second) = try push(.seconds(10), to: notifier, in: house)
      XCTAssertEqual(second["notifications"]?.arrayValue?.map { $0["body"] }, ["hello"], second.text)
      notifier.end()
      cast.end()
    }
  }

  /// INC-38: more messages than there is time for.
  func testINC38APushWithTooManyMessagesEndsWithinItsDeadline() throws {
    _ = try SimulatedHouse.run(seed: 2) { house in
      let cast = try Cast(house)
      let texts = (0..<100).map { "text \($0)" }
      for text in texts { try cast.bobSends(text) }
      let notifier = try house.host("notifier", store: "alice", .extension)
      var (outcome, pushes, showing): (JSONValue?, Int, Int) = (nil, 0, 0)
      while outcome != "nothingNew", pushes < 200 {
        let (taken, answer) = try push(.milliseconds(160), to: notifier, in: house)
        XCTAssertLessThanOrEqual(taken, .milliseconds(160), answer.text)
        if answer["notifications"]?.arrayValue?.isEmpty == false { showing += 1 }
        outcome = answer["outcome"]
        pushes += 1
      }
      XCTAssertEqual(outcome, "nothingNew")
      XCTAssertGreaterThan(showing, 1, "each shows what it got to, many of them as one notification")
      try cast.activate()
      XCTAssertEqual(try cast.chat(), texts)
      XCTAssertGreaterThan(pushes, 1, "or there was time enough")
      notifier.end()
      cast.end()
    }
  }

  /// INC-32: an extension does not use up its time when it has nothing to do.
  func testINC32APushWhileTheAppIsActiveIsLeftToItWithinASecond() throws {
    _ = try SimulatedHouse.run(seed: 4) { house in
      let cast = try Cast(house)
      try cast.activate()
      let notifier = try house.host("notifier", store: "alice", .extension)
      let (taken, answer) = try push(.seconds(30), to: notifier, in: house)
      XCTAssertEqual(answer["outcome"], "yielded", answer.text)
      XCTAssertLessThan(taken, .seconds(1))
      notifier.end()
      cast.end()
    }
  }

  /// INC-01: a host that was woken in the background, and never reports that it is done.
  func testATimeInTheBackgroundEndsByItselfAfterTwentyFiveSeconds() throws {
    _ = try SimulatedHouse.run(seed: 5) { house in
      let cast = try Cast(house)
      try cast.alice.wake()
      house.pass(.milliseconds(24_900))
      XCTAssertEqual(try cast.alice.state()["machines"]?["app_phase"], "bgRefresh")
      house.pass(.milliseconds(200))
      XCTAssertEqual(try cast.alice.state()["machines"]?["app_phase"], "suspended")
      XCTAssertEqual(try cast.alice.state()["quiescent"], true)
      cast.end()
    }
  }

  /// INC-01: a host that reports that the user has left, and nothing more. To the second, whatever the machine is busy
  /// with.
  func testATimeOffTheScreenEndsByItselfAfterTenSeconds() throws {
    _ = try SimulatedHouse.run(seed: 7) { house in
      let cast = try Cast(house)
      try cast.activate()
      // By now the app's requests to the notification server on coming to the front are answered, and do not hold up
      // stopping the network.
      house.pass(.milliseconds(2_000))
      try cast.alice.send("/_app phase background", "cmdOk")
      try cast.bobSends("hello")
      house.pass(.milliseconds(9_900))
      XCTAssertEqual(try cast.alice.state()["machines"]?["app_phase"], "background")
      XCTAssertEqual(try cast.alice.state()["machines"]?["operations"], "networkStopped")
      XCTAssertEqual(try cast.chat(), [], "the store is read, and nothing is received")
      house.pass(.milliseconds(200))
      XCTAssertEqual(try cast.alice.state()["machines"]?["app_phase"], "suspended")
      XCTAssertEqual(try cast.alice.state()["quiescent"], true)
      try cast.alice.event("chatSuspended")
      try cast.activate()
      try cast.alice.event("newChatItems")
      XCTAssertEqual(try cast.chat(), ["hello"])
      cast.end()
    }
  }

  /// A round that cannot write is answered once at rest, and the next one shows what arrived.
  func testARoundWhileTheStoreIsHeldEndsAtRest() throws {
    _ = try SimulatedHouse.run(seed: 6) { house in
      let cast = try Cast(house)
      try cast.bobSends("hello")
      let holder = try Database(path: house.path("alice_chat.db"), options: .init(key: try house.key(of: "alice")))
      try holder.execute("BEGIN IMMEDIATE")
      let start = house.clock.elapsed
      let answer = try cast.alice.refresh()
      XCTAssertTrue(["failed", "expired"].contains(answer["outcome"]), answer.text)
      XCTAssertEqual(answer["quiescent"], true, answer.text)
      XCTAssertEqual(answer["nextRefreshMs"], 600_000)
      XCTAssertLessThanOrEqual(house.clock.elapsed - start, .seconds(24))
      XCTAssertEqual(try cast.alice.state()["machines"]?["background_refresh"], "expired")
      try holder.execute("COMMIT")
      try holder.close()
      XCTAssertEqual(try cast.alice.refresh().bodiesShown, ["hello"])
      cast.end()
    }
  }

  /// INC-20: an app that owns a connection and has nothing to do writes nothing.
  func testINC20AnIdleOwnerWritesNothing() throws {
    _ = try SimulatedHouse.run(seed: 3) { house in
      let cast = try Cast(house)
      try cast.activate()
      try cast.bobSends("hello")
      try cast.alice.event("newChatItems")
      house.pass(.seconds(30))
      let owners = try cast.alice.state()["owners"]?.arrayValue ?? []
      XCTAssertEqual(owners.count { $0["self"] == true }, 1, "it does own: \(owners)")
      let before = try house.writings(of: "alice")
      XCTAssertGreaterThanOrEqual(before.count, 3, "the store, its log and the phase: \(before.keys)")
      house.pass(.seconds(60))
      XCTAssertEqual(before, try house.writings(of: "alice"), "a minute of owning")
      cast.end()
    }
  }

  /// INC-20: an extension that holds a claim and waits for its source writes nothing.
  func testINC20AHeldClaimIsNotRenewed() throws {
    _ = try SimulatedHouse.run(seed: 5) { house in
      let cast = try Cast(house)
      let inbox = Inbox()
      inbox.put("first", "hello")
      inbox.set(.neverAnswers)
      let notifier = try house.host("notifier", store: "alice", .extension, inbox: inbox)
      var writings: [[String: String]] = []
      for second in [2, 25] as [Int64] {
        house.after(.seconds(second)) {
          XCTAssertEqual(try notifier.state()["claims"]?.arrayValue?.first?["state"], "held")
          writings.append(try house.writings(of: "alice"))
        }
      }
      let (_, answer) = try push(.seconds(30), to: notifier, in: house)
      XCTAssertEqual(answer["outcome"], "expired", answer.text)
      XCTAssertEqual(writings.count, 2)
      XCTAssertGreaterThanOrEqual(writings.first?.count ?? 0, 3, "the store, its log and the phase: \(writings)")
      XCTAssertEqual(writings.first, writings.last, "23 seconds of holding")
      inbox.set(.answers)
      let (_, second) = try push(.seconds(30), to: notifier, in: house)
      XCTAssertEqual(second["notifications"]?.arrayValue?.map { $0["body"] }, ["hello"], second.text)
      notifier.end()
      cast.end()
    }
  }
}

extension JSONValue {
  fileprivate var bodiesShown: [String] {
    self["notifications"]?.arrayValue?.compactMap { $0["body"]?.stringValue } ?? []
  }
}
