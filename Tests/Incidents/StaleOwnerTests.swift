import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A process is frozen in the middle of its work, and another one continues.
final class StaleOwnerTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// The extension has fetched the message and is frozen before it commits. The app takes the connection over and
  /// commits the message; the store refuses the extension's commit after it wakes.
  func testINC04TheStoreRefusesAStaleCommitAfterTheHandOver() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let frozen = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try frozen.waitUntilStopped()

    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
    frozen.signal(SIGCONT)
    let late = try night.answer(of: frozen)
    XCTAssertEqual(late["outcome"], "yielded", late.text)
    XCTAssertEqual(late["work"], "skipped", "INC-19: \(late.text)")
    XCTAssertEqual(late.bodies, [])
    XCTAssertEqual(late["quiescent"], true)
    let holder = late["holders"]?.arrayValue?.first?.stringValue ?? ""
    XCTAssertTrue(holder.hasPrefix("app \(night.alice.process.identifier)@"), "INC-18: the holder is named: \(holder)")

    // Nothing was used twice: the conversation continues both ways.
    try night.bobSends("again")
    try night.expectAliceHas(["hello", "again"])
    XCTAssertEqual(try night.alice.state["unread"], 2)
  }

  /// The frozen process holds a recorded claim, and no process waits for it. Inside a transaction it holds SQLite's
  /// lock as well, which cannot be taken from it: see below.
  func testINC07AFrozenOwnerIsDisplacedImmediately() throws {
    for point in ["beforeFetch", "afterFetch", "afterCommit", "beforeAcknowledge"] {
      let night = try Night()
      defer { night.end() }
      try night.suspendAlice()
      try night.bobSends("hello")
      let push = try night.nextPush()
      let frozen = try night.startExtension(push, environment: ["PORTER_STOP_AT": point])
      try frozen.waitUntilStopped()
      try night.wakeAlice()
      try night.expectAliceHas(["hello"])
      frozen.signal(SIGCONT)
      let late = try night.answer(of: frozen)
      XCTAssertEqual(late["quiescent"], true, "\(point): \(late.text)")
      try night.expectAliceHas(["hello"])
      XCTAssertEqual(try night.alice.state["unread"], 1, point)
    }
  }

  /// The app is frozen inside a transaction, which a host prevents by suspending it first. Work that needs the lock is
  /// impossible; a push reports this, and the holder, in time, and holds nothing once it has answered.
  func testINC07AnAppFrozenInATransactionDelaysNoPush() throws {
    let flag = NSTemporaryDirectory() + "porter-flag-\(UInt32.random(in: 0 ... .max))"
    defer { unlink(flag) }
    let night = try Night(aliceIn: ["PORTER_STOP_AT": "insideCommit:\(flag)"])
    defer {
      night.alice.process.signal(SIGCONT)
      night.end()
    }
    XCTAssertTrue(FileManager.default.createFile(atPath: flag, contents: nil))
    try night.bobSends("hello")
    try night.alice.process.waitUntilStopped()
    let (held, _) = try ChildProcess.run(
      Places.harness, ["locks", "\(night.alice.process.identifier)", night.alice.store])
    XCTAssertFalse(held.isEmpty, "it is inside")
    let push = try night.nextPush()

    let patient = try ScriptedHost(store: night.alice.store, background: true)
    defer { patient.process.kill() }
    // With time for SQLite's wait, which ends in busy, and without.
    for (deadline, outcome) in [(2_000, "expired"), (25_000, "failed")] {
      let started = Date()
      let answer = try repeating(while: \.isLate, of: patient) {
        try patient.call(
          "np_receive_push $c \(JSONValue(push.text).text) \(deadline)", within: Double(deadline) / 1_000 + 10)
      }
      let seconds = -started.timeIntervalSinceNow
      print("a push of \(deadline) ms beside an app frozen inside a transaction: \(Int(seconds * 1_000)) ms")
      XCTAssertEqual(answer["outcome"]?.stringValue, outcome, answer.text)
      XCTAssertEqual(answer["work"], "skipped", "INC-19: \(answer.text)")
      XCTAssertEqual(answer.bodies, [])
      XCTAssertEqual(answer.placeholders.count, 1, "the user learns that something came: \(answer.text)")
      XCTAssertEqual(answer["quiescent"], true, answer.text)
      let holders = answer["holders"]?.arrayValue?.compactMap(\.stringValue) ?? []
      XCTAssertTrue(
        holders.contains { $0.hasPrefix("app \(night.alice.process.identifier)@") }, "INC-18: \(answer.text)")
      let (lines, ending) = try ChildProcess.run(
        Places.harness, ["locks", "\(patient.process.identifier)", night.alice.store])
      XCTAssertEqual(ending, .exited(0), lines.joined())
    }

    night.alice.process.signal(SIGCONT)
    try night.expectAliceHas(["hello"])
    XCTAssertEqual(try night.alice.state["unread"], 1)
    try night.suspendAlice()
    try night.bobSends("again")
    XCTAssertEqual(try night.present(try night.nextPush()).bodies, ["again"])
  }

  /// The other way round: an extension was frozen inside its transaction, which a platform does only after 30 s. The
  /// app comes to the front, can be suspended, and has the message once after the extension has ended or continued.
  func testINC07AnExtensionFrozenInATransactionDelaysNoApp() throws {
    for isKilled in [true, false] {
      let night = try Night()
      defer { night.end() }
      try night.suspendAlice()
      try night.bobSends("hello")
      let frozen = try night.startExtension(
        try night.nextPush(), environment: ["PORTER_STOP_AT": "insideCommit"])
      try frozen.waitUntilStopped()
      try night.wakeAlice()
      let end = Date(timeIntervalSinceNow: 20)
      while try night.alice.state["busy"]?["doing"] != "in a transaction, or waiting for one",
        end.timeIntervalSinceNow > 0
      {}
      try night.alice.command("/_app suspend 0", "cmdOk")
      XCTAssertEqual(try night.alice.state["quiescent"], true)
      try night.wakeAlice()
      if isKilled {
        frozen.kill()
      } else {
        frozen.signal(SIGCONT)
        XCTAssertEqual(try night.answer(of: frozen)["quiescent"], true)
      }
      try night.expectAliceHas(["hello"])
      XCTAssertEqual(try night.alice.state["unread"], 1)
    }
  }

  /// INC-06: an extension of the same name takes over from a frozen one, which is a different instance.
  func testINC06TwoProcessesOfOneNameAreTwoOwners() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    let frozen = try night.startExtension(push, environment: ["PORTER_STOP_AT": "afterFetch"])
    try frozen.waitUntilStopped()
    let second = try night.present(push)
    XCTAssertEqual(second["outcome"], "presented", second.text)
    XCTAssertEqual(second.bodies, ["hello"])
    frozen.signal(SIGCONT)
    let first = try night.answer(of: frozen)
    XCTAssertEqual(first.bodies, [], "the same name does not make it the owner: \(first.text)")
    XCTAssertEqual(first["outcome"], "yielded", first.text)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
  }

  /// A host that was suspended while the extension worked is notified of what changed since, each thing exactly once.
  func testINC05AThawedOwnerLearnsExactlyWhatChanged() throws {
    let night = try makeNight()
    try night.bobSends("before")
    try night.alice.event("newChatItems")
    try night.remainingPushes()
    try night.suspendAlice()
    try night.bobSends("one")
    XCTAssertEqual(try night.present(try night.nextPush()).bodies, ["one"])
    try night.bobSends("two")
    XCTAssertEqual(try night.present(try night.nextPush()).bodies, ["two"])
    try night.wakeAlice()
    let told = try (0..<2).map { _ in try Self.text(night.alice.event("newChatItems")) }
    XCTAssertEqual(told, ["one", "two"])
    try night.bobSends("three")
    XCTAssertEqual(try Self.text(night.alice.event("newChatItems")), "three", "and nothing twice")
    try night.expectAliceHas(["before", "one", "two", "three"])
  }

  static func text(_ event: JSONValue) throws -> String {
    try XCTUnwrap(
      event["chatItems"]?.arrayValue?.first?["chatItem"]?["content"]?["msgContent"]?["text"]?.stringValue, event.text)
  }
}
