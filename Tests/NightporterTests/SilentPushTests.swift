import CNightporter
import Foundation
import PorterJSON
import PorterPlatform
import XCTest

@testable import PorterStore

/// An unreadable push about something the user has muted or hidden, or about a chat that notifies of mentions only:
/// there is no notice, whatever kept the push from getting the store, and in whichever process (INC-37).
final class SilentPushTests: XCTestCase {
  private static let key = "x'" + String(repeating: "5a", count: 32) + "'"
  private static let title = "Encrypted message: device is locked"

  /// Gives the only contact's chat these notifications, from the app, while its mailbox stays watched.
  private static func settings(_ notifications: String) -> String {
    #"/_settings @1 {"enableNtfs":"\#(notifications)","favorite":false}"#
  }

  /// Seals alice's store from now on; she has no process.
  private func seal(_ station: Station) throws {
    station.alice.free()
    let sealing = try XCTUnwrap(Host.open(station.alice.prefix).host)
    XCTAssertEqual(JSON(take(np_change_key(sealing.handle, "", Self.key)))["result"]["type"].text, "cmdOk")
    sealing.free()
  }

  /// The titles shown by a process of this role without a key, as before the first unlock.
  private func locked(
    _ station: Station, _ push: String, isExtension: Bool = true, file: StaticString = #filePath, line: UInt = #line
  ) throws -> [String] {
    var handle: chat_ctrl?
    _ = take(chat_migrate_init_key(station.alice.prefix, Self.key, 0, "yesUp", isExtension ? 1 : 0, &handle))
    let host = Host(try XCTUnwrap(handle, file: file, line: line), station.alice.prefix)
    defer { host.free() }
    // Its key is dropped with the first push.
    if isExtension { _ = host.push(#"{"aps":{},"notificationData":{"checkMessages":true}}"#) }
    host.send("/_app suspend 0")
    let answer = host.push(push)
    XCTAssertEqual(answer["outcome"].text, "locked", answer.description, file: file, line: line)
    XCTAssertEqual(answer["quiescent"].flag, true, answer.description, file: file, line: line)
    return answer.titles
  }

  // MARK: The gaps

  /// A chat that notifies of mentions keeps its subscription.
  func testINC37AMentionsChatShowsNothingWhileTheStoreIsLocked() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
    XCTAssertEqual(try locked(station, push, isExtension: false), [], "nor does an app in the background")
    try station.carryOut([Self.settings("all")], key: Self.key)
    XCTAssertEqual(try locked(station, push), [Self.title], "it notifies of everything again")
  }

  /// Nor while the relay is out of reach: it is unknown whether the message mentions the user.
  func testINC37AMentionsChatHasNoPlaceholder() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    for isExtension in [true, false] {
      let host = try XCTUnwrap(Host.open(station.alice.prefix, isExtension: isExtension).host)
      let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      transport.install(in: host)
      transport.fail(.get)
      if isExtension { station.alice.free() }
      let answer = host.push(push)
      XCTAssertEqual(answer["outcome"].text, "offline", answer.description)
      XCTAssertEqual(answer.titles, [], answer.description)
      host.free()
    }
  }

