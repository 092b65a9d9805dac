import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A process may be killed at any moment of a call: while the invitation is received, while the user's answer is stored
/// or carried out, and while any part of it is sent. Each thing happens once.
final class KilledCallTests: XCTestCase {
  private let audio = #"{"media":"audio","capabilities":{"encryption":false}}"#
  private let offer =
    #"{"callType":{"media":"audio","capabilities":{"encryption":false}},"rtcSession":{"rtcSession":"o","rtcIceCandidates":"c"}}"#

  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  private func start(
    _ store: String, background: Bool = false, dyingAt point: String? = nil
  ) throws -> ScriptedHost {
    let environment = point.map { ["PORTER_HALT_AT": $0] } ?? [:]
    let host = try ScriptedHost(store: store, background: background, environment: environment)
    addTeardownBlock { host.process.kill() }
    return host
  }

  /// The app of this store, which picks up what the last one left.
  private func restart(_ store: String) throws -> ScriptedHost {
    let host = try start(store)
    try host.command("/_start", "chatStarted")
    return host
  }

  private func expectDeath(
    of host: ScriptedHost, _ call: () throws -> Void, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    // It may die before or after it has answered.
    try? call()
    XCTAssertEqual(try host.process.waitForEnd(), .killed(SIGKILL), file: file, line: line)
  }

  /// The calls in the chat, oldest first.
  private func calls(_ host: ScriptedHost, contact: Int64) throws -> [String] {
    let chat = try host.command("/_get chat @\(contact) count=100", "apiChat")["chat"]?["chatItems"]?.arrayValue ?? []
    return chat.compactMap { $0["content"] }.filter { $0["type"]?.stringValue?.hasSuffix("Call") == true }
      .map { "\($0["type"]?.stringValue ?? "") \($0["status"]?.stringValue ?? "")" }
  }

  private func waitingCalls(_ host: ScriptedHost) throws -> Int? {
    try host.command("/_call get", "callInvitations")["callInvitations"]?.arrayValue?.count
  }

  /// The number of events of this type before the next message, which `sender` writes now.
  private func count(
    _ type: String, of host: ScriptedHost, untilWrittenBy sender: ScriptedHost, _ contact: Int64
  ) throws -> Int {
    try events(of: host, untilWrittenBy: sender, contact).filter { $0["type"]?.stringValue == type }.count
  }

  /// The events before that message.
  private func events(
    of host: ScriptedHost, untilWrittenBy sender: ScriptedHost, _ contact: Int64
  ) throws -> [JSONValue] {
    try sender.command("/_send @\(contact) text that was all", "newChatItems")
    var events: [JSONValue] = []
    while let event = try host.call("chat_recv_msg_wait $c 15000000")["result"] {
      let text = event["chatItems"]?.arrayValue?.first?["chatItem"]?["content"]?["msgContent"]?["text"]
      if text?.stringValue == "that was all" { return events }
      events.append(event)
    }
    throw ProcessFailure("the message does not come")
  }

  private static let receiving = ["beforeFetch", "afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge"]

  // MARK: The invitation is received

  func testAnExtensionKilledWithACallRingsOnce() throws {
    let night = try makeNight()
    try night.suspendAlice()
    for (index, point) in Self.receiving.enumerated() {
      try night.bob.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk")
      let push = try night.nextPush()
      let (answer, ending) = try night.runExtension(push, environment: ["PORTER_HALT_AT": point])
      XCTAssertNil(answer, point)
      XCTAssertEqual(ending, .killed(SIGKILL), point)
      let shown = try night.present(push)
      let earlier = index == 0 ? [] : ["Missed call"]
      XCTAssertEqual(shown.bodies, earlier + ["Incoming audio call"], "\(point): \(shown.text)")
      XCTAssertEqual(shown["badge"]?.integerValue, Int64(index + 1), point)
      let again = try night.present(push)
      XCTAssertEqual(again.bodies, [], "\(point): \(again.text)")
    }
    try night.wakeAlice()
    XCTAssertEqual(try count("callInvitation", of: night.alice, untilWrittenBy: night.bob, night.bobContact), 1)
    XCTAssertEqual(
      try calls(night.alice, contact: night.aliceContact),
      [String](repeating: "rcvCall missed", count: Self.receiving.count - 1) + ["rcvCall pending"])
    XCTAssertEqual(try waitingCalls(night.alice), 1)
  }

  func testAnAppKilledWithACallRingsOnce() throws {
    let night = try makeNight()
    night.alice.process.kill()
    for (index, point) in Self.receiving.enumerated() {
      try night.bob.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk")
      let dying = try start(night.alice.store, dyingAt: point)
      try expectDeath(of: dying) { try dying.command("/_start", "chatStarted") }
      let app = try restart(night.alice.store)
      XCTAssertEqual(try count("callInvitation", of: app, untilWrittenBy: night.bob, night.bobContact), 1, point)
      let there = try calls(app, contact: night.aliceContact)
      XCTAssertEqual(there.count, index + 1, "\(point): \(there)")
      XCTAssertEqual(there.last, "rcvCall pending", point)
      XCTAssertEqual(try waitingCalls(app), 1, point)
      app.process.kill()
    }
  }

  // MARK: The user answers

