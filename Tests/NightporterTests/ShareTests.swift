import CNightporter
import Foundation
import PorterStore
import XCTest

/// A share extension sends alongside the app and its notification extension, and an extension's phases begin with
/// `active`.
final class ShareTests: XCTestCase {
  private func share(_ store: Host) throws -> Host {
    var handle: chat_ctrl?
    let answer = take(chat_migrate_init_key(store.prefix, "", 1, "yesUp", Int32(NP_ROLE_SHARE.rawValue), &handle))
    return Host(try XCTUnwrap(handle, answer), store.prefix)
  }

  /// The app comes to the front in the middle of a send, and asks extensions to yield: a notification extension does, a
  /// share extension continues sending (INC-22).
  func testAShareExtensionIsNotAskedToYieldInTheMiddleOfASend() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    let share = try share(pair.alice)
    transport.install(in: share)
    XCTAssertEqual(np_set_phase(share.handle, NP_PHASE_ACTIVE), NP_OK)
    XCTAssertEqual(share.state["role"].text, "share")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    XCTAssertEqual(np_set_phase(notifier.handle, NP_PHASE_ACTIVE), NP_OK)
    transport.hang(.send)
    pair.send("shared", from: share, arrives: false)
    transport.waitUntilInside()

    pair.alice.send("/_app activate").assert("cmdOk")
    let end = Date(timeIntervalSinceNow: 30)
    while notifier.state["machines"]["extension_phase"].text == "active", end.timeIntervalSinceNow > 0 { usleep(5_000) }
    XCTAssertEqual(notifier.state["machines"]["extension_phase"].text, "suspended", "it was asked, and yields")
    XCTAssertEqual(share.state["machines"]["extension_phase"].text, "active")
    XCTAssertEqual(share.state["operations"]["sending"].number, 1)

