import CNightporter
import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// Events are reported to the host once, even if reporting fails at first, and what is held is reported as held.
final class ReportingTests: XCTestCase {
  private func controller(_ host: Host) throws -> Controller { try XCTUnwrap(Handles.find(host.handle)) }

  /// The texts of the messages reported to the host: this many, and any others until it is at rest.
  private func reported(_ host: Host, _ count: Int, file: StaticString = #filePath, line: UInt = #line) -> [String] {
    var texts: [String] = []
    func look() {
      while let event = host.event(within: 0) {
        let result = event["result"]
        guard ["newChatItems", "chatItemUpdated"].contains(result["type"].text) else { continue }
        texts += (result["chatItems"].elements + [result["chatItem"]]).map {
          $0["chatItem"]["content"]["msgContent"]["text"].text
        }.filter { !$0.isEmpty }
      }
    }
    awaitThat("\(count) messages are reported", file: file, line: line) {
      look()
      return texts.count >= count
    }
    awaitRest(of: host, file: file, line: line)
    look()
    return texts
  }

  /// INC-05: other processes have committed messages, and another one holds the lock when the app wants to record that
  /// it shows them. The app reports them as soon as it can.
  func testINC05OthersCommitsAreReportedThoughTheStoreIsBusyAtFirst() throws {
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
    pair.alice.dropEvents()
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    // Waits for the lock, which is not released.
    pair.alice.send("/_app activate").assert("cmdOk")
    try holder.execute("COMMIT")
    XCTAssertEqual(reported(pair.alice, 2), ["one", "two"])
    pair.send("three", from: pair.bob)
    XCTAssertEqual(reported(pair.alice, 1), ["three"], "and nothing twice")
    XCTAssertEqual(try holder.integer("SELECT count(*) FROM ledger WHERE state = 'committed'"), 0)
  }

  /// A message's edit is committed, but cannot be reread at first. Its sender's relay gets the acknowledgement, and the
  /// host gets the event once the edit can be read.
  func testCommitsAreReportedThoughTheyCannotBeReadAtFirst() throws {
    let pair = try Pair()
    let path = pair.folder.file("alice_chat.db")
    pair.send("one", from: pair.bob)
    XCTAssertEqual(reported(pair.alice, 1), ["one"])
    let items = pair.bob.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"]
    let item = items[0]["meta"]["itemId"].number
    let broken = Promise<Bool>()
    let controller = try controller(pair.alice)
    let gate = controller.call { engine -> BreakingGate? in
      guard let other = try? Database(path: path) else { return nil }
      let gate = BreakingGate(engine, other) { broken.fulfil(true) }
      engine.store?.gate = gate
      return gate
    }
    _ = try XCTUnwrap(gate ?? nil)
    pair.bob.send("/_update item @1 \(item) text edited").assert("chatItemUpdated")
    XCTAssertEqual(broken.wait(atMost: .seconds(20)), true)
    // A failed attempt sets its timer again.
    let due = { controller.call(.none) { $0.timers.due(TimerName.reload) } ?? nil }
    var first: Moment?
    awaitThat("the first attempt is due") {
      first = due()
      return first != nil
    }
    awaitThat("an attempt has failed") { due().map { $0 > first ?? $0 } ?? false }
    let other = try Database(path: path)
    try other.execute(BreakingGate.mended)
    XCTAssertEqual(reported(pair.alice, 1), ["edited"])
    pair.send("two", from: pair.bob)
    XCTAssertEqual(reported(pair.alice, 1), ["two"])
    XCTAssertEqual(pair.texts(pair.alice), ["edited", "two"])
  }

  /// Makes the store's messages unreadable as soon as a message is committed.
  private final class BreakingGate: TransactionGate, @unchecked Sendable {
    static let mended = "ALTER TABLE away RENAME TO items"
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
      XCTAssertNoThrow(try other.execute("ALTER TABLE items RENAME TO away"))
      broke()
    }
  }

  /// Without the state at the start, no later commits by others could be reported.
  func testAStoreThatCannotBeReadAtTheStartIsReported() throws {
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
      // The connection does not cache the inner statement.
      try? store.database.query(rows) { _ in
        try? store.database.query(rows) { _ in
          guard result.0.isEmpty else { return }
          result = (engine.lifecycle.closeForHost(), engine.isQuiescent, engine.snapshot.holds.isEmpty)
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

  /// A wait holds nothing once its result can no longer arrive.
  func testQuiescentIsReportedExactlyWhenNothingIsHeld() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let holds = try controller(host).call { engine -> [[Bool]] in
      var states: [[Bool]] = []
      func note() {
        let state = engine.describe()
        states.append([state["quiescent"] == true, state["holds"] == []])
      }
      let randomness = SystemRandomness()
      guard let correlation = try? CorrelationID.generate(randomness: randomness),
        let signing = try? SigningKeyPair.generate(randomness: randomness),
        let box = try? BoxKeyPair.generate(randomness: randomness)
      else { return [] }
      let token = StoredToken(
        provider: "apns_test", deviceToken: [1], server: "", status: "active", mode: "INSTANT", serverTokenID: nil,
        signingKey: signing, boxKey: box.secretKey, pushSecret: nil, verificationCode: nil, replyMailbox: nil)
      engine.tokens.requests.expect(correlation, of: token, within: .seconds(60)) { _ in }
      note()
      engine.lifecycle.suspendNow()
      note()
      engine.tokens.abandonRequests()
      note()
      return states
    }
    XCTAssertEqual(holds, [[false, false], [true, true], [true, true]])
  }

  /// The signal that another process has committed something is lost. The app learns of it when an extension leaves it a
  /// push, and when a mailbox in which something was to wait is empty.
  func testACommitIsReportedThoughItsSignalIsLost() throws {
    let meeting = try Meeting()
    let (alice, relay) = (meeting.alice, meeting.folder.file("relay.db"))
    alice.dropEvents()
    let channel = meeting.folder.file("alice_chat.channel")
    for name in try FileManager.default.contentsOfDirectory(atPath: channel) where name.hasPrefix("a") {
      try FileManager.default.removeItem(atPath: channel + "/" + name)
    }
    var handle: chat_ctrl?
    let answer = take(chat_migrate_init_key(alice.prefix, "", 1, "yesUp", Int32(NP_ROLE_SHARE.rawValue), &handle))
    let share = Host(try XCTUnwrap(handle, answer), alice.prefix)
    meeting.transport.install(in: share)
    XCTAssertEqual(np_set_phase(share.handle, NP_PHASE_ACTIVE), NP_OK)

    share.send("/_send @1 text first").assert("newChatItems")
    XCTAssertNil(alice.event(within: 0.5))
    try controller(alice).turns.enqueue { $0.extensionHasPush() }
    XCTAssertEqual(reported(alice, 1), ["first"])

    share.send("/_send @1 text second").assert("newChatItems")
    meeting.transport.hang(.get)
    meeting.bob.send("/_send @1 text gone").assert("newChatItems")
    let file = try Database(path: relay)
    try awaitThat("it is at the relay") { try file.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") != 0 }
    let asked = meeting.transport.count(.get)
    np_relay_ready(alice.handle)
    awaitThat("the app asks for it") { meeting.transport.count(.get) > asked }
    try file.execute("UPDATE message SET body = NULL")
    try file.close()
    meeting.transport.hang(nil)
    XCTAssertEqual(reported(alice, 1), ["second"])
  }
}
