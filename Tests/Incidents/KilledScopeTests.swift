import Foundation
import PorterCrypto
import PorterJSON
import PorterNight
import PorterPlatform
import PorterProcesses
import PorterPush
import PorterStore
import XCTest

/// A host's own pushes, from `porter-server send` to the host, with processes killed on the way.
final class KilledScopeTests: XCTestCase {
  private struct Service {
    let night: Night
    let key: SigningKeyPair
    let address: ScopeAddress

    /// Alice's app has subscribed the scope `tabs`.
    init(_ night: Night) throws {
      self.night = night
      key = try SigningKeyPair.generate(randomness: SystemRandomness())
      let request: JSONValue = ["name": "tabs", "serviceKey": .string(TextEncoding.base64URL(key.publicKey.bytes))]
      let scope = try night.alice.command("/_ntf scope subscribe \(request.text)", "ntfScope")["scope"]
      address = try XCTUnwrap(scope?["address"]?.stringValue.flatMap { ScopeAddress(parsing: $0) })
      try night.awaitSubscriptions(2)
    }

    func seal(_ command: String) throws -> [UInt8] {
      let expires = WallTime(milliseconds: SystemClock().wall().milliseconds + 86_400_000)
      let envelope = ApplicationEnvelope(
        identifier: SystemRandomness().bytes(16), version: 1, command: command, expires: expires)
      return try XCTUnwrap(envelope).sealed(for: address, signedBy: key, randomness: SystemRandomness())
    }

    /// The exit status of `porter-server send`.
    func submit(_ message: [UInt8], to other: String? = nil) throws -> Int32 {
      let file = night.directory.appendingPathComponent("message")
      try Data(message).write(to: file)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Places.server)
      process.arguments = ["send", "--relay", night.relay, "--to", other ?? "\(address)"]
      process.standardInput = try FileHandle(forReadingFrom: file)
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  private func makeService() throws -> Service {
    let night = try Night()
    addTeardownBlock { night.end() }
    return try Service(night)
  }

  private func commands(_ pushes: JSONValue?) -> [String] {
    (pushes?.arrayValue ?? []).compactMap { $0["envelope"]?["command"]?.stringValue }
  }

  private func commands(_ host: ScriptedHost) throws -> [String] {
    commands(try host.command("/_ntf scope pushes tabs", "ntfScopePushes")["applicationPushes"])
  }

  /// Killed at any point of receiving one: the next extension hands it over, once.
  func testAKilledExtensionHandsEachPushOverOnce() throws {
    let service = try makeService()
    let night = service.night
    try night.suspendAlice()
    for point in ["beforeFetch", "afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge"] {
      XCTAssertEqual(try service.submit(try service.seal(point)), 0)
      let push = try night.nextPush()
      let (answer, ending) = try night.runExtension(push, environment: ["PORTER_HALT_AT": point])
      XCTAssertNil(answer, point)
      XCTAssertEqual(ending, .killed(SIGKILL), point)
      let content = try night.present(push)
      XCTAssertEqual(content["outcome"], "presented", "\(point): \(content.text)")
      XCTAssertEqual(commands(content["applicationPushes"]), [point])
      let again = try night.present(push)
      XCTAssertEqual(again["outcome"], "nothingNew", again.text)
      XCTAssertNil(again["applicationPushes"], point)
    }
    // The app has no event for what was handed over, and lists it until it is settled.
    try night.wakeAlice()
    XCTAssertEqual(try commands(night.alice).count, 5)
    let marker = try service.seal("marker")
    XCTAssertEqual(try service.submit(marker), 0)
    let event = try night.alice.event("applicationPush")["applicationPush"]
    XCTAssertEqual(event?["envelope"]?["command"], "marker", "the first that it heard of")
    try night.alice.command("/_ntf scope settle 1,2,3,4,5,6", "cmdOk")
    XCTAssertEqual(try commands(night.alice), [])
  }

  /// After a kill, the app's next process gets what its host had not taken, and what an extension left.
  func testAKilledAppGetsEachEventOnce() throws {
    let service = try makeService()
    let night = service.night
    func restart(_ environment: [String: String] = [:]) throws -> ScriptedHost {
      let app = try ScriptedHost(store: night.alice.store, environment: environment)
      try app.command("/_start", "chatStarted")
      return app
    }
    func next(_ app: ScriptedHost) throws -> JSONValue? {
      try app.event("applicationPush")["applicationPush"]?["envelope"]?["command"]
    }
    // Committed by an extension that was killed before handing it over.
    try night.suspendAlice()
    night.alice.process.kill()
    XCTAssertEqual(try service.submit(try service.seal("one")), 0)
    let dead = try night.runExtension(try night.nextPush(), environment: ["PORTER_HALT_AT": "afterCommit"])
    XCTAssertEqual(dead.ending, .killed(SIGKILL))
    var app = try restart()
    XCTAssertEqual(try next(app), "one")
    // Offered, but not taken before the app is killed.
    XCTAssertEqual(try service.submit(try service.seal("two")), 0)
    let store = try Database(path: night.alice.store + "_chat.db")
    defer { try? store.close() }
    try awaitThat("it is offered") {
      try store.integer("SELECT count(*) FROM application_pushes WHERE state = 'offered'") == 2
    }
    // Otherwise the next process receives it again, and ends in its commit.
    try night.awaitEmptyRelay()
    app.process.kill()
    app = try restart(["PORTER_HALT_AT": "insideCommit"])
    XCTAssertEqual(try next(app), "two")
    XCTAssertEqual(try service.submit(try service.seal("three")), 0)
    XCTAssertEqual(try app.process.waitForEnd(), .killed(SIGKILL))
    app = try restart()
    defer { app.process.kill() }
    XCTAssertEqual(try next(app), "three")
    XCTAssertEqual(try commands(app), ["one", "two", "three"])
  }

  func testTheProgramRefusesWhatIsNoMessageAndSaysWhenTheScopeIsGone() throws {
    let service = try makeService()
    let message = try service.seal("one")
    XCTAssertEqual(try service.submit(Array(message.dropLast())), 2)
    XCTAssertEqual(try service.submit(message + [0]), 2)
    XCTAssertEqual(try service.submit(message, to: "ntf:AAAA@AAAA"), 2)
    XCTAssertEqual(try service.submit(message), 0)
    XCTAssertEqual(try service.submit(message), 0, "the same again")
    XCTAssertEqual(
      try service.night.alice.event("applicationPush")["applicationPush"]?["envelope"]?["command"], "one")
    try service.night.alice.command("/_ntf scope delete tabs", "cmdOk")
    let gone = try service.seal("two")
    try awaitThat("the relay has deleted the mailbox") { try service.submit(gone) == 6 }
  }
}
