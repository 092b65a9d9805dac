import Foundation
import PorterStore
import XCTest

/// A call and what happens alongside it: a late invitation, another call at the same moment, and the end of the
/// connection.
final class CollidingCallTests: XCTestCase {
  private let audio = CallStation.audio
  private var offer: String {
    #"{"callType":\#(audio),"rtcSession":{"rtcSession":"o","rtcIceCandidates":"c"}}"#
  }
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// The calls in the chat, oldest first.
  private func calls(_ host: Host) -> [String] {
    host.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"].elements.map { $0["content"] }
      .filter { $0["type"].text.hasSuffix("Call") }.map { "\($0["type"].text) \($0["status"].text)" }
  }

  private func change(relayOf pair: Pair, _ sql: String) throws {
    let database = try Database(path: pair.folder.file("relay.db"))
    defer { try? database.close() }
    try database.execute(sql)
  }

  // MARK: Late invitations

  /// Bob's invitation, which the relay has had for more than three minutes when alice's app receives it. Both are
  /// suspended.
  private func lateInvitation(_ pair: Pair) throws {
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.bob.send("/_app activate").assert("cmdOk")
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(pair.bob)
    try change(relayOf: pair, "UPDATE message SET stored_at = stored_at - 181000 WHERE body IS NOT NULL")
    pair.bob.send("/_app suspend 0").assert("cmdOk")
  }

  /// Keeps the messages waiting at the relay on their way until `release`.
  private func hold(_ pair: Pair) throws {
    try change(
      relayOf: pair,
      "CREATE TABLE held AS SELECT * FROM message WHERE body IS NOT NULL; DELETE FROM message WHERE body IS NOT NULL")
  }

  /// Puts what was held after everything that is there, in its order: an answer to bob's connection may be among it.
  private func release(_ pair: Pair) throws {
    try change(
      relayOf: pair,
      "UPDATE held SET number = number + (SELECT max(number) FROM message); INSERT INTO message SELECT * FROM held")
  }

  /// Alice calls while bob is offline, whose own invitation has been on its way for a long time.
  func testALateInvitationDoesNotEndTheUsersOwnCall() throws {
    let pair = try Pair()
    for host in [pair.alice, pair.bob] { host.send("/_app suspend 0").assert("cmdOk") }
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(pair.alice)
    try hold(pair)
    try lateInvitation(pair)
    pair.alice.send("/_app activate").assert("cmdOk")
    awaitThat("the late one is there", { calls(pair.alice).count == 2 })
    XCTAssertEqual(calls(pair.alice), ["sndCall pending", "rcvCall missed"])
    XCTAssertEqual(pair.alice.state["unread"].number, 1)
    XCTAssertFalse(pair.alice.waitingEvents().contains("callInvitation"))
    // The call continues: bob can accept it.
    try release(pair)
    pair.bob.send("/_app activate").assert("cmdOk")
    pair.bob.event("callInvitation")
    pair.bob.send("/_call offer @1 \(offer)").assert("cmdOk")
    XCTAssertEqual(pair.alice.event("callOffer")?["result"]["offer"]["rtcSession"].text, "o")
  }

