import CNightporter
import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

/// An app that has left the screen: its network comes to rest and stays at rest, and its store is read and written
/// until the app is suspended.
final class BackgroundTests: XCTestCase {
  /// S58: a host sets the badge when it leaves the screen.
  func testTheBadgeIsThereInTheBackground() throws {
    let pair = try Pair()
    for text in ["one", "two"] {
      pair.send(text, from: pair.bob)
      pair.alice.event("newChatItems")
    }
    pair.alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
    pair.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
  }

  func testInTheBackgroundTheStoreIsReadAndWrittenAndNothingLeaves() throws {
    let meeting = try Meeting()
    let alice = meeting.alice
    alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: alice), ["background", "background", "networkStopped"])
    XCTAssertTrue(alice.state["blocked"]["network"].flag)
    XCTAssertFalse(alice.state["blocked"]["database"].flag)
    XCTAssertFalse(alice.state["quiescent"].flag, "the store is open")
    let requests = meeting.transport.countOfAll

    alice.send("/_check running").assert("chatRunning")
    alice.send("/_get chats 1 pcc=off").assert("apiChats")
    alice.send("/_send @1 text waits").assert("newChatItems")
    XCTAssertEqual(meeting.texts(alice), ["waits"])
    alice.send("/_read chat @1").assert("cmdOk")
    alice.send("/_set alias @1 robert").assert("contactAliasUpdated")
    alice.send("/_resubscribe all").assert("cmdOk")
    meeting.bob.send("/_send @1 text unseen").assert("newChatItems")
    np_relay_ready(alice.handle)
    // Queued behind the turn that handled the news.
    alice.send("/_check running").assert("chatRunning")
    XCTAssertEqual(meeting.transport.countOfAll, requests, "no request was made")
    XCTAssertEqual(meeting.texts(alice), ["waits"])

    alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: alice), ["active", "active", "running"])
    XCTAssertFalse(alice.state["blocked"]["network"].flag)
    try meeting.expectBobHas(["unseen", "waits"])
    awaitThat("alice has it") {
      np_relay_ready(alice.handle)
      return meeting.texts(alice) == ["waits", "unseen"]
    }
  }

  /// A request was in progress when the user left. No process would show its message for now, so it is left to its
  /// push.
  func testWhatComesWhileTheAppLeavesIsShownByItsPush() throws {
    let meeting = try Meeting()
    let alice = meeting.alice
    meeting.transport.hang(.get)
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    let before = meeting.transport.count(.get)
    awaitThat("it is asked for") {
      np_relay_ready(alice.handle)
      return meeting.transport.count(.get) > before
    }
    alice.send("/_app phase background").assert("cmdOk")
    meeting.transport.hang(nil)
    awaitThat("the network rests") { alice.state["machines"]["operations"].text == "networkStopped" }
    XCTAssertEqual(meeting.texts(alice), [])
    alice.send("/_app suspend 3000000").assert("cmdOk")
    alice.event("chatSuspended")
    let service = try XCTUnwrap(Host.open(alice.prefix, isExtension: true).host)
    service.send(#"/_network {"relay":"\#(meeting.folder.file("relay.db"))"}"#).assert("cmdOk")
    let answer = service.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(meeting.texts(alice), ["hello"])
  }

  /// Commands that only the network can answer have their own error code, and are not begun.
  func testCommandsOfTheNetworkAreAnsweredWithTheirOwnCode() throws {
    let station = try Station()
    let alice = station.alice
    XCTAssertEqual(np_set_phase(alice.handle, NP_PHASE_BACKGROUND), NP_OK)
    for command in [
      "/_connect 1", "/_address 1", "/_ntf register apns_test 00ff INSTANT",
      "/_ntf check apns_test \(station.token)", "/_ntf conn messages AAAA:1:2026-01-01T00:00:00Z",
      "/ntf test \(station.server.link)",
    ] {
      let answer = alice.send(command)
      XCTAssertEqual(answer["error"]["np"]["code"].text, "networkStopped", "\(command): \(answer)")
      XCTAssertEqual(answer["error"]["agentError"]["type"].text, "INACTIVE", "\(command): \(answer)")
    }
    // From the store.
    alice.send("/_ntf get").assert("ntfToken")
    alice.send("/_app activate").assert("cmdOk")
    alice.send("/_connect 1").assert("invitation")
  }

  /// A caller waiting for the notification server learns that no answer will come once the network is at rest, and not
  /// before the work in progress has ended.
  func testACallerThatWaitsForAServerIsAnsweredWhenTheNetworkIsAtRest() throws {
    let alice = try Watched({ $0.answers("TNEW", .silence) })
    try alice.waitUntilIdle()
    let answered = Promise<String>()
    Thread.detachNewThread {
      answered.fulfil(alice.send("/_ntf register apns_test \(alice.token) INSTANT").description)
    }
    try alice.wait("asked") { alice.script?.count("TNEW") ?? 0 > 0 }
    alice.send("/_app phase background").assert("cmdOk")
    let answer = JSON(try XCTUnwrap(answered.wait(atMost: .seconds(30))))
    XCTAssertTrue(answer["error"].exists, answer.description)
    XCTAssertEqual(alice.state["machines"]["operations"].text, "networkStopped")
  }

  /// Work in progress ends, in the machine's order. No other work begins, and transactions are not held up.
  func testTheNetworkComesToRestInItsOrder() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text one", arrives: false).assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: meeting.alice), ["background", "background", "stoppingSending"])
    let gets = meeting.transport.count(.get)
    np_relay_ready(meeting.alice.handle)
    meeting.alice.send("/_send @1 text two", arrives: false).assert("newChatItems")
    XCTAssertEqual(meeting.texts(meeting.alice), ["one", "two"])
    meeting.transport.hang(false)
    awaitThat("the network is at rest") { meeting.states(of: meeting.alice).last == "networkStopped" }
    XCTAssertEqual(meeting.transport.count(.get), gets)
    try meeting.expectBobHas(["one"])
    meeting.alice.expectNone("chatSuspended")
    meeting.alice.send("/_app activate").assert("cmdOk")
    try meeting.expectBobHas(["one", "two"])
  }

  func testActivatingWhileTheNetworkComesToRestContinuesImmediately() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text one", arrives: false).assert("newChatItems")
    meeting.transport.waitUntilInside()
    XCTAssertEqual(np_set_phase(meeting.alice.handle, NP_PHASE_BACKGROUND), NP_OK)
    XCTAssertEqual(np_set_phase(meeting.alice.handle, NP_PHASE_ACTIVE), NP_OK)
    XCTAssertEqual(meeting.states(of: meeting.alice), ["active", "active", "running"])
    meeting.transport.hang(false)
    meeting.alice.send("/_send @1 text two").assert("newChatItems")
    try meeting.expectBobHas(["one", "two"])
  }

  /// Until the store is closed, it is read and written, and commands that need the network are refused.
  func testTheStoreIsReadAndWrittenUntilTheSuspensionHasTheStore() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text one", arrives: false).assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app phase background").assert("cmdOk")
    meeting.alice.send("/_app suspend 60000000").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: meeting.alice), ["suspending", "suspending", "drainingSending"])
    meeting.alice.send("/_send @1 text two", arrives: false).assert("newChatItems")
    let item = meeting.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    meeting.alice.send("/_read chat @1").assert("cmdOk")
    meeting.alice.send("/_delete item @1 \(item) internalMark").assert("chatItemsDeleted")
    XCTAssertTrue(meeting.alice.send("/_connect 1")["error"].exists)
    XCTAssertEqual(meeting.states(of: meeting.alice), ["suspending", "suspending", "drainingSending"])
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    expectReleased(meeting)
    XCTAssertTrue(meeting.alice.send("/_send @1 text three", arrives: false)["error"].exists)
    meeting.alice.send("/_app activate").assert("cmdOk")
    try meeting.expectBobHas(["one", "two"])
  }

  /// A suspension continues the drain begun by the background, ends with the store, and is reported.
  func testASuspensionFollowsFromWhereverTheNetworkIs() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text one", arrives: false).assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app phase background").assert("cmdOk")
    meeting.alice.send("/_app suspend 60000000").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: meeting.alice), ["suspending", "suspending", "drainingSending"])
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    expectReleased(meeting)
    try meeting.expectBobHas(["one"])

    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.awaitRest()
    meeting.alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(meeting.states(of: meeting.alice).last, "networkStopped")
    meeting.alice.send("/_app suspend 5000000").assert("cmdOk")
    meeting.alice.event("chatSuspended")
    expectReleased(meeting)

    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(np_set_phase(meeting.alice.handle, NP_PHASE_SUSPENDED), NP_OK)
    expectReleased(meeting)
    meeting.alice.expectNone("chatSuspended")

    // Nothing runs, so nothing needs to be kept open, and a host that waits for the event gets it (INC-39).
    meeting.alice.send("/_app phase background").assert("cmdOk")
    meeting.alice.event("chatSuspended")
    expectReleased(meeting)
  }

  private func expectReleased(_ meeting: Meeting, line: UInt = #line) {
    let state = meeting.alice.state
    XCTAssertTrue(state["quiescent"].flag, state.description, line: line)
    XCTAssertTrue(state["blocked"]["network"].flag && state["blocked"]["database"].flag, state.description, line: line)
    XCTAssertEqual(meeting.filesOfAlice, [], line: line)
  }

  func testStoppingAndClosingInTheBackground() throws {
    let meeting = try Meeting()
    meeting.alice.send("/_app phase background").assert("cmdOk")
    meeting.alice.send("/_stop").assert("chatStopped")
    awaitThat("the chat is stopped") { meeting.states(of: meeting.alice) == ["stopped", "stopped", "storeOnly"] }
    meeting.alice.send("/_start").assert("chatStarted")
    meeting.alice.send("/_app phase background").assert("cmdOk")
    XCTAssertEqual(meeting.alice.closeStore(), "")
    expectReleased(meeting)
    XCTAssertEqual(meeting.alice.reopenStore(), "")
    meeting.alice.send("/_start").assert("chatStarted")
    meeting.alice.send("/_send @1 text one").assert("newChatItems")
    try meeting.expectBobHas(["one"])
  }

  // MARK: Other processes

  /// The extension acts, as alongside a suspended app. The app, whose store is open, is notified; these events do not
  /// count as shown a second time.
  func testTheExtensionActsWhileTheAppIsInTheBackground() throws {
    let station = try Station()
    let alice = station.alice
    awaitRest(of: alice)
    alice.dropEvents()
    alice.send("/_app phase background").assert("cmdOk")
    let push = try station.push(for: "hello")
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.bodies, ["hello"])
    alice.event("newChatItems")
    XCTAssertEqual(station.pair.texts(alice), ["hello"])
    alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(alice.state["unread"].number, 0)
    XCTAssertEqual(try station.present(push).bodies, [], "once")
    alice.expectNone("notifications")
    station.wake(expecting: ["hello"])
  }

  /// A push that reaches the app itself is a round, which ends at rest.
  func testARoundInTheBackgroundEndsAtRest() throws {
    let station = try Station()
    let alice = station.alice
    awaitRest(of: alice)
    XCTAssertEqual(np_set_phase(alice.handle, NP_PHASE_BACKGROUND), NP_OK)
    station.pair.send("hello", from: station.bob)
    let answer = JSON(take(np_background_refresh(alice.handle, 20_000)))
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    XCTAssertTrue(alice.state["quiescent"].flag)
    station.wake(expecting: ["hello"])
  }

  // MARK: Time

  /// Ten seconds after the command the app begins to suspend; work that then hangs is abandoned after five more.
  func testTheTimeInTheBackgroundEndsByItself() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.waitUntilIdle()
    // Otherwise the time that the test takes between two moves counts as well.
    alice.clock.stop()
    let phase = { alice.state["machines"]["app_phase"].text }
    alice.send("/_app phase background").assert("cmdOk")
    alice.clock.move(.seconds(9))
    alice.send("/_check running").assert("chatRunning")
    XCTAssertEqual(phase(), "background")
    // Repeating the command does not postpone this.
    alice.send("/_app phase background").assert("cmdOk")
    alice.clock.move(.seconds(1))
    try alice.wait("suspended") { phase() == "suspended" }
    XCTAssertTrue(alice.state["quiescent"].flag, alice.state.description)
    XCTAssertEqual(alice.events("chatSuspended").count, 1)

    alice.send("/_app activate").assert("cmdOk")
    try alice.waitUntilIdle()
    let operations = { alice.state["machines"]["operations"].text }
    // Nothing else hangs, such as a check of the mailboxes.
    let created = alice.transport?.count(.create) ?? 0
    alice.transport?.hang(.create)
    let answered = Promise<String>()
    Thread.detachNewThread { answered.fulfil(alice.send("/_connect 1").description) }
    try alice.wait("asked") { (alice.transport?.count(.create) ?? 0) > created }
    alice.send("/_app phase background").assert("cmdOk")
    try alice.wait("all else is at rest") { operations() == "stoppingSending" }
    alice.clock.move(.seconds(10))
    try alice.wait("suspending, for which it has five seconds") {
      phase() == "suspending" && operations() == "drainingSending"
    }
    alice.clock.move(.seconds(5))
    try alice.wait("suspended") { phase() == "suspended" }
    XCTAssertTrue(alice.state["quiescent"].flag, alice.state.description)
    XCTAssertEqual(alice.events("chatSuspended").count, 1)
    XCTAssertTrue(JSON(try XCTUnwrap(answered.wait(atMost: .seconds(30))))["error"].exists)
    alice.transport?.hang(nil)
  }

  /// An app that returns in time is not suspended later (INC-21).
  func testTheTimeOfAnEarlierBackgroundEndsNothing() throws {
    let alice = try Watched({ _ in })
    try alice.waitUntilIdle()
    alice.send("/_app phase background").assert("cmdOk")
    alice.send("/_app activate").assert("cmdOk")
    alice.clock.move(.seconds(16))
    alice.send("/_check running").assert("chatRunning")
    XCTAssertEqual(alice.state["machines"]["app_phase"].text, "active")
    XCTAssertEqual(alice.state["machines"]["operations"].text, "running")
    XCTAssertEqual(alice.events("chatSuspended").count, 0)
    alice.send("/_connect 1").assert("invitation")
  }

  // MARK: Any order

  /// Whatever a host requests, and whenever: in the background the store answers, and no network work is in progress
  /// once it is at rest; a suspended app holds nothing; in the end each message has reached the other side once.
  func testAnyOrderOfPhasesLosesAndDoublesNothing() throws {
    let pair = try Pair()
    let steps = Generator<[UInt64]> { choices in
      var steps: [UInt64] = []
      choices.repeated(3...10) { _ in steps.append(choices.number(below: 7)) }
      return steps
    }
    var (fromAlice, fromBob) = ([String](), [String]())
    forAll(steps, runs: 6) { steps in
      for step in steps {
        fromBob.append("b\(fromBob.count)")
        pair.send(fromBob[fromBob.count - 1], from: pair.bob, arrives: false)
        switch step {
        case 0: pair.alice.send("/_app activate").assert("cmdOk")
        case 1: pair.alice.send("/_app suspend 0").assert("cmdOk")
        case 2: pair.alice.send("/_app suspend 5000000").assert("cmdOk")
        case 3: _ = take(np_background_refresh(pair.alice.handle, 5_000))
        default: pair.alice.send("/_app phase background").assert("cmdOk")
        }
        try self.expectTrueToItsPhase(pair.alice)
        let text = "a\(fromAlice.count)"
        let answer = pair.alice.send("/_send @1 text \(text)", arrives: false)
        if answer["result"]["type"].text == "newChatItems" { fromAlice.append(text) }
      }
      pair.alice.send("/_app activate").assert("cmdOk")
      let all = fromAlice.count + fromBob.count
      awaitThat("both have all") { [pair.alice, pair.bob].allSatisfy { pair.texts($0).count >= all } }
      for host in [pair.alice, pair.bob] { awaitRest(of: host) }
      for host in [pair.alice, pair.bob] {
        let texts = pair.texts(host)
        try expectEqual(texts.filter { $0.hasPrefix("a") }, fromAlice)
        try expectEqual(texts.filter { $0.hasPrefix("b") }, fromBob)
      }
    }
  }

  private func expectTrueToItsPhase(_ host: Host) throws {
    let answer = host.send("/_get chats 1 pcc=off")
    let state = host.state
    switch state["machines"]["app_phase"].text {
    case "background":
      // It may be suspended by now, but not the other way round.
      try expect(answer["result"]["type"].text == "apiChats", answer.description)
      try expect(state["blocked"]["network"].flag && !state["blocked"]["database"].flag, state.description)
      if state["machines"]["operations"].text == "networkStopped" {
        for kind in ["notifications", "receiving", "delivery", "sending"] {
          try expectEqual(state["operations"][kind].number, 0)
        }
      }
    case "suspended": try expect(state["quiescent"].flag, state.description)
    default: break
    }
  }
}

extension Meeting {
  /// States of the phase, the chat and the operations.
  fileprivate func states(of host: Host) -> [String] {
    let machines = host.state["machines"]
    return ["app_phase", "chat_lifecycle", "operations"].map { machines[$0].text }
  }

  /// Files of alice's store that this process has open, as the kernel lists them.
  fileprivate var filesOfAlice: [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }.filter { $0.hasPrefix(folder.file("alice")) }
  }
}
