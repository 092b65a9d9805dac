import Foundation
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// A call committed alongside the pushes, by a command or by a process that has ended: a push shows it within a second,
/// whatever it waits for (INC-43). The extension's clock stands still, so no other wait ends.
final class CallBesideCommandsTests: XCTestCase {
  private let clock = MovedClock()

  /// A command that receives bob's call.
  private func takeBobsCall(_ waiting: CallStation) throws -> Promise<String> {
    waiting.service.send("/_start main=off snd_files=off").assert("chatStarted")
    let contacts = waiting.service.send("/_contacts 1")["result"]["contacts"].elements
    let connection = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "bob" })["activeConn"]["agentConnId"]
    let command = "/_ntf conn messages \(connection.text):1:2026-01-01T00:00:00.000Z"
    return waiting.service.inBackground { $0.send(command).description }
  }

  /// The push is answered a second after the call. The answer contains the call and names what hurried the push.
  private func assertIsHurried(
    _ push: Promise<String>, in waiting: CallStation, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    awaitThat("the call has come", file: file, line: line) {
      waiting.service.state["machines"]["push"].exists && !waiting.service.state["busy"].exists
    }
    XCTAssertNil(push.wait(atMost: .zero), "it waits", file: file, line: line)
    clock.move(Durations.callPatience)
    awaitThat("it has its answer", file: file, line: line) {
      // Any call makes the engine check its timers.
      _ = waiting.service.state
      return push.wait(atMost: .milliseconds(10)) != nil
    }
    let answer = try waiting.answer(push)
    XCTAssertTrue(answer.bodies.contains("Incoming audio call"), answer.description, file: file, line: line)
    let events = answer["trace"].elements.map(\.["event"].text)
    XCTAssertTrue(events.contains("call.came") && events.contains("call.waits"), "\(events)", file: file, line: line)
  }

  /// The push is about another contact only, and no push is about the call, which waits at the relay.
  func testACallHurriesAPushThatWaitsForTheRelay() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    waiting.transport.hang(mailboxes: [mailboxes["bob"], mailboxes["carol"]])
    let taking = try takeBobsCall(waiting)
    waiting.transport.waitUntilAsked(for: mailboxes["bob"])
    clock.stop()
    let push = waiting.push(waiting.message)
    waiting.transport.waitUntilAsked(for: mailboxes["carol"])
    waiting.transport.hang(mailboxes: [mailboxes["carol"]])
    let taken = try waiting.answer(taking)["result"]["receivedMsgs"][0]
    XCTAssertTrue(taken["ntfMsgInfo"]["msgId"].exists, taken.description)
    try assertIsHurried(push, in: waiting)
    waiting.transport.hang(mailboxes: [])
  }

  /// The push has committed a message, and the answer to its acknowledgement is lost.
  func testACallHurriesAPushThatAcknowledges() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    waiting.transport.hang(mailboxes: [mailboxes["bob"]])
    let taking = try takeBobsCall(waiting)
    waiting.transport.waitUntilAsked(for: mailboxes["bob"])
    clock.stop()
    waiting.transport.hang(onlyAcknowledgement: 1)
    let push = waiting.push(waiting.message)
    waiting.transport.waitUntilAcknowledging()
    waiting.transport.hang(mailboxes: [])
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    try assertIsHurried(push, in: waiting)
    waiting.transport.hang(onlyAcknowledgement: nil)
  }

  /// A push about the call is in progress and shows it. Another one, about a message only, keeps its time.
  func testACallHurriesThePushThatIsAboutIt() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    waiting.transport.hang(mailboxes: [mailboxes["bob"], mailboxes["carol"]])
    let taking = try takeBobsCall(waiting)
    waiting.transport.waitUntilAsked(for: mailboxes["bob"])
    clock.stop()
    let message = waiting.push(waiting.message)
    waiting.transport.waitUntilAsked(for: mailboxes["carol"])
    let call = waiting.push(waiting.call)
    waiting.awaitPushes(2)
    waiting.transport.hang(mailboxes: [mailboxes["carol"]])
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    try assertIsHurried(call, in: waiting)
    XCTAssertNil(message.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(mailboxes: [])
    clock.start()
    XCTAssertEqual(try waiting.answer(message).bodies, ["from carol"])
  }

  /// The call was committed before its push arrived, by a process that showed nothing and has ended.
  func testACallThatIsRecordedAlreadyHurriesItsPush() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    let taking = try takeBobsCall(waiting)
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    waiting.service.free()
    let next = try CallStation(waiting, service: try waiting.station.makeExtension(clock: clock))
    next.transport.hang(mailboxes: [mailboxes["carol"]])
    clock.stop()
    let push = next.push(next.call)
    next.transport.waitUntilAsked(for: mailboxes["carol"])
    try assertIsHurried(push, in: next)
    next.transport.hang(mailboxes: [])
  }

  /// Likewise for a call that has ended since: the message that the push is also about has its time.
  func testACallThatIsOverHurriesNoPush() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    let taking = try takeBobsCall(waiting)
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    waiting.service.free()
    let next = try CallStation(waiting, service: try waiting.station.makeExtension(clock: clock))
    next.transport.hang(mailboxes: [mailboxes["carol"]])
    clock.move(Durations.callInvitation)
    clock.stop()
    let push = next.push(next.call)
    next.transport.waitUntilAsked(for: mailboxes["carol"])
    clock.move(Durations.callPatience)
    for _ in 0..<3 { _ = next.service.state }
    XCTAssertNil(push.wait(atMost: .zero), "it waits for the message")
    next.transport.hang(mailboxes: [])
    clock.start()
    let answer = try next.answer(push)
    XCTAssertTrue(answer.bodies.contains("from carol"), answer.description)
    XCTAssertFalse(answer["trace"].elements.contains { $0["event"].text == "call.came" }, answer.description)
  }

  /// A round does not say what is waiting: it looks for calls that were recorded but not shown.
  func testACallThatIsRecordedAlreadyHurriesARound() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    let taking = try takeBobsCall(waiting)
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    waiting.service.free()
    let next = try CallStation(waiting, service: try waiting.station.makeExtension(clock: clock))
    next.transport.hang(mailboxes: [mailboxes["carol"]])
    clock.stop()
    let push = next.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    next.transport.waitUntilAsked(for: mailboxes["carol"])
    try assertIsHurried(push, in: next)
    next.transport.hang(mailboxes: [])
  }

  /// Likewise alongside a newer call, from a contact whose record is damaged.
  func testADamagedCallKeepsNoOtherFromHurryingARound() throws {
    let waiting = try CallStation(clock: clock)
    let mailboxes = try CallStation.mailboxes(of: waiting.station)
    let taking = try takeBobsCall(waiting)
    XCTAssertTrue(try waiting.answer(taking)["result"]["receivedMsgs"][0]["ntfMsgInfo"]["msgId"].exists)
    waiting.service.free()
    let database = try Database(path: waiting.station.alice.prefix + "_chat.db")
    let carol = "(SELECT contact_id FROM contacts WHERE local_name = 'carol')"
    for sql in [
      """
      INSERT INTO calls (contact_id, state, incoming, shared_id, uuid, type, item_id, called_at, boot, deadline)
      SELECT \(carol), state, incoming, x'01', uuid, type, 1000, called_at, boot, deadline FROM calls
      """,
      """
      INSERT INTO ledger (waiting_from, connection_id, message_id, message_at, state, kind, contact_id, item_id, created_at)
      SELECT coalesce(waiting_from, entry_id), (SELECT connection_id FROM connections WHERE contact_id = \(carol)), x'01',
        message_at, state, kind, \(carol), 1000, created_at FROM ledger WHERE kind = 'call'
      """, "PRAGMA ignore_check_constraints = 1",
      "UPDATE contacts SET notifications = 'x' WHERE local_name = 'carol'",
    ] { try database.execute(sql) }
    try database.close()
    let next = try CallStation(waiting, service: try waiting.station.makeExtension(clock: clock))
    next.transport.hang(mailboxes: [mailboxes["carol"]])
    clock.stop()
    let push = next.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    next.transport.waitUntilAsked(for: mailboxes["carol"])
    try assertIsHurried(push, in: next)
    next.transport.hang(mailboxes: [])
  }
}
