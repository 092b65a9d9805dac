import Foundation
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// INC-07: a relay file's upkeep beyond a request is left to an exchange that may wait. An engine asks in its own turn,
/// in which it has commands to answer and a deadline to meet.
final class RelayUpkeepTests: RelayTestCase {
  private static let filler = 3_000_000

  /// As an extension opens it.
  private func brief(_ datagrams: any Datagrams = SystemDatagrams()) -> EmbeddedRelay {
    EmbeddedRelay(
      path: path, ports: Ports(clock: clock, randomness: randomness, datagrams: datagrams), log: .silent,
      mayCreate: false, isBrief: true)
  }

  private func prompt(_ relay: EmbeddedRelay) -> RelayClient {
    RelayClient(port: ImpatientPort(relay), randomness: randomness)
  }

  private func text(_ client: RelayClient, _ mailbox: Fixture) throws -> String? {
    try client.getMessage(mailbox.recipient, key: mailbox.recipientKey).map { String(decoding: $0.body, as: UTF8.self) }
  }

  private func size(_ suffix: String = "") throws -> Int {
    try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int)
  }

  /// A mailbox with these messages, and nothing open.
  private func filled(_ texts: String...) throws -> Fixture {
    let mailbox = try newMailbox()
    for text in texts { try send(text, to: mailbox) }
    relay.close()
    return mailbox
  }

  /// Another process that has the file open, and does not intend to write its log back.
  private func neighbour() throws -> Database { try Database(path: path, options: .init(logPages: 1_000_000)) }

  private func fillLog(through other: Database) throws {
    try other.execute("CREATE TABLE filler(bytes BLOB)")
    let before = try size("-wal")
    while try size("-wal") < before + Self.filler * 2 {
      try other.execute("INSERT INTO filler VALUES (zeroblob(\(Self.filler / 20)))")
    }
  }

  func testINC07AnEarlierVersionIsBroughtUpToDateByAnExchangeThatMayWait() throws {
    let mailbox = try filled("waits")
    let earlier = try Database(path: path)
    try earlier.execute(
      """
      \(Self.undoSixthVersion)
      DROP TABLE taken_notification; DROP INDEX subscription_listener; ALTER TABLE mailbox DROP COLUMN check_key;
      PRAGMA user_version=3
      """)
    try earlier.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let relay = brief()
    defer { relay.close() }
    assertStorageFails([.busy]) { _ = try text(prompt(relay), mailbox) }
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: path)), before)
    XCTAssertEqual(try text(RelayClient(port: relay, randomness: randomness), mailbox), "waits")
    XCTAssertEqual(try text(prompt(relay), mailbox), "waits")
  }

  func testINC07ALongLogIsWrittenBackByAnExchangeThatMayWait() throws {
    let mailbox = try filled("waits")
    let other = try neighbour()
    try fillLog(through: other)
    let long = try size("-wal")
    let relay = brief()
    assertStorageFails([.busy]) { _ = try text(prompt(relay), mailbox) }
    XCTAssertEqual(try size("-wal"), long)
    XCTAssertEqual(try text(RelayClient(port: relay, randomness: randomness), mailbox), "waits")
    XCTAssertLessThan(try size("-wal"), EmbeddedRelay.longestLog)
    XCTAssertEqual(try text(prompt(relay), mailbox), "waits")
    // It has grown long in the meantime, and nothing waits for it to be written back: the next opening finds it.
    try fillLogAgain(through: other)
    let again = try size("-wal")
    relay.releaseFiles()
    XCTAssertEqual(try size("-wal"), again)
    try other.close()
  }

  /// An app's relay, while another process has the file open.
  func testARelayThatIsClosedWritesALongLogBack() throws {
    let mailbox = try filled("waits")
    let other = try neighbour()
    let relay = another()
    XCTAssertEqual(try text(RelayClient(port: relay, randomness: randomness), mailbox), "waits")
    try fillLog(through: other)
    relay.close()
    XCTAssertEqual(try size("-wal"), 0)
    try other.close()
  }

  private func fillLogAgain(through other: Database) throws {
    try other.execute("DROP TABLE filler")
    try fillLog(through: other)
  }

  /// A commit that finds the log long does not write it back; the next exchange is left to a thread.
  func testINC07ACommitLeavesALongLogToTheNextExchangeThatMayWait() throws {
    let mailbox = try filled("first", "second")
    let relay = brief()
    defer { relay.close() }
    let message = try XCTUnwrap(
      try prompt(relay).getMessage(mailbox.recipient, key: mailbox.recipientKey))
    let other = try neighbour()
    try fillLog(through: other)
    let file = try size()
    let acknowledged = try prompt(relay).acknowledgeAndGet(
      message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    XCTAssertEqual(acknowledged.0, .done)
    XCTAssertEqual(try size(), file, "the log was not written back")
    assertStorageFails([.busy]) { _ = try text(prompt(relay), mailbox) }
    XCTAssertEqual(try text(RelayClient(port: relay, randomness: randomness), mailbox), "second")
    XCTAssertGreaterThan(try size(), file + Self.filler)
    XCTAssertEqual(try text(prompt(relay), mailbox), "second")
    try other.close()
  }

  /// A reader keeps the log from being restarted. One exchange tries, and later ones are as fast as ever.
  func testALogThatCannotBeWrittenBackHoldsUpOneExchange() throws {
    let mailbox = try filled("waits")
    let (other, reader) = (try neighbour(), try neighbour())
    try reader.execute("BEGIN")
    XCTAssertNotNil(try reader.integer("SELECT count(*) FROM message"))
    try fillLog(through: other)
    let relay = brief()
    defer { relay.close() }
    assertStorageFails([.busy]) { _ = try text(prompt(relay), mailbox) }
    XCTAssertEqual(try text(RelayClient(port: relay, randomness: randomness), mailbox), "waits")
    XCTAssertGreaterThan(try size("-wal"), EmbeddedRelay.longestLog)
    for _ in 0..<2 { XCTAssertEqual(try text(prompt(relay), mailbox), "waits") }
    try reader.execute("COMMIT")
    try reader.close()
    try other.close()
  }

  /// Another process has the file when a subscriber turns out to be gone. A later exchange removes it.
  func testASubscriberThatIsGoneIsForgottenWhenTheFileIsFree() throws {
    let mailbox = try newMailbox()
    let subscriber = another()
    _ = try RelayClient(port: subscriber, randomness: randomness)
      .subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)])
    let other = try neighbour()
    let listeners = { try other.integer("SELECT count(*) FROM listener") }
    XCTAssertEqual(try listeners(), 1)
    // Killed: its socket is gone, its name is in the file.
    for name in try FileManager.default.contentsOfDirectory(atPath: path + ".wake") {
      try FileManager.default.removeItem(atPath: path + ".wake/" + name)
    }
    let sockets = GoneSockets()
    let relay = brief(sockets)
    defer { relay.close() }
    sockets.found { try? other.execute("BEGIN IMMEDIATE") }
    try prompt(relay).send(
      [1], to: mailbox.sender, key: mailbox.senderKey, attempt: try newAttempt(), notify: false)
    try other.execute("ROLLBACK")
    XCTAssertEqual(try listeners(), 1, "or the file was free")
    XCTAssertEqual(try text(prompt(relay), mailbox), "\u{1}")
    XCTAssertEqual(try listeners(), 0)
    try other.close()
    subscriber.close()
  }
}

/// The system's sockets, and an action to run when one is found to be gone.
private final class GoneSockets: Datagrams, @unchecked Sendable {
  private let system = SystemDatagrams()
  private var action: () -> Void = {}

  /// Call it before more than one thread uses this object.
  func found(_ action: @escaping () -> Void) { self.action = action }

  func open() throws(SystemError) -> DatagramEnd { try system.open() }
  func close(_ end: DatagramEnd) { system.close(end) }
  func bind(_ end: DatagramEnd, to address: DatagramAddress) throws(SystemError) { try system.bind(end, to: address) }
  func isAbandoned(_ address: DatagramAddress) -> Bool { system.isAbandoned(address) }
  func receive(from end: DatagramEnd, limit: Int) -> [UInt8]? { system.receive(from: end, limit: limit) }

  func send(_ bytes: [UInt8], through end: DatagramEnd, to address: DatagramAddress) -> DatagramOutcome {
    let outcome = system.send(bytes, through: end, to: address)
    if outcome == .gone { action() }
    return outcome
  }
}
