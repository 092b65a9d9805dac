import CNightporter
import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// A suspension cuts off a command before anything is sent, and the command is repeated for another profile: the other
/// side sees the profile of the later command.
final class ProfileChoiceTests: XCTestCase {
  /// Alice's first use of bob's invitation is cut off; the app is active again, and the relay has not answered yet.
  private func cutOff(_ command: String, _ meeting: Meeting) {
    let (alice, transport) = (meeting.alice, meeting.transport)
    transport.hang(.create)
    let first = alice.inBackground { $0.send(command).description }
    transport.waitUntilInside()
    alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertTrue(first.wait()?.contains("error") ?? false)
    alice.send("/_app activate").assert("cmdOk")
  }

  private func epoch(_ host: Host) throws -> Int64 {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    return try store.integer("SELECT max(epoch) FROM reservations") ?? 0
  }

  /// The answer to a command that takes over the use while the relay still owes its answer to the earlier attempt.
  private func takeOver(_ command: String, _ meeting: Meeting) throws -> JSON {
    let before = try epoch(meeting.alice)
    let second = meeting.alice.inBackground { $0.send(command).description }
    try awaitThat("it has the reservation") { try epoch(meeting.alice) > before }
    meeting.transport.hang(nil)
    return JSON(try XCTUnwrap(second.wait(atMost: .seconds(30))))
  }

  private func nameThatBobSees(_ meeting: Meeting) -> String? {
    meeting.awaitConnected()
    return meeting.bob.event("contactConnected")?["result"]["contact"]["profile"]["displayName"].text
  }

  private func assertLaterChoiceCounts(_ first: String, _ second: String) throws -> (answer: JSON, seen: String?) {
    let meeting = try Meeting(connects: false)
    let link = meeting.bob.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    cutOff("/_connect 1 incognito=\(first) \(link)", meeting)
    let answer = try takeOver("/_connect 1 incognito=\(second) \(link)", meeting)
    answer.assert("sentConfirmation")
    return (answer["result"], nameThatBobSees(meeting))
  }

  func testTryingAgainIncognitoDoesNotShowTheUsersProfile() throws {
    let (answer, seen) = try assertLaterChoiceCounts("off", "on")
    XCTAssertNotEqual(seen, "alice")
    XCTAssertEqual(seen, answer["customUserProfile"]["displayName"].text, answer.description)
  }

  func testTryingAgainWithTheUsersProfileShowsIt() throws {
    let (answer, seen) = try assertLaterChoiceCounts("on", "off")
    XCTAssertEqual(seen, "alice")
    XCTAssertFalse(answer["customUserProfile"].exists, answer.description)
  }

