import Foundation
import PorterStore
import XCTest

/// What a sleeping user learns about people: who asks to become a contact, and who has become one.
final class RequestPushTests: XCTestCase {
  /// Alice has an address and sleeps; carol wants to become her contact.
  private func asked(_ settings: String? = nil) throws -> (station: Station, carol: Host, link: String) {
    let station = try Station()
    let link = station.alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    if let settings { station.alice.send("/_address_settings 1 \(settings)").assert("userContactLinkUpdated") }
    try awaitSubscriptions(2, of: station.alice)
    station.suspend()
    let carol = try XCTUnwrap(Host.open(station.pair.folder.file("carol")).host)
    carol.begin("carol", relay: station.pair.folder.file("relay.db"))
    return (station, carol, link)
  }

  /// Waits until the notification server knows this many of the host's mailboxes.
  private func awaitSubscriptions(_ count: Int64, of host: Host) throws {
    try awaitCount(count, "SELECT count(*) FROM connections WHERE subscription LIKE 'created%'", of: host)
  }

  private func awaitCount(_ count: Int64, _ sql: String, of host: Host) throws {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    for _ in 0..<2_000 where try store.integer(sql) != count { usleep(10_000) }
    XCTAssertEqual(try store.integer(sql), count, sql)
  }

  func testARequestIsShownOnceAndWithdrawnWhenItIsDecided() throws {
    let (station, carol, link) = try asked()
    carol.send("/connect \(link)").assert("sentInvitation")
    let push = try station.nextPush()
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.titles, ["carol wants to connect!"])
    XCTAssertEqual(answer.bodies, ["Accept contact request from carol?"])
    let shown = answer["notifications"][0]
    XCTAssertEqual(shown["categoryIdentifier"].text, "NTF_CAT_CONTACT_REQUEST")
    XCTAssertEqual(shown["userInfo"]["contactRequestId"].number, 1)
    XCTAssertEqual(answer["badge"].number, 0, "a request is no unread message")
    // The same push again, then the same person again.
    XCTAssertEqual(try station.present(push)["notifications"].count, 0)
    carol.send("/connect \(link)").assert("sentInvitation")
    XCTAssertEqual(try station.present(try station.nextPush())["notifications"].count, 0)
    // The app is notified when it wakes; accepting the request withdraws the notification.
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("receivedContactRequest")
    station.alice.send("/_accept 1").assert("acceptingContactRequest")
    station.alice.event("contactConnected")
    carol.event("contactConnected")
    station.suspend()
    station.pair.send("hello", from: station.bob)
    // Pushes of the handshake may come first.
    var (withdrawals, bodies): ([String], [String]) = ([], [])
    while bodies.isEmpty {
      let next = try station.present(try station.nextPush())
      withdrawals += next["withdrawals"].elements.map(\.text)
      bodies += next.bodies
    }
    XCTAssertEqual(withdrawals, answer.identifiers)
    XCTAssertEqual(bodies, ["hello"])
  }

  /// However many strangers ask, they do not ring for each.
  func testTheRequestsOfSeveralPersonsMakeOneSound() throws {
    let (station, carol, link) = try asked()
    carol.send("/connect \(link)").assert("sentInvitation")
    let dave = try XCTUnwrap(Host.open(station.pair.folder.file("dave")).host)
    dave.begin("dave", relay: station.pair.folder.file("relay.db"))
    dave.send("/connect \(link)").assert("sentInvitation")
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let answer = try station.present(wake)
    XCTAssertEqual(answer.titles.sorted(), ["carol wants to connect!", "dave wants to connect!"])
    XCTAssertEqual(answer["notifications"].elements.filter { $0["sound"].exists }.count, 1, answer.description)
  }

  /// For a host that drives the push step by step: it is about the address, and the request comes with the message.
  func testAPushForARequestIsAboutTheAddress() throws {
    let (station, carol, link) = try asked()
    carol.send("/connect \(link)").assert("sentInvitation")
    let push = JSON(try station.nextPush())["notificationData"]
    let service = try station.makeExtension()
    service.send("/_start main=off snd_files=off").assert("chatStarted")
    let notified = service.send("/_ntf conns \(push["nonce"].text) \(push["message"].text)")["result"]["ntfConns"][0]
    let entity = notified["connEntity"]
    XCTAssertEqual(entity["type"].text, "userContactConnection", notified.description)
    XCTAssertEqual(entity["userContact"]["connReqContact"].text, link, notified.description)
    XCTAssertFalse(entity["contact"].exists, notified.description)
    let request = "\(notified["agentConnId"].text):\(notified["agentDbQueueId"].number):2026-01-01T00:00:00.000Z"
    service.send("/_ntf conn messages \(request)").assert("connNtfMessages")
    service.event("receivedContactRequest")
  }

  /// From the lock screen: the tap waits for the app, which accepts once, incognito or not, or rejects.
  func testATapAcceptsOrRejectsARequest() throws {
    let (station, carol, link) = try asked()
    for (action, number) in [
      ("NTF_ACT_REJECT_CONTACT", 1), ("NTF_ACT_ACCEPT_CONTACT", 2), ("NTF_ACT_ACCEPT_CONTACT_INCOGNITO", 3),
    ] {
      // A person who was rejected, or whom alice knows, can ask again only as another person.
      let person = try XCTUnwrap(Host.open(station.pair.folder.file("person\(number)")).host)
      person.begin("person\(number)", relay: station.pair.folder.file("relay.db"))
      person.send("/connect \(link)").assert("sentInvitation")
      let service = try station.makeExtension()
      var shown = JSON("")
      while shown["categoryIdentifier"].text != "NTF_CAT_CONTACT_REQUEST" {
        shown = service.push(try station.nextPush())["notifications"][0]
      }
      XCTAssertEqual(shown["userInfo"]["contactRequestId"].number, number)
      XCTAssertEqual(service.respond(to: shown, action)["result"]["outcome"].text, "waiting")
      XCTAssertTrue(service.state["quiescent"].flag)
      service.free()
      station.alice.send("/_app activate").assert("cmdOk")
      let event = station.alice.event("ntfResponse", within: 20)?["result"] ?? JSON("")
      XCTAssertEqual(event["outcome"].text, "applied", event.description)
      if action == "NTF_ACT_REJECT_CONTACT" {
        XCTAssertEqual(station.alice.send("/_accept \(number)").errorTag, "contactRequestNotFound")
      } else {
        let connected = person.event("contactConnected", within: 20)?["result"]["contact"]["profile"]["displayName"]
          .text
        XCTAssertEqual(connected == "alice", action == "NTF_ACT_ACCEPT_CONTACT", connected ?? "")
        XCTAssertTrue(event["chatId"].text.hasPrefix("@"), event.description)
      }
      station.suspend()
      person.free()
    }
    XCTAssertEqual(carol.waitingEvents().filter { $0 != "notifications" }, [], "only her badge")
  }

  /// The profile is left and hidden while the relay is asked: the tap makes nothing of it visible.
  func testAProfileThatIsHiddenWhileItAcceptsDoesNotBecomeActive() throws {
    let station = try Station()
    let alice = station.alice
    alice.send(#"/_create user {"profile":{"displayName":"work"}}"#).assert("activeUser")
    let link = alice.send("/_address 2")["result"]["connLinkContact"]["connFullLink"].text
    alice.send("/_user 1").assert("activeUser")
    try awaitSubscriptions(2, of: alice)
    station.suspend()
    let carol = try XCTUnwrap(Host.open(station.pair.folder.file("carol")).host)
    carol.begin("carol", relay: station.pair.folder.file("relay.db"))
    carol.send("/connect \(link)").assert("sentInvitation")
    let shown = try station.present(try station.nextPush())["notifications"][0]
    XCTAssertEqual(shown["userInfo"]["userId"].number, 2, shown.description)
    alice.send("/_app activate").assert("cmdOk")
    alice.event("receivedContactRequest", within: 20)
    let relay = try Database(path: station.pair.folder.file("relay.db"))
    try relay.execute("BEGIN IMMEDIATE")
    XCTAssertEqual(alice.respond(to: shown, "NTF_ACT_ACCEPT_CONTACT")["result"]["outcome"].text, "applying")
    alice.send("/_user 1").assert("activeUser")
    alice.send(#"/_hide user 2 "open sesame""#).assert("userPrivacy")
    try relay.execute("COMMIT")
    try relay.close()
    let event = try XCTUnwrap(alice.event("ntfResponse", within: 20))["result"]
    XCTAssertEqual(event["outcome"].text, "stale", event.description)
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 1)
    XCTAssertEqual(alice.send("/users")["result"]["users"].count, 1)
  }

  func testAHiddenPreviewNamesNobody() throws {
    let (station, carol, link) = try asked()
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(#"/_save app settings {"notificationPreviewMode":"hidden"}"#).assert("cmdOk")
    station.suspend()
    carol.send("/connect \(link)").assert("sentInvitation")
    let answer = try station.present(try station.nextPush())
    XCTAssertEqual(answer.titles, ["Somebody wants to connect!"])
    XCTAssertFalse(answer.description.contains("carol"), answer.description)
  }

  /// An extension leaves accepting to the app, which accepts when it wakes.
  func testAnAddressThatAcceptsByItselfAcceptsWhenTheAppWakes() throws {
    let (station, carol, link) = try asked(#"{"businessAddress":false,"autoAccept":{"acceptIncognito":false}}"#)
    carol.send("/connect \(link)").assert("sentInvitation")
    let answer = try station.present(try station.nextPush())
    XCTAssertEqual(answer["notifications"].count, 0, answer.description)
    try awaitCount(1, "SELECT count(*) FROM contact_requests WHERE state = 'accepting'", of: station.alice)
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("acceptingContactRequest")
    carol.event("contactConnected")
    station.alice.event("contactConnected")
  }

  /// Alice's extension commits that carol is connected, and sends the address's welcome: the app's host is notified of
  /// both, each once, although the app ends after each event.
  func testAWelcomeThatAnExtensionSentIsReportedToTheAppOnce() throws {
    let (station, carol, link) = try asked(
      #"{"businessAddress":false,"autoAccept":{"acceptIncognito":false},"#
        + #""autoReply":{"type":"text","text":"welcome"}}"#)
    carol.send("/connect \(link)").assert("sentInvitation")
    try awaitCount(0, "SELECT count(*) FROM outbox", of: carol)
    station.suspend(carol)
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("acceptingContactRequest")
    try awaitSubscriptions(3, of: station.alice)
    awaitRest(of: station.alice)
    station.alice.free()
    carol.send("/_app activate").assert("cmdOk")
    let service = try station.makeExtension()
    var shown: [String] = []
    while !shown.contains("carol is connected!") { shown += service.push(try station.nextPush()).titles }
    XCTAssertEqual(
      carol.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]["meta"]["itemText"].text, "welcome")
    service.event("newChatItems")
    service.free()
    var reported: [String] = []
    for _ in 0..<3 {
      let app = try XCTUnwrap(Host.open(station.pair.alice.prefix).host)
      app.send("/_start").assert("chatStarted")
      awaitRest(of: app)
      while let event = app.event(within: 0) {
        let type = event["result"]["type"].text
        guard ["contactConnected", "newChatItems"].contains(type) else { continue }
        reported.append(type)
        if type == "newChatItems" {
          let item = event["result"]["chatItems"][0]
          XCTAssertEqual(item["chatItem"]["meta"]["itemText"].text, "welcome", event.description)
          XCTAssertEqual(item["chatItem"]["chatDir"]["type"].text, "directSnd", event.description)
          XCTAssertEqual(item["chatInfo"]["contact"]["profile"]["displayName"].text, "carol", event.description)
        }
        break
      }
      app.free()
    }
    XCTAssertEqual(reported, ["newChatItems", "contactConnected"])
  }

  /// Both sides sleep while the handshake continues in their extensions: each user learns that the other is connected.
  func testBothSidesAsleepAreToldThatTheyAreConnected() throws {
    let station = try Station()
    let token = String(repeating: "ab", count: 32)
    try station.activate(token, of: station.bob)
    let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    try awaitSubscriptions(2, of: station.alice)
    station.suspend()
    station.bob.send("/connect \(link)").assert("sentConfirmation")
    try awaitSubscriptions(2, of: station.bob)
    station.suspend(station.bob)
    // Alice's extension receives the confirmation, and sends the hello.
    XCTAssertEqual(try station.present(try station.nextPush())["notifications"].count, 0)
    // Bob's receives the hello, and answers.
    let service = try XCTUnwrap(Host.open(station.bob.prefix, isExtension: true).host)
    let atBob = service.push(try station.nextPush(to: token))
    XCTAssertEqual(atBob.titles, ["alice is connected!"], atBob.description)
    XCTAssertEqual(atBob["notifications"][0]["categoryIdentifier"].text, "NTF_CAT_CONTACT_CONNECTED")
    // Alice's extension receives the answer.
    let atAlice = try station.present(try station.nextPush())
    XCTAssertEqual(atAlice.titles, ["bob is connected!"], atAlice.description)
    XCTAssertEqual(atAlice["notifications"][0]["categoryIdentifier"].text, "NTF_CAT_CONTACT_CONNECTED")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("contactConnected")
    station.bob.send("/_app activate").assert("cmdOk")
    station.bob.event("contactConnected")
  }

  /// A profile change wakes no device.
  func testAProfileUpdateSendsNoPush() throws {
    let station = try Station()
    station.suspend()
    station.bob.send(#"/_profile 1 {"displayName":"robert","fullName":""}"#).assert("userProfileUpdated")
    let push = try station.push(for: "hello")
    let relay = try Database(path: station.pair.folder.file("relay.db"))
    defer { try? relay.close() }
    XCTAssertEqual(try relay.integer("SELECT count(*) FROM message WHERE body IS NOT NULL AND notify = 1"), 1)
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
  }
}
