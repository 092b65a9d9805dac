import XCTest

/// What a push asks the store: what was read once is handed on.
final class PushStatementsTests: XCTestCase {
  /// A push of one message to an extension whose store is open. It used to read the connection eight times, the contact four
  /// times, the user three times and the item twice, in some fifty statements.
  func testAPushOfOneMessageReadsNoRecordTwiceWithoutNeed() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    let statements = try Statements(of: service)
    let answer = service.push(push)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["quiescent"].flag, true)
    let counts = [
      "connection": statements.reads("connections", "connection_id, user_id"),
      "contact": statements.reads("contacts", "contact_id, user_id"),
      "user": statements.reads("users", "user_id, display_name"),
      "item": statements.reads("items", "item_id, contact_id"),
    ]
    XCTAssertLessThanOrEqual(statements.all.count, 42, statements.all.joined(separator: "\n"))
    XCTAssertEqual(counts["connection"], 2, statements.all.joined(separator: "\n"))
    XCTAssertEqual(counts["contact"], 1, statements.all.joined(separator: "\n"))
    XCTAssertEqual(counts["user"], 1, statements.all.joined(separator: "\n"))
    // Once for the event; once when it is shown, since another process may have changed it.
    XCTAssertEqual(counts["item"], 2, statements.all.joined(separator: "\n"))
    station.wake(expecting: ["hello"])
  }
}