  /// The answer reaches an extension, which is killed, and then an app, which is killed wherever it carries the answer
  /// out.
  private func answered(
    _ action: String, _ night: Night, points: [String] = ["responseBegun", "insideResponse", "responseEnded"],
    line: UInt = #line
  ) throws -> ScriptedHost {
    try night.suspendAlice()
    try night.bob.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk")
    let shown = try XCTUnwrap(try night.present(try night.nextPush())["notifications"]?.arrayValue?.first)
    night.alice.process.kill()
    let response = JSONValue.compact([
      "actionIdentifier": .string(action), "identifier": shown["identifier"], "userInfo": shown["userInfo"],
    ])
    let respond = "np_notification_response $c \(JSONValue(response.text).text)"
    let dying = try start(night.alice.store, background: true, dyingAt: "responseKept")
    try expectDeath(of: dying) { _ = try dying.call(respond) }
    let service = try start(night.alice.store, background: true)
    let again = try service.call(respond)
    XCTAssertEqual(again["result"]?["outcome"], "waiting", again.text, line: line)
    XCTAssertEqual(again["result"]?["repeated"], true, again.text, line: line)
    service.process.kill()
    for point in points {
      let dying = try start(night.alice.store, dyingAt: point)
      try expectDeath(of: dying, { try dying.command("/_start", "chatStarted") }, line: line)
    }
    let app = try restart(night.alice.store)
    let events = try self.events(of: app, untilWrittenBy: night.bob, night.bobContact)
    let responses = events.filter { $0["type"] == "ntfResponse" }
    XCTAssertEqual(responses.compactMap { $0["outcome"]?.stringValue }, ["applied"], "\(responses)", line: line)
    // A call that the user has answered does not ring in the app's host.
    XCTAssertFalse(events.contains { $0["type"] == "callInvitation" }, "\(events)", line: line)
    return app
  }

  func testARejectionOfKilledProcessesIsAppliedOnce() throws {
    let night = try makeNight()
    let app = try answered("NTF_ACT_REJECT_CALL", night)
    XCTAssertEqual(try calls(app, contact: night.aliceContact), ["rcvCall rejected"])
    XCTAssertEqual(try waitingCalls(app), 0)
    // The caller is not notified of it.
    XCTAssertEqual(try count("callEnded", of: night.bob, untilWrittenBy: app, night.aliceContact), 0)
  }

  /// The app is killed after carrying out the rejection; then the contact calls again.
  func testTheCallAfterARejectionOfKilledProcessesRingsOnce() throws {
    let night = try makeNight()
    let app = try answered("NTF_ACT_REJECT_CALL", night, points: ["responseEnded"])
    app.process.kill()
    try night.bob.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk")
    try awaitThat("the relay has the invitation") {
      let chat = try night.bob.command("/_get chat @\(night.bobContact) count=1", "apiChat")
      return chat["chat"]?["chatItems"]?.arrayValue?.last?["meta"]?["itemStatus"]?["type"] == "sndSent"
    }
    var bodies: [String] = []
    for push in try night.allPushes() { bodies += try night.present(push).bodies }
    XCTAssertTrue(bodies.contains("Incoming audio call"), "\(bodies)")
    let next = try restart(night.alice.store)
    XCTAssertEqual(try count("callInvitation", of: next, untilWrittenBy: night.bob, night.bobContact), 1)
    XCTAssertEqual(try calls(next, contact: night.aliceContact), ["rcvCall rejected", "rcvCall pending"])
  }

  /// Accepted from the notification; then the app is killed around sending its offer, and the caller around receiving
  /// it.
  func testAnAcceptanceOfKilledProcessesIsAppliedAndSentOnce() throws {
    let night = try makeNight()
    let accepting = try answered("NTF_ACT_ACCEPT_CALL", night)
    XCTAssertEqual(try calls(accepting, contact: night.aliceContact), ["rcvCall pending"])
    XCTAssertEqual(try waitingCalls(accepting), 1)
    try night.awaitRest(of: accepting)
    accepting.process.kill()

    night.bob.process.kill()
    let before = try start(night.alice.store, dyingAt: "beforeSend")
    try before.command("/_start", "chatStarted")
    try expectDeath(of: before) { try before.command("/_call offer @\(night.aliceContact) \(offer)", "cmdOk") }
    let after = try start(night.alice.store, dyingAt: "afterSend")
    try expectDeath(of: after) { try after.command("/_start", "chatStarted") }
    let app = try restart(night.alice.store)

    for point in ["insideCommit", "afterCommit"] {
      let dying = try start(night.bob.store, dyingAt: point)
      try expectDeath(of: dying) { try dying.command("/_start", "chatStarted") }
    }
    let bob = try restart(night.bob.store)
    XCTAssertEqual(try count("callOffer", of: bob, untilWrittenBy: app, night.aliceContact), 1)
    XCTAssertEqual(try calls(bob, contact: night.bobContact), ["sndCall accepted"])
    XCTAssertEqual(try calls(app, contact: night.aliceContact), ["rcvCall accepted"])
  }

  // MARK: The invitation is sent

  func testAnInvitationOfAKilledCallerIsSentOnce() throws {
    let night = try makeNight()
    try night.awaitRest(of: night.bob)
    night.bob.process.kill()
    let before = try start(night.bob.store, dyingAt: "beforeSend")
    try before.command("/_start", "chatStarted")
    try expectDeath(of: before) { try before.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk") }
    let after = try start(night.bob.store, dyingAt: "afterSend")
    try expectDeath(of: after) { try after.command("/_start", "chatStarted") }
    let bob = try restart(night.bob.store)
    XCTAssertEqual(try count("callInvitation", of: night.alice, untilWrittenBy: bob, night.bobContact), 1)
    XCTAssertEqual(try calls(night.alice, contact: night.aliceContact), ["rcvCall pending"])
    XCTAssertEqual(try calls(bob, contact: night.bobContact), ["sndCall pending"])
  }
}
