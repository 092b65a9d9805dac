import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A call's push in an app that is not on screen, which looks into all mailboxes side by side: the call comes first there, too
/// (INC-43).
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

    func refresh() -> Promise<String> { app.inBackground { take(np_background_refresh($0.handle, 30_000)) } }
  }

  /// Carol has written, then bob has called; or the other way around. Without friends bob has done both.
  private func launch(
    friends: [String] = ["carol"], isCarols: Bool = false
  ) throws -> Launched {
    let waiting = try CallStation(friends: friends, isFriends: isCarols)
    let prefix = waiting.station.alice.prefix
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    waiting.service.free()
    waiting.station.alice.free()
    let app = try XCTUnwrap(Host.open(prefix).host)
    let transport = HostTransport(relay: waiting.station.pair.folder.file("relay.db"))
    transport.install(in: app)
    return Launched(
      station: waiting.station, message: waiting.message, call: waiting.call, transport: transport, app: app,
      mailboxes: mailboxes)
  }

  /// The push waits a second for what else it looks into, and not for as long as a message may take.
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
    launched.transport.hang(mailboxes: [launched.mailboxes["carol"]])
    let first = launched.push(launched.message)
    launched.transport.waitUntilAsked(for: launched.mailboxes["carol"])
    let call = try launched.answer(launched.push(launched.call))
    let other = try launched.answer(first)
    XCTAssertEqual(call.bodies + other.bodies, ["Incoming audio call"], "\(call)\n\(other)")
    for answer in [call, other] {
      XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.waits" }, answer.description)
    }
    XCTAssertTrue(launched.app.state["quiescent"].flag)
    launched.transport.hang(mailboxes: [])
    XCTAssertEqual(try launched.answer(launched.push(launched.message)).bodies, ["from carol"], "nothing is lost")
  }

  /// A round asks one mailbox after the other, and the first one hangs. The call's own is not left in the queue.
  func testACallDoesNotWaitBehindARound() throws {
    let launched = try launch(isCarols: true)
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let round = launched.refresh()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = try launched.answer(launched.push(launched.call))
    let other = try launched.answer(round)
    XCTAssertEqual(call.bodies + other.bodies, ["Incoming audio call"], "\(call)\n\(other)")
    for answer in [call, other] {
      XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.waits" }, answer.description)
    }
    launched.transport.hang(mailboxes: [])
    XCTAssertEqual(try launched.answer(launched.push(launched.message)).bodies, ["from bob"], "nothing is lost")
  }

  /// The round's own request for the call's mailbox was lost: it is asked again.
  func testACallsOwnMailboxIsAskedAgainAfterARoundThatHangs() throws {
    let launched = try launch()
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let round = launched.refresh()
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = launched.push(launched.call)
    awaitThat("both are in progress") { launched.app.state["pushesWaiting"].number == 1 }
    // Only the request that is inside hangs from here on.
    launched.transport.hang(gets: Set(1...launched.transport.count(.get)))
    launched.transport.hang(mailboxes: [])
    let answers = try [launched.answer(call), launched.answer(round)]
    XCTAssertEqual(
      answers.flatMap(\.bodies).sorted(), ["Incoming audio call", "from carol"], answers.map(\.description).joined())
    XCTAssertEqual(answers.flatMap(\.placeholders), [], "it has not waited for as long as a request may take")
    launched.transport.hang(gets: [])
  }

  /// Both pushes name bob's mailbox. The request of the first one is given up, and that push has the answer to the next one, too.
  func testBothPushesHaveTheAnswerToARequestThatWasMadeAgain() throws {
    let launched = try launch(friends: [])
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let first = launched.push(launched.message)
    launched.transport.waitUntilAsked(for: launched.mailboxes["bob"])
    let call = launched.push(launched.call)
    awaitThat("both are in progress") { launched.app.state["pushesWaiting"].number == 1 }
    // Only the request that is inside hangs from here on.
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
    launched.app.send("/_start main=off snd_files=off").assert("chatStarted")
    let contacts = launched.app.send("/_contacts 1")["result"]["contacts"].elements
    let connection = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "bob" })["activeConn"]["agentConnId"]
    launched.transport.hang(mailboxes: [launched.mailboxes["bob"]])
    let command = "/_ntf conn messages \(connection.text):1:2026-01-01T00:00:00.000Z"
    let taking = launched.app.inBackground { $0.send(command).description }
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

  /// Of two rounds at the same time, one that began later and looked into everything plans the next, though the other one, which
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
