import Foundation
import PorterStore
import XCTest

/// INC-44: a command, or the engine's own work, concerns many records, one of which is damaged. The others are
/// processed.
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

  func testTheEventOfAnotherResponseComes() throws {
    let pair = try Pair()
    let ids = [1, 2].map { number in
      pair.alice.respond(#"{"identifier":"np:many:\#(number)","userInfo":{"userId":1}}"#)["result"]["responseId"].number
    }
    // The app ends before its host reads.
    pair.alice.free()
    try execute(["UPDATE responses SET state = 'x' WHERE response_id = \(ids[0])"], pair.alice)
    let next = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    next.send("/_start").assert("chatStarted")
    XCTAssertEqual(next.event("ntfResponse")?["result"]["responseId"].number, ids[1])
    try awaitThat("neither waits any longer") { try count("SELECT count(*) FROM response_events", next) == 0 }
  }

  // MARK: The ledger

  /// The entry of bob's message with this text.
  private static func damageEntry(of text: String) -> String {
    "UPDATE ledger SET kind = 'x' WHERE entry_id = (SELECT ledger_entry FROM items WHERE content LIKE '%\(text)%')"
  }

  /// Alice on screen with two messages of bob's, one of which has a damaged entry.
  private func damaged(_ pair: Pair, _ more: String...) throws {
    for text in ["broken", "whole"] {
      pair.send(text, from: pair.bob)
      pair.alice.event("newChatItems")
    }
    try awaitQuiet([pair.alice, pair.bob], relay: pair.folder.file("relay.db"))
    try execute([Self.damageEntry(of: "broken")] + more, pair.alice)
  }

  /// Also if the damaged one must be withdrawn, and the token's keys are damaged.
  func testAProfileIsDeletedThoughAnEntryIsDamaged() throws {
    let pair = try Pair()
    try damaged(
      pair, "UPDATE ledger SET removal_due = 1 WHERE kind = 'x'",
      """
      INSERT INTO token (token_id, provider, device_token, server, status, mode, signing_key, box_key, updated_at)
      VALUES (1, 'apns_test', x'00', 'x', 'active', 'instant', x'00', x'00', 0)
      """)
    pair.alice.send("/_delete user 1 del_smp=on").assert("cmdOk")
    for table in ["users", "ledger", "items", "token"] {
      XCTAssertEqual(try count("SELECT count(*) FROM \(table)", pair.alice), 0, table)
    }
    XCTAssertEqual(
      try count("SELECT count(*) FROM removals WHERE kind = 'message'", pair.alice), 1, "the other is withdrawn")
    XCTAssertEqual(try count("SELECT count(*) FROM removals WHERE kind = 'x'", pair.alice), 0)
  }

  func testAChatIsReadAndEmptiedThoughAnEntryIsDamaged() throws {
    let pair = try Pair()
    try damaged(pair)
    pair.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
    let removed = "SELECT count(*) FROM ledger WHERE removal_due = 1 AND kind = 'message'"
    XCTAssertEqual(try count(removed, pair.alice), 1)
    let item = pair.alice.send("/_get chat @1 count=2")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    pair.alice.send("/_delete item @1 \(item) internal").assert("chatItemsDeleted")
    pair.alice.send("/_delete @1 messages").assert("contactDeleted")
    XCTAssertEqual(try count("SELECT count(*) FROM items", pair.alice), 0)
    pair.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
  }

  /// Entries committed by an extension, and those waiting to be shown or withdrawn.
  func testOthersAreShownReportedAndWithdrawnThoughAnEntryIsDamaged() throws {
    let station = try Station()
    station.suspend()
    let first = try station.present(try station.push(for: "first"))
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    station.alice.dropEvents()
    station.pair.send("broken", from: station.bob)
    station.pair.send("whole", from: station.bob)
    let pushes = try station.allPushes()
    let shown = try pushes.map { try station.present($0) }
    XCTAssertEqual(shown.flatMap(\.bodies), ["broken", "whole"])
    XCTAssertEqual(shown.flatMap(\.withdrawn), first.identifiers)
    // As before they were shown, with one damaged.
    try execute(
      [
        "UPDATE ledger SET state = 'committed' WHERE kind = 'message' AND state = 'presented'",
        "UPDATE ledger SET removal_due = 1 WHERE state = 'read' AND kind = 'message'", Self.damageEntry(of: "broken"),
        "UPDATE ledger SET removal_due = 1 WHERE kind = 'x'",
      ], station.alice)
    let again = try station.present(try station.push(for: "next"))
    XCTAssertEqual(again.bodies, ["whole", "next"], again.description)
    XCTAssertEqual(again["withdrawals"].elements.map(\.text), first.identifiers)
    // Only the newest, and it is damaged.
    try execute(
      [Self.damageEntry(of: "next"), "UPDATE ledger SET state = 'committed' WHERE kind = 'x'"], station.alice)
    try execute(
      [
        """
        UPDATE ledger SET state = 'committed'
        WHERE entry_id = (SELECT ledger_entry FROM items WHERE content LIKE '%whole%')
        """
      ], station.alice)
    XCTAssertEqual(try station.present(pushes[0]).bodies, ["whole"])
    // The host is notified of the others.
    station.alice.send("/_app activate").assert("cmdOk")
    let event = station.alice.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(event?["content"]["msgContent"]["text"].text, "whole")
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
