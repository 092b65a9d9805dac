import CNightporter
import Foundation
import PorterCrypto
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore
import XCTest

@testable import PorterEngine

/// Contact addresses and the requests sent to them, through the C interface.
final class ContactRequestTests: XCTestCase {
  func testARequestThatIsAcceptedBecomesAContact() throws {
    let meeting = try AddressMeeting()
    XCTAssertEqual(meeting.plan()["type"].text, "ok")
    let request = meeting.ask()
    XCTAssertEqual(request["profile"]["displayName"].text, "bob", request.description)
    XCTAssertEqual(meeting.plan()["type"].text, "connectingConfirmReconnect")
    let chats = meeting.alice.send("/_get chats 1")["result"]["chats"]
    XCTAssertEqual(
      chats[0]["chatInfo"]["contactRequest"]["contactRequestId"].number, request["contactRequestId"].number)
    let accepted = meeting.alice.send("/_accept \(request["contactRequestId"].number)")
    accepted.assert("acceptingContactRequest")
    XCTAssertEqual(accepted["result"]["contact"]["profile"]["displayName"].text, "bob", accepted.description)
    XCTAssertTrue(accepted["result"]["contact"]["activeConn"].exists)
    let connecting = meeting.bob.event("contactConnecting")
    XCTAssertEqual(connecting?["result"]["contact"]["profile"]["displayName"].text, "alice")
    meeting.alice.event("contactSndReady")
    meeting.alice.event("contactConnected")
    meeting.bob.event("contactConnected")
    XCTAssertEqual(meeting.plan()["type"].text, "known")
    meeting.bob.send("/connect \(meeting.link)").assert("contactAlreadyExists")
    // Messages pass in both directions.
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    XCTAssertEqual(
      meeting.alice.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]["meta"]["itemText"].text, "hello")
    meeting.alice.send("/_send @1 text you").assert("newChatItems")
    meeting.bob.event("newChatItems")
    XCTAssertEqual(meeting.contacts(meeting.alice).count, 1)
    XCTAssertEqual(meeting.alice.send("/_get chats 1")["result"]["chats"].count, 1)
    // Accepting it again is not an error, and makes no second contact.
    let again = meeting.alice.send("/_accept \(request["contactRequestId"].number)")
    XCTAssertEqual(again["result"]["contact"]["contactId"].number, 1, again.description)
    XCTAssertEqual(meeting.contacts(meeting.alice).count, 1)
    XCTAssertEqual(meeting.alice.send("/_reject 1").errorTag, "contactRequestNotFound")
  }

  /// Bob's request is accepted, and alice sleeps before the handshake has ended.
  func testAPlanForAnAddressThatHasAcceptedAndIsNotConnectedYet() throws {
    let meeting = try AddressMeeting()
    let request = meeting.ask()
    try meeting.awaitEmptyRelay()
    meeting.bob.send("/_app suspend 0").assert("cmdOk")
    meeting.alice.send("/_accept \(request["contactRequestId"].number)").assert("acceptingContactRequest")
    try meeting.awaitCount(
      1, "SELECT count(*) FROM message WHERE body IS NOT NULL", in: meeting.folder.file("relay.db"))
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.bob.send("/_app activate").assert("cmdOk")
    meeting.bob.event("contactConnecting")
    let plan = meeting.plan()
    XCTAssertEqual(plan["type"].text, "connectingProhibit", plan.description)
    XCTAssertEqual(plan["contact"]["profile"]["displayName"].text, "alice", plan.description)
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.bob.event("contactConnected", within: 20)
    XCTAssertEqual(meeting.plan()["type"].text, "known")
  }

  func testTheSameAddressTakesManyRequests() throws {
    let meeting = try AddressMeeting(settings: #"{"businessAddress":false,"autoAccept":{"acceptIncognito":false}}"#)
    var others: [Host] = []
    for name in ["carol", "dave", "erin"] {
      let host = try XCTUnwrap(Host.open(meeting.folder.file(name)).host)
      host.begin(name, relay: meeting.folder.file("relay.db"))
      host.send("/connect \(meeting.link)").assert("sentInvitation")
      others.append(host)
    }
    for host in others { host.event("contactConnected", within: 20) }
    for _ in others { meeting.alice.event("contactConnected", within: 20) }
    XCTAssertEqual(meeting.contacts(meeting.alice).count, 3)
  }

  /// An address that accepts automatically, with a first message; no request is left for the user.
  func testAnAddressAcceptsAndWelcomesByItself() throws {
    let settings =
      #"{"businessAddress":false,"autoAccept":{"acceptIncognito":false},"autoReply":{"type":"text","text":"welcome"}}"#
    let meeting = try AddressMeeting(settings: settings)
    let shown = meeting.alice.send("/_show_address 1")["result"]["contactLink"]
    XCTAssertEqual(
      shown["addressSettings"].value as? NSDictionary, JSON(settings).value as? NSDictionary, "member for member")
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    let accepting = meeting.alice.event("acceptingContactRequest")
    XCTAssertEqual(accepting?["result"]["contact"]["profile"]["displayName"].text, "bob")
    meeting.bob.event("contactConnected")
    let welcome = meeting.bob.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(welcome?["meta"]["itemText"].text, "welcome")
    let reported = meeting.alice.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(reported?["meta"]["itemText"].text, "welcome")
    awaitRest(of: meeting.alice)
    meeting.alice.expectNone("newChatItems")
    XCTAssertEqual(meeting.alice.send("/_get chats 1")["result"]["chats"].count, 1)
    let sent = meeting.alice.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"]
    XCTAssertEqual(sent.count, 1)
    XCTAssertEqual(sent[0]["chatDir"]["type"].text, "directSnd")
  }

  func testAnAddressThatAcceptsIncognitoShowsAMadeUpProfile() throws {
    let meeting = try AddressMeeting(settings: #"{"businessAddress":false,"autoAccept":{"acceptIncognito":true}}"#)
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    let seen = meeting.bob.event("contactConnected")?["result"]["contact"]["profile"]["displayName"].text ?? ""
    let told = meeting.alice.event("contactConnected")?["result"]["userCustomProfile"]["displayName"].text ?? ""
    XCTAssertFalse(told.isEmpty)
    XCTAssertEqual(seen, told)
    XCTAssertNotEqual(seen, "alice")
  }

  func testBadSettingsOfAnAddressAreRefused() throws {
    let meeting = try AddressMeeting()
    let kept = #"{"businessAddress":false,"theirs":{"a":[1]}}"#
    meeting.alice.send("/_address_settings 1 \(kept)").assert("userContactLinkUpdated")
    for bad in [
      "[]", #"{"businessAddress":1}"#, #"{"businessAddress":true}"#, #"{"autoAccept":true}"#,
      #"{"autoAccept":{"acceptIncognito":"no"}}"#, #"{"autoReply":"hello"}"#,
      #"{"autoReply":{"type":"text","text":"\#(String(repeating: "a", count: 20_000))"}}"#,
    ] {
      XCTAssertTrue(meeting.alice.send("/_address_settings 1 \(bad)")["error"].exists, bad)
    }
    let settings = meeting.alice.send("/sa")["result"]["contactLink"]["addressSettings"]
    XCTAssertEqual(settings.value as? NSDictionary, JSON(kept).value as? NSDictionary)
    XCTAssertEqual(meeting.bob.send("/_address_settings 1 {}").errorTag, "userContactLinkNotFound")
  }

  /// A message given before the other side has answered is not lost, though its mailbox accepts no signature yet.
  func testAMessageGivenBeforeTheHelloArrives() throws {
    let meeting = try AddressMeeting()
    let request = meeting.ask()
    meeting.bob.send("/_app suspend 0").assert("cmdOk")
    meeting.alice.send("/_accept \(request["contactRequestId"].number)").assert("acceptingContactRequest")
    meeting.alice.send("/_send @1 text early", arrives: false).assert("newChatItems")
    try meeting.awaitCount(1, "SELECT count(*) FROM outbox", of: meeting.alice)
    meeting.bob.send("/_app activate").assert("cmdOk")
    let item = meeting.bob.event("newChatItems", within: 20)?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(item?["meta"]["itemText"].text, "early")
    meeting.alice.event("contactConnected", within: 20)
  }

  func testIncognitoProfilesHideTheUsersOwn() throws {
    let meeting = try AddressMeeting()
    let asked = meeting.bob.send("/_connect 1 incognito=on \(meeting.link)")
    asked.assert("sentInvitation")
    let alias = asked["result"]["customUserProfile"]["displayName"].text
    XCTAssertFalse(alias.isEmpty)
    XCTAssertNotEqual(alias, "bob")
    let request = meeting.alice.event("receivedContactRequest")?["result"]["contactRequest"] ?? JSON("")
    XCTAssertEqual(request["profile"]["displayName"].text, alias)
    let accepted = meeting.alice.send("/_accept incognito=on \(request["contactRequestId"].number)")
    accepted.assert("acceptingContactRequest")
    XCTAssertTrue(accepted["result"]["contact"]["activeConn"]["customUserProfileId"].exists)
    let own = meeting.alice.event("contactConnected")?["result"]["userCustomProfile"]["displayName"].text ?? ""
    let seen = meeting.bob.event("contactConnected")?["result"] ?? JSON("")
    XCTAssertFalse(own.isEmpty)
    XCTAssertEqual(seen["contact"]["profile"]["displayName"].text, own)
    XCTAssertEqual(seen["userCustomProfile"]["displayName"].text, alias)
    // A new profile of the user's own does not reach this contact.
    let change = meeting.bob.send(#"/_profile 1 {"displayName":"robert","fullName":""}"#)
    change.assert("userProfileUpdated")
    XCTAssertEqual(change["result"]["updateSummary"]["updateSuccesses"].number, 0)
    meeting.bob.send("/_send @1 text hi").assert("newChatItems")
    meeting.alice.event("newChatItems")
    let names = meeting.contacts(meeting.alice).elements.map { $0["profile"]["displayName"].text }
    XCTAssertEqual(names, [alias])
  }

  func testARejectedRequestIsOver() throws {
    let meeting = try AddressMeeting()
    let id = meeting.ask()["contactRequestId"].number
    let rejected = meeting.alice.send("/_reject \(id)")
    rejected.assert("contactRequestRejected")
    XCTAssertEqual(rejected["result"]["contactRequest"]["contactRequestId"].number, id)
    for command in ["/_accept \(id)", "/_reject \(id)", "/_accept 99", "/_reject 99"] {
      XCTAssertEqual(meeting.alice.send(command).errorTag, "contactRequestNotFound", command)
    }
    XCTAssertEqual(meeting.alice.send("/_get chats 1")["result"]["chats"].count, 0)
    // Asking again changes nothing.
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    try meeting.awaitEmptyRelay()
    XCTAssertEqual(meeting.alice.send("/_get chats 1")["result"]["chats"].count, 0)
  }

  /// Bob withdraws his request: alice's host is notified, and accepting it comes too late.
  func testARequestCanBeTakenBack() throws {
    let meeting = try AddressMeeting()
    let id = meeting.ask()["contactRequestId"].number
    let pending = meeting.bob.send("/_get chats 1 pcc=on")["result"]["chats"][0]["chatInfo"]["contactConnection"]
    XCTAssertTrue(pending["viaContactUri"].flag, pending.description)
    meeting.bob.send("/_delete :\(pending["pccConnId"].number) full notify=on").assert("contactConnectionDeleted")
    let withdrawn = meeting.alice.event("contactRequestWithdrawn")
    XCTAssertEqual(withdrawn?["result"]["contactRequest"]["contactRequestId"].number, id)
    XCTAssertEqual(meeting.alice.send("/_accept \(id)").errorTag, "contactRequestNotFound")
    // He asks again: that is a new request.
    XCTAssertNotEqual(meeting.ask()["contactRequestId"].number, id)
  }

  /// Alice has accepted, and bob withdraws his request before he learns of it: the contact has left.
  func testARequestTakenBackAfterItWasAcceptedEndsTheContact() throws {
    let meeting = try AddressMeeting()
    let id = meeting.ask()["contactRequestId"].number
    let pending = meeting.bob.send("/_get chats 1 pcc=on")["result"]["chats"][0]["chatInfo"]["contactConnection"]
    // He is offline, and his store is open.
    meeting.bob.send("/_stop").assert("chatStopped")
    meeting.alice.send("/_accept \(id)").assert("acceptingContactRequest")
    meeting.bob.send("/_delete :\(pending["pccConnId"].number) full notify=on").assert("contactConnectionDeleted")
    meeting.bob.send("/_start").assert("chatStarted")
    meeting.alice.event("contactRequestWithdrawn", within: 20)
    XCTAssertEqual(meeting.contacts(meeting.alice)[0]["contactStatus"].text, "deleted")
    XCTAssertEqual(meeting.alice.send("/_send @1 text hello").errorTag, "contactNotActive")
    XCTAssertEqual(meeting.contacts(meeting.bob).count, 0)
  }

  /// Alice accepts, and deletes the contact before bob has learned of it, with her confirmation already at the relay or
  /// still in her outbox: he gets the contact, and learns that it has left.
  func testAContactThatIsDeletedBeforeItsHelloHasLeftOnTheOtherSide() throws {
    for isSent in [true, false] {
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
      awaitThat("the request has come") {
        np_relay_ready(alice.handle)
        return alice.event(within: 0.1)?["result"]["type"].text == "receivedContactRequest"
      }
      bob.send("/_stop").assert("chatStopped")
      if !isSent { transport.fail(.send) }
      alice.send("/_accept 1").assert("acceptingContactRequest")
      let (store, relay) = (
        try Database(path: alice.prefix + "_chat.db"), try Database(path: folder.file("relay.db"))
      )
      if isSent {
        awaitThat("the confirmation is sent") { (try? store.integer("SELECT count(*) FROM outbox")) == 0 }
      }
      alice.send("/_delete @1 full notify=on").assert("contactDeleted")
      transport.fail(nil)
      // Alice's address, and bob's for the answer; the message in it is her confirmation.
      awaitThat("her mailbox is deleted") { (try? relay.integer("SELECT count(*) FROM mailbox")) == 2 }
      awaitThat("her confirmation is at the relay") {
        (try? relay.integer("SELECT count(*) FROM message WHERE body IS NOT NULL")) == 1
      }
      try store.close()
      try relay.close()
      bob.send("/_start").assert("chatStarted")
      bob.event("contactDeletedByContact", within: 60)
      let contacts = bob.send("/_contacts 1")["result"]["contacts"]
      XCTAssertEqual(contacts[0]["contactStatus"].text, "deleted", contacts.description)
      XCTAssertEqual(alice.send("/_contacts 1")["result"]["contacts"].count, 0)
    }
  }

  /// His mailbox was deleted without notice to alice: accepting fails permanently and leaves no contact.
  func testAcceptingARequestWhoseMailboxIsGoneLeavesNoContact() throws {
    let meeting = try AddressMeeting()
    let id = meeting.ask()["contactRequestId"].number
    let pending = meeting.bob.send("/_get chats 1 pcc=on")["result"]["chats"][0]["chatInfo"]["contactConnection"]
    meeting.bob.send("/_delete :\(pending["pccConnId"].number) full notify=off").assert("contactConnectionDeleted")
    // Only the mailbox of alice's address is left.
    try meeting.awaitCount(1, "SELECT count(*) FROM mailbox", in: meeting.folder.file("relay.db"))
    XCTAssertEqual(meeting.alice.send("/_accept \(id)").errorTag, "contactRequestNotFound")
    XCTAssertEqual(meeting.contacts(meeting.alice).count, 0)
    XCTAssertEqual(meeting.alice.send("/_accept \(id)").errorTag, "contactRequestNotFound")
    try meeting.awaitCount(1, "SELECT count(*) FROM mailbox", in: meeting.folder.file("relay.db"))
  }

  func testADeletedAddressTakesNothingMore() throws {
    let meeting = try AddressMeeting()
    let id = meeting.ask()["contactRequestId"].number
    XCTAssertEqual(meeting.alice.send("/_address 1").errorTag, "duplicateContactLink")
    meeting.alice.send("/_profile_address 1 on").assert("userProfileUpdated")
    XCTAssertEqual(
      meeting.alice.send("/u")["result"]["user"]["profile"]["contactLink"].text, meeting.link)
    meeting.alice.send("/_profile_address 1 on").assert("userProfileNoChange")
    meeting.alice.send("/_delete_address 1").assert("userContactLinkDeleted")
    XCTAssertFalse(meeting.alice.send("/u")["result"]["user"]["profile"]["contactLink"].exists)
    XCTAssertEqual(meeting.alice.send("/_show_address 1").errorTag, "userContactLinkNotFound")
    XCTAssertEqual(meeting.alice.send("/_delete_address 1").errorTag, "userContactLinkNotFound")
    XCTAssertEqual(meeting.alice.send("/_accept \(id)").errorTag, "contactRequestNotFound")
    let carol = try XCTUnwrap(Host.open(meeting.folder.file("carol")).host)
    carol.begin("carol", relay: meeting.folder.file("relay.db"))
    try meeting.awaitCount(1, "SELECT count(*) FROM mailbox", in: meeting.folder.file("relay.db"))
    XCTAssertEqual(carol.send("/connect \(meeting.link)").errorTag, "SMP")
    XCTAssertEqual(carol.send("/_get chats 1 pcc=on")["result"]["chats"].count, 0)
    // A new address is a different one.
    let made = meeting.alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    XCTAssertNotEqual(made, meeting.link)
    XCTAssertEqual(meeting.alice.send("/connect \(made)")["error"]["np"]["code"].text, "invitationOwn")
    XCTAssertEqual(
      meeting.alice.send("/_connect plan 1 \(made)")["result"]["connectionPlan"]["contactAddressPlan"]["type"].text,
      "ownLink")
  }

  /// Whatever lies in an address's mailbox, the next request is received, and what strangers send stays bounded.
  func testWhatStrangersLeaveAtAnAddressStaysBounded() throws {
    let meeting = try AddressMeeting()
    let crowd = try Crowd(meeting)
    defer { crowd.end() }
    let (leave, request) = (crowd.leave, crowd.request)
    let forged = try request("mallory", SystemRandomness().bytes(24))
    for body in [[], [1, 2, 3], [UInt8](repeating: 82, count: 16_384), Array(forged.dropLast()), Array("C".utf8)] {
      try leave(body)
    }
    try leave(try request("\u{202e}\u{7}\n", SystemRandomness().bytes(24)))
    try leave(try crowd.unusableRequest("nothing can be agreed"))
    try meeting.awaitCount(7, "SELECT count(*) FROM ledger WHERE state = 'quarantined'", of: meeting.alice)
    // One person, any number of times; then more people than may wait.
    let insistent = SystemRandomness().bytes(24)
    for _ in 0..<12 { try leave(try request("insistent", insistent)) }
    try meeting.awaitCount(RequestLimits.repeats, "SELECT max(repeats) FROM contact_requests", of: meeting.alice)
    try meeting.awaitCount(1, "SELECT count(*) FROM contact_requests", of: meeting.alice)
    try meeting.awaitCount(1, "SELECT count(*) FROM ledger WHERE kind = 'request'", of: meeting.alice)
    for number in 0..<262 { try leave(try request("crowd \(number)", SystemRandomness().bytes(24))) }
    for _ in 0..<180 { try leave([0]) }
    try meeting.awaitEmptyRelay()
    let store = try Database(path: meeting.alice.prefix + "_chat.db")
    defer { try? store.close() }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM contact_requests"), RequestLimits.waiting)
    let entries = try XCTUnwrap(store.integer("SELECT count(*) FROM ledger WHERE kind <> 'request'"))
    XCTAssertLessThanOrEqual(entries, RequestLimits.kept + RequestLimits.pruningInterval)
    // There is room again once a request is decided.
    meeting.alice.send("/_reject 1").assert("contactRequestRejected")
    meeting.bob.send("/_connect 1 \(meeting.link)").assert("sentInvitation")
    try meeting.awaitCount(
      1, "SELECT count(*) FROM contact_requests WHERE display_name = 'bob' AND state = 'received'", of: meeting.alice)
  }
}
