import CNightporter
import Foundation
import PorterStore
import XCTest

/// Events without a message, such as the acceptance of a contact's request, are reported to the app's host as reliably
/// as messages: whichever process committed them, and again if the app ends before its host has taken them.
final class KeptEventTests: XCTestCase {
  /// Starts the app three times. Each run ends after the first event of these types. Returns the events of each run.
  private func starts(_ prefix: String, _ types: Set<String>) throws -> [[JSON]] {
    var found: [[JSON]] = []
    for _ in 0..<3 {
      let app = try XCTUnwrap(Host.open(prefix).host)
      app.send("/_start").assert("chatStarted")
      awaitRest(of: app)
      var events: [JSON] = []
      while events.isEmpty, let event = app.event(within: 0.3) {
        if types.contains(event["result"]["type"].text) { events.append(event["result"]) }
      }
      found.append(events)
      app.free()
    }
    return found
  }

  private func assertOnce(
    _ type: String, _ prefix: String, file: StaticString = #filePath, line: UInt = #line
  ) throws -> JSON {
    let found = try starts(prefix, [type])
    XCTAssertEqual(found.map(\.count), [1, 0, 0], "\(found)", file: file, line: line)
    return try XCTUnwrap(found.joined().first, file: file, line: line)
  }

  private func count(_ sql: String, of host: Host) throws -> Int64 {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    return try store.integer(sql) ?? -1
  }

  private func suspend(_ host: Host) {
    host.send("/_app suspend 5000000").assert("cmdOk")
    host.event("chatSuspended")
  }

  func testThatAnAddressHasAcceptedAndItsContactIsReadyComesAgainAfterARestart() throws {
    let folder = try TemporaryFolder()
    let (alice, carol) = (
      try XCTUnwrap(Host.open(folder.file("alice")).host), try XCTUnwrap(Host.open(folder.file("carol")).host)
    )
    let relay = folder.file("relay.db")
    alice.begin("alice", relay: relay)
    carol.begin("carol", relay: relay)
    let link = alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    alice.send(#"/_address_settings 1 {"businessAddress":false,"autoAccept":{"acceptIncognito":false}}"#)
      .assert("userContactLinkUpdated")
    alice.dropEvents()
    carol.send("/connect \(link)").assert("sentInvitation")
    try awaitThat("the confirmation is sent") {
      try count("SELECT count(*) FROM ledger WHERE kind = 'ready'", of: alice) == 1
    }
    suspend(carol)
    // Its host takes nothing.
    let prefix = alice.prefix
    alice.free()
    let found = try starts(prefix, ["acceptingContactRequest", "contactSndReady"])
    XCTAssertEqual(
      found.map { $0.map { $0["type"].text } }, [["acceptingContactRequest"], ["contactSndReady"], []], "\(found)")
    for event in found.joined() {
      XCTAssertEqual(event["contact"]["profile"]["displayName"].text, "carol", event.description)
    }
  }

  func testThatMessagesHaveDisappearedComesAgainAfterARestart() throws {
    let pair = try Pair()
    pair.alice.dropEvents()
    let sent = pair.alice.send("/_send @1 ttl=1 text soon gone")["result"]["chatItems"][0]["chatItem"]
    try awaitThat("it is deleted") { try count("SELECT count(*) FROM items", of: pair.alice) == 0 }
    let prefix = pair.alice.prefix
    pair.alice.free()
    let event = try assertOnce("chatItemsDeleted", prefix)
    XCTAssertTrue(event["timed"].flag, event.description)
    XCTAssertEqual(event["chatItemDeletions"].count, 1, event.description)
    let deleted = event["chatItemDeletions"][0]["deletedChatItem"]["chatItem"]
    XCTAssertEqual(deleted["meta"]["itemId"].number, sent["meta"]["itemId"].number, event.description)
    XCTAssertEqual(deleted["chatDir"]["type"].text, "directSnd", event.description)
  }

  /// Bob deletes the connection before alice's greeting, which finds no mailbox.
  func testThatAContactLeftComesAgainAfterARestart() throws {
    let folder = try TemporaryFolder()
    let (alice, bob) = (
      try XCTUnwrap(Host.open(folder.file("alice")).host), try XCTUnwrap(Host.open(folder.file("bob")).host)
    )
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    suspend(alice)
    bob.send("/connect \(link)").assert("sentConfirmation")
    bob.send("/_delete :1 full notify=off").assert("contactConnectionDeleted")
    let relay = try Database(path: folder.file("relay.db"))
    defer { try? relay.close() }
    try awaitThat("bob's mailbox is gone") { try relay.integer("SELECT count(*) FROM mailbox") == 1 }
    alice.send("/_app activate").assert("cmdOk")
    try awaitThat("alice's side has ended") {
      try count("SELECT count(*) FROM connections WHERE status = 'left'", of: alice) == 1
    }
    let prefix = alice.prefix
    alice.free()
    let event = try assertOnce("contactDeletedByContact", prefix)
    XCTAssertEqual(event["contact"]["profile"]["displayName"].text, "bob", event.description)
  }

  /// An extension quarantines a message that does not open.
  func testThatAMessageDidNotOpenIsReportedToTheApp() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let relay = try Database(path: station.pair.folder.file("relay.db"))
    try relay.execute(damageToWaitingMessages)
    try relay.close()
    XCTAssertEqual(try station.present(push)["outcome"].text, "quarantined")
    let prefix = station.alice.prefix
    station.alice.free()
    let event = try assertOnce("messageError", prefix)
    XCTAssertEqual(event["severity"].text, "error", event.description)
    XCTAssertFalse(event["errorMessage"].text.isEmpty, event.description)
  }

