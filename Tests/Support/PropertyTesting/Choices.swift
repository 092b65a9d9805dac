/// The choices that one generated input is made of.
///
/// A generator only ever asks for numbers below a bound. They are recorded; a smaller input is found by replaying a
/// shorter or smaller sequence of them. So whatever a generator builds shrinks automatically and stays valid.
package final class Choices {
  private var generator: SplitMix64
  private let replayed: [UInt64]?
  private(set) var recorded: [UInt64] = []

  /// Fresh choices from a seed.
  package init(seed: UInt64) {
    generator = SplitMix64(state: seed)
    replayed = nil
  }

  /// Choices given in advance; past their end, every further one is 0, the simplest.
  init(replaying sequence: [UInt64]) {
    generator = SplitMix64(state: 0)
    replayed = sequence
  }

  /// A number below `bound`; 0 is the simplest. A bound of 0 stands for 2⁶⁴. Edges, if favoured, come up three times in
  /// eight.
  package func number(below bound: UInt64, favouringEdges: Bool = false) -> UInt64 {
    choose(below: bound) { generator in
      let last = bound &- 1
      switch favouringEdges ? generator.next() % 8 : 0 {
      case 7: return last - generator.next() % min(3, last == .max ? 3 : last + 1)
      case 6, 5: return min(last, generator.next() % 16)
      default: return bound == 0 ? generator.next() : UInt64.random(in: 0...last, using: &generator)
      }
    }
  }

  /// Draws a value from another generator.
  package func draw<Value>(_ other: Generator<Value>) -> Value {
    other.generate(self)
  }

  /// One of the values; the first is the simplest.
  package func element<C: Collection>(of values: C) -> C.Element {
    let offset = Int(number(below: UInt64(values.count)))
    return values[values.index(values.startIndex, offsetBy: offset)]
  }

  /// Yes or no; no is the simplest.
  package func flag() -> Bool { number(below: 2) == 1 }

  /// Calls `body` a number of times within `counts`. Each call is recorded with its own "one more", so that single
  /// repetitions can be left out.
  package func repeated(_ counts: ClosedRange<Int>, _ body: (Int) -> Void) {
    let wanted = counts.lowerBound + Int(UInt64.random(in: 0...UInt64(counts.count - 1), using: &generator))
    var index = 0
    while index < counts.upperBound {
      if index >= counts.lowerBound, choose(below: 2, fresh: { _ in index < wanted ? 1 : 0 }) == 0 { break }
      body(index)
      index += 1
    }
  }

  private func choose(below bound: UInt64, fresh: (inout SplitMix64) -> UInt64) -> UInt64 {
    var choice: UInt64
    if let replayed {
      choice = recorded.count < replayed.count ? replayed[recorded.count] : 0
      if bound != 0 && choice >= bound { choice = bound - 1 }
    } else {
      choice = fresh(&generator)
    }
    recorded.append(choice)
    return choice
  }
}

/// Steele, Lea, Flood 2014: small, and identical everywhere for the same seed.
package struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
