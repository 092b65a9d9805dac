import PorterPlatform
import PorterStore
import XCTest

/// Mailboxes are checked once a day even if nothing indicates a waiting message: a host's transport may have missed it.
final class PollingTests: XCTestCase {
  private func polls(_ alice: Watched) -> Int { alice.transport?.count(.subscribe) ?? 0 }

  func testMailboxesArePolledEachDay() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.waitUntilPolled()
    for _ in 0..<2 {
      let before = polls(alice)
      alice.clock.move(.days(1))
      let now = alice.clock.wall().milliseconds
      try alice.wait("polled") { try alice.lastPoll >= now && polls(alice) > before }
    }
  }

  /// INC-65: the time of a poll is stored once the poll has succeeded. A failed poll is repeated within minutes.
  func testINC65APollThatFailsIsRepeatedSoonAndStoredWhenItSucceeds() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.waitUntilPolled()
    let stored = try alice.lastPoll
    alice.transport?.fail(.subscribe)
    alice.clock.move(.days(1))
    let due = alice.clock.wall().milliseconds
    for attempt in 1...3 {
      let before = polls(alice)
      // The longest pause after a failure.
      alice.clock.move(.seconds(180))
      try alice.wait("attempt \(attempt)") { polls(alice) > before }
      XCTAssertEqual(try alice.lastPoll, stored, "attempt \(attempt) has failed")
    }
    alice.transport?.fail(nil)
    alice.clock.move(.seconds(180))
    try alice.wait("stored after its success") { try alice.lastPoll >= due }
  }

  /// An app that resumes nothing when it is activated polls once a day has passed, whichever process polled last.
  func testTheTimeOfTheLastPollOutlivesSuspensionsAndProcesses() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.waitUntilPolled()
    func activate() {
      alice.send("/_app suspend 0").assert("cmdOk")
      alice.send("/_app activate restore=off").assert("cmdOk")
    }
    let before = polls(alice)
    alice.clock.move(.seconds(80_000))
    activate()
    try alice.waitUntilIdle()
    XCTAssertEqual(polls(alice), before, "not a day yet")
    alice.clock.move(.seconds(6_400))
    try alice.wait("polled when the rest of the day had passed") { polls(alice) > before }
    try alice.wait("stored") { try alice.isPolled }

    // As left by an extension that could not take everything.
    alice.send("/_app suspend 0").assert("cmdOk")
    let later = polls(alice)
    try alice.executeAtHome("DELETE FROM settings WHERE name = 'lastPoll'")
    alice.send("/_app activate restore=off").assert("cmdOk")
    try alice.wait("polled immediately") { polls(alice) > later }
  }

  /// The app has polled in the same hour, and an extension has since made the next poll due: the app's poll is stored.
  func testAPollThatAnExtensionMadeDueIsStored() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    try alice.waitUntilPolled()
    alice.send("/_app suspend 0").assert("cmdOk")
    try alice.executeAtHome("DELETE FROM settings WHERE name = 'lastPoll'")
    alice.send("/_app activate").assert("cmdOk")
    try alice.wait("stored") { try alice.isPolled }
  }

  /// The fetch ends by its own deadline, and the next one takes what is waiting.
  func testARequestForAMessageThatHangsIsGivenUpAndRepeated() throws {
    let alice = try Watched({ _ in }, throughHost: true)
    let bob = try XCTUnwrap(Host.open(alice.folder.file("bob")).host)
    bob.begin("bob", relay: alice.folder.file("relay.db"))
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    alice.transport?.hang(.get)
    bob.send("/connect \(link)").assert("sentConfirmation")
    try alice.wait("asked") { (alice.transport?.count(.get) ?? 0) > 0 }
    alice.clock.move(.seconds(10))
    alice.send("/_check running").assert("chatRunning")
    alice.transport?.hang(nil)
    try alice.wait("connected") {
      alice.clock.move(.milliseconds(100))
      return !alice.events("contactConnected").isEmpty
    }
  }

  /// The extension cannot open the relay's file, and its push ends offline: the app must check.
  func testAnExtensionThatTookNothingMakesAPollDue() throws {
    let station = try Station()
    let store = station.alice.prefix + "_chat.db"
    func isStored() throws -> Bool {
      let database = try Database(path: store)
      defer { try? database.close() }
      return try database.integer("SELECT count(*) FROM settings WHERE name = 'lastPoll'") == 1
    }
    XCTAssertTrue(try isStored())
    station.suspend()
    let push = try station.push(for: "hello")
    let locker = try Database(path: station.pair.folder.file("relay.db"))
    try locker.execute("BEGIN EXCLUSIVE")
    let outcome = try station.makeExtension().push(push, deadline: 2_000)["outcome"].text
    try locker.execute("ROLLBACK")
    try locker.close()
    XCTAssertTrue(["offline", "expired"].contains(outcome), outcome)
    XCTAssertFalse(try isStored())
  }
}

extension Watched {
  /// Until the mailboxes were asked at the start, and the one of the invitation after it.
  fileprivate func waitUntilPolled(file: StaticString = #filePath, line: UInt = #line) throws {
    try wait("asked at the start", file: file, line: line) { try isPolled && transport?.count(.subscribe) ?? 0 > 0 }
    try waitUntilIdle(file: file, line: line)
  }

  fileprivate var isPolled: Bool {
    get throws { try count("SELECT count(*) FROM settings WHERE name = 'lastPoll'", in: "alice_chat.db") == 1 }
  }

  /// In milliseconds; zero while none is stored.
  fileprivate var lastPoll: Int64 {
    get throws { try count("SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'lastPoll'", in: "alice_chat.db") }
  }
}
