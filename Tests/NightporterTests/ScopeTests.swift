import CNightporter
import Foundation
import PorterPlatform
import PorterPush
import PorterStore
import XCTest

/// A host's own pushes: from its service, through the scope's mailbox and the real notification server, into the answer
/// to the push that they caused, or into an event of the app.
final class ScopeTests: XCTestCase {
  /// Alice's host has subscribed these scopes, and sleeps.
  private func subscribed(
    _ names: String..., members: String = ""
  ) throws -> (station: Station, service: HostService, addresses: [ScopeAddress]) {
    let station = try Station()
    let service = try HostService()
    let addresses = try names.map { try service.subscribe($0, at: station.alice, members) }
    try awaitCount(
      Int64(names.count) + 1, "SELECT count(*) FROM connections WHERE subscription LIKE 'created%'", station.alice)
    station.suspend()
    return (station, service, addresses)
  }

  private func count(_ sql: String, _ host: Host) throws -> Int64? {
    let store = try Database(path: host.prefix + "_chat.db")
    defer { try? store.close() }
    return try store.integer(sql)
  }

  private func awaitCount(_ count: Int64, _ sql: String, _ host: Host) throws {
    try awaitThat("\(count) of \(sql)") { try self.count(sql, host) == count }
  }

  private func relay(_ station: Station) -> String { station.pair.folder.file("relay.db") }

  private func wake(_ station: Station) { station.alice.send("/_app activate").assert("cmdOk") }

  private func unsettled(_ scope: String, _ station: Station) -> [JSON] {
    station.alice.send("/_ntf scope pushes \(scope)")["result"]["applicationPushes"].elements
  }

  /// The whole path (F7): typed, versioned, dispatched by name, in the answer to the push that it caused, and once.
  func testAServicesPushIsInTheAnswerToItsPushOnce() throws {
    let (station, service, addresses) = try subscribed("tabs")
    let envelope = try service.envelope()
    try service.push(envelope, to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    XCTAssertFalse(push.contains("tab.open"))
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer["notifications"].count, 0)
    XCTAssertEqual(answer["applicationPushes"].count, 1, answer.description)
    let handed = answer["applicationPushes"][0]
    XCTAssertEqual(handed["scope"].text, "tabs")
    XCTAssertEqual(handed["outcome"].text, "current")
    XCTAssertEqual(handed["envelope"]["version"].number, 1)
    XCTAssertEqual(handed["envelope"]["command"].text, "tab.open")
    XCTAssertEqual(handed["envelope"]["sender"].text, "laptop")
    XCTAssertEqual(handed["envelope"]["url"].text, "https://example.org/")
    XCTAssertEqual(handed["envelope"]["data"]["command"].text, "open")
    XCTAssertEqual(handed["envelope"]["data"]["index"].number, 7)
    XCTAssertEqual(handed["envelope"]["id"].text, TextEncoding.base64URL(envelope.identifier))
    // The same push again: nothing is handed over a second time.
    let again = try station.present(push)
    XCTAssertEqual(again["outcome"].text, "nothingNew", again.description)
    XCTAssertFalse(again["applicationPushes"].exists)
    // Nor by the app, where it stays readable until the host has settled it.
    wake(station)
    awaitRest(of: station.alice)
    station.alice.expectNone("applicationPush")
    let kept = unsettled("tabs", station)
    XCTAssertEqual(kept.map { $0["pushId"].number }, [handed["pushId"].number])
    XCTAssertEqual(kept[0]["envelope"]["id"].text, handed["envelope"]["id"].text)
    station.alice.send("/_ntf scope settle \(handed["pushId"].number)").assert("cmdOk")
    station.alice.send("/_ntf scope settle \(handed["pushId"].number),99").assert("cmdOk")
    XCTAssertEqual(unsettled("tabs", station).count, 0)
  }

