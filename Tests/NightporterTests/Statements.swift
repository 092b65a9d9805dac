import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// The statements executed on a host's store, in order.
final class Statements: Sendable {
  private let texts = Mutex<[String]>([])

  /// Observes the host's open store.
  init(of host: Host, file: StaticString = #filePath, line: UInt = #line) throws {
    let isObserved = try XCTUnwrap(Handles.find(host.handle), file: file, line: line).call { engine -> Bool in
      engine.store?.database.observer = { [self] text in texts.withLock { $0.append(text) } }
      return engine.store != nil
    }
    XCTAssertEqual(isObserved, true, "the store is open", file: file, line: line)
  }

  var all: [String] { texts.withLock { $0 } }

  func count(_ condition: (String) -> Bool) -> Int { all.filter(condition).count }
}
