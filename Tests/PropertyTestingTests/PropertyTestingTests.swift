import XCTest

@testable import PropertyTesting

final class PropertyTestingTests: XCTestCase {
  func testTheSmallestFailingNumberIsFound() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let failure = failing(.number(0...1_000_000), seed: seed) { try expect($0 < 1_234) }
      XCTAssertEqual(failure?.input, "1234", "seed \(seed)")
    }
  }

  func testTheShortestFailingArrayIsFound() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let numbers = Generator<UInt8>.number().array(0...40)
      let failure = failing(numbers, seed: seed) { try expect(!$0.contains { $0 > 100 }) }
      XCTAssertEqual(failure?.input, "[101]", "seed \(seed)")
    }
  }

  func testSignedNumbersShrinkTowardsZero() {
    for seed in 1...20 as ClosedRange<UInt64> {
      XCTAssertEqual(failing(.number(-500...500), seed: seed) { try expect($0 > -7) }?.input, "-7", "seed \(seed)")
    }
  }

  func testDependentChoicesShrinkToo() {
    let nested = Generator<Int>.number(1...30).flatMap { Generator<Int>.number(0...9).array($0...$0) }
    for seed in 1...20 as ClosedRange<UInt64> {
      let failure = failing(nested, seed: seed) { try expect($0.reduce(0, +) < 12) }
      XCTAssertEqual(failure?.input.filter { $0 == "," }.count, 1, "seed \(seed): \(failure?.input ?? "held")")
    }
  }

  func testTheSameSeedGivesTheSameInputs() {
    var inputs: [[String]] = []
    for _ in 0..<2 {
      var seen: [String] = []
      _ = check(.text(0...20), runs: 50, seed: 42) { seen.append($0) }
      inputs.append(seen)
    }
    XCTAssertEqual(inputs[0], inputs[1])
    XCTAssertEqual(inputs[0].count, 50)
  }

  func testNumbersStayInTheirRange() {
    forAll(both(.number(), .number()) as Generator<(Int64, Int64)>, runs: 500) { first, second in
      let range = min(first, second)...max(first, second)
      let drawn = Generator<Int64>.number(range).generate(Choices(seed: UInt64(bitPattern: first)))
      try expect(range.contains(drawn), "\(drawn) of \(range)")
    }
  }

  func testEdgesAreDrawn() {
    var seen: Set<UInt8> = []
    _ = check(.number(), runs: 2_000, seed: 7) { (byte: UInt8) in _ = seen.insert(byte) }
    XCTAssertTrue(seen.isSuperset(of: [0, 1, 254, 255]))
  }

  func testCountsStayInTheirRange() {
    forAll(.bytes(3...17), runs: 500) { bytes in try expect((3...17).contains(bytes.count)) }
  }

  func testAConditionThatNeverHoldsIsReported() {
    guard case .gaveUp(let accepted) = check(.flag, runs: 10, seed: 1, { _ in try assume(false) }) else {
      return XCTFail("should have given up")
    }
    XCTAssertEqual(accepted, 0)
  }

  private func failing<Value>(
    _ generator: Generator<Value>, seed: UInt64, _ property: (Value) throws -> Void
  ) -> ShrunkFailure? {
    guard case .failed(let failure) = check(generator, runs: 1_000, seed: seed, property) else { return nil }
    return failure
  }
}
