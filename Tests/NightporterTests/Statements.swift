import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// The statements that a host's store is asked, in order.
final class Statements: Sendable {
  private let texts = Mutex<[String]>([])

  /// Observes the store that the host has open.
  init(of host: Host, file: StaticString = #filePath, line: UInt = #line) throws {
    let isObserved = try XCTUnwrap(Handles.find(host.handle), file: file, line: line).call { engine -> Bool in
      engine.store?.database.observer = { [self] text in texts.withLock { $0.append(text) } }
      return engine.store != nil
    }
    XCTAssertEqual(isObserved, true, "the store is open", file: file, line: line)
  }

  var all: [String] { texts.withLock { $0 } }

  /// How often a whole row of the table was read by its key.
  func reads(_ table: String, _ column: String) -> Int {
    all.filter { $0.hasPrefix("SELECT \(column)") && $0.contains(" FROM \(table) WHERE ") }.count
  }
}
