import CSystemCalls
import Foundation
import PorterEngine
import PorterJSON
import PorterPlatform
import XCTest

/// The story of the demo: alice's app and extension on one store, bob's app, the relay and the notification server, all
/// in one thread on a clock and randomness of the simulation.
private struct Story {
  let trace: [String]
  /// What alice's extension showed.
  let notifications: [JSONValue]
  /// The texts in alice's chat at the end.
  let chat: [String]
  let steps: Int
  let elapsed: Span
  let uses: (clock: Int, files: Int)
  /// What was asked of the system beside the ports.
  let systemCalls: String

  init(seed: UInt64) throws {
    let folder = NSTemporaryDirectory() + "porter-simulation-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    system_calls_watch()
    defer { _ = system_calls_end() }
    let house = try SimulatedHouse(seed: seed, folder: folder)
    (notifications, chat) = try Self.play(house)
    try house.end()
    systemCalls = String(cString: system_calls_end())
    trace = house.trace.lines
    (steps, elapsed) = (house.world.steps, house.clock.elapsed)
    uses = (house.clock.count, house.files.count)
  }

  private static func play(_ house: SimulatedHouse) throws -> (notifications: [JSONValue], chat: [String]) {
    let alice = try house.host("alice", store: "alice", .app)
    let bob = try house.host("bob", store: "bob", .app)
    for host in [alice, bob] {
      try host.send(#"/_create user {"profile":{"displayName":"\#(host.name)","fullName":""}}"#, "activeUser")
      try host.send(#"/_network {"relay":"\#(house.relayPath)","ntfServer":"\#(house.serverLink)"}"#, "cmdOk")
      try host.send("/_start", "chatStarted")
    }
    try connect(alice, bob)
    try activate(house.newToken(), of: alice, house)
    try alice.send("/_app suspend 5000000", "cmdOk")
    try alice.event("chatSuspended")
    try alice.closeStore()
    guard try alice.state()["quiescent"] == true else { throw SimulationFailure("alice holds something") }

    let notifications = try present("hello", from: bob, house)
    try alice.reopenStore()
    try alice.send("/_app activate", "cmdOk")
    house.pass(.seconds(2))
    let chat = try alice.send("/_get chat @1 count=100", "apiChat")["chat"]?["chatItems"]?.arrayValue ?? []
    try leaveToTheApp("again", alice, bob, house)
    // Hours of timers.
    house.pass(.seconds(3 * 3_600))
    for host in [alice, bob] { host.end() }
    return (notifications, chat.compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue })
  }

  /// Bob writes while alice's app is at work, so that her extension has nothing to show.
  private static func leaveToTheApp(
    _ text: String, _ alice: SimulatedHost, _ bob: SimulatedHost, _ house: SimulatedHouse
  ) throws {
    let answers = try present(text, from: bob, house)
    guard answers.isEmpty else { throw SimulationFailure("shown beside the app") }
    try alice.event("newChatItems")
  }

  private static func connect(_ alice: SimulatedHost, _ bob: SimulatedHost) throws {
    let invitation = try alice.send("/_connect 1", "invitation")
    let link = invitation["connLinkInvitation"]?["connFullLink"]?.stringValue ?? ""
    try bob.send("/connect \(link)", "sentConfirmation")
    try bob.event("contactConnected")
    try alice.event("contactConnected")
  }

  private static func activate(_ token: String, of alice: SimulatedHost, _ house: SimulatedHouse) throws {
    try alice.send("/_ntf register apns_test \(token) INSTANT", "ntfTokenStatus")
    let data = try JSONValue(parsing: try house.nextPush())["notificationData"]
    let (nonce, code) = (data?["nonce"]?.stringValue ?? "", data?["verification"]?.stringValue ?? "")
    try alice.send("/_ntf verify apns_test \(token) \(nonce) \(code)", "cmdOk")
    let status = try alice.send("/_ntf check apns_test \(token)", "ntfTokenStatus")["status"]
    guard status == "ACTIVE" else { throw SimulationFailure("the token is not active") }
  }

  /// Bob writes while alice's app sleeps, and her extension handles the push.
  private static func present(
    _ text: String, from bob: SimulatedHost, _ house: SimulatedHouse
  ) throws -> [JSONValue] {
    try bob.send(
      #"/_send @1 live=off json [{"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}]"#, "newChatItems")
    let payload = try house.nextPush()
    let notifier = try house.host("notifier", store: "alice", .extension)
    let answer = try notifier.push(payload)
    guard answer["quiescent"] == true else { throw SimulationFailure("the extension holds something: \(answer.text)") }
    notifier.end()
    return answer["notifications"]?.arrayValue ?? []
  }
}

final class StoryTests: XCTestCase {
  func testTheStoryHoldsForManySeeds() throws {
    for seed in UInt64(1)...6 {
      let story = try Story(seed: seed)
      XCTAssertEqual(story.notifications.map { $0["body"] }, ["hello"], "seed \(seed)")
      XCTAssertEqual(story.chat, ["hello"], "seed \(seed)")
    }
  }

  func testTheSameSeedGivesTheSameTraceByteForByte() throws {
    let (first, second) = (try Story(seed: 7), try Story(seed: 7))
    for (index, (left, right)) in zip(first.trace, second.trace).enumerated() where left != right {
      let before = first.trace[max(0, index - 5)..<index].joined(separator: "\n")
      return XCTFail("line \(index + 1) differs, after\n\(before)\n1: \(left)\n2: \(right)")
    }
    XCTAssertEqual(first.trace.count, second.trace.count)
    XCTAssertEqual(first.steps, second.steps)
    XCTAssertEqual(first.elapsed, second.elapsed)
    // A trace without these would prove little.
    for words in [
      "alice debug chat_lifecycle", "alice debug operations", "alice debug token_status", "alice debug subscription",
      "notifier debug chat_lifecycle", "notifier notification", "bob debug chat_lifecycle", "server info push",
      "alice debug channel", "notifier debug channel",
      "server push",
    ] {
      XCTAssertTrue(first.trace.contains { $0.contains(" \(words)") }, "no line of \(words)")
    }
  }

  func testAnotherSeedGivesAnotherTrace() throws {
    XCTAssertNotEqual(try Story(seed: 1).trace, try Story(seed: 2).trace)
  }

  /// Rule 7: neither the system's clocks nor its randomness are consulted, nothing sleeps, and nothing waits.
  func testNothingGoesPastThePorts() throws {
    let story = try Story(seed: 3)
    XCTAssertEqual(story.systemCalls, "")
    XCTAssertGreaterThan(story.uses.clock, 1_000)
    XCTAssertGreaterThan(story.uses.files, 20)
  }

  #if os(Linux)
    /// The watch sees what goes past.
    func testWhatGoesPastThePortsIsSeen() {
      system_calls_watch()
      _ = SystemClock().now()
      SystemClock().pause(.microseconds(1))
      _ = SystemRandomness().bytes(8)
      let found = String(cString: system_calls_end()).split(separator: " ")
      XCTAssertTrue(found.contains("clock_gettime"), "\(found)")
      XCTAssertTrue(found.contains { $0.hasSuffix("nanosleep") }, "\(found)")
      XCTAssertTrue(found.contains { $0 == "getrandom" || $0 == "getentropy" }, "\(found)")
    }
  #endif
}
