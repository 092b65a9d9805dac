import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// Messages that change after they were sent: both sides end up with the same content, and so does the screen.
final class ChangingTests: XCTestCase {
  private func items(_ host: Host, _ count: Int = 50) -> [JSON] {
    host.send("/_get chat @1 count=\(count)")["result"]["chat"]["chatItems"].elements
  }

  private func lastItem(_ host: Host) -> Int { items(host, 1).first?["meta"]["itemId"].number ?? -1 }

  private func edit(_ item: Int, _ text: String, _ options: String = "") -> String {
    #"/_update item @1 \#(item)\#(options) json {"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}"#
  }

  private func react(_ item: Int, _ word: String, _ emoji: String) -> String {
    #"/_reaction @1 \#(item) \#(word) {"type":"emoji","emoji":"\#(emoji)"}"#
  }

  private func execute(_ sql: String, _ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    _ = try database.run(sql)
  }

  private func wait(_ what: String, line: UInt = #line, until holds: () throws -> Bool) rethrows {
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if try holds() { return }
      usleep(20_000)
    }
    XCTFail("this was never reached: \(what)", line: line)
  }

  /// Delivers one message of bob's to alice.
  private func deliver(_ text: String, _ pair: Pair) -> Int {
    pair.send(text, from: pair.bob)
    pair.alice.event("newChatItems", within: 20)
    return lastItem(pair.bob)
  }

  /// What an extension shows of a message, after pushes for messages that the application already had.
  private func bodies(for text: String, _ station: Station) throws -> [String] {
    station.pair.send(text, from: station.bob)
    return try station.allPushes().flatMap { try station.present($0).bodies }
  }

  // MARK: Edits

  func testAnEditReachesBothSides() throws {
    let pair = try Pair()
    let item = deliver("helo", pair)
    let answer = pair.bob.send(edit(item, "hello"))
    answer.assert("chatItemUpdated")
    XCTAssertTrue(answer["result"]["chatItem"]["chatItem"]["meta"]["itemEdited"].flag, answer.description)
    let event = try XCTUnwrap(pair.alice.event("chatItemUpdated", within: 20))["result"]["chatItem"]["chatItem"]
    XCTAssertEqual(event["content"]["msgContent"]["text"].text, "hello")
    XCTAssertTrue(event["meta"]["itemEdited"].flag)
    XCTAssertEqual(pair.texts(pair.alice), ["hello"])
    XCTAssertEqual(pair.alice.state["unread"].number, 1, "an edit is no new message")
    pair.bob.send(edit(item, "hello")).assert("chatItemNotChanged")
  }

  func testOnlyOnesOwnRecentMessagesAreEditedAndDeletedForBoth() throws {
    let pair = try Pair()
    let item = deliver("mine", pair)
    let theirs = lastItem(pair.alice)
    XCTAssertEqual(pair.alice.send(edit(theirs, "no")).errorTag, "invalidChatItemUpdate")
    XCTAssertEqual(pair.alice.send("/_delete item @1 \(theirs) broadcast").errorTag, "invalidChatItemDelete")
    XCTAssertEqual(pair.bob.send("/_delete item @1 \(item) history").errorTag, "invalidChatItemDelete")
    for command in [edit(99, "x"), "/_delete item @1 99 internal", react(99, "on", "👍")] {
      XCTAssertEqual(pair.bob.send(command).errorTag, "chatItemNotFound", command)
    }
    let long = String(repeating: "x", count: 20_000)
    XCTAssertEqual(pair.bob.send(edit(item, long))["error"]["np"]["code"].text, "messageTooLarge")
    XCTAssertTrue(items(pair.bob)[0]["meta"]["editable"].flag)
    try execute("UPDATE items SET sent_moment = sent_moment - 86400 * 1000000000", pair.bob)
    XCTAssertFalse(items(pair.bob)[0]["meta"]["editable"].flag)
    XCTAssertFalse(items(pair.bob)[0]["meta"]["deletable"].flag)
    XCTAssertEqual(pair.bob.send(edit(item, "late")).errorTag, "invalidChatItemUpdate")
    XCTAssertEqual(pair.bob.send("/_delete item @1 \(item) broadcast").errorTag, "invalidChatItemDelete")
    pair.bob.send("/_delete item @1 \(item) internal").assert("chatItemsDeleted")
    XCTAssertEqual(pair.texts(pair.alice), ["mine"])
  }

  /// The wall clock of the author's device is a year behind, or a year ahead: the day is counted by the time since boot.
  func testINC14OnesOwnMessagesAreChangedForADayWhateverTheWallClockSays() throws {
    for days in [-365, 365] as [Int64] {
      let pair = try Pair()
      let clock = MovedClock()
      pair.bob.free()
      let bob = try Host.open(pair.bob.prefix, clock: clock)
      bob.send("/_start").assert("chatStarted")
      for text in ["one", "two"] {
        bob.send("/_send @1 text \(text)").assert("newChatItems")
        pair.alice.event("newChatItems", within: 20)
      }
      let sent = items(bob).map { $0["meta"]["itemId"].number }
      clock.setWall(.days(days))
      clock.move(.seconds(86_000))
      XCTAssertTrue(items(bob).allSatisfy { $0["meta"]["editable"].flag && $0["meta"]["deletable"].flag }, "\(days)")
      bob.send(edit(sent[0], "one, edited")).assert("chatItemUpdated")
      bob.send("/_delete item @1 \(sent[1]) broadcast").assert("chatItemsDeleted")
      bob.send("/_send @1 text three").assert("newChatItems")
      let last = lastItem(bob)
      for step in [days, -days, 0] {
        clock.setWall(.days(step))
        clock.move(.days(step == days ? 1 : 0))
        XCTAssertFalse(items(bob).contains { $0["meta"]["editable"].flag }, "\(days), then \(step)")
        XCTAssertEqual(bob.send(edit(last, "late")).errorTag, "invalidChatItemUpdate", "\(days), then \(step)")
        XCTAssertEqual(
          bob.send("/_delete item @1 \(last) broadcast").errorTag, "invalidChatItemDelete", "\(days), then \(step)")
      }
    }
  }

  /// A program that takes alice's message for its own sends an edit and a deletion of it.
  func testChangesOfAnothersMessageAreQuarantinedWithTheReason() throws {
    let pair = try Pair()
    pair.send("alice's", from: pair.alice)
    pair.bob.event("newChatItems", within: 20)
    try execute("UPDATE items SET sent = 1", pair.bob)
    pair.bob.send(edit(lastItem(pair.bob), "forged")).assert("chatItemUpdated")
    pair.bob.send("/_delete item @1 \(lastItem(pair.bob)) broadcast").assert("chatItemsDeleted")
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try wait("quarantined") {
      try store.integer("SELECT count(*) FROM ledger WHERE reason = 'edit: notTheAuthor'") == 1
        && store.integer("SELECT count(*) FROM ledger WHERE reason = 'deletion: notTheAuthor'") == 1
    }
    XCTAssertEqual(pair.texts(pair.alice), ["alice's"])
  }

  /// Likewise after alice has deleted her message for herself: the edit is not taken for one whose message was lost.
  func testAnEditOfAnothersDeletedMessageShowsNothing() throws {
    let pair = try Pair()
    pair.send("alice's", from: pair.alice)
    pair.bob.event("newChatItems", within: 20)
    pair.alice.send("/_delete item @1 \(lastItem(pair.alice)) internal").assert("chatItemsDeleted")
    awaitRest(of: pair.alice)
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    let entries = try store.integer("SELECT count(*) FROM ledger") ?? 0
    try execute("UPDATE items SET sent = 1", pair.bob)
    pair.bob.send(edit(lastItem(pair.bob), "forged")).assert("chatItemUpdated")
    try wait("taken in") { try store.integer("SELECT count(*) FROM ledger") ?? 0 > entries }
    XCTAssertEqual(pair.texts(pair.alice), [])
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
  }

  /// While the application sleeps: the notification on screen is replaced, without a sound.
  func testAnEditedMessageReplacesItsNotificationWithoutASound() throws {
    let station = try Station()
    station.suspend()
    try station.alice.forgetSounds()
    let shown = try station.present(try station.push(for: "helo"))
    XCTAssertEqual(shown["notifications"][0]["sound"].text, "default")
    station.bob.send(edit(lastItem(station.bob), "hello")).assert("chatItemUpdated")
    let next = try station.present(try station.push(for: "two"))
    XCTAssertEqual(next.bodies, ["hello", "two"], next.description)
    XCTAssertEqual(next.identifiers.first, shown.identifiers.first)
    XCTAssertFalse(next["notifications"][0]["sound"].exists)
    XCTAssertEqual(next["badge"].number, 2)
    let third = try station.present(try station.push(for: "three"))
    XCTAssertEqual(third.bodies, ["three"], "replaced once")
    // The application is notified of what the extension received, once and in order.
    station.alice.send("/_app activate").assert("cmdOk")
    var types: [String] = []
    while types.filter({ $0 == "newChatItems" }).count < 3, let event = station.alice.event(within: 20) {
      types.append(event["result"]["type"].text)
    }
    XCTAssertEqual(
      types.filter { $0.hasPrefix("chatItem") || $0.hasPrefix("new") },
      ["newChatItems", "chatItemUpdated", "newChatItems", "newChatItems"])
  }

  /// A summary still counts an edited message, but no longer a deleted one.
  func testASummaryOfMessagesFollowsTheirChanges() throws {
    let station = try Station()
    station.suspend()
    let messages = (0..<8).map { #"{"msgContent":{"type":"text","text":"text \#($0)"},"mentions":{}}"# }
    station.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    let shown = try station.allPushes().flatMap { try station.present($0)["notifications"].elements }
    XCTAssertEqual(shown.last?["categoryIdentifier"].text, "NTF_CAT_MANY_EVENTS", "\(shown)")
    let last = lastItem(station.bob)
    station.bob.send(edit(last, "edited")).assert("chatItemUpdated")
    station.bob.send("/_delete item @1 \(last - 1) broadcast").assert("chatItemsDeleted")
    station.pair.send("one more", from: station.bob)
    let answers = try station.allPushes().map { try station.present($0) }
    let next = answers.flatMap { $0["notifications"].elements }
    XCTAssertEqual(answers.last?["badge"].number, 8)
    XCTAssertEqual(next.filter { $0["body"].text == "edited" }.count, 0, "a summary does not quote: \(next)")
    XCTAssertEqual(next.filter { $0["body"].text == "one more" }.count, 1, "\(next)")
    let summary = next.last { $0["identifier"].text == shown.last?["identifier"].text }
    XCTAssertTrue(summary.map { "\($0)".contains("7") } ?? false, "\(next)")
    XCTAssertFalse(summary?["sound"].exists ?? true)
  }

  /// A message edited before it is shown is shown once, in its latest form.
  func testAMessageEditedBeforeItIsShownIsShownOnce() throws {
    let station = try Station()
    station.suspend()
    try station.alice.forgetSounds()
    let push = try station.push(for: "helo")
    station.bob.send(edit(lastItem(station.bob), "hello")).assert("chatItemUpdated")
    let store = try Database(path: station.pair.folder.file("relay.db"))
    defer { try? store.close() }
    try wait("at the relay") { try store.integer("SELECT count(*) FROM message") ?? 0 >= 2 }
    let shown = try station.present(push)
    XCTAssertEqual(shown.bodies, ["hello"], shown.description)
    XCTAssertEqual(shown["notifications"][0]["sound"].text, "default")
  }

  // MARK: Deletions

  func testINC46ADeletedMessageIsWithdrawnAndCountedNoMore() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(try station.push(for: "one"))
    let deleted = station.bob.send("/_delete item @1 \(lastItem(station.bob)) broadcast")
    deleted.assert("chatItemsDeleted")
    let next = try station.present(try station.push(for: "two"))
    XCTAssertEqual(next["withdrawals"].elements.map(\.text), shown.identifiers, next.description)
    XCTAssertEqual(next.bodies, ["two"])
    XCTAssertEqual(next["badge"].number, 1)
    station.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(station.alice.event("chatItemsDeleted", within: 20))["result"]
    XCTAssertFalse(event["byUser"].flag)
    XCTAssertEqual(
      event["chatItemDeletions"][0]["deletedChatItem"]["chatItem"]["content"]["msgContent"]["text"].text, "one")
    let remaining = event["chatItemDeletions"][0]["toChatItem"]["chatItem"]
    XCTAssertEqual(remaining["meta"]["itemDeleted"]["type"].text, "deleted", event.description)
    XCTAssertEqual(station.alice.state["unread"].number, 1)
    XCTAssertEqual(items(station.alice).map { $0["meta"]["itemDeleted"].exists }, [true, false])
  }

  /// Both sides allow it: nothing is left in either store.
  func testAFullDeletionLeavesNothing() throws {
    let pair = try Pair()
    allowFullDeletion(pair)
    let item = deliver("between us", pair)
    let answer = pair.bob.send("/_delete item @1 \(item) broadcast")["result"]["chatItemDeletions"][0]
    XCTAssertTrue(answer["deletedChatItem"].exists)
    XCTAssertFalse(answer["toChatItem"].exists, answer.description)
    let event = try XCTUnwrap(pair.alice.event("chatItemsDeleted", within: 20))["result"]
    XCTAssertFalse(event["chatItemDeletions"][0]["toChatItem"].exists, event.description)
    XCTAssertEqual(
      event["chatItemDeletions"][0]["deletedChatItem"]["chatItem"]["content"]["msgContent"]["text"].text, "between us")
    for host in [pair.alice, pair.bob] {
      XCTAssertEqual(pair.texts(host), [])
      let store = try Database(path: host.prefix + "_chat.db")
      defer { try? store.close() }
      XCTAssertEqual(try store.integer("SELECT count(*) FROM items"), 0)
    }
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
  }

  /// A mark made here keeps the text, but does not protect it from its author's deletion.
  func testAFullDeletionAlsoDeletesWhatIsMarkedHere() throws {
    let pair = try Pair()
    allowFullDeletion(pair)
    let item = deliver("between us", pair)
    pair.alice.send("/_delete item @1 \(lastItem(pair.alice)) internalMark").assert("chatItemsDeleted")
    XCTAssertEqual(pair.texts(pair.alice), ["between us"])
    pair.bob.send("/_delete item @1 \(item) broadcast").assert("chatItemsDeleted")
    _ = deliver("later", pair)
    XCTAssertEqual(pair.texts(pair.alice), ["later"])
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
  }

  private func allowFullDeletion(_ pair: Pair) {
    for (host, name) in [(pair.alice, "alice"), (pair.bob, "bob")] {
      host.send(#"/_profile 1 {"displayName":"\#(name)","preferences":{"fullDelete":{"allow":"yes"}}}"#)
        .assert("userProfileUpdated")
    }
    pair.alice.event("contactUpdated", within: 20)
    pair.bob.event("contactUpdated", within: 20)
  }

  func testADeletionHereOnlyLeavesTheOtherSideAlone() throws {
    let pair = try Pair()
    let sent = deliver("one", pair)
    _ = deliver("two", pair)
    let received = items(pair.alice).map { $0["meta"]["itemId"].number }
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
    let marked = pair.alice.send("/_delete item @1 \(received[0]) internalMark")["result"]["chatItemDeletions"][0]
    XCTAssertTrue(marked["toChatItem"]["chatItem"]["meta"]["itemDeleted"].exists, marked.description)
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
    pair.alice.send("/_delete item @1 \(received[0]),\(received[1]) internal").assert("chatItemsDeleted")
    XCTAssertEqual(pair.texts(pair.alice), [])
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
    // A message deleted here does not come back through an edit.
    pair.bob.send(edit(sent, "again?")).assert("chatItemUpdated")
    _ = deliver("three", pair)
    XCTAssertEqual(pair.texts(pair.alice), ["three"])
    XCTAssertEqual(pair.texts(pair.bob).count, 3)
  }

  // MARK: Reactions

  func testReactionsOfBothSides() throws {
    let pair = try Pair()
    let item = deliver("what do you think?", pair)
    let answer = pair.bob.send(react(item, "on", "🚀"))
    answer.assert("chatItemReaction")
    XCTAssertTrue(answer["result"]["added"].flag)
    let event = try XCTUnwrap(pair.alice.event("chatItemReaction", within: 20))["result"]
    XCTAssertEqual(event["reaction"]["chatReaction"]["reaction"]["emoji"].text, "🚀")
    XCTAssertEqual(event["reaction"]["chatReaction"]["chatDir"]["type"].text, "directRcv")
    let received = lastItem(pair.alice)
    for emoji in ["🚀", "👍", "❤"] { pair.alice.send(react(received, "on", emoji)).assert("chatItemReaction") }
    XCTAssertEqual(pair.alice.send(react(received, "on", "😀")).errorTag, "commandError", "three at most")
    XCTAssertEqual(pair.alice.send(react(received, "on", "👍")).errorTag, "commandError", "there already")
    pair.alice.send(react(received, "off", "❤")).assert("chatItemReaction")
    for _ in 0..<4 { pair.bob.event("chatItemReaction", within: 20) }
    let counts = items(pair.bob)[0]["reactions"].elements
    XCTAssertEqual(
      Set(counts.map { "\($0["reaction"]["emoji"].text) \($0["totalReacted"].number) \($0["userReacted"].flag)" }),
      ["🚀 2 true", "👍 1 false"])
    XCTAssertEqual(pair.alice.state["unread"].number, 1, "a reaction is no message")
  }

  func testReactionsNeedBothSidesConsent() throws {
    let pair = try Pair()
    let item = deliver("no comment", pair)
    pair.alice.send(#"/_profile 1 {"displayName":"alice","preferences":{"reactions":{"allow":"no"}}}"#)
      .assert("userProfileUpdated")
    XCTAssertEqual(pair.alice.send(react(lastItem(pair.alice), "on", "👍")).errorTag, "commandError")
    pair.bob.event("contactUpdated", within: 20)
    XCTAssertEqual(pair.bob.send(react(item, "on", "👍")).errorTag, "commandError")
    try execute("UPDATE contacts SET profile = NULL", pair.bob)
    pair.bob.send(react(item, "on", "👍")).assert("chatItemReaction")
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try wait("quarantined") {
      try store.integer("SELECT count(*) FROM ledger WHERE reason = 'reaction: notAllowed'") == 1
    }
    XCTAssertEqual(items(pair.alice)[0]["reactions"].count, 0)
  }

  // MARK: Receipts

  func testReceiptsAreSentOnlyIfTheSettingsSaySo() throws {
    let station = try Station()
    func status(_ index: Int) -> String { items(station.bob)[index]["meta"]["itemStatus"]["type"].text }
    _ = deliver("unconfirmed", station.pair)
    station.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":false,"sendRcpts":true}"#).assert("cmdOk")
    _ = deliver("confirmed", station.pair)
    wait("confirmed") { status(1) == "sndRcvd" }
    XCTAssertEqual(status(0), "sndSent")
    // By an extension, while the application sleeps.
    station.suspend()
    XCTAssertEqual(try bodies(for: "from the pocket", station), ["from the pocket"])
    station.alice.send("/_app activate").assert("cmdOk")
    wait("confirmed") { status(2) == "sndRcvd" }
    // The extension's message; the next event is then the next message's.
    station.alice.event("newChatItems")
    // The profile's setting applies where the contact has none; this clears the contact's.
    station.alice.send("/_set receipts contacts 1 off clear_overrides=on").assert("cmdOk")
    _ = deliver("unconfirmed again", station.pair)
    station.alice.send("/_set receipts contacts 1 on").assert("cmdOk")
    XCTAssertTrue(station.alice.send("/u")["result"]["user"]["sendRcptsContacts"].flag)
    _ = deliver("confirmed again", station.pair)
    wait("confirmed") { status(4) == "sndRcvd" }
    XCTAssertEqual(status(3), "sndSent")
  }

  // MARK: Live

  func testALiveMessageGrowsAndEnds() throws {
    let pair = try Pair()
    pair.bob.send("/_send @1 live=on text hel").assert("newChatItems")
    let first = try XCTUnwrap(pair.alice.event("newChatItems", within: 20))["result"]["chatItems"][0]["chatItem"]
    XCTAssertTrue(first["meta"]["itemLive"].flag, first.description)
    let item = lastItem(pair.bob)
    pair.bob.send(edit(item, "hello", " live=on")).assert("chatItemUpdated")
    let second = try XCTUnwrap(pair.alice.event("chatItemUpdated", within: 20))["result"]["chatItem"]["chatItem"]
    XCTAssertTrue(second["meta"]["itemLive"].flag, second.description)
    pair.bob.send(edit(item, "hello")).assert("chatItemUpdated")
    let last = try XCTUnwrap(pair.alice.event("chatItemUpdated", within: 20))["result"]["chatItem"]["chatItem"]
    XCTAssertFalse(last["meta"]["itemLive"].exists, last.description)
    XCTAssertEqual(last["content"]["msgContent"]["text"].text, "hello")
    XCTAssertFalse(last["meta"]["itemEdited"].flag, "it has grown")
    let corrected = pair.bob.send(edit(item, "hello!"))["result"]["chatItem"]["chatItem"]
    XCTAssertTrue(corrected["meta"]["itemEdited"].flag, corrected.description)
    let changed = try XCTUnwrap(pair.alice.event("chatItemUpdated", within: 20))["result"]["chatItem"]["chatItem"]
    XCTAssertTrue(changed["meta"]["itemEdited"].flag, changed.description)
  }
}
