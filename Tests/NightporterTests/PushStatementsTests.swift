import XCTest

/// A push's statements on the store: a record read once is passed on.
final class PushStatementsTests: XCTestCase {
  /// A push of one message to an extension whose store is open. It used to read the connection eight times, the contact
  /// four times, the user three times and the item twice, in some fifty statements. The measure is the number of
  /// distinct statements: each is compiled once.
  func testAPushOfOneMessageReadsNoRecordTwiceWithoutNeed() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    let statements = try Statements(of: service)
    let answer = service.push(push)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["quiescent"].flag, true)
    let list = statements.all.joined(separator: "\n")
    XCTAssertLessThanOrEqual(statements.all.count, 33, list)
    XCTAssertLessThanOrEqual(Set(statements.all).count, 16, list)
    // The connection with its contact and profile: to find it, to check whether the message is known, and under the
    // fence.
    XCTAssertEqual(statements.count { $0.hasPrefix("SELECT connections.connection_id") }, 3, list)
    XCTAssertEqual(
      statements.count { $0.hasPrefix("SELECT contacts.contact_id") || $0.hasPrefix("SELECT users.user_id") }, 0, list)
    // Not for the event. When the message is shown, only what is shown of it is read, since another process may have
    // changed it.
    XCTAssertEqual(statements.count { $0.hasPrefix("SELECT item_id, contact_id") }, 0, list)
    XCTAssertEqual(statements.count { $0.hasPrefix("SELECT content, sent") }, 1, list)
    station.wake(expecting: ["hello"])
  }
}
