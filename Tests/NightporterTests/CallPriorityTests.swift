import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A call's push is handled before anything else (INC-43): its own mailbox first, and whatever another push waits for, it does not.
final class CallPriorityTests: XCTestCase {
  private let audio = #"{"media":"audio","capabilities":{"encryption":false}}"#
  private let patient: Int32 = 30_000

  // MARK: Its own push

  /// What the push was sent for does not wait for what it repeats.
  func testTheMailboxThatAPushIsAboutIsLookedIntoFirst() throws {
    let (station, carol) = try stationWithCarol()
    let push = try pushes(station, carol, call: false)
    let answer = try station.present(push)
    XCTAssertEqual(Set(answer.bodies), ["from carol", "from bob"], answer.description)
    let database = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? database.close() }
    var contacts: [Int64] = []
    try database.query("SELECT contact_id FROM ledger WHERE kind = 'message' ORDER BY entry_id") {
      contacts.append($0.integer(0))
    }
    XCTAssertEqual(contacts, [1, 2], "bob's mailbox, which the push was sent for, before carol's")
  }

  /// A relay that hangs on another mailbox does not keep a call waiting for the push's whole time.
  func testACallIsShownThoughAnotherMailboxHangs() throws {
    let (station, carol) = try stationWithCarol()
    let push = try pushes(station, carol, call: true)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    // Bob's invitation, the end of his mailbox, and then carol's.
    transport.hang(fromGet: 3)
    let service = try station.makeExtension()
    transport.install(in: service)
    let result = service.inBackground { $0.push(push, deadline: 30_000).description }
    let answer = JSON(try XCTUnwrap(result.wait(atMost: .seconds(90))))
    transport.hang(fromGet: .max)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.bodies, ["Incoming audio call"])
    XCTAssertEqual(answer["work"].text, "partial")
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.waits" }, answer.description)
    XCTAssertTrue(answer["quiescent"].flag)
    XCTAssertEqual(try station.present(push).bodies, ["from carol"], "nothing is lost")
  }

  // MARK: Behind another push

  /// An extension with two pushes to come: one for a message, and one for bob's call.
  private struct Waiting {
    let station: Station
    let carol: Host
    let message: String
    let call: String
    let transport: HostTransport
    let service: Host

    func push(_ payload: String, deadline: Int32 = 30_000) -> Promise<String> {
      service.inBackground { $0.push(payload, deadline: deadline).description }
    }
  }

  private func waiting(messageFromBob: Bool = false) throws -> Waiting {
    let (station, carol) = try stationWithCarol()
    if messageFromBob {
      station.pair.send("from bob", from: station.bob)
    } else {
      carol.send("/_send @1 text from carol").assert("newChatItems")
    }
    let message = try XCTUnwrap(station.allPushes().last)
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(station.bob)
    let call = try XCTUnwrap(station.allPushes().last)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    let service = try station.makeExtension()
    transport.install(in: service)
    return Waiting(
      station: station, carol: carol, message: message, call: call, transport: transport, service: service)
  }

  private func answer(_ promise: Promise<String>, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    JSON(try XCTUnwrap(promise.wait(atMost: .seconds(40)), "no answer", file: file, line: line))
  }

  /// The call is shown while the first push still waits, which has its own answer afterwards.
  private func assertCallOvertakes(
    _ waiting: Waiting, _ first: Promise<String>, release: () throws -> Void, file: StaticString = #filePath,
    line: UInt = #line
  ) throws {
    let call = try answer(waiting.push(waiting.call), file: file, line: line)
    XCTAssertEqual(call["outcome"].text, "presented", call.description, file: file, line: line)
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description, file: file, line: line)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits", file: file, line: line)
    XCTAssertFalse(call["quiescent"].flag, call.description, file: file, line: line)
    try release()
    let late = try answer(first, file: file, line: line)
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
    let waiting = try waiting()
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    try assertCallOvertakes(waiting, first) { waiting.transport.hang(onlyGet: nil) }
    XCTAssertEqual(waiting.transport.count(.get), 4, "each mailbox is asked until it is empty, and once")
  }

  /// The message of the first push is committed; the relay does not hear of it.
  func testACallDoesNotWaitBehindAnAcknowledgementThatHangs() throws {
    let waiting = try waiting()
    waiting.transport.hang(onlyAcknowledgement: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilAcknowledging()
    let call = try answer(waiting.push(waiting.call))
    XCTAssertEqual(Set(call.bodies), ["Incoming audio call", "from carol"], "what is committed is shown: \(call)")
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(onlyAcknowledgement: nil)
    XCTAssertEqual(try answer(first)["outcome"].text, "nothingNew")
    XCTAssertTrue(waiting.service.state["quiescent"].flag)
  }

  /// A command of the host has the connection, and hangs; the first push waits to claim it.
  func testACallDoesNotWaitBehindAPushThatWaitsForAClaim() throws {
    let waiting = try waiting()
    waiting.service.send("/_start main=off snd_files=off").assert("chatStarted")
    let contacts = waiting.service.send("/_contacts 1")["result"]["contacts"].elements
    let connection = try XCTUnwrap(contacts.first { $0["localDisplayName"].text == "carol" })["activeConn"][
      "agentConnId"]
    waiting.transport.hang(onlyGet: 1)
    let command = "/_ntf conn messages \(connection.text):1:2026-01-01T00:00:00.000Z"
    let taking = waiting.service.inBackground { $0.send(command).description }
    waiting.transport.waitUntilInside()
    let first = waiting.push(waiting.message)
    awaitThat("it waits for the claim") { waiting.service.state["machines"]["push"].text == "claiming" }
    let call = try answer(waiting.push(waiting.call))
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    XCTAssertNil(first.wait(atMost: .zero), "it still waits")
    waiting.transport.hang(onlyGet: nil)
    XCTAssertEqual(try answer(taking)["result"]["receivedMsgs"][0]["type"].text, "info")
    XCTAssertEqual(try answer(first).bodies, ["from carol"])
  }

  /// The store is closed to the process, for both: the call waits for it until its own time is up, and not longer. Once the store
  /// is there, the call does not wait for what the first push waits for then.
  func testACallWaitsForAClosedStoreForItsOwnTime() throws {
    let waiting = try waiting()
    let file = waiting.station.alice.prefix + "_chat.db"
    XCTAssertEqual(take(chat_close_store(waiting.service.handle)), "")
    var replacing: OpeningLock? = try OpeningLock(file: file, .exclusive, creates: false, timeout: .seconds(5))
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    let early = try answer(waiting.push(waiting.call, deadline: 500))
    XCTAssertEqual(early["outcome"].text, "expired", early.description)
    XCTAssertEqual(early.identifiers, ["np:notice"], "there is something to show: \(early)")
    XCTAssertNil(first.wait(atMost: .zero), "its own time is not up")
    XCTAssertNotNil(replacing)
    replacing = nil
    waiting.transport.waitUntilInside()
    let call = try answer(waiting.push(waiting.call))
    XCTAssertEqual(call.bodies, ["Incoming audio call"], call.description)
    waiting.transport.hang(onlyGet: nil)
    XCTAssertEqual(try answer(first).bodies, ["from carol"])
  }

  /// The first push waits to commit its message, since another process writes. So does the call's, and both have what they need
  /// as soon as that ends.
  func testACallBehindACommitThatWaitsIsShown() throws {
    let waiting = try waiting()
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let holder = try Database(path: waiting.station.alice.prefix + "_chat.db")
    try holder.execute("BEGIN IMMEDIATE")
    waiting.transport.hang(onlyGet: nil)
    let second = waiting.push(waiting.call)
    try holder.execute("COMMIT")
    try holder.close()
    let call = try answer(second)
    XCTAssertEqual((call.bodies + (try answer(first).bodies)).sorted(), ["Incoming audio call", "from carol"])
  }

  /// What the app left to be sent hangs, for both contacts. It has one of the transport's two ways, and the call the other.
  func testACallDoesNotWaitBehindWhatIsSent() throws {
    let waiting = try waiting()
    let database = try Database(path: waiting.station.alice.prefix + "_chat.db")
    try database.run(
      """
      INSERT INTO outbox (connection_id, item_id, purpose, signed, notify, body, deduplication)
      SELECT connection_id, NULL, 'message', 1, 0, x'00', randomblob(24) FROM connections
      """, [])
    try database.close()
    waiting.transport.hang(.send)
    let first = waiting.push(waiting.message)
    awaitThat("it sends") { waiting.transport.count(.send) > 0 }
    let second = try answer(waiting.push(waiting.call))
    XCTAssertEqual(
      Set(try answer(first).bodies + second.bodies), ["from carol", "Incoming audio call"], second.description)
    XCTAssertEqual(waiting.transport.count(.send), 1)
    waiting.transport.hang(nil)
  }

  /// Both name bob's mailbox. The request for it was lost, and the call's push asks again.
  func testACallsOwnMailboxIsAskedAgainAfterARequestThatHangs() throws {
    let waiting = try waiting(messageFromBob: true)
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let call = try answer(waiting.push(waiting.call))
    XCTAssertEqual(Set(call.bodies), ["Incoming audio call", "from bob"], call.description)
    let other = try answer(first)
    XCTAssertTrue(other["trace"].elements.contains { $0["event"].text == "mailbox.taken" }, other.description)
    XCTAssertEqual(other["outcome"].text, "nothingNew", "the call's push has shown its message: \(other)")
    XCTAssertTrue(waiting.service.state["quiescent"].flag)
    waiting.transport.hang(onlyGet: nil)
    // The call has no text.
    waiting.station.wake(expecting: ["from bob", ""])
  }

  // MARK: Helpers

  private func stationWithCarol() throws -> (Station, Host) {
    let station = try Station()
    let carol = try XCTUnwrap(Host.open(station.pair.folder.file("carol")).host)
    carol.begin("carol", relay: station.pair.folder.file("relay.db"))
    let link = carol.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    station.alice.send("/connect \(link)").assert("sentConfirmation")
    station.alice.event("contactConnected")
    carol.event("contactConnected")
    // Her mailbox's subscription at the notification server.
    for _ in 0..<500 {
      var active: Int64 = 0
      let database = try Database(path: station.alice.prefix + "_chat.db")
      active = try database.integer("SELECT count(*) FROM connections WHERE subscription LIKE 'created%'") ?? 0
      try database.close()
      if active == 2 { break }
      usleep(20_000)
    }
    station.suspend()
    return (station, carol)
  }

  /// Carol writes, then bob writes or calls: the last push names both.
  private func pushes(_ station: Station, _ carol: Host, call: Bool) throws -> String {
    carol.send("/_send @1 text from carol").assert("newChatItems")
    // Those of the handshake come before.
    _ = try station.allPushes()
    if call {
      station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    } else {
      station.pair.send("from bob", from: station.bob)
    }
    return try XCTUnwrap(station.allPushes().last)
  }
}

extension XCTestCase {
  /// Waits until the relay has everything.
  func awaitSent(_ host: Host, file: StaticString = #filePath, line: UInt = #line) throws {
    for _ in 0..<2_000 {
      let database = try Database(path: host.prefix + "_chat.db")
      let waiting = try database.integer("SELECT count(*) FROM outbox")
      try database.close()
      if waiting == 0 { return }
      usleep(2_000)
    }
    XCTFail("something waits in the outbox", file: file, line: line)
  }
}
