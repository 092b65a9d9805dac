import PorterStore
import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// What a push asks the store: what was read once is handed on.
final class PushStatementsTests: XCTestCase {
  private final class Statements: Sendable {
    private let texts = Mutex<[String]>([])
    func note(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }

    /// How often a whole row of the table was read by its key.
    func reads(_ table: String, _ column: String) -> Int {
      all.filter { $0.hasPrefix("SELECT \(column)") && $0.contains(" FROM \(table) WHERE ") }.count
    }
  }

  /// A push of one message to an extension whose store is open. It used to read the connection eight times, the contact four
  /// times, the user three times and the item twice, in some fifty statements.
  func testAPushOfOneMessageReadsNoRecordTwiceWithoutNeed() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    let statements = Statements()
    let isObserved = try XCTUnwrap(Handles.find(service.handle)).call { engine -> Bool in
      engine.store?.database.observer = { statements.note($0) }
      return engine.store != nil
    }
    XCTAssertEqual(isObserved, true)
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
