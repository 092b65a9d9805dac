import Foundation
import Synchronization
import XCTest

/// Spin checks spec/models/hand_over.pml exhaustively, and each rule that it rests on is needed.
final class HandOverModelTests: XCTestCase {
  /// Whatever is killed and frozen: stored once, shown once, no lock left behind, no deadlock.
  func testSpinFindsTheHandOverSafe_INC01_INC04_INC10_INC34_INC38() throws {
    for bounds in Self.safetyBounds {
      let report = try Self.verify(.safety, bounds)
      XCTAssertTrue(SpinReport(report).isExhaustive, report)
      XCTAssertGreaterThan(try storedStates(report), 1_000_000, report)
      if bounds.messages > 1 { XCTAssertEqual(SpinReport(report).unreached, [], report) }
    }
  }

  /// In the end everything is stored, acknowledged and seen by the user, although a process stays frozen.
  func testSpinFindsTheHandOverLive_INC07_INC12_INC13_INC22() throws {
    for bounds in Self.livenessBounds {
      let report = try Self.verify(.liveness, bounds)
      XCTAssertTrue(SpinReport(report).isExhaustive, report)
      XCTAssertGreaterThan(try storedStates(report), 100_000, report)
    }
  }

  /// The removal of each rule is found by the run that the table names. A removal that is harmless in the code as well
  /// passes both.
  func testSpinFindsEachRuleOfTheHandOverNeeded() throws {
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: HandOverMutant.all.count) { index in
      let problem = Self.problem(of: HandOverMutant.all[index])
      if let problem { problems.withLock { $0.append(problem) } }
    }
    XCTAssertEqual(problems.withLock { $0 }, [])
  }

  /// The deviation from the table, or nil.
  private static func problem(of mutant: HandOverMutant) -> String? {
    do {
      switch mutant.run {
      case .safety, .liveness:
        let report = try verify(mutant.run, mutant.bounds, mutant.edits)
        return report.contains("errors: 1") ? nil : "not found: \(mutant.title)\n\(report)"
      case .neither:
        guard mutant.reason != nil else { return "without a reason: \(mutant.title)" }
        for run in [HandOverMutant.Run.safety, .liveness] {
          let report = try verify(run, mutant.bounds, mutant.edits)
          guard SpinReport(report).isExhaustive else { return "harmful after all: \(mutant.title)\n\(report)" }
        }
        return nil
      }
    } catch {
      return "\(mutant.title): \(error)"
    }
  }

  // MARK: Running Spin

  /// Two messages; and one message, with an app that is reopened after it was suspended or killed. A run with rounds
  /// has each path of one without: rounds only add choices. `make verify` runs those as well, with larger bounds, which
  /// takes minutes.
  private static let isThorough = ProcessInfo.processInfo.environment["PORTER_MODEL_BOUNDS"] == "large"
  private static let safetyBounds =
    [
      HandOverBounds(messages: 1, troubles: 1, launches: 2),
      HandOverBounds(messages: 2, troubles: 1, launches: 1, hasRounds: true),
    ]
    + (isThorough
      ? [HandOverBounds(messages: 2, troubles: 1, launches: 1), HandOverBounds(messages: 1, troubles: 2, launches: 2)]
      : [])
  private static let livenessBounds =
    [HandOverBounds(messages: 1, troubles: 1, launches: 2, hasRounds: true)]
    + (isThorough
      ? [
        HandOverBounds(messages: 1, troubles: 1, launches: 2),
        HandOverBounds(messages: 2, troubles: 1, launches: 1), HandOverBounds(messages: 1, troubles: 2, launches: 1),
      ] : [])

  private static func verify(
    _ run: HandOverMutant.Run, _ bounds: HandOverBounds, _ edits: [HandOverMutant.Edit] = []
  ) throws -> String {
    try withTemporaryDirectory { directory in
      let models = directory.appendingPathComponent("models")
      try FileManager.default.copyItem(at: packageRoot.appendingPathComponent("spec/models"), to: models)
      for edit in edits { try apply(edit, in: models) }
      let isLive = run == .liveness
      let definitions = [
        "-DMESSAGES=\(bounds.messages)", "-DTROUBLES=\(bounds.troubles)", "-DLAUNCHES=\(bounds.launches)",
      ]
      let made = try runProgram(
        try program("spin"),
        definitions + (bounds.hasRounds ? ["-DBACKGROUND"] : []) + (isLive ? ["-DLIVENESS"] : []) + [
          "-a", models.appendingPathComponent("hand_over.pml").path,
        ],
        directory: directory)
      guard made.status == 0 else { throw Missing(what: made.output + made.errors) }
      // Clang compiles these thousands of small branches three times faster than gcc. The search in an edited model
      // ends at its first error, before an optimised verifier would have compiled. Compressed states fit the memory
      // that the safety of the whole model needs; elsewhere compression costs more than it saves.
      let options =
        [edits.isEmpty ? "-O1" : "-O0", isLive ? "-DNFAIR=3" : "-DSAFETY"]
        + (edits.isEmpty && !isLive ? ["-DCOLLAPSE"] : [])
      let built = try runProgram(
        try program("clang"), options + ["-w", "-o", "pan", "pan.c"], directory: directory)
      guard built.status == 0 else { throw Missing(what: built.errors) }
      return try runProgram(
        directory.appendingPathComponent("pan"),
        (isLive ? ["-a", "-f"] : []) + ["-m\(edits.isEmpty ? 1_000_000 : 100_000)"] + (edits.isEmpty ? [] : ["-w22"]),
        directory: directory, limit: 600
      ).output
    }
  }

  private static func apply(_ edit: HandOverMutant.Edit, in models: URL) throws {
    let file = models.appendingPathComponent("hand_over/\(edit.file.rawValue).pml")
    let text = try String(contentsOf: file, encoding: .utf8)
    guard text.components(separatedBy: edit.text).count - 1 == edit.times else {
      throw Missing(what: "\(edit.file) does not say it \(edit.times) times: \(edit.text)")
    }
    try text.replacingOccurrences(of: edit.text, with: edit.replacement).write(
      to: file, atomically: true, encoding: .utf8)
  }

  private func storedStates(_ report: String) throws -> Int {
    let match = try XCTUnwrap(report.firstMatch(of: #/(\d+) states, stored/#), report)
    return try XCTUnwrap(Int(match.output.1))
  }
}
