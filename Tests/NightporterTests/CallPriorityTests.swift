import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// A call's push is handled before anything else (INC-43): its own mailbox comes first, and it does not wait for what
/// other pushes wait for.
final class CallPriorityTests: XCTestCase {
  // MARK: Its own push

  /// What the push was sent for does not wait for what it repeats.
  func testTheMailboxThatAPushIsAboutIsLookedIntoFirst() throws {
    let (station, friends) = try CallStation.make()
    let push = try pushes(station, friends[0], call: false)
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
    let (station, friends) = try CallStation.make()
    let push = try pushes(station, friends[0], call: true)
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

  /// Its mailbox is checked first, so everything else is newer: the call is in the answer, however much of the rest
  /// does not fit.
  func testACallIsInTheAnswerThoughMoreWaitsThanThatHolds() throws {
    let (station, friends) = try CallStation.make(["carol", "dave", "eve"])
    let message = #"{"msgContent":{"type":"text","text":"hello"},"mentions":{}}"#
    for friend in friends {
      let messages = [String](repeating: message, count: 100).joined(separator: ",")
      friend.send("/_send @1 json [\(messages)]").assert("newChatItems")
      try awaitSent(friend)
    }
    _ = try station.allPushes()
    station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    try awaitSent(station.bob)
    let push = try XCTUnwrap(station.allPushes().last)
    // Nothing is cut off, however slow the machine is.
    let clock = MovedClock()
    let service = try station.makeExtension(clock: clock)
    clock.stop()
    let answer = service.push(push, deadline: 30_000)
    XCTAssertEqual(answer["badge"].number, 301, answer["reason"].text)
    XCTAssertTrue(answer.bodies.contains("Incoming audio call"), "\(answer.bodies)")
    XCTAssertEqual(try Self.waiting(station), 301 - 256 - 1, "the call has room of its own, and the oldest wait")
    clock.start()
    XCTAssertFalse(service.push(push, deadline: 30_000).bodies.contains("Incoming audio call"), "it was shown")
    XCTAssertEqual(try Self.waiting(station), 0)
  }

  // MARK: What the user does not hear of

  /// A muted contact's call is not shown, and takes no time from what is shown: neither in a round nor in a push of an
  /// app.
  func testACallThatIsNotShownHurriesNothing() throws {
    let (station, friends) = try CallStation.make()
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk")
    station.suspend()
    friends[0].send("/_send @1 text from carol").assert("newChatItems")
    let payload = try XCTUnwrap(station.allPushes().last)
    station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    try awaitSent(station.bob)
    let carol = try CallStation.mailboxes(of: station)["carol"]
    station.alice.free()
    let clock = MovedClock()
    let configuration = Configuration(
      prefix: station.alice.prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = Host(
      try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), station.alice.prefix)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: app)
    transport.hang(mailboxes: [carol])
    let push = app.inBackground { $0.push(payload, deadline: 30_000).description }
    transport.waitUntilAsked(for: carol)
    let round = app.inBackground { take(np_background_refresh($0.handle, 30_000)) }
    try awaitThat("the call is taken in") { try Self.calls(station) == 1 }
    clock.stop()
    clock.move(Durations.callPatience)
    for _ in 0..<3 { _ = app.state }
    for waiting in [push, round] { XCTAssertNil(waiting.wait(atMost: .milliseconds(100)), "it has its own time") }
    transport.hang(mailboxes: [])
    clock.start()
    let answers = try [push, round].map { JSON(try XCTUnwrap($0.wait(atMost: .seconds(40)))) }
    XCTAssertEqual(answers.flatMap(\.bodies), ["from carol"], "\(answers)")
    for answer in answers {
      XCTAssertFalse(answer["trace"].elements.contains { $0["event"].text == "call.came" }, answer.description)
    }
  }

  // MARK: Helpers

  private static func count(_ query: String, _ station: Station) throws -> Int64 {
    let database = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? database.close() }
    return try database.integer(query) ?? 0
  }

  private static func waiting(_ station: Station) throws -> Int64 {
    try count("SELECT count(*) FROM ledger WHERE state IN ('committed', 'upgraded')", station)
  }

  private static func calls(_ station: Station) throws -> Int64 { try count("SELECT count(*) FROM calls", station) }

  /// Carol writes, then bob writes or calls: the last push names both.
  private func pushes(_ station: Station, _ carol: Host, call: Bool) throws -> String {
    carol.send("/_send @1 text from carol").assert("newChatItems")
    // The handshake's pushes come before.
    _ = try station.allPushes()
    if call {
      station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    } else {
      station.pair.send("from bob", from: station.bob)
    }
    return try XCTUnwrap(station.allPushes().last)
  }
}
