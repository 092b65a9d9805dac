import PorterJSON
import PorterSchema
import XCTest

@testable import PorterEngine

/// The push subscriptions reported to a host: each once for each status it reaches, and only the last status of one
/// turn.
final class StatusChangesTests: XCTestCase {
  private func texts(_ changes: StatusChanges) -> [String] {
    changes.due.map { (status, ids) in "\(status.json.text) \(ids)" }
  }

  private let active = SubscriptionStatus.active.json.text
  private let pending = SubscriptionStatus.pending.json.text

  func testConnectionsThatComeToOneStatusAreReportedTogetherAndOnce() {
    var changes = StatusChanges()
    XCTAssertTrue(changes.note(.active, of: 1))
    XCTAssertFalse(changes.note(.active, of: 2), "it is due already")
    XCTAssertFalse(changes.note(.pending, of: 3))
    XCTAssertEqual(texts(changes), ["\(active) [1, 2]", "\(pending) [3]"])
    changes.noteReported()
    XCTAssertTrue(changes.isEmpty)
    XCTAssertFalse(changes.note(.active, of: 1), "the host knows")
    XCTAssertTrue(changes.isEmpty)
    XCTAssertTrue(changes.note(.active, of: 3))
    XCTAssertEqual(texts(changes), ["\(active) [3]"])
  }

  func testOfOneTurnTheLastStatusCounts() {
    var changes = StatusChanges()
    _ = changes.note(.active, of: 1)
    changes.noteReported()
    // There and back: nothing has changed for the host.
    _ = changes.note(.pending, of: 1)
    _ = changes.note(.active, of: 1)
    XCTAssertTrue(changes.isEmpty)
    // Another connection first reaches the status that this one reaches last.
    _ = changes.note(.pending, of: 2)
    _ = changes.note(.noSubscription, of: 1)
    _ = changes.note(.pending, of: 1)
    XCTAssertEqual(texts(changes), ["\(pending) [2, 1]"])
  }

  func testWhatCouldNotBeReportedStaysDue() {
    var changes = StatusChanges()
    _ = changes.note(.active, of: 1)
    XCTAssertFalse(changes.note(.pending, of: 1), "reported with what is due")
    XCTAssertEqual(texts(changes), ["\(pending) [1]"])
  }

  func testADeletedConnectionIsForgotten() {
    var changes = StatusChanges()
    _ = changes.note(.active, of: 1)
    changes.forget(1)
    XCTAssertTrue(changes.isEmpty)
    _ = changes.note(.active, of: 1)
    changes.noteReported()
    changes.forget(1)
    XCTAssertTrue(changes.note(.active, of: 1), "another connection by that number")
  }
}
