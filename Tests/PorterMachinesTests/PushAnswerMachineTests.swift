import PorterMachines
import PropertyTesting
import XCTest

/// The answer to a push, whatever the caller, the clock and the engine do.
final class PushAnswerMachineTests: XCTestCase {
  /// INC-31: every path ends with one answer, and there is always a way to it, even without the engine.
  func testINC31EveryPathGivesOneAnswer() throws {
    let choices = Generator<Int>.number(0...Int.max).map { number in
      (0..<12).map { PushAnswer.Event.allCases[(number >> ($0 * 5)) % 5] }
    }
    forAll(choices, runs: 2_000) { events in
      var machine = MachineRunner<PushAnswer>()
      var answers = 0
      for event in events + [.overdue] { answers += machine.handle(event).effects.filter { $0 == .answer }.count }
      try expectEqual(answers, 1, "\(events)")
      try expectEqual(machine.state, .answered, "\(events)")
    }
  }

  /// What is staged is recorded as shown: once something is staged, no answer omits it, and nothing is staged for a
  /// caller that has its answer.
  func testINC38WhatIsStagedIsAnswered() {
    for (state, event, step) in allSteps(PushAnswer.self) where step.answer == .moved {
      if step.effects.contains(.keep) { XCTAssertEqual(step.next, .staged, "\(state) \(event)") }
      if event == .overdue { XCTAssertEqual(step.effects.contains(.useStaged), state == .staged, "\(state)") }
    }
    XCTAssertEqual(PushAnswer.step(.answered, .stage).answer, .ignored(.ended))
    XCTAssertEqual(PushAnswer.step(.queued, .stage).answer, .refused(.notBegun))
  }

  /// Only the push that the engine is working on may interrupt it.
  func testAWaitingPushInterruptsNothing() {
    for (state, event, step) in allSteps(PushAnswer.self) where step.effects.contains(.hurry) {
      XCTAssertTrue([.running, .staged].contains(state), "\(state) \(event)")
    }
    XCTAssertEqual(Array(PushAnswer.step(.queued, .expire).effects), [.withdraw])
  }
}
