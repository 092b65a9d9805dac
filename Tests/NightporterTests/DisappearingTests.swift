import Foundation
import PorterStore
import XCTest

/// Messages with a time to stay: it runs from their being read, or sent, and ends them on both sides.
final class DisappearingTests: XCTestCase {
  private func execute(_ sql: String, _ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    _ = try database.run(sql)
  }

  /// What an extension shows of a message, after pushes of messages that the application had already.
  private func bodies(for text: String, _ station: Station) throws -> [String] {
    station.pair.send(text, from: station.bob)
    return try station.allPushes().flatMap { try station.present($0).bodies }
  }

  func testAMessageDisappearsFromBothSidesInItsTime() throws {
    let pair = try Pair()
    pair.bob.send("/_send @1 ttl=1 text soon gone").assert("newChatItems")
    let item = try XCTUnwrap(pair.alice.event("newChatItems", within: 20))["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(item["meta"]["itemTimed"]["ttl"].number, 1)
    XCTAssertFalse(item["meta"]["itemTimed"]["deleteAt"].exists, "it was not read yet")
    let gone = try XCTUnwrap(pair.bob.event("chatItemsDeleted", within: 20))["result"]
    XCTAssertTrue(gone["timed"].flag)
    XCTAssertEqual(pair.texts(pair.bob), [])
    XCTAssertEqual(pair.texts(pair.alice), ["soon gone"])
    pair.alice.send("/_read chat @1").assert("cmdOk")
    pair.alice.event("chatItemsDeleted", within: 20)
    XCTAssertEqual(pair.texts(pair.alice), [])
  }

  func testWithoutBothSidesConsentNothingDisappears() throws {
    let pair = try Pair()
    pair.alice.send(#"/_profile 1 {"displayName":"alice","preferences":{"timedMessages":{"allow":"no"}}}"#)
      .assert("userProfileUpdated")
    pair.bob.event("contactUpdated", within: 20)
    let sent = pair.bob.send("/_send @1 ttl=1 text for good")["result"]["chatItems"][0]["chatItem"]
    XCTAssertFalse(sent["meta"]["itemTimed"].exists, sent.description)
    try execute("UPDATE contacts SET profile = NULL", pair.bob)
    pair.bob.send("/_send @1 ttl=1 text for good, too").assert("newChatItems")
    pair.alice.event("newChatItems", within: 20)
    let second = try XCTUnwrap(pair.alice.event("newChatItems", within: 20))["result"]["chatItems"][0]["chatItem"]
    XCTAssertFalse(second["meta"]["itemTimed"].exists, second.description)
  }

  /// Its time runs while no process does; it is deleted at the next start, by the application alone.
  func testTimersSurviveARestart() throws {
    let station = try Station()
    station.bob.send("/_send @1 ttl=1 text soon gone").assert("newChatItems")
    station.alice.event("newChatItems", within: 20)
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let store = try Database(path: station.alice.prefix + "_chat.db")
    let due = try XCTUnwrap(try store.integer("SELECT delete_at FROM items"))
    while Date().timeIntervalSince1970 * 1_000 < Double(due + 1) { usleep(20_000) }
    XCTAssertEqual(try bodies(for: "two", station), ["two"])
    XCTAssertEqual(try store.integer("SELECT count(*) FROM items"), 2, "an extension deletes nothing")
    // As after a boot: only the wall clock tells how long it was.
    _ = try store.run("UPDATE items SET delete_boot = 'another', delete_moment = 1 << 62 WHERE delete_at IS NOT NULL")
    try store.close()
    let prefix = station.alice.prefix
    station.alice.free()
    let again = try XCTUnwrap(Host.open(prefix).host)
    again.send(#"/_network {"relay":"\#(station.pair.folder.file("relay.db"))"}"#).assert("cmdOk")
    again.send("/_start").assert("chatStarted")
    XCTAssertTrue(try XCTUnwrap(again.event("chatItemsDeleted", within: 20))["result"]["timed"].flag)
    XCTAssertEqual(station.pair.texts(again), ["two"])
  }

  // MARK: Marked as deleted before their time runs

  private func item(of event: JSON) -> Int { event["result"]["chatItems"][0]["chatItem"]["meta"]["itemId"].number }

  /// Waits until a message that is marked has disappeared by its time.
  private func assertMarkedDisappears(
    _ host: Host, _ pair: Pair, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let gone = try XCTUnwrap(host.event("chatItemsDeleted", file: file, line: line), file: file, line: line)["result"]
    XCTAssertTrue(gone["timed"].flag, gone.description, file: file, line: line)
    XCTAssertEqual(pair.texts(host), [], file: file, line: line)
  }

  func testAMessageThatItsSenderDeletesUnreadDisappears() throws {
    let pair = try Pair()
    let sent = pair.bob.send("/_send @1 ttl=2 text soon gone", arrives: false)
    pair.bob.send("/_delete item @1 \(item(of: sent)) broadcast").assert("chatItemsDeleted")
    let marked = try XCTUnwrap(pair.alice.event("chatItemsDeleted"))["result"]
    XCTAssertFalse(marked["timed"].flag, marked.description)
    XCTAssertTrue(
      marked["chatItemDeletions"][0]["toChatItem"]["chatItem"]["meta"]["itemTimed"]["deleteAt"].exists,
      marked.description)
    pair.alice.send("/_read chat @1").assert("cmdOk")
    for host in [pair.alice, pair.bob] { try assertMarkedDisappears(host, pair) }
  }

  func testAMessageThatItsReceiverMarksUnreadDisappears() throws {
    let pair = try Pair()
    pair.bob.send("/_send @1 ttl=1 text soon gone").assert("newChatItems")
    let received = item(of: try XCTUnwrap(pair.alice.event("newChatItems")))
    pair.alice.send("/_delete item @1 \(received) internalMark").assert("chatItemsDeleted")
    try assertMarkedDisappears(pair.alice, pair)
  }

  func testALiveMessageThatIsDeletedUnfinishedDisappears() throws {
    let pair = try Pair()
    let sent = pair.bob.send("/_send @1 live=on ttl=1 text hel")
    pair.alice.event("newChatItems")
    pair.bob.send("/_delete item @1 \(item(of: sent)) broadcast").assert("chatItemsDeleted")
    pair.alice.event("chatItemsDeleted")
    for host in [pair.bob, pair.alice] { try assertMarkedDisappears(host, pair) }
  }
}
