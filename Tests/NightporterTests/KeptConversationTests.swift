import Foundation
import PorterStore
import XCTest

/// `/_delete @1 entity`: the contact is deleted, but the conversation stays.
final class KeptConversationTests: XCTestCase {
  private func deleteKeeping(_ host: Host, _ words: String = "") {
    let answer = host.send("/_delete @1 entity\(words)")
    answer.assert("contactDeleted")
    XCTAssertEqual(answer["result"]["contact"]["contactStatus"].text, "deletedByUser", answer.description)
    XCTAssertFalse(answer["result"]["contact"]["activeConn"].exists, answer.description)
  }

  func testWhatWasSaidStaysAndTheContactLearnsOfIt() throws {
    let pair = try Pair()
    pair.send("good bye", from: pair.alice)
    deleteKeeping(pair.alice)
    let left = pair.bob.event("contactDeletedByContact", within: 20)
    XCTAssertEqual(left?["result"]["contact"]["contactStatus"].text, "deleted")
    XCTAssertEqual(pair.texts(pair.alice), ["good bye"])
    XCTAssertEqual(pair.texts(pair.bob), ["good bye"])
    let chats = pair.alice.send("/_get chats 1 pcc=on")["result"]["chats"].elements
    XCTAssertEqual(chats.map { $0["chatInfo"]["contact"]["contactStatus"].text }, ["deletedByUser"])
    // Repeating it changes nothing; a full deletion removes the rest.
    deleteKeeping(pair.alice)
    pair.alice.send("/_delete @1 full").assert("contactDeleted")
    XCTAssertEqual(pair.alice.send("/_get chats 1 pcc=on")["result"]["chats"].elements.count, 0)
  }

  func testNothingIsSentToAContactThatIsNoLongerOne() throws {
    let pair = try Pair()
    pair.send("one", from: pair.alice)
    let item = try XCTUnwrap(
      pair.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number)
    deleteKeeping(pair.alice, " notify=off")
    let refused = [
      "/_send @1 text two", "@bob two", "/_reaction @1 \(item) on {\"type\":\"emoji\",\"emoji\":\"👍\"}",
      "/_update item @1 \(item) text three", "/_delete item @1 \(item) broadcast",
      "/_call invite @1 {\"media\":\"audio\",\"capabilities\":{\"encryption\":true}}",
    ]
    for command in refused {
      let answer = pair.alice.send(command)
      XCTAssertEqual(answer.errorTag, "contactNotActive", "\(command): \(answer)")
    }
    XCTAssertEqual(pair.texts(pair.alice), ["one"], "a refusal changes nothing")
    pair.alice.send("/_set prefs @1 {}").assert("contactPrefsUpdated")
    pair.alice.send("/_settings @1 {\"enableNtfs\":\"none\",\"favorite\":true}").assert("cmdOk")
    pair.alice.send("/_read chat @1").assert("cmdOk")
    pair.alice.send("/_delete item @1 \(item) internal").assert("chatItemsDeleted")
    XCTAssertEqual(pair.texts(pair.alice), [])
    pair.bob.expectNone("contactDeletedByContact")
  }

