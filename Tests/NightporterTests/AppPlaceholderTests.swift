import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A push answered by an app that is not on screen: messages it could not receive have a placeholder or a notice, as in
/// an extension. On screen they have neither.
final class AppPlaceholderTests: XCTestCase {
  private let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
  private static let connectionEvent = "NTF_CAT_CONNECTION_EVENT"

  /// An app launched by the system for a push, with a transport that can fail.
  private struct Launched {
    let station: Station
    let push: String
    let app: Host
    let transport: HostTransport
  }

  /// `settings` are made in the app while the push is on its way.
  private func launch(_ settings: [String] = [], for text: String = "hello") throws -> Launched {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: text)
    if !settings.isEmpty { try station.carryOut(settings) }
    station.alice.free()
    let app = try XCTUnwrap(Host.open(station.pair.folder.file("alice")).host)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: app)
    return Launched(station: station, push: push, app: app, transport: transport)
  }

  private func answer(
    of app: Host, to push: String, _ outcome: String, file: StaticString = #filePath, line: UInt = #line
  ) -> JSON {
    let answer = app.push(push)
    XCTAssertEqual(answer["outcome"].text, outcome, answer.description, file: file, line: line)
    XCTAssertTrue(answer["quiescent"].flag, answer.description, file: file, line: line)
    return answer
  }

  private func refresh(_ app: Host) -> JSON { JSON(take(np_background_refresh(app.handle, 10_000))) }

  // MARK: Offline on screen

  /// An app on screen that cannot reach the relay shows nothing, so no extension leaves its push to it; once it can, it
  /// does.
  func testAnAppOnScreenWithoutItsRelayIsLeftNoPush() throws {
    let launched = try launch()
    let (app, transport, station) = (launched.app, launched.transport, launched.station)
    transport.cut(true)
    app.send("/_start").assert("chatStarted")
    XCTAssertEqual(app.state["machines"]["app_phase"].text, "active", app.state.description)
    let clock = MovedClock()
    let service = try station.makeExtension(clock: clock)
    let answer = service.push(launched.push)
    XCTAssertEqual(answer["work"].text, "ran", answer.description)
    // Either shows it: the app learns at once of what the extension commits.
    if answer.bodies != ["hello"] { app.event("newChatItems") }
    XCTAssertEqual(station.pair.texts(app), ["hello"])
    transport.cut(false)
    let listened = transport.count(.arrivals)
    awaitThat("the app reaches the relay") {
      np_relay_ready(app.handle)
      return transport.count(.arrivals) > listened
    }
    awaitRest(of: app)
    // The app's answer is never too late.
    clock.stop()
    XCTAssertEqual(service.push(launched.push)["outcome"].text, "yielded")
  }

  // MARK: Placeholders

  /// INC-47: whichever process receives the message shows it under its placeholder's identifier.
  func testAMessageReplacesItsPlaceholder() throws {
    let launched = try launch()
    let (app, transport) = (launched.app, launched.transport)
    transport.fail(.get)
    let early = answer(of: app, to: launched.push, "offline")
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    XCTAssertEqual(early.titles, ["bob:"])
    XCTAssertEqual(early["notifications"][0]["categoryIdentifier"].text, Self.connectionEvent)
    XCTAssertEqual(early["badge"].number, 0, "what has not come does not count")
    XCTAssertEqual(early["nextRefreshMs"].number, 600_000)
    XCTAssertEqual(answer(of: app, to: launched.push, "offline").titles, [], "announced once")
    let late = try launched.station.present(launched.push)
    XCTAssertEqual(late.bodies, ["hello"], "by another process: \(late)")
    XCTAssertEqual(late.identifiers, early.identifiers)
  }

  func testARoundReplacesThePlaceholder() throws {
    let launched = try launch()
    launched.transport.fail(.get)
    let early = answer(of: launched.app, to: launched.push, "offline")
    launched.transport.fail(nil)
    let late = refresh(launched.app)
    XCTAssertEqual(late["outcome"].text, "presented", late.description)
    XCTAssertEqual(late.bodies, ["hello"])
    XCTAssertEqual(late.identifiers, early.identifiers)
    XCTAssertEqual(late["withdrawals"].count, 0, late.description)
    XCTAssertEqual(late["badge"].number, 1)
    XCTAssertEqual(answer(of: launched.app, to: launched.push, "nothingNew").titles, [])
  }

  func testAPushThatExpiresAnnouncesItsMessage() throws {
    let launched = try launch()
    let early = try repeating(while: \.isWithoutEngine, of: launched.app) {
      launched.transport.waitUntilOutside()
      launched.transport.hang(true)
      let cut = launched.app.inBackground { [push = launched.push] in $0.push(push, deadline: 30_000).description }
      awaitThat("the push is at work") { launched.app.state["machines"]["push"].text == "claiming" }
      XCTAssertEqual(np_expire_push(launched.app.handle), NP_OK)
      launched.transport.hang(false)
      return JSON(try XCTUnwrap(cut.wait(atMost: .seconds(20))))
    }
    XCTAssertEqual(early["outcome"].text, "expired", early.description)
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    let late = launched.app.push(launched.push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late.identifiers, early.identifiers)
  }

  /// INC-37: muted chats stay silent, and hidden previews stay hidden.
  func testINC37WhatIsMutedOrHiddenStaysSoInAnAppsPlaceholders() throws {
    let muted = try launch([#"/_settings @1 {"enableNtfs":"none","favorite":false}"#])
    muted.transport.fail(.get)
    XCTAssertEqual(answer(of: muted.app, to: muted.push, "offline").titles, [])

    let hidden = try launch([#"/_save app settings {"notificationPreviewMode":"hidden"}"#])
    hidden.transport.fail(.get)
    let shown = answer(of: hidden.app, to: hidden.push, "offline")
    XCTAssertEqual(shown.titles, ["Contact hidden:"], shown.description)
    XCTAssertFalse(shown.description.contains("bob"), shown.description)
  }

  /// Nothing will arrive that could replace a placeholder.
  func testAnEmptyMailboxHasNoPlaceholder() throws {
    let launched = try launch()
    let relay = try Database(path: launched.station.pair.folder.file("relay.db"))
    try relay.execute("DELETE FROM message")
    try relay.close()
    XCTAssertEqual(answer(of: launched.app, to: launched.push, "nothingNew").titles, [])
  }

  // MARK: On screen

  func testAnAppOnScreenHasNeitherPlaceholderNorNotice() throws {
    let launched = try launch()
    launched.transport.fail(.get)
    launched.app.send("/_start").assert("chatStarted")
    let offline = launched.app.push(launched.push)
    XCTAssertEqual(offline["outcome"].text, "offline", offline.description)
    XCTAssertEqual(offline.titles, [], offline.description)
    launched.transport.hang(true)
    let cut = launched.app.push(launched.push, deadline: 500)
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    XCTAssertEqual(cut.titles, [], cut.description)
    launched.transport.hang(false)
  }

  /// INC-44. The connection named by the push is damaged, so the subject of the push is unknown.
  func testAPushForADamagedConnectionHasANoticeUnlessOnScreen() throws {
    for isOnScreen in [false, true] {
      let launched = try launch()
      let database = try Database(path: launched.app.prefix + "_chat.db")
      try database.execute("UPDATE connections SET recipient_key = x'00' WHERE contact_id = 1")
      try database.close()
      if isOnScreen { launched.app.send("/_start").assert("chatStarted") }
      let answer = launched.app.push(launched.push)
      XCTAssertEqual(answer.identifiers, isOnScreen ? [] : ["np:notice"], answer.description)
      XCTAssertEqual(
        FileManager.default.fileExists(atPath: launched.app.prefix + "_notice"), !isOnScreen, "to be withdrawn")
      launched.app.free()
    }
  }

  /// The store is closed during the push because the app is suspended: the store is not at fault.
  func testAnAppThatIsSuspendedInTheMiddleOfAPushHasNoDatabaseError() throws {
    for isOnScreen in [false, true] {
      let launched = try launch()
      launched.transport.hang(.get)
      if isOnScreen { launched.app.send("/_start").assert("chatStarted") }
      let cut = launched.app.inBackground { [push = launched.push] in $0.push(push, deadline: 30_000).description }
      launched.transport.waitUntilInside()
      awaitThat("the push is at work") { launched.app.state["machines"]["push"].text == "claiming" }
      launched.app.send("/_app suspend 0").assert("cmdOk")
      launched.transport.hang(nil)
      let answer = JSON(try XCTUnwrap(cut.wait(atMost: .seconds(20))))
      XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
      XCTAssertEqual(answer["notifications"].count, 1, answer.description)
      XCTAssertFalse(answer.description.contains("database"), answer.description)
    }
  }

  // MARK: Notices

  /// One push too many is answered without the engine, from what is known of the screen at that moment.
  func testAPushThatIsAnsweredWithoutTheEngineHasANoticeUnlessOnScreen() throws {
    for isOnScreen in [false, true] {
      let launched = try launch()
      launched.transport.hang(true)
      if isOnScreen { launched.app.send("/_start").assert("chatStarted") }
      let answers = (0..<64).map { _ in
        launched.app.inBackground { [push = launched.push] in $0.push(push, deadline: 30_000).description }
      }
      awaitThat("all wait") { launched.app.state["pushesWaiting"].number == 63 }
      let refused = launched.app.push(launched.push, deadline: 30_000)
      XCTAssertEqual(refused["reason"].text, "64 pushes are waiting", refused.description)
      XCTAssertEqual(refused.titles, isOnScreen ? [] : ["Encrypted message or another app event"])
      launched.app.free()
      launched.transport.hang(false)
      for answer in answers { XCTAssertNotNil(answer.wait(atMost: .seconds(20)), "each is answered") }
    }
  }

  /// A message push reports it each time; a round, which knows of no message, reports it once.
  func testAStoreThatDoesNotOpenHasANoticeOfARoundOnce() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let app = station.alice
    let file = app.prefix + "_chat.db"
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
    try Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(fileURLWithPath: file))
    let round = refresh(app)
    XCTAssertEqual(round["outcome"].text, "failed", round.description)
    XCTAssertEqual(round.titles, ["Encrypted message: database error"])
    XCTAssertEqual(round.identifiers, ["np:notice"])
    XCTAssertEqual(round["notifications"][0]["categoryIdentifier"].text, Self.connectionEvent)
    XCTAssertEqual(refresh(app).titles, [], "it is on screen")
    XCTAssertEqual(answer(of: app, to: wake, "failed").titles, [])
    XCTAssertEqual(answer(of: app, to: push, "failed").titles, ["Encrypted message: database error"])

    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
    let late = answer(of: app, to: push, "presented")
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"])
    XCTAssertEqual(refresh(app)["withdrawals"].count, 0)
  }

  func testAStoreOfANewerVersionSaysWhatToDo() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let database = try Database(path: station.alice.prefix + "_chat.db")
    try database.setUserVersion(999)
    try database.close()
    let round = refresh(station.alice)
    XCTAssertEqual(round["outcome"].text, "wrongSchema", round.description)
    XCTAssertEqual(round.placeholders, ["Open the app to update its database."])
    let again = answer(of: station.alice, to: push, "wrongSchema")
    XCTAssertEqual(again.titles, ["Encrypted message: database migration error"])
  }

  /// The user knows that the chat is stopped: a round does not repeat it.
  func testAStoppedChatHasANoticeForAMessageOnly() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_stop").assert("chatStopped")
    XCTAssertEqual(refresh(station.alice).titles, [])
    let woken = station.alice.push(wake)
    XCTAssertEqual(woken["outcome"].text, "stopped", woken.description)
    XCTAssertEqual(woken.titles, [])
    let stopped = station.alice.push(push)
    XCTAssertEqual(stopped["outcome"].text, "stopped", stopped.description)
    XCTAssertEqual(stopped.titles, ["Encrypted message: app is stopped"])
    XCTAssertEqual(stopped.placeholders, ["Open the app and start the chat to receive messages."])
  }

  /// Its key was not kept, as before the first unlock.
  func testALockedStoreHasANoticeForAMessageOnly() throws {
    let station = try Station()
    let key = "x'" + String(repeating: "5a", count: 32) + "'"
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.free()
    let sealing = try XCTUnwrap(Host.open(station.alice.prefix).host)
    XCTAssertEqual(JSON(take(np_change_key(sealing.handle, "", key)))["result"]["type"].text, "cmdOk")
    sealing.free()
    var handle: chat_ctrl?
    _ = take(chat_migrate_init_key(station.alice.prefix, key, 0, "yesUp", 0, &handle))
    let app = Host(try XCTUnwrap(handle), station.alice.prefix)
    app.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(refresh(app)["outcome"].text, "locked")
    XCTAssertEqual(refresh(app).titles, [])
    let locked = answer(of: app, to: push, "locked")
    XCTAssertEqual(locked.titles, ["Encrypted message: device is locked"])
    XCTAssertEqual(np_set_key(app.handle, key, 0), NP_OK)
    let late = answer(of: app, to: push, "presented")
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), ["np:notice"], late.description)
  }

  /// A round that is merely offline or out of time does not alarm the user.
  func testARoundThatIsOfflineOrExpiresShowsNothing() throws {
    let launched = try launch()
    launched.transport.fail(.get)
    let offline = refresh(launched.app)
    XCTAssertEqual(offline["outcome"].text, "offline", offline.description)
    XCTAssertEqual(offline.titles, [], offline.description)
    XCTAssertEqual(answer(of: launched.app, to: wake, "offline").titles, [])
    let cut = JSON(take(np_background_refresh(launched.app.handle, 1)))
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    XCTAssertEqual(cut.titles, [], cut.description)
  }
}
