import PorterMachines
import XCTest

/// What the machines around the store promise, shown by walking everything that can happen.
final class LifecycleTests: XCTestCase {
  func testWhereverTheChatIsSuspendedOrClosedTheStoreIsClosed_INC01() {
    struct World: Hashable {
      var state = ChatLifecycle.initial
      var storeIsOpen = false
    }
    let opening: Set<ChatLifecycle.Effect> = [.openStore, .resumeWork]
    explore(World()) { world in
      if world.state == .closed || world.state == .suspended { XCTAssertFalse(world.storeIsOpen, "\(world)") }
      return ChatLifecycle.Event.allCases.map { event in
        let step = ChatLifecycle.step(world.state, event)
        var next = World(state: step.next, storeIsOpen: world.storeIsOpen)
        for effect in step.effects {
          if opening.contains(effect) { next.storeIsOpen = true }
          if effect == .closeStore { next.storeIsOpen = false }
        }
        if event == .openFailed, step.answer == .moved { next.storeIsOpen = false }
        return next
      }
    }
  }

  func testEverySuspensionWithADelayEndsInTheEventOrIsCalledOff_INC39() {
    for state in ChatLifecycle.State.allCases where state != .starting && state != .active && state != .activating {
      let step = ChatLifecycle.step(state, .suspend)
      if state == .suspending {
        XCTAssertEqual(Array(step.effects), [.drainWork], "still one event to come")
      } else {
        XCTAssertTrue(step.effects.contains(.emitChatSuspended), "\(state)")
      }
    }
    XCTAssertTrue(ChatLifecycle.step(.suspending, .drained).effects.contains(.emitChatSuspended))
  }

  func testSuspendNowNeverEmitsTheEvent() {
    for state in ChatLifecycle.State.allCases {
      let step = ChatLifecycle.step(state, .suspendNow)
      XCTAssertFalse(step.effects.contains(.emitChatSuspended), "\(state)")
      XCTAssertTrue([.closed, .suspended].contains(step.next), "\(state) must end at once")
    }
  }

  func testShutDownEndsFromEverywhere() {
    for state in ChatLifecycle.State.allCases {
      XCTAssertEqual(ChatLifecycle.step(state, .shutDown).next, .closed, "\(state)")
    }
  }

  func testSuspendTimersOfPhasesRunOnlyWhileSuspending_INC21() {
    suspendTimer(AppPhase.self, suspending: .suspending, arm: .armSuspendTimer, cancel: .cancelSuspendTimer, .timeout)
    suspendTimer(
      ExtensionPhase.self, suspending: .suspending, arm: .armSuspendTimer, cancel: .cancelSuspendTimer, .timeout)
  }

  private func suspendTimer<M: Machine>(
    _ machine: M.Type, suspending: M.State, arm: M.Effect, cancel: M.Effect, _ timeout: M.Event
  ) {
    typealias World = TimedWorld<M.State>
    explore(World(state: M.initial)) { world in
      XCTAssertEqual(world.armed, world.state == suspending, "\(M.name) \(world)")
      return M.Event.allCases.compactMap { event in
        if event == timeout && !world.armed { return nil }
        let step = M.step(world.state, event)
        var next = World(state: step.next, armed: world.armed && event != timeout)
        for effect in step.effects {
          if effect == arm { next.armed = true }
          if effect == cancel { next.armed = false }
        }
        return next
      }
    }
  }

  /// Whoever comes to the front goes on at once; an extension at work is asked first, and its epoch ends.
  func testAnAppNeverWaitsForAnExtension_INC07_INC22() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved && step.next == .activating {
      let effects = Array(step.effects)
      XCTAssertEqual(effects.last, .activateChat, "\(state) \(event)")
      let asked = event == .foregroundExtensionActive
      XCTAssertEqual(effects.contains(.askExtensionToYield), asked, "\(state) \(event)")
      XCTAssertEqual(effects.contains(.displaceExtension), asked, "\(state) \(event)")
    }
  }

  func testAPhaseIsPublishedWheneverItChanges_INC11() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved {
      XCTAssertEqual(step.effects.count { $0 == .publishPhase }, 1, "\(state) \(event)")
    }
    for (state, event, step) in allSteps(ExtensionPhase.self) where step.answer == .moved {
      XCTAssertEqual(step.effects.count { $0 == .publishPhase }, 1, "\(state) \(event)")
    }
  }

  func testSuspendedIsPublishedAfterTheStoreIsClosed_INC01() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved && step.next == .suspended {
      XCTAssertEqual(Array(step.effects).last, .publishPhase, "\(state) \(event)")
      XCTAssertTrue(event == .chatSuspended || step.effects.contains(.suspendChatNow), "\(state) \(event)")
    }
  }

  func testEachWaitOfAMailboxFetchHasADeadline_INC39() {
    for (state, event, step) in allSteps(MailboxFetch.self) where step.answer == .moved {
      let waits = step.next != .idle
      XCTAssertEqual(step.effects.contains(.startDeadline), waits, "\(state) \(event)")
      XCTAssertEqual(step.effects.contains(.releaseMailbox), !waits, "\(state) \(event)")
    }
  }

  func testATokenIsOnRecordAsActiveBeforeAnythingIsSubscribedToIt() {
    for (state, event, step) in allSteps(TokenStatus.self) where step.answer == .moved && step.next == .active {
      XCTAssertEqual(Array(step.effects).first, .publishStatus, "\(state) \(event)")
    }
  }

  func testATokenIsActiveOnlyAfterTheServerSaidSo() {
    for (state, event, step) in allSteps(TokenStatus.self) where step.next == .active && state != .active {
      XCTAssertTrue([.verifyOk, .checkActive].contains(event), "\(state) \(event)")
    }
    for (state, event, step) in allSteps(ServerToken.self) where step.next == .active && state != .active {
      XCTAssertEqual(event, .verifyMatch, "\(state)")
    }
  }

  func testMessagesAreShownOnceAndNeverFromQuarantine_INC34_INC41() {
    for (state, event, step) in allSteps(LedgerEntry.self) where step.effects.contains(.show) {
      XCTAssertEqual(state, .committed)
      XCTAssertEqual(event, .present)
      XCTAssertEqual(step.next, .presented)
    }
    let backward = allSteps(LedgerEntry.self).filter { $0.step.next == .committed && $0.step.answer == .moved }
    XCTAssertEqual(
      Set(backward.map(\.state)), [.seen], "nothing that was shown or is in quarantine becomes showable again")
  }
}
