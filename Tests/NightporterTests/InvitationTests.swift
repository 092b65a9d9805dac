import Foundation
import PorterStore
import XCTest

/// Invitations that do not work, or no longer work: the command's answer reports it.
final class InvitationTests: XCTestCase {
  private func invitation(_ host: Host) -> String {
    host.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
  }

  private func chats(_ host: Host) -> JSON { host.send("/_get chats 1 pcc=on count=100")["result"]["chats"] }

  private func connect(_ host: Host, to inviting: Host, _ link: String) {
    host.send("/connect \(link)").assert("sentConfirmation")
    inviting.event("contactConnected", within: 20)
    host.event("contactConnected", within: 20)
  }

  func testAUsedInvitationLeadsToItsContact() throws {
    let pair = try Pair()
    let link = invitation(pair.alice)
    connect(pair.bob, to: pair.alice, link)
    let answer = pair.bob.send("/connect \(link)")
    answer.assert("contactAlreadyExists")
    XCTAssertEqual(answer["result"]["contact"]["contactId"].number, 2, answer.description)
    XCTAssertEqual(answer["result"]["user"]["userId"].number, 1, answer.description)
    XCTAssertEqual(chats(pair.bob).count, 2)
  }

  /// While the other side is away it is unknown whether a contact will result; the answer is the same as the first
  /// time.
  func testAnInvitationWaitsWhileItsMakerIsAway() throws {
    let pair = try Pair()
    let link = invitation(pair.alice)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    for _ in 0..<2 { pair.bob.send("/connect \(link)").assert("sentConfirmation") }
    XCTAssertEqual(chats(pair.bob).count, 2)
  }

