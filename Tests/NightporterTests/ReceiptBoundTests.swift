import CNightporter
import PorterStore
import XCTest

final class ReceiptBoundTests: XCTestCase {
  /// Bob sends, and never fetches what waits for him: the receipts to him do not fill alice's store.
  func testReceiptsForAContactThatFetchesNothingAreBounded() throws {
    let meeting = try Meeting()
    let (alice, bob) = (meeting.alice, meeting.bob)
    alice.send("/_set receipts contacts 1 on").assert("cmdOk")
    meeting.transport.fail(.send)
    let store = try Database(path: alice.prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute(
      """
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 126)
      INSERT INTO outbox (connection_id, purpose, signed, notify, body, deduplication)
      SELECT 1, 'message', 1, 0, x'00', randomblob(24) FROM numbers
      """)
    for number in 1...4 { bob.send("/_send @1 text \(number)").assert("newChatItems") }
    awaitThat("alice has them") {
      np_relay_ready(alice.handle)
      return meeting.texts(alice).count == 4
    }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM outbox"), 128)
  }
}
