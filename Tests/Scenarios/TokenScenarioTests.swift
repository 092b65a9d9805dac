import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A device's token through deletion, interruption and refusal, with a real notification server.
final class TokenScenarioTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  private func register(_ night: Night) throws -> JSONValue {
    try night.alice.command("/_ntf register apns_test \(night.token) INSTANT", "ntfTokenStatus")
  }

  /// A new registration has another mailbox for the server's answers, which must be watched as well.
  func testTokenCanBeDeletedAndRegisteredAgainInOneRun() throws {
    let night = try makeNight()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    XCTAssertEqual(try register(night)["status"], "REGISTERED")
  }

  /// INC-68: the intent is stored, and the next activation resumes it.
  func testINC68AnUnansweredRegistrationIsResumed() throws {
    let night = try makeNight()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    night.stopServer(byKilling: false)
    let answer = try night.alice.answer("/_ntf register apns_test \(night.token) INSTANT")
    XCTAssertNotNil(answer["error"], answer.text)
    try night.suspendAlice()
    try night.startServerAgain()
    try night.wakeAlice()
    try expectToken(night.alice, "REGISTERED")
  }

  /// INC-42: the server refuses the code that an extension sends. The extension leaves the keys to the app, which
  /// repairs them when it returns.
  func testINC42AnExtensionWithARefusedCodeLeavesTheTokenToTheApp() throws {
    let night = try makeNight()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    XCTAssertEqual(try register(night)["status"], "REGISTERED")
    let verification = try night.nextPush()
    try night.suspendAlice()
    let kept = try storeFile(night)
    try night.wakeAlice()
    try night.alice.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    try night.suspendAlice()
    try awaitThat("the server has forgotten it") { try night.count("token", in: "server") == 0 }
    // As from a backup: the device knows a token that the server has forgotten.
    try kept.write(to: URL(fileURLWithPath: night.alice.store + "_chat.db"))
    let content = try night.present(verification)
    XCTAssertEqual(content["outcome"], "offline", content.text)
    let reader = try ScriptedHost(store: night.alice.store, background: true)
    XCTAssertEqual(try reader.state["machines"]?["token_status"], "confirmed")
    reader.process.kill()
    try night.wakeAlice()
    try expectToken(night.alice, "REGISTERED")
  }

  private func storeFile(_ night: Night) throws -> Data {
    let path = night.alice.store + "_chat.db"
    XCTAssertFalse(
      FileManager.default.fileExists(atPath: path + "-wal"), "an app's store is one file when it is closed")
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private func expectToken(_ host: ScriptedHost, _ status: JSONValue) throws {
    try awaitThat("the token is \(status.text)") { try host.answer("/_ntf get")["result"]?["status"] == status }
  }
}
