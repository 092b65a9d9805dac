import CNightporter
import Foundation
import PropertyTesting
import XCTest

/// Suspending with something in flight: in order, within the delay, and within its own cycle.
final class OperationTests: XCTestCase {
  /// Alice reaches the relay through a transport that can hang, bob directly; the two are connected.
  private struct Meeting {
    let folder: TemporaryFolder
    let transport: HostTransport
    let alice: Host
    let bob: Host

    init() throws {
      folder = try TemporaryFolder()
      transport = HostTransport(relay: folder.file("relay.db"))
      alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
      transport.install(in: alice)
      alice.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
      alice.send("/_start").assert("chatStarted")
      bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
      bob.begin("bob", relay: folder.file("relay.db"))
      let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      bob.send("/connect \(link)").assert("sentConfirmation")
      for _ in 0..<100 {
        np_relay_ready(alice.handle)
        if alice.event(within: 0.2)?["result"]["type"].text == "contactConnected" { break }
      }
      bob.event("contactConnected")
      while let event = bob.event(within: 0.3) { _ = event }
    }

    func aliceSends(_ text: String) { alice.send("/_send @1 text \(text)", arrives: false).assert("newChatItems") }

    func texts(_ host: Host) -> [String] {
      let items = host.send("/_get chat @1 count=1000")["result"]["chat"]["chatItems"]
      return (0..<items.count).map { items[$0]["content"]["msgContent"]["text"].text }
    }

    var state: String { alice.state["machines"]["operations"].text }

    /// No file of the store is open in this process, as the kernel lists them.
    var openFiles: [String] {
      let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return descriptors.compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }.filter { $0.hasPrefix(folder.file("alice")) }
    }

