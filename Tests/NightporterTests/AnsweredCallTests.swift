import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// The calls for which the app's host is asked to ring: those still ringing, each once; none that the user has answered
/// from its notification, that is over, or whose profile is hidden.
final class AnsweredCallTests: XCTestCase {
  private let audio = CallStation.audio

  private func execute(_ sql: String, _ host: Host) throws {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    try database.execute(sql)
  }

  private func count(_ sql: String, _ host: Host) throws -> Int64? {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    return try database.integer(sql)
  }

  /// The types of all events about calls and responses, in order, up to a message that the caller writes now.
  private func events(
    _ host: Host, until caller: Host, file: StaticString = #filePath, line: UInt = #line
  ) throws -> [String] {
    caller.send("/_send @1 text that was all").assert("newChatItems", file, line)
    var types: [String] = []
    while let event = host.event(within: 30) {
      let (result, type) = (event["result"], event["result"]["type"].text)
      if result["chatItems"][0]["chatItem"]["content"]["msgContent"]["text"].text == "that was all" { return types }
      if type.hasPrefix("call") || type == "ntfResponse" { types.append(type) }
    }
    throw StationFailure("the message does not come")
  }

  // MARK: From the notification

  /// Bob's call is on the screen of alice's sleeping device.
  private func shownCall() throws -> (station: Station, service: Host, notification: JSON) {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let service = try station.makeExtension()
    let answer = service.push(try station.nextPush())
    XCTAssertEqual(answer.bodies, ["Incoming audio call"], answer.description)
    station.alice.dropEvents()
    return (station, service, answer["notifications"][0])
  }

  func testACallThatWasRejectedFromItsNotificationDoesNotRingInTheApp() throws {
    let (station, service, notification) = try shownCall()
    XCTAssertEqual(
      service.respond(to: notification, "NTF_ACT_REJECT_CALL")["result"]["outcome"].text, "waiting")
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(try events(station.alice, until: station.bob), ["ntfResponse"])
    XCTAssertEqual(try count("SELECT count(*) FROM call_events", station.alice), 0)
  }

  /// The user rejected it in time, and does not return to the app before it is over.
  func testACallThatWasRejectedFromItsNotificationIsNotMissed() throws {
    for isSeenByAnExtension in [false, true] {
      let (station, service, notification) = try shownCall()
      XCTAssertEqual(
        service.respond(to: notification, "NTF_ACT_REJECT_CALL")["result"]["outcome"].text, "waiting")
      try execute("UPDATE calls SET deadline = 0", station.alice)
      if isSeenByAnExtension {
        let later = try station.present(station.push(for: "later"))
        XCTAssertEqual(later.bodies, ["later"], later.description)
        XCTAssertEqual(later["badge"].number, 1, "the call is not unread: \(later)")
      }
      station.alice.dropEvents()
      station.alice.send("/_app activate").assert("cmdOk")
      let response = station.alice.event("ntfResponse")?["result"]
      XCTAssertEqual(response?["outcome"].text, "applied", response?.description ?? "none")
      XCTAssertEqual(try count("SELECT count(*) FROM calls WHERE state = 'rejected'", station.alice), 1)
      XCTAssertEqual(station.alice.state["unread"].number, isSeenByAnExtension ? 1 : 0)
    }
  }

  /// The clock was set forwards by an hour while it rang.
  func testAChangeOfTheClockDoesNotUndoARejection() throws {
    let (station, service, notification) = try shownCall()
    try execute("UPDATE calls SET called_at = called_at - 3600000", station.alice)
    XCTAssertEqual(service.respond(to: notification, "NTF_ACT_REJECT_CALL")["result"]["outcome"].text, "waiting")
    try execute("UPDATE calls SET deadline = 0", station.alice)
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(station.alice.event("ntfResponse")?["result"]["outcome"].text, "applied")
    XCTAssertEqual(try count("SELECT count(*) FROM calls WHERE state = 'rejected'", station.alice), 1)
  }

  /// Its notification stayed on screen because no process was running: a call rejected then counts as missed.
  func testACallThatIsRejectedAfterItsTimeIsMissed() throws {
    let (station, service, notification) = try shownCall()
    try execute("UPDATE calls SET deadline = 0", station.alice)
    XCTAssertEqual(service.respond(to: notification, "NTF_ACT_REJECT_CALL")["result"]["outcome"].text, "waiting")
    station.alice.send("/_app activate").assert("cmdOk")
    let response = station.alice.event("ntfResponse")?["result"]
    XCTAssertEqual(response?["outcome"].text, "stale", response?.description ?? "none")
    XCTAssertEqual(try count("SELECT count(*) FROM calls WHERE state = 'missed'", station.alice), 1)
  }

