import CNightporter
import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

/// Suspending with work in progress: in order, within the delay, and within its own cycle.
final class OperationTests: XCTestCase {
  /// INC-21: an extension was suspended with little time, and is running again. When the app wakes and asks it to
  /// yield, it gets the time it needs, not the rest of the earlier delay.
  func testINC21AYieldingExtensionIgnoresAnEarlierSuspensionsDeadline() throws {
    let meeting = try Meeting()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(meeting.alice.prefix, isExtension: true).host)
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    transport.install(in: notifier)
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    notifier.send("/_app suspend 20000").assert("cmdOk")
    notifier.event("chatSuspended")
    // Its delay is over.
    usleep(20_000)
    notifier.send("/_app activate").assert("cmdOk")
    let connection = notifier.send("/_contacts 1")["result"]["contacts"][0]["activeConn"]["agentConnId"].text
    transport.hang(true)
    let fetching = notifier.inBackground {
      $0.send("/_ntf conn messages \(connection):1:2026-01-01T00:00:00.000Z").description
    }
    transport.waitUntilInside()
    meeting.alice.send("/_app activate").assert("cmdOk")
    let phase = { notifier.state["machines"]["extension_phase"].text }
    awaitThat("it yields") { phase() != "active" }
    // An expired deadline would end it in the engine's next turn; each look is a turn.
    for _ in 0..<10 { XCTAssertEqual(phase(), "suspending", "what it asks for is waited for") }
    transport.hang(false)
    notifier.event("chatSuspended")
    XCTAssertEqual(phase(), "suspended")
    XCTAssertNotNil(fetching.wait(atMost: .seconds(30)))
  }

  func testSuspendingWaitsForSendingAndThenHoldsNothing() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("hello")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 60000000").assert("cmdOk")
    XCTAssertEqual(meeting.state, "drainingSending")
    XCTAssertFalse(meeting.alice.state["quiescent"].flag)
    XCTAssertEqual(meeting.alice.state["operations"]["sending"].number, 1)
    XCTAssertTrue(
      meeting.alice.state["holds"].elements.contains { $0.text == "1 operations of sending are under way" },
      meeting.alice.state.description)
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertEqual(meeting.state, "quiescent")
    XCTAssertTrue(meeting.alice.state["quiescent"].flag, meeting.alice.state.description)
    XCTAssertEqual(meeting.openFiles, [])
    try meeting.expectBobHas(["hello"])
  }

  /// The transport hangs for longer than the suspension may take.
  func testDeadlineEndsASuspensionWhoseTransportHangs() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("hello")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 200000").assert("cmdOk")
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag, meeting.alice.state.description)
    XCTAssertEqual(meeting.openFiles, [])
    meeting.transport.hang(false)
    meeting.alice.send("/_app activate").assert("cmdOk")
    try meeting.expectBobHas(["hello"])
  }

  func testTheLaterOfTwoSuspensionsSetsTheDelay() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("hello")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    meeting.alice.send("/_app suspend 200000").assert("cmdOk")
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
    meeting.alice.expectNone("chatSuspended")
    meeting.transport.hang(false)
  }

  /// INC-21: the delay of a cancelled suspension ends nothing later, and the completion of abandoned work is not taken
  /// for the completion of later work.
  func testINC21DeadlineAndCompletionsOfAnEarlierCycleActInNoLaterOne() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    // Cancelled before its delay has passed.
    let begun = SystemClock().now()
    meeting.alice.send("/_app suspend 3000000").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(meeting.state, "running")
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    awaitThat("the first delay is over") { SystemClock().now() - begun > .seconds(3) }
    // Each look is a turn of the engine, in which everything due happens.
    for _ in 0..<10 { XCTAssertTrue(meeting.state.hasPrefix("draining"), "the second is not over: \(meeting.state)") }
    meeting.alice.expectNone("chatSuspended")

    // Abandoned: a late result belongs to no request.
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    let cycle = meeting.alice.state["operations"]["cycle"].number
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    XCTAssertEqual(meeting.alice.state["operations"]["cycle"].number, cycle)
    let held = meeting.alice.state["operations"]["sending"].number
    XCTAssertEqual(held, 1, "the message is offered again: \(meeting.alice.state)")
    XCTAssertTrue(meeting.state.hasPrefix("draining"), meeting.state)
    meeting.alice.expectNone("chatSuspended")
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
    try meeting.expectBobHas(["one"])
  }

  func testActivatingDuringADrainContinuesImmediately() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.transport.hang(false)
    meeting.aliceSends("two")
    try meeting.expectBobHas(["one", "two"])
    meeting.alice.expectNone("chatSuspended")
  }

  /// A stopped chat keeps only its store; work in progress has 3 s.
  func testStoppingDuringADrainEndsStopped() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    meeting.alice.send("/_stop").assert("chatStopped")
    awaitThat("the chat is stopped") { meeting.alice.state["machines"]["chat_lifecycle"].text == "stopped" }
    XCTAssertEqual(meeting.state, "storeOnly")
    XCTAssertEqual(meeting.texts(meeting.alice), ["one"], "the store can be read")
    XCTAssertEqual(meeting.alice.send("/_send @1 text two").errorTag, "chatNotStarted")
    meeting.transport.hang(false)
    meeting.alice.send("/_start").assert("chatStarted")
    try meeting.expectBobHas(["one"])
  }

  func testNoOperationBeginsWhileItsKindIsDraining() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    let gets = meeting.transport.count(.get)
    np_relay_ready(meeting.alice.handle)
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertEqual(meeting.transport.count(.get), gets)
    XCTAssertTrue(meeting.alice.send("/_send @1 text two")["error"].exists)
    meeting.alice.send("/_app activate").assert("cmdOk")
    try meeting.expectBobHas(["one"])
  }

  /// Whatever is in progress at any moment, `suspend 0` is immediate and quiescent, and in the end each message has
  /// reached the other side once.
  func testSuspendingAtAnyMomentOfBusyTrafficLosesAndDoublesNothing() throws {
    let pair = try Pair()
    let stops = Generator<[UInt64]> { choices in
      var pauses: [UInt64] = []
      choices.repeated(2...6) { _ in pauses.append(choices.number(below: 4_000)) }
      return pauses
    }
    var (fromAlice, fromBob) = ([String](), [String]())
    forAll(stops, runs: 8) { pauses in
      for (place, pause) in pauses.enumerated() {
        for _ in 0..<3 {
          fromAlice.append("a\(fromAlice.count)")
          pair.send(fromAlice[fromAlice.count - 1], from: pair.alice)
          fromBob.append("b\(fromBob.count)")
          pair.send(fromBob[fromBob.count - 1], from: pair.bob)
        }
        usleep(UInt32(pause))
        pair.alice.send(place.isMultiple(of: 3) ? "/_app suspend 5000000" : "/_app suspend 0")
        if place.isMultiple(of: 3) { pair.alice.event("chatSuspended", within: 20) }
        try expect(pair.alice.state["quiescent"].flag, pair.alice.state.description)
        for kind in ["notifications", "receiving", "delivery", "sending", "database"] {
          try expectEqual(pair.alice.state["operations"][kind].number, 0)
        }
        pair.alice.send("/_app activate")
      }
      let all = fromAlice.count + fromBob.count
      awaitThat("both have all") { [pair.alice, pair.bob].allSatisfy { pair.texts($0).count >= all } }
      for host in [pair.alice, pair.bob] { awaitRest(of: host) }
      for host in [pair.alice, pair.bob] {
        let texts = pair.texts(host)
        try expectEqual(texts.filter { $0.hasPrefix("a") }.sorted(), fromAlice.sorted())
        try expectEqual(texts.filter { $0.hasPrefix("b") }.sorted(), fromBob.sorted())
      }
    }
  }
}

extension Meeting {
  fileprivate func aliceSends(_ text: String) {
    alice.send("/_send @1 text \(text)", arrives: false).assert("newChatItems")
  }

  fileprivate var state: String { alice.state["machines"]["operations"].text }

  /// Files of the store that this process has open, as the kernel lists them.
  fileprivate var openFiles: [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }.filter { $0.hasPrefix(folder.file("alice")) }
  }
}
