import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// Messages with a limited lifetime. It starts when they are read, or sent, and ends them on both sides.
final class DisappearingTests: XCTestCase {
  private func execute(_ sql: String, _ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    _ = try database.run(sql)
  }

  /// What an extension shows of a message, after pushes for messages that the application already had.
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

  /// The time runs even when no process does; the message is deleted at the next start, by the application alone.
  func testTimersSurviveARestart() throws {
    let station = try Station()
    station.bob.send("/_send @1 ttl=3600 text soon gone").assert("newChatItems")
    station.alice.event("newChatItems", within: 20)
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    // An hour later, however long the suspension took.
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute("UPDATE items SET delete_at = delete_at - 3600000, delete_moment = 0")
    XCTAssertEqual(try bodies(for: "two", station), ["two"])
    XCTAssertEqual(try store.integer("SELECT count(*) FROM items"), 2, "an extension deletes nothing")
    // As after a boot: only the wall clock knows how long it took.
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

  /// Waits until a marked message has disappeared when its time is up.
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

  // MARK: Unfinished when their contact leaves

  /// Bob's app has sent a message that disappears after an hour and is still being written, and alice has it.
  private func unfinished(_ pair: Pair, _ clock: MovedClock) throws -> (bob: Host, item: Int) {
    pair.bob.free()
    let bob = try Host.open(pair.bob.prefix, clock: clock)
    bob.send("/_start").assert("chatStarted")
    let sent = item(of: bob.send("/_send @1 live=on ttl=3600 text hel"))
    pair.alice.event("newChatItems")
    return (bob, sent)
  }

  /// The message is complete as it is, and disappears after an hour.
  private func assertEnded(
    _ meta: JSON, _ bob: Host, _ pair: Pair, _ clock: MovedClock, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    XCTAssertFalse(meta["itemLive"].flag, meta.description, file: file, line: line)
    XCTAssertTrue(meta["itemTimed"]["deleteAt"].exists, meta.description, file: file, line: line)
    clock.move(.seconds(3_600))
    // Any call makes the engine check its timers.
    _ = bob.state
    try assertMarkedDisappears(bob, pair, file: file, line: line)
  }

  func testAnUnfinishedLiveMessageDisappearsAfterItsContactHasLeft() throws {
    let (pair, clock) = (try Pair(), MovedClock())
    let (bob, _) = try unfinished(pair, clock)
    pair.alice.send("/_delete @1 full").assert("contactDeleted")
    let whole = try XCTUnwrap(bob.event("chatItemUpdated"))["result"]["chatItem"]["chatItem"]["meta"]
    bob.event("contactDeletedByContact")
    try assertEnded(whole, bob, pair, clock)
  }

  /// Its author deletes the contact and keeps the conversation.
  func testAnUnfinishedLiveMessageDisappearsFromAConversationThatIsKept() throws {
    let (pair, clock) = (try Pair(), MovedClock())
    let (bob, sent) = try unfinished(pair, clock)
    bob.send("/_delete @1 entity").assert("contactDeleted")
    let kept = bob.send("/_get chat @1 around=\(sent) count=1")["result"]["chat"]["chatItems"][0]["meta"]
    try assertEnded(kept, bob, pair, clock)
  }

  /// An extension receives the news that the contact has left: the app's host is notified of the effect on the message.
  func testAnUnfinishedLiveMessageThatAnExtensionEndsIsReportedInTheApp() throws {
    let station = try Station()
    station.alice.send("/_send @1 live=on ttl=3600 text hel").assert("newChatItems")
    station.bob.event("newChatItems")
    // Otherwise alice's mailbox may have bob's receipt as well.
    try awaitQuiet([station.alice, station.bob], relay: station.pair.folder.file("relay.db"))
    station.suspend()
    station.bob.send("/_delete @1 full").assert("contactDeleted")
    try awaitThat("alice's mailbox has it") {
      let relay = try Database(path: station.pair.folder.file("relay.db"))
      defer { try? relay.close() }
      return try relay.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") == 1
    }
    _ = try station.present(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    station.alice.send("/_app activate").assert("cmdOk")
    let whole = try XCTUnwrap(station.alice.event("chatItemUpdated"))["result"]["chatItem"]["chatItem"]["meta"]
    XCTAssertFalse(whole["itemLive"].flag, whole.description)
    XCTAssertTrue(whole["itemTimed"]["deleteAt"].exists, whole.description)
    station.alice.event("contactDeletedByContact")
  }
}
