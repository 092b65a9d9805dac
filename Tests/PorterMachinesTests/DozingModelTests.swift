import Foundation
import Synchronization
import XCTest

/// Spin checks spec/models/dozing.pml exhaustively: a store that dozed is current once it has woken, and holds no lock
/// before. Each rule behind that is needed.
final class DozingModelTests: XCTestCase {
  private static let rules = [
    "DROPPING_PAGES", "RELEASING_THE_INDEX", "COMPARING_THE_LOG", "COMPARING_THE_DATABASE", "READING_THE_MODE",
    "LOCKING_FIRST", "THE_OPENING_LOCK",
  ]

  func testSpinFindsThatAStoreThatDozedIsCurrent() throws {
    let report = try Self.verify(without: nil)
    XCTAssertTrue(SpinReport(report).isExhaustive, report)
    XCTAssertEqual(SpinReport(report).unreached, [], report)
    // The run is not vacuous: a store does wake.
    XCTAssertTrue(try Self.verify(without: "WAKING").contains("errors: 1"))
  }

  func testSpinFindsEachRuleOfDozingNeeded() throws {
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: Self.rules.count) { index in
      let rule = Self.rules[index]
      do {
        let report = try Self.verify(without: rule)
        if !report.contains("errors: 1") { problems.withLock { $0.append("not found: \(rule)\n\(report)") } }
      } catch {
        problems.withLock { $0.append("\(rule): \(error)") }
      }
    }
    XCTAssertEqual(problems.withLock { $0 }, [])
  }

  private static func verify(without rule: String?) throws -> String {
    try withTemporaryDirectory { directory in
      let model = packageRoot.appendingPathComponent("spec/models/dozing.pml")
      let options = rule.map { ["-DWITHOUT_\($0)"] } ?? []
      let made = try runProgram(try program("spin"), options + ["-a", model.path], directory: directory)
      guard made.status == 0 else { throw Missing(what: made.output + made.errors) }
      let built = try runProgram(
        try program("clang"), ["-O0", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c"], directory: directory)
      guard built.status == 0 else { throw Missing(what: built.errors) }
      return try runProgram(directory.appendingPathComponent("pan"), ["-m100000", "-w20"], directory: directory).output
    }
  }
}
