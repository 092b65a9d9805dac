import CNightporter
import Foundation
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// What happened is told to the host once, also when telling it fails at first; and what is held is told as held.
final class TellingTests: XCTestCase {
  private func controller(_ host: Host) throws -> Controller { try XCTUnwrap(Handles.find(host.handle)) }

  /// The texts of the messages that the host is told of, until no event comes for a while.
  private func told(_ host: Host, quiet: Double = 1.5) -> [String] {
    var texts: [String] = []
    while let event = host.event(within: quiet) {
      let items = event["result"]["chatItems"]
      guard event["result"]["type"].text == "newChatItems" else { continue }
      texts += items.elements.map { $0["chatItem"]["content"]["msgContent"]["text"].text }
    }
    return texts
  }

  /// INC-05: others have committed messages, and somebody has the lock when the app wants to put on record that it shows
  /// them. It tells them as soon as that can be done.
  func testINC05WhatOthersCommittedIsToldThoughTheStoreIsBusyAtFirst() throws {
    let pair = try Pair()
    let connection = pair.alice.send("/_contacts 1")["result"]["contacts"][0]["activeConn"]["agentConnId"].text
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    for text in ["one", "two"] { pair.send(text, from: pair.bob) }
    do {
      let other = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
      other.send("/_start main=off snd_files=off").assert("chatStarted")
      let requests = (0..<2).map { _ in "\(connection):1:2026-01-01T00:00:00.000Z" }
      other.send("/_ntf conn messages \(requests.joined(separator: ","))").assert("connNtfMessages")
      other.send("/_app suspend 0").assert("cmdOk")
    }
    _ = told(pair.alice, quiet: 0.3)
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    // Waits for the lock, in vain.
    pair.alice.send("/_app activate").assert("cmdOk")
    try holder.execute("COMMIT")
    XCTAssertEqual(told(pair.alice), ["one", "two"])
    pair.send("three", from: pair.bob)
    XCTAssertEqual(told(pair.alice), ["three"], "and nothing twice")
    XCTAssertEqual(try holder.integer("SELECT count(*) FROM ledger WHERE state = 'committed'"), 0)
  }

  /// The message is committed, and cannot be read again at once. Its sender's relay is told that it arrived, and the host
  /// that it is there, when it can be read.
  func testWhatIsCommittedIsToldThoughItCannotBeReadAtOnce() throws {
    let pair = try Pair()
    let path = pair.folder.file("alice_chat.db")
    let broken = Promise<Bool>()
    let gate = try controller(pair.alice).call { engine -> BreakingGate? in
      guard let other = try? Database(path: path) else { return nil }
      let gate = BreakingGate(engine, other) { broken.fulfil(true) }
      engine.store?.gate = gate
      return gate
    }
    _ = try XCTUnwrap(gate ?? nil)
    pair.send("one", from: pair.bob)
    XCTAssertEqual(broken.wait(atMost: .seconds(20)), true)
    // Longer than it takes to try again.
    usleep(1_200_000)
    let other = try Database(path: path)
    try other.execute(BreakingGate.mended)
    XCTAssertEqual(told(pair.alice), ["one"])
    pair.send("two", from: pair.bob)
    XCTAssertEqual(told(pair.alice), ["two"])
    XCTAssertEqual(pair.texts(pair.alice), ["one", "two"])
  }

  /// Makes the store's profiles unreadable as soon as a message is committed.
  private final class BreakingGate: TransactionGate, @unchecked Sendable {
    static let mended = "ALTER TABLE away RENAME TO users"
    private let engine: Engine
    private let other: Database
    private let broke: () -> Void
    private let before: Int64?
    private var isBroken = false

    init(_ engine: Engine, _ other: Database, broke: @escaping () -> Void) {
      self.engine = engine
      self.other = other
      self.broke = broke
      before = Self.entries(other)
    }

    private static func entries(_ database: Database) -> Int64? {
      try? database.integer("SELECT count(*) FROM ledger")
    }