  /// The notification is withdrawn with the contact, since a tap could no longer lead to a reply; the message it showed
  /// is read, and no longer counts.
  func testNotificationsAreWithdrawnAndNothingIsUnread() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(try station.push(for: "one"))
    XCTAssertEqual(shown.bodies, ["one"])
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.state["unread"].number, 1)
    deleteKeeping(station.alice)
    XCTAssertEqual(station.alice.state["unread"].number, 0)
    XCTAssertEqual(station.pair.texts(station.alice), ["one"])
    let chat = station.alice.send("/_get chats 1 pcc=off")["result"]["chats"][0]
    XCTAssertEqual(chat["chatStats"]["unreadCount"].number, 0, chat.description)
    // The notification that the contact is connected is withdrawn too, before or in the same event.
    let identifier = try XCTUnwrap(shown.identifiers.first)
    awaitThat("it is withdrawn") {
      guard let event = station.alice.event(within: 0.2)?["result"] else { return false }
      return event["withdrawals"].elements.contains { $0.text == identifier }
    }
  }

  /// A call with the contact ends, and stops ringing.
  func testACallWithTheContactEnds() throws {
    let pair = try Pair()
    pair.bob.send(#"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#).assert("cmdOk")
    pair.alice.event("callInvitation", within: 20)
    deleteKeeping(pair.alice)
    pair.alice.event("callEnded", within: 20)
    XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 0)
    let call = pair.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]
    XCTAssertEqual(call["content"]["status"].text, "missed", call.description)
  }

  /// The mailbox and its subscription are deleted, and so is everything needed to open what was left in it.
  func testTheServerAndTheRelayForgetTheContact() throws {
    let station = try Station()
    let folder = station.pair.folder
    func count(_ sql: String, in file: String) throws -> Int64 {
      let database = try Database(path: file)
      defer { try? database.close() }
      return try database.integer(sql) ?? 0
    }
    func wait(_ what: String, until holds: () throws -> Bool) throws {
      let end = Date(timeIntervalSinceNow: 20)
      while end.timeIntervalSinceNow > 0 {
        if try holds() { return }
        usleep(20_000)
      }
      XCTFail("this was never reached: \(what)")
    }
    let (server, relay) = (folder.file("server.db"), folder.file("relay.db"))
    try wait("subscribed") { try count("SELECT count(*) FROM subscription", in: server) == 1 }
    let mailboxes = try count("SELECT count(*) FROM mailbox", in: relay)
    deleteKeeping(station.alice, " notify=off")
    try wait("forgotten by the server") { try count("SELECT count(*) FROM subscription", in: server) == 0 }
    try wait("forgotten by the relay") { try count("SELECT count(*) FROM mailbox", in: relay) == mailboxes - 1 }
    let store = station.alice.prefix + "_chat.db"
    for table in ["connections", "skipped_keys", "outbox", "ledger"] {
      XCTAssertEqual(try count("SELECT count(*) FROM \(table)", in: store), 0, table)
    }
  }

  /// Messages still waiting are no longer sent, and their status says so.
  func testWhatWaitedToBeSentHasFailed() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text under way", arrives: false).assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_send @1 text waits", arrives: false).assert("newChatItems")
    deleteKeeping(meeting.alice)
    let items = meeting.alice.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"].elements
    XCTAssertEqual(items.map { $0["meta"]["itemStatus"]["type"].text }, ["sndErrorAuth", "sndErrorAuth"])
    meeting.transport.hang(false)
    meeting.bob.event("contactDeletedByContact", within: 20)
    XCTAssertFalse(meeting.texts(meeting.bob).contains("waits"))
  }

  /// A person who returns is a new contact with its own name; both contacts are there after a restart, the later chat
  /// first.
  func testThePersonMayBecomeAContactAgain() throws {
    let pair = try Pair()
    pair.send("before", from: pair.bob)
    deleteKeeping(pair.alice)
    pair.bob.event("contactDeletedByContact", within: 20)
    let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    pair.bob.send("/connect \(link)").assert("sentConfirmation")
    let connected = pair.alice.event("contactConnected", within: 20)
    XCTAssertEqual(connected?["result"]["contact"]["localDisplayName"].text, "bob_1")
    pair.bob.send("/_send @2 text after").assert("newChatItems")
    pair.alice.event("newChatItems", within: 20)
    pair.alice.free()
    let alice = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    alice.send("/_start").assert("chatStarted")
    let chats = alice.send("/_get chats 1 pcc=off")["result"]["chats"].elements
    XCTAssertEqual(chats.map { $0["chatInfo"]["contact"]["localDisplayName"].text }, ["bob_1", "bob"])
    XCTAssertEqual(chats.map { $0["chatInfo"]["contact"]["contactStatus"].text }, ["active", "deletedByUser"])
  }
}
