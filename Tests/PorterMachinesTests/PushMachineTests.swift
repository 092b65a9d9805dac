import PorterMachines
import PropertyTesting
import XCTest

/// One push: answered exactly once, with everything let go of, whatever happens.
final class PushMachineTests: XCTestCase {
  private let events = Generator<Push.Event>.element(of: Array(Push.Event.allCases))

  func testAPushIsAnsweredExactlyOnceOnEveryPath_INC30_INC31() {
    forAll(events.array(0...120), runs: 2_000) { path in
      var push = MachineRunner<Push>()
      var answers = 0
      // The deadline comes at the end of every path, and once more, as it may.
      for event in path + [.expire, .expire] {
        let step = push.handle(event)
        answers += step.effects.count { $0 == .answer }
        try expectEqual(answers, Push.isFinal(push.state) ? 1 : 0, "after \(event) in \(push.state)")
      }
      try expectEqual(answers, 1)
    }
  }

  func testPathsThatMakeProgressAreAnsweredOnceToo_INC30() {
    // Random events are mostly ignored; here each choice is among those that move.
    forAll(Generator<UInt8>.number().array(0...60), runs: 2_000) { choices in
      var push = MachineRunner<Push>()
      var answers = 0
      for choice in choices where !Push.isFinal(push.state) {
        let moving = Push.Event.allCases.filter { event in
          event != .expire && [.moved, .stayed].contains(Push.step(push.state, event).answer)
        }
        let step = push.handle(moving[Int(choice) % moving.count])
        answers += step.effects.count { $0 == .answer }
      }
      answers += push.handle(.expire).effects.count { $0 == .answer }
      try expect(Push.isFinal(push.state))
      try expectEqual(answers, 1)
    }
  }

  func testExpiryAnswersAtOnceFromEveryState_INC30() {
    for state in Push.State.allCases where !Push.isFinal(state) {
      let step = Push.step(state, .expire)
      XCTAssertTrue(Push.isFinal(step.next), "\(state)")
      XCTAssertEqual(Array(step.effects).last, .answer, "\(state)")
    }
  }

  func testTheAnswerIsTheLastThingAndTheStoreIsClosedThen_INC48() {
    struct World: Hashable {
      var state = Push.initial
      var storeIsOpen = false
    }
    var seen: Set<World> = [World()]
    var open = [World()]
    var answered = 0
    while let world = open.popLast() {
      for event in Push.Event.allCases {
        let step = Push.step(world.state, event)
        var next = World(state: step.next, storeIsOpen: world.storeIsOpen && event != .quiescent)
        for effect in step.effects {
          if effect == .openStore { next.storeIsOpen = true }
          if effect == .closeStoreNow { next.storeIsOpen = false }
          if effect == .answer {
            answered += 1
            XCTAssertFalse(next.storeIsOpen, "\(world.state) \(event)")
            XCTAssertEqual(Array(step.effects).last, .answer, "\(world.state) \(event)")
          }
        }
        if seen.insert(next).inserted { open.append(next) }
      }
    }
    XCTAssertGreaterThan(answered, 0)
  }

  func testAnAcknowledgedMessageWasCommitted() {
    for state in Push.State.allCases {
      for event in Push.Event.allCases where Push.step(state, event).effects.contains(.acknowledge) {
        XCTAssertEqual(state, .committing)
        XCTAssertTrue([.commitDone, .commitRepeat, .commitQuarantined].contains(event))
      }
    }
  }

  func testWhatCannotImproveEndsWithoutWaiting_INC32() {
    let hopeless: [(Push.State, Push.Event, Push.State)] = [
      (.received, .payloadUnknown, .unknown), (.deciding, .appRunning, .yielded), (.deciding, .appStopped, .stopped),
      (.openingStore, .storeLocked, .locked), (.openingStore, .storeWrongSchema, .wrongSchema),
      (.openingStore, .storeBusy, .yielded), (.openingStore, .storeFailed, .failed),
    ]
    for (state, event, outcome) in hopeless {
      let step = Push.step(state, event)
      XCTAssertEqual(step.next, outcome)
      XCTAssertTrue(step.effects.contains(.answer))
    }
  }

  func testEveryOutcomeIsReached() {
    let finals = Set(Push.State.allCases.filter { Push.isFinal($0) })
    XCTAssertEqual(finals.count, 12)
    let reached = Push.State.allCases.flatMap { state in Push.Event.allCases.map { Push.step(state, $0).next } }
    XCTAssertTrue(Set(reached).isSuperset(of: finals))
  }

  func testTheOrdinaryPush() {
    var push = MachineRunner<Push>()
    let story: [(Push.Event, [Push.Effect])] = [
      (.payloadMessage, [.readAppPhase]), (.appInactive, [.openStore]), (.storeOpened, [.decodePayload]),
      (.decodedMessage, [.claimNext]), (.claimGranted, [.fetchMessage]), (.fetchMessage, [.commitMessage]),
      (.commitDone, [.acknowledge]), (.acknowledged, [.fetchMessage]), (.fetchEmpty, [.releaseClaim, .claimNext]),
      (.claimNoneLeft, [.composeContent]), (.contentShow, [.closeStore]), (.quiescent, [.answer]),
    ]
    for (event, effects) in story { XCTAssertEqual(Array(push.handle(event).effects), effects, event.name) }
    XCTAssertEqual(push.state, .presented)
  }
}
