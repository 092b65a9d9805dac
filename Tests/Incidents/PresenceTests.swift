import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// Which processes are running, as seen by others: the kernel reports which are alive, and a live process reports
/// whether it is awake.
final class PresenceTests: XCTestCase {
  private func makeNight(aliceIn environment: [String: String] = [:]) throws -> Night {
    let night = try Night(aliceIn: environment)
    addTeardownBlock { night.end() }
    return night
  }

  /// An extension process that is kept for many pushes.
  private func keptExtension(_ night: Night) throws -> ScriptedHost {
    let host = try ScriptedHost(store: night.alice.store, background: true)
    addTeardownBlock { host.process.kill() }
    return host
  }

  private func push(_ payload: JSONValue, to host: ScriptedHost) throws -> JSONValue {
    try host.call("np_receive_push $c \(JSONValue(payload.text).text) 20000", within: 30)
  }

  /// Each of the two sees the other as a process.
  func testINC11RunningProcessesAreVisibleToOthers() throws {
    let night = try makeNight()
    let kept = try keptExtension(night)
    let app = try XCTUnwrap(kept.state["presence"])
    XCTAssertEqual(app["role"], "app")
    XCTAssertEqual(app["working"], true, app.text)
    XCTAssertEqual(app["process"]?.integerValue, Int64(night.alice.process.identifier))
    XCTAssertEqual(try night.alice.state["presence"]?["working"], false)

    try night.suspendAlice()
    XCTAssertEqual(try kept.state["presence"]?["working"], false, "suspended is not at work")
    try night.bobSends("hello")
    let busy = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try busy.waitUntilStopped()
    let seen = try XCTUnwrap(night.alice.state["presence"])
    XCTAssertEqual(seen["role"], "extension")
    XCTAssertEqual(seen["working"], true, seen.text)
    XCTAssertEqual(seen["process"]?.integerValue, Int64(busy.identifier))
    busy.kill()
    XCTAssertEqual(try night.alice.state["presence"]?["working"], false, "gone with its process")
  }

  /// A system starts the next extension before the last one has ended. The app sees one running until there is none,
  /// and is never given a process that has ended.
  func testExtensionsAreVisibleUntilTheLastOneEnds() throws {
    let night = try makeNight()
    try night.suspendAlice()
    func stoppedExtension(_ text: String) throws -> ChildProcess {
      try night.bobSends(text)
      let process = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
      try process.waitUntilStopped()
      return process
    }
    let (first, second) = (try stoppedExtension("one"), try stoppedExtension("two"))
    first.kill()
    let seen = try XCTUnwrap(night.alice.state["presence"])
    XCTAssertEqual(seen["working"], true, seen.text)
    XCTAssertEqual(seen["process"]?.integerValue, Int64(second.identifier), seen.text)
    second.kill()
    XCTAssertEqual(try night.alice.state["presence"]?["working"], false)
    try night.wakeAlice()
    try night.expectAliceHas(["one", "two"])
  }

  /// The app is killed without notice. The same extension process yields to it before, works afterwards, and yields
  /// again to the next app.
  func testINC12AReusedExtensionStopsYieldingToADeadApp() throws {
    let night = try makeNight()
    let kept = try keptExtension(night)
    try night.suspendAlice()
    try night.bobSends("one")
    let push = try night.nextPush()
    try night.wakeAlice()
    let first = try self.push(push, to: kept)
    XCTAssertEqual(first["outcome"], "yielded", first.text)
    XCTAssertEqual(first["work"], "skipped")
    let holder = first["holders"]?.arrayValue?.first?.stringValue ?? ""
    XCTAssertTrue(holder.hasPrefix("app \(night.alice.process.identifier)@"), "INC-18: \(first.text)")
    try night.expectAliceHas(["one"])

    night.alice.process.kill()
    try night.bobSends("two")
    let second = try self.push(try night.nextPush(), to: kept)
    XCTAssertEqual(second["outcome"], "presented", second.text)
    XCTAssertEqual(second.bodies, ["two"])

    let again = try ScriptedHost(store: night.alice.store)
    defer { again.process.kill() }
    try again.command("/_start", "chatStarted")
    let third = try self.push(push, to: kept)
    XCTAssertEqual(third["outcome"], "yielded", "a new app is given way to: \(third.text)")
  }

