import Foundation
import PorterPlatform
import PorterPush
import PorterServer
import XCTest

/// A host is notified when its pushes stop working and why, and they are repaired without a request.
final class PushHealthTests: XCTestCase {
  /// The provider refuses the token with each of its reasons, and later accepts it again.
  func testEachRefusalOfTheProviderReachesTheHostAndIsRepaired() throws {
    let alice = try Watched()
    try alice.waitUntilIdle()
    XCTAssertEqual(alice.statuses().last, "ACTIVE")
    for reason in [PushOutcome.Invalid.bad, .topic, .expired, .unregistered] {
      let status = "INVALID,\(reason.rawValue.uppercased())"
      alice.server?.providerAnswers(.invalid(reason))
      try alice.wait(status) {
        // A wake-up is due, which the server checks for whenever it gets a request.
        try alice.execute("UPDATE wake SET due_at = 0")
        return alice.check() == status
      }
      alice.server?.providerAnswers(.accepted)
      let event = try XCTUnwrap(alice.events("ntfTokenStatus").last { $0["status"].text == status }, status)
      XCTAssertEqual(event["reason"].text, "check.invalid.\(reason.rawValue)")

      // The host only has to pass on the verification push.
      alice.clock.move(.days(1))
      alice.send("/_check running")
      try alice.verify(alice.token)
      XCTAssertEqual(alice.check(), "ACTIVE")
      let statuses = alice.statuses()
      XCTAssertEqual(statuses.last, "ACTIVE", "\(statuses)")
      XCTAssertTrue(statuses.contains("REGISTERED"), "\(statuses)")
      let health = alice.state["notifications"]["token"]
      XCTAssertEqual(health["status"].text, "ACTIVE", health.description)
      XCTAssertEqual(health["reason"].text, "check.invalid.\(reason.rawValue)", health.description)
      XCTAssertTrue(health["reasonTs"].exists, health.description)
    }
  }

  /// The server drops a token that was not used for a year; its app comes back.
  func testATokenThatExpiredAtTheServerIsRegisteredAnew() throws {
    let alice = try Watched()
    try alice.waitUntilIdle()
    try alice.expireToken()
    XCTAssertEqual(alice.check(), "EXPIRED")
    XCTAssertEqual(alice.events("ntfTokenStatus").last?["reason"].text, "check.expired")
    alice.clock.move(.seconds(5))
    alice.send("/_check running")
    try alice.verify(alice.token)
    XCTAssertEqual(alice.statuses().suffix(3), ["REGISTERED", "CONFIRMED", "ACTIVE"])
  }