  /// The call was missed while the app was suspended: its item has changed.
  func testThatACallWasMissedIsReportedToTheApp() throws {
    let station = try Station()
    station.suspend()
    let audio = #"{"media":"audio","capabilities":{"encryption":true}}"#
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    XCTAssertEqual(try station.present(station.nextPush()).bodies, ["Incoming audio call"])
    station.bob.send("/_call end @1").assert("cmdOk")
    XCTAssertEqual(try station.present(station.nextPush()).bodies, ["Missed call"])
    let prefix = station.alice.prefix
    station.alice.free()
    let event = try assertOnce("chatItemUpdated", prefix)
    XCTAssertEqual(event["chatItem"]["chatItem"]["content"]["status"].text, "missed", event.description)
  }

  /// When the host has an event, the fact that it was taken is on disk, even if another process is writing to the
  /// store.
  func testWhatTheHostHasTakenIsNotedThoughAnotherProcessWrites() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.send("hello", from: pair.bob)
    awaitThat("it came") { pair.texts(pair.alice) == ["hello"] }
    awaitRest(of: pair.alice)
    let other = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? other.close() }
    try other.execute("BEGIN IMMEDIATE")
    pair.alice.event("newChatItems")
    // A host waits 100 ms for it; an engine that has no processor may take longer.
    awaitThat("it is noted") { FileManager.default.fileExists(atPath: pair.alice.prefix + "_taken") }
    try other.execute("ROLLBACK")
  }

  /// Messages sent by a share extension are new to the app's host, and so is their outcome.
  func testWhatAShareExtensionSentIsReportedToTheApp() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.alice.dropEvents()
    var handle: chat_ctrl?
    let answer = take(
      chat_migrate_init_key(pair.alice.prefix, "", 1, "yesUp", Int32(NP_ROLE_SHARE.rawValue), &handle))
    let share = Host(try XCTUnwrap(handle, answer), pair.alice.prefix)
    XCTAssertEqual(np_set_phase(share.handle, NP_PHASE_ACTIVE), NP_OK)
    pair.send("shared", from: share)
    pair.bob.event("newChatItems")
    share.send("/_app suspend 3000000").assert("cmdOk")
    share.event("chatSuspended")
    share.free()
    pair.alice.send("/_app activate").assert("cmdOk")
    let sent = try XCTUnwrap(pair.alice.event("newChatItems"))["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(sent["content"]["msgContent"]["text"].text, "shared", sent.description)
    XCTAssertEqual(sent["chatDir"]["type"].text, "directSnd", sent.description)
    let status = try XCTUnwrap(pair.alice.event("chatItemsStatusesUpdated"))["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(status["meta"]["itemId"].number, sent["meta"]["itemId"].number)
    let prefix = pair.alice.prefix
    pair.alice.free()
    XCTAssertEqual(try starts(prefix, ["newChatItems", "chatItemsStatusesUpdated"]).map(\.count), [0, 0, 0])
  }
}