  /// The push was on its way when an extension muted its chat; no app starts in between.
  func testINC37WhatAnExtensionMutesIsSilentWithoutAnApp() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    try seal(station)
    XCTAssertEqual(try locked(station, push), [Self.title])
    try station.carryOut([Self.settings("none")], key: Self.key)
    XCTAssertEqual(try locked(station, push), [])
    XCTAssertEqual(try locked(station, push, isExtension: false), [])
  }

  /// The push was on its way when the app muted its chat, and made the relay and the server forget it.
  func testINC37AMutedChatStaysSilentWhenItsSubscriptionIsReleased() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(Self.settings("none")).assert("cmdOk")
    try station.awaitWatched(0)
    station.suspend()
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
  }

  func testINC37AProfileThatIsMutedOrHiddenStaysSilent() throws {
    for command in ["/_mute user 1", #"/_hide user 1 "open sesame""#] {
      let station = try Station()
      station.suspend()
      let push = try station.push(for: "hello")
      station.alice.send("/_app activate").assert("cmdOk")
      station.alice.send(#"/_create user {"profile":{"displayName":"work"}}"#).assert("activeUser")
      station.alice.send(command).assert("userPrivacy")
      station.suspend()
      try seal(station)
      XCTAssertEqual(try locked(station, push), [], command)
    }
  }

  /// The contact is deleted with everything known of its mailbox.
  func testINC37WhatWasMutedAndIsDeletedStaysSilent() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(Self.settings("none")).assert("cmdOk")
    station.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    station.suspend()
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
  }

  // MARK: What has its notice

  func testAPushThatIsAlsoAboutAnotherChatHasItsNotice() throws {
    let (station, friends) = try CallStation.make(["carol"])
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    station.pair.send("from bob", from: station.bob)
    let bobs = try XCTUnwrap(station.allPushes().last)
    friends[0].send("/_send @1 text from carol").assert("newChatItems")
    let both = try XCTUnwrap(station.allPushes().last)
    try seal(station)
    XCTAssertEqual(try locked(station, bobs), [])
    XCTAssertEqual(try locked(station, both), [Self.title])
    // Carol's as well: then the push is about nothing else.
    try station.carryOut([Self.settings("mentions").replacingOccurrences(of: "@1", with: "@2")], key: Self.key)
    XCTAssertEqual(try locked(station, both), [])
  }

  /// From an earlier server.
  func testAPushWithoutTagsHasItsNotice() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    var payload = try XCTUnwrap(
      JSONSerialization.jsonObject(with: Data(push.utf8)) as? [String: [String: any Sendable]])
    XCTAssertNotNil(payload["notificationData"]?.removeValue(forKey: "tags"))
    let without = String(decoding: try JSONSerialization.data(withJSONObject: payload), as: UTF8.self)
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
    XCTAssertEqual(try locked(station, without), [Self.title])
  }

  func testAFileThatCannotBeReadIsNoReasonForSilence() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    try seal(station)
    let file = URL(fileURLWithPath: station.alice.prefix + "_silent")
    let good = try Data(contentsOf: file)
    for contents in [Data(), Data("what is this".utf8), good.dropLast(), Data(count: good.count)] {
      try contents.write(to: file)
      XCTAssertEqual(try locked(station, push), [Self.title])
    }
    try FileManager.default.removeItem(at: file)
    XCTAssertEqual(try locked(station, push), [Self.title])
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    XCTAssertEqual(try locked(station, push), [Self.title])
    try FileManager.default.removeItem(at: file)
    // An app's start repairs it.
    let app = try XCTUnwrap(Host.open(station.alice.prefix, key: Self.key).host)
    app.send("/_start").assert("chatStarted")
    app.free()
    XCTAssertEqual(try Data(contentsOf: file), good)
    XCTAssertEqual(try locked(station, push), [])
  }

  /// The store is the one from before the muting, as after a kill between the file and the commit, or from a backup.
  func testAStoreFromBeforeIsRepairedByTheNextStart() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.free()
    let store = URL(fileURLWithPath: station.alice.prefix + "_chat.db")
    let settling = try Database(path: store.path)
    try settling.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try settling.close()
    let before = try Data(contentsOf: store)
    try station.carryOut([Self.settings("none")])
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
    try before.write(to: store)
    try seal(station)
    XCTAssertEqual(try locked(station, push), [], "it was what the user asked for")
    let app = try XCTUnwrap(Host.open(station.alice.prefix, key: Self.key).host)
    app.send("/_start").assert("chatStarted")
    app.free()
    XCTAssertEqual(try locked(station, push), [Self.title])
  }

  /// Pushes under another token's key have their own tags; those under the old key no longer say anything.
  func testATokenThatIsRegisteredAnewHasItsOwnTags() throws {
    let station = try Station()
    station.suspend()
    let old = try station.push(for: "still under way")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.alice.send("/_ntf delete apns_test \(station.token)").assert("cmdOk")
    try station.awaitWatched(0)
    let token = TextEncoding.hex(SystemRandomness().bytes(32))
    try station.activate(token, of: station.alice)
    try station.awaitWatched(1)
    station.suspend()
    station.pair.send("hello", from: station.bob)
    let push = try station.nextPush(to: token)
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
    XCTAssertEqual(try locked(station, old), [], "it would not open")
  }

  /// The user wants no notifications, and the server has not learned of it.
  func testAPushToATokenThatWasDeletedGivesNoNotice() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "still under way")
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_ntf delete apns_test \(station.token)").assert("cmdOk")
    station.suspend()
    try seal(station)
    XCTAssertEqual(try locked(station, push), [])
  }

  // MARK: Every outcome, and every way to it

  func testEveryOutcomeThatGivesANoticeHeedsIt() throws {
    let ways: [(String, (Station, String) throws -> JSON)] = [
      (
        "stopped",
        { station, push in
          station.alice.send("/_app activate").assert("cmdOk")
          station.alice.send("/_stop").assert("chatStopped")
          return station.alice.push(push)
        }
      ),
      (
        "wrongSchema",
        { station, push in
          let database = try Database(path: station.alice.prefix + "_chat.db")
          try database.setUserVersion(999)
          try database.close()
          return station.alice.push(push)
        }
      ),
      (
        "failed",
        { station, push in
          try Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(
            to: URL(fileURLWithPath: station.alice.prefix + "_chat.db"))
          return station.alice.push(push)
        }
      ),
      (
        "expired",
        { station, push in
          let held = try OpeningLock(
            file: station.alice.prefix + "_chat.db", .exclusive, creates: false, timeout: .zero)
          defer { withExtendedLifetime(held) {} }
          return station.alice.push(push, deadline: 500)
        }
      ),
    ]
    for (outcome, way) in ways {
      for notifications in ["all", "mentions"] {
        let station = try Station()
        station.alice.send(Self.settings(notifications)).assert("cmdOk")
        station.suspend()
        let answer = try way(station, try station.push(for: "hello"))
        XCTAssertEqual(answer["outcome"].text, outcome, answer.description)
        XCTAssertEqual(answer.identifiers, notifications == "all" ? ["np:notice"] : [], "\(outcome): \(answer)")
      }
    }
  }

  /// One push too many is answered without the engine.
  func testAnAnswerWithoutTheEngineHeedsIt() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let answers = (0..<64).map { _ in service.inBackground { $0.push(push, deadline: 30_000).description } }
    awaitThat("all wait") { service.state["pushesWaiting"].number == 63 }
    let refused = service.push(push, deadline: 30_000)
    XCTAssertEqual(refused["reason"].text, "64 pushes are waiting", refused.description)
    XCTAssertEqual(refused.titles, [])
    service.free()
    transport.hang(false)
    for answer in answers { XCTAssertNotNil(answer.wait(atMost: .seconds(20)), "each is answered") }
  }

  private final class StuckTransport: Sendable {
    let state = Monitor((isInside: false, isFree: false))
  }

  /// The engine hangs in the host, which reports that time is up: the push is answered without the engine, and
  /// honestly.
  func testAPushThatEndsWhileTheEngineHangsHasItsNotice() throws {
    let station = try Station()
    for setting in ["all", "mentions"] {
      station.alice.send(Self.settings(setting)).assert("cmdOk")
      station.suspend()
      let push = try station.push(for: "hello")
      let service = try station.makeExtension()
      let stuck = StuckTransport()
      var relay = np_relay()
      relay.size = MemoryLayout<np_relay>.size
      relay.context = Unmanaged.passUnretained(stuck).toOpaque()
      relay.exchange = { _, _, _, _, _, _ in NP_ERROR_SYSTEM }
      relay.resume = { context in
        let stuck = Unmanaged<StuckTransport>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
        stuck.state.signal { $0.isInside = true }
        _ = stuck.state.wait(atMost: .seconds(60)) { $0.isFree ? true : nil }
      }
      XCTAssertEqual(np_set_relay(service.handle, &relay), NP_OK)
      let waiting = service.inBackground { $0.push(push, deadline: 30_000).description }
      XCTAssertNotNil(stuck.state.wait(atMost: .seconds(30)) { $0.isInside ? true : nil })
      XCTAssertEqual(np_expire_push(service.handle), NP_OK)
      let answer = JSON(try XCTUnwrap(waiting.wait(atMost: .seconds(20))))
      XCTAssertEqual(answer["reason"].text, "time was up while the engine was at work", answer.description)
      XCTAssertEqual(answer.titles, setting == "all" ? ["Encrypted message or another app event"] : [])
      stuck.state.signal { $0.isFree = true }
      service.free()
      XCTAssertEqual(
        FileManager.default.fileExists(atPath: station.alice.prefix + "_notice"), setting == "all", "to be withdrawn")
      try? FileManager.default.removeItem(atPath: station.alice.prefix + "_notice")
      station.alice.send("/_app activate").assert("cmdOk")
    }
  }

  /// A host whose store did not open, and which has no controller, makes the query.
  func testAHostWithoutAControllerAsks() throws {
    let station = try Station()
    station.alice.send(Self.settings("mentions")).assert("cmdOk")
    station.suspend()
    let push = try station.push(for: "hello")
    XCTAssertEqual(np_push_is_silent(station.alice.prefix, push), 1)
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send(Self.settings("all")).assert("cmdOk")
    XCTAssertEqual(np_push_is_silent(station.alice.prefix, push), 0)
    for (path, payload) in [
      (nil, push), ("", push), ("/nowhere/at/all", push), (station.alice.prefix, "{"), ("a", nil),
    ] {
      XCTAssertEqual(np_push_is_silent(path, payload), 0)
    }
  }
}
