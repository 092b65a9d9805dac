import CNightporter
import Foundation
import PorterStore
import XCTest

/// Several profiles in one store: what each shows, who may see it, and what is left after its deletion.
final class ProfileTests: XCTestCase {
  private func count(_ sql: String, in path: String) throws -> Int64 {
    let database = try Database(path: path)
    defer { try? database.close() }
    return try database.integer(sql) ?? 0
  }

  private func wait(_ what: String, line: UInt = #line, until holds: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if try holds() { return }
      usleep(20_000)
    }
    XCTFail("this was never reached: \(what)", line: line)
  }

  /// Another profile of alice's, connected with bob, and subscribed at the server.
  private func addProfile(_ name: String, _ station: Station) throws {
    let user = station.alice.send("/_create user {\"profile\":{\"displayName\":\"\(name)\"}}")["result"]["user"]
    let link = station.alice.send("/_connect \(user["userId"].number)")["result"]["connLinkInvitation"]["connFullLink"]
    station.bob.send("/connect \(link.text)").assert("sentConfirmation")
    station.alice.event("contactConnected", within: 20)
    station.bob.event("contactConnected", within: 20)
    try wait("subscribed") {
      try count("SELECT count(*) FROM subscription", in: station.pair.folder.file("server.db"))
        == user["userId"].number
    }
  }

  /// Everything waiting, as shown by extensions.
  private func shown(_ station: Station) throws -> (notifications: [JSON], badge: Int) {
    let answers = try station.allPushes().map { try station.present($0) }
    return (answers.flatMap { $0["notifications"].elements }, answers.last?["badge"].number ?? -1)
  }

  private func names(_ host: Host) -> [String] {
    host.send("/users")["result"]["users"].elements.map { $0["user"]["localDisplayName"].text }
  }

  // MARK: Showing

  /// Not even the existence of a hidden profile shows: its notifications on screen are withdrawn. Its messages stay
  /// unread.
  func testHidingAProfileWithdrawsItsNotifications() throws {
    let station = try Station()
    try addProfile("secret", station)
    station.alice.send("/_user 1").assert("activeUser")
    station.suspend()
    for (contact, text) in [(1, "to alice"), (2, "to secret")] {
      station.bob.send("/_send @\(contact) text \(text)").assert("newChatItems")
    }
    let first = try shown(station).notifications
    let secret = first.filter { $0["userInfo"]["userId"].number == 2 }.map { $0["identifier"].text }
    XCTAssertEqual(secret.count, 1, "\(first)")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(#"/_hide user 2 "pw""#).assert("userPrivacy")
    station.suspend()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let next = try station.present(wake)
    // The app has shown that the contact is connected.
    XCTAssertEqual(
      Set(next["withdrawals"].elements.map(\.text)), Set(secret + ["np:connected:2:2"]), next.description)
    XCTAssertEqual(next.identifiers, [])
    XCTAssertEqual(try station.present(wake)["withdrawals"].count, 0, "once")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(#"/_unhide user 2 "pw""#).assert("userPrivacy")
    XCTAssertEqual(station.alice.state["unread"].number, 2)
  }

  func testEachOfThreeProfilesShowsWhatItMay() throws {
    let station = try Station()
    let (alice, bob) = (station.alice, station.bob)
    try addProfile("work", station)
    try addProfile("secret", station)
    alice.send("/_user 1").assert("activeUser")
    alice.send(#"/_hide user 3 "open sesame""#).assert("userPrivacy")
    XCTAssertEqual(names(alice), ["alice", "work"])
    station.suspend()
    for (contact, text) in [(1, "to alice"), (2, "to work"), (3, "to nobody")] {
      bob.send("/_send @\(contact) text \(text)").assert("newChatItems")
    }
    let first = try shown(station)
    XCTAssertEqual(
      Set(first.notifications.map { "\($0["userInfo"]["userId"].number) \($0["body"].text)" }),
      ["1 to alice", "2 to work"])
    XCTAssertEqual(first.badge, 2, "the hidden one does not count")
    // A tap on one leads to its profile while the other one is active.
    alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 1)
    let work = try XCTUnwrap(first.notifications.first { $0["userInfo"]["userId"].number == 2 })
    XCTAssertEqual(alice.respond(to: work)["result"]["outcome"].text, "applied")
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 2)
    // Hidden since it was shown: nothing leads to it.
    alice.send("/_user 1").assert("activeUser")
    alice.send(#"/_hide user 2 "now""#).assert("userPrivacy")
    let stale = alice.respond(to: work, "NTF_ACT_REPLY", text: "hello?")["result"]
    XCTAssertEqual(stale["outcome"].text, "stale", stale.description)
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 1)
    alice.send(#"/_unhide user 2 "now""#).assert("userPrivacy")
    // Muted: neither shown nor counted, and both again once it is unmuted.
    alice.send("/_mute user 2").assert("userPrivacy")
    XCTAssertEqual(alice.state["unread"].number, 1)
    alice.send(#"/_save app settings {"notificationPreviewMode":"contact"}"#).assert("cmdOk")
    station.suspend()
    for contact in 1...3 { bob.send("/_send @\(contact) text second").assert("newChatItems") }
    let second = try shown(station)
    XCTAssertEqual(second.notifications.map { $0["userInfo"]["userId"].number }, [1])
    XCTAssertEqual(second.notifications.map { $0["body"].text }, ["new message"], "names only")
    XCTAssertEqual(second.badge, 2)
    alice.send("/_app activate").assert("cmdOk")
    alice.send("/_unmute user 2").assert("userPrivacy")
    try wait("unread") { alice.state["unread"].number == 4 }
    // The hidden profile has received all of its messages, too.
    alice.send(#"/_unhide user 3 "open sesame""#).assert("userPrivacy")
    try wait("unread") { alice.state["unread"].number == 6 }
    XCTAssertEqual(names(alice), ["alice", "work", "secret"])
  }

  func testAHiddenProfileOpensWithItsPasswordOnly() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    XCTAssertEqual(host.send(#"/_hide user 1 "x""#).errorTag, "cantHideLastUser")
    host.send(#"/_create user {"profile":{"displayName":"secret"}}"#).assert("activeUser")
    XCTAssertEqual(host.send(#"/_hide user 2 """#).errorTag, "emptyUserPassword")
    XCTAssertEqual(host.send(#"/_unhide user 2 "x""#).errorTag, "userNotHidden")
    let hidden = host.send(#"/_hide user 2 "öffne dich""#)["result"]["updatedUser"]
    XCTAssertFalse(hidden["showNtfs"].flag)
    // A host finds the profile that a password opens with the library's own function.
    let (hash, salt) = (hidden["viewPwdHash"]["hash"].text, hidden["viewPwdHash"]["salt"].text)
    XCTAssertEqual(take(chat_password_hash("öffne dich", salt)), hash)
    XCTAssertEqual(names(host), ["alice", "secret"], "it is active")
    host.send("/_user 2").assert("activeUser")
    XCTAssertEqual(host.send(#"/_hide user 2 "x""#).errorTag, "userAlreadyHidden")
    XCTAssertEqual(host.send(#"/_hide user 1 "x""#).errorTag, "cantHideLastUser")
    host.send("/_user 1").assert("activeUser")
    XCTAssertEqual(names(host), ["alice"])
    for password in ["", #" "wrong""#, #" """#] {
      XCTAssertEqual(host.send("/_user 2\(password)").errorTag, "userUnknown", password)
      XCTAssertEqual(host.send("/_delete user 2 del_smp=on\(password)").errorTag, "userUnknown", password)
    }
    XCTAssertEqual(host.send(#"/_unhide user 2 "wrong""#).errorTag, "userUnknown")
    XCTAssertEqual(host.send("/_unmute user 2").errorTag, "userUnknown")
    host.send(#"/_user 2 "öffne dich""#).assert("activeUser")
    XCTAssertEqual(host.send("/_unmute user 2").errorTag, "hiddenUserAlwaysMuted")
    XCTAssertTrue(host.send(#"/_unhide user 2 "öffne dich""#)["result"]["updatedUser"]["showNtfs"].flag)
    host.send("/_user 1").assert("activeUser")
    host.send("/_user 2").assert("activeUser")
  }

  /// Its numbers lead to nothing that reveals its existence, and send nothing in its name.
  func testTheChatsOfAHiddenProfileAreAnsweredAsIfThereWereNone() throws {
    let station = try Station()
    try addProfile("secret", station)
    let alice = station.alice
    // An invitation and two requests of the profile that will be hidden.
    let pending = alice.send("/_connect 2")["result"]["connection"]["pccConnId"].number
    let address = alice.send("/_address 2")
    address.assert("userContactLinkCreated")
    let people = try ["carol", "dave"].map { (name) throws in
      let person = try XCTUnwrap(Host.open(station.pair.folder.file(name)).host)
      person.begin(name, relay: station.pair.folder.file("relay.db"))
      person.send("/connect \(address["result"]["connLinkContact"]["connFullLink"].text)").assert("sentInvitation")
      alice.event("receivedContactRequest", within: 20)
      return person
    }
    defer { people.forEach { $0.free() } }
    let link = station.bob.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    let commands = [
      "/_contacts 2", "/_get chats 2", "/_get chat @2 count=5", "/_send @2 text hello", "/_read chat @2",
      #"/_settings @2 {"enableNtfs":"all","favorite":true}"#, "/_set alias @2 x",
      "/_show_address 2", #"/_address_settings 2 {"businessAddress":false}"#,
      #"/_call invite @2 {"media":"audio","capabilities":{"encryption":true}}"#, "/_call end @2",
      "/_groups 2", "/_connect plan 2 \(link)", #"/_profile 2 {"displayName":"known","fullName":""}"#,
      "/_read user 2", "/_set receipts contacts 2 on", "/_set alias :\(pending) x", "/_accept 2", "/_reject 1",
      "/_delete :\(pending) full notify=off", "/_mute user 2", "/_delete @2 full notify=off",
    ]
    // Its own password is needed for what a host may do with a hidden profile.
    let forms = [#"/_hide user 2 "x""#, #"/_unhide user 2 "x""#, #"/_unhide user 2 """#, "/_unmute user 2"]
    alice.send("/_user 1").assert("activeUser")
    alice.send("/_get chat @2 count=5").assert("apiChat")
    alice.send(#"/_hide user 2 "open sesame""#).assert("userPrivacy")
    for command in commands + forms {
      let missing = [
        (" 2", " 9"), ("@2", "@9"), (":\(pending) ", ":99 "), ("/_reject 1", "/_reject 9"),
      ].reduce(command) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
      XCTAssertNotEqual(missing, command)
      let (hidden, none) = (alice.send(command), alice.send(missing))
      XCTAssertTrue(none["error"].exists, "\(missing): \(none)")
      // Apart from the number.
      XCTAssertEqual(
        hidden.description.filter { !$0.isNumber }, none.description.filter { !$0.isNumber }, command)
    }
    alice.send(#"/_user 2 "open sesame""#).assert("activeUser")
    for command in commands.dropLast() { XCTAssertFalse(alice.send(command)["error"].exists, command) }
  }

  // MARK: Deleting

  /// What the relay and the server must forget outlives the process that deleted the profile, and the token goes with
  /// the last profile.
  func testTheRelayAndTheServerForgetADeletedProfile() throws {
    let station = try Station()
    try addProfile("work", station)
    let (server, relay) = (station.pair.folder.file("server.db"), station.pair.folder.file("relay.db"))
    let (alice, store) = (station.alice, station.alice.prefix + "_chat.db")
    let mailboxes = try count("SELECT count(*) FROM mailbox", in: relay)
    XCTAssertEqual(alice.send("/_delete user 2 del_smp=on").errorTag, "cantDeleteActiveUser")
    alice.send("/_user 1").assert("activeUser")
    XCTAssertEqual(alice.send("/_delete user 9 del_smp=on").errorTag, "userUnknown")
    // Neither is reached before the process ends.
    alice.send("/_stop").assert("chatStopped")
    alice.send("/_delete user 2 del_smp=on").assert("cmdOk")
    for table in ["contacts", "connections", "items"] {
      XCTAssertEqual(try count("SELECT count(*) FROM \(table)", in: store), table == "items" ? 0 : 1, table)
    }
    XCTAssertEqual(try count("SELECT count(*) FROM mailbox", in: relay), mailboxes)
    alice.free()
    let again = try XCTUnwrap(Host.open(alice.prefix).host)
    again.send("/_network {\"relay\":\"\(relay)\"}").assert("cmdOk")
    again.send("/_start").assert("chatStarted")
    try wait("forgotten by the relay") { try count("SELECT count(*) FROM mailbox", in: relay) == mailboxes - 1 }
    try wait("forgotten by the server") { try count("SELECT count(*) FROM subscription", in: server) == 1 }
    XCTAssertEqual(names(again), ["alice"])
    again.send("/_ntf get").assert("ntfToken")
    // Deleting the last one deletes the token; its mailboxes stay.
    again.send("/_delete user 1 del_smp=off").assert("cmdOk")
    try wait("forgotten by the server") {
      try count("SELECT count(*) FROM subscription", in: server) == 0
        && count("SELECT count(*) FROM token", in: server) == 0
    }
    XCTAssertEqual(again.send("/u").errorTag, "noActiveUser")
    station.bob.send("/_send @1 text anyone there?").assert("newChatItems")
    let sent = try XCTUnwrap(station.bob.event("chatItemsStatusesUpdated", within: 20))["result"]["chatItems"][0]
    XCTAssertEqual(sent["chatItem"]["meta"]["itemStatus"]["type"].text, "sndSent")
    XCTAssertEqual(try count("SELECT count(*) FROM reservations WHERE state = 'reserved'", in: store), 0)
    again.send(#"/_create user {"profile":{"displayName":"alice"}}"#).assert("activeUser")
  }

  /// Notifications of a deleted profile are withdrawn by the next answer (INC-46).
  func testNotificationsOfADeletedProfileAreWithdrawn() throws {
    let station = try Station()
    try addProfile("work", station)
    station.alice.send("/_user 1").assert("activeUser")
    station.suspend()
    station.bob.send("/_send @2 text to work").assert("newChatItems")
    let first = try shown(station)
    XCTAssertEqual(first.notifications.map { $0["body"].text }, ["to work"])
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_delete user 2 del_smp=on").assert("cmdOk")
    XCTAssertEqual(station.alice.state["unread"].number, 0)
    station.suspend()
    station.pair.send("to alice", from: station.bob)
    let next = try station.allPushes().map { try station.present($0) }
    let withdrawn = next.flatMap { $0["withdrawals"].elements.map(\.text) }
    let identifier = try XCTUnwrap(first.notifications.first)["identifier"].text
    XCTAssertEqual(withdrawn.filter { $0 == identifier }.count, 1, "\(withdrawn)")
  }

  // MARK: Mentions

  func testAChatSetToMentionsTellsOfThemOnly() throws {
    let station = try Station()
    station.alice.send(#"/_settings @1 {"enableNtfs":"mentions","favorite":false}"#).assert("cmdOk")
    station.suspend()
    station.pair.send("hello everybody", from: station.bob)
    station.pair.send("hello @alice", from: station.bob)
    station.bob.send(
      #"/_send @1 json [{"msgContent":{"type":"text","text":"by list"},"mentions":{"alice":1}}]"#
    ).assert("newChatItems")
    let first = try shown(station)
    XCTAssertEqual(first.notifications.map { $0["body"].text }, ["hello @alice", "by list"])
    XCTAssertEqual(first.badge, 2)
    station.alice.send("/_app activate").assert("cmdOk")
    let chat = station.alice.send("/_get chat @1 count=10")["result"]["chat"]
    XCTAssertEqual(chat["chatItems"].elements.map { $0["meta"]["userMention"].flag }, [false, true, true])
    XCTAssertEqual(chat["chatStats"]["unreadMentions"].number, 2)
    XCTAssertEqual(chat["chatStats"]["unreadCount"].number, 3)
    // An edit turns it into a mention.
    let item = station.bob.send("/_get chat @1 count=3")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    station.bob.send("/_update item @1 \(item) text hello @alice, too").assert("chatItemUpdated")
    station.alice.event("chatItemUpdated", within: 20)
    XCTAssertEqual(station.alice.state["unread"].number, 3)
    station.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(station.alice.state["unread"].number, 0)
  }

  /// In scripts with their own punctuation, and without spaces.
  func testAMentionIsRecognisedInAnyScript() throws {
    let station = try Station()
    station.alice.send(#"/_settings @1 {"enableNtfs":"mentions","favorite":false}"#).assert("cmdOk")
    station.suspend()
    let mentions = ["@alice、元気?", "会議は三時から @alice。", "مرحبا @alice، كيف حالك", "أين أنت @alice؟"]
    for text in mentions + ["@alicia、元気?", "أين أنت @alicia؟"] { station.pair.send(text, from: station.bob) }
    XCTAssertEqual(try shown(station).notifications.map { $0["body"].text }, mentions)
  }

  /// A contact that knows a made-up profile mentions its name; it does not know that the user has another.
  func testAMentionNamesTheProfileThatTheContactKnows() throws {
    let pair = try Pair()
    let (alice, bob) = (pair.alice, pair.bob)
    let link = alice.send("/_connect 1 incognito=on")["result"]["connLinkInvitation"]["connFullLink"]
    bob.send("/connect \(link.text)").assert("sentConfirmation")
    let name = alice.event("contactConnected", within: 20)?["result"]["userCustomProfile"]["displayName"].text ?? ""
    XCTAssertFalse(["", "alice"].contains(name), name)
    bob.event("contactConnected", within: 20)
    for text in ["hello @\(name)", "hello @alice"] { bob.send("/_send @2 text \(text)").assert("newChatItems") }
    try wait("both are there") { alice.send("/_get chat @2 count=10")["result"]["chat"]["chatItems"].count == 2 }
    let items = alice.send("/_get chat @2 count=10")["result"]["chat"]["chatItems"].elements
    XCTAssertEqual(items.map { $0["meta"]["userMention"].flag }, [true, false])
    // An edit is read the same way.
    let item = bob.send("/_get chat @2 count=3")["result"]["chat"]["chatItems"][1]["meta"]["itemId"].number
    bob.send("/_update item @2 \(item) text hello again, @\(name)").assert("chatItemUpdated")
    let edited = alice.event("chatItemUpdated", within: 20)?["result"]["chatItem"]["chatItem"]["meta"]
    XCTAssertEqual(edited?["userMention"].flag, true, edited?.description ?? "")
  }
}
