import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

final class RelayFileTests: RelayTestCase {
  /// INC-01: an extension opens the relay for one request, and closes it when it releases its files.
  func testALogOfOneWriteAnOpeningStaysShort() throws {
    let stop = StopSignal(clock: clock)
    var longest = 0
    for _ in 0..<150 {
      let relay = EmbeddedRelay(
        path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent, stop: stop)
      _ = try RelayClient(port: relay, randomness: randomness).createMailbox(recipientKey: newKey())
      stop.withReleaseBudget(.milliseconds(50)) { relay.close() }
      let status = try FileManager.default.attributesOfItem(atPath: path + "-wal")
      longest = max(longest, status[.size] as? Int ?? 0)
    }
    XCTAssertGreaterThan(longest, EmbeddedRelay.longestLog / 2, "or too little was written")
    XCTAssertLessThanOrEqual(longest, EmbeddedRelay.longestLog)
  }

  func testFileThatIsNotADatabase() throws {
    let garbage = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try garbage.write(to: URL(fileURLWithPath: path))
    let key = try newKey()
    for _ in 0..<2 { assertStorageFails([.notADatabase]) { try client.createMailbox(recipientKey: key) } }
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: path)), garbage)
  }

  func testDatabaseOfSomethingElseAndOfAnotherVersion() throws {
    let key = try newKey()
    let foreign = try Database(path: path)
    try foreign.execute("CREATE TABLE theirs(x); PRAGMA user_version=1")
    try foreign.close()
    assertStorageFails([.schema]) { try client.createMailbox(recipientKey: key) }
    let check = try Database(path: path)
    XCTAssertEqual(try check.rows("SELECT name FROM sqlite_master") { $0.text(0) }, ["theirs"])
    try check.close()

    let newer = directory + "/newer.db"
    let port = EmbeddedRelay(path: newer, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    _ = try RelayClient(port: port, randomness: randomness).createMailbox(recipientKey: key)
    port.close()
    let later = try Database(path: newer)
    try later.setUserVersion(1_000)
    try later.close()
    let again = EmbeddedRelay(path: newer, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    assertStorageFails([.schema]) {
      try RelayClient(port: again, randomness: randomness).createMailbox(recipientKey: key)
    }
  }

  func testDirectoryThatIsMissingOrMayNotBeWritten() throws {
    let key = try newKey()
    let missing = EmbeddedRelay(
      path: directory + "/none/relay.db", ports: Ports(clock: clock, randomness: randomness), log: .silent)
    assertStorageFails([.cannotOpen]) {
      try RelayClient(port: missing, randomness: randomness).createMailbox(recipientKey: key)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory)
    // The superuser may write anywhere, so the attempt is made as another user.
    let isSuperuser = geteuid() == 0
    if isSuperuser { XCTAssertEqual(seteuid(65_534), 0) }
    defer { if isSuperuser { seteuid(0) } }
    assertStorageFails([.cannotOpen, .readOnly]) { try client.createMailbox(recipientKey: key) }
  }

  func testFullDiskKeepsAcceptedMessages() throws {
    let mailbox = try newMailbox()
    try send("taken", to: mailbox)
    relay.close()
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    let pages = try XCTUnwrap(try file.database.integer("PRAGMA page_count"))
    try file.database.execute("PRAGMA max_page_count=\(pages + 1)")
    var request = RelayRequest(
      correlation: try newAttempt(), entity: mailbox.sender,
      command: .send(attempt: try newAttempt(), notify: false, body: randomness.bytes(RelayLimits.body)))
    request.signature = mailbox.senderKey.sign(request.signedBytes)
    guard case .send(let attempt, _, let body) = request.command else { return XCTFail("a send") }
    assertStorageFails([.full]) { try file.send(request, attempt: attempt, notify: false, body: body) }
    try file.database.close()

    relay.close()
    let client = RelayClient(port: another(), randomness: randomness)
    XCTAssertEqual(
      try client.getMessage(mailbox.recipient, key: mailbox.recipientKey)?.body, Array("taken".utf8))
    try client.send(body, to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
  }

  func testALockedFileIsATypedErrorInTime() throws {
    let mailbox = try newMailbox()
    let holder = try Database(path: path)
    try holder.execute("BEGIN IMMEDIATE")
    let patient = RelayClient(
      port: EmbeddedRelay(
        path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent, busyTimeout: .milliseconds(200)),
      randomness: randomness)
    let (started, attempt) = (clock.now(), try newAttempt())
    assertStorageFails([.busy]) {
      try patient.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    }
    XCTAssertGreaterThanOrEqual(clock.now() - started, .milliseconds(200))
    XCTAssertNil(try head(of: mailbox), "readers do not wait")
    try holder.close()
    try send("goes through", to: mailbox)
  }

  /// INC-07: an engine asks the file in its own turn, in which it waits for no process and no thread.
  func testAnExchangeWithoutWaitingLeavesALockedFileAlone() throws {
    let mailbox = try newMailbox()
    try send("waits", to: mailbox)
    let brief = EmbeddedRelay(
      path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent, busyTimeout: .milliseconds(200),
      isBrief: true)
    defer { brief.close() }
    let (prompt, patient) = (
      RelayClient(port: ImpatientPort(brief), randomness: randomness), RelayClient(port: brief, randomness: randomness)
    )
    let message = try XCTUnwrap(try prompt.getMessage(mailbox.recipient, key: mailbox.recipientKey))
    let acknowledge = { (client: RelayClient) in
      try client.acknowledgeAndGet(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    }
    let holder = try Database(path: path)
    try holder.execute("BEGIN IMMEDIATE")
    let started = clock.now()
    assertStorageFails([.busy]) { try acknowledge(prompt) }
    XCTAssertEqual(clock.now(), started, "without a pause")
    assertStorageFails([.busy]) { try acknowledge(patient) }
    XCTAssertGreaterThanOrEqual(clock.now() - started, .milliseconds(200), "the next one is as patient as ever")

    // Another thread is in the middle of an exchange.
    let before = clock.now()
    let ended = expectation(description: "the exchange")
    let attempt = try newAttempt()
    Thread.detachNewThread {
      _ = try? patient.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
      ended.fulfill()
    }
    while clock.now() == before { usleep(100) }
    assertStorageFails([.busy]) { try prompt.getMessage(mailbox.recipient, key: mailbox.recipientKey) }
    wait(for: [ended], timeout: 60)
    try holder.close()
    XCTAssertEqual(try acknowledge(prompt).0, .done)
  }

  func testCloseFromAnotherThreadEndsAWait() throws {
    let mailbox = try newMailbox()
    let holder = try Database(path: path)
    try holder.execute("BEGIN IMMEDIATE")
    let (relay, clock, before) = (relay, clock, clock.now())
    let stop = expectation(description: "closed")
    Thread.detachNewThread {
      // Until it waits.
      while clock.now() == before { usleep(100) }
      relay.close()
      stop.fulfill()
    }
    assertStorageFails([.interrupted]) { try send("waits in vain", to: mailbox) }
    wait(for: [stop], timeout: 60)
    assertRefused(.closed) { try send("too late", to: mailbox) }
    try holder.close()
  }

  func testReleasedRelayReopensAtTheNextExchange() throws {
    let mailbox = try newMailbox()
    for number in 0..<3 {
      try send("\(number)", to: mailbox)
      relay.releaseFiles()
      relay.releaseFiles()
    }
    XCTAssertEqual(try receiveAll(mailbox), ["0", "1", "2"])
  }

  func testClosedRelayStaysClosed() throws {
    let mailbox = try newMailbox()
    relay.close()
    relay.close()
    relay.releaseFiles()
    assertRefused(.closed) { try head(of: mailbox) }
    XCTAssertNil(relay.wakeDescriptor)
  }

  #if os(Linux)
    func testINC01ReleasedRelayHasNoFileOpen() throws {
      let mailbox = try newMailbox()
      for release in [{ self.relay.releaseFiles() }, { self.relay.close() }] {
        try send("x", to: mailbox)
        _ = try client.subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)])
        XCTAssertGreaterThan(try locksHeld(by: getpid(), in: directory), 0, "or this test sees nothing")
        release()
        XCTAssertEqual(try locksHeld(by: getpid(), in: directory), 0)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        XCTAssertEqual(open.filter { $0.hasPrefix(directory) }, [])
      }
    }
  #endif

  /// Acknowledgements are committed without a sync; everything after them must be durable again.
  func testDurabilityChangesBackAndForth() throws {
    let mailbox = try newMailbox()
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    let (full, normal): (Int64, Int64) = (2, 1)
    for (durability, expected) in [
      (Database.Durability.full, full), (.normal, normal), (.full, full), (.normal, normal), (.normal, normal),
      (.full, full),
    ] {
      try file.commit(durability) { () throws(RelayError) in }
      XCTAssertEqual(try file.database.integer("PRAGMA synchronous"), expected)
    }
    try file.database.close()
    try send("x", to: mailbox)
  }
}
