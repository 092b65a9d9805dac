import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// What a push shows when it cannot get its message: a placeholder, which the message replaces when it arrives.
final class PlaceholderTests: XCTestCase {
  private static let category = "NTF_CAT_CONNECTION_EVENT"

  /// A sleeping app, a push for `text`, and an extension whose relay is out of reach.
  private func offline(_ station: Station, _ push: String) throws -> JSON {
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.get)
    let answer = service.push(push)
    XCTAssertEqual(answer["outcome"].text, "offline", answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    return answer
  }

  /// INC-47: the message arrives with the next push, under the identifier of its placeholder.
  func testINC47AMessageReplacesItsPlaceholder() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let early = try offline(station, push)
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    XCTAssertEqual(early.titles, ["bob:"])
    XCTAssertEqual(early["notifications"][0]["categoryIdentifier"].text, Self.category)
    XCTAssertEqual(early["badge"].number, 0, "what has not come does not count")
    XCTAssertEqual(try offline(station, push).placeholders, [], "announced once")

    let late = try station.present(push)
    XCTAssertEqual(late["outcome"].text, "presented", late.description)
    XCTAssertEqual(late.bodies, ["hello"])
    XCTAssertEqual(late.identifiers, early.identifiers)
    XCTAssertEqual(late["withdrawals"].count, 0, late.description)
    XCTAssertEqual(late["badge"].number, 1)
    XCTAssertEqual(try station.present(push).bodies, [])
    station.wake(expecting: ["hello"])
  }

  /// Unread messages count, although the placeholder's message does not count yet.
  func testINC61APlaceholderKeepsTheBadge() throws {
    let station = try Station()
    station.suspend()
    for (text, badge) in [("one", 1), ("two", 2)] {
      XCTAssertEqual(try station.present(station.push(for: text))["badge"].number, badge)
    }
    let early = try offline(station, try station.push(for: "three"))
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    XCTAssertEqual(early["badge"].number, 2, early.description)
    XCTAssertEqual(early["notifications"][0]["badge"].number, 2, early.description)
  }

  /// Muted chats stay muted: when the message arrives, nothing of it is shown, and the placeholder is withdrawn.
  func testThePlaceholderOfAChatThatIsMutedSinceIsWithdrawn() throws {
    let station = try Station()
    station.suspend()
    let early = try offline(station, try station.push(for: "hello"))
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    try station.carryOut([#"/_settings @1 {"enableNtfs":"none","favorite":false}"#])
    let service = try station.makeExtension()
    let late = service.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    XCTAssertEqual(late["notifications"].count, 0, late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), early.identifiers, late.description)
    let again = service.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
    XCTAssertEqual(again["withdrawals"].count, 0, again.description)
  }

  /// The app receives the announced message: it is reported once, and reading it withdraws the notification.
  func testTheAppReceivesWhatWasAnnounced() throws {
    let station = try Station()
    station.suspend()
    let early = try offline(station, try station.push(for: "hello"))
    station.wake(expecting: ["hello"])
    XCTAssertEqual(station.alice.event("newChatItems")?["result"]["chatItems"].count, 1)
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let later = try station.present(try station.push(for: "more"))
    XCTAssertEqual(later.bodies, ["more"], later.description)
    XCTAssertEqual(later.withdrawn, early.identifiers)
  }

  /// Reading a whole chat removes its placeholders; the message itself still arrives.
  func testReadingAChatWithdrawsItsPlaceholders() throws { try placeholdersGo(by: "/_read chat @1") }
  func testReadingAllChatsWithdrawsTheirPlaceholders() throws { try placeholdersGo(by: "/_read user 1") }

  private func placeholdersGo(by command: String) throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let early = try offline(station, push)
    try station.carryOut([command])
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.get)
    let again = service.push(push)
    XCTAssertEqual(again.withdrawn, early.identifiers, again.description)
    XCTAssertEqual(again.titles, [])
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late["withdrawals"].count, 0, late.description)
  }

  /// INC-37: muted chats stay silent, and hidden previews stay hidden.
  func testINC37WhatIsMutedOrHiddenStaysSo() throws {
    let station = try Station()
    station.suspend()
    let muted = try station.push(for: "muted")
    // While the push is on its way; the server sends none for a muted chat.
    try station.carryOut([#"/_settings @1 {"enableNtfs":"none","favorite":false}"#])
    XCTAssertEqual(try offline(station, muted).titles, [])
    XCTAssertEqual(try expired(station, muted).titles, [])

    station.wake(expecting: ["muted"])
    // Otherwise the subscription watched below may be the one about to be released.
    try station.awaitWatched(0)
    station.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":false}"#).assert("cmdOk")
    station.alice.send(#"/_save app settings {"notificationPreviewMode":"hidden"}"#).assert("cmdOk")
    try station.awaitWatched(1)
    station.suspend()
    let answer = try offline(station, try station.push(for: "more"))
    XCTAssertEqual(answer.titles, ["Contact hidden:"], answer.description)
    XCTAssertFalse(answer.description.contains("bob"), answer.description)
  }

  private func expired(_ station: Station, _ push: String) throws -> JSON {
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    let answer = try repeating(while: \.isWithoutEngine, of: service) {
      transport.waitUntilOutside()
      transport.hang(true)
      let first = service.inBackground { $0.push(push, deadline: 30_000).description }
      transport.waitUntilInside()
      XCTAssertEqual(np_expire_push(service.handle), NP_OK)
      transport.hang(false)
      return JSON(try XCTUnwrap(first.wait(atMost: .seconds(20))))
    }
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    return answer
  }

  func testAPushThatExpiresAnnouncesItsMessage() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let early = try expired(station, push)
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["hello"])
    XCTAssertEqual(late.identifiers, early.identifiers)
  }

  /// The announced message turns out not to open: the placeholder is withdrawn.
  func testAPlaceholderWhoseMessageDoesNotOpenIsWithdrawn() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let early = try offline(station, push)
    let relay = try Database(path: station.pair.folder.file("relay.db"))
    try relay.execute(damageToWaitingMessages)
    try relay.close()
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, [])
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), early.identifiers, late.description)
  }

  /// A push was sent, then the mode was switched and the key to its entry was forgotten: the message it is about cannot
  /// be determined, but the notice can say that something is waiting.
  func testAPushOfASwitchedOffSubscriptionHasANoticeWhileTheRelayIsOutOfReach() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute(
      """
      UPDATE connections SET notifier_key = NULL, notifier_box_key = NULL, notifier_secret = NULL, subscription = 'off';
      UPDATE token SET mode = 'PERIODIC'
      """)
    // Muted chats have released their subscriptions, too.
    try store.execute("UPDATE contacts SET notifications = 'none'")
    XCTAssertEqual(try offline(station, push).identifiers, [])
    try store.execute("UPDATE contacts SET notifications = 'all'")
    try store.close()

    let early = try offline(station, push)
    XCTAssertEqual(early.identifiers, ["np:notice"], early.description)
    XCTAssertFalse(early.titles.contains { $0.contains("bob") }, early.description)
    // It stays as long as nothing else can be said, whatever is withdrawn in the meantime.
    for attempt in 1...2 {
      let again = try offline(station, push)
      XCTAssertEqual(again["outcome"].text, "offline", again.description)
      XCTAssertEqual(again.identifiers, ["np:notice"], "\(attempt): \(again)")
      XCTAssertEqual(again["withdrawals"].count, 0, "\(attempt): \(again)")
    }
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"], late.description)
  }

  /// A round that is cut off, or a push that is not about messages, knows no more than before.
  func testANoticeStaysWhenARoundIsCutOff() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute(
      """
      UPDATE connections SET notifier_key = NULL, notifier_box_key = NULL, notifier_secret = NULL, subscription = 'off';
      UPDATE token SET mode = 'PERIODIC'
      """)
    try store.close()
    XCTAssertEqual(try offline(station, push).identifiers, ["np:notice"])
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let cut = service.push(wake, deadline: 300)
    transport.hang(false)
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    XCTAssertEqual(cut["withdrawals"].count, 0, cut.description)
    let whole = service.push(wake)
    XCTAssertEqual(whole.bodies, ["hello"], whole.description)
    XCTAssertEqual(whole["withdrawals"].elements.map(\.text), ["np:notice"], whole.description)
  }

  /// Nor does a round whose store fails on what arrived, as on a full disk.
  func testANoticeStaysWhileTheStoreTakesNothing() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute(
      """
      UPDATE connections SET notifier_key = NULL, notifier_box_key = NULL, notifier_secret = NULL, subscription = 'off';
      UPDATE token SET mode = 'PERIODIC';
      """)
    XCTAssertEqual(try offline(station, push).identifiers, ["np:notice"])
    try store.execute(
      "CREATE TRIGGER failing BEFORE INSERT ON items BEGIN SELECT RAISE(ABORT, 'the disk fails'); END")
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let failed = try station.present(wake)
    XCTAssertEqual(failed["outcome"].text, "failed", failed.description)
    XCTAssertEqual(failed["withdrawals"].count, 0, failed.description)
    try store.execute("DROP TRIGGER failing")
    XCTAssertEqual(try station.present(wake)["withdrawals"].elements.map(\.text), ["np:notice"])
  }

  /// Notifications of messages the user read are withdrawn by the next answer; that says nothing about the push's
  /// subject.
  func testANoticeIsShownBesideWhatIsWithdrawn() throws {
    let station = try Station()
    station.suspend()
    let first = try station.present(try station.push(for: "one"))
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "two")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute(
      """
      UPDATE connections SET notifier_key = NULL, notifier_box_key = NULL, notifier_secret = NULL, subscription = 'off';
      UPDATE token SET mode = 'PERIODIC'
      """)
    try store.close()
    let early = try offline(station, push)
    XCTAssertEqual(early["outcome"].text, "offline", early.description)
    XCTAssertEqual(early.identifiers, ["np:notice"], early.description)
    XCTAssertEqual(early.withdrawn, first.identifiers, early.description)
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["two"], late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"], late.description)
  }

  /// The record named by the push cannot be read: the user learns that something is wrong, and, once the record is
  /// whole, of the message.
  func testAPushThatNamesADamagedRecordHasANotice() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? store.close() }
    let whole = try XCTUnwrap(try store.first("SELECT recipient_key FROM connections") { $0.blob(0) })
    try store.run("UPDATE connections SET recipient_key = x'00'")
    for _ in 1...2 {
      let failed = try station.present(push)
      XCTAssertEqual(failed["outcome"].text, "failed", failed.description)
      XCTAssertEqual(failed.titles, ["Encrypted message: database error"], failed.description)
    }
    try store.run("UPDATE connections SET recipient_key = ?", [.blob(whole)])
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"], late.description)
  }

  // MARK: Notices

  /// Nothing can be read, so the notice does not say whom it is for; it is withdrawn when the store can be read.
  func testAStoreThatDoesNotOpenHasANotice() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    service.send("/_app suspend 0").assert("cmdOk")
    let file = station.alice.prefix + "_chat.db"
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    let garbage = Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try garbage.write(to: URL(fileURLWithPath: file))
    let failed = service.push(push)
    XCTAssertEqual(failed["outcome"].text, "failed", failed.description)
    XCTAssertEqual(failed.titles, ["Encrypted message: database error"])
    XCTAssertEqual(failed.identifiers, ["np:notice"])
    XCTAssertEqual(failed["notifications"][0]["categoryIdentifier"].text, Self.category)
    XCTAssertEqual(
      service.push(#"{"aps":{},"notificationData":{"checkMessages":true}}"#).titles, [], "not about a message")

    let (opening, none) = Host.open(station.alice.prefix, isExtension: true)
    XCTAssertNil(none)
    XCTAssertEqual(JSON(opening)["notice"]["title"].text, "Encrypted message: no passphrase", opening)
    XCTAssertEqual(JSON(opening)["notice"]["identifier"].text, "np:notice")
    let (inApp, _) = Host.open(station.alice.prefix)
    XCTAssertEqual(JSON(inApp)["notice"]["identifier"].text, "np:notice", "launched for a push: \(inApp)")
    var handle: chat_ctrl?
    let share = Int32(NP_ROLE_SHARE.rawValue)
    let inShare = take(chat_migrate_init_key(station.alice.prefix, "", 1, "yesUp", share, &handle))
    XCTAssertFalse(JSON(inShare)["notice"].exists, "it has a screen, and no pushes: \(inShare)")

    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
    let late = try station.present(push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"], "by another controller, too")
    XCTAssertEqual(try station.present(push)["withdrawals"].count, 0)
  }

  /// INC-50: before the first unlock after a restart no process has the key. The push ends as `locked`; the message
  /// stays at the relay and is shown after the unlock.
  func testINC50WhatCameBeforeTheFirstUnlockIsShownAfterIt() throws {
    let key = "x'" + String(repeating: "5a", count: 32) + "'"
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.free()
    let sealing = try XCTUnwrap(Host.open(station.alice.prefix).host)
    XCTAssertEqual(JSON(take(np_change_key(sealing.handle, "", key)))["result"]["type"].text, "cmdOk")
    sealing.free()
    var handle: chat_ctrl?
    _ = take(chat_migrate_init_key(station.alice.prefix, key, 0, "yesUp", 1, &handle))
    let service = Host(try XCTUnwrap(handle), station.alice.prefix)
    XCTAssertEqual(service.closeStore(), "", "which forgets the key")
    let locked = service.push(push)
    XCTAssertEqual(locked["outcome"].text, "locked", locked.description)
    XCTAssertTrue(locked["quiescent"].flag, locked.description)
    XCTAssertEqual(locked.titles, ["Encrypted message: device is locked"])
    XCTAssertEqual(locked.bodies, [])

    XCTAssertEqual(np_set_key(service.handle, key, 1), NP_OK)
    let late = service.push(push)
    XCTAssertEqual(late["outcome"].text, "presented", late.description)
    XCTAssertEqual(late.bodies, ["hello"])
    XCTAssertEqual(late["badge"].number, 1)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"])
    XCTAssertEqual(service.push(push)["notifications"].count, 0, "each once")
  }

  func testAStoppedChatAndANewerSchemaSayWhatToDo() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let push = try station.push(for: "hello")
    service.send("/_app suspend 0").assert("cmdOk")
    let database = try Database(path: station.alice.prefix + "_chat.db")
    let version = try database.integer("PRAGMA user_version") ?? 0
    try database.setUserVersion(999)
    let schema = service.push(push)
    XCTAssertEqual(schema["outcome"].text, "wrongSchema", schema.description)
    XCTAssertEqual(schema.titles, ["Encrypted message: database migration error"])
    XCTAssertEqual(schema.placeholders, ["Open the app to update its database."])
    let (opening, _) = Host.open(station.alice.prefix, isExtension: true)
    XCTAssertEqual(JSON(opening)["notice"]["bodyKey"].text, "Open the app to update its database.", opening)
    let cause = JSON(opening)["migrationError"]["mtrError"]
    XCTAssertEqual(cause["type"].text, "noDown", "only a newer program can open it: \(opening)")
    XCTAssertEqual(cause["dbMigrations"].count, 1, opening)
    try database.setUserVersion(Int32(clamping: version))
    try database.close()

    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_stop").assert("chatStopped")
    let stopped = service.push(push)
    XCTAssertEqual(stopped["outcome"].text, "stopped", stopped.description)
    XCTAssertEqual(stopped.titles, ["Encrypted message: app is stopped"])
    XCTAssertEqual(stopped.placeholders, ["Open the app and start the chat to receive messages."])
  }
}
