import Foundation
import PorterStore
import XCTest

/// INC-44: a command, or what the engine does by itself, is about many records, and one of them is damaged. The others have it.
final class DamagedRecordTests: XCTestCase {
  private func execute(_ statements: [String], _ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    for sql in ["PRAGMA ignore_check_constraints = 1"] + statements { try database.execute(sql) }
  }

  private func count(_ sql: String, _ host: Host) throws -> Int64 {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    return try database.integer(sql) ?? -1
  }

  private static let damageContact = "UPDATE contacts SET notifications = 'x' WHERE contact_id = 1"

  /// Alice with two contacts, both of them bob.
  private func meet() throws -> Pair {
    let pair = try Pair()
    let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    pair.bob.send("/connect \(link)").assert("sentConfirmation")
    pair.alice.event("contactConnected")
    pair.bob.event("contactConnected")
    return pair
  }

  func testMessagesOfOthersDisappearAndAreReported() throws {
    let pair = try meet()
    for contact in 1...2 { pair.alice.send("/_send @\(contact) text soon gone").assert("newChatItems") }
    try awaitQuiet([pair.alice, pair.bob], relay: pair.folder.file("relay.db"))
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.alice.dropEvents()
    try execute(
      [
        "UPDATE items SET ttl = 1, delete_at = 0, delete_moment = 0, delete_boot = (SELECT 'earlier')",
        Self.damageContact,
      ], pair.alice)
    pair.alice.send("/_app activate").assert("cmdOk")
    let deleted = pair.alice.event("chatItemsDeleted")?["result"]["chatItemDeletions"]
    XCTAssertEqual(deleted?.elements.map(\.["deletedChatItem"]["chatInfo"]["contact"]["contactId"].number), [2])
    try awaitThat("the message of the damaged contact has gone as well") {
      try count("SELECT count(*) FROM items", pair.alice) == 0
    }
  }

  func testOthersAreListedAndLearnOfANewProfile() throws {
    let pair = try meet()
    try execute([Self.damageContact], pair.alice)
    let listed = pair.alice.send("/_contacts 1")["result"]["contacts"]
    XCTAssertEqual(listed.elements.map(\.["contactId"].number), [2], listed.description)
    let chats = pair.alice.send("/_get chats 1")["result"]["chats"]
    XCTAssertEqual(chats.elements.map(\.["chatInfo"]["contact"]["contactId"].number), [2], chats.description)
    let answer = pair.alice.send(#"/_profile 1 {"displayName":"alicia","fullName":""}"#)
    answer.assert("userProfileUpdated")
    XCTAssertEqual(answer["result"]["updateSummary"]["updateSuccesses"].number, 1, answer.description)
    let updated = pair.bob.event("contactUpdated")?["result"]["toContact"]
    XCTAssertEqual(updated?["profile"]["displayName"].text, "alicia")
    XCTAssertEqual(updated?["contactId"].number, 2)
  }

  /// Its request, and its connection.
  func testAnAddressIsDeletedThoughItsRecordsAreDamaged() throws {
    for damage in [
      "UPDATE contact_requests SET state = 'x' WHERE request_id = 1",
      "UPDATE connections SET recipient_key = x'00' WHERE connection_id = (SELECT connection_id FROM addresses)",
    ] {
      let meeting = try AddressMeeting()
      _ = meeting.ask()
      let carol = try XCTUnwrap(Host.open(meeting.folder.file("carol")).host)
      carol.begin("carol", relay: meeting.folder.file("relay.db"))
      carol.send("/connect \(meeting.link)").assert("sentInvitation")
      meeting.alice.event("receivedContactRequest")
      try meeting.awaitEmptyRelay()
      try execute([damage], meeting.alice)
      meeting.alice.send("/_delete_address 1").assert("userContactLinkDeleted")
      XCTAssertEqual(meeting.alice.send("/_show_address 1").errorTag, "userContactLinkNotFound", damage)
      XCTAssertEqual(try count("SELECT count(*) FROM contact_requests WHERE state = 'received'", meeting.alice), 0)
    }
  }

  func testOtherMailboxesAreDeletedAtTheRelay() throws {
    let pair = try meet()
    try execute(["INSERT INTO deleted_mailboxes (recipient_id, recipient_key) VALUES (x'00', x'00')"], pair.alice)
    pair.alice.send("/_delete @2 full notify=off").assert("contactDeleted")
    try awaitThat("only the damaged one is left") {
      try count("SELECT count(*) FROM deleted_mailboxes", pair.alice) == 1
    }
  }
}
