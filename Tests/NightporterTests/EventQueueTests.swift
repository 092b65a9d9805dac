import PorterPlatform
import PorterSchema
import Synchronization
import XCTest

@testable import PorterEngine

/// Events wait for their host in order and within a bound, whether or not their texts have been made.
final class EventQueueTests: XCTestCase {
  private func taken(_ queue: EventQueue) -> EventQueue.Taken? { queue.take(atMost: .zero) }

  private func text(_ number: Int64) -> String { Event.eventsLost(number).text }

  private func expectText(_ number: Int64, _ queue: EventQueue, line: UInt = #line) {
    guard case .event(let event)? = taken(queue) else { return XCTFail("no event \(number)", line: line) }
    XCTAssertEqual(event, text(number), line: line)
  }

  func testAFewEventsComeInOrder() throws {
    let queue = try XCTUnwrap(EventQueue(byteBound: 1))
    for number: Int64 in 0..<3 { queue.post(.eventsLost(number)) }
    XCTAssertEqual(queue.count, 3)
    for number: Int64 in 0..<3 { expectText(number, queue) }
    XCTAssertNil(taken(queue))
  }

  /// Events that can wait elsewhere get half of the queue, by number and by bytes; as the host takes events, the queue
  /// reports when there is room again.
  func testRoomIsGivenBackAsTheHostTakes() throws {
    let many = try XCTUnwrap(EventQueue(byteBound: 1 << 30))
    try expectRoomAfterOne(many, full: EventQueue.bound / 2)
    let large = try XCTUnwrap(EventQueue(byteBound: 2 * 20 * text(100).utf8.count))
    try expectRoomAfterOne(large, full: 20)
  }

  private func expectRoomAfterOne(_ queue: EventQueue, full: Int, line: UInt = #line) throws {
    let calls = Mutex(0)
    for number in 100..<Int64(99 + full) { queue.post(.eventsLost(number % 100 + 100)) }
    XCTAssertEqual(queue.room { calls.withLock { $0 += 1 } }?.events, EventQueue.bound / 2 - full + 1, line: line)
    queue.post(.eventsLost(100))
    XCTAssertNil(queue.room { calls.withLock { $0 += 1 } }, line: line)
    queue.post(.eventsLost(100))
    _ = taken(queue)
    XCTAssertEqual(calls.withLock { $0 }, 0, line: line)
    for _ in 0..<2 { _ = taken(queue) }
    XCTAssertEqual(calls.withLock { $0 }, 1, "once", line: line)
  }

  /// The oldest are dropped when there are too many bytes; up to eight events are not yet counted.
  func testManyEventsStayWithinTheBound() throws {
    let bound = 20 * text(100).utf8.count
    let queue = try XCTUnwrap(EventQueue(byteBound: bound))
    for number: Int64 in 100..<300 { queue.post(.eventsLost(number)) }
    guard case .lost(let lost)? = taken(queue) else { return XCTFail("none was lost") }
    XCTAssertEqual(lost + queue.count, 200)
    XCTAssertEqual(queue.count, 20)
    for number in Int64(100 + lost)..<300 { expectText(number, queue) }
    XCTAssertNil(taken(queue))
    // Events that were taken no longer count.
    for number: Int64 in 100..<112 { queue.post(.eventsLost(number)) }
    for number: Int64 in 100..<112 { expectText(number, queue) }
  }

  /// Making the texts cost each push into a running extension a million instructions, though no host read them.
  func testEventsOfKnownLengthAreMadeWhenTaken() throws {
    let queue = try XCTUnwrap(EventQueue(byteBound: 20 * 100))
    let number = Mutex<Int64>(0)
    for _ in 0..<200 { queue.post(making: { .eventsLost(number.withLock { $0 }) }, bytes: 100) }
    number.withLock { $0 = 7 }
    guard case .lost(let lost)? = taken(queue) else { return XCTFail("none was lost") }
    XCTAssertEqual(lost + queue.count, 200)
    XCTAssertEqual(queue.count, 20)
    for _ in 0..<20 { expectText(7, queue) }
    XCTAssertNil(taken(queue))
  }
}