  /// Servers of older versions give no reason.
  func testATokenThatIsRefusedWithoutAReason() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    alice.script?.answers("TCHK", .status(.invalid))
    XCTAssertEqual(alice.check(), "INVALID")
    XCTAssertEqual(alice.statuses().last, "INVALID")
    XCTAssertEqual(alice.state["notifications"]["token"]["reason"].text, "check.invalid.noReason")
  }

  /// The relay gives an answer again from when the token was refused.
  func testAnEarlierAnswerDoesNotChangeTheStatus() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    let script = try XCTUnwrap(alice.script)
    script.answers("TCHK", .status(.invalidBad))
    XCTAssertEqual(alice.check(), "INVALID,BAD")
    script.answers("TCHK", nil)
    alice.clock.move(.days(1))
    alice.send("/_check running")
    let refusal = try XCTUnwrap(script.lastAnswer(to: "TCHK"))
    try alice.registerAtScript()
    XCTAssertEqual(alice.check(), "ACTIVE")
    _ = alice.statuses()
    try script.send(refusal)
    XCTAssertEqual(alice.check(), "ACTIVE")
    XCTAssertEqual(alice.statuses(), [])
  }

  /// While the server's answer is on its way, another process registers a new token.
  func testAnAnswerAboutAnEarlierTokenDoesNotChangeTheStatus() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.registerAtScript()
    _ = (alice.statuses(), alice.script?.takeRequests())
    alice.script?.answers("TCHK", .status(.expired))
    alice.transport?.hang(.get)
    let answered = Promise<String>()
    let command = "/_ntf check apns_test \(alice.token)"
    Thread.detachNewThread { answered.fulfil(alice.send(command).description) }
    try alice.wait("asked") { alice.script?.count("TCHK") == 1 }
    try alice.executeAtHome("UPDATE token SET device_token = x'0102', server_token_id = randomblob(24)")
    alice.transport?.hang(nil)
    XCTAssertEqual(JSON(try XCTUnwrap(answered.wait()))["result"]["status"].text, "ACTIVE")
    XCTAssertEqual(alice.statuses(), [])
  }

  /// It is registered anew at each start, and once a day, as long as the server refuses it.
  func testAnUnusableTokenIsTakenUpAtEachStartAndEachDay() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    alice.script?.answers("TCHK", .status(.invalidBad))
    alice.script?.answers("TNEW", .refusal(.authorization))
    XCTAssertEqual(alice.check(), "INVALID,BAD")
    _ = alice.script?.takeRequests()
    try alice.restart()
    try alice.wait("asked at the start") { alice.script?.count("TNEW") == 1 }
    try alice.waitUntilIdle()
    for day in 2...3 {
      alice.clock.move(.days(1))
      try alice.wait("asked each day") { alice.script?.count("TNEW") == day }
      try alice.waitUntilIdle()
    }
    XCTAssertEqual(alice.script?.count("TCHK"), 0)
    XCTAssertEqual(alice.events("ntfTokenStatus").last?["reason"].text, "register.failedPermanent")
  }

  /// A refused repair is followed by the next after a longer pause, so that a provider that refuses permanently is not
  /// asked all the time.
  func testRepairsBecomeRarer() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    alice.script?.answers("TCHK", .status(.invalidBad))
    alice.clock.stop()
    for pause in [5, 10, 20] as [Int64] {
      XCTAssertEqual(alice.check(), "INVALID,BAD")
      try alice.waitUntilIdle()
      _ = alice.script?.takeRequests()
      alice.clock.move(.milliseconds(pause * 1_000 - 1))
      alice.send("/_check running")
      try alice.waitUntilIdle()
      XCTAssertEqual(alice.script?.takeRequests().contains("TNEW"), false, "before \(pause) s are over")
      alice.clock.move(.milliseconds(1))
      try alice.wait("repaired after \(pause) s") { alice.script?.count("TNEW") == 1 }
      try alice.waitUntilIdle()
    }
  }

  /// Status changes made by an extension or the server while the app slept are reported when it wakes, once.
  func testTheStatusIsReportedAtAStartAndNotAgain() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    XCTAssertEqual(alice.statuses(), ["NEW", "REGISTERED", "ACTIVE"])
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.executeAtHome("UPDATE token SET status = 'registered'")
    alice.script?.answers("TCHK", .silence)
    alice.send("/_app activate").assert("cmdOk")
    var told: [String] = []
    try alice.wait("told") {
      told += alice.statuses()
      return !told.isEmpty
    }
    XCTAssertEqual(told, ["REGISTERED"])
    alice.send("/_app suspend 0").assert("cmdOk")
    alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(alice.statuses(), [])
  }

  /// INC-63: the server is asked about an active token once a day.
  func testAnActiveTokenIsCheckedEachDayINC63() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    _ = alice.script?.takeRequests()
    for day in 1...2 {
      alice.clock.move(.days(1))
      try alice.wait("checked") { alice.script?.count("TCHK") == day }
      try alice.waitUntilIdle()
    }
  }

  func testActivationAsksTheServerAboutTheTokenOnce() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    try alice.wait("subscribed") { try alice.inState("subscription LIKE 'created%'") == 1 }
    for restore in ["", " restore=on"] {
      try alice.waitUntilIdle()
      alice.send("/_app suspend 0").assert("cmdOk")
      _ = alice.script?.takeRequests()
      alice.send("/_app activate" + restore).assert("cmdOk")
      try alice.wait("checked") { try alice.inState("subscription = 'createdActive'") == 1 }
      try alice.waitUntilIdle()
      XCTAssertEqual(alice.script?.takeRequests().filter { $0 == "TCHK" }.count, 1)
    }
  }

  /// The server has no credentials for the provider: the waiting host gets the error, and the event gives the reason.
  func testARefusedRegistrationIsReported() throws {
    let alice = try Watched({ $0.answers("TNEW", .refusal(.noCredentials)) })
    let answer = alice.send("/_ntf register apns_test \(alice.token) INSTANT")
    XCTAssertEqual(answer["error"]["agentError"]["type"].text, "NTF", answer.description)
    let events = alice.events("ntfTokenStatus")
    XCTAssertEqual(events.map { $0["status"].text }, ["NEW", "NEW"])
    XCTAssertEqual(events.last?["reason"].text, "register.failedPermanent")
  }

  /// The server has lost the proof that token and device belong together.
  func testATokenWhoseProofIsLostIsProvenAnew() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    _ = alice.script?.takeRequests()
    alice.script?.answers("TCHK", .status(.confirmed))
    XCTAssertEqual(alice.check(), "REGISTERED")
    XCTAssertEqual(alice.script?.count("TNEW"), 1)
    XCTAssertEqual(alice.events("ntfTokenStatus").last?["reason"].text, "check.unverified")
  }

  /// A replacement is retried when its answer says to try again.
  func testAReplacementIsRepeatedUntilTheServerTakesIt() throws {
    let alice = try Watched({ _ in })
    try alice.registerAtScript()
    alice.script?.answers("TRPL", .refusal(.internal))
    let token = TextEncoding.hex(SystemRandomness().bytes(32))
    XCTAssertTrue(alice.send("/_ntf register apns_test \(token) INSTANT")["error"].exists)
    alice.script?.answers("TRPL", nil)
    alice.clock.move(.seconds(200))
    try alice.wait("replaced") { alice.send("/_ntf get")["result"]["status"].text == "REGISTERED" }
    XCTAssertEqual(alice.send("/_ntf get")["result"]["token"]["token"].text, token)
  }
}

extension Watched {
  /// The status returned by `/_ntf check`.
  func check() -> String { send("/_ntf check apns_test \(token)")["result"]["status"].text }

  func statuses() -> [String] { events("ntfTokenStatus").map { $0["status"].text } }

  /// The scripted server sends no verification push: it reports the token as active.
  func registerAtScript(idle: Bool = true, file: StaticString = #filePath, line: UInt = #line) throws {
    send("/_ntf register apns_test \(token) INSTANT").assert("ntfTokenStatus", file, line)
    XCTAssertEqual(check(), "ACTIVE", file: file, line: line)
    if idle { try waitUntilIdle(file: file, line: line) }
  }
}
