import PorterMachines
import XCTest

/// The promises of the machines around the store, shown by exploring every possible course of events.
final class LifecycleTests: XCTestCase {
  func testWhereverTheChatIsSuspendedOrClosedTheStoreIsClosed_INC01() {
    struct World: Hashable {
      var state = ChatLifecycle.initial
      var storeIsOpen = false
    }
    func asks(_ effects: MachineEffects<ChatLifecycle.Effect>) -> [(Bool, [ChatLifecycle.Event])] {
      effects.compactMap { effect in
        switch effect {
        case .openStore: (true, [.openFailed])
        case .startWork: (true, [.startFailedClosed, .startFailedUnreadable])
        case .resumeWork: (true, [.activateFailed])
        case .closeStore: (false, [.closeFailed])
        case .dozeStore: (false, [.dozeFailed])
        default: nil
        }
      }
    }
    /// The states that a step leads to when the requested action succeeds, and when it fails; failures are steps of
    /// their own.
    func worlds(_ world: World, on event: ChatLifecycle.Event) -> [World] {
      let step = ChatLifecycle.step(world.state, event)
      guard let (opens, failures) = asks(step.effects).first else {
        return [World(state: step.next, storeIsOpen: world.storeIsOpen)]
      }
      var outcomes = [World(state: step.next, storeIsOpen: opens)]
      guard
        opens != world.storeIsOpen || failures.contains(.startFailedUnreadable) || failures.contains(.activateFailed)
      else { return outcomes }
      for failure in failures {
        let isOpen = [.startFailedUnreadable, .closeFailed, .dozeFailed].contains(failure)
        // Started from an open store, it cannot fail to open.
        if failure == .startFailedClosed, world.storeIsOpen { continue }
        outcomes += worlds(World(state: step.next, storeIsOpen: isOpen), on: failure)
      }
      return outcomes
    }
    explore(World()) { world in
      if [.closed, .suspended, .dozing].contains(world.state) { XCTAssertFalse(world.storeIsOpen, "\(world)") }
      if world.state == .stillOpen || world.state == .suspendedStillOpen {
        XCTAssertTrue(world.storeIsOpen, "\(world)")
      }
      let answers: [ChatLifecycle.Event] = [
        .openFailed, .closeFailed, .startFailedClosed, .startFailedUnreadable, .activateFailed, .dozeFailed,
      ]
      return ChatLifecycle.Event.allCases.filter { !answers.contains($0) }.flatMap { worlds(world, on: $0) }
    }
  }

  func testEverySuspensionWithADelayEndsInTheEventOrIsCalledOff_INC39() {
    for state in ChatLifecycle.State.allCases where ![.starting, .active, .background, .activating].contains(state) {
      let step = ChatLifecycle.step(state, .suspend)
      if state == .suspending {
        XCTAssertEqual(Array(step.effects), [.drainWork], "still one event to come")
      } else {
        XCTAssertTrue(step.effects.contains(.emitChatSuspended), "\(state)")
      }
    }
    XCTAssertTrue(ChatLifecycle.step(.suspending, .drained).effects.contains(.emitChatSuspended))
  }

  func testSuspendNowNeverEmitsTheEventAndIsReported() {
    for state in ChatLifecycle.State.allCases where ![.starting, .activating].contains(state) {
      let step = ChatLifecycle.step(state, .suspendNow)
      XCTAssertFalse(step.effects.contains(.emitChatSuspended), "\(state)")
      XCTAssertEqual(Array(step.effects).last, .reportSuspended, "\(state)")
      XCTAssertTrue([.closed, .suspended].contains(step.next), "\(state)")
    }
  }

  /// They end within the step that began them, so an event that arrives is an engine bug.
  func testNothingArrivesWhileTheChatStarts() {
    for event in [ChatLifecycle.Event.suspend, .suspendNow, .doze, .stop, .close] {
      XCTAssertEqual(ChatLifecycle.step(.starting, event).answer, .refused(.starting))
      XCTAssertEqual(ChatLifecycle.step(.activating, event).answer, .refused(.activating))
    }
  }

