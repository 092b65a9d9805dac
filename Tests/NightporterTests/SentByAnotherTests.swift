import CNightporter
import Foundation
import PorterStore
import XCTest

@testable import PorterRelay

/// A process is frozen while it sends what another process sends in the meantime, and the recipient answers: the relay
/// refuses the late request, which says nothing about the message.
final class SentByAnotherTests: XCTestCase {
  /// The outbox after another process has sent everything in it.
  private func noteSent(_ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    try database.execute(
      """
      UPDATE items SET status = 'sndSent' WHERE item_id IN (SELECT item_id FROM outbox);
      DELETE FROM outbox
      """)
    try database.close()
  }

  /// Lets what hangs in the transport be refused.
  private func refuse(_ transport: HostTransport) {
    transport.refuse(.send, .auth)
    transport.hang(nil)
    transport.waitUntilOutside()
    transport.refuse(nil)
  }

  func testAcceptingARequestTwiceAtOnceKeepsItsContact() throws {
    let folder = try TemporaryFolder()
    let transport = HostTransport(relay: folder.file("relay.db"))
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    transport.install(in: alice)
    alice.send(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#).assert("activeUser")
    alice.send("/_start").assert("chatStarted")
    let link = alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    bob.begin("bob", relay: folder.file("relay.db"))
    bob.send("/_connect 1 \(link)").assert("sentInvitation")
    awaitThat("the request has come") {
      np_relay_ready(alice.handle)
      return alice.event(within: 0.1)?["result"]["type"].text == "receivedContactRequest"
    }

    transport.hang(.send)
    let answered = expectation(description: "accepted")
    let handle = UInt(bitPattern: alice.handle)
    Thread.detachNewThread {
      JSON(take(chat_send_cmd(chat_ctrl(bitPattern: handle), "/_accept 1"))).assert("acceptingContactRequest")
      answered.fulfill()
    }
    awaitThat("the acceptance is being sent") { transport.count(.send) == 1 }
    try noteSent(alice)
    refuse(transport)
    wait(for: [answered], timeout: 30)
    let database = try Database(path: alice.prefix + "_chat.db")
    XCTAssertEqual(try database.rows("SELECT state FROM contact_requests") { $0.text(0) }, ["accepted"])
    XCTAssertEqual(try database.integer("SELECT count(*) FROM contacts"), 1)
    try database.close()
  }

  func testAMessageStaysSent() throws {
    let pair = try Pair()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    pair.alice.send("/_stop").assert("chatStopped")
    transport.install(in: pair.alice)
    pair.alice.send("/_start").assert("chatStarted")
    transport.hang(.send)
    pair.alice.send("/_send @1 text hi", arrives: false).assert("newChatItems")
    awaitThat("it is being sent") { transport.count(.send) == 1 }
    try noteSent(pair.alice)
    refuse(transport)
    let database = try Database(path: pair.alice.prefix + "_chat.db")
    // The next message is sent after the refusal is recorded.
    pair.alice.send("/_send @1 text again", arrives: false).assert("newChatItems")
    awaitThat("the next is sent") { (try? database.integer("SELECT count(*) FROM outbox")) == 0 }
    let statuses = try database.rows("SELECT status FROM items WHERE sent = 1 ORDER BY item_id DESC LIMIT 2") {
      $0.text(0)
    }
    XCTAssertEqual(Set(statuses).subtracting(["sndRcvd"]), ["sndSent"], "\(statuses)")
    try database.close()
  }
}
