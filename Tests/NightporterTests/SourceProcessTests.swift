import Foundation
import PorterEngine
import PorterInbox
import PorterProcesses
import PorterStore
import XCTest

/// Processes are killed and frozen while they take messages from a source other than a relay. Whatever they leave
/// behind, the next process has each message once, and it is shown once: none of that depends on mailboxes.
final class SourceProcessTests: XCTestCase {
  private let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
  private var folder: TemporaryFolder?
  private var prefix = ""
  private var inbox = Inbox()

  /// A store with one contact, which no process has open.
  override func setUpWithError() throws {
    let pair = try Pair()
    (folder, prefix) = (pair.folder, pair.alice.prefix)
    inbox = Inbox(file: pair.folder.file("inbox"))
    pair.alice.free()
    pair.bob.free()
  }

  override func tearDown() { folder = nil }

  // MARK: Processes

  private func start(_ role: String, _ environment: [String: String] = [:]) throws -> ChildProcess {
    let program = Places.products.appendingPathComponent("inbox-test-peer").path
    return try ChildProcess(
      program, [role, prefix, try XCTUnwrap(inbox.file)], environment: environment,
      log: URL(fileURLWithPath: try XCTUnwrap(folder).file("peer.log")))
  }

  private func answer(of process: ChildProcess, to line: String? = nil) throws -> JSON {
    if let line { try process.send(line) }
    return JSON(try process.line(within: 60))
  }

  /// A started app, which takes waiting messages by itself.
  private func startApp(_ environment: [String: String] = [:]) throws -> ChildProcess {
    let app = try start("app", environment)
    try app.send("/_start")
    return app
  }

  /// The answer of an extension started for this push alone, which ends quiescent.
  private func present(file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    let process = try start("extension")
    let answer = try answer(of: process, to: wake)
    XCTAssertTrue(answer["quiescent"].flag, answer.description, file: file, line: line)
    XCTAssertEqual(try process.end(within: 60), .exited(0), file: file, line: line)
    return answer
  }

  private func store() throws -> Database { try Database(path: prefix + "_chat.db") }

  /// Each of these texts is in the store once, with one ledger entry; the source has dropped them.
  private func expect(_ texts: [String], file: StaticString = #filePath, line: UInt = #line) throws {
    let store = try store()
    defer { try? store.close() }
    for text in texts {
      let count = try store.integer("SELECT count(*) FROM items WHERE instr(content, '\"\(text)\"') > 0")
      XCTAssertEqual(count, 1, text, file: file, line: line)
    }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM items"), Int64(texts.count), file: file, line: line)
    XCTAssertEqual(
      try store.integer("SELECT count(*) FROM ledger WHERE item_id IS NOT NULL"), Int64(texts.count), file: file,
      line: line)
    XCTAssertEqual(inbox.waiting, [], file: file, line: line)
  }

  /// Waits until the app has taken everything waiting, up to the acknowledgement.
  private func awaitEmptyInbox() { awaitThat("the inbox is empty") { inbox.waiting.isEmpty } }

  // MARK: Killed

  private static let points = ["beforeFetch", "afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge"]

  func testINC10AnExtensionKilledAnywhereLosesAndRepeatsNothing() throws {
    var all: [String] = []
    for point in Self.points {
      inbox.put(point, "text of \(point)")
      all.append("text of \(point)")
      let dying = try start("extension", ["PORTER_HALT_AT": point])
      try dying.send(wake)
      XCTAssertEqual(try dying.waitForEnd(within: 60), .killed(SIGKILL), point)
      let answer = try present()
      XCTAssertEqual(answer["outcome"].text, "presented", "\(point): \(answer)")
      XCTAssertEqual(answer.bodies, ["text of \(point)"], point)
      XCTAssertEqual(answer["badge"].number, all.count, point)
      XCTAssertEqual(try present().bodies, [], "\(point): shown once")
      try expect(all)
    }
  }

  func testINC10TheAppComesAfterAKilledExtension() throws {
    var all: [String] = []
    for point in Self.points {
      inbox.put(point, "text of \(point)")
      all.append("text of \(point)")
      let dying = try start("extension", ["PORTER_HALT_AT": point])
      try dying.send(wake)
      XCTAssertEqual(try dying.waitForEnd(within: 60), .killed(SIGKILL), point)
      let app = try startApp()
      try answer(of: app).assert("chatStarted")
      awaitEmptyInbox()
      XCTAssertEqual(try app.end(within: 60), .exited(0), point)
      try expect(all)
    }
  }

  func testINC10TheExtensionComesAfterAKilledApp() throws {
    var all: [String] = []
    for point in Self.points {
      inbox.put(point, "text of \(point)")
      all.append("text of \(point)")
      XCTAssertEqual(try startApp(["PORTER_HALT_AT": point]).waitForEnd(within: 60), .killed(SIGKILL), point)
      // The app has itself shown what it committed.
      let isCommitted = ["afterCommit", "beforeAcknowledge"].contains(point)
      XCTAssertEqual(try present().bodies, isCommitted ? [] : ["text of \(point)"], point)
      try expect(all)
    }
  }

  // MARK: Frozen

  /// The environment of a process that freezes at this point, once.
  private func stopping(at point: String) throws -> [String: String] {
    let flag = try XCTUnwrap(folder).file("flag")
    try Data().write(to: URL(fileURLWithPath: flag))
    return ["PORTER_STOP_AT": "\(point):\(flag)"]
  }

  /// INC-04: the app takes the message in the meantime. When the extension continues, it commits nothing of its own.
  func testINC04AFrozenExtensionThatGoesOnRepeatsNothing() throws {
    var all: [String] = []
    for point in ["beforeFetch", "afterFetch", "afterCommit", "beforeAcknowledge"] {
      inbox.put(point, "text of \(point)")
      all.append("text of \(point)")
      let frozen = try start("extension", try stopping(at: point))
      try frozen.send(wake)
      try frozen.waitUntilStopped(within: 60)
      let app = try startApp()
      try answer(of: app).assert("chatStarted")
      awaitEmptyInbox()
      XCTAssertEqual(try app.end(within: 60), .exited(0), point)
      frozen.signal(SIGCONT)
      let late = try answer(of: frozen)
      XCTAssertTrue(late["quiescent"].flag, "\(point): \(late)")
      if point == "afterFetch" { XCTAssertEqual(late["outcome"].text, "yielded", "\(point): \(late)") }
      XCTAssertEqual(try frozen.end(within: 60), .exited(0), point)
      try expect(all)
      XCTAssertEqual(try present().bodies, [], "\(point): shown once, by the app or the extension")
    }
  }

  /// INC-07: no process waits for a frozen app, which finds out that it was overtaken.
  func testINC07AnAppFrozenInAFetchIsOvertaken() throws {
    var all: [String] = []
    for point in ["beforeFetch", "afterFetch"] {
      inbox.put(point, "text of \(point)")
      all.append("text of \(point)")
      let app = try startApp(try stopping(at: point))
      try app.waitUntilStopped(within: 60)
      XCTAssertEqual(try present().bodies, ["text of \(point)"], point)
      app.signal(SIGCONT)
      try answer(of: app).assert("chatStarted")
      XCTAssertEqual(try app.end(within: 60), .exited(0), point)
      try expect(all)
    }
  }
}
