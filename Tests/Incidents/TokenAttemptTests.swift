import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// INC-09: an app is interrupted while registering or replacing its token, an extension continues, and the app wakes
/// with its old state.
final class TokenAttemptTests: XCTestCase {
  private let other = (0..<32).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()

  private func makeNight(aliceIn environment: [String: String] = [:]) throws -> Night {
    let night = try Night(aliceIn: environment)
    addTeardownBlock {
      night.thawServer()
      night.end()
    }
    return night
  }

  /// Begins a command that the server does not answer, and interrupts it by suspending.
  private func begin(_ command: String, _ night: Night) throws {
    // Earlier requests: one that is sent after a command's answer, such as the deletion of a token, would be taken
    // below for this command's.
    try awaitState(night.alice) { !Self.awaitsAnswers($0) }
    try night.awaitRequestsSent()
    try awaitRequests(night) { $0 == 0 }
    night.freezeServer()
    try night.alice.call("&cut = chat_send_cmd $c \(JSONValue(command).text)")
    try awaitState(night.alice) { Self.awaitsAnswers($0) }
    // A request counts as awaited before it is sent.
    try awaitRequests(night) { $0 > 0 }
    try night.alice.command("/_app suspend 0", "cmdOk")
    let answer = try night.alice.call("join cut")
    XCTAssertNotNil(answer["error"], "the waiting caller gets an error: \(answer.text)")
    XCTAssertEqual(try night.alice.state["quiescent"], true)
    try night.alice.process.freeze()
    night.thawServer()
  }

