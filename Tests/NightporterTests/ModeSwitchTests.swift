import Foundation
import PorterPlatform
import PorterPush
import PorterStore
import XCTest

/// The effects of a mode switch when the token is not active, when its transaction fails, and when an answer to an
/// earlier request comes after it.
final class ModeSwitchTests: XCTestCase {
  private func subscribed() throws -> Watched {
    let alice = try Watched()
    try alice.wait("subscribed") { try alice.watched == 1 && alice.inState("subscription LIKE 'created%'") == 1 }
    try alice.waitUntilIdle()
    return alice
  }

  private func newToken() -> String { TextEncoding.hex(SystemRandomness().bytes(32)) }

  private func forgetAtServer(_ alice: Watched) throws {
    alice.stopServer()
    try alice.execute("DELETE FROM subscription; DELETE FROM token")
  }

  /// Waits until neither the relay nor the server has anything left that leads to a push for a message.
  private func awaitUnwatched(_ alice: Watched, file: StaticString = #filePath, line: UInt = #line) throws {
    try alice.wait("released", file: file, line: line) {
      alice.clock.move(.seconds(10))
      return try alice.notifiers == 0 && alice.watched == 0
    }
  }

  // MARK: Without an active token

  func testPeriodicEndsSubscriptionsWhileTheTokenWaitsForItsCode() throws {
    let alice = try subscribed()
    let token = newToken()
    alice.send("/_ntf register apns_test \(token) INSTANT").assert("ntfTokenStatus")
    alice.send("/_ntf register apns_test \(token) PERIODIC").assert("ntfTokenStatus")
    XCTAssertEqual(alice.mode, "PERIODIC")
    try awaitUnwatched(alice)
    try alice.verify(token)
    try alice.waitUntilIdle()
    XCTAssertEqual(alice.mode, "PERIODIC")
    XCTAssertEqual(try alice.notifiers, 0)

    alice.send("/_ntf register apns_test \(token) INSTANT").assert("ntfTokenStatus")
    try alice.wait("subscribed again") { try alice.watched == 1 }
  }

  func testPeriodicEndsSubscriptionsWhileTheTokenAwaitsRepair() throws {
    let alice = try subscribed()
    try alice.expireToken()
    XCTAssertEqual(alice.check(), "EXPIRED")
    alice.send("/_ntf register apns_test \(alice.token) PERIODIC").assert("ntfTokenStatus")
    try alice.wait("released by the relay") { try alice.notifiers == 0 }
  }

  /// A store in which an earlier version left the subscriptions of a mode that was switched off.
  func testASubscriptionThatTheModeDoesNotWantIsReleasedByTheNextStart() throws {
    let alice = try subscribed()
    alice.stop()
    try alice.executeAtHome("UPDATE token SET mode = 'PERIODIC'")
    try alice.start()
    try awaitUnwatched(alice)
  }

  /// A token that awaits repair keeps its subscriptions: the server has them when the token works again.
  func testATokenThatAwaitsRepairKeepsItsSubscriptions() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
    alice.script?.answers("TCHK", .status(.invalidBad))
    alice.script?.answers("TNEW", .refusal(.authorization))
    XCTAssertEqual(alice.check(), "INVALID,BAD")
    try alice.restart()
    try alice.waitUntilIdle()
    XCTAssertEqual(try alice.inState("notifier_key IS NOT NULL AND subscription NOT IN ('turningOff', 'off')"), 1)
    XCTAssertEqual(try alice.notifiers, 1)
  }

  func testOffReleasesSubscriptionsOfATokenThatTheServerForgot() throws {
    let alice = try subscribed()
    try forgetAtServer(alice)
    try alice.startServer()
    alice.send("/_ntf check apns_test \(alice.token)")
    alice.stopServer()
    alice.send("/_ntf delete apns_test \(alice.token)").assert("cmdOk")
    XCTAssertTrue(alice.send("/_ntf get")["error"].exists)
    try alice.wait("released by the relay") { try alice.notifiers == 0 }
  }

  // MARK: A switch that cannot be stored

  private func assertReportsFailure(from: String, to: String) throws {
    let alice = try subscribed()
    if from != "INSTANT" {
      alice.send("/_ntf register apns_test \(alice.token) \(from)").assert("ntfTokenStatus")
      try awaitUnwatched(alice)
      try alice.waitUntilIdle()
    }
    let writer = try Database(path: alice.folder.file("alice_chat.db"))
    try writer.execute("BEGIN IMMEDIATE")
    let answer = alice.send("/_ntf register apns_test \(alice.token) \(to)")
    try writer.execute("ROLLBACK")
    try writer.close()
    XCTAssertTrue(answer["error"].exists, answer.description)
    XCTAssertEqual(alice.mode, from)
    alice.send("/_ntf register apns_test \(alice.token) \(to)").assert("ntfTokenStatus")
    XCTAssertEqual(alice.mode, to)
  }

  func testASwitchToPeriodicThatIsNotStoredIsAnsweredWithTheFailure() throws {
    try assertReportsFailure(from: "INSTANT", to: "PERIODIC")
  }

  func testASwitchToInstantThatIsNotStoredIsAnsweredWithTheFailure() throws {
    try assertReportsFailure(from: "PERIODIC", to: "INSTANT")
  }

  // MARK: An earlier answer

  /// A server that has lost its records answers a check after another registration was stored.
  private func registerDuringACheck(_ token: String, _ mode: String, _ alice: Watched) throws {
    try forgetAtServer(alice)
    let checked = expectation(description: "the check was answered")
    let registered = expectation(description: "the registration was answered")
    Thread.detachNewThread {
      alice.send("/_ntf check apns_test \(alice.token)")
      checked.fulfill()
    }
    awaitThat("the check is under way") {
      alice.state["holds"].elements.contains { $0.text.contains("answers") }
    }
    Thread.detachNewThread {
      alice.send("/_ntf register apns_test \(token) \(mode)")
      registered.fulfill()
    }
    awaitThat("it is stored") { alice.mode == mode && alice.deviceToken == token }
    try alice.startServer()
    wait(for: [checked, registered], timeout: 30)
    try alice.wait("registered anew") { alice.send("/_ntf get")["result"]["status"].text == "REGISTERED" }
  }

  func testACheckThatIsAnsweredAfterASwitchDoesNotUndoIt() throws {
    let alice = try subscribed()
    try registerDuringACheck(alice.token, "PERIODIC", alice)
    XCTAssertEqual(alice.mode, "PERIODIC")
    try awaitUnwatched(alice)
  }

  func testACheckThatIsAnsweredAfterANewDeviceTokenDoesNotUndoIt() throws {
    let alice = try subscribed()
    let token = newToken()
    try registerDuringACheck(token, "INSTANT", alice)
    XCTAssertEqual(alice.deviceToken, token)
    try alice.verify(token)
    try alice.wait("subscribed") { try alice.watched == 1 }
    XCTAssertEqual(try alice.count("SELECT count(*) FROM token", in: "server.db"), 1)
  }
}

extension Watched {
  fileprivate var mode: String { send("/_ntf get")["result"]["ntfMode"].text }
  fileprivate var deviceToken: String { send("/_ntf get")["result"]["token"]["token"].text }
  fileprivate var notifiers: Int64 { get throws { try count("SELECT count(*) FROM notifier", in: "relay.db") } }
}
