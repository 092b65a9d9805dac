import Foundation
import PorterRelay
import PorterStore
import XCTest

/// The relay delivers a message before the hello it was sent after.
final class OvertakenGreetingTests: XCTestCase {
  func testAMessageThatOvertakesTheHelloIsShownAndTheHelloNamesItsSender() throws {
    let folder = try TemporaryFolder()
    let relay = folder.file("relay.db")
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: relay)
    bob.begin("bob", relay: relay)
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    suspend(alice)
    bob.send("/connect \(link)").assert("sentConfirmation")
    try awaitThat("bob's confirmation waits") { try waiting(relay, "min") == 1 }
    suspend(bob)

    alice.send("/_app activate").assert("cmdOk")
    // Her hello is sent when she has received the confirmation.
    try awaitThat("alice's hello waits") {
      try waiting(relay, "max") == 1 && waiting(relay, "min") == 0
        && alice.send("/_get chat @1 count=1")["result"].exists
    }
    let message = #"{"msgContent":{"type":"text","text":"first"},"mentions":{}}"#
    alice.send("/_send @1 json [\(message)]").assert("newChatItems")
    XCTAssertEqual(try waiting(relay, "max"), 2, "the hello and the message")
    let database = try Database(path: relay)
    try database.execute(
      "UPDATE message SET number = (SELECT 2 * max(number) + 1 FROM message) - number WHERE body IS NOT NULL")
    try database.close()

    bob.send("/_app activate").assert("cmdOk")
    let item = try XCTUnwrap(bob.event("newChatItems"))["result"]["chatItems"][0]
    XCTAssertEqual(item["chatItem"]["content"]["msgContent"]["text"].text, "first", item.description)
    let connected = try XCTUnwrap(bob.event("contactConnected"))["result"]["contact"]
    XCTAssertEqual(connected["localDisplayName"].text, "alice", connected.description)
    XCTAssertEqual(connected["contactId"].number, item["chatInfo"]["contact"]["contactId"].number)
    alice.event("contactConnected")
    // Both directions, with the current ratchet.
    for (sender, receiver, text) in [(alice, bob, "second"), (bob, alice, "third")] {
      let message = #"{"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}"#
      sender.send("/_send @1 json [\(message)]").assert("newChatItems")
      receiver.event("newChatItems")
    }
    let store = try Database(path: folder.file("bob_chat.db"))
    XCTAssertEqual(try store.integer("SELECT count(*) FROM ledger WHERE state = 'quarantined'"), 0)
    XCTAssertEqual(try store.integer("SELECT count(*) FROM contacts"), 1)
  }

  private func suspend(_ host: Host) {
    host.send("/_app suspend 5000000").assert("cmdOk")
    host.event("chatSuspended")
  }

  /// The number of messages waiting in a mailbox. Alice's is the first, for her invitation, and bob's the last.
  private func waiting(_ relay: String, _ mailbox: String) throws -> Int64 {
    let database = try Database(path: relay)
    defer { try? database.close() }
    return try database.integer(
      """
      SELECT count(*) FROM message WHERE body IS NOT NULL AND mailbox = (SELECT \(mailbox)(number) FROM mailbox)
      """) ?? -1
  }
}