  /// Another message with the same envelope, or the same envelope sealed anew, brings nothing new, whether settled or
  /// not.
  func testARepeatedEnvelopeIsHandedOverOnce() throws {
    let (station, service, addresses) = try subscribed("tabs")
    let envelope = try service.envelope()
    let message = try service.seal(envelope, for: addresses[0])
    try service.submit(message, to: addresses[0], relay: relay(station))
    // The relay recognises this one by its attempt.
    try service.submit(message, to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["tab.open"])
    for settles in [false, true] {
      wake(station)
      if settles { station.alice.send("/_ntf scope settle 1").assert("cmdOk") }
      station.suspend()
      try service.push(envelope, to: addresses[0], relay: relay(station))
      let repeated = try station.present(try station.nextPush())
      XCTAssertEqual(repeated["outcome"].text, "nothingNew", repeated.description)
      XCTAssertEqual(repeated.commands, [])
    }
    // Another envelope comes through as before.
    try service.push(try service.envelope("tab.close"), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["tab.close"])
  }

  /// Versions and commands unknown to the host have their own outcomes, and the content is included.
  func testUnknownVersionsAndCommandsAndExpiryAreOutcomesWithTheContent() throws {
    let (station, service, addresses) = try subscribed("tabs", members: #","version":2,"commands":["tab.open"]"#)
    for (envelope, outcome) in [
      (try service.envelope(version: 2), "current"), (try service.envelope(version: 3), "unknownVersion"),
      (try service.envelope("tab.burn"), "unknownCommand"), (try service.envelope(expiresIn: .days(-1)), "expired"),
      (try service.envelope("tab.burn", version: 3, expiresIn: .days(-1)), "unknownVersion"),
    ] {
      try service.push(envelope, to: addresses[0], relay: relay(station))
      let answer = try station.present(try station.nextPush())
      XCTAssertEqual(answer["applicationPushes"].elements.map { $0["outcome"].text }, [outcome], answer.description)
      XCTAssertEqual(answer.commands, [envelope.command])
    }
  }

  /// Messages that do not open, are not the service's, or are valid for too long are quarantined; the next one is
  /// handed over.
  func testWhatIsNotTheServicesIsQuarantinedAndHoldsUpNothing() throws {
    let (station, service, addresses) = try subscribed("tabs", "other")
    let stranger = try HostService()
    var flipped = try service.seal(try service.envelope(), for: addresses[0])
    flipped[9_000] ^= 1
    let bad: [(String, [UInt8])] = [
      ("a stranger's", try stranger.seal(try service.envelope(), for: addresses[0])),
      ("for another scope", try service.seal(try service.envelope(), for: addresses[1])),
      ("changed", flipped), ("noise", [65] + [UInt8](repeating: 7, count: 16_383)),
      ("too long", try service.seal(try service.envelope(expiresIn: .days(40)), for: addresses[0])),
      ("long over", try service.seal(try service.envelope(expiresIn: .days(-40)), for: addresses[0])),
    ]
    for (name, message) in bad {
      try service.submit(message, to: addresses[0], relay: relay(station))
      let answer = try station.present(try station.nextPush())
      XCTAssertEqual(answer["outcome"].text, "quarantined", "\(name): \(answer)")
      XCTAssertFalse(answer["applicationPushes"].exists, name)
    }
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["tab.open"])
    XCTAssertEqual(try count("SELECT count(*) FROM application_pushes", station.alice), 1)
    XCTAssertThrowsError(try service.submit([1, 2, 3], to: addresses[0], relay: relay(station)))
  }

