import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// A call's push in an app that is not on screen, which checks all mailboxes side by side: the call comes first there,
/// too (INC-43).
final class CallInAppTests: XCTestCase {
  private struct Launched {
    let station: Station
    let message: String
    let call: String
    let transport: HostTransport
    let app: Host
    let mailboxes: [String: [UInt8]]

    func push(_ payload: String) -> Promise<String> {
      app.inBackground { $0.push(payload, deadline: 30_000).description }
    }

    func answer(_ promise: Promise<String>) throws -> JSON {
      JSON(try XCTUnwrap(promise.wait(atMost: .seconds(40)), "no answer"))
    }

    func begin() { app.send("/_start main=off snd_files=off").assert("chatStarted") }

    /// Asks for a message of bob's, in the background.
    func takeOneOfBobs() throws -> Promise<String> {
      let contacts = app.send("/_contacts 1")["result"]["contacts"].elements
      let bob = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "bob" })
      let command = "/_ntf conn messages \(bob["activeConn"]["agentConnId"].text):1:2026-01-01T00:00:00.000Z"
      return app.inBackground { $0.send(command).description }
    }

    func controller() throws -> Controller { try XCTUnwrap(Handles.find(app.handle)) }

    /// The number of the connection that has this mailbox.
    func connection(_ name: String) throws -> Int64 {
      let database = try Database(path: station.alice.prefix + "_chat.db")
      defer { try? database.close() }
      var found: Int64?
      try database.query("SELECT local_name, connection_id FROM connections JOIN contacts USING (contact_id)") {
        if $0.text(0) == name { found = $0.integer(1) }
      }
      return try XCTUnwrap(found)
    }

    /// Waits until a call would hurry this many pushes and rounds. Requests for their mailboxes would be a weaker sign:
    /// the app makes those by itself as well.
    func awaitLooking(_ count: Int, file: StaticString = #filePath, line: UInt = #line) throws {
      let controller = try controller()
      awaitThat("\(count) look into the mailboxes", file: file, line: line) {
        controller.call { $0.pushes.running.count { $0.driver?.answer(to: .callCame) == .stayed } } == count
      }
    }

    /// Waits until a call has hurried a push or a round, whose patience counts from then on. The call was reported
    /// earlier.
    func awaitHurry(file: StaticString = #filePath, line: UInt = #line) throws {
      let controller = try controller()
      awaitThat("a push is hurried", file: file, line: line) {
        controller.call { engine in
          engine.pushes.running.contains { engine.context.timers.isSet(PushRunner.callTimer($0)) }
        } == true
      }
    }

    func refresh() -> Promise<String> { app.inBackground { take(np_background_refresh($0.handle, 30_000)) } }
  }

  /// Carol has written, then bob has called; or the other way around. Without friends bob has done both.
  private func launch(
    friends: [String] = ["carol"], isCarols: Bool = false, clock: any Clock = SystemClock()
  ) throws -> Launched {
    let waiting = try CallStation(friends: friends, isFriends: isCarols)
    let prefix = waiting.station.alice.prefix
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    waiting.service.free()
    waiting.station.alice.free()
    let configuration = Configuration(prefix: prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = Host(try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), prefix)
    let transport = HostTransport(relay: waiting.station.pair.folder.file("relay.db"))
    transport.install(in: app)
    return Launched(
      station: waiting.station, message: waiting.message, call: waiting.call, transport: transport, app: app,
      mailboxes: mailboxes)
  }

  /// The push waits a second for the rest of what it checks, and not for as long as a message may take.
  func testACallIsShownThoughAnotherMailboxHangs() throws {
    let launched = try launch()
    launched.transport.hang(mailboxes: [launched.mailboxes["carol"]])
    let call = try launched.answer(launched.push(launched.call))
    XCTAssertEqual(call["outcome"].text, "presented", call.description)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertTrue(call["trace"].elements.contains { $0["event"].text == "call.waits" }, call.description)
    XCTAssertTrue(call["quiescent"].flag, call.description)
    XCTAssertEqual(call["nextRefreshMs"].number, 600_000, "not everything was looked into")
    launched.transport.hang(mailboxes: [])
    XCTAssertEqual(try launched.answer(launched.push(launched.message)).bodies, ["from carol"], "nothing is lost")
  }

  func testACallDoesNotWaitBehindAPushThatHangs() throws {
    let launched = try launch()
    // The app does not receive the call by itself before the call's push arrives.
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"], launched.mailboxes["carol"]])
    let first = launched.push(launched.message)
    launched.transport.waitUntilAsked(for: launched.mailboxes["carol"])
    try assertCallOvertakes(launched, first, hanging: "carol")
  }

  /// The call is shown while the other push or round waits; that one keeps its own time and gets its own answer.
  private func assertCallOvertakes(
    _ launched: Launched, _ other: Promise<String>, hanging: String, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let pushed = launched.push(launched.call)
    awaitThat("both are in progress", file: file, line: line) { launched.app.state["pushesWaiting"].number == 1 }
    launched.transport.hang(mailboxes: [launched.mailboxes[hanging]])
    let call = try launched.answer(pushed)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description, file: file, line: line)
    XCTAssertTrue(
      call["trace"].elements.contains { $0["event"].text == "call.waits" }, call.description, file: file, line: line)
    XCTAssertNil(other.wait(atMost: .zero), "it still waits", file: file, line: line)
    launched.transport.hang(mailboxes: [])
    let late = try launched.answer(other)
    XCTAssertEqual(late.bodies, ["from \(hanging)"], late.description, file: file, line: line)
    XCTAssertTrue(launched.app.state["quiescent"].flag, file: file, line: line)
  }

  /// A round asks one mailbox after the other, and the first one hangs. The call's own mailbox is not left in the
  /// queue.
  func testACallDoesNotWaitBehindARound() throws {
    let launched = try launch(isCarols: true)
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let round = launched.refresh()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    try assertCallOvertakes(launched, round, hanging: "bob")
  }

  /// A round and a push for a message are in progress, and neither is about the call: the round shows it, and the push
  /// keeps its time.
  func testACallHurriesARoundRatherThanAMessagesPush() throws {
    let clock = MovedClock()
    let launched = try launch(clock: clock)
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"], launched.mailboxes["carol"]])
    let message = launched.push(launched.message)
    launched.transport.waitUntilAsked(for: launched.mailboxes["carol"])
    try launched.awaitLooking(1)
    let round = launched.refresh()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    try launched.awaitLooking(2)
    clock.stop()
    launched.transport.hang(mailboxes: [launched.mailboxes["carol"]])
    launched.app.event("newChatItems", within: 30)
    try launched.awaitHurry()
    clock.move(Durations.callPatience)
    awaitThat("the round has its answer") {
      _ = launched.app.state
      return round.wait(atMost: .milliseconds(10)) != nil
    }
    XCTAssertEqual(try launched.answer(round).bodies, ["Incoming audio call"])
    XCTAssertNil(message.wait(atMost: .zero), "it still waits")
    launched.transport.hang(mailboxes: [])
    clock.start()
    XCTAssertEqual(try launched.answer(message).bodies, ["from carol"])
  }

  /// The round's own request for the call's mailbox was lost: it is asked again.
  func testACallsOwnMailboxIsAskedAgainAfterARoundThatHangs() throws {
    let launched = try launch()
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let round = launched.refresh()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = launched.push(launched.call)
    awaitThat("both are in progress") { launched.app.state["pushesWaiting"].number == 1 }
    // From here on only the request in progress hangs.
    launched.transport.hang(gets: Set(1...launched.transport.count(.get)))
    launched.transport.hang(mailboxes: [])
    let answers = try [launched.answer(call), launched.answer(round)]
    XCTAssertEqual(
      answers.flatMap(\.bodies).sorted(), ["Incoming audio call", "from carol"], answers.map(\.description).joined())
    XCTAssertEqual(answers.flatMap(\.placeholders), [], "it has not waited for as long as a request may take")
    launched.transport.hang(gets: [])
  }

  /// Both pushes name bob's mailbox. The first one's request is abandoned, and that push shares the answer to the next
  /// one.
  func testBothPushesHaveTheAnswerToARequestThatWasMadeAgain() throws {
    let launched = try launch(friends: [])
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let first = launched.push(launched.message)
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = launched.push(launched.call)
    awaitThat("both are in progress") { launched.app.state["pushesWaiting"].number == 1 }
    // From here on only the request in progress hangs.
    launched.transport.hang(gets: Set(1...launched.transport.count(.get)))
    launched.transport.hang(mailboxes: [])
    let answers = try [launched.answer(first), launched.answer(call)]
    XCTAssertEqual(answers.flatMap(\.bodies).sorted(), ["Incoming audio call", "from bob"], "\(answers)")
    XCTAssertEqual(answers.flatMap(\.placeholders), [], "\(answers)")
    XCTAssertFalse(answers.contains { $0["outcome"].text == "offline" }, "\(answers)")
    launched.transport.hang(gets: [])
  }

  /// A command of the host has bob's mailbox, and its request was lost.
  func testACallsOwnMailboxIsAskedAgainAfterACommandThatHangs() throws {
    let launched = try launch()
    launched.begin()
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let taking = try launched.takeOneOfBobs()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = launched.push(launched.call)
    awaitThat("it waits for the mailbox") { launched.app.state["machines"]["push"].text == "claiming" }
    launched.transport.hang(gets: Set(1...launched.transport.count(.get)))
    launched.transport.hang(mailboxes: [])
    let answer = try launched.answer(call)
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.came" }, answer.description)
    XCTAssertEqual(answer.placeholders, [], answer.description)
    launched.app.event("callInvitation")
    let result = try launched.answer(taking)["result"]["receivedMsgs"][0]
    XCTAssertEqual(result["ntfMsgError"]["brokerErr"]["type"].text, "TIMEOUT", result.description)
    launched.transport.hang(gets: [])
  }

  /// A command of the host receives the call while the call's push also waits in carol's mailbox. The clock stands
  /// still, so no other wait ends.
  func testACallThatACommandTakesInHurriesThePush() throws {
    let clock = MovedClock()
    let launched = try launch(clock: clock)
    launched.begin()
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"], launched.mailboxes["carol"]])
    let taking = try launched.takeOneOfBobs()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    clock.stop()
    let call = launched.push(launched.call)
    launched.transport.waitUntilAsked(for: launched.mailboxes["carol"])
    launched.transport.hang(mailboxes: [launched.mailboxes["carol"]])
    let taken = try launched.answer(taking)["result"]["receivedMsgs"][0]
    XCTAssertTrue(taken["ntfMsgInfo"]["msgId"].exists, taken.description)
    try launched.awaitHurry()
    clock.move(Durations.callPatience)
    awaitThat("the push has its answer") {
      // Any call makes the engine check its timers.
      _ = launched.app.state
      return call.wait(atMost: .milliseconds(10)) != nil
    }
    let answer = try launched.answer(call)
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.waits" }, answer.description)
    launched.app.event("callInvitation")
    clock.start()
    launched.transport.hang(mailboxes: [])
  }

  /// A command of the host has bob's mailbox, and its request was lost. The app's own fetch comes next, and its request
  /// is lost too. The clock stands still, so no other wait ends.
  func testACallsOwnMailboxIsAskedAgainAfterEachRequestThatHangs() throws {
    let clock = MovedClock()
    let launched = try launch(clock: clock)
    launched.begin()
    let (controller, bob) = (try launched.controller(), try launched.connection("bob"))
    /// The work that asks for bob's messages.
    func rank() -> Int? {
      let rank = controller.call { engine -> Int? in
        guard let holder = engine.claims.holder(of: bob), holder.asked() != nil else { return nil }
        return holder.rank
      }
      return rank ?? nil
    }
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let taking = try launched.takeOneOfBobs()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    clock.stop()
    _ = controller.call { $0.receiver.fetch(bob) { _ in } }
    awaitThat("the fetch waits for the claim") { controller.call { $0.context.deferred.isEmpty } == true }
    let call = launched.push(launched.call)
    awaitThat("the push waits for the mailbox") { launched.app.state["machines"]["push"].text == "claiming" }
    clock.move(Durations.mailboxPatience)
    awaitThat("the command has its result") {
      _ = launched.app.state
      return taking.wait(atMost: .milliseconds(10)) != nil
    }
    awaitThat("the app's own fetch asks") { rank() == 0 }
    clock.move(Durations.mailboxPatience + Durations.mailboxPatience)
    awaitThat("the push asks") { (rank() ?? 0) > 0 }
    launched.transport.hang(mailboxes: [])
    clock.start()
    let answer = try launched.answer(call)
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.came" }, answer.description)
    XCTAssertEqual(answer.placeholders, [], answer.description)
    launched.app.event("callInvitation")
  }

  /// Mailboxes named by a push in progress do not wait behind work the app has deferred: neither its own requests nor
  /// work deferred earlier for the same mailboxes.
  func testTheMailboxesOfAPushComeBeforeWhatIsDeferred() throws {
    let launched = try launch()
    launched.begin()
    let (bob, carol) = (try launched.connection("bob"), try launched.connection("carol"))
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"], launched.mailboxes["carol"]])
    let (claimed, push) = (Promise<[Bool]>(), PendingPush(identifier: nil, payload: launched.call))
    _ = try launched.controller().call { [call = launched.call] engine in
      engine.later { claimed.fulfil([bob, carol].map { engine.claims.holder(of: $0) != nil }) }
      engine.receiver.fetch(bob) { _ in }
      engine.pushes.arrive(call, push, started: engine.context.clock.now(), deadline: .seconds(30))
      XCTAssertEqual(engine.pushes.running.map(\.state), [.claiming])
    }
    XCTAssertEqual(claimed.wait(atMost: .seconds(30)), [true, true])
    launched.transport.hang(mailboxes: [])
    let answer = JSON(try XCTUnwrap(push.answer.wait(atMost: .seconds(40))))
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.came" }, answer.description)
  }

  /// Of two concurrent rounds, the one that began later and checked everything plans the next, even if the other, which
  /// hangs in a mailbox where nothing waits by now, ends after it. If the later one hangs, the next round is soon.
  func testOfTwoRoundsTheLaterOnePlansTheNext() throws {
    for isLaterWhole in [true, false] {
      let (station, friends) = try CallStation.make()
      // The first push names bob, the second one carol as well.
      let bobs = try station.push(for: "from bob")
      friends[0].send("/_send @1 text from carol").assert("newChatItems")
      let carols = try XCTUnwrap(station.allPushes().last)
      let mailboxes = try CallStation.mailboxes(of: station)
      let relay = try Database(path: station.pair.folder.file("relay.db"))
      try relay.execute("UPDATE message SET body = NULL WHERE body IS NOT NULL")
      try relay.close()
      station.alice.free()
      let app = try XCTUnwrap(Host.open(station.alice.prefix).host)
      let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      transport.install(in: app)
      func begin(_ name: String, _ payload: String) -> Promise<String> {
        app.inBackground { take(np_receive_push_id($0.handle, name, payload, 30_000)) }
      }
      transport.hang(mailboxes: [mailboxes["carol"], isLaterWhole ? nil : mailboxes["bob"]])
      let first = begin("first", isLaterWhole ? carols : bobs)
      transport.waitUntilAsked(for: mailboxes[isLaterWhole ? "carol" : "bob"])
      let second = begin("second", isLaterWhole ? bobs : carols)
      if !isLaterWhole {
        awaitThat("both are in progress") { app.state["pushesWaiting"].number == 1 }
        transport.hang(mailboxes: [mailboxes["carol"]])
      }
      let (whole, hanging) = isLaterWhole ? (second, first) : (first, second)
      let early = JSON(try XCTUnwrap(whole.wait(atMost: .seconds(40))))
      XCTAssertEqual(early["outcome"].text, "nothingNew", early.description)
      transport.fail(.get)
      transport.hang(mailboxes: [])
      let late = JSON(try XCTUnwrap(hanging.wait(atMost: .seconds(40))))
      XCTAssertEqual(late["outcome"].text, "offline", late.description)
      XCTAssertEqual(late["nextRefreshMs"].number, isLaterWhole ? 2_400_000 : 600_000, late.description)
    }
  }
}
