import XCTest

@testable import PorterEngine

/// The order in which deferred work is taken up.
final class DeferredOrderTests: XCTestCase {
  private enum Step {
    case add(String, about: Int64? = nil, isUrgent: Bool = false)
    case hasten(Int64)
    /// Taken up; nil when nothing waits.
    case next(String?)
  }

  private func assert(_ steps: [Step], file: StaticString = #filePath, line: UInt = #line) {
    var order = DeferredOrder<String>()
    for (number, step) in steps.enumerated() {
      switch step {
      case .add(let piece, let subject, let isUrgent): order.add(piece, about: subject, isUrgent: isUrgent)
      case .hasten(let subject): order.hasten(subject)
      case .next(let piece): XCTAssertEqual(order.next(), piece, "step \(number)", file: file, line: line)
      }
    }
    XCTAssertTrue(order.isEmpty, file: file, line: line)
    XCTAssertNil(order.next(), file: file, line: line)
  }

  func testWhatCameFirstIsNext() {
    assert([.add("a"), .add("b", about: 1), .next("a"), .add("c"), .next("b"), .next("c"), .next(nil)])
  }

  func testWhatIsUrgentComesFirstAndInItsOrder() {
    assert([
      .add("a", about: 1), .add("b", about: 2, isUrgent: true), .add("c", about: 3, isUrgent: true), .next("b"),
      .add("d", about: 2, isUrgent: true), .next("c"), .next("d"), .next("a"),
    ])
  }

  func testWhatIsHastenedComesBeforeWhatWasThereEarlier() {
    assert([
      .add("a", about: 1), .add("b", about: 2), .add("c"), .add("d", about: 2), .hasten(2), .next("b"), .next("d"),
      .next("a"), .next("c"),
    ])
  }

  func testWhatIsHastenedComesAfterWhatIsUrgentAlready() {
    assert([
      .add("a", about: 1), .add("b", about: 2, isUrgent: true), .hasten(1), .hasten(2), .next("b"), .next("a"),
    ])
  }

  func testNothingIsHastenedOfAConnectionThatDoesNotWait() {
    assert([.add("a"), .add("b", about: 1), .hasten(2), .next("a"), .next("b")])
    assert([.hasten(1), .next(nil)])
  }
}
