import CNightporter
import Foundation
import PorterStore
import XCTest

/// The user's response to a notification: carried out once, in the app, whichever process it reached.
final class NotificationResponseTests: XCTestCase {
  // MARK: Categories

  func testCategoriesNameTheirActions() throws {
    let categories = JSON(take(np_categories(nil)))["categories"].elements
    let actions = categories.map { ($0["identifier"].text, $0["actions"].elements.map { $0["identifier"].text }) }
    let byName = Dictionary(uniqueKeysWithValues: actions)
    XCTAssertEqual(
      byName,
      [
        "NTF_CAT_CONTACT_REQUEST": [
          "NTF_ACT_ACCEPT_CONTACT", "NTF_ACT_ACCEPT_CONTACT_INCOGNITO", "NTF_ACT_REJECT_CONTACT",
        ],
        "NTF_CAT_CONTACT_CONNECTED": [], "NTF_CAT_CONNECTION_EVENT": [], "NTF_CAT_MANY_EVENTS": [],
        "NTF_CAT_CHECK_MESSAGE": [],
        "NTF_CAT_MESSAGE_RECEIVED": ["NTF_ACT_REPLY", "NTF_ACT_MARK_READ"],
        "NTF_CAT_CALL_INVITATION": ["NTF_ACT_ACCEPT_CALL", "NTF_ACT_REJECT_CALL"],
      ])
    let all = categories.flatMap { $0["actions"].elements }
    let opening = all.filter { $0["foreground"].flag }.map { $0["action"].text }
    XCTAssertEqual(opening, ["acceptContact", "acceptContactIncognito", "acceptCall"])
    XCTAssertEqual(all.filter { $0["textInput"].flag }.map { $0["action"].text }, ["reply"])
    for action in all { XCTAssertFalse(action["title"].text.isEmpty, "\(action)") }
    for category in categories { XCTAssertFalse(category["placeholder"].text.isEmpty, "\(category)") }
  }

  func testCategoriesAreInTheLanguageOfTheController() throws {
    let folder = try TemporaryFolder()
    let app = try XCTUnwrap(Host.open(folder.file("a")).host)
    let table = #"{"language":"ja","strings":{"Reply":"返事"}}"#
    XCTAssertEqual(JSON(take(np_set_strings(app.handle, table)))["result"]["type"].text, "cmdOk")
    // The extension has the app's texts, while the process still has English ones.
    let service = try XCTUnwrap(Host.open(folder.file("a"), isExtension: true).host)
    for (handle, expected) in [
      (app.handle, ["返事", "既読にする"]), (service.handle, ["返事", "既読にする"]), (nil, ["Reply", "Mark as read"]),
    ] {
      let categories = JSON(take(np_categories(handle)))["categories"].elements
      let message = categories.first { $0["identifier"].text == "NTF_CAT_MESSAGE_RECEIVED" }
      XCTAssertEqual(message?["actions"].elements.map { $0["title"].text }, expected)
    }
    app.free()
    XCTAssertEqual(JSON(take(np_categories(chat_ctrl(bitPattern: 7))))["error"]["np"]["code"].text, "controllerInvalid")
  }

  // MARK: Waiting for the app

  func testATapThatReachesAnExtensionLeadsTheAppToTheChat() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let notification = service.push(try station.push(for: "hello"))["notifications"][0]
    let answer = service.respond(to: notification)
    XCTAssertEqual(answer["result"]["outcome"].text, "waiting", answer.description)
    XCTAssertTrue(service.state["quiescent"].flag, service.state.description)

    station.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(station.alice.event("ntfResponse"))["result"]
    XCTAssertEqual(event["responseId"].number, answer["result"]["responseId"].number)
    XCTAssertEqual(event["action"].text, "open")
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(event["userId"].number, 1)
    XCTAssertEqual(event["chatId"].text, "@1")