    /// Waits until `texts` came to bob, and checks again for one too many.
    func expectBobHas(_ expected: [String], file: StaticString = #filePath, line: UInt = #line) {
      let end = Date(timeIntervalSinceNow: 20)
      while texts(bob).count < expected.count, end.timeIntervalSinceNow > 0 { usleep(20_000) }
      usleep(200_000)
      XCTAssertEqual(texts(bob), expected, file: file, line: line)
    }
  }

  private func noEvent(_ type: String, _ host: Host, for seconds: Double, line: UInt = #line) {
    let end = Date(timeIntervalSinceNow: seconds)
    while end.timeIntervalSinceNow > 0 {
      if host.event(within: 0.1)?["result"]["type"].text == type { return XCTFail("\(type) came", line: line) }
    }
  }

  /// INC-21: an extension was suspended with little time, and is running again. When the app wakes and asks it to
  /// yield, it has the time it needs, not the rest of the earlier one.
  func testINC21AYieldingExtensionIgnoresAnEarlierSuspensionsDeadline() throws {
    let meeting = try Meeting()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(meeting.alice.prefix, isExtension: true).host)
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    transport.install(in: notifier)
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    notifier.send("/_app suspend 20000").assert("cmdOk")
    notifier.event("chatSuspended")
    usleep(50_000)
    notifier.send("/_app activate").assert("cmdOk")
    transport.hang(true)
    let (handle, answered) = (UInt(bitPattern: notifier.handle), expectation(description: "the command"))
    Thread.detachNewThread {
      _ = take(chat_send_cmd(chat_ctrl(bitPattern: handle), "/_connect 1"))
      answered.fulfill()
    }
    transport.waitUntilInside()
    meeting.alice.send("/_app activate").assert("cmdOk")
    let phase = { notifier.state["machines"]["extension_phase"].text }
    let end = Date(timeIntervalSinceNow: 10)
    while phase() == "active", end.timeIntervalSinceNow > 0 { usleep(10_000) }
    usleep(700_000)
    XCTAssertEqual(phase(), "suspending", "what it sends is waited for")
    transport.hang(false)
    notifier.event("chatSuspended")
    XCTAssertEqual(phase(), "suspended")
    wait(for: [answered], timeout: 10)
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
    meeting.expectBobHas(["hello"])
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
    meeting.expectBobHas(["hello"])
  }

  func testTheLaterOfTwoSuspensionsSetsTheDelay() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("hello")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    meeting.alice.send("/_app suspend 200000").assert("cmdOk")
    meeting.alice.event("chatSuspended", within: 20)
    noEvent("chatSuspended", meeting.alice, for: 0.5)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
    meeting.transport.hang(false)
  }

  /// INC-21: the delay of a cancelled suspension ends nothing later, and the completion of what it abandoned is not
  /// taken for the completion of later work.
  func testINC21DeadlineAndCompletionsOfAnEarlierCycleActInNoLaterOne() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    // Cancelled before its delay has passed.
    meeting.alice.send("/_app suspend 700000").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(meeting.state, "running")
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    noEvent("chatSuspended", meeting.alice, for: 1.5)
    XCTAssertTrue(meeting.state.hasPrefix("draining"), "the first delay is over, the second is not: \(meeting.state)")

    // Abandoned: a late result belongs to no request.
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    let cycle = meeting.alice.state["operations"]["cycle"].number
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    XCTAssertEqual(meeting.alice.state["operations"]["cycle"].number, cycle)
    let held = meeting.alice.state["operations"]["sending"].number
    XCTAssertEqual(held, 1, "the message is offered again: \(meeting.alice.state)")
    noEvent("chatSuspended", meeting.alice, for: 0.5)
    meeting.transport.hang(false)
    meeting.alice.event("chatSuspended", within: 20)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
    meeting.expectBobHas(["one"])
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
    meeting.expectBobHas(["one", "two"])
    noEvent("chatSuspended", meeting.alice, for: 0.3)
  }

  /// A stopped chat keeps only its store; work in progress has 3 s.
  func testStoppingDuringADrainEndsStopped() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.aliceSends("one")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 600000000").assert("cmdOk")
    meeting.alice.send("/_stop").assert("chatStopped")
    let end = Date(timeIntervalSinceNow: 20)
    while meeting.alice.state["machines"]["chat_lifecycle"].text != "stopped", end.timeIntervalSinceNow > 0 {
      usleep(50_000)
    }
    XCTAssertEqual(meeting.state, "storeOnly")
    XCTAssertEqual(meeting.texts(meeting.alice), ["one"], "the store can be read")
    XCTAssertEqual(meeting.alice.send("/_send @1 text two").errorTag, "chatNotStarted")
    meeting.transport.hang(false)
    meeting.alice.send("/_start").assert("chatStarted")
    meeting.expectBobHas(["one"])
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
    meeting.expectBobHas(["one"])
  }

  /// Whatever is in progress at any moment, `suspend 0` is immediate and quiescent, and in the end each message is on
  /// the other side once.
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
        let started = Date()
        pair.alice.send(place.isMultiple(of: 3) ? "/_app suspend 5000000" : "/_app suspend 0")
        if place.isMultiple(of: 3) { pair.alice.event("chatSuspended", within: 20) }
        try expect(pair.alice.state["quiescent"].flag, pair.alice.state.description)
        try expect(started.timeIntervalSinceNow > -20, "suspending took long")
        for kind in ["notifications", "receiving", "delivery", "sending", "database"] {
          try expectEqual(pair.alice.state["operations"][kind].number, 0)
        }
        pair.alice.send("/_app activate")
      }
      let end = Date(timeIntervalSinceNow: 20)
      let all = fromAlice.count + fromBob.count
      while pair.texts(pair.alice).count < all || pair.texts(pair.bob).count < all, end.timeIntervalSinceNow > 0 {
        usleep(5_000)
      }
      for host in [pair.alice, pair.bob] {
        let texts = pair.texts(host)
        try expectEqual(texts.filter { $0.hasPrefix("a") }.sorted(), fromAlice.sorted())
        try expectEqual(texts.filter { $0.hasPrefix("b") }.sorted(), fromBob.sorted())
      }
    }
  }
}
