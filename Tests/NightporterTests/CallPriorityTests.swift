import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A call's push is handled before anything else (INC-43): its own mailbox first, and whatever another push waits for, it does not.
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

  // MARK: Helpers

  /// Carol writes, then bob writes or calls: the last push names both.
  private func pushes(_ station: Station, _ carol: Host, call: Bool) throws -> String {
    carol.send("/_send @1 text from carol").assert("newChatItems")
    // Those of the handshake come before.
    _ = try station.allPushes()
    if call {
      station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    } else {
      station.pair.send("from bob", from: station.bob)
    }
    return try XCTUnwrap(station.allPushes().last)
  }
}
