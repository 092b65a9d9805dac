import PorterPlatform
import PropertyTesting
import XCTest

final class ClockTests: XCTestCase {
  /// A host's absurd duration becomes a long one, never a trap, and two of them can still be added.
  func testSpansSaturate() {
    forAll(both(Generator<Int64>.number(), Generator<Int64>.number()), runs: 1_000) { one, other in
      let makers: [(Int64) -> Span] = [Span.microseconds, Span.milliseconds, Span.seconds, Span.days]
      for make in makers {
        let span = make(one)
        try expect((span.nanoseconds < 0) == (one < 0), "the sign is kept")
        try expect((make(one) < make(other)) ? one < other : true, "order is kept")
        let sum = span + make(other)
        if one > 0 && other > 0 { try expect(sum > .zero) }
      }
    }
    XCTAssertEqual(Span.seconds(.max), Span.microseconds(.max))
    XCTAssertEqual(Span.seconds(.min), Span.days(.min))
    XCTAssertEqual(Span.days(2).milliseconds, 172_800_000)
    XCTAssertEqual(Span.milliseconds(-5).microseconds, -5_000)
    XCTAssertEqual((Span.seconds(3) - .seconds(1)).milliseconds, 2_000)
  }

  func testMomentsSaturate() {
    let late = Moment(nanoseconds: .max - 5)
    XCTAssertEqual(late + .seconds(1), .distantFuture)
    XCTAssertEqual(Moment(nanoseconds: 7) - Moment(nanoseconds: 4), Span(nanoseconds: 3))
    forAll(both(Generator<Int64>.number(), Generator<Int64>.number())) { start, length in
      let end = Moment(nanoseconds: start) + Span(nanoseconds: length)
      if length >= 0 { try expect(end >= Moment(nanoseconds: start), "an end before its start") }
    }
  }

  func testTheSystemsClockAdvances() {
    let clock = SystemClock()
    let first = clock.now()
    XCTAssertLessThanOrEqual(first, clock.now())
    XCTAssertGreaterThan(first.nanoseconds, 0)
    // After 2024: a wall clock that used the wrong clock would return seconds since boot.
    XCTAssertGreaterThan(clock.wall().seconds, 1_700_000_000)
  }

  func testSecondsRoundDown() {
    XCTAssertEqual(WallTime(milliseconds: -1).seconds, -1)
    XCTAssertEqual(WallTime(milliseconds: -1_000).seconds, -1)
    XCTAssertEqual(WallTime(milliseconds: 999).seconds, 0)
  }

  func testRandomnessHasTheRequestedLength() {
    for count in [0, 1, 7, 8, 9, 32, 100] { XCTAssertEqual(SystemRandomness().bytes(count).count, count) }
    XCTAssertNotEqual(SystemRandomness().bytes(32), SystemRandomness().bytes(32))
  }
}