    transport.hang(nil)
    XCTAssertEqual(
      pair.bob.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]["content"]["msgContent"]["text"].text,
      "shared")
    XCTAssertEqual(pair.texts(pair.alice), ["shared"])
    share.send("/_app suspend 3000000").assert("cmdOk")
    share.event("chatSuspended")
    XCTAssertTrue(share.state["quiescent"].flag, share.state.description)
    // The conversation continues from either side.
    pair.send("answer", from: pair.bob)
    pair.alice.event("newChatItems")
    pair.send("and on", from: pair.alice)
    pair.bob.event("newChatItems")
  }

  /// The app times messages that another process has sent.
  func testADisappearingMessageOfAShareExtensionGoesInTheApp() throws {
    let pair = try Pair()
    let share = try share(pair.alice)
    share.send("/_app phase active").assert("cmdOk")
    share.send("/_send @1 ttl=1 text soon gone").assert("newChatItems")
    pair.bob.event("newChatItems")
    pair.alice.event("newChatItems")
    XCTAssertNotNil(pair.alice.event("chatItemsDeleted"))
    XCTAssertEqual(pair.texts(pair.alice), [])
    share.send("/_app suspend 0").assert("cmdOk")
  }

  /// A live message grows in the share extension. The app's host is notified while the app is active, and once after a
  /// restart.
  func testAnEditOfAShareExtensionIsReportedInTheApp() throws {
    let pair = try Pair()
    let share = try share(pair.alice)
    share.send("/_app phase active").assert("cmdOk")
    let sent = share.send("/_send @1 live=on text hel")["result"]["chatItems"][0]["chatItem"]["meta"]["itemId"].number
    pair.alice.event("newChatItems")
    share.send("/_update item @1 \(sent) live=on text hello").assert("chatItemUpdated")
    let grown = try XCTUnwrap(pair.alice.event("chatItemUpdated"))["result"]["chatItem"]["chatItem"]
    XCTAssertEqual(grown["content"]["msgContent"]["text"].text, "hello")
    XCTAssertTrue(grown["meta"]["itemLive"].flag, grown.description)

    pair.alice.free()
    share.send("/_update item @1 \(sent) text hello world").assert("chatItemUpdated")
    let again = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    again.send(#"/_network {"relay":"\#(pair.folder.file("relay.db"))"}"#).assert("cmdOk")
    again.send("/_start").assert("chatStarted")
    let whole = try XCTUnwrap(again.event("chatItemUpdated"))["result"]["chatItem"]["chatItem"]
    XCTAssertEqual(whole["content"]["msgContent"]["text"].text, "hello world")
    XCTAssertFalse(whole["meta"]["itemLive"].exists, whole.description)
    share.send("/_update item @1 \(sent) text hello world").assert("chatItemNotChanged")
    share.send("/_update item @1 \(sent) text hello, world").assert("chatItemUpdated")
    let next = try XCTUnwrap(again.event("chatItemUpdated"))["result"]["chatItem"]["chatItem"]
    XCTAssertEqual(next["content"]["msgContent"]["text"].text, "hello, world")
    share.send("/_app suspend 0").assert("cmdOk")
  }

  /// INC-18: the app names the share extension that is in its way.
  func testINC18AnAppNamesTheShareExtensionThatHoldsTheStore() throws {
    let pair = try Pair()
    let share = try share(pair.alice)
    share.send("/_app phase active").assert("cmdOk")
    let holder = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? holder.close() }
    try holder.execute("BEGIN IMMEDIATE")
    let refused = pair.alice.send("/_set alias @1 x")["error"]["np"]
    try holder.execute("ROLLBACK")
    XCTAssertEqual(refused["code"].text, "ownedElsewhere", refused.description)
    XCTAssertEqual(refused["holder"].text.split(separator: " ").first, "share", refused.description)
    share.send("/_app suspend 0").assert("cmdOk")
  }

  /// The user stopped the chat, for example to copy the store: no process sends. Sending works again once the app is
  /// started.
  func testAShareExtensionDoesNotSendWhileTheChatIsStopped() throws {
    let pair = try Pair()
    pair.alice.send("/_stop").assert("chatStopped")
    let share = try share(pair.alice)
    XCTAssertEqual(share.send("/_start").errorTag, "chatNotStarted")
    XCTAssertNotEqual(np_set_phase(share.handle, NP_PHASE_ACTIVE), NP_OK)
    XCTAssertEqual(share.send("/_send @1 text shared").errorTag, "chatNotStarted")
    pair.alice.send("/_start").assert("chatStarted")
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(np_set_phase(share.handle, NP_PHASE_ACTIVE), NP_OK)
    pair.send("shared", from: share)
    pair.bob.event("newChatItems")
    // It was running when the user stopped the chat.
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_stop").assert("chatStopped")
    XCTAssertEqual(share.send("/_send @1 text more").errorTag, "chatNotStarted")
    XCTAssertEqual(pair.texts(pair.bob), ["shared"])
  }

  /// A push arrives while it is working: the notification extension handles it, the share extension handles none.
  func testAShareExtensionDoesNotCompeteForPushes() throws {
    let station = try Station()
    station.suspend()
    let share = try share(station.alice)
    share.send("/_app phase active").assert("cmdOk")
    let push = try station.push(for: "hello")
    let refused = share.push(push)
    XCTAssertEqual(refused["error"]["np"]["code"].text, "roleNotAllowed", refused.description)
    XCTAssertEqual(
      share.send("/_ntf conn messages AAAA:1:2026-01-01T00:00:00Z")["error"]["np"]["code"].text, "roleNotAllowed")
    XCTAssertTrue(PhaseFile(prefix: share.prefix, role: "share").isHeldElsewhere())
    XCTAssertFalse(PhaseFile(prefix: share.prefix, role: "extension").isHeldElsewhere())
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
    share.send("/_app suspend 0").assert("cmdOk")
    XCTAssertFalse(PhaseFile(prefix: share.prefix, role: "share").isHeldElsewhere())
    station.wake(expecting: ["hello"])
  }

  /// It sends, and reads what its user chooses from; everything else is reserved for the app.
  func testAShareExtensionIsRefusedWhatIsTheAppsAlone() throws {
    let pair = try Pair()
    pair.send("first", from: pair.bob)
    pair.alice.event("newChatItems")
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let share = try share(pair.alice)
    share.send("/_app phase active").assert("cmdOk")
    let chat = share.send("/_get chat @1 count=1")["result"]["chat"]
    let item = chat["chatItems"][0]["meta"]["itemId"].number
    let token = String(repeating: "ab", count: 32)
    for command in [
      "/_delete user 1 del_smp=on", "/_hide user 1 \"x\"", "/_unhide user 1 \"x\"", "/_mute user 1", "/_unmute user 1",
      "/_user 1", "/_create user {\"profile\":{\"displayName\":\"eve\",\"fullName\":\"\"}}",
      "/_profile 1 {\"displayName\":\"eve\",\"fullName\":\"\"}", "/_network {\"relay\":\"/nowhere.db\"}",
      "/_resubscribe all", "/_ntf get", "/_ntf register apns_test \(token) INSTANT", "/_ntf delete apns_test \(token)",
      "/_ntf scopes", "/_read chat @1", "/_unread chat @1 on",
      "/_settings @1 {\"enableNtfs\":\"none\",\"favorite\":false}",
      "/_set alias @1 x", "/_set receipts contacts 1 on", "/_save app settings {}", "/_delete @1 full",
      "/_delete item @1 \(item) internal", "/_reaction @1 \(item) on {\"type\":\"emoji\",\"emoji\":\"👍\"}",
      "/_connect 1",
      "/_address 1", "/_delete_address 1", "/_accept 1", "/_reject 1", "/_call get",
      "/_db encryption {\"currentKey\":\"\",\"newKey\":\"x\"}", "/_db delete", "/_app doze on",
    ] {
      let answer = share.send(command)
      XCTAssertEqual(answer["error"]["np"]["code"].text, "roleNotAllowed", "\(command): \(answer)")
    }
    for command in [
      "/user", "/users", "/_get chats 1 pcc=on", "/_contacts 1", "/_network {}", "/_app activate", "/_start main=off",
    ] {
      XCTAssertTrue(share.send(command)["result"].exists, command)
    }
    pair.send("shared", from: share)
    let sent = share.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    share.send("/_update item @1 \(sent) text shared, and edited").assert("chatItemUpdated")
    share.send("/_app suspend 0").assert("cmdOk")
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(pair.texts(pair.alice), ["first", "shared, and edited"])
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
  }

  /// It handles pushes; user actions belong to the app, or come through np_notification_response().
  func testANotificationExtensionIsRefusedWhatIsTheAppsAlone() throws {
    let pair = try Pair()
    pair.send("first", from: pair.bob)
    pair.alice.event("newChatItems")
    pair.send("mine", from: pair.alice)
    let mine = pair.alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    let token = String(repeating: "ab", count: 32)
    for command in [
      "/_send @1 text no", "@bob no", "/_update item @1 \(mine) text no", "/_delete item @1 \(mine) broadcast",
      "/_delete item @1 \(mine) internal", "/_delete item @1 \(mine) internalMark",
      "/_reaction @1 \(mine) on {\"type\":\"emoji\",\"emoji\":\"👍\"}", "/_delete @1 full", "/_delete @1 entity",
      "/_delete @1 messages", "/_delete user 1 del_smp=on", "/_hide user 1 \"x\"", "/_mute user 1", "/_user 1",
      "/_create user {\"profile\":{\"displayName\":\"eve\",\"fullName\":\"\"}}",
      "/_profile 1 {\"displayName\":\"eve\",\"fullName\":\"\"}", "/_resubscribe all",
      "/_ntf register apns_test \(token) INSTANT", "/_ntf delete apns_test \(token)", "/_ntf scope delete tabs",
      "/_read chat @1", "/_read user 1", "/_unread chat @1 on",
      "/_settings @1 {\"enableNtfs\":\"none\",\"favorite\":false}", "/_set alias @1 x",
      "/_set receipts contacts 1 on", "/_save app settings {}", "/_connect 1", "/_address 1", "/_accept 1",
      "/_reject 1",
      "/_call reject @1", "/_db encryption {\"currentKey\":\"\",\"newKey\":\"x\"}", "/_db delete",
    ] {
      let answer = notifier.send(command, arrives: false)
      XCTAssertEqual(answer["error"]["np"]["code"].text, "roleNotAllowed", "\(command): \(answer)")
    }
    for command in [
      "/user", "/users", "/_get chats 1 pcc=on", "/_get chat @1 count=5", "/_contacts 1", "/_groups 1",
      "/_get app settings", "/_network {}", "/_call get", "/_ntf scopes", "/_check running", "/_app activate",
    ] {
      XCTAssertTrue(notifier.send(command)["result"].exists, command)
    }
    notifier.send("/_app suspend 0").assert("cmdOk")
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(pair.texts(pair.alice), ["first", "mine"])
    awaitThat("bob has it") { pair.texts(pair.bob) == ["first", "mine"] }
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
  }

  /// R11: the specified phases, from the start to the last push, in either form.
  func testAnExtensionsPhasesBeginWithActive() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    for round in 0..<2 {
      notifier.send("/_app phase active").assert("cmdOk")
      XCTAssertEqual(notifier.state["machines"]["extension_phase"].text, "active", "\(round)")
      notifier.send("/_app phase background").assert("cmdOk")
      notifier.event("chatSuspended")
      notifier.send("/_app phase suspended").assert("cmdOk")
      XCTAssertTrue(notifier.state["quiescent"].flag, notifier.state.description)
      XCTAssertEqual(np_set_phase(notifier.handle, NP_PHASE_ACTIVE), NP_OK)
      XCTAssertEqual(np_set_phase(notifier.handle, NP_PHASE_SUSPENDED), NP_OK)
    }
    XCTAssertEqual(np_set_phase(notifier.handle, NP_PHASE_BACKGROUND_REFRESH), NP_ERROR_STATE)
  }
}
