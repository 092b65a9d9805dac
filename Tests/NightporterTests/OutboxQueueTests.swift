import XCTest

@testable import PorterEngine

final class OutboxQueueTests: XCTestCase {
  private func turns(_ queue: inout OutboxQueue) -> [Int64] {
    var turns: [Int64] = []
    while let turn = queue.next() { turns.append(turn.connectionID) }
    return turns
  }

  /// A message a person sends costs the same, however many contacts have something waiting.
  func testWhatIsNewGivesATurnToItsOwnConnectionOnly() {
    var queue = OutboxQueue()
    queue.note((1...500).map { (id: $0, connectionID: $0) })
    queue.makeAllReady()
    XCTAssertEqual(turns(&queue), Array(1...500))
    queue.note([(id: 501, connectionID: 7), (id: 502, connectionID: 600)])
    // The last one has nothing to send.
    queue.makeReady([7, 600, 700])
    XCTAssertEqual(queue.head(of: 7), 7, "what waits for the contact comes first")
    XCTAssertEqual(turns(&queue), [7, 600])
    XCTAssertEqual(turns(&queue), [])
    queue.makeAllReady()
    XCTAssertEqual(turns(&queue).count, 501)
  }
}
