import CNightporter
import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// INC-01: after a suspension the kernel lists no file and no lock of the store for this process, whatever the process
/// did before.
final class ReleasingTests: XCTestCase {
  private func expectNothingIsHeld(of host: Host, _ what: String, line: UInt = #line) throws {
    XCTAssertTrue(host.state["quiescent"].flag, "\(what): \(host.state)", line: line)
    XCTAssertEqual(try Held(of: host.prefix), .nothing, what, line: line)
  }

  private func expectAnOpenStore(of host: Host, _ what: String, line: UInt = #line) throws {
    let held = try Held(of: host.prefix)
    XCTAssertTrue(held.locks.contains { $0.hasPrefix("READ") }, "\(what): \(held)", line: line)
  }

  /// A folder with the store of a user whose app has ended.
  private func makeStore(in folder: TemporaryFolder) throws -> String {
    let app = try XCTUnwrap(Host.open(folder.file("a")).host)
    app.begin("alice", relay: folder.file("relay.db"))
    app.free()
    return app.prefix
  }

  /// An extension's store is open from the beginning; there has been no push and no start.
  func testINC01AnExtensionThatWasNeverStartedReleasesItsStore() throws {
    let folder = try TemporaryFolder()
    let prefix = try makeStore(in: folder)
    for command in ["/_app suspend 500000", "/_app suspend 0", "/_stop"] {
      let notifier = try XCTUnwrap(Host.open(prefix, isExtension: true).host)
      try expectAnOpenStore(of: notifier, command)
      XCTAssertEqual(notifier.state["machines"]["extension_phase"].text, "created")
      let answer = notifier.send(command)
      XCTAssertTrue(answer["result"].exists, answer.description)
      if command == "/_app suspend 500000" { notifier.event("chatSuspended") }
      try expectNothingIsHeld(of: notifier, command)

      // Reopened, it must not stay open either.
      XCTAssertEqual(notifier.closeStore(), "")
      XCTAssertEqual(notifier.state["machines"]["extension_phase"].text, "suspended", command)
      XCTAssertEqual(notifier.reopenStore(), "")
      try expectAnOpenStore(of: notifier, "reopened after \(command)")
      XCTAssertTrue(notifier.send(command)["result"].exists)
      if command == "/_app suspend 500000" { notifier.event("chatSuspended") }
      try expectNothingIsHeld(of: notifier, "\(command) again")
    }
  }

  /// The same holds for an app: `suspend` in `opened`.
  func testINC01AnAppThatWasNeverStartedReleasesItsStore() throws {
    let folder = try TemporaryFolder()
    let prefix = try makeStore(in: folder)
    for command in ["/_app suspend 500000", "/_app suspend 0"] {
      let app = try XCTUnwrap(Host.open(prefix).host)
      XCTAssertEqual(app.state["machines"]["chat_lifecycle"].text, "opened")
      try expectAnOpenStore(of: app, command)
      app.send(command).assert("cmdOk")
      if command == "/_app suspend 500000" { app.event("chatSuspended") }
      try expectNothingIsHeld(of: app, command)
      XCTAssertEqual(app.state["machines"]["chat_lifecycle"].text, "closed")
    }
  }

  /// Also the store of a stopped chat, which is open for its host.
  func testINC01AStoppedAppReleasesItsStore() throws {
    let folder = try TemporaryFolder()
    let app = try XCTUnwrap(Host.open(folder.file("a")).host)
    app.begin("alice", relay: folder.file("relay.db"))
    app.send("/_stop").assert("chatStopped")
    app.send("/u").assert("activeUser")
    app.send("/_app suspend 500000").assert("cmdOk")
    app.event("chatSuspended")
    try expectNothingIsHeld(of: app, "stopped")
    XCTAssertEqual(app.state["machines"]["app_phase"].text, "stopped", "the user's word stays")
  }

  /// The phase that other processes read once a suspension with a delay has ended.
  func testAfterASuspensionWithADelayThePhaseFileSaysSuspended() throws {
    let pair = try Pair()
    let file = PhaseFile(prefix: pair.alice.prefix, role: "app")
    XCTAssertEqual(file.published()?.phase, "active")
    pair.alice.send("/_app suspend 3000000").assert("cmdOk")
    pair.alice.event("chatSuspended")
    // Answered by the engine after the step that ended the suspension.
    XCTAssertEqual(pair.alice.state["machines"]["app_phase"].text, "suspended")
    XCTAssertEqual(file.published()?.phase, "suspended")
    XCTAssertFalse(file.isHeldElsewhere())
  }

  /// The system withdraws the background time it had granted.
  func testINC01SuspendingABackgroundRefreshReleasesEverything() throws {
    let pair = try Pair()
    let file = PhaseFile(prefix: pair.alice.prefix, role: "app")
    for command in ["/_app suspend 3000000", "/_app suspend 0"] {
      pair.alice.send("/_app suspend 0").assert("cmdOk")
      XCTAssertEqual(np_set_phase(pair.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
      XCTAssertEqual(pair.alice.state["machines"]["app_phase"].text, "bgRefresh")
      try expectAnOpenStore(of: pair.alice, command)
      XCTAssertEqual(file.published()?.phase, "bgRefresh")
      pair.alice.send(command).assert("cmdOk")
      if command == "/_app suspend 3000000" { pair.alice.event("chatSuspended") }
      try expectNothingIsHeld(of: pair.alice, command)
      XCTAssertEqual(pair.alice.state["machines"]["app_phase"].text, "suspended", command)
      XCTAssertEqual(file.published()?.phase, "suspended", command)
      XCTAssertFalse(file.isHeldElsewhere(), command)
    }
  }
}
