import CNightporter
import Foundation
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore
import XCTest

@testable import PorterEngine

/// Calls between two people: signalling, from the invitation to the end, and what a sleeping device makes of them.
final class CallTests: XCTestCase {
  private let video = #"{"media":"video","capabilities":{"encryption":true}}"#
  private let audio = #"{"media":"audio","capabilities":{"encryption":false}}"#
  private let offer =
    #"{"callType":{"media":"video","capabilities":{"encryption":true}},"rtcSession":{"rtcSession":"o","rtcIceCandidates":"c"}}"#

  // MARK: Both awake

  func testACallFromItsInvitationToItsEnd() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(video)").assert("cmdOk")
    let invitation = try XCTUnwrap(pair.alice.event("callInvitation"))["result"]["callInvitation"]
    XCTAssertEqual(invitation["contact"]["contactId"].number, 1)
    XCTAssertEqual(invitation["callType"]["media"].text, "video")
    XCTAssertEqual(invitation["callUUID"].text.count, 36, invitation.description)
    let listed = pair.alice.send("/_call get")["result"]["callInvitations"]
    XCTAssertEqual(listed.count, 1)
    XCTAssertEqual(listed[0]["callUUID"].text, invitation["callUUID"].text)
    XCTAssertEqual(pair.alice.state["unread"].number, 1)

