import CNightporter
import Foundation
import PorterStore
import XCTest

@testable import PorterRelay

/// Contact requests answered from their notifications.
final class RequestResponseTests: XCTestCase {
  /// Alice sleeps, and carol's request is on her screen.
  private func shownRequest() throws -> (station: Station, carol: Host, notification: JSON) {
    let station = try Station()
    let link = station.alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    let store = try Database(path: station.alice.prefix + "_chat.db")
    for _ in 0..<2_000 {
      if try store.integer("SELECT count(*) FROM connections WHERE subscription LIKE 'created%'") == 2 { break }
      usleep(10_000)
    }
    try store.close()
    station.suspend()
    let carol = try XCTUnwrap(Host.open(station.pair.folder.file("carol")).host)
    carol.begin("carol", relay: station.pair.folder.file("relay.db"))
    carol.send("/connect \(link)").assert("sentInvitation")
    let answer = try station.present(try station.nextPush())
    XCTAssertEqual(answer.titles, ["carol wants to connect!"], answer.description)
    return (station, carol, answer["notifications"][0])
  }

  func testARequestIsAcceptedFromTheLockScreenAndLeadsToTheNewChat() throws {
    let (station, carol, notification) = try shownRequest()
    let service = try station.makeExtension()
    XCTAssertEqual(service.respond(to: notification, "NTF_ACT_ACCEPT_CONTACT")["result"]["outcome"].text, "waiting")
    station.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(station.alice.event("ntfResponse"))["result"]
    XCTAssertEqual(event["action"].text, "acceptContact")
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(event["chatId"].text, "@2", event.description)
    carol.event("contactConnected")
    carol.send("/_send @1 text thanks").assert("newChatItems")
    // The same response again, and a change of mind: both find it already done.
    XCTAssertTrue(station.alice.respond(to: notification, "NTF_ACT_ACCEPT_CONTACT")["result"]["repeated"].flag)
    let rejected = station.alice.respond(to: notification, "NTF_ACT_REJECT_CONTACT")
    XCTAssertEqual(rejected["result"]["outcome"].text, "stale", rejected.description)
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 2)
  }

  /// The profile was hidden after its request was shown: the response finds no such profile, and the request still waits.
  func testARequestOfAHiddenProfileIsNotAcceptedWithoutItsPassword() throws {
    let (station, _, notification) = try shownRequest()
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
    station.alice.send(#"/_hide user 1 "open sesame""#).assert("userPrivacy")
    for action in ["NTF_ACT_ACCEPT_CONTACT", "NTF_ACT_ACCEPT_CONTACT_INCOGNITO", "NTF_ACT_REJECT_CONTACT"] {
      let answer = station.alice.respond(to: notification, action)
      XCTAssertEqual(answer["result"]["reason"].text, "noSuchUser", answer.description)
    }
    XCTAssertEqual(station.alice.send("/u")["result"]["user"]["userId"].number, 2)
    station.alice.send(#"/_user 1 "open sesame""#).assert("activeUser")
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 1)
    station.alice.send("/_accept 1").assert("acceptingContactRequest")
  }

  func testARequestIsRejectedWithoutTheScreen() throws {
    let (station, _, notification) = try shownRequest()
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    let rejected = station.alice.respond(to: notification, "NTF_ACT_REJECT_CONTACT")
    XCTAssertEqual(rejected["result"]["outcome"].text, "applied", rejected.description)
    XCTAssertFalse(station.alice.event("ntfResponse")?["result"]["chatId"].exists ?? true)
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_ACTIVE), NP_OK)
    let accepted = station.alice.respond(to: notification, "NTF_ACT_ACCEPT_CONTACT")
    XCTAssertEqual(accepted["result"]["outcome"].text, "stale", accepted.description)
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 1)
  }

  /// The store was restored from a backup, and has given the request's number to another person.
  func testARequestFromBeforeARestoreAcceptsNoOtherPerson() throws {
    let (station, _, notification) = try shownRequest()
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute("UPDATE contact_requests SET person = x'\(String(repeating: "07", count: 24))'")
    try store.close()
    station.alice.send("/_app activate").assert("cmdOk")
    for action in ["NTF_ACT_ACCEPT_CONTACT", "NTF_ACT_ACCEPT_CONTACT_INCOGNITO", "NTF_ACT_REJECT_CONTACT"] {
      let answer = station.alice.respond(to: notification, action)["result"]
      XCTAssertEqual(answer["reason"].text, "otherStore", answer.description)
    }
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 1)

    // A request that arrives while the app is on screen is named the same way.
    let link = station.alice.send("/_show_address 1")["result"]["contactLink"]["connLinkContact"]["connFullLink"].text
    let dave = try XCTUnwrap(Host.open(station.pair.folder.file("dave")).host)
    dave.begin("dave", relay: station.pair.folder.file("relay.db"))
    dave.send("/connect \(link)").assert("sentInvitation")
    var shown = JSON("")
    while shown["title"].text != "dave wants to connect!" {
      let event = try XCTUnwrap(station.alice.event("notifications"))["result"]
      shown = event["notifications"][0]["notification"]
    }
    let answer = station.alice.respond(to: shown, "NTF_ACT_REJECT_CONTACT")["result"]
    XCTAssertEqual(answer["outcome"].text, "applied", answer.description)
  }

  /// After a restore the number is given to another person, whose notification has the identifier of the earlier one.
  func testTheNextPersonWithARequestsNumberIsAnswered() throws {
    for action in ["NTF_ACT_ACCEPT_CONTACT", "NTF_ACT_ACCEPT_CONTACT_INCOGNITO", "NTF_ACT_REJECT_CONTACT"] {
      let (station, _, earlier) = try shownRequest()
      let person = [UInt8](repeating: 7, count: 24)
      let store = try Database(path: station.alice.prefix + "_chat.db")
      try store.run("UPDATE contact_requests SET person = ?", [.blob(person)])
      try store.close()
      station.alice.send("/_app activate").assert("cmdOk")
      let stale = station.alice.respond(to: earlier, action)["result"]
      XCTAssertEqual(stale["reason"].text, "otherStore", stale.description)
      station.alice.event("ntfResponse")

      let later = try notification(earlier, of: Data(person).base64EncodedString())
      let answer = station.alice.respond(to: later, action)["result"]
      XCTAssertFalse(answer["repeated"].flag, "\(action): \(answer)")
      let event = try XCTUnwrap(station.alice.event("ntfResponse"))["result"]
      XCTAssertEqual(event["responseId"].number, answer["responseId"].number, "\(action): \(event)")
      XCTAssertEqual(event["outcome"].text, "applied", "\(action): \(event)")
      XCTAssertTrue(station.alice.respond(to: later, action)["result"]["repeated"].flag, action)
    }
  }

  /// The same notification, but about another connection.
  private func notification(_ earlier: JSON, of connection: String) throws -> JSON {
    var members = earlier.value as? [String: Any] ?? [:]
    var userInfo = members["userInfo"] as? [String: Any] ?? [:]
    userInfo["agentConnId"] = connection
    members["userInfo"] = userInfo
    return JSON(String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self))
  }

  /// The answer waits as long as the relay does not respond, and is given once.
  func testAcceptingIsPostponedWhileTheRelayCannotBeReached() throws {
    try acceptingIsPostponed(while: { $0.fail(.create) }, until: { $0.fail(nil) })
  }

  /// The relay answers that it cannot create a mailbox now, as when its back end is down.
  func testAcceptingIsPostponedWhileTheRelayIsUnavailable() throws {
    try acceptingIsPostponed(while: { $0.refuse(.create) }, until: { $0.refuse(nil) })
  }

  /// A refusal that no retry changes is reported, and not retried.
  func testAcceptingIsRefusedByARelayThatRefusesItForGood() throws {
    let request = try requested()
    request.transport.refuse(.create, .syntax)
    XCTAssertNil(request.alice.respond(request.accept)["error"].value)
    let event = try XCTUnwrap(request.alice.event("ntfResponse", within: 60))["result"]
    XCTAssertEqual([event["outcome"].text, event["reason"].text], ["stale", "refused"], event.description)
  }

  /// Bob's request has reached alice, who uses the relay through a host's transport. `accept` is a tap on its
  /// notification.
  private struct Requested {
    let folder: TemporaryFolder
    let alice: Host
    let bob: Host
    let transport: HostTransport
    let accept: String
  }

  private func requested() throws -> Requested {
    let folder = try TemporaryFolder()
    let transport = HostTransport(relay: folder.file("relay.db"))
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    transport.install(in: alice)
    alice.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
    alice.send("/_start").assert("chatStarted")
    let link = alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    bob.begin("bob", relay: folder.file("relay.db"))
    bob.send("/_connect 1 \(link)").assert("sentInvitation")
    var request = JSON("")
    awaitThat("the request has come") {
      np_relay_ready(alice.handle)
      if let event = alice.event(within: 0.1), event["result"]["type"].text == "receivedContactRequest" {
        request = event["result"]["contactRequest"]
      }
      return request.exists
    }
    let id = request["contactRequestId"].number
    let accept =
      "{\"actionIdentifier\":\"NTF_ACT_ACCEPT_CONTACT\",\"identifier\":\"np:request:1:\(id)\",\"userInfo\":{\"userId\":1,\"contactRequestId\":\(id)}}"
    return Requested(folder: folder, alice: alice, bob: bob, transport: transport, accept: accept)
  }

  private func acceptingIsPostponed(
    while hinder: (HostTransport) -> Void, until end: (HostTransport) -> Void
  ) throws {
    let request = try requested()
    let (alice, transport, accept) = (request.alice, request.transport, request.accept)
    hinder(transport)
    let earlier = transport.count(.create)
    XCTAssertNil(alice.respond(accept)["error"].value)
    // The second attempt shows that the first was postponed.
    awaitThat("it is tried again") { transport.count(.create) > earlier + 1 }
    XCTAssertTrue(alice.respond(accept)["result"]["repeated"].flag)
    end(transport)
    let event = try XCTUnwrap(alice.event("ntfResponse", within: 60))["result"]
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(alice.send("/_contacts 1")["result"]["contacts"].count, 1)
  }

  /// The tap makes the profile the active one. By the time the relay can be reached again, the user may be in another
  /// one.
  func testAPostponedAcceptanceSwitchesTheProfileWithTheTapOnly() throws {
    let request = try requested()
    let (alice, transport) = (request.alice, request.transport)
    alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
    transport.fail(.create)
    let earlier = transport.count(.create)
    XCTAssertNil(alice.respond(request.accept)["error"].value)
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 1)
    alice.send("/_user 2").assert("activeUser")
    // The second attempt shows that the first was postponed.
    awaitThat("it is tried again") { transport.count(.create) > earlier + 1 }
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 2)
    transport.fail(nil)
    let event = try XCTUnwrap(alice.event("ntfResponse", within: 60))["result"]
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(event["userId"].number, 1)
    XCTAssertEqual(event["chatId"].text, "@1", event.description)
    XCTAssertEqual(alice.send("/u")["result"]["user"]["userId"].number, 2)
  }

  /// The notification of a finished request may still be on screen.
  func testATapOnARequestThatIsOverLeadsToItsContactOrNowhere() throws {
    let meeting = try AddressMeeting()
    let alice = meeting.alice
    let others = try ["carol", "dave", "erin"].map { name in
      let host = try XCTUnwrap(Host.open(meeting.folder.file(name)).host)
      host.begin(name, relay: meeting.folder.file("relay.db"))
      return host
    }
    _ = meeting.ask()
    for other in others {
      other.send("/connect \(meeting.link)").assert("sentInvitation")
      alice.event("receivedContactRequest")
    }
    let accepted = alice.send("/_accept 1")
    accepted.assert("acceptingContactRequest")
    alice.send("/_reject 2").assert("contactRequestRejected")
    others[1].send("/_delete :1").assert("contactConnectionDeleted")
    alice.event("contactRequestWithdrawn")
    let contact = "@\(accepted["result"]["contact"]["contactId"].number)"
    for (number, chat) in [(1, contact), (2, ""), (3, ""), (4, "<@4")] {
      let members =
        "\"identifier\":\"np:request:1:\(number)\",\"targetContentIdentifier\":\"<@\(number)\",\"userInfo\":{\"userId\":1,\"contactRequestId\":\(number)}"
      alice.respond(to: members).assert("notificationResponse")
      let event = try XCTUnwrap(alice.event("ntfResponse"))["result"]
      XCTAssertEqual(event["outcome"].text, chat.isEmpty ? "stale" : "applied", event.description)
      XCTAssertEqual(event["reason"].text, chat.isEmpty ? "noSuchRequest" : "", event.description)
      XCTAssertEqual(event["chatId"].text, chat, event.description)
    }
  }

  /// The host is notified of the contact by the same event as after `/_accept` without a relay, including which request
  /// it was.
  func testAnAcceptanceThroughAnExtensionIsReportedOnce() throws {
    let (station, carol, notification) = try shownRequest()
    let service = try station.makeExtension()
    service.respond(to: notification, "NTF_ACT_ACCEPT_CONTACT").assert("notificationResponse")
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    var events: [JSON] = []
    while events.last?["type"].text != "contactConnected" {
      events.append(try XCTUnwrap(station.alice.event(), "\(events)")["result"])
    }
    let told = events.map { $0["type"].text }.filter { ["acceptingContactRequest", "ntfResponse"].contains($0) }
    XCTAssertEqual(told, ["acceptingContactRequest", "ntfResponse"])
    let accepting = events.first { $0["type"].text == "acceptingContactRequest" }
    let response = events.first { $0["type"].text == "ntfResponse" }
    XCTAssertEqual("@\(accepting?["contact"]["contactId"].number ?? 0)", response?["chatId"].text)
    XCTAssertEqual(response?["contactRequestId"].number, notification["userInfo"]["contactRequestId"].number)
    carol.event("contactConnected")
    awaitRest(of: station.alice)
    station.alice.expectNone("acceptingContactRequest")
  }

  /// The host uses the number to remove the request from its list.
  func testARejectionThroughAnExtensionNamesItsRequest() throws {
    let (station, _, notification) = try shownRequest()
    let service = try station.makeExtension()
    service.respond(to: notification, "NTF_ACT_REJECT_CONTACT").assert("notificationResponse")
    station.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(station.alice.event("ntfResponse"))["result"]
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(event["contactRequestId"].number, notification["userInfo"]["contactRequestId"].number)
    XCTAssertFalse(event["chatId"].exists, event.description)
  }

  /// A brief disk failure is no reason to give up the acceptance, about which the user has been told nothing.
  func testAcceptingIsPostponedWhileTheStoreCannotBeWritten() throws {
    let (station, carol, notification) = try shownRequest()
    station.alice.send("/_app activate").assert("cmdOk")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute(
      "CREATE TRIGGER failing BEFORE INSERT ON contacts BEGIN SELECT RAISE(ABORT, 'the disk fails'); END")
    station.alice.respond(to: notification, "NTF_ACT_ACCEPT_CONTACT").assert("notificationResponse")
    // Each attempt reserves the invitation anew.
    try awaitThat("it is tried again") { try store.integer("SELECT max(epoch) FROM reservations") ?? 0 > 1 }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM responses WHERE state = 'applying'"), 1)
    try store.execute("DROP TRIGGER failing")
    let event = try XCTUnwrap(station.alice.event("ntfResponse", within: 60))["result"]
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    carol.event("contactConnected", within: 60)
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 2)
  }

  /// Likewise by command, which is answered with the error: the contact follows without another start.
  func testAnAcceptedRequestIsFinishedWhenTheStoreCanBeWrittenAgain() throws {
    let (station, carol, notification) = try shownRequest()
    station.alice.send("/_app activate").assert("cmdOk")
    let store = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute(
      "CREATE TRIGGER failing BEFORE INSERT ON contacts BEGIN SELECT RAISE(ABORT, 'the disk fails'); END")
    let request = notification["userInfo"]["contactRequestId"].number
    XCTAssertEqual(station.alice.send("/_accept \(request)").errorTag, "dBException")
    try store.execute("DROP TRIGGER failing")
    carol.event("contactConnected", within: 60)
    XCTAssertEqual(station.alice.send("/_contacts 1")["result"]["contacts"].count, 2)
  }
}
