import CSwitchReference
import PorterMachines
import PropertyTesting
import XCTest

/// Steps, effects and runners.
final class StepTests: XCTestCase {
  func testAStepIsTrivialAndSmall() {
    // Nothing to allocate, nothing to reference-count: a step must cost what a C switch costs.
    XCTAssertTrue(_isPOD(MachineStep<Push>.self))
    XCTAssertLessThanOrEqual(MemoryLayout<MachineStep<Push>>.size, 16)
    XCTAssertTrue(_isPOD(MachineRunner<Push>.self))
  }

  func testEffectsComeOutAsTheyWentIn() {
    let codes = Generator<Push.Effect>.element(of: Array(Push.Effect.allCases)).array(0...8)
    forAll(codes, runs: 500) { effects in
      let packed = effects.enumerated().reduce(UInt64(0)) {
        $0 | (UInt64($1.element.rawValue) + 1) << (UInt64($1.offset) * 8)
      }
      let list = MachineEffects<Push.Effect>(packed: packed)
      try expectEqual(Array(list), effects)
      try expectEqual(list.count, effects.count)
      try expectEqual(list.isEmpty, effects.isEmpty)
    }
  }

  func testGarbageInPackedEffectsEndsTheList() {
    let list = MachineEffects<Push.Effect>(packed: .max)
    XCTAssertEqual(Array(list), [])
    XCTAssertEqual(list.description, "[]")
  }

  func testARunnerFollowsItsMachine() {
    var runner = MachineRunner<AppPhase>()
    XCTAssertEqual(runner.state, .suspended)
    let step = runner.handle(.foregroundExtensionInactive)
    XCTAssertEqual(step.answer, .moved)
    XCTAssertEqual(Array(step.effects), [.publishWorking, .activateChat])
    XCTAssertEqual(step.effects.description, "[publishWorking, activateChat]")
    XCTAssertEqual(runner.state, .activating)
    XCTAssertEqual(runner.handle(.refreshBegan).answer, .refused(.activating))
    XCTAssertEqual(runner.handle(.startConfirmed).answer, .ignored(.alreadyActivating))
    XCTAssertEqual(runner.state, .activating)
    XCTAssertEqual(MachineRunner<TokenStatus>(state: .confirmed).state, .confirmed)
  }

  /// The reference for the compiled machine's speed (`make bench`) is the same machine, hand-written in C.
  func testTheHandWrittenSwitchGivesTheSameAnswers() {
    for (state, event, step) in allSteps(TokenStatus.self) {
      let reference = token_step(state.rawValue, event.rawValue)
      XCTAssertEqual(reference.state, step.next.rawValue, "\(state) \(event)")
      XCTAssertEqual(reference.effects, step.effects.packed, "\(state) \(event)")
      let kind: UInt8 =
        switch step.answer {
        case .moved: 0
        case .stayed: 1
        case .ignored: 2
        case .refused: 3
        }
      XCTAssertEqual(reference.kind, kind, "\(state) \(event)")
    }
  }

  func testTimersSayWhatTheyDo() {
    XCTAssertEqual(
      MailboxFetch.timer(.startDeadline), .start("deadline", milliseconds: 10_000, raise: .timeout))
    XCTAssertEqual(MailboxFetch.timer(.cancelDeadline), .cancel("deadline"))
    XCTAssertNil(MailboxFetch.timer(.sendGet))
    XCTAssertNil(AppPhase.timer(.publishWorking))
  }
}
