import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// An extension can be killed anywhere. The next process finds a whole store: the message is stored once, and shown.
final class KilledExtensionTests: XCTestCase {
  /// INC-33 and INC-49 end in a kill like this one; INC-10 must not follow from it.
  private func extensionDies(at stage: String, file: StaticString = #filePath, line: UInt = #line) throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("first")
    let push = try night.nextPush()

    let (answer, ending) = try night.runExtension(push, environment: ["PORTER_HALT_AT": stage])
    XCTAssertNil(answer, file: file, line: line)
    XCTAssertEqual(ending, .killed(SIGKILL), file: file, line: line)

    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "presented", content.text, file: file, line: line)
    XCTAssertEqual(content.bodies, ["first"], file: file, line: line)
    XCTAssertEqual(content["badge"], 1, file: file, line: line)

    // The conversation continues: nothing of the ratchet was lost or used twice.
    try night.bobSends("second")
    let next = try night.present(try night.nextPush())
    XCTAssertEqual(next.bodies, ["second"], next.text, file: file, line: line)
    try night.wakeAlice()
    try night.expectAliceHas(["first", "second"], file: file, line: line)
    XCTAssertEqual(try night.alice.state["unread"], 2, file: file, line: line)
  }

  private func applicationComesNext(after stage: String, file: StaticString = #filePath, line: UInt = #line) throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("first")
    let dead = try night.runExtension(try night.nextPush(), environment: ["PORTER_HALT_AT": stage])
    XCTAssertEqual(dead.ending, .killed(SIGKILL), file: file, line: line)
    try night.wakeAlice()
    try night.expectAliceHas(["first"], file: file, line: line)
    XCTAssertEqual(try night.alice.state["unread"], 1, file: file, line: line)
  }

  /// INC-10 with more messages waiting: the answer to an acknowledgement carries the next message, which is lost with
  /// its process and stays at the relay.
  private func extensionDiesWithMoreWaiting(at stage: String, file: StaticString = #filePath, line: UInt = #line) throws
  {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    let texts = ["first", "second", "third"]
    for text in texts { try night.bobSends(text) }
    let push = try XCTUnwrap(try night.allPushes().last)
    let dead = try night.runExtension(push, environment: ["PORTER_HALT_AT": stage])
    XCTAssertEqual(dead.ending, .killed(SIGKILL), stage, file: file, line: line)
    let content = try night.present(push)
    XCTAssertEqual(content.bodies, texts, "\(stage): \(content.text)", file: file, line: line)
    XCTAssertEqual(content["badge"], 3, stage, file: file, line: line)
    try night.wakeAlice()
    try night.expectAliceHas(texts, file: file, line: line)
  }

  func testINC10KilledAnywhereWhileMoreMessagesWait() throws {
    for stage in [
      "beforeFetch", "afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge", "afterAcknowledge",
    ] {
      try extensionDiesWithMoreWaiting(at: stage)
    }
  }

  /// INC-38: what the killed extension committed is shown once, by the app's next round in the background.
  func testINC38KilledAfterItCommittedThenARoundOfTheApplication() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("first")
    let push = try night.nextPush()
    let dead = try night.runExtension(push, environment: ["PORTER_HALT_AT": "afterCommit"])
    XCTAssertEqual(dead.ending, .killed(SIGKILL))
    let round = try night.alice.call("np_background_refresh $c 20000")
    XCTAssertEqual(round.bodies, ["first"], round.text)
    XCTAssertEqual(round["quiescent"], true, round.text)
    XCTAssertEqual(try night.present(push).bodies, [])
    let again = try night.alice.call("np_background_refresh $c 20000")
    XCTAssertEqual(again["outcome"], "nothingNew", again.text)
    try night.wakeAlice()
    try night.expectAliceHas(["first"])
  }

  /// Whatever an extension committed while no app ran, and whatever an app had not read when it was killed, is reported
  /// after the next start, each once (F10).
  func testAnAppKilledWhileItReadsIsToldTheRestOnce() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    night.alice.process.kill()
    for text in ["one", "two", "three"] { try night.bobSends(text) }
    for push in try night.allPushes() { _ = try night.present(push) }

    func restart() throws -> ScriptedHost {
      let app = try ScriptedHost(store: night.alice.store)
      try app.command("/_start", "chatStarted")
      return app
    }
    func next(_ app: ScriptedHost) throws -> String? {
      let item = try app.event("newChatItems")["chatItems"]?.arrayValue?.first?["chatItem"]
      return item?["content"]?["msgContent"]?["text"]?.stringValue
    }
    let killed = try restart()
    XCTAssertEqual(try next(killed), "one")
    killed.process.kill()
    let second = try restart()
    XCTAssertEqual(try next(second), "two")
    XCTAssertEqual(try next(second), "three")
    // Committed by the app itself, and not read when it is killed.
    try night.bobSends("four")
    while try second.state["unread"] != 4 { usleep(5_000) }
    second.process.kill()
    let third = try restart()
    defer { third.process.kill() }
    XCTAssertEqual(try next(third), "four")
    try night.bobSends("five")
    XCTAssertEqual(try next(third), "five")
  }

  /// Two pushes are in progress in one process, which is killed while one of them has a message. The next process has
  /// both, each once.
  func testINC10KilledWithTwoPushesInProgress() throws {
    let night = try Night()
    defer { night.end() }
    var expected: [String] = []
    for stage in ["afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge", "afterAcknowledge"] {
      try night.suspendAlice()
      let texts = ["\(stage) one", "\(stage) two"]
      let pushes = try texts.map { text in
        try night.bobSends(text)
        return try night.nextPush()
      }
      let begins = night.directory.appendingPathComponent("\(stage) begins").path
      let dying = try ScriptedHost(
        store: night.alice.store, background: true,
        environment: [
          "PORTER_WAIT_AT": "beforeFetch:\(begins)", "PORTER_HALT_AT": stage, "PORTER_HALT_WITH_PUSHES": "2",
        ])
      defer { dying.process.kill() }
      // The first one asks the relay only when the second one is there too. Without the second, it would not be killed.
      let push = JSONValue(try XCTUnwrap(pushes.last).text).text
      try dying.call("&first = np_receive_push $c \(push) 30000")
      try awaitThat("it is about to ask") { try dying.state["busy"] != nil }
      try dying.call("&second = np_receive_push $c \(push) 30000")
      try awaitThat("the second one is there") { try dying.state["pushesWaiting"] == 1 }
      XCTAssertNotNil(try dying.state["busy"], "\(stage): the first one still waits")
      XCTAssertTrue(FileManager.default.createFile(atPath: begins, contents: nil))
      XCTAssertEqual(try dying.process.waitForEnd(), .killed(SIGKILL), stage)

      let answers = try pushes.map { try night.present($0) }
      XCTAssertEqual(answers.flatMap(\.bodies).sorted(), texts.sorted(), "\(stage): \(answers.map(\.text))")
      expected += texts
      try night.wakeAlice()
      try night.expectAliceHas(expected)
    }
  }

  func testINC10KilledBeforeItFetches() throws { try extensionDies(at: "beforeFetch") }
  func testINC10KilledAfterItFetched() throws { try extensionDies(at: "afterFetch") }
  func testINC10KilledInsideItsTransaction() throws { try extensionDies(at: "insideCommit") }
  func testINC10KilledAfterItCommitted() throws { try extensionDies(at: "afterCommit") }
  func testINC10KilledBeforeItAcknowledges() throws { try extensionDies(at: "beforeAcknowledge") }
  func testINC10KilledAfterItAcknowledged() throws { try extensionDies(at: "afterAcknowledge") }

  func testINC10KilledBeforeItFetchesThenTheApplication() throws { try applicationComesNext(after: "beforeFetch") }
  func testINC10KilledAfterItFetchedThenTheApplication() throws { try applicationComesNext(after: "afterFetch") }
  func testINC10KilledInsideItsTransactionThenTheApplication() throws {
    try applicationComesNext(after: "insideCommit")
  }
  func testINC10KilledAfterItCommittedThenTheApplication() throws { try applicationComesNext(after: "afterCommit") }
  func testINC10KilledBeforeItAcknowledgesThenTheApplication() throws {
    try applicationComesNext(after: "beforeAcknowledge")
  }
  func testINC10KilledAfterItAcknowledgedThenTheApplication() throws {
    try applicationComesNext(after: "afterAcknowledge")
  }
}
