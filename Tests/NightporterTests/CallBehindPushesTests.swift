import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// A call's push does not wait for what another push waits for (INC-43).
final class CallBehindPushesTests: XCTestCase {
  /// The answer to the call's push, which waits for what another push has. The clock stands still except for the call's
  /// patience: on a busy machine the other's request would be given up first.
  private func answerToCall(
    _ waiting: CallStation, _ clock: MovedClock, file: StaticString = #filePath, line: UInt = #line
  ) throws -> JSON {
    let service = try XCTUnwrap(Handles.find(waiting.service.handle), file: file, line: line)
    let call = waiting.push(waiting.call)
    awaitThat("the call is committed, and its push waits", file: file, line: line) {
      service.call { engine in
        engine.pushes.running.contains {
          $0.state == .claiming && engine.context.timers.isSet(PushRunner.callTimer($0))
        }
      } == true
    }
    clock.move(Durations.callPatience)
    awaitThat("the call's push has its answer", file: file, line: line) {
      // Any call makes the engine check its timers.
      _ = waiting.service.state
      return call.wait(atMost: .milliseconds(10)) != nil
    }
    return try waiting.answer(call, file: file, line: line)
  }

  /// The call is shown while the first push still waits; that push gets its own answer afterwards.
  private func assertCallOvertakes(
    _ waiting: CallStation, _ clock: MovedClock, _ first: Promise<String>, release: () throws -> Void,
    file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let call = try answerToCall(waiting, clock, file: file, line: line)
    XCTAssertEqual(call["outcome"].text, "presented", call.description, file: file, line: line)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description, file: file, line: line)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits", file: file, line: line)
    XCTAssertFalse(call["quiescent"].flag, call.description, file: file, line: line)
    try release()
    let late = try waiting.answer(first, file: file, line: line)
    XCTAssertEqual(late.bodies, ["from carol"], late.description, file: file, line: line)
    XCTAssertEqual(
      Set(late.identifiers), Set(call.identifiers.dropFirst()), "what was announced comes", file: file, line: line)
    XCTAssertTrue(late["quiescent"].flag, late.description, file: file, line: line)
    XCTAssertTrue(waiting.service.state["quiescent"].flag, file: file, line: line)
    waiting.station.alice.send("/_app activate").assert("cmdOk", file, line)
    XCTAssertEqual(
      waiting.station.alice.send("/_call get")["result"]["callInvitations"].count, 1, file: file, line: line)
  }

  func testACallDoesNotWaitBehindAPushThatHangs() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    let carol = try CallStation.mailboxes(of: waiting.station)["carol"]
    waiting.transport.hang(mailboxes: [carol])
    clock.stop()
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilAsked(for: carol)
    try assertCallOvertakes(waiting, clock, first) { waiting.transport.hang(mailboxes: []) }
    XCTAssertEqual(waiting.transport.count(.get), 4, "each mailbox is asked until it is empty, and once")
  }

  /// The message of the first push is committed, but its acknowledgement does not reach the relay.
  func testACallDoesNotWaitBehindAnAcknowledgementThatHangs() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    waiting.transport.hang(onlyAcknowledgement: 1)
    clock.stop()
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilAcknowledging()
    let call = try answerToCall(waiting, clock)
    XCTAssertEqual(Set(call.bodies), ["Incoming audio call", "from carol"], "what is committed is shown: \(call)")
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(onlyAcknowledgement: nil)
    XCTAssertEqual(try waiting.answer(first)["outcome"].text, "nothingNew")
    XCTAssertTrue(waiting.service.state["quiescent"].flag)
  }

  /// A command of the host has the connection and hangs; the first push waits to claim it.
  func testACallDoesNotWaitBehindAPushThatWaitsForAClaim() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    waiting.service.send("/_start main=off snd_files=off").assert("chatStarted")
    let contacts = waiting.service.send("/_contacts 1")["result"]["contacts"].elements
    let connection = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "carol" })["activeConn"][
      "agentConnId"]
    let carol = try CallStation.mailboxes(of: waiting.station)["carol"]
    waiting.transport.hang(mailboxes: [carol])
    clock.stop()
    let command = "/_ntf conn messages \(connection.text):1:2026-01-01T00:00:00.000Z"
    let taking = waiting.service.inBackground { $0.send(command).description }
    waiting.transport.waitUntilAsked(for: carol)
    let first = waiting.push(waiting.message)
    awaitThat("it waits for the claim") { waiting.service.state["machines"]["push"].text == "claiming" }
    let call = try answerToCall(waiting, clock)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(mailboxes: [])
    XCTAssertEqual(try waiting.answer(taking)["result"]["receivedMsgs"][0]["type"].text, "info")
    XCTAssertEqual(try waiting.answer(first).bodies, ["from carol"])
  }

  /// The store is closed to the process for both pushes: the call waits for it only until its own time is up. Once the
  /// store is open, the call does not wait for what the first push then waits for.
  func testACallWaitsForAClosedStoreForItsOwnTime() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    let file = waiting.station.alice.prefix + "_chat.db"
    let carol = try CallStation.mailboxes(of: waiting.station)["carol"]
    XCTAssertEqual(take(chat_close_store(waiting.service.handle)), "")
    var replacing: OpeningLock? = try OpeningLock(file: file, .exclusive, creates: false, timeout: .seconds(5))
    waiting.transport.hang(mailboxes: [carol])
    let first = waiting.push(waiting.message)
    let early = try waiting.answer(waiting.push(waiting.call, deadline: 500))
    XCTAssertEqual(early["outcome"].text, "expired", early.description)
    XCTAssertEqual(early.identifiers, ["np:notice"], "there is something to show: \(early)")
    XCTAssertNil(first.wait(atMost: .zero), "its own time is not up")
    XCTAssertNotNil(replacing)
    replacing = nil
    waiting.transport.waitUntilAsked(for: carol)
    clock.stop()
    let call = try answerToCall(waiting, clock)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    waiting.transport.hang(mailboxes: [])
    XCTAssertEqual(try waiting.answer(first).bodies, ["from carol"])
  }

  /// The engine waits to commit one push's message because another process is writing, and the other push has received
  /// its message as well. Both have what they need as soon as the writing ends.
  func testACallBehindACommitThatWaitsIsShown() throws {
    let waiting = try CallStation()
    waiting.transport.hang(gets: [1, 2])
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let second = waiting.push(waiting.call)
    waiting.transport.waitUntilInside(2)
    let statements = try Statements(of: waiting.service)
    let holder = try Database(path: waiting.station.alice.prefix + "_chat.db")
    try holder.execute("BEGIN IMMEDIATE")
    waiting.transport.hang(gets: [])
    awaitThat("it waits to commit") { statements.all.contains { $0.hasPrefix("BEGIN IMMEDIATE") } }
    waiting.transport.waitUntilOutside()
    for push in [first, second] { XCTAssertNil(push.wait(atMost: .zero), "it waits") }
    try holder.execute("COMMIT")
    try holder.close()
    let answers = try [waiting.answer(first), waiting.answer(second)]
    XCTAssertEqual(answers.flatMap(\.bodies).sorted(), ["Incoming audio call", "from carol"], "\(answers)")
  }

  /// Outgoing messages left by the app hang, for both contacts. They occupy one of the transport's two lanes, and the
  /// call the other.
  func testACallDoesNotWaitBehindWhatIsSent() throws {
    let waiting = try CallStation()
    try waiting.leaveSomethingToSend()
    waiting.transport.hang(.send)
    let first = waiting.push(waiting.message)
    awaitThat("it sends") { waiting.transport.count(.send) > 0 }
    let second = try waiting.answer(waiting.push(waiting.call))
    XCTAssertEqual(
      Set(try waiting.answer(first).bodies + second.bodies), ["from carol", "Incoming audio call"], second.description)
    XCTAssertEqual(waiting.transport.count(.send), 1)
    waiting.transport.hang(nil)
  }

  /// Both pushes name bob's mailbox. The request for it was lost, and the call's push asks again.
  func testACallsOwnMailboxIsAskedAgainAfterARequestThatHangs() throws {
    let waiting = try CallStation(friends: [])
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let call = try waiting.answer(waiting.push(waiting.call))
    XCTAssertEqual(Set(call.bodies), ["Incoming audio call", "from bob"], call.description)
    let other = try waiting.answer(first)
    XCTAssertTrue(other["trace"].elements.contains { $0["event"].text == "mailbox.taken" }, other.description)
    XCTAssertEqual(other["outcome"].text, "nothingNew", "the call's push has shown its message: \(other)")
    XCTAssertTrue(waiting.service.state["quiescent"].flag)
    waiting.transport.hang(onlyGet: nil)
    // The call has no text.
    waiting.station.wake(expecting: ["from bob", ""])
  }

  /// As many requests hang as there are pushes; the host accepts one more call.
  func testACallDoesNotWaitBehindManyPushesThatHang() throws {
    let clock = MovedClock()
    let names = ["carol", "dave", "erin"]
    let waiting = try CallStation(friends: names, clock: clock)
    let all = try CallStation.mailboxes(of: waiting.station)
    let mailboxes = names.map { all[$0] }
    waiting.transport.hang(mailboxes: mailboxes)
    clock.stop()
    var firsts: [Promise<String>] = []
    for (mailbox, message) in zip(mailboxes, waiting.messages) {
      firsts.append(waiting.push(message))
      waiting.transport.waitUntilAsked(for: mailbox)
    }
    let call = try answerToCall(waiting, clock)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    for first in firsts { XCTAssertNil(first.wait(atMost: .zero), "it still waits") }
    waiting.transport.hang(mailboxes: [])
    let bodies = try firsts.flatMap { try waiting.answer($0).bodies }
    XCTAssertEqual(bodies.sorted(), names.map { "from \($0)" })
    XCTAssertEqual(waiting.transport.count(.get), 8, "each mailbox is asked until it is empty, and once")
    XCTAssertTrue(waiting.service.state["quiescent"].flag)
  }

  /// A command of the host has bob's mailbox, and its request was lost.
  func testACallsOwnMailboxIsAskedAgainAfterACommandThatHangs() throws {
    let waiting = try CallStation()
    waiting.service.send("/_start main=off snd_files=off").assert("chatStarted")
    let contacts = waiting.service.send("/_contacts 1")["result"]["contacts"].elements
    let connection = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "bob" })["activeConn"]["agentConnId"]
    waiting.transport.hang(onlyGet: 1)
    let command = "/_ntf conn messages \(connection.text):1:2026-01-01T00:00:00.000Z"
    let taking = waiting.service.inBackground { $0.send(command).description }
    waiting.transport.waitUntilInside()
    let call = try waiting.answer(waiting.push(waiting.call))
    XCTAssertEqual(Set(call.bodies), ["Incoming audio call", "from carol"], call.description)
    let result = try waiting.answer(taking)["result"]["receivedMsgs"][0]
    XCTAssertEqual(result["ntfMsgError"]["brokerErr"]["type"].text, "TIMEOUT", result.description)
    // Late answers from the relay are dropped.
    waiting.transport.hang(onlyGet: nil)
    XCTAssertEqual(try waiting.station.present(waiting.call).bodies, [])
    waiting.station.wake(expecting: [""])
  }

  /// The app is active but silent, as if frozen. Both pushes find that out at the same time: the extension's clock
  /// stands still, except for the time one question may take.
  func testACallDoesNotWaitBehindAPushThatFindsOutWhoActs() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    let service = try XCTUnwrap(Handles.find(waiting.service.handle))
    let carol = try CallStation.mailboxes(of: waiting.station)["carol"]
    waiting.transport.hang(mailboxes: [carol])
    waiting.station.alice.send("/_app activate").assert("cmdOk")
    let app = try XCTUnwrap(Handles.find(waiting.station.alice.handle))
    let (isBlocked, continues) = (Promise<Bool>(), Promise<Bool>())
    app.turns.enqueue { _ in
      isBlocked.fulfil(true)
      _ = continues.wait(atMost: .seconds(120))
    }
    XCTAssertEqual(isBlocked.wait(atMost: .seconds(30)), true)
    defer { continues.fulfil(true) }
    func deciding() -> Int? { service.call { engine in engine.pushes.running.count { $0.state == .deciding } } }
    clock.stop()
    let first = waiting.push(waiting.message)
    let second = waiting.push(waiting.call)
    awaitThat("both find out who acts") { deciding() == 2 }
    clock.move(.milliseconds(600))
    awaitThat("both have found out") { deciding() == 0 }
    clock.start()
    let call = try waiting.answer(second)
    XCTAssertEqual(call["trace"][1]["event"].text, "app.inactive", call.description)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(mailboxes: [])
    XCTAssertEqual(try waiting.answer(first).bodies, ["from carol"])
  }

  /// The code of a verification push is on its way to the notification server, which hangs.
  func testACallDoesNotWaitBehindAVerificationPush() throws {
    let station = try Station(activates: false)
    let verification = try station.register(station.token, of: station.alice)
    let data = JSON(verification)["notificationData"]
    station.alice.send("/_ntf verify apns_test \(station.token) \(data["nonce"].text) \(data["verification"].text)")
      .assert("cmdOk")
    _ = try CallStation.make([], station)
    station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    let push = try XCTUnwrap(station.allPushes().last)
    // The server's answer to the code was lost.
    let database = try Database(path: station.alice.prefix + "_chat.db")
    try database.execute("UPDATE token SET status = 'registered'")
    try database.close()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(.send)
    let first = service.inBackground { $0.push(verification, deadline: 30_000).description }
    awaitThat("the code is being sent") { service.state["machines"]["push"].text == "verifying" }
    transport.waitUntilInside()
    let call = service.push(push, deadline: 30_000)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    transport.hang(nil)
    awaitThat("it is answered") {
      // The host's transport reports that something has arrived, whenever it may have.
      np_relay_ready(service.handle)
      return first.wait(atMost: .milliseconds(10)) != nil
    }
    XCTAssertTrue(service.state["quiescent"].flag)
  }

  /// The earlier push has received and acknowledged bob's message; the answer to the acknowledgement is lost.
  func testACallsOwnMailboxIsAskedAgainAfterAnAcknowledgementThatHangs() throws {
    let waiting = try CallStation(friends: [])
    waiting.transport.hang(onlyAcknowledgement: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilAcknowledging()
    let call = try waiting.answer(waiting.push(waiting.call))
    XCTAssertTrue(call.bodies.contains("Incoming audio call"), call.description)
    let other = try waiting.answer(first)
    XCTAssertTrue(other["trace"].elements.contains { $0["event"].text == "mailbox.taken" }, other.description)
    XCTAssertEqual((call.bodies + other.bodies).sorted(), ["Incoming audio call", "from bob"])
    waiting.transport.hang(onlyAcknowledgement: nil)
  }

  /// A network slower than the watch's patience: a request is abandoned once, not forever.
  func testASlowNetworkIsNotAskedForEver() throws {
    let waiting = try CallStation(friends: [])
    waiting.transport.delay(.get, by: 2_600_000)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let call = try waiting.answer(waiting.push(waiting.call))
    let other = try waiting.answer(first)
    XCTAssertEqual((call.bodies + other.bodies).sorted(), ["Incoming audio call", "from bob"], "\(call)\n\(other)")
  }

  /// Messages the app left to be sent are sent by the last push, and delay no earlier one.
  func testAPushBesideAnotherSendsNothing() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    try waiting.leaveSomethingToSend()
    let carol = try CallStation.mailboxes(of: waiting.station)["carol"]
    waiting.transport.hang(mailboxes: [carol])
    clock.stop()
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilAsked(for: carol)
    waiting.transport.hang(.send)
    let call = try answerToCall(waiting, clock)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertEqual(waiting.transport.count(.send), 0, "the other one is not at its end")
    waiting.transport.hang(nil)
    waiting.transport.hang(mailboxes: [])
    XCTAssertEqual(try waiting.answer(first).bodies, ["from carol"])
    XCTAssertGreaterThan(waiting.transport.count(.send), 0)
  }
}
