import PorterServer
import Synchronization
import XCTest

@testable import PorterNetRelay

final class ListenerTests: XCTestCase {
  /// The stack positions at which news were reported.
  private final class Places: Sendable {
    private let places = Mutex<Set<UInt>>([])
    var count: Int { places.withLock { $0.count } }

    func noteStack() {
      var here: UInt8 = 0
      let place = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
      places.withLock { _ = $0.insert(place) }
    }
  }

  /// Each used to take more of the stack than the one before, until there was none left.
  func testNewsTakeNoMoreOfTheStackTheMoreThereAre() {
    let places = Places()
    let listener = NetworkRelay.Listener { _, _ in }
    listener.listen { _ in places.noteStack() }
    for _ in 0..<10_000 { listener.tell(.something) }
    XCTAssertEqual(places.count, 1)
  }
}
