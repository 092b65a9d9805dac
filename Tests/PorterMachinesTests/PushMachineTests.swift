import PorterMachines
import PropertyTesting
import XCTest

/// One push: answered exactly once, with everything released, whatever happens.
final class PushMachineTests: XCTestCase {
  private let events = Generator<Push.Event>.element(of: Array(Push.Event.allCases))

  func testAPushIsAnsweredExactlyOnceOnEveryPath_INC30_INC31() {
    forAll(events.array(0...120), runs: 2_000) { path in
      var push = MachineRunner<Push>()
      var answers = 0
      // The deadline expires at the end of every path, and once more, which is possible; then the store is released.
      for event in path + [.expire, .expire, .releasedExpired] {
        let step = push.handle(event)
        answers += step.effects.count { $0 == .answer }
        try expectEqual(answers, Push.isFinal(push.state) ? 1 : 0, "after \(event) in \(push.state)")
      }
      try expectEqual(answers, 1)
    }
  }

  func testPathsThatMakeProgressAreAnsweredOnceToo_INC30() {
    // Random events are mostly ignored; here each choice is among those that cause a transition.
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
      for event in [Push.Event.expire, .releasedExpired] {
        answers += push.handle(event).effects.count { $0 == .answer }
      }
      try expect(Push.isFinal(push.state))
      try expectEqual(answers, 1)
    }
  }

  func testExpiryReleasesTheStoreFromEveryState_INC30() {
    for state in Push.State.allCases where !Push.isFinal(state) && state != .releasing {
      let step = Push.step(state, .expire)
      XCTAssertEqual(step.next, .releasing, "\(state)")
      XCTAssertEqual(Array(step.effects).last, .releaseStore, "\(state)")
    }
    XCTAssertEqual(Push.step(.releasing, .expire).answer, .ignored(.alreadyReleasing))
  }

  /// The store is released first, and nothing else leads to an answer.
  func testTheAnswerIsTheLastThingAndTheStoreIsReleasedThen_INC48() {
    for (state, event, step) in allSteps(Push.self) where Push.isFinal(step.next) && step.answer == .moved {
      XCTAssertEqual(state, .releasing, "\(event)")
      XCTAssertTrue(event.name.hasPrefix("released."), event.name)
      XCTAssertEqual(step.next.name, String(event.name.dropFirst("released.".count)))
      XCTAssertEqual(step.effects.filter { $0 != .composeNotice }, [.answer])
      XCTAssertEqual(Array(step.effects).last, .answer)
    }
    for (state, event, step) in allSteps(Push.self) where step.answer == .moved && step.next == .releasing {
      XCTAssertEqual(Array(step.effects).last, .releaseStore, "\(state) \(event)")
    }
  }

  func testAnAcknowledgedMessageWasCommitted() {
    for state in Push.State.allCases {
      for event in Push.Event.allCases where Push.step(state, event).effects.contains(.acknowledge) {
        XCTAssertEqual(state, .committing)
        XCTAssertTrue([.commitDone, .commitCall, .commitRepeat, .commitQuarantined].contains(event))
      }
    }
  }

  func testWhatCannotImproveEndsWithoutWaiting_INC32() {
    let hopeless: [(Push.State, Push.Event)] = [
      (.received, .payloadUnknown), (.deciding, .appRunning), (.deciding, .appStopped), (.openingStore, .storeLocked),
      (.openingStore, .storeWrongSchema), (.openingStore, .storeBusy), (.openingStore, .storeFailed),
    ]
    for (state, event) in hopeless {
      let step = Push.step(state, event)
      XCTAssertEqual(step.next, .releasing)
      XCTAssertEqual(Array(step.effects), [.releaseStore])
    }
  }

  func testEveryOutcomeIsReached() {
    let finals = Set(Push.State.allCases.filter { Push.isFinal($0) })
    XCTAssertEqual(finals.count, 12)
    let reached = Push.State.allCases.flatMap { state in Push.Event.allCases.map { Push.step(state, $0).next } }
    XCTAssertTrue(Set(reached).isSuperset(of: finals))
  }

  /// Whatever a message-receiving push is waiting for.
  func testACallHurriesAPushInEveryWait_INC43() {
    for state in [Push.State.claiming, .fetching, .committing, .acknowledging] {
      let came = Push.step(state, .callCame)
      XCTAssertEqual(came.answer, .stayed, "\(state)")
      XCTAssertEqual(Array(came.effects), [.armCallDeadline], "\(state)")
      let waits = Push.step(state, .callWaits)
      XCTAssertEqual(waits.next, .presenting, "\(state)")
      XCTAssertEqual(Array(waits.effects), [.cancelWork, .composeContent], "\(state)")
    }
  }

  func testTheOrdinaryPush() {
    var push = MachineRunner<Push>()
    let story: [(Push.Event, [Push.Effect])] = [
      (.payloadMessage, [.readAppPhase]), (.appInactive, [.openStore]), (.storeOpened, [.decodePayload]),
      (.decodedMessage, [.claimNext]), (.claimGranted, [.fetchMessage]), (.fetchMessage, [.commitMessage]),
      (.commitDone, [.acknowledge]), (.fetchMessage, [.commitMessage]), (.commitDone, [.acknowledge]),
      // From a relay that does not say what comes next.
      (.acknowledged, [.fetchMessage]), (.fetchMessage, [.commitMessage]), (.commitDone, [.acknowledge]),
      (.fetchEmpty, [.releaseClaim, .claimNext]),
      (.claimNoneLeft, [.composeContent]), (.composedShow, [.sendOutbox]), (.sent, [.releaseStore]),
      (.releasedPresented, [.answer]),
    ]
    for (event, effects) in story { XCTAssertEqual(Array(push.handle(event).effects), effects, event.name) }
    XCTAssertEqual(push.state, .presented)
  }
}