  /// The relay's clock was a year ahead when a stranger's message came, and when one of the service's did.
  func testAWrongTimeOfTheRelayLosesNoLaterEnvelope_INC14() throws {
    let (station, service, addresses) = try subscribed("tabs")
    let stranger = try HostService()
    for sender in [stranger, service] {
      try service.submit(
        try sender.seal(try sender.envelope("ahead"), for: addresses[0]), to: addresses[0], relay: relay(station))
      let database = try Database(path: relay(station))
      try database.execute("UPDATE message SET sent_at = sent_at + 365 * 86400000")
      try database.close()
      _ = try station.present(try station.nextPush())
    }
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["tab.open"])
  }

  /// The service has another key, which the host gives the library after the first push sealed with it.
  func testALateKeyOpensWhatCameBefore() throws {
    let (station, _, addresses) = try subscribed("tabs")
    let other = try HostService()
    try other.push(try other.envelope("early"), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush())["outcome"].text, "quarantined")
    wake(station)
    _ = try other.subscribe("tabs", at: station.alice)
    let event = try XCTUnwrap(station.alice.event("applicationPush"))["result"]["applicationPush"]
    XCTAssertEqual(event["envelope"]["command"].text, "early")
    // Supplying the key again hands nothing over twice.
    _ = try other.subscribe("tabs", at: station.alice)
    awaitRest(of: station.alice)
    station.alice.expectNone("applicationPush")
  }

  func testTwoScopesAndAMessageInOneAnswer() throws {
    let (station, service, addresses) = try subscribed("tabs", "account")
    station.pair.send("hello", from: station.bob)
    try service.push(try service.envelope("one"), to: addresses[0], relay: relay(station))
    try service.push(try service.envelope("two"), to: addresses[1], relay: relay(station))
    try service.push(try service.envelope("three"), to: addresses[0], relay: relay(station))
    let pushes = try station.allPushes()
    // The last one names all three mailboxes.
    let answer = try station.present(try XCTUnwrap(pushes.last))
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    let handed = answer["applicationPushes"].elements.map { "\($0["scope"].text) \($0["envelope"]["command"].text)" }
    XCTAssertEqual(handed.sorted(), ["account two", "tabs one", "tabs three"])
    for push in pushes { XCTAssertEqual(try station.present(push)["outcome"].text, "nothingNew") }
  }

  /// An awake app gets an event, including for what an extension committed and did not hand over.
  func testAnAppGetsAnEventOnce() throws {
    let (station, service, addresses) = try subscribed("tabs")
    wake(station)
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let event = try XCTUnwrap(station.alice.event("applicationPush"))["result"]["applicationPush"]
    XCTAssertEqual(event["envelope"]["command"].text, "tab.open")
    XCTAssertEqual(event["outcome"].text, "current")
    station.suspend()
    station.pair.send("hello", from: station.bob)
    // There may have been a push for a message that the app received by itself.
    var bodies: [String] = []
    while bodies.isEmpty {
      let answer = try station.present(try station.nextPush())
      XCTAssertEqual(answer.commands, [], answer.description)
      bodies = answer.bodies
    }
    XCTAssertEqual(bodies, ["hello"])
    wake(station)
    awaitRest(of: station.alice)
    station.alice.expectNone("applicationPush")
  }

  /// A round in the background: its event is the hand-over, and no extension repeats it.
  func testWhatARoundInTheBackgroundReportedIsInNoLaterAnswer() throws {
    let (station, service, addresses) = try subscribed("tabs")
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    let round = JSON(take(np_background_refresh(station.alice.handle, 20_000)))
    XCTAssertFalse(round["applicationPushes"].exists, round.description)
    XCTAssertEqual(
      station.alice.event("applicationPush")?["result"]["applicationPush"]["envelope"]["command"].text, "tab.open")
    XCTAssertEqual(try station.present(push).commands, [])
    let hello = try station.present(try station.push(for: "hello"))
    XCTAssertEqual(hello.bodies, ["hello"])
    XCTAssertEqual(hello.commands, [])
  }

  /// An app that was only woken has reported it, and presents nothing: its entry is still waiting in the ledger when an
  /// extension composes its answer.
  func testWhatAnAppReportedInTheBackgroundIsNotHandedOverAgain() throws {
    let (station, service, addresses) = try subscribed("tabs")
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    XCTAssertNotNil(station.alice.event("applicationPush"))
    XCTAssertEqual(np_set_phase(station.alice.handle, NP_PHASE_SUSPENDED), NP_OK)
    XCTAssertEqual(
      try count("SELECT count(*) FROM ledger WHERE state = 'committed'", station.alice), 1)
    XCTAssertEqual(try station.present(push).commands, [])
  }

  func testAScopeThatIsDeletedWhileItsPushIsUnderWayHandsNothingOver() throws {
    let (station, service, addresses) = try subscribed("tabs", "account")
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    wake(station)
    // Anything the app received before is deleted as well.
    station.alice.send("/_ntf scope delete tabs").assert("cmdOk")
    XCTAssertEqual(station.alice.send("/_ntf scope pushes tabs")["error"]["np"]["code"].text, "scopeNotFound")
    XCTAssertEqual(station.alice.send("/_ntf scope delete tabs")["error"]["np"]["code"].text, "scopeNotFound")
    try awaitCount(0, "SELECT count(*) FROM deleted_mailboxes", station.alice)
    station.suspend()
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "unknown", answer.description)
    XCTAssertEqual(answer.commands, [])
    XCTAssertEqual(answer["withdrawals"].count, 0)
    XCTAssertEqual(try count("SELECT count(*) FROM application_pushes", station.alice), 0)
    // The service gets an error, and the other scope works.
    XCTAssertThrowsError(try service.push(try service.envelope(), to: addresses[0], relay: relay(station)))
    try service.push(try service.envelope("two"), to: addresses[1], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["two"])
  }

  /// Subscribing again changes the settings and keeps the address.
  func testAScopeIsListedUpdatedAndKeepsItsAddress() throws {
    let (station, service, addresses) = try subscribed("tabs")
    wake(station)
    let other = try HostService()
    XCTAssertEqual(try other.subscribe("tabs", at: station.alice, #","version":4,"commands":["x"]"#), addresses[0])
    let scopes = station.alice.send("/_ntf scopes")["result"]["scopes"]
    XCTAssertEqual(scopes.count, 1)
    XCTAssertEqual(scopes[0]["serviceKey"].text, other.publicKey)
    XCTAssertEqual(scopes[0]["version"].number, 4)
    XCTAssertEqual(scopes[0]["commands"][0].text, "x")
    XCTAssertEqual(scopes[0]["address"].text, "scope:\(scopes[0]["publicKey"].text)@" + "\(addresses[0])".suffix(32))
    station.suspend()
    // The earlier key is no longer accepted.
    try service.push(try service.envelope("x"), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush())["outcome"].text, "quarantined")
    try other.push(try other.envelope("x"), to: addresses[0], relay: relay(station))
    XCTAssertEqual(try station.present(try station.nextPush()).commands, ["x"])
    wake(station)
    // It is no chat and no invitation.
    let chats = station.alice.send("/_get chats 1 pcc=on count=100")["result"]["chats"]
    XCTAssertEqual(chats.count, 1, chats.description)
  }

  func testScopesAreBoundedAndOnlyTheAppMakesThem() throws {
    let station = try Station()
    let service = try HostService()
    for number in 0..<32 { _ = try service.subscribe("scope\(number)", at: station.alice) }
    let key = service.publicKey
    let more = station.alice.send(#"/_ntf scope subscribe {"name":"more","serviceKey":"\#(key)"}"#)
    XCTAssertEqual(more["error"]["np"]["code"].text, "scopesTooMany")
    for bad in [
      "", "{}", #"{"name":"a b","serviceKey":"\#(key)"}"#, #"{"name":"a","serviceKey":"AAAA"}"#,
      #"{"name":"a","serviceKey":"\#(key)","version":0}"#, #"{"name":"a","serviceKey":"\#(key)","commands":[1]}"#,
      #"{"name":"a","serviceKey":"\#(key)","limit":1}"#, #"{"name":"","serviceKey":"\#(key)"}"#,
    ] {
      XCTAssertEqual(
        station.alice.send("/_ntf scope subscribe \(bad)")["error"]["np"]["code"].text, "commandSyntax", bad)
    }
    station.suspend()
    let other = try station.makeExtension()
    other.send("/_start main=off snd_files=off").assert("chatStarted")
    let refused = other.send(#"/_ntf scope subscribe {"name":"b","serviceKey":"\#(key)"}"#)
    XCTAssertEqual(refused["error"]["np"]["code"].text, "roleNotAllowed", refused.description)
    XCTAssertEqual(other.send("/_ntf scope delete scope1")["error"]["np"]["code"].text, "roleNotAllowed")
  }

  /// A hidden profile appears nowhere outside the app, which gets the event.
  func testAHiddenProfilesPushesAreTheAppsAlone() throws {
    let (station, service, addresses) = try subscribed("tabs")
    wake(station)
    station.alice.send(#"/_create user {"profile":{"displayName":"second","fullName":""}}"#).assert("activeUser")
    station.suspend()
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    // The push is already on its way; the server sends none for a hidden profile.
    try station.carryOut([#"/_hide user 1 "secret""#])
    let answer = try station.present(push)
    XCTAssertEqual(answer["notifications"].count, 0, answer.description)
    XCTAssertEqual(answer["withdrawals"].elements.map(\.text), ["np:connected:1:1"], "what was on screen of it")
    XCTAssertFalse(answer["applicationPushes"].exists, answer.description)
    XCTAssertEqual(answer.commands, [])
    wake(station)
    let event = try XCTUnwrap(station.alice.event("applicationPush"))["result"]["applicationPush"]
    XCTAssertEqual(event["userId"].number, 1)
    // The active profile has none.
    XCTAssertEqual(station.alice.send("/_ntf scopes")["result"]["scopes"].count, 0)
  }

  /// Time runs out before the mailbox is checked: the push ends `expired`, and nothing is lost.
  func testAPushWhoseTimeIsUpLosesNothing() throws {
    let (station, service, addresses) = try subscribed("tabs")
    try service.push(try service.envelope(), to: addresses[0], relay: relay(station))
    let push = try station.nextPush()
    let answer = try station.makeExtension().push(push, deadline: 1)
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    XCTAssertEqual(answer.commands, [])
    XCTAssertEqual(try station.present(push).commands, ["tab.open"])
  }

  /// A scope's past stays bounded, and entries not yet handed over are kept.
  func testWhatIsOverIsForgottenAndWhatWaitsIsNot() throws {
    let (station, service, addresses) = try subscribed("tabs")
    let connection = "(SELECT connection_id FROM scopes)"
    let file = try Database(path: station.alice.prefix + "_chat.db")
    try file.execute(
      """
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO ledger (connection_id, message_id, message_at, state, kind, created_at)
        SELECT \(connection), randomblob(24), 0, 'read', 'silent', 0 FROM n;
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO application_pushes (scope_id, envelope_id, message_id, state, envelope, expires_at, message_at)
        SELECT 1, randomblob(16), randomblob(24), 'handed', '{}', CASE WHEN i <= 100 THEN 0 ELSE 9e15 END, 0 FROM n;
      INSERT INTO ledger (connection_id, message_id, message_at, state, kind, created_at)
        SELECT \(connection), x'01', 0, 'presented', 'application', 0;
      INSERT INTO application_pushes (scope_id, envelope_id, message_id, state, envelope, expires_at, message_at)
        VALUES (1, x'01', x'01', 'waiting', '{}', 9e15, 0);
      UPDATE ledger SET entry_id = -1 WHERE message_id = x'01';
      """)
    try file.close()
    for number in 0..<34 {
      try service.push(try service.envelope("\(number)"), to: addresses[0], relay: relay(station))
    }
    XCTAssertEqual(try station.present(try XCTUnwrap(try station.allPushes().last)).commands.count, 34)
    let entries = try XCTUnwrap(
      try count("SELECT count(*) FROM ledger WHERE connection_id = \(connection)", station.alice))
    XCTAssertLessThan(entries, 256 + 34 + 2)
    XCTAssertEqual(try count("SELECT count(*) FROM ledger WHERE message_id = x'01'", station.alice), 1)
    XCTAssertEqual(try count("SELECT count(*) FROM application_pushes WHERE expires_at = 0", station.alice), 0)
    let kept = "SELECT count(*) FROM application_pushes WHERE state = 'handed' AND envelope = '{}'"
    XCTAssertLessThanOrEqual(try XCTUnwrap(try count(kept, station.alice)), 256)
  }

  /// More than fits into one answer: the rest comes with the next push, in order.
  func testALargeBacklogIsHandedOverInParts() throws {
    let (station, service, addresses) = try subscribed("tabs")
    for number in 0..<70 {
      try service.push(try service.envelope("\(number)"), to: addresses[0], relay: relay(station))
    }
    let pushes = try station.allPushes()
    let first = try station.present(try XCTUnwrap(pushes.last))
    XCTAssertEqual(first.commands, (0..<64).map { "\($0)" })
    XCTAssertEqual(try station.present(try XCTUnwrap(pushes.last)).commands, (64..<70).map { "\($0)" })
  }
}
