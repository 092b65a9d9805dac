import PorterPlatform
import PorterStore
import XCTest

/// Outgoing messages left by an app do not delay what a push must show.
final class OutboxPushTests: XCTestCase {
  /// A push with a full outbox makes the same requests to the store and the relay as one with an empty outbox, until
  /// what it shows is settled. Only then does it send.
  func testTheContentIsSettledBeforeTheFirstEntryOfAFullOutboxIsSent() throws {
    let station = try Station()
    let (payload, entries) = try leaveEntries(40, in: station)
    let (answer, statements) = try observePush(payload, station)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertTrue(answer["quiescent"].flag)
    let shown = try XCTUnwrap(
      statements.firstIndex { $0.hasPrefix("UPDATE ledger SET state") && $0.contains("presented") }
        ?? statements.lastIndex { $0.hasPrefix("UPDATE ledger") })
    let firstSent = try XCTUnwrap(statements.firstIndex { $0.contains("FROM outbox WHERE") })
    XCTAssertGreaterThan(firstSent, shown, statements.joined(separator: "\n"))
    // Reading an entry, finishing it, and reporting it; nothing that counts the others.
    XCTAssertLessThan(statements.count, 60 + 12 * Int(entries), "\(statements.count)")
    station.wake(expecting: ["hello"])
  }

  /// A relay that accepts no message while it delivers some. The push shows what it has, in time, and its outcome says
  /// so.
  func testAPushWhoseTimeEndsWhileItSendsHasPresented() throws {
    var (answer, sent) = try pushWhileSendingHangs()
    // On a busy machine the engine may miss the 100 ms that it has at the end.
    for _ in 0..<4 where answer.isLate { (answer, sent) = try pushWhileSendingHangs() }
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer["work"].text, "ran", answer.description)
    XCTAssertTrue(answer["quiescent"].flag)
    XCTAssertEqual(sent, 1, "it was tried")
  }

  private func pushWhileSendingHangs() throws -> (answer: JSON, sent: Int) {
    let station = try Station()
    let (payload, _) = try leaveEntries(3, in: station)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(.send)
    defer { transport.hang(nil) }
    // Less than the two seconds after which sending is given up.
    return (service.push(payload, deadline: 1_900), transport.count(.send))
  }

  private func observePush(_ payload: String, _ station: Station) throws -> (JSON, [String]) {
    let service = try station.makeExtension()
    let statements = try Statements(of: service)
    let answer = service.push(payload)
    return (answer, statements.all)
  }

  /// Suspends alice's app with these entries in its outbox and a message at the relay; the payload of its push.
  private func leaveEntries(_ count: Int, in station: Station) throws -> (payload: String, entries: Int64) {
    station.suspend()
    let payload = try station.push(for: "hello")
    let database = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? database.close() }
    for _ in 0..<count {
      try database.run(
        """
        INSERT INTO outbox (connection_id, item_id, purpose, signed, notify, body, deduplication)
        SELECT connection_id, NULL, 'message', 1, 0, x'00', ? FROM connections
        """, [.blob(SystemRandomness().bytes(24))])
    }
    return (payload, try XCTUnwrap(try database.integer("SELECT count(*) FROM outbox")))
  }
}