  /// The host makes the offer when it learns of the acceptance, and has no reason to ring.
  func testACallThatWasAcceptedFromItsNotificationIsListedAndDoesNotRingInTheApp() throws {
    let (station, service, notification) = try shownCall()
    XCTAssertEqual(
      service.respond(to: notification, "NTF_ACT_ACCEPT_CALL")["result"]["outcome"].text, "waiting")
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(try events(station.alice, until: station.bob), ["ntfResponse"])
    let waiting = station.alice.send("/_call get")["result"]["callInvitations"]
    XCTAssertEqual(waiting.elements.map { $0["contact"]["contactId"].number }, [1])
    XCTAssertEqual(try count("SELECT count(*) FROM call_events", station.alice), 0)
  }

  /// Another process writes to the store when the app returns: until the response can be carried out, nothing rings
  /// either.
  func testACallThatWasAnsweredFromItsNotificationDoesNotRingWhileTheStoreIsBusy() throws {
    for action in ["NTF_ACT_REJECT_CALL", "NTF_ACT_ACCEPT_CALL"] {
      let (station, service, notification) = try shownCall()
      XCTAssertEqual(service.respond(to: notification, action)["result"]["outcome"].text, "waiting")
      let writer = try Database(path: station.alice.prefix + "_chat.db")
      defer { try? writer.close() }
      try writer.execute("BEGIN IMMEDIATE")
      let activation = station.alice.inBackground { $0.send("/_app activate")["result"]["type"].text }
      // The extension's commit and the badge, and nothing of the call.
      station.alice.event("newChatItems")
      station.alice.event("notifications")
      XCTAssertNil(station.alice.event(within: 1.5), action)
      let listed = station.alice.send("/_call get")["result"]["callInvitations"]
      XCTAssertEqual(listed.count, action == "NTF_ACT_REJECT_CALL" ? 0 : 1, listed.description)
      try writer.execute("ROLLBACK")
      XCTAssertEqual(activation.wait(atMost: .seconds(20)), "cmdOk")
      XCTAssertEqual(station.alice.event("ntfResponse")?["result"]["outcome"].text, "applied", action)
      XCTAssertEqual(try events(station.alice, until: station.bob), [], action)
    }
  }

  /// Bob's call has timed out by then, which is reported; that triggers no event about carol's.
  func testTheEndOfOneCallDoesNotReportAnotherThatWasRejected() throws {
    let (station, friends) = try CallStation.make()
    var shown: [JSON] = []
    for caller in [station.bob] + friends {
      caller.send("/_call invite @1 \(audio)").assert("cmdOk")
      try awaitSent(caller)
      for push in try station.allPushes() { shown += try station.present(push)["notifications"].elements }
    }
    let carols = try XCTUnwrap(shown.last)
    XCTAssertEqual(carols["title"].text, "carol:")
    try station.makeExtension().respond(to: carols, "NTF_ACT_REJECT_CALL").assert("notificationResponse")
    try execute("UPDATE calls SET deadline = 0 WHERE contact_id = 1", station.alice)
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(try events(station.alice, until: station.bob).sorted(), ["callEnded", "ntfResponse"])
  }

  // MARK: What is left of a call that is over

  /// An event that an earlier version left in the store is not taken for one about the next call.
  func testAnEventThatSaysNothingAnyMoreIsForgotten() throws {
    let station = try Station()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    station.alice.event("callInvitation")
    station.alice.send("/_call reject @1").assert("cmdOk")
    awaitRest(of: station.alice)
    station.suspend()
    try execute("INSERT INTO call_events (contact_id, kind, content) VALUES (1, 'invitation', '{}')", station.alice)
    let prefix = station.alice.prefix
    station.alice.free()
    let second = try XCTUnwrap(Host.open(prefix).host)
    second.send("/_start").assert("chatStarted")
    awaitThat("it is forgotten") { (try? count("SELECT count(*) FROM call_events", second)) == 0 }
    second.send("/_app suspend 5000000").assert("cmdOk")
    second.event("chatSuspended")
    second.free()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(station.bob)
    for push in try station.allPushes() { _ = try station.present(push) }
    let third = try XCTUnwrap(Host.open(prefix).host)
    third.send("/_start").assert("chatStarted")
    XCTAssertEqual(try events(third, until: station.bob), ["callInvitation"])
    third.free()
  }