  /// Waits until this holds for the number of requests at the relay that the server has not taken.
  private func awaitRequests(_ night: Night, _ holds: (Int64) -> Bool) throws {
    let server = try Database(path: night.directory.appendingPathComponent("server").path)
    let mailbox = try XCTUnwrap(server.rows("SELECT hex(recipient) FROM identity") { $0.text(0) }.first)
    try server.close()
    let relay = try Database(path: night.directory.appendingPathComponent("relay").path)
    defer { try? relay.close() }
    let waiting = """
      SELECT count(*) FROM message JOIN mailbox ON mailbox.number = message.mailbox
      WHERE hex(recipient) = '\(mailbox)' AND body IS NOT NULL
      """
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if let count = try relay.integer(waiting), holds(count) { return }
      usleep(5_000)
    }
    XCTFail("there were never as many requests at the relay")
  }

  private static func awaitsAnswers(_ state: JSONValue) -> Bool {
    state["holds"]?.arrayValue?.contains { $0.stringValue?.contains("answers") ?? false } ?? false
  }

  private func awaitState(_ host: ScriptedHost, _ holds: (JSONValue) -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if holds(try host.state) { return }
      usleep(10_000)
    }
    XCTFail("this state was never reached: \(try host.state.text)")
  }

  /// Everything the store has about the token, and when it was written.
  private func recordedToken(_ night: Night) throws -> [String] {
    let database = try Database(path: night.alice.store + "_chat.db")
    defer { try? database.close() }
    return try database.rows(
      """
      SELECT status || ' ' || updated_at || ' ' || hex(device_token) || hex(server_token_id) || hex(push_secret)
      || hex(reply_sender_id) FROM token
      """
    ) { $0.text(0) }
  }

  private func expectToken(
    _ night: Night, _ status: JSONValue, _ token: String, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let end = Date(timeIntervalSinceNow: 20)
    var last = JSONValue.null
    while end.timeIntervalSinceNow > 0 {
      last = try night.alice.answer("/_ntf get")
      if last["result"]?["status"] == status { break }
      usleep(50_000)
    }
    XCTAssertEqual(last["result"]?["status"], status, last.text, file: file, line: line)
    XCTAssertEqual(last["result"]?["token"]?["token"]?.stringValue, token, last.text, file: file, line: line)
  }

  /// The server knows the token, whatever the app's state says.
  private func expectPush(_ night: Night, to token: String, file: StaticString = #filePath, line: UInt = #line) throws {
    XCTAssertEqual(
      try night.alice.command("/_ntf check apns_test \(token)", "ntfTokenStatus")["status"], "ACTIVE", file: file,
      line: line)
    // The app hands its connection to the server by itself, after the token became active.
    let server = try Database(path: night.directory.appendingPathComponent("server").path)
    defer { try? server.close() }
    let end = Date(timeIntervalSinceNow: 20)
    while try server.integer("SELECT count(*) FROM subscription") != 1, end.timeIntervalSinceNow > 0 { usleep(5_000) }
    try awaitState(night.alice) { !Self.awaitsAnswers($0) }
    try night.suspendAlice()
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush(to: token))
    XCTAssertEqual(content.bodies, ["hello"], content.text, file: file, line: line)
  }

  func testINC09TheExtensionFinishesAnInterruptedRegistration() throws {
    let night = try makeNight()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    let state = try night.alice.state
    XCTAssertFalse(Self.awaitsAnswers(state), "answers about a deleted token are not awaited: \(state.text)")
    try begin("/_ntf register apns_test \(other) INSTANT", night)
    // The app has never seen the server's answer, and therefore lacks the key that opens this push.
    let verification = try night.nextPush(to: other)
    let content = try night.present(verification)
    XCTAssertEqual(content["outcome"], "verified", content.text)
    // When asked again, the server sent the same code again.
    XCTAssertEqual(try night.present(try night.nextPush(to: other))["outcome"], "verified")

    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app activate", "cmdOk")
    try expectToken(night, "ACTIVE", other)
    try expectPush(night, to: other)
  }

  func testINC09TheExtensionFinishesAnInterruptedReplacement() throws {
    let night = try makeNight()
    try begin("/_ntf register apns_test \(other) INSTANT", night)
    // Asked again, the server sends another code: the first push is spent, the second verifies.
    let first = try night.present(try night.nextPush(to: other))
    XCTAssertEqual(first["outcome"], "offline", first.text)
    let second = try night.present(try night.nextPush(to: other))
    XCTAssertEqual(second["outcome"], "verified", second.text)

    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app activate", "cmdOk")
    try expectToken(night, "ACTIVE", other)
    try expectPush(night, to: other)
  }

  /// No other process runs next: the app continues what it began, and not from its earlier state.
  func testINC09TheThawedAppFinishesAnInterruptedReplacement() throws {
    let night = try makeNight()
    try begin("/_ntf register apns_test \(other) INSTANT", night)
    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app activate", "cmdOk")
    try expectToken(night, "REGISTERED", other)
    let verification = try XCTUnwrap(night.allPushes(to: other).last)
    let data = verification["notificationData"]
    let nonce = try XCTUnwrap(data?["nonce"]?.stringValue)
    let code = try XCTUnwrap(data?["verification"]?.stringValue)
    try night.alice.command("/_ntf verify apns_test \(other) \(nonce) \(code)", "cmdOk")
    try expectToken(night, "ACTIVE", other)
    try expectPush(night, to: other)
  }

  /// The incident itself: the app is frozen without notice, holding the server's answer; the extension finishes; the
  /// app wakes with its old state.
  func testINC09AnAppFrozenInARefreshAdoptsWhatTheExtensionDid() throws {
    let flag = FileManager.default.temporaryDirectory.appendingPathComponent(
      "porter-flag-\(UInt32.random(in: 0 ... .max))")
    addTeardownBlock { try? FileManager.default.removeItem(at: flag) }
    let night = try makeNight(aliceIn: ["PORTER_STOP_AT": "afterTokenAnswer:\(flag.path)"])
    for isReplacement in [true, false] {
      let token = isReplacement ? other : night.token
      if !isReplacement { try night.alice.command("/_ntf delete apns_test \(other)", "cmdOk") }
      try awaitState(night.alice) { !Self.awaitsAnswers($0) }
      try night.remainingPushes(to: token)
      try Data().write(to: flag)
      try night.alice.call("&cut = chat_send_cmd $c \(JSONValue("/_ntf register apns_test \(token) INSTANT").text)")
      try night.alice.process.waitUntilStopped()
      var outcomes: [JSONValue] = []
      while outcomes.last != "verified", let push = try? night.nextPush(to: token, within: 15) {
        outcomes.append(try night.present(push)["outcome"] ?? .null)
      }
      XCTAssertEqual(outcomes.last, "verified", "\(outcomes)")

      try night.remainingPushes(to: token)
      night.alice.process.signal(SIGCONT)
      let answer = try night.alice.call("join cut", within: 30)
      XCTAssertNotEqual(answer["result"]?["status"], "REGISTERED", "what it knew is stale: \(answer.text)")
      try expectToken(night, "ACTIVE", token)
      try expectPush(night, to: token)
      try night.wakeAlice()
    }
  }

  /// An extension is frozen while holding the server's answer; another one finishes; the store refuses the first one's
  /// step.
  func testINC09AThawedProcessWithAStaleTokenChangesNothing() throws {
    let night = try makeNight()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    try begin("/_ntf register apns_test \(other) INSTANT", night)
    let verification = try night.nextPush(to: other)
    let frozen = try night.startExtension(verification, environment: ["PORTER_STOP_AT": "afterTokenAnswer"])
    try frozen.waitUntilStopped()
    let content = try night.present(verification)
    XCTAssertEqual(content["outcome"], "verified", content.text)
    let settled = try recordedToken(night)
    frozen.signal(SIGCONT)
    let late = try night.answer(of: frozen)
    XCTAssertEqual(late["quiescent"], true, late.text)
    XCTAssertEqual(try recordedToken(night), settled, "what it was told is stale: \(late.text)")

    night.alice.process.signal(SIGCONT)
    try night.alice.command("/_app activate", "cmdOk")
    try expectToken(night, "ACTIVE", other)
    try night.remainingPushes(to: other)
    try expectPush(night, to: other)
  }
}
