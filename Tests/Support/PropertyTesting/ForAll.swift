import Foundation
import XCTest

/// Checks that `property` holds for `runs` generated values: it must not throw. Use `expect` and `expectEqual` inside
/// it.
///
/// A failure is shrunk and reported once, with the smallest input found, its failure, and the seed. `PORTER_SEED=…`
/// runs the same inputs again; the seed is also printed before the first property, because a trap in the code under
/// test prints nothing else.
package func forAll<Value>(
  _ generator: Generator<Value>, runs: Int = 100, file: StaticString = #filePath, line: UInt = #line,
  _ property: (Value) throws -> Void
) {
  let seed = PropertySeed.current
  let outcome = check(generator, runs: runs, seed: seed, property)
  switch outcome {
  case .held: break
  case .gaveUp(let accepted):
    XCTFail(
      "only \(accepted) of \(runs) inputs met the property's conditions (PORTER_SEED=\(seed))", file: file, line: line)
  case .failed(let failure):
    XCTFail(
      """
      \(failure.reason)
        smallest input: \(failure.input)
        found in run \(failure.run), shrunk in \(failure.shrinks) steps
        again with: PORTER_SEED=\(seed)
      """, file: file, line: line)
  }
}

/// Skips the current input, because it does not meet a condition of the property.
package func assume(_ condition: Bool) throws {
  if !condition { throw PropertyDiscard() }
}

package func expect(
  _ condition: @autoclosure () throws -> Bool, _ reason: @autoclosure () -> String = "", line: UInt = #line
) throws {
  if try !condition() { throw PropertyFailure(reason: "line \(line): expectation does not hold. \(reason())") }
}

package func expectEqual<Value: Equatable>(
  _ left: @autoclosure () throws -> Value, _ right: @autoclosure () throws -> Value,
  _ reason: @autoclosure () -> String = "", line: UInt = #line
) throws {
  let (left, right) = (try left(), try right())
  if left != right {
    throw PropertyFailure(reason: "line \(line): \(shown(left)) is not equal to \(shown(right)). \(reason())")
  }
}

/// The body must throw an error; if it does not, this function throws one.
package func expectThrows(_ body: () throws -> Void, line: UInt = #line) throws {
  do { try body() } catch { return }
  throw PropertyFailure(reason: "line \(line): no error was thrown")
}

struct PropertyFailure: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}

struct PropertyDiscard: Error {}

/// The seed of this process, for tests that draw values themselves.
package enum PropertySeed {
  /// Chosen once per process.
  package static let current: UInt64 = {
    let given = ProcessInfo.processInfo.environment["PORTER_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    FileHandle.standardError.write(Data("property tests run with PORTER_SEED=\(seed)\n".utf8))
    return seed
  }()
}

/// A readable form of a value for a test report.
func shown(_ value: some Any) -> String {
  let text = String(reflecting: value)
  return text.count <= 2_000 ? text : text.prefix(2_000) + "… (\(text.count) characters)"
}
