import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// An app in the background is frozen or killed before it was suspended: its store is open, and no network work is
/// under way.
final class BackgroundProcessTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock {
      night.alice.process.signal(SIGCONT)
      night.end()
    }
    return night
  }

  /// Alice's app leaves the screen with a message to send waiting in its store.
  private func leaveScreen(_ night: Night, toSend text: String) throws {
    try night.awaitRest(of: night.alice)
    try night.alice.command("/_app phase background", "cmdOk")
    try awaitThat("the network is at rest") {
      try night.alice.state["machines"]?["operations"] == "networkStopped"
    }
    let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
    try night.alice.command("/_send @\(night.aliceContact) live=off json \(message.text)", "newChatItems")
    XCTAssertEqual(try night.alice.state["operations"]?["sending"], 0)
  }

  private func bobHas(_ night: Night) throws -> [String] {
    let chat = try night.bob.command("/_get chat @\(night.bobContact) count=100", "apiChat")
    return (chat["chat"]?["chatItems"]?.arrayValue ?? []).filter { $0["chatDir"]?["type"] == "directRcv" }
      .compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
  }

  private func expectBobHas(_ texts: [String], _ night: Night, line: UInt = #line) throws {
    try awaitThat("bob has them", line: line) { try bobHas(night).count >= texts.count }
    try night.awaitRest(of: night.bob, line: line)
    XCTAssertEqual(try bobHas(night), texts, line: line)
  }

  /// Whether the kernel lists a lock or an open file of alice's store.
  private func holdsSomething(_ night: Night) throws -> Bool {
    try ChildProcess.run(Places.harness, ["locks", "\(night.alice.process.identifier)", night.alice.store]).ending
      != .exited(0)
  }

  /// A frozen app in the background keeps its store open, so a host must suspend it first; but it delays no extension,
  /// is not asked, and continues where it was. Its pending message is sent once, by the extension or by the app when it
  /// is active again.
  func testAnAppThatIsFrozenInTheBackgroundDelaysNoProcess() throws {
    let night = try makeNight()
    try leaveScreen(night, toSend: "from the background")
    night.freezeAlice()
    XCTAssertTrue(try holdsSomething(night), "the background is no suspension")
    XCTAssertEqual(try bobHas(night), [], "it has not left")

    try night.bobSends("hello")
    let push = try night.nextPush()
    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["hello"])
    let asked = content["trace"]?.arrayValue?.contains { $0["event"] == "app.running" }
    XCTAssertEqual(asked, false, "the app's lock is free: \(content.text)")

    night.alice.process.signal(SIGCONT)
    XCTAssertEqual(try night.aliceHas(), ["hello"], "its store is open still")
    try night.alice.command("/_app suspend 0", "cmdOk")
    try night.alice.process.freeze()
    XCTAssertFalse(try holdsSomething(night), "suspended it may be frozen")
    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app activate", "cmdOk")
    try night.expectAliceHas(["hello"])
    try expectBobHas(["from the background"], night)
    XCTAssertEqual(try night.present(push).bodies, [], "shown once")
  }

  /// Killed there, it leaves a whole store: the next process, of either role, sends the waiting message once.
  func testAnAppThatIsKilledInTheBackgroundLosesNothing() throws {
    let night = try makeNight()
    try leaveScreen(night, toSend: "from the background")
    night.alice.process.kill()
    try night.bobSends("hello")
    XCTAssertEqual(try night.present(try night.nextPush()).bodies, ["hello"])

    let again = try ScriptedHost(store: night.alice.store)
    defer { again.process.kill() }
    try again.command("/_start", "chatStarted")
    try expectBobHas(["from the background"], night)
    try night.bobSends("again")
    for expected in ["hello", "again"] {
      let item = try again.event("newChatItems")["chatItems"]?.arrayValue?.first?["chatItem"]
      XCTAssertEqual(item?["content"]?["msgContent"]?["text"]?.stringValue, expected)
    }
  }
}
