import PorterMachines
import XCTest

/// The machine `value_reservation` as a table: a value is used once, and anything an earlier owner still does is
/// refused.
final class ValueReservationTests: XCTestCase {
  private typealias State = ValueReservation.State
  private typealias Event = ValueReservation.Event
  private typealias Effect = ValueReservation.Effect

  func testEveryPairIsAnsweredAsTheTableSays() {
    let table: [(State, Event, State, [Effect], String)] = [
      (.free, .want, .reserved, [.reserve], "moved"),
      (.free, .use, .free, [], "refused.notReserved"),
      (.free, .undo, .free, [], "refused.notReserved"),
      (.reserved, .want, .reserved, [.takeOver], "stayed"),
      (.reserved, .use, .used, [.eraseMaterial], "moved"),
      (.reserved, .undo, .undone, [.eraseMaterial], "moved"),
      (.undone, .want, .reserved, [.reserve], "moved"),
      (.undone, .use, .undone, [], "refused.notReserved"),
      (.undone, .undo, .undone, [], "refused.notReserved"),
      (.used, .want, .used, [], "ignored.ended"),
      (.used, .use, .used, [], "ignored.ended"),
      (.used, .undo, .used, [], "ignored.ended"),
    ]
    for (state, event, next, effects, answer) in table {
      let step = ValueReservation.step(state, event)
      let pair = "\(state.name), \(event.name)"
      XCTAssertEqual(step.next, next, pair)
      XCTAssertEqual(Array(step.effects), effects, pair)
      XCTAssertEqual(step.answer.name, answer, pair)
    }
    let pairs = Set(table.map { "\($0.0.name) \($0.1.name)" })
    XCTAssertEqual(pairs.count, State.allCases.count * Event.allCases.count, "the table is whole")
  }

  /// Whatever processes do, in any order: a value is used at most once, and never after that.
  func testAValueIsUsedAtMostOnce() {
    let events = Event.allCases
    for number in 0..<(events.count * events.count * events.count * events.count * events.count * events.count) {
      var (state, rest, uses) = (ValueReservation.initial, number, 0)
      for _ in 0..<6 {
        let step = ValueReservation.step(state, events[rest % events.count])
        rest /= events.count
        if state != .used, step.next == .used { uses += 1 }
        if state == .used { XCTAssertEqual(step.next, .used) }
        state = step.next
      }
      XCTAssertLessThanOrEqual(uses, 1)
    }
  }
}
