import Foundation
import PorterStore
import XCTest

/// Deleted data is deleted for every process concerned.
final class DeletingTests: XCTestCase {
  private func count(_ sql: String, in path: String) throws -> Int64 {
    let database = try Database(path: path)
    defer { try? database.close() }
    return try database.integer(sql) ?? 0
  }

  private func wait(_ what: String, line: UInt = #line, until holds: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if try holds() { return }
      usleep(20_000)
    }
    XCTFail("this was never reached: \(what)", line: line)
  }

  func testTheServerAndTheRelayForgetADeletedContact() throws {
    let station = try Station()
    let (server, relay) = (station.pair.folder.file("server.db"), station.pair.folder.file("relay.db"))
    try wait("subscribed") { try count("SELECT count(*) FROM subscription", in: server) == 1 }
    let mailboxes = try count("SELECT count(*) FROM mailbox", in: relay)
    station.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    try wait("forgotten by the server") { try count("SELECT count(*) FROM subscription", in: server) == 0 }
    try wait("forgotten by the relay") { try count("SELECT count(*) FROM mailbox", in: relay) == mailboxes - 1 }
    XCTAssertEqual(try count("SELECT count(*) FROM connections", in: station.alice.prefix + "_chat.db"), 0)
  }

  func testADeletedContactIsNotified() throws {
    let pair = try Pair()
    pair.send("good bye", from: pair.alice)
    pair.alice.send("/_delete @1 full").assert("contactDeleted")
    let left = pair.bob.event("contactDeletedByContact", within: 20)
    XCTAssertEqual(left?["result"]["contact"]["contactStatus"].text, "deleted")
    XCTAssertEqual(pair.texts(pair.bob), ["good bye"], "what was said stays")
    XCTAssertEqual(pair.bob.send("/_contacts 1")["result"]["contacts"][0]["contactStatus"].text, "deleted")
    let answer = pair.bob.send("/_send @1 text anyone there?")
    XCTAssertEqual(answer.errorTag, "contactNotActive", answer.description)
    pair.bob.send("/_delete @1 full").assert("contactDeleted")
  }

  /// No trace of the call is left in the store, and its host rings until it is notified that the call is over.
  func testADeletedContactsCallEnds() throws {
    let pair = try Pair()
    pair.bob.send(#"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#).assert("cmdOk")
    pair.alice.event("callInvitation")
    pair.alice.send("/_delete @1 full").assert("contactDeleted")
    XCTAssertEqual(pair.alice.event("callEnded")?["result"]["contact"]["contactId"].number, 1)
    pair.bob.event("callEnded")
    awaitRest(of: pair.alice)
    pair.alice.expectNone("callEnded")
  }

  func testADeletedProfilesCallsEnd() throws {
    let pair = try Pair()
    pair.bob.send(#"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#).assert("cmdOk")
    pair.alice.event("callInvitation")
    pair.alice.send("/_delete user 1 del_smp=on").assert("cmdOk")
    XCTAssertEqual(pair.alice.event("callEnded")?["result"]["contact"]["contactId"].number, 1)
  }

  func testASilentlyDeletedContactIsNotNotified() throws {
    let pair = try Pair()
    pair.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    try awaitQuiet([pair.alice, pair.bob], relay: pair.folder.file("relay.db"))
    pair.bob.expectNone("contactDeletedByContact")
    pair.bob.send("/_send @1 text anyone there?").assert("newChatItems")
  }

  /// An extension processes the news; the application's subscription ends, and its host is notified.
  func testAnExtensionProcessesThatAContactLeft() throws {
    let station = try Station()
    let server = station.pair.folder.file("server.db")
    try wait("subscribed") { try count("SELECT count(*) FROM subscription", in: server) == 1 }
    station.suspend()
    let push = try station.push(for: "good bye")
    station.bob.send("/_delete @1 full").assert("contactDeleted")
    try awaitSent(station.bob)
    let answer = try station.present(push)
    XCTAssertEqual(answer.bodies, ["good bye"], answer.description)
    XCTAssertEqual(
      try count("SELECT count(*) FROM ledger WHERE kind = 'left'", in: station.alice.prefix + "_chat.db"), 1)
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("contactDeletedByContact", within: 20)
    try wait("forgotten by the server") { try count("SELECT count(*) FROM subscription", in: server) == 0 }
  }

  /// INC-46: notifications go with their messages, and the badge is right immediately.
  func testINC46DeletedMessagesAreWithdrawn() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(try station.push(for: "one"))
    XCTAssertEqual(shown.bodies, ["one"])
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.state["unread"].number, 1)
    station.alice.send("/_delete @1 messages").assert("contactDeleted")
    XCTAssertEqual(station.pair.texts(station.alice), [])
    XCTAssertEqual(station.alice.state["unread"].number, 0)
    station.suspend()
    let next = try station.present(try station.push(for: "two"))
    XCTAssertEqual(next["withdrawals"][0].text, shown.identifiers.first, next.description)
    XCTAssertEqual(next.bodies, ["two"])
  }

  /// INC-46: also if the ledger entries were deleted with the contact; once.
  func testINC46NotificationsOfADeletedContactAreWithdrawn() throws {
    let station = try Station()
    let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    let carol = try XCTUnwrap(Host.open(station.pair.folder.file("carol")).host)
    carol.begin("carol", relay: station.pair.folder.file("relay.db"))
    carol.send("/connect \(link)").assert("sentConfirmation")
    carol.event("contactConnected", within: 20)
    station.suspend()
    station.pair.send("one", from: station.bob)
    // Those of the handshake are included.
    let shown = try station.allPushes().flatMap { try station.present($0)["notifications"].elements }
    let identifier = try XCTUnwrap(shown.first { $0["body"].text == "one" })["identifier"].text
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    station.suspend()
    carol.send("/_send @1 text two").assert("newChatItems")
    var withdrawals: [String] = []
    for push in try station.allPushes() { withdrawals += try station.present(push)["withdrawals"].elements.map(\.text) }
    XCTAssertEqual(withdrawals.filter { $0 == identifier }.count, 1, "\(withdrawals)")
  }
}