    func transactionBegins() -> Bool { engine.lifecycle.operations.transactionBegins() }

    /// On the engine's thread, after the commit.
    func transactionEnded() {
      engine.lifecycle.operations.transactionEnded()
      guard !isBroken, Self.entries(other) != before else { return }
      isBroken = true
      XCTAssertNoThrow(try other.execute("ALTER TABLE users RENAME TO away"))
      broke()
    }
  }

  /// Without knowing what is there at the start, nothing that others commit could be told.
  func testAStoreThatCannotBeReadAtTheStartIsTold() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.send("/_create user {\"profile\":{\"displayName\":\"a\",\"fullName\":\"\"}}").assert("activeUser")
    let other = try Database(path: folder.file("a_chat.db"))
    try other.execute("ALTER TABLE ledger RENAME TO away")
    XCTAssertTrue(host.send("/_start")["error"].exists)
    try other.execute("ALTER TABLE away RENAME TO ledger")
    host.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(host.state["machines"]["chat_lifecycle"].text, "active")
    try other.close()
  }

  // MARK: What is held

  /// A store whose files cannot be closed is reported as open, and closed with the next call that needs it closed.
  func testAStoreThatDoesNotCloseIsToldAsHeld() throws {
    let folder = try TemporaryFolder()
    for (name, isStarted, state) in [("a", true, "suspendedStillOpen"), ("b", false, "stillOpen")] {
      let host = try XCTUnwrap(Host.open(folder.file(name)).host)
      try expectAStoreThatDoesNotClose(host, folder, isStarted: isStarted, state)
    }
  }

  private func expectAStoreThatDoesNotClose(
    _ host: Host, _ folder: TemporaryFolder, isStarted: Bool, _ state: String
  ) throws {
    host.send("/_create user {\"profile\":{\"displayName\":\"a\",\"fullName\":\"\"}}").assert("activeUser")
    if isStarted { host.send("/_start").assert("chatStarted") }
    let answer = try controller(host).call { engine -> (String, Bool, Bool) in
      guard let store = engine.store else { return ("no store", true, true) }
      var result = ("", true, true)
      let rows = "SELECT name FROM sqlite_schema"
      // The inner one is no statement that the connection keeps.
      try? store.database.query(rows) { _ in
        try? store.database.query(rows) { _ in
          guard result.0.isEmpty else { return }
          result = (engine.lifecycle.closeForHost(), engine.isQuiescent, engine.posture.holds.isEmpty)
        }
      }
      return result
    }
    XCTAssertEqual(answer?.0, "the store is still in use")
    XCTAssertEqual(answer?.1, false)
    XCTAssertEqual(answer?.2, false)
    XCTAssertEqual(host.state["machines"]["chat_lifecycle"].text, state)
    XCTAssertEqual(host.closeStore(), "")
    XCTAssertTrue(host.state["quiescent"].flag, host.state.description)
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let open = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    XCTAssertEqual(open.filter { $0.hasPrefix(host.prefix) }, [])
    XCTAssertEqual(host.reopenStore(), "")
    host.send(isStarted ? "/_app activate" : "/_start").assert(isStarted ? "cmdOk" : "chatStarted")
    host.send("/u").assert("activeUser")
  }

  /// What is waited for holds nothing once there is nothing that it could come through.
  func testQuiescentIsToldExactlyWhenNothingHolds() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let holds = try controller(host).call { engine -> [[Bool]] in
      var states: [[Bool]] = []
      func note() {
        let state = engine.describe()
        states.append([state["quiescent"] == true, state["holds"] == []])
      }
      guard let correlation = try? CorrelationID.generate(randomness: SystemRandomness()) else { return [] }
      engine.tokens.requests.expect(correlation, within: .seconds(60)) { _ in }
      note()
      engine.lifecycle.suspendNow()
      note()
      engine.tokens.abandonRequests()
      note()
      return states
    }
    XCTAssertEqual(holds, [[false, false], [true, true], [true, true]])
  }
}