    pair.alice.send("/_call offer @1 \(offer)").assert("cmdOk")
    let offered = try XCTUnwrap(pair.bob.event("callOffer"))["result"]
    XCTAssertEqual(offered["offer"]["rtcSession"].text, "o")
    XCTAssertEqual(offered["askConfirmation"].flag, false)
    XCTAssertEqual(offered["sharedKey"].text.count, 43, offered.description)
    XCTAssertEqual(offered["sharedKey"].text, invitation["sharedKey"].text, "both sides have one key for the media")
    XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 0)
    XCTAssertEqual(pair.alice.state["unread"].number, 0, "a call that was answered was seen")

    pair.bob.send(#"/_call answer @1 {"rtcSession":"a","rtcIceCandidates":"d"}"#).assert("cmdOk")
    XCTAssertEqual(pair.alice.event("callAnswer")?["result"]["answer"]["rtcSession"].text, "a")
    pair.alice.send(#"/_call extra @1 {"rtcIceCandidates":"more"}"#).assert("cmdOk")
    XCTAssertEqual(pair.bob.event("callExtraInfo")?["result"]["extraInfo"]["rtcIceCandidates"].text, "more")
    pair.alice.send("/_call status @1 connecting").assert("cmdOk")
    pair.alice.send("/_call status @1 connected").assert("cmdOk")
    XCTAssertEqual(calls(pair.alice), ["rcvCall progress"])
    pair.bob.send("/_call end @1").assert("cmdOk")
    XCTAssertEqual(pair.alice.event("callEnded")?["result"]["contact"]["contactId"].number, 1)
    XCTAssertEqual(calls(pair.alice), ["rcvCall ended"])
    XCTAssertEqual(calls(pair.bob), ["sndCall ended"])
    XCTAssertEqual(pair.alice.send("/_call end @1").errorTag, "noCurrentCall")
  }

  /// The outcome of a session concerns each host and its user: the other side learns of it from its own host.
  func testASessionThatFailsOrBreaksOffEndsTheCall() throws {
    let pair = try Pair()
    for (statuses, expected) in [(["failed"], "rcvCall error"), (["connected", "disconnected"], "rcvCall ended")] {
      pair.bob.send("/_call invite @1 \(video)").assert("cmdOk")
      pair.alice.event("callInvitation")
      pair.alice.send("/_call offer @1 \(offer)").assert("cmdOk")
      pair.bob.event("callOffer")
      for status in statuses { pair.alice.send("/_call status @1 \(status)").assert("cmdOk") }
      XCTAssertEqual(calls(pair.alice).last, expected)
      XCTAssertEqual(pair.alice.send("/_call status @1 connected").errorTag, "noCurrentCall")
      XCTAssertEqual(calls(pair.bob).last, "sndCall accepted")
    }
  }

  func testARejectedCallIsNotToldToItsCaller() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.alice.event("callInvitation")
    pair.alice.send("/_call reject @1").assert("cmdOk")
    XCTAssertEqual(calls(pair.alice), ["rcvCall rejected"])
    pair.send("later", from: pair.alice)
    pair.bob.event("newChatItems")
    pair.bob.event("newChatItems")
    XCTAssertEqual(calls(pair.bob), ["sndCall pending"])
    XCTAssertEqual(pair.alice.send("/_call offer @1 \(offer)").errorTag, "noCurrentCall")
  }

  /// Two calls from one contact: concurrent, or one after the other without an end between them.
  func testTheNextInvitationReplacesACall() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let first = pair.alice.event("callInvitation")?["result"]["callInvitation"]["callUUID"].text
    pair.bob.send("/_call invite @1 \(video)").assert("cmdOk")
    let second = pair.alice.event("callInvitation")?["result"]["callInvitation"]["callUUID"].text
    XCTAssertNotEqual(first, second)
    XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 1)
    XCTAssertEqual(calls(pair.alice), ["rcvCall missed", "rcvCall pending"])
    XCTAssertEqual(calls(pair.bob), ["sndCall missed", "sndCall pending"])
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
  }

  // MARK: A sleeping device

  func testACallRingsOnASleepingDeviceAndIsAcceptedFromItsNotification() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(video)").assert("cmdOk")
    let service = try station.makeExtension()
    let answer = service.push(try station.nextPush())
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    let notification = answer["notifications"][0]
    XCTAssertEqual(notification["categoryIdentifier"].text, "NTF_CAT_CALL_INVITATION")
    XCTAssertEqual(notification["title"].text, "bob:")
    XCTAssertEqual(notification["body"].text, "Incoming video call")
    XCTAssertEqual(notification["userInfo"]["chatId"].text, "@1")
    XCTAssertEqual(answer["badge"].number, 1)

    XCTAssertEqual(
      service.respond(to: notification, "NTF_ACT_ACCEPT_CALL")["result"]["outcome"].text, "waiting")
    station.alice.send("/_create user {\"profile\":{\"displayName\":\"x\",\"fullName\":\"\"}}")
    station.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(station.alice.event("ntfResponse"))["result"]
    XCTAssertEqual(event["action"].text, "acceptCall")
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    XCTAssertEqual(event["chatId"].text, "@1")
    let waiting = station.alice.send("/_call get")["result"]["callInvitations"]
    XCTAssertEqual(waiting.count, 1, "for the offer of the host")
    station.alice.send("/_call offer @1 \(offer)").assert("cmdOk")
    XCTAssertEqual(station.bob.event("callOffer")?["result"]["offer"]["rtcSession"].text, "o")
    XCTAssertEqual(
      service.respond(to: notification, "NTF_ACT_REJECT_CALL")["result"]["outcome"].text, "waiting")
    station.suspend()
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.event("ntfResponse")?["result"]["reason"].text, "noSuchCall", "it was accepted before")
  }

  func testACallIsRejectedFromItsNotificationWithoutTheScreen() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let shown = try station.present(station.nextPush())
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    let answer = station.alice.respond(to: shown["notifications"][0], "NTF_ACT_REJECT_CALL")
    XCTAssertEqual(answer["result"]["outcome"].text, "applied", answer.description)
    XCTAssertEqual(calls(station.alice), ["rcvCall rejected"])
    XCTAssertEqual(station.alice.state["unread"].number, 0)
  }

  /// The end of a call that nobody answered wakes the device, and its notification no longer rings.
  func testACallThatEndedIsShownAsMissedAndStaysUnread() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let shown = try station.present(station.nextPush())
    XCTAssertEqual(shown.bodies, ["Incoming audio call"], shown.description)
    station.bob.send("/_call end @1").assert("cmdOk")
    let missed = try station.present(station.nextPush())
    XCTAssertEqual(missed.bodies, ["Missed call"], missed.description)
    XCTAssertEqual(missed.identifiers, shown.identifiers, "it takes the place of the ringing one")
    XCTAssertEqual(missed["withdrawals"].count, 0, missed.description)
    let content = missed["notifications"][0]
    XCTAssertFalse(content["sound"].exists, content.description)
    XCTAssertEqual(content["categoryIdentifier"].text, "NTF_CAT_MESSAGE_RECEIVED")
    let next = try station.present(station.push(for: "call me back"))
    XCTAssertEqual(next.bodies, ["call me back"])
    XCTAssertEqual(next["badge"].number, 2, "the missed call and the message")
    let service = try station.makeExtension()
    service.respond(to: shown["notifications"][0], "NTF_ACT_ACCEPT_CALL").assert("notificationResponse")
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.event("ntfResponse")?["result"]["reason"].text, "noSuchCall")
    XCTAssertEqual(calls(station.alice), ["rcvCall missed"])
    station.alice.send("/_read chat @1").assert("cmdOk")
    let event = station.alice.event("notifications")?["result"]
    XCTAssertEqual(
      event?["withdrawals"].elements.map(\.text).contains(shown.identifiers[0]), true, event?.description ?? "none")
  }

  /// The user answers it with a message, from its notification.
  func testAMissedCallIsAnsweredWithAMessage() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    _ = try station.nextPush()
    station.bob.send("/_call end @1").assert("cmdOk")
    let missed = try station.present(station.nextPush())
    XCTAssertEqual(missed.bodies, ["Missed call"], missed.description)
    station.alice.send("/_app activate").assert("cmdOk")
    let reply = station.alice.respond(to: missed["notifications"][0], "NTF_ACT_REPLY", text: "later")
    XCTAssertEqual(reply["result"]["outcome"].text, "applied", reply.description)
    let items = { station.bob.send("/_get chat @1 count=9")["result"]["chat"]["chatItems"].elements }
    awaitThat("bob has it") { items().contains { $0["content"]["msgContent"]["text"].text == "later" } }
  }

  /// A push that arrives after the end of the call does not ring.
  func testACallThatEndedBeforeItsPushRingsNobody() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    station.bob.send("/_call end @1").assert("cmdOk")
    try awaitSent(station.bob)
    let answer = try station.present(station.nextPush())
    XCTAssertEqual(answer.bodies, ["Missed call"], answer.description)
    XCTAssertEqual(answer["badge"].number, 1)
  }

  // MARK: Time

  func testAnInvitationWhoseTimeIsUpIsMissedAndCannotBeAccepted() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let shown = try station.present(station.nextPush())
    try change(station.alice, "UPDATE calls SET deadline = 0")
    let next = try station.present(station.push(for: "hello"))
    XCTAssertEqual(next.bodies, ["Missed call", "hello"], next.description)
    XCTAssertEqual(next.identifiers[0], shown.identifiers[0], "it takes the place of the ringing one")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.event("callEnded")
    XCTAssertEqual(station.alice.send("/_call get")["result"]["callInvitations"].count, 0)
    XCTAssertEqual(station.alice.send("/_call offer @1 \(offer)").errorTag, "noCurrentCall")
    XCTAssertEqual(calls(station.alice), ["rcvCall missed"])
  }

  func testAnInvitationThatWaitedTooLongAtTheRelayRingsNobody() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let push = try station.nextPush()
    try awaitSent(station.bob)
    try change(relayOf: station.pair, "UPDATE message SET stored_at = stored_at - 181000")
    let answer = try station.present(push)
    XCTAssertEqual(answer.bodies, ["Missed call"], answer.description)
    XCTAssertEqual(answer["badge"].number, 1)
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(calls(station.alice), ["rcvCall missed"])
    XCTAssertFalse(station.alice.waitingEvents().contains("callInvitation"))
  }

  /// The clock of the caller, which stamped the message, is wrong, or this device's clock is. What counts is how long
  /// the relay has had the invitation.
  func testAWrongClockNeitherRingsADeadCallNorSilencesALiveOne() throws {
    let pair = try Pair()
    let year: Int64 = 31_536_000_000
    let cases: [(clock: Int64, age: Int64, rings: Bool)] = [
      (-year, 0, true), (year, 0, true), (-year, 181_000, false), (year, 181_000, false),
    ]
    for (index, (clock, age, rings)) in cases.enumerated() {
      pair.alice.send("/_app suspend 0").assert("cmdOk")
      pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
      try awaitSent(pair.bob)
      try change(
        relayOf: pair, "UPDATE message SET sent_at = sent_at + (\(clock)), stored_at = stored_at - \(age)")
      pair.alice.send("/_app activate").assert("cmdOk")
      awaitThat("the call came") { calls(pair.alice).count == index + 1 }
      let name = "clock off by \(clock) ms, \(age) ms old"
      XCTAssertEqual(calls(pair.alice).last, rings ? "rcvCall pending" : "rcvCall missed", name)
      XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, rings ? 1 : 0, name)
      // A late one would leave it as it is.
      if rings { pair.alice.send("/_call reject @1").assert("cmdOk") }
    }
  }

  func testAnInvitationFromTheFutureRingsForItsTimeAndNoLonger() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(pair.bob)
    // Also by the relay's count: it was stored a year from now.
    try change(
      relayOf: pair, "UPDATE message SET sent_at = sent_at + 31536000000, stored_at = stored_at + 31536000000")
    pair.alice.send("/_app activate").assert("cmdOk")
    let text = pair.alice.event("callInvitation")?["result"]["callInvitation"]["callTs"].text ?? ""
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    XCTAssertLessThanOrEqual(try XCTUnwrap(formatter.date(from: text), text), Date())
    let database = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? database.close() }
    let deadline = try XCTUnwrap(database.integer("SELECT deadline FROM calls"))
    var boot = timespec()
    clock_gettime(CLOCK_BOOTTIME, &boot)
    XCTAssertLessThanOrEqual(deadline - (Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)), 180_000_000_000)
  }

  /// The caller was offline for the lifetime of an invitation: what it sends later does not ring.
  func testAnInvitationThatNeverLeftIsNotSentWhenItsTimeIsUp() throws {
    let pair = try Pair()
    let relay = try Database(path: pair.folder.file("relay.db"))
    try relay.execute("BEGIN IMMEDIATE")
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try change(pair.bob, "UPDATE calls SET deadline = 0")
    pair.bob.send("/_app suspend 0").assert("cmdOk")
    pair.bob.send("/_app activate").assert("cmdOk")
    pair.bob.event("callEnded")
    try relay.execute("COMMIT")
    try relay.close()
    pair.send("back again", from: pair.bob)
    pair.alice.event("newChatItems", within: 30)
    XCTAssertEqual(calls(pair.alice), [])
    XCTAssertEqual(calls(pair.bob), ["sndCall missed"])
  }

  // MARK: Who may call

  func testWhoSwitchedCallsOffIsNotRung() throws {
    let profile = #"{"displayName":"alice","fullName":"","preferences":{"calls":{"allow":"no"}}}"#
    try assertNotRung(after: "/_profile 1 \(profile)", "userProfileUpdated")
  }

  func testWhoSwitchedCallsOffForOneContactIsNotRungByIt() throws {
    try assertNotRung(after: #"/_set prefs @1 {"calls":{"allow":"no"}}"#, "contactPrefsUpdated")
  }

  private func assertNotRung(after command: String, _ answer: String) throws {
    let pair = try Pair()
    let relay = try Database(path: pair.folder.file("relay.db"))
    try relay.execute("BEGIN IMMEDIATE")
    // Bob does not know of it yet.
    pair.alice.send(command).assert(answer)
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    XCTAssertEqual(pair.alice.send("/_call invite @1 \(audio)").errorTag, "commandError", command)
    try relay.execute("COMMIT")
    try relay.close()
    pair.bob.event("contactUpdated", within: 30)
    let refused = pair.bob.send("/_call invite @1 \(audio)")
    XCTAssertEqual(refused.errorTag, "commandError", refused.description)
    pair.send("then I write", from: pair.bob)
    pair.alice.event("newChatItems", within: 30)
    XCTAssertEqual(calls(pair.alice), [])
    XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 0)
  }

  // MARK: Kills and bad input

  /// When an app ends before its host has read the waiting events, they are reported again, and no others.
  func testWaitingEventsComeAgainAfterARestart() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    awaitThat("the call is unread") { pair.alice.state["unread"].number >= 1 }
    pair.alice.free()
    let second = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    second.send("/_start").assert("chatStarted")
    second.event("callInvitation")
    second.free()
    let third = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    third.send("/_start").assert("chatStarted")
    XCTAssertEqual(third.send("/_call get")["result"]["callInvitations"].count, 1)
    XCTAssertFalse(third.waitingEvents().contains("callInvitation"))
  }

  /// Not so for an event that its host reads while suspended.
  func testAnEventThatIsTakenWhileSuspendedDoesNotComeAgain() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    awaitThat("the call is unread") { pair.alice.state["unread"].number >= 1 }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.alice.event("callInvitation")
    pair.alice.free()
    let second = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    second.send("/_start").assert("chatStarted")
    XCTAssertEqual(second.send("/_call get")["result"]["callInvitations"].count, 1)
    XCTAssertFalse(second.waitingEvents().contains("callInvitation"))
  }

  func testCommandsForNoCallAreRefused() throws {
    let pair = try Pair()
    for command in ["reject", "end", "status", "offer", "answer", "extra"] {
      let rest = [
        "status": "connected", "offer": offer, "answer": #"{"rtcSession":"","rtcIceCandidates":""}"#,
        "extra": #"{"rtcIceCandidates":""}"#,
      ]
      let answer = pair.alice.send("/_call \(command) @1 \(rest[command] ?? "")")
      XCTAssertEqual(answer.errorTag, "noCurrentCall", "\(command): \(answer)")
    }
    XCTAssertTrue(pair.alice.send("/_call invite @9 \(audio)")["error"].exists)
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.alice.event("callInvitation")
    XCTAssertEqual(pair.bob.send("/_call reject @1").errorTag, "noCurrentCall", "one's own call is not rejected")
    XCTAssertEqual(
      pair.alice.send(#"/_call answer @1 {"rtcSession":"","rtcIceCandidates":""}"#).errorTag, "noCurrentCall")
    let huge = String(repeating: "x", count: 20_000)
    let answer = pair.alice.send(#"/_call extra @1 {"rtcIceCandidates":"\#(huge)"}"#)
    XCTAssertEqual(answer["error"]["np"]["code"].text, "messageTooLarge", answer.description)
    pair.bob.send("/_delete @1 full").assert("contactDeleted")
    pair.alice.event("contactDeletedByContact")
    XCTAssertEqual(pair.alice.send("/_call offer @1 \(offer)").errorTag, "noCurrentCall")
    XCTAssertEqual(pair.alice.send("/_call end @1").errorTag, "noCurrentCall")
    XCTAssertEqual(pair.alice.send("/_call invite @1 \(audio)").errorTag, "contactNotActive")
  }

  func testSignalsThatDoNotReadAreNotCalls() throws {
    let good = CallSignal(id: [1], .extra(candidates: "c"))
    XCTAssertEqual(CallSignal(event: "x.call.extra", try XCTUnwrap(good.json["params"])), good)
    let bad: [(String, JSONValue)] = [
      ("x.call.inv", ["callId": "AQ"]),
      ("x.call.inv", ["callId": "AQ", "invitation": ["callType": ["media": "smell"]]]),
      ("x.call.inv", ["invitation": ["callType": ["media": "audio", "capabilities": ["encryption": false]]]]),
      (
        "x.call.inv",
        ["callId": "", "invitation": ["callType": ["media": "audio", "capabilities": ["encryption": false]]]]
      ),
      (
        "x.call.offer",
        ["callId": "AQ", "offer": ["callType": ["media": "audio", "capabilities": ["encryption": true]]]]
      ),
      ("x.call.answer", ["callId": "AQ", "answer": ["rtcSession": "text"]]),
      ("x.call.extra", ["callId": "AQ", "extra": []]),
      ("x.call.end", ["callId": "!"]), ("x.call.end", []), ("x.call.dance", ["callId": "AQ"]),
    ]
    for (event, params) in bad { XCTAssertNil(CallSignal(event: event, params), "\(event) \(params.text)") }
    // A malformed key leaves the call as it is.
    let odd: JSONValue = [
      "callId": "AQ",
      "invitation": ["callType": ["media": "audio", "capabilities": ["encryption": true]], "callDhPubKey": "AAAA"],
    ]
    XCTAssertEqual(
      CallSignal(event: "x.call.inv", odd),
      CallSignal(id: [1], .invitation(CallType(media: .audio, encrypts: true), key: nil)))
  }

  // MARK: Helpers

  /// The calls in the chat, oldest first.
  private func calls(_ host: Host) -> [String] {
    host.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"].elements.map { $0["content"] }
      .filter { $0["type"].text.hasSuffix("Call") }.map { "\($0["type"].text) \($0["status"].text)" }
  }

  private func change(_ host: Host, _ sql: String) throws { try change(host.prefix + "_chat.db", sql) }
  private func change(relayOf pair: Pair, _ sql: String) throws { try change(pair.folder.file("relay.db"), sql) }

  private func change(_ path: String, _ sql: String) throws {
    let database = try Database(path: path)
    defer { try? database.close() }
    try database.execute(sql)
  }
}