    station.suspend()
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.waitingEvents().filter { $0 == "ntfResponse" }, [])
  }

  func testATapThatReachesASuspendedAppWaitsAndOpensNothing() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let answer = pair.alice.respond(to: message)
    XCTAssertEqual(answer["result"]["outcome"].text, "waiting", answer.description)
    XCTAssertTrue(pair.alice.state["quiescent"].flag, pair.alice.state.description)
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(pair.alice.event("ntfResponse")?["result"]["outcome"].text, "applied")
  }

  /// When woken in the background, an app carries out actions that need no screen.
  func testInTheBackgroundOnlyActionsThatOpenTheAppWait() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(np_set_phase(pair.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    XCTAssertEqual(pair.alice.respond(to: message)["result"]["outcome"].text, "waiting")
    let read = pair.alice.respond(to: message, "NTF_ACT_MARK_READ")
    XCTAssertEqual(read["result"]["outcome"].text, "applied", read.description)
    XCTAssertEqual(pair.alice.event("ntfResponse")?["result"]["action"].text, "markRead")
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
    XCTAssertEqual(np_set_phase(pair.alice.handle, NP_PHASE_ACTIVE), NP_OK)
    XCTAssertEqual(pair.alice.event("ntfResponse")?["result"]["action"].text, "open")
  }

  // MARK: What the actions do

  func testATapMakesTheNotificationsProfileTheActiveOne() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    pair.alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
    XCTAssertEqual(pair.alice.send("/u")["result"]["user"]["userId"].number, 2)
    XCTAssertEqual(pair.alice.respond(to: message)["result"]["outcome"].text, "applied")
    XCTAssertEqual(pair.alice.event("ntfResponse")?["result"]["userId"].number, 1)
    XCTAssertEqual(pair.alice.send("/u")["result"]["user"]["userId"].number, 1)
  }

  func testAReplyIsSentOnceAndReadsWhatItAnswers() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    for number in 0..<3 {
      let answer = pair.alice.respond(to: message, "NTF_ACT_REPLY", text: "on my way")
      XCTAssertEqual(answer["result"]["outcome"].text, "applied", answer.description)
      XCTAssertEqual(answer["result"]["repeated"].flag, number > 0, answer.description)
    }
    XCTAssertEqual(
      pair.alice.respond(to: message, "NTF_ACT_REPLY", text: "five minutes")["result"]["repeated"].flag, false)
    pair.bob.event("newChatItems")
    pair.bob.event("newChatItems")
    XCTAssertEqual(pair.texts(pair.bob), ["hello", "on my way", "five minutes"])
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
    let events = pair.alice.waitingEvents()
    XCTAssertEqual(events.filter { $0 == "ntfResponse" }.count, 2, "\(events)")
    XCTAssertEqual(events.filter { $0 == "newChatItems" }.count, 2, "the host shows what was sent: \(events)")
  }

  /// From the lock screen of a phone whose app is suspended: the host is asked for a round in the background, which sends
  /// it. A tap waits for the app, and an extension cannot send it.
  func testAReplyOfASuspendedAppIsSentByARefresh() throws {
    let station = try Station()
    station.suspend()
    let shown = try station.present(station.push(for: "hello"))["notifications"][0]
    let service = try station.makeExtension()
    let kept = service.respond(to: shown, "NTF_ACT_MARK_READ")["result"]
    XCTAssertEqual(kept["outcome"].text, "waiting", kept.description)
    XCTAssertFalse(kept["refresh"].exists, kept.description)
    let tapped = station.alice.respond(to: shown)["result"]
    XCTAssertEqual(tapped["outcome"].text, "waiting", tapped.description)
    XCTAssertFalse(tapped["refresh"].exists, tapped.description)
    let reply = station.alice.respond(to: shown, "NTF_ACT_REPLY", text: "on my way")["result"]
    XCTAssertEqual(reply["outcome"].text, "waiting", reply.description)
    XCTAssertTrue(reply["refresh"].flag, reply.description)
    let answer = JSON(take(np_background_refresh(station.alice.handle, 20_000)))
    XCTAssertEqual(answer["badge"].number, 0, answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    awaitThat("bob has it") { station.pair.texts(station.bob).contains("on my way") }
  }

  func testMarkingAsReadLeavesLaterMessagesUnread() throws {
    let pair = try Pair()
    let (first, _) = try receivedMessage(pair)
    _ = try receivedMessage(pair, "later")
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
    XCTAssertEqual(pair.alice.respond(to: first, "NTF_ACT_MARK_READ")["result"]["outcome"].text, "applied")
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
  }

  /// A summary of many messages, or a notification that the platform showed by itself, leads to the app and to no chat.
  func testANotificationWithoutAChatOpensTheApp() throws {
    let pair = try Pair()
    for response in [
      "{}", #"{"categoryIdentifier":"NTF_CAT_MANY_EVENTS","identifier":"np:many:1","userInfo":{"userId":1}}"#,
    ] {
      let answer = pair.alice.respond(response)
      XCTAssertEqual(answer["result"]["outcome"].text, "applied", answer.description)
      let event = try XCTUnwrap(pair.alice.event("ntfResponse"))["result"]
      XCTAssertFalse(event["chatId"].exists, event.description)
    }
    XCTAssertFalse(pair.alice.respond("{}")["result"]["repeated"].flag, "nothing tells two of these apart")
  }

  /// All notices share one identifier, and the store that one is about may not be readable when the next one is shown.
  func testEachTapOnANoticeOpensTheApp() throws {
    let pair = try Pair()
    for tap in 1...2 {
      let answer = pair.alice.respond(#"{"categoryIdentifier":"NTF_CAT_CONNECTION_EVENT","identifier":"np:notice"}"#)
      XCTAssertFalse(answer["result"]["repeated"].flag, "tap \(tap): \(answer)")
      let event = try XCTUnwrap(pair.alice.event("ntfResponse"))["result"]
      XCTAssertEqual(event["responseId"].number, answer["result"]["responseId"].number, "tap \(tap)")
    }
  }

  // MARK: The event

  func testTheEventComesAgainUntilTheHostHasTakenIt() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    let id = pair.alice.respond(to: message)["result"]["responseId"].number
    // The app ends before its host reads.
    pair.alice.free()
    let second = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    second.send("/_start").assert("chatStarted")
    XCTAssertEqual(second.event("ntfResponse")?["result"]["responseId"].number, id)
    second.free()
    let third = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    third.send("/_start").assert("chatStarted")
    XCTAssertFalse(third.waitingEvents().contains("ntfResponse"))
    XCTAssertTrue(third.respond(to: message)["result"]["repeated"].flag)
  }

  /// The host takes it while the app is suspended, and then the platform ends the app.
  func testAnEventThatIsTakenWhileSuspendedDoesNotComeAgain() throws {
    let pair = try Pair()
    let (message, _) = try receivedMessage(pair)
    XCTAssertGreaterThan(pair.alice.respond(to: message)["result"]["responseId"].number, 0)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.alice.event("ntfResponse")
    pair.alice.free()
    let second = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    second.send("/_start").assert("chatStarted")
    XCTAssertFalse(second.waitingEvents().contains("ntfResponse"))
  }

  // MARK: Bad input

  func testResponsesToWhatIsGoneAreStaleAndSayWhy() throws {
    let pair = try Pair()
    let (message, connection) = try receivedMessage(pair)
    pair.alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
    let own = "\"agentConnId\":\"\(connection)\""
    let cases: [(action: String, userInfo: String, reason: String)] = [
      ("NTF_ACT_MARK_READ", #""userId":9,"chatId":"@1""#, "noSuchUser"),
      ("NTF_ACT_MARK_READ", #""userId":1,"chatId":"@7""#, "noSuchChat"),
      ("NTF_ACT_MARK_READ", ##""userId":1,"chatId":"#1""##, "noSuchChat"),
      ("NTF_ACT_MARK_READ", #""userId":1,"chatId":"@""#, "noSuchChat"),
      ("NTF_ACT_MARK_READ", #""userId":2,"chatId":"@1""#, "otherUser"),
      ("NTF_ACT_MARK_READ", #""userId":1,"chatId":"@1","agentConnId":"AAAA""#, "otherStore"),
      ("NTF_ACT_MARK_READ", "\"userId\":1,\"chatId\":\"@1\",\(own)", "noSuchMessage"),
      ("NTF_ACT_ACCEPT_CALL", "\"userId\":1,\"chatId\":\"@1\",\(own)", "noSuchCall"),
      ("NTF_ACT_REJECT_CALL", "\"userId\":1,\"chatId\":\"@1\",\(own)", "noSuchCall"),
      ("NTF_ACT_ACCEPT_CONTACT", #""userId":1,"contactRequestId":5"#, "noSuchRequest"),
      ("NTF_ACT_ACCEPT_CONTACT_INCOGNITO", #""userId":1,"contactRequestId":5"#, "noSuchRequest"),
      ("NTF_ACT_REJECT_CONTACT", #""userId":1,"contactRequestId":5"#, "noSuchRequest"),
    ]
    for (number, response) in cases.enumerated() {
      let text =
        "{\"actionIdentifier\":\"\(response.action)\",\"identifier\":\"np:message:a:b\(number)\",\"userInfo\":{\(response.userInfo)}}"
      let answer = pair.alice.respond(text)
      XCTAssertEqual(answer["result"]["outcome"].text, "stale", "\(text): \(answer)")
      XCTAssertEqual(answer["result"]["reason"].text, response.reason, "\(text): \(answer)")
      let event = try XCTUnwrap(pair.alice.event("ntfResponse"))["result"]
      XCTAssertEqual(event["reason"].text, response.reason, event.description)
      XCTAssertFalse(event["chatId"].exists, event.description)
    }
    XCTAssertEqual(
      pair.alice.send("/u")["result"]["user"]["userId"].number, 2, "no stale response switches the profile")
    XCTAssertEqual(pair.alice.state["unread"].number, 1, "nor reads anything")

    // A contact that has left cannot be written to; a deleted one no longer exists.
    pair.alice.send("/_user 1").assert("activeUser")
    pair.bob.send("/_delete @1 full").assert("contactDeleted")
    pair.alice.event("contactDeletedByContact")
    let reply = pair.alice.respond(to: message, "NTF_ACT_REPLY", text: "are you there?")
    XCTAssertEqual(reply["result"]["reason"].text, "contactNotReady", reply.description)
    pair.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    XCTAssertEqual(pair.alice.respond(to: message)["result"]["reason"].text, "noSuchChat")
  }

  func testGarbageIsRefusedWithWhatWasExpected() throws {
    let pair = try Pair()
    let full = #""identifier":"i","userInfo":{"userId":1,"chatId":"@1"}"#
    let garbage = [
      "", "[]", "tap", "{\"identifier\":", "{\"identifier\":5}", "{\"identifier\":\"\"}", "{\"userInfo\":[]}",
      "{\"userInfo\":{\"userId\":\"1\"}}", "{\"userInfo\":{\"userId\":1.5}}", "{\"userInfo\":{\"chatId\":1}}",
      "{\"actionIdentifier\":7}", "{\"actionIdentifier\":\"open\"}", "{\"actionIdentifier\":\"NTF_ACT_DANCE\",\(full)}",
      "{\"actionIdentifier\":\"com.apple.UNNotificationDismissActionIdentifier\",\(full)}",
      "{\"actionIdentifier\":\"NTF_ACT_MARK_READ\"}",
      "{\"actionIdentifier\":\"NTF_ACT_MARK_READ\",\"identifier\":\"i\"}",
      "{\"actionIdentifier\":\"NTF_ACT_MARK_READ\",\"identifier\":\"i\",\"userInfo\":{\"userId\":1}}",
      "{\"actionIdentifier\":\"NTF_ACT_ACCEPT_CONTACT\",\(full)}", "{\"actionIdentifier\":\"NTF_ACT_REPLY\",\(full)}",
      "{\"actionIdentifier\":\"NTF_ACT_REPLY\",\"userText\":\" \\n\",\(full)}",
      "{\"identifier\":\"\(String(repeating: "i", count: 257))\"}",
    ]
    for text in garbage {
      let answer = pair.alice.respond(text)
      XCTAssertEqual(answer["error"]["np"]["code"].text, "responseInvalid", "\(text): \(answer)")
      XCTAssertFalse(answer["error"]["np"]["expected"].text.isEmpty, "\(text): \(answer)")
    }
    let long = String(repeating: "x", count: 9_000)
    let reply = pair.alice.respond("{\"actionIdentifier\":\"NTF_ACT_REPLY\",\"userText\":\"\(long)\",\(full)}")
    XCTAssertEqual(reply["error"]["np"]["code"].text, "messageTooLarge", reply.description)
    let huge = String(repeating: "x", count: 300_000)
    XCTAssertEqual(
      pair.alice.respond("{\"identifier\":\"\(huge)\"}")["error"]["np"]["code"].text, "commandTooLarge")
    XCTAssertEqual(
      JSON(take(np_notification_response(pair.alice.handle, nil)))["error"]["np"]["code"].text, "responseInvalid")
    let notText = take(np_notification_response(pair.alice.handle, [0x7b, -1, 0]))
    XCTAssertEqual(JSON(notText)["error"]["np"]["code"].text, "textNotUTF8", notText)
    XCTAssertEqual(
      JSON(take(np_notification_response(nil, "{}")))["error"]["np"]["code"].text, "controllerInvalid")
    XCTAssertEqual(pair.alice.waitingEvents().filter { $0 == "ntfResponse" }, [])
  }

  func testWaitingResponsesAreBoundedAndNoneIsLost() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.send("/_create user {\"profile\":{\"displayName\":\"a\",\"fullName\":\"\"}}").assert("activeUser")
    let database = try Database(path: folder.file("a") + "_chat.db")
    try database.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      INSERT INTO responses (state, action, identifier, digest, user_id, created_at)
      SELECT 'waiting', 'open', 'np:connected:1:' || i, x'00', 1, 0 FROM n
      """)
    try database.close()
    let last = #"{"identifier":"np:connected:1:last","userInfo":{"userId":1}}"#
    XCTAssertEqual(host.respond(last)["result"]["outcome"].text, "waiting", "not started yet")
    let refused = host.respond(#"{"identifier":"np:connected:1:over","userInfo":{"userId":1}}"#)
    XCTAssertEqual(refused["error"]["np"]["code"].text, "responsesTooMany", refused.description)
    XCTAssertTrue(host.respond(last)["result"]["repeated"].flag)
    host.send("/_network {\"relay\":\"\(folder.file("relay.db"))\"}").assert("cmdOk")
    host.send("/_start").assert("chatStarted")
    var count = 0
    awaitThat("each has its event") {
      count += host.waitingEvents().count { $0 == "ntfResponse" }
      return count >= 1_000
    }
    awaitRest(of: host)
    XCTAssertEqual(count + host.waitingEvents().count { $0 == "ntfResponse" }, 1_000)
    XCTAssertEqual(
      host.respond(#"{"identifier":"np:connected:1:over","userInfo":{"userId":1}}"#)["result"]["outcome"].text,
      "applied")
    // A summary that has not been updated is one notification.
    for isRepeat in [false, true] {
      let summary = host.respond(#"{"identifier":"np:many:1","userInfo":{"userId":1}}"#)
      XCTAssertEqual(summary["result"]["outcome"].text, "applied", summary.description)
      XCTAssertEqual(summary["result"]["repeated"].flag, isRepeat, summary.description)
    }
  }

  /// The key was not kept: the response is not stored, and the host learns that it must report it again.
  func testASuspendedAppWithoutItsKeyRefusesTheResponse() throws {
    let folder = try TemporaryFolder()
    var handle: chat_ctrl?
    let key = "x'\(String(repeating: "5a", count: 32))'"
    _ = take(chat_migrate_init_key(folder.file("a"), key, 0, "yesUp", 0, &handle))
    let host = Host(try XCTUnwrap(handle), folder.file("a"))
    host.begin("a", relay: folder.file("relay.db"))
    host.send("/_app suspend 0").assert("cmdOk")
    let tap = #"{"identifier":"np:many:1","userInfo":{"userId":1}}"#
    let refused = host.respond(tap)
    XCTAssertEqual(refused["error"]["np"]["code"].text, "storeKeyForgotten", refused.description)
    XCTAssertTrue(host.state["quiescent"].flag)
    XCTAssertEqual(np_set_key(host.handle, key, 1), NP_OK)
    XCTAssertEqual(host.respond(tap)["result"]["outcome"].text, "waiting")
    host.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(host.event("ntfResponse")?["result"]["outcome"].text, "applied")
  }

  /// A response that was waiting, or is given again, for a profile hidden since then: it is answered as for a profile
  /// that does not exist, opens nothing, sends nothing and reads nothing. With the password it is carried out.
  func testAHiddenProfilesItemsAreNeitherRevealedNorOpened() throws {
    let pair = try Pair()
    let (message, connection) = try receivedMessage(pair)
    pair.alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
    pair.alice.send(#"/_hide user 1 "open sesame""#).assert("userPrivacy")
    let contact = #""identifier":"np:request:1:5","userInfo":{"userId":1,"contactRequestId":5}"#
    for (members, action, reason) in [
      (message, nil, "noSuchUser"), (message, "NTF_ACT_REPLY", "noSuchUser"),
      (message, "NTF_ACT_MARK_READ", "noSuchUser"), (message, "NTF_ACT_ACCEPT_CALL", "noSuchUser"),
      (contact, "NTF_ACT_ACCEPT_CONTACT", "noSuchUser"),
      (#""identifier":"np:many:1","userInfo":{"userId":1}"#, nil, "noSuchUser"),
      // Its chat, under the name of the visible profile.
      (
        "\"identifier\":\"np:message:\(connection):AAAA\",\"userInfo\":{\"userId\":2,\"chatId\":\"@1\"}",
        "NTF_ACT_MARK_READ", "noSuchChat"
      ),
    ] as [(String, String?, String)] {
      let answer = pair.alice.respond(to: members, action, text: action == "NTF_ACT_REPLY" ? "yes" : nil)
      XCTAssertEqual(answer["result"]["outcome"].text, "stale", "\(action ?? "open"): \(answer)")
      XCTAssertEqual(answer["result"]["reason"].text, reason, "\(action ?? "open"): \(answer)")
      let event = try XCTUnwrap(pair.alice.event("ntfResponse"))["result"]
      XCTAssertEqual(event["reason"].text, reason, event.description)
      XCTAssertFalse(event["chatId"].exists, event.description)
    }
    XCTAssertEqual(pair.alice.send("/u")["result"]["user"]["userId"].number, 2)

    pair.alice.send(#"/_user 1 "open sesame""#).assert("activeUser")
    XCTAssertEqual(pair.alice.respond(to: message, "NTF_ACT_REPLY", text: "later")["result"]["outcome"].text, "applied")
    pair.bob.event("newChatItems")
    XCTAssertEqual(pair.texts(pair.bob), ["hello", "later"])
  }

  // MARK: Helpers

  /// Sends a message from bob to alice's app. Returns the notification that an extension would have shown, and the
  /// connection.
  private func receivedMessage(
    _ pair: Pair, _ text: String = "hello", file: StaticString = #filePath, line: UInt = #line
  ) throws -> (notification: String, connection: String) {
    pair.send(text, from: pair.bob, file: file, line: line)
    let item = try XCTUnwrap(pair.alice.event("newChatItems", file: file, line: line))["result"]["chatItems"][0]
    let connection = item["chatInfo"]["contact"]["activeConn"]["agentConnId"].text
    let database = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? database.close() }
    let id = item["chatItem"]["meta"]["itemId"].number
    var message = ""
    try database.query("SELECT message_id FROM ledger WHERE item_id = \(id)") { message = base64URL($0.blob(0)) }
    let info = "{\"userId\":1,\"agentConnId\":\"\(connection)\"}"
    return (
      "\"identifier\":\"np:message:\(connection):\(message)\",\"targetContentIdentifier\":\"@1\",\"userInfo\":\(info)",
      connection
    )
  }

  private func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}

extension Host {
  func respond(_ text: String) -> JSON { JSON(take(np_notification_response(handle, text))) }

  /// Responds to a notification with these members.
  func respond(to members: String, _ action: String? = nil, text: String? = nil) -> JSON {
    let action = action.map { "\"actionIdentifier\":\"\($0)\"," } ?? ""
    let text = text.map { "\"userText\":\"\($0)\"," } ?? ""
    return respond("{\(action)\(text)\(members)}")
  }

  /// Responds to a notification from a push's answer.
  func respond(to notification: JSON, _ action: String? = nil, text: String? = nil) -> JSON {
    var response = notification.value as? [String: Any] ?? [:]
    response["actionIdentifier"] = action
    response["userText"] = text
    let data = try? JSONSerialization.data(withJSONObject: response)
    return respond(data.map { String(decoding: $0, as: UTF8.self) } ?? "")
  }

  /// The types of the events waiting now.
  func waitingEvents() -> [String] {
    var types: [String] = []
    while let event = event(within: 0) { types.append(event["result"]["type"].text) }
    return types
  }
}
