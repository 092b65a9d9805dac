import PorterMachines
import XCTest

/// Properties of every machine.
final class TotalityTests: XCTestCase {
  func testThereAreMachines() {
    let expected = [
      "app_phase", "chat_lifecycle", "connection", "extension_phase", "ledger_entry", "mailbox_fetch", "ownership",
      "push",
      "server_token", "subscription", "token_status",
    ]
    XCTAssertTrue(Set(MachineCatalog.all.map(\.name)).isSuperset(of: expected))
    for (index, machine) in MachineCatalog.all.enumerated() {
      XCTAssertEqual(MachineCatalog.index(named: machine.name), index)
    }
    XCTAssertNil(MachineCatalog.index(named: "no_such_machine"))
  }

  func testEveryStateAnswersEveryEvent() {
    for machine in MachineCatalog.all {
      XCTAssertEqual(machine.allAnswers.count, machine.states.count * machine.events.count, machine.name)
      for (state, event, step) in machine.allAnswers {
        let pair = "\(machine.name): \(machine.states[Int(state)]), \(machine.events[Int(event)])"
        XCTAssertLessThan(Int(step.next), machine.states.count, pair)
        switch step.kind {
        case .moved:
          XCTAssertNotEqual(step.next, state, pair)
          XCTAssertNil(step.reason, pair)
        case .stayed:
          XCTAssertEqual(step.next, state, pair)
          XCTAssertFalse(step.effects.isEmpty, "\(pair): nothing happens, without a reason")
          XCTAssertNil(step.reason, pair)
        case .ignored, .refused:
          XCTAssertEqual(step.next, state, pair)
          XCTAssertEqual(step.effects, [], pair)
          XCTAssertNotNil(step.reason, pair)
        }
      }
    }
  }

  func testInvalidCodesAreNotAnswered() {
    for machine in MachineCatalog.all {
      for code in UInt8.min...UInt8.max {
        XCTAssertEqual(machine.step(state: code, event: 0) == nil, Int(code) >= machine.states.count)
        XCTAssertEqual(machine.step(state: 0, event: code) == nil, Int(code) >= machine.events.count)
      }
    }
  }

  func testEveryStateEffectAndReasonIsReachedFromTheStart() {
    for machine in MachineCatalog.all {
      var states: Set<UInt8> = [machine.initial]
      var (effects, reasons): (Set<UInt8>, Set<UInt8>) = ([], [])
      var open = [machine.initial]
      while let state = open.popLast() {
        for event in machine.events.indices {
          guard let step = machine.step(state: state, event: UInt8(event)) else { continue }
          effects.formUnion(step.effects)
          if let reason = step.reason { reasons.insert(reason) }
          if states.insert(step.next).inserted { open.append(step.next) }
        }
      }
      XCTAssertEqual(states.count, machine.states.count, machine.name)
      XCTAssertEqual(effects.count, machine.effects.count, machine.name)
      XCTAssertEqual(reasons.count, machine.reasons.count, machine.name)
    }
  }

  func testFinalStatesIgnoreEverything() {
    for machine in MachineCatalog.all {
      for (state, _, step) in machine.allAnswers where machine.isFinal[Int(state)] {
        XCTAssertEqual(step.kind, .ignored)
        XCTAssertEqual(step.reason.map { machine.reasons[Int($0)] }, "ended")
      }
    }
  }

  func testNoStateIsATrap() {
    for machine in MachineCatalog.all {
      for state in machine.states.indices where !machine.isFinal[state] {
        let moves = machine.allAnswers.contains { Int($0.state) == state && $0.step.kind == .moved }
        XCTAssertTrue(moves, "\(machine.name): \(machine.states[state])")
      }
    }
  }

  func testNamesAreThoseOfTheFile() {
    XCTAssertEqual(TokenStatus.Event.verifyAuthError.name, "verify.authError")
    XCTAssertEqual(TokenStatus.Event(name: "check.invalid.bad"), .checkInvalidBad)
    XCTAssertEqual(TokenStatus.State(name: "invalidBad"), .invalidBad)
    XCTAssertNil(TokenStatus.State(name: "invalid,bad"))
    for machine in MachineCatalog.all {
      for names in [machine.states, machine.events, machine.effects, machine.reasons] {
        XCTAssertEqual(Set(names).count, names.count, machine.name)
      }
    }
  }
}