  /// The confirmation is on its way with the old profile. The change follows it.
  func testAProfileThatChangesWhileTheInviterIsAwayArrives() throws {
    let folder = try TemporaryFolder()
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let link = invitation(bob)
    bob.send("/_app suspend 0").assert("cmdOk")
    alice.send("/connect \(link)").assert("sentConfirmation")
    let change = alice.send(#"/_profile 1 {"displayName":"alice2","fullName":""}"#)
    change.assert("userProfileUpdated")
    XCTAssertEqual(change["result"]["updateSummary"]["changedContacts"].count, 0, "there is no contact yet")
    bob.send("/_app activate").assert("cmdOk")
    alice.event("contactConnected", within: 20)
    let updated = bob.event("contactUpdated", within: 20)?["result"]
    XCTAssertEqual(updated?["fromContact"]["profile"]["displayName"].text, "alice")
    XCTAssertEqual(updated?["toContact"]["profile"]["displayName"].text, "alice2")
    bob.event("contactConnected", within: 20)
    let contact = bob.send("/_contacts 1")["result"]["contacts"][0]
    XCTAssertEqual(contact["profile"]["displayName"].text, "alice2", contact.description)
  }

  /// The contact sees the made-up profile, and learns of no other.
  func testAnIncognitoProfileDoesNotChangeWhileTheInviterIsAway() throws {
    let folder = try TemporaryFolder()
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let link = invitation(bob)
    bob.send("/_app suspend 0").assert("cmdOk")
    alice.send("/_connect 1 incognito=on \(link)").assert("sentConfirmation")
    alice.send(#"/_profile 1 {"displayName":"alice2","fullName":""}"#).assert("userProfileUpdated")
    bob.send("/_app activate").assert("cmdOk")
    alice.event("contactConnected", within: 20)
    bob.event("contactConnected", within: 20)
    let name = bob.send("/_contacts 1")["result"]["contacts"][0]["profile"]["displayName"].text
    XCTAssertFalse(["", "alice", "alice2"].contains(name), name)
  }

  /// From the store alone, at each stage.
  func testAPlanSaysWhereAnInvitationLeads() throws {
    let folder = try TemporaryFolder()
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    func plan(_ host: Host) -> JSON {
      host.send("/_connect plan 1 \(link)")["result"]["connectionPlan"]["invitationLinkPlan"]
    }
    XCTAssertEqual(plan(alice)["type"].text, "ownLink")
    XCTAssertEqual(plan(bob)["type"].text, "ok")
    alice.send("/_app suspend 0").assert("cmdOk")
    bob.send("/connect \(link)").assert("sentConfirmation")
    XCTAssertEqual(plan(bob)["type"].text, "connecting")
    alice.send("/_app activate").assert("cmdOk")
    bob.event("contactConnected", within: 20)
    XCTAssertEqual(plan(bob)["type"].text, "known")
    XCTAssertEqual(plan(bob)["contact"]["profile"]["displayName"].text, "alice")
    XCTAssertEqual(bob.send("/_connect plan 1 nonsense").errorTag, "invalidConnReq")
    // Its keys are of small order: no key agreement is possible with them.
    var parts = link.split(separator: ".").map(String.init)
    parts[2] = String(repeating: "A", count: parts[2].count)
    for command in ["/_connect plan 1", "/connect"] {
      XCTAssertEqual(bob.send("\(command) \(parts.joined(separator: "."))").errorTag, "invalidConnReq", command)
    }
    let (sender, key) = (String(repeating: "B", count: 32), String(repeating: "A", count: 43))
    for command in ["/_connect plan 1", "/connect"] {
      let answer = bob.send("\(command) porter:/contact#1.\(sender).\(key)")
      XCTAssertEqual(answer.errorTag, "invalidConnReq", "an address: \(answer)")
    }
  }

  /// The plan matches the answer of `/connect` for an invitation that this store has used up: for another profile, and
  /// for a contact that was deleted since.
  func testAPlanForAnInvitationThatCannotBeUsedAgain() throws {
    let pair = try Pair()
    let link = invitation(pair.alice)
    func expectUsed(_ user: Int, line: UInt = #line) {
      let plan = pair.bob.send("/_connect plan \(user) \(link)")["result"]["connectionPlan"]
      XCTAssertEqual(plan["type"].text, "error", plan.description, line: line)
      XCTAssertEqual(plan["chatError"]["np"]["code"].text, "invitationUsed", plan.description, line: line)
      let answer = pair.bob.send("/connect \(link)")
      XCTAssertEqual(answer["error"]["np"]["code"].text, "invitationUsed", answer.description, line: line)
    }
    connect(pair.bob, to: pair.alice, link)
    pair.bob.send(#"/_create user {"profile":{"displayName":"second","fullName":""}}"#).assert("activeUser")
    expectUsed(2)
    pair.bob.send("/_user 1").assert("activeUser")
    pair.bob.send("/_delete @2 full notify=off").assert("contactDeleted")
    expectUsed(1)
  }

  func testAnInvitationUsedByAnotherIsRefused() throws {
    let pair = try Pair()
    let link = invitation(pair.alice)
    connect(pair.bob, to: pair.alice, link)
    let carol = try XCTUnwrap(Host.open(pair.folder.file("carol")).host)
    carol.begin("carol", relay: pair.folder.file("relay.db"))
    for _ in 0..<2 {
      let answer = carol.send("/connect \(link)")
      XCTAssertEqual(answer["error"]["np"]["code"].text, "invitationUsed", answer.description)
      XCTAssertEqual(chats(carol).count, 0, "nothing is left of the attempt")
    }
    // Also for an invitation that its inviter has deleted.
    let deleted = invitation(pair.alice)
    let pending = chats(pair.alice).elements.map { $0["chatInfo"]["contactConnection"]["pccConnId"].number }.max() ?? 0
    let relay = try Database(path: pair.folder.file("relay.db"))
    let mailbox = try XCTUnwrap(relay.integer("SELECT max(number) FROM mailbox"))
    try relay.close()
    pair.alice.send("/_delete :\(pending)").assert("contactConnectionDeleted")
    try awaitDeletion(ofMailbox: mailbox, relay: pair.folder.file("relay.db"))
    let answer = carol.send("/connect \(deleted)")
    XCTAssertEqual(answer["error"]["np"]["code"].text, "invitationUsed", answer.description)
    // The next one is accepted as usual.
    connect(carol, to: pair.alice, invitation(pair.alice))
  }

  func testTheUsersOwnInvitationIsRefused() throws {
    let pair = try Pair()
    let link = invitation(pair.alice)
    let answer = pair.alice.send("/connect \(link)")
    XCTAssertEqual(answer["error"]["np"]["code"].text, "invitationOwn", answer.description)
    XCTAssertEqual(chats(pair.alice).count, 2, "the contact, and the invitation")
    connect(pair.bob, to: pair.alice, link)
  }
}