  func testTryingAgainAsAnotherUserShowsThatOne() throws {
    let meeting = try Meeting(connects: false)
    let link = meeting.bob.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    cutOff("/_connect 1 \(link)", meeting)
    meeting.alice.send(#"/_create user {"profile":{"displayName":"second","fullName":""}}"#).assert("activeUser")
    let answer = try takeOver("/_connect 2 \(link)", meeting)
    answer.assert("sentConfirmation")
    XCTAssertEqual(answer["result"]["user"]["userId"].number, 2, answer.description)
    XCTAssertEqual(nameThatBobSees(meeting), "second")
  }

  /// The process itself continues the interrupted command, with the requested profile.
  func testWhatIsContinuedAtAStartKeepsItsProfile() throws {
    let meeting = try Meeting(connects: false)
    let link = meeting.bob.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    cutOff("/_connect 1 incognito=on \(link)", meeting)
    meeting.transport.hang(nil)
    let seen = try XCTUnwrap(nameThatBobSees(meeting))
    XCTAssertNotEqual(seen, "alice")
    XCTAssertFalse(seen.isEmpty)
  }

  /// The user's profile is already on its way: a request for another one is not answered as if that one were shown.
  func testAnInvitationThatWasUsedWithTheUsersProfileIsNotUsedIncognito() throws {
    let pair = try Pair()
    let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.bob.send("/_connect 1 \(link)").assert("sentConfirmation")
    let refused = pair.bob.send("/_connect 1 incognito=on \(link)")
    XCTAssertEqual(refused["error"]["np"]["code"].text, "invitationUsed", refused.description)
    pair.bob.send("/_connect 1 \(link)").assert("sentConfirmation")
  }

  func testARepeatedUseNamesTheProfileThatItShows() throws {
    let pair = try Pair()
    let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let first = pair.bob.send("/_connect 1 incognito=on \(link)")["result"]["customUserProfile"]["displayName"].text
    let again = pair.bob.send("/_connect 1 incognito=on \(link)")
    again.assert("sentConfirmation")
    XCTAssertEqual(again["result"]["customUserProfile"]["displayName"].text, first, again.description)
  }

  // MARK: Requests

  /// The network is off while the user accepts, and accepts again.
  func testAcceptingAgainIncognitoDoesNotShowTheUsersProfile() throws {
    let meeting = try AddressMeeting()
    let request = meeting.ask()["contactRequestId"].number
    meeting.alice.send("/_app phase background").assert("cmdOk")
    awaitRest(of: meeting.alice)
    XCTAssertTrue(meeting.alice.send("/_accept \(request)")["error"].exists)
    XCTAssertTrue(meeting.alice.send("/_accept incognito=on \(request)")["error"].exists)
    meeting.alice.send("/_app activate").assert("cmdOk")
    let seen = meeting.bob.event("contactConnected")?["result"]["contact"]["profile"]["displayName"].text
    XCTAssertNotEqual(seen, "alice")
    XCTAssertFalse(seen?.isEmpty ?? true)
  }

  /// The contact has seen the user's own profile: hiding it is refused, by command and from a notification.
  func testAcceptingIncognitoIsRefusedOnceTheProfileWasSent() throws {
    let meeting = try AddressMeeting()
    let request = meeting.ask()["contactRequestId"].number
    meeting.alice.send("/_accept \(request)").assert("acceptingContactRequest")
    let refused = meeting.alice.send("/_accept incognito=on \(request)")
    XCTAssertEqual(refused["error"]["np"]["code"].text, "profileShown", refused.description)
    let members =
      "\"identifier\":\"np:request:1:\(request)\",\"userInfo\":{\"userId\":1,\"contactRequestId\":\(request)}"
    meeting.alice.respond(to: members, "NTF_ACT_ACCEPT_CONTACT_INCOGNITO").assert("notificationResponse")
    let event = try XCTUnwrap(meeting.alice.event("ntfResponse"))["result"]
    XCTAssertEqual([event["outcome"].text, event["reason"].text], ["stale", "refused"], event.description)
    // Repeating it is not an error.
    meeting.alice.send("/_accept \(request)").assert("acceptingContactRequest")
  }

  /// The relay owes its answer to the first acceptance when the second comes.
  func testAcceptingAgainWhileTheFirstIsUnderWay() throws {
    let meeting = try AddressMeeting()
    let request = meeting.ask()["contactRequestId"].number
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    meeting.alice.send("/_stop").assert("chatStopped")
    transport.install(in: meeting.alice)
    meeting.alice.send("/_start").assert("chatStarted")
    transport.hang(.create)
    let first = meeting.alice.inBackground { $0.send("/_accept \(request)").description }
    transport.waitUntilInside()
    let second = meeting.alice.inBackground { $0.send("/_accept incognito=on \(request)").description }
    try meeting.awaitCount(1, "SELECT count(*) FROM contact_requests WHERE incognito IS NOT NULL", of: meeting.alice)
    transport.hang(nil)
    for answer in [first, second] {
      JSON(try XCTUnwrap(answer.wait(atMost: .seconds(30)))).assert("acceptingContactRequest")
    }
    awaitThat("bob is connected") {
      np_relay_ready(meeting.alice.handle)
      return meeting.alice.event(within: 0.2)?["result"]["type"].text == "contactConnected"
    }
    let seen = meeting.bob.event("contactConnected")?["result"]["contact"]["profile"]["displayName"].text
    XCTAssertNotEqual(seen, "alice")
  }

  /// The address has the request with the user's own profile. Deleting it withdraws it, and the person asks under
  /// another profile.
  func testAskingAgainIncognitoIsNotAnsweredAsIfTheProfileWereHidden() throws {
    let meeting = try AddressMeeting()
    XCTAssertEqual(meeting.ask()["profile"]["displayName"].text, "bob")
    let refused = meeting.bob.send("/_connect 1 incognito=on \(meeting.link)")
    XCTAssertEqual(refused["error"]["np"]["code"].text, "profileShown", refused.description)
    let again = meeting.bob.send("/_connect 1 \(meeting.link)")
    again.assert("sentInvitation")
    XCTAssertFalse(again["result"]["customUserProfile"].exists, again.description)
    let pending = meeting.bob.send("/_get chats 1 pcc=on")["result"]["chats"][0]["chatInfo"]["contactConnection"]
    meeting.bob.send("/_delete :\(pending["pccConnId"].number) full notify=on").assert("contactConnectionDeleted")
    meeting.alice.event("contactRequestWithdrawn", within: 20)
    let hidden = meeting.bob.send("/_connect 1 incognito=on \(meeting.link)")
    hidden.assert("sentInvitation")
    let seen = meeting.alice.event("receivedContactRequest")?["result"]["contactRequest"]["profile"]["displayName"].text
    XCTAssertEqual(seen, hidden["result"]["customUserProfile"]["displayName"].text)
    XCTAssertNotEqual(seen, "bob")
  }

  /// A profile hidden from the first request on stays hidden, and the answer names the profile under which the user
  /// asks.
  func testAskingAgainWithoutIncognitoNamesTheProfileThatTheAddressHas() throws {
    let meeting = try AddressMeeting()
    let hidden = meeting.bob.send("/_connect 1 incognito=on \(meeting.link)")["result"]["customUserProfile"][
      "displayName"]
    meeting.alice.event("receivedContactRequest")
    let again = meeting.bob.send("/_connect 1 \(meeting.link)")
    again.assert("sentInvitation")
    XCTAssertEqual(again["result"]["customUserProfile"]["displayName"].text, hidden.text, again.description)
  }
}