  /// The host has not yet taken bob's report on his session when alice hangs up: the report no longer belongs to a
  /// call.
  func testWhatIsSaidOfACallThatTheUserHasEndedIsForgotten() throws {
    for command in ["end", "status @1 disconnected", "status @1 failed"] {
      let pair = try Pair()
      pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
      pair.bob.event("callInvitation")
      let session = #"{"rtcSession":"o","rtcIceCandidates":"c"}"#
      pair.bob.send("/_call offer @1 {\"callType\":\(audio),\"rtcSession\":\(session)}").assert("cmdOk")
      try awaitThat("the offer is there") { try count("SELECT count(*) FROM call_events", pair.alice) == 1 }
      let words = command == "end" ? "end @1" : command
      pair.alice.send("/_call \(words)").assert("cmdOk")
      XCTAssertEqual(try count("SELECT count(*) FROM call_events", pair.alice), 0, command)
      let prefix = pair.alice.prefix
      pair.alice.free()
      let second = try XCTUnwrap(Host.open(prefix).host)
      second.send("/_start").assert("chatStarted")
      XCTAssertEqual(try events(second, until: pair.bob), [], command)
      second.free()
    }
  }

  /// The end of a call that the host may be showing is reported, whatever happens to the next.
  func testTheEndOfACallIsReportedThoughTheNextWasRejected() throws {
    let station = try Station()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    station.alice.event("callInvitation")
    awaitRest(of: station.alice)
    station.suspend()
    station.bob.send("/_call end @1").assert("cmdOk")
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(station.bob)
    let service = try station.makeExtension()
    let shown = try station.allPushes().flatMap { service.push($0)["notifications"].elements }
    service.respond(to: try XCTUnwrap(shown.last), "NTF_ACT_REJECT_CALL").assert("notificationResponse")
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(try events(station.alice, until: station.bob).sorted(), ["callEnded", "ntfResponse"])
  }

  // MARK: Hidden profiles

  /// The event and the list agree: the host rings for no hidden profile, and rings for its call once the user has
  /// opened the profile.
  func testACallOfAHiddenProfileRingsWhenTheProfileIsOpened() throws {
    for command in [#"/_user 1 "open sesame""#, #"/_unhide user 1 "open sesame""#] {
      let pair = try Pair()
      pair.alice.send("/_create user {\"profile\":{\"displayName\":\"work\",\"fullName\":\"\"}}").assert("activeUser")
      pair.alice.send(#"/_hide user 1 "open sesame""#).assert("userPrivacy")
      pair.alice.dropEvents()
      pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
      XCTAssertEqual(try events(pair.alice, until: pair.bob), [])
      XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 0)
      pair.alice.send(command)
      XCTAssertEqual(
        pair.alice.event("callInvitation")?["result"]["callInvitation"]["contact"]["contactId"].number, 1, command)
      XCTAssertEqual(pair.alice.send("/_call get")["result"]["callInvitations"].count, 1, command)
    }
  }

  // MARK: On screen

  /// Whether to ring is up to the host, which sees what the user has muted: a bot has no use for notifications.
  func testTheInvitationOfAMutedCallSaysThatItIsMuted() throws {
    for (command, enabled, shows) in [
      (#"/_settings @1 {"enableNtfs":"none","favorite":false}"#, "none", true), ("/_mute user 1", "all", false),
    ] {
      let pair = try Pair()
      XCTAssertTrue(pair.alice.send(command)["result"].exists)
      pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
      let invitation = pair.alice.event("callInvitation")?["result"]["callInvitation"] ?? JSON("")
      XCTAssertEqual(invitation["contact"]["chatSettings"]["enableNtfs"].text, enabled, command)
      XCTAssertEqual(invitation["user"]["showNtfs"].flag, shows, command)
    }
  }

  /// Nothing of it is on screen, so nothing is removed when it is over.
  func testTheCallOfAMutedContactIsNotWithdrawnFromTheScreen() throws {
    let pair = try Pair()
    pair.alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk")
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.alice.event("callInvitation")
    awaitRest(of: pair.alice)
    let state = "SELECT count(*) FROM ledger WHERE kind = 'call' AND state = "
    XCTAssertEqual(try count(state + "'silenced'", pair.alice), 1)
    pair.alice.dropEvents()
    pair.bob.send("/_call end @1").assert("cmdOk")
    pair.alice.event("callEnded")
    awaitRest(of: pair.alice)
    XCTAssertEqual(try count(state + "'lapsed'", pair.alice), 1)
    XCTAssertEqual(try count("SELECT count(*) FROM ledger WHERE removal_due = 1", pair.alice), 0)
  }

  /// Likewise for a request to the user's muted profile.
  func testARequestToAMutedProfileIsNotWithdrawnFromTheScreen() throws {
    let pair = try Pair()
    let link = pair.alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
    pair.alice.send("/_mute user 1").assert("userPrivacy")
    let carol = try XCTUnwrap(Host.open(pair.folder.file("carol")).host)
    carol.begin("carol", relay: pair.folder.file("relay.db"))
    carol.send("/connect \(link)").assert("sentInvitation")
    pair.alice.event("receivedContactRequest")
    XCTAssertEqual(
      try count("SELECT count(*) FROM ledger WHERE kind = 'request' AND state = 'silenced'", pair.alice), 1)
    carol.free()
  }
}
