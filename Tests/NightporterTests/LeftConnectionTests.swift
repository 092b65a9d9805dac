import Foundation
import PorterStore
import XCTest

/// A connection that the other side has ended, and later messages on it.
final class LeftConnectionTests: XCTestCase {
  /// Alice's greeting comes after her message that she has left, which only a misbehaving peer sends. The connection is
  /// over: there is no contact, and nothing is reported.
  func testAGreetingAfterTheEndMakesNoContact() throws {
    let folder = try TemporaryFolder()
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    alice.send("/_app suspend 0").assert("cmdOk")
    let link = try invitation(alice)
    alice.send("/_app suspend 0").assert("cmdOk")
    bob.send("/connect \(link)").assert("sentConfirmation")
    bob.send("/_app suspend 0").assert("cmdOk")
    alice.send("/_app activate").assert("cmdOk")
    let relay = try Database(path: folder.file("relay.db"))
    // In bob's mailbox, which was created last.
    let waiting = """
      SELECT number FROM message WHERE body IS NOT NULL AND mailbox = (SELECT max(number) FROM mailbox) ORDER BY number
      """
    func awaitMessages(_ count: Int) throws -> [Int64] {
      var numbers: [Int64] = []
      try awaitThat("\(count) messages wait") {
        numbers = try relay.rows(waiting) { $0.integer(0) }
        return numbers.count == count
      }
      return numbers
    }
    _ = try awaitMessages(1)
    alice.send("/_delete @1 full notify=on").assert("contactDeleted")
    let numbers = try awaitMessages(2)
    for (old, new) in [(numbers[0], 1_000), (numbers[1], numbers[0]), (1_000, numbers[1])] as [(Int64, Int64)] {
      try relay.run("UPDATE message SET number = ?2 WHERE number = ?1", [.integer(old), .integer(new)])
    }
    try relay.close()

    bob.send("/_app activate").assert("cmdOk")
    let store = try Database(path: bob.prefix + "_chat.db")
    try awaitThat("bob has both") { try store.integer("SELECT count(*) FROM ledger") == 2 }
    XCTAssertEqual(try store.rows("SELECT kind FROM ledger ORDER BY 1") { $0.text(0) }, ["silent", "silent"])
    try store.close()
    XCTAssertEqual(bob.send("/_contacts 1")["result"]["contacts"].count, 0)
    // The next contact is the first one reported.
    bob.send("/connect \(try invitation(alice))").assert("sentConfirmation")
    let connected = bob.event("contactConnected", within: 20)
    XCTAssertEqual(connected?["result"]["contact"]["contactId"].number, 1, "\(String(describing: connected))")
  }

  private func invitation(_ host: Host) throws -> String {
    host.send("/_app activate")
    let link = host.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    XCTAssertFalse(link.isEmpty)
    return link
  }
}
