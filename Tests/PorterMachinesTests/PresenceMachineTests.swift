import PorterMachines
import PropertyTesting
import XCTest

/// A process that asks, and another that is running, or is frozen, suspended or killed in the meantime.
final class PresenceMachineTests: XCTestCase {
  /// The other process's condition, as the kernel and the channel show it.
  private enum Other: CaseIterable {
    case absent, awake, frozen, mute
  }

  private enum Move: CaseIterable {
    case ask, proceed, answer, timeOut
  }

  private struct Observer {
    var machine = MachineRunner<Presence>()
    var due: [Presence.Effect] = []
    var timerRuns = false
    var questionIsOut = false
    var waiters = 0

    mutating func raise(_ event: Presence.Event) { due += machine.handle(event).effects }

    mutating func proceed(_ other: Other) {
      guard !due.isEmpty else { return }
      switch due.removeFirst() {
      case .readLock: raise(other == .absent ? .lockFree : .lockHeld)
      case .sendAsk: if other == .mute || other == .absent { raise(.lockMute) } else { questionIsOut = true }
      case .reportAlive, .reportGone: waiters = 0
      case .startPatience: timerRuns = true
      case .cancelPatience: timerRuns = false
      }
    }
  }

  /// Whatever happens, in any order, every question is answered within one patience.
  func testEveryQuestionIsAnswered_INC39() {
    let moves = both(Generator<Move>.element(of: Move.allCases), Generator<Other>.element(of: Other.allCases))
    forAll(moves.array(0...60), runs: 2_000) { moves in
      var observer = Observer()
      for (move, other) in moves {
        switch move {
        case .ask:
          observer.waiters += 1
          observer.raise(.question)
        case .proceed: observer.proceed(other)
        case .answer where observer.questionIsOut && other == .awake: observer.raise(.here)
        case .timeOut where observer.timerRuns:
          observer.timerRuns = false
          observer.raise(.patienceOver)
        case .answer, .timeOut: break
        }
      }
      while !observer.due.isEmpty { observer.proceed(.frozen) }
      if observer.machine.state == .asking {
        try expect(observer.timerRuns, "no question would ever be answered")
        observer.raise(.patienceOver)
        while !observer.due.isEmpty { observer.proceed(.frozen) }
      }
      try expect(observer.machine.state != .asking)
      try expectEqual(observer.waiters, 0)
    }
  }

  /// INC-12: earlier knowledge does not affect the answer to a question.
  func testNothingIsLatched_INC12_INC13_INC17() {
    for state in Presence.State.allCases where state != .asking {
      let step = Presence.step(state, .question)
      XCTAssertEqual(step.next, .asking, "\(state)")
      XCTAssertEqual(Array(step.effects), [.readLock], "\(state): the kernel first")
    }
    XCTAssertEqual(Presence.step(.asking, .lockFree).next, .gone, "the kernel's no is final")
    for state in [Presence.State.alive, .silent] { XCTAssertEqual(Presence.step(state, .lockFree).next, .gone) }
  }
}