  /// Bob's device has called again by mistake, and was offline until it was too late.
  func testALateInvitationDoesNotEndAConnectedCall() throws {
    let pair = try Pair()
    pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.bob.event("callInvitation")
    pair.bob.send("/_call offer @1 \(offer)").assert("cmdOk")
    pair.alice.event("callOffer")
    pair.alice.send(#"/_call answer @1 {"rtcSession":"a","rtcIceCandidates":"d"}"#).assert("cmdOk")
    pair.alice.send("/_call status @1 connected").assert("cmdOk")
    pair.bob.event("callAnswer")
    awaitRest(of: pair.alice)
    try lateInvitation(pair)
    pair.alice.send("/_app activate").assert("cmdOk")
    awaitThat("the late one is there", { calls(pair.alice).count == 2 })
    XCTAssertEqual(calls(pair.alice).sorted(), ["rcvCall missed", "sndCall progress"])
    let types = pair.alice.waitingEvents()
    XCTAssertFalse(types.contains("callInvitation") || types.contains("callEnded"), "\(types)")
    pair.alice.send(#"/_call extra @1 {"rtcIceCandidates":"more"}"#).assert("cmdOk")
    pair.alice.send("/_call end @1").assert("cmdOk")
    XCTAssertEqual(calls(pair.alice).sorted(), ["rcvCall missed", "sndCall ended"])
  }

  // MARK: Both call

  /// Both invitations are at the relay before either side has the other's. Each side then rings for the other's call,
  /// and neither can get an answer to its offer: the next call by either replaces both.
  func testOfTwoCallsOfTheSameMomentEachSideRingsForTheOthers() throws {
    let pair = try Pair()
    for host in [pair.alice, pair.bob] { host.send("/_app suspend 0").assert("cmdOk") }
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(pair.alice)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    // Until bob has called as well.
    try hold(pair)
    pair.bob.send("/_app activate").assert("cmdOk")
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    try awaitSent(pair.bob)
    pair.bob.send("/_app suspend 0").assert("cmdOk")
    try release(pair)
    for host in [pair.alice, pair.bob] {
      host.send("/_app activate").assert("cmdOk")
      host.event("callInvitation")
      XCTAssertEqual(calls(host), ["sndCall missed", "rcvCall pending"])
      XCTAssertEqual(host.send("/_call get")["result"]["callInvitations"].count, 1)
    }
    pair.alice.send("/_call offer @1 \(offer)").assert("cmdOk")
    pair.send("can you hear me?", from: pair.alice)
    XCTAssertEqual(try eventsBeforeMessage(pair.bob), [])
    XCTAssertEqual(calls(pair.bob), ["sndCall missed", "rcvCall pending"])

    pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.bob.event("callInvitation")
    XCTAssertEqual(calls(pair.alice), ["sndCall missed", "rcvCall ended", "sndCall pending"])
    pair.bob.send("/_call offer @1 \(offer)").assert("cmdOk")
    pair.alice.event("callOffer")
    pair.alice.send(#"/_call answer @1 {"rtcSession":"a","rtcIceCandidates":"d"}"#).assert("cmdOk")
    pair.bob.event("callAnswer")
  }

  /// The events about calls, up to the next message.
  private func eventsBeforeMessage(_ host: Host) throws -> [String] {
    var types: [String] = []
    while let event = host.event(within: 30) {
      let result = event["result"]
      if result["chatItems"][0]["chatItem"]["content"]["msgContent"].exists { return types }
      if result["type"].text.hasPrefix("call") { types.append(result["type"].text) }
    }
    throw StationFailure("the message does not come")
  }

  // MARK: The contact leaves

  /// The caller deletes the contact while it rings: a missed call is left.
  func testACallWhoseCallerHasLeftEnds() throws {
    let station = try Station()
    station.suspend()
    station.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    let shown = try station.present(station.nextPush())
    XCTAssertEqual(shown.bodies, ["Incoming audio call"], shown.description)
    station.bob.send("/_delete @1 full").assert("contactDeleted")
    try awaitSent(station.bob)
    let next = try station.present(wake)
    XCTAssertEqual(next.bodies, ["Missed call"], next.description)
    XCTAssertEqual(next.identifiers, shown.identifiers)
    let service = try station.makeExtension()
    service.respond(to: shown["notifications"][0], "NTF_ACT_ACCEPT_CALL").assert("notificationResponse")
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    var (types, reason): ([String], String) = ([], "")
    while types.filter({ $0 == "ntfResponse" || $0 == "callEnded" }).count < 2,
      let event = station.alice.event(within: 20)
    {
      types.append(event["result"]["type"].text)
      if types.last == "ntfResponse" { reason = event["result"]["reason"].text }
    }
    XCTAssertTrue(types.contains("callEnded"), "\(types)")
    XCTAssertFalse(types.contains("callInvitation"), "\(types)")
    XCTAssertEqual(reason, "noSuchCall")
    XCTAssertEqual(calls(station.alice), ["rcvCall missed"])
    XCTAssertEqual(station.alice.send("/_call offer @1 \(offer)").errorTag, "noCurrentCall")
  }

  func testTheUsersOwnCallEndsWhenTheContactLeaves() throws {
    for isAccepted in [false, true] {
      let pair = try Pair()
      pair.alice.send("/_call invite @1 \(audio)").assert("cmdOk")
      pair.bob.event("callInvitation")
      if isAccepted {
        pair.bob.send("/_call offer @1 \(offer)").assert("cmdOk")
        pair.alice.event("callOffer")
      }
      pair.bob.send("/_delete @1 full").assert("contactDeleted")
      XCTAssertEqual(pair.alice.event("callEnded")?["result"]["contact"]["contactId"].number, 1)
      XCTAssertEqual(calls(pair.alice), [isAccepted ? "sndCall ended" : "sndCall missed"])
    }
  }
}
