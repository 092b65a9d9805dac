/// A recipe for making a value out of choices. Compose with the functions below, or write `Generator { choices in … }`.
package struct Generator<Value> {
  let generate: (Choices) -> Value

  package init(_ generate: @escaping (Choices) -> Value) { self.generate = generate }

  package func map<Other>(_ transform: @escaping (Value) -> Other) -> Generator<Other> {
    Generator<Other> { transform(generate($0)) }
  }

  package func flatMap<Other>(_ transform: @escaping (Value) -> Generator<Other>) -> Generator<Other> {
    Generator<Other> { choices in transform(generate(choices)).generate(choices) }
  }

  /// Arrays of this generator's values.
  package func array(_ counts: ClosedRange<Int>) -> Generator<[Value]> {
    Generator<[Value]> { choices in
      var values: [Value] = []
      choices.repeated(counts) { _ in values.append(generate(choices)) }
      return values
    }
  }

  package var optional: Generator<Value?> {
    Generator<Value?> { choices in choices.flag() ? generate(choices) : nil }
  }

  package static func always(_ value: Value) -> Generator { Generator { _ in value } }

  /// One of the values, shrinking towards the first.
  package static func element<C: Collection>(of values: C) -> Generator where C.Element == Value {
    Generator { $0.element(of: values) }
  }

  /// One of the generators, shrinking towards the first.
  package static func one(of generators: [Generator]) -> Generator {
    Generator { choices in choices.element(of: generators).generate(choices) }
  }
}

extension Generator where Value: FixedWidthInteger {
  /// A number in the range, shrinking towards its lower bound, or towards 0 if the range contains it. One in eight is
  /// at an edge.
  package static func number(_ range: ClosedRange<Value> = Value.min...Value.max) -> Generator {
    Generator { choices in
      let simplest = range.contains(0) ? 0 : range.lowerBound
      let up = UInt64(truncatingIfNeeded: range.upperBound) &- UInt64(truncatingIfNeeded: simplest)
      let down = UInt64(truncatingIfNeeded: simplest) &- UInt64(truncatingIfNeeded: range.lowerBound)
      let goDown = down > 0 && (up == 0 || choices.flag())
      let distance = choices.number(below: (goDown ? down : up) &+ 1, favouringEdges: true)
      let step = Value(truncatingIfNeeded: distance)
      return goDown ? simplest &- step : simplest &+ step
    }
  }
}

extension Generator where Value == Bool {
  package static var flag: Generator { Generator { $0.flag() } }
}

extension Generator where Value == [UInt8] {
  package static func bytes(_ counts: ClosedRange<Int>) -> Generator {
    Generator<UInt8> { UInt8(truncatingIfNeeded: $0.number(below: 256)) }.array(counts)
  }
}

extension Generator where Value == String {
  /// Text of any Unicode scalars, half of them printable ASCII, some of them troublesome for parsers.
  package static func text(_ counts: ClosedRange<Int>) -> Generator {
    Generator<Unicode.Scalar>.scalar.array(counts).map { scalars in
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
  }

  /// Text made only of the given characters.
  package static func text(of alphabet: String, _ counts: ClosedRange<Int>) -> Generator {
    Generator<Character>.element(of: Array(alphabet)).array(counts).map { String($0) }
  }
}

extension Generator where Value == Unicode.Scalar {
  package static var scalar: Generator {
    let awkward: [Unicode.Scalar] = [
      "\u{0}", "\n", "\r", "\t", "\"", "\\", "\u{7F}", "é", "\u{301}", "\u{200D}", "\u{FFFD}", "😀", "\u{10FFFF}",
    ]
    return Generator { choices in
      switch choices.number(below: 4) {
      case 0, 1: return Unicode.Scalar(UInt8(choices.number(below: 95)) &+ 0x20).lowered
      case 2: return choices.element(of: awkward)
      default: return Unicode.Scalar(UInt32(choices.number(below: 0x11_0000))) ?? "\u{FFFD}"
      }
    }
  }
}

extension Unicode.Scalar {
  /// Puts `a` first among printable ASCII, so that shrunk text reads `aaa`, not blanks.
  fileprivate var lowered: Unicode.Scalar {
    let rotated = (value &- 0x20 &+ 0x41) % 95
    return Unicode.Scalar(UInt8(truncatingIfNeeded: rotated) &+ 0x20)
  }
}

/// Pairs and triples of independent values.
package func both<A, B>(_ first: Generator<A>, _ second: Generator<B>) -> Generator<(A, B)> {
  Generator { choices in (choices.draw(first), choices.draw(second)) }
}

package func all<A, B, C>(
  _ first: Generator<A>, _ second: Generator<B>, _ third: Generator<C>
) -> Generator<(A, B, C)> {
  Generator { choices in (choices.draw(first), choices.draw(second), choices.draw(third)) }
}