  /// An app that comes to the front never waits; a running extension is asked first.
  func testAnAppNeverWaitsForAnExtension_INC07_INC22() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved && step.next == .activating {
      let effects = Array(step.effects)
      XCTAssertEqual(effects.last, .activateChat, "\(state) \(event)")
      XCTAssertEqual(effects.contains(.askExtensionToYield), event == .foregroundExtensionActive, "\(state) \(event)")
    }
  }

  func testAPhaseIsPublishedBeforeItIsAtWorkAndAfterTheStoreIsClosed_INC01_INC11() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved {
      let effects = step.effects.filter { AppPhase.timer($0) == nil && $0 != .cancelBackground && $0 != .showCalls }
      switch step.next {
      case .active, .activating, .bgRefresh: XCTAssertEqual(effects.first, .publishWorking, "\(state) \(event)")
      case .background, .suspending, .stopped: XCTAssertEqual(effects.last, .publishResting, "\(state) \(event)")
      case .suspended:
        XCTAssertEqual(effects, event == .chatSuspended ? [.publishResting] : [.suspendChatNow], "\(state) \(event)")
      }
    }
    XCTAssertEqual(Array(AppPhase.step(.suspended, .chatSuspended).effects), [.publishResting])
    for (state, event, step) in allSteps(ExtensionPhase.self) where step.answer == .moved {
      let effects = Array(step.effects)
      switch step.next {
      case .starting, .active: XCTAssertEqual(effects.first, .publishWorking, "\(state) \(event)")
      case .suspending: XCTAssertEqual(effects, [.suspendChat, .publishWorking], "\(state) \(event)")
      case .suspended:
        let isClosed = event == .chatSuspended || event == .startFailed
        XCTAssertEqual(
          effects, isClosed ? [.publishResting] : [event == .suspend ? .suspendChat : .suspendChatNow],
          "\(state) \(event)")
      case .created: XCTFail("\(state) \(event)")
      }
    }
    XCTAssertEqual(Array(ExtensionPhase.step(.suspended, .chatSuspended).effects), [.publishResting])
  }

  /// Before the store closes, and only where the app was on screen.
  func testAnAppThatLeavesTheScreenShowsItsCallsFirst() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved {
      let leaves = state == .active && [.background, .suspending, .suspended].contains(step.next)
      XCTAssertEqual(step.effects.contains(.showCalls), leaves, "\(state) \(event)")
      if leaves { XCTAssertEqual(Array(step.effects).first, .showCalls, "\(state) \(event)") }
    }
  }

  /// The background timer starts wherever the background time begins, and runs nowhere else (INC-01).
  func testATimeInTheBackgroundIsBounded() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved {
      let label = "\(state) \(event)"
      XCTAssertEqual(step.effects.contains(.startRefresh), step.next == .bgRefresh, label)
      let runsOut = event == .refreshOver
      XCTAssertEqual(step.effects.contains(.cancelRefresh), state == .bgRefresh && !runsOut, label)
    }
    XCTAssertEqual(AppPhase.step(.bgRefresh, .refreshOver).next, .suspending)
  }

  /// The time of an app that has left the screen is bounded in the same way, and ends in a suspension (INC-01).
  func testATimeOffTheScreenIsBounded() {
    for (state, event, step) in allSteps(AppPhase.self) where step.answer == .moved {
      let label = "\(state) \(event)"
      XCTAssertEqual(step.effects.contains(.armBackground), step.next == .background, label)
      XCTAssertEqual(
        step.effects.contains(.cancelBackground), state == .background && event != .backgroundOver, label)
    }
    let over = AppPhase.step(.background, .backgroundOver)
    XCTAssertEqual(over.next, .suspending)
    XCTAssertTrue(over.effects.contains(.suspendChat))
    XCTAssertEqual(AppPhase.step(.background, .background).answer, .ignored(.alreadyInBackground), "from the first")
  }

  /// A push that is a round is answered on every path, once its resources are released or the app is at the front.
  func testEachRoundInTheBackgroundIsAnsweredAndBounded_INC39() {
    for state in BackgroundRefresh.State.allCases {
      let step = BackgroundRefresh.step(state, .ended)
      switch state {
      case .running: XCTAssertEqual(Array(step.effects), [.cancelReceiving, .releaseApp])
      // Its push has ended.
      case .suspending: XCTAssertEqual(Array(step.effects), [])
      case .idle, .scheduled, .done, .expired: XCTAssertEqual(Array(step.effects), [.reportRefreshed], "\(state)")
      }
    }
    for (state, event, step) in allSteps(BackgroundRefresh.self) where step.answer == .moved {
      let label = "\(state) \(event)"
      XCTAssertEqual(step.effects.contains(.startReceiving), step.next == .running, label)
      XCTAssertEqual(step.effects.contains(.cancelReceiving), state == .running, label)
      XCTAssertEqual(step.effects.contains(.reportRefreshed), state == .suspending, label)
      if step.next == .idle { XCTAssertTrue(step.effects.contains(.cancelPlan), label) }
      if [.scheduled, .done].contains(step.next) { XCTAssertTrue(step.effects.contains(.planNext), label) }
      if step.next == .expired { XCTAssertTrue(step.effects.contains(.planSoon), label) }
    }
    XCTAssertEqual(Array(BackgroundRefresh.step(.running, .receivingOver).effects), [.endReceiving])
  }

  /// Whatever the phase: a process asked to release everything asks its chat to do so.
  func testEveryPhaseCanBeSuspended_INC01() {
    for state in AppPhase.State.allCases where state != .activating {
      XCTAssertTrue(AppPhase.step(state, .suspendNow).effects.contains(.suspendChatNow), "\(state)")
      XCTAssertTrue(AppPhase.step(state, .suspend).effects.contains(.suspendChat), "\(state)")
    }
    for state in ExtensionPhase.State.allCases where state != .starting {
      XCTAssertTrue(ExtensionPhase.step(state, .suspendNow).effects.contains(.suspendChatNow), "\(state)")
      XCTAssertTrue(ExtensionPhase.step(state, .suspend).effects.contains(.suspendChat), "\(state)")
    }
  }

  /// The next message is taken once the previous one is finished.
  func testAMailboxFetchGoesOnWithWhatAnAcknowledgementsAnswerHas() {
    var fetch = MachineRunner<MailboxFetch>()
    let story: [(MailboxFetch.Event, [MailboxFetch.Effect])] = [
      (.get, [.sendGet, .startDeadline]), (.message, [.cancelDeadline, .deliverMessage, .startDeadline]),
      (.committed, [.cancelDeadline, .sendAcknowledge, .startDeadline]),
      (.message, [.cancelDeadline, .emitMarker, .deliverMessage, .startDeadline]),
      (.committed, [.cancelDeadline, .sendAcknowledge, .startDeadline]),
      (.empty, [.cancelDeadline, .emitMarker, .reportEmpty, .releaseMailbox]),
    ]
    for (event, effects) in story { XCTAssertEqual(Array(fetch.handle(event).effects), effects, event.name) }
    XCTAssertEqual(fetch.state, .idle)
  }

  func testEachWaitOfAMailboxFetchHasADeadline_INC39() {
    for (state, event, step) in allSteps(MailboxFetch.self) where step.answer == .moved {
      let waits = step.next != .idle
      XCTAssertEqual(step.effects.contains(.startDeadline), waits, "\(state) \(event)")
      XCTAssertEqual(step.effects.contains(.releaseMailbox), !waits, "\(state) \(event)")
    }
  }

  func testATokenIsStoredAsActiveBeforeAnythingIsSubscribedToIt() {
    for (state, event, step) in allSteps(TokenStatus.self) where step.answer == .moved && step.next == .active {
      XCTAssertEqual(Array(step.effects).first, .saveStatus, "\(state) \(event)")
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
      XCTAssertTrue([.committed, .upgraded].contains(state), "\(state)")
      XCTAssertEqual(event, .present)
      XCTAssertEqual(step.next, .presented)
    }
    let backward = allSteps(LedgerEntry.self).filter { $0.step.next == .committed && $0.step.answer == .moved }
    XCTAssertEqual(
      Set(backward.map(\.state)), [.seen, .silenced],
      "nothing that is on screen or in quarantine becomes showable again")
    XCTAssertEqual(backward.first { $0.state == .silenced }?.event, .edit, "it has to say something else")
    let upgrades = allSteps(LedgerEntry.self).filter { $0.step.next == .upgraded && $0.step.answer == .moved }
    XCTAssertEqual(Set(upgrades.map(\.state)), [.announced, .quarantined, .vanished])
    XCTAssertEqual(Set(upgrades.map(\.event)), [.commit], "it has to open first")
  }
}
