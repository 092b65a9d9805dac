import PorterMachines
import XCTest

@testable import PorterEngine

/// Machines whose state is a row: a step counts when its transaction has been committed.
final class RecordedDriverTests: XCTestCase {
  private struct RolledBack: Error {}

  /// Records what happened, in order.
  private final class Journal: MachineTrace, MachineTimers {
    var isWatching: Bool { true }
    var lines: [String] = []

    func newRunner() -> Int { 1 }

    func stepped<M: Machine>(
      _ machine: M.Type, _ subject: String, runner: Int, from state: M.State, on event: M.Event, _ step: MachineStep<M>
    ) { lines.append("\(M.name) \(subject): \(state.name) \(event.name) \(step.next.name)") }

    func set(_ name: String, milliseconds: UInt32, _ fire: @escaping () -> Void) { XCTFail("no timers") }
    func cancel(_ name: String) { XCTFail("no timers") }
  }

  private let journal = Journal()
  private let queue = StepQueue()
  private lazy var driver = RecordedMachineDriver<LedgerEntry, String>(
    MachineSurroundings(queue: queue, timers: journal, trace: journal)
  ) { [unowned self] effect, argument in self.journal.lines.append("\(effect.name) \(argument)") }

  private typealias Step = (event: LedgerEntry.Event, state: LedgerEntry.State)

  /// A step that changes the state and has effects.
  private var moving: Step {
    get throws {
      let steps = LedgerEntry.State.allCases.flatMap { state in LedgerEntry.Event.allCases.map { ($0, state) } }
      return try XCTUnwrap(
        steps.first { (event, state) in
          let step = LedgerEntry.step(state, event)
          return step.next != state && step.effects.contains { LedgerEntry.kind($0) != .record }
        })
    }
  }

  func testAStepIsTracedAndCarriedOutAfterItsTransaction() throws {
    let (event, state) = try moving
    XCTAssertTrue(RecordedMachineDriver<LedgerEntry, String>.isRecorded(event, in: state))
    let taken = try driver.take(event, of: "7", in: state, "argument") { (step, argument) throws(RolledBack) in
      journal.lines.append("stored \(step.next.name)")
      argument += " and more"
    }
    journal.lines.append("committed")
    driver.carryOut(taken)
    let step = LedgerEntry.step(state, event)
    let effects = step.effects.filter { LedgerEntry.kind($0) != .record }.map { "\($0.name) argument and more" }
    XCTAssertEqual(
      journal.lines,
      ["stored \(step.next.name)", "committed", "ledger_entry 7: \(state.name) \(event.name) \(step.next.name)"]
        + effects)
  }

  func testAStepWhoseTransactionFailsWasNeverTaken() throws {
    let (event, state) = try moving
    XCTAssertThrowsError(
      try driver.take(event, in: state, "") { (_, _) throws(RolledBack) in throw RolledBack() })
    XCTAssertEqual(journal.lines, [])
  }

  func testAPostedStepWaitsForTheEffectsOfTheOneUnderWay() throws {
    let (event, state) = try moving
    queue.post { [self] in
      guard let taken = try? driver.take(event, in: state, "", record: { (_, _) throws(RolledBack) in }) else { return }
      driver.post(taken)
      journal.lines.append("the current step ends")
    }
    XCTAssertEqual(journal.lines.first, "the current step ends")
    XCTAssertGreaterThan(journal.lines.count, 2, "and the posted one was carried out after it")
  }
}