  /// The extension is killed while it works; the app does not wait for it, and nothing reports it as busy.
  func testINC17ADeadExtensionDelaysNoProcess() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let dying = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try dying.waitUntilStopped()
    dying.kill()
    XCTAssertEqual(try night.alice.state["presence"]?["working"], false)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
    let left = try channelNames(night)
    XCTAssertEqual(left.filter { $0.hasPrefix("a") }.count, 1, "the app's own end: \(left)")
  }

  private func channelNames(_ night: Night) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: night.alice.store + "_chat.channel")
  }

  /// The app is frozen without notice, running and holding its lock. It is asked, does not answer, and the extension
  /// works; thawed, the app is immediately notified of what is new, and continues.
  func testINC07AFrozenRunningAppDoesNotDelayTheExtension() throws {
    let night = try makeNight()
    night.freezeAlice()
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["hello"])
    night.alice.process.signal(SIGCONT)
    XCTAssertEqual(try StaleOwnerTests.text(night.alice.event("newChatItems")), "hello")
    try night.bobSends("again")
    XCTAssertEqual(try StaleOwnerTests.text(night.alice.event("newChatItems")), "again", "each once")
    try night.expectAliceHas(["hello", "again"])
  }

  private func expectPresence(_ state: JSONValue, of host: ScriptedHost, line: UInt = #line) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while try host.state["machines"]?["presence"] != state, end.timeIntervalSinceNow > 0 { usleep(5_000) }
    XCTAssertEqual(try host.state["machines"]?["presence"], state, line: line)
  }

  /// INC-11: what an extension knows about the app does not outlast the app's own announcement. An app that had ended,
  /// or was frozen and silent, comes to the front: it is seen as running without being asked.
  func testINC11AnAppThatComesBackIsSeenWithoutAQuestion() throws {
    let night = try makeNight()
    let kept = try keptExtension(night)
    try night.suspendAlice()
    try night.bobSends("one")
    XCTAssertEqual(try push(try night.nextPush(), to: kept)["outcome"], "presented")
    try expectPresence("gone", of: kept)
    // It listens from now on.
    try kept.command("/_app activate", "cmdOk")
    try night.wakeAlice()
    try expectPresence("alive", of: kept)

    try night.awaitRest(of: night.alice)
    night.freezeAlice()
    try night.bobSends("two")
    let content = try push(try night.nextPush(), to: kept)
    XCTAssertEqual(content["outcome"], "presented", content.text)
    try expectPresence("silent", of: kept)
    try kept.command("/_app activate", "cmdOk")
    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app suspend 0", "cmdOk")
    try night.alice.command("/_app activate", "cmdOk")
    try expectPresence("alive", of: kept)
    try night.expectAliceHas(["one", "two"])
  }

  /// The host closes the store while a frozen app is being asked: the push ends, nothing is opened again, and the next
  /// push shows the message.
  func testINC07ClosingTheStoreWhileTheAppIsAskedStaysQuiescent() throws {
    let night = try makeNight()
    let kept = try keptExtension(night)
    night.freezeAlice()
    try night.bobSends("hello")
    let payload = try night.nextPush()
    try kept.call("&push = np_receive_push $c \(JSONValue(payload.text).text) 20000")
    // If the machine is so slow that the question is over before it is seen, the push has shown the message itself.
    let end = Date(timeIntervalSinceNow: 1)
    while try kept.state["machines"]?["presence"] != "asking", end.timeIntervalSinceNow > 0 {}
    XCTAssertEqual(try kept.call("chat_close_store $c"), "")
    let first = try kept.call("join push", within: 25)
    XCTAssertEqual(try kept.state["quiescent"], true, first.text)
    XCTAssertTrue(["yielded", "presented"].contains(first["outcome"]?.stringValue), first.text)
    let second = try push(payload, to: kept)
    XCTAssertEqual(first.bodies + second.bodies, ["hello"], "\(first.text) \(second.text)")
    night.alice.process.signal(SIGCONT)
    try night.expectAliceHas(["hello"])
  }

  /// The app is frozen between fetching a message and committing it; the extension shows the message; the thawed app's
  /// commit is refused by the store, and it reloads and has the message once.
  func testINC05AnAppFrozenInMidWorkReloadsWhenThawed() throws {
    let flag = FileManager.default.temporaryDirectory.appendingPathComponent(
      "porter-flag-\(UInt32.random(in: 0 ... .max))")
    addTeardownBlock { try? FileManager.default.removeItem(at: flag) }
    let night = try makeNight(aliceIn: ["PORTER_STOP_AT": "afterFetch:\(flag.path)"])
    try Data().write(to: flag)
    try night.bobSends("hello")
    try night.alice.process.waitUntilStopped()
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["hello"])
    night.alice.process.signal(SIGCONT)
    XCTAssertEqual(try StaleOwnerTests.text(night.alice.event("newChatItems")), "hello")
    try night.bobSends("again")
    XCTAssertEqual(try StaleOwnerTests.text(night.alice.event("newChatItems")), "again")
    try night.expectAliceHas(["hello", "again"])
    XCTAssertEqual(try night.alice.state["unread"], 2)
  }

  /// A second app process on the store changes nothing and learns which process has it; after a kill it may start.
  func testINC16ASecondAppLearnsWhichProcessHasTheStore() throws {
    let night = try makeNight()
    let second = try ScriptedHost(store: night.alice.store)
    defer { second.process.kill() }
    let refused = try second.answer("/_start")
    XCTAssertEqual(refused["error"]?["np"]?["code"], "ownedElsewhere", refused.text)
    let holder = refused["error"]?["np"]?["holder"]?.stringValue ?? ""
    XCTAssertTrue(holder.contains("\(night.alice.process.identifier)@"), "INC-18: \(refused.text)")
    try night.bobSends("hello")
    try night.expectAliceHas(["hello"])
    night.alice.process.kill()
    try second.command("/_start", "chatStarted")
  }

  /// Clocks that are an hour apart, either way: which process yields or owns, and what is shown, stay the same.
  func testINC14AStepOfTheClockChangesNothing() throws {
    for step in ["3600000", "-3600000"] {
      let night = try Night()
      defer { night.end() }
      let clock = ["PORTER_WALL_STEP": step]
      try night.suspendAlice()
      try night.bobSends("one")
      let push = try night.nextPush()
      let (first, ending) = try night.runExtension(push, environment: clock)
      XCTAssertEqual(ending, .exited(0))
      XCTAssertEqual(first?.bodies, ["one"], "\(step): \(first?.text ?? "")")
      XCTAssertEqual(try night.present(push).bodies, [], "\(step): recorded entries are recognised under any clock")

      try night.bobSends("two")
      let frozen = try night.startExtension(
        try night.nextPush(), environment: clock.merging(["PORTER_STOP_AT": "afterFetch"]) { $1 })
      try frozen.waitUntilStopped()
      try night.wakeAlice()
      try night.expectAliceHas(["one", "two"])
      frozen.signal(SIGCONT)
      XCTAssertEqual(try night.answer(of: frozen)["outcome"], "yielded", step)
      let (late, _) = try night.runExtension(push, environment: clock)
      XCTAssertEqual(late?["outcome"], "yielded", "\(step): the app is at work by any clock: \(late?.text ?? "")")
      try night.bobSends("three")
      try night.expectAliceHas(["one", "two", "three"])
    }
  }
}
