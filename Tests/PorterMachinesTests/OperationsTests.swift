import PorterMachines
import XCTest

/// The promises of the machine `operations`, shown by exploring every possible course of events.
final class OperationsTests: XCTestCase {
  private static let begins: [Operations.Event] = [
    .beginNotifications, .beginReceiving, .beginDelivery, .beginSending, .beginDatabase,
  ]
  private static let idles: [Operations.Event] = [
    .idleNotifications, .idleReceiving, .idleDelivery, .idleSending, .idleDatabase,
  ]
  private static let awaits: [Operations.Effect] = [
    .awaitNotifications, .awaitReceiving, .awaitDelivery, .awaitSending, .awaitDatabase,
  ]
  private static let draining: [Operations.State] = [
    .drainingNotifications, .drainingReceiving, .drainingDelivery, .drainingSending, .drainingDatabase,
  ]

  private static let stopping: [Operations.State] = [
    .stoppingNotifications, .stoppingReceiving, .stoppingDelivery, .stoppingSending, .networkStopped,
  ]

  /// In the background the same order ends before the last kind; a suspension continues from there.
  func testTheNetworkComesToRestInTheSameOrder() {
    var runner = MachineRunner<Operations>(state: .running)
    XCTAssertEqual(Array(runner.handle(.stopNetwork).effects), [.awaitNotifications])
    for (place, state) in Self.stopping.enumerated() {
      XCTAssertEqual(runner.state, state)
      for (other, idle) in Self.idles.enumerated() where other != place || state == .networkStopped {
        XCTAssertEqual(Operations.step(state, idle).answer, .ignored(.stale), "\(idle) does not end \(state)")
      }
      let suspended = Operations.step(state, .suspend)
      XCTAssertEqual(suspended.next, Self.draining[place])
      XCTAssertEqual(Array(suspended.effects), [.armDeadline, Self.awaits[place]])
      let resumed = Operations.step(state, .resume)
      XCTAssertEqual(resumed.next, .running)
      XCTAssertEqual(Array(resumed.effects), [])
      if state == .networkStopped { break }
      XCTAssertEqual(
        Array(runner.handle(Self.idles[place]).effects), [place < 3 ? Self.awaits[place + 1] : .releaseRelay])
    }
  }

  func testKindsComeToRestInTheirOrder() {
    var runner = MachineRunner<Operations>(state: .running)
    XCTAssertEqual(Array(runner.handle(.suspend).effects), [.armDeadline, .awaitNotifications])
    for (place, state) in Self.draining.enumerated() {
      XCTAssertEqual(runner.state, state)
      for (other, idle) in Self.idles.enumerated() where other != place {
        XCTAssertEqual(Operations.step(state, idle).next, state, "\(idle) does not end \(state)")
      }
      let step = runner.handle(Self.idles[place])
      if place < 4 {
        XCTAssertEqual(Array(step.effects), [Self.awaits[place + 1]])
      } else {
        XCTAssertEqual(Array(step.effects), [.cancelDeadline, .giveUpWork, .reportQuiescent])
      }
    }
    XCTAssertEqual(runner.state, .quiescent)
  }

  /// Work of an earlier kind may need a later one, never the reverse.
  func testWhileAKindIsDrainedJustTheLaterOnesMayBegin() {
    for (place, state) in Self.draining.enumerated() {
      for (other, begin) in Self.begins.enumerated() {
        XCTAssertEqual(admits(state, begin), other > place, "\(state) \(begin)")
      }
    }
    for (place, state) in Self.stopping.enumerated() {
      for (other, begin) in Self.begins.enumerated() {
        let last = begin == .beginDatabase
        XCTAssertEqual(admits(state, begin), last || other > place, "\(state) \(begin)")
      }
    }
    for begin in Self.begins {
      XCTAssertTrue(admits(.running, begin))
      XCTAssertFalse(admits(.quiescent, begin))
      XCTAssertEqual(admits(.storeOnly, begin), begin == .beginDatabase)
    }
  }

  private func admits(_ state: Operations.State, _ event: Operations.Event) -> Bool {
    let step = Operations.step(state, event)
    XCTAssertEqual(step.next, state, "asking changes nothing")
    return Array(step.effects) == [.admit]
  }

  func testTheDeadlineRunsOnlyWhileDraining_INC21() {
    typealias World = TimedWorld<Operations.State>
    explore(World(state: Operations.initial)) { world in
      XCTAssertEqual(world.armed, Self.draining.contains(world.state), "\(world)")
      return Operations.Event.allCases.compactMap { event in
        if event == .deadline && !world.armed { return nil }
        let step = Operations.step(world.state, event)
        var next = World(state: step.next, armed: world.armed && event != .deadline)
        for effect in step.effects {
          if effect == .armDeadline { next.armed = true }
          if effect == .cancelDeadline { next.armed = false }
        }
        return next
      }
    }
  }

  func testADeadlineThatNoCycleArmedChangesNothing_INC21() {
    for state in [Operations.State.quiescent, .storeOnly, .running] {
      XCTAssertEqual(Operations.step(state, .deadline).answer, .ignored(.stale))
      for idle in Self.idles { XCTAssertEqual(Operations.step(state, idle).answer, .ignored(.stale)) }
    }
  }

  func testAnotherDelayCountsFromThenOn() {
    for state in Self.draining {
      let step = Operations.step(state, .suspend)
      XCTAssertEqual(step.next, state)
      XCTAssertEqual(Array(step.effects), [.armDeadline])
    }
  }

  /// Rest is reported, except to `suspendNow`, whose caller has it on return.
  func testEveryWayIntoRestReleasesTheRelayAndIsReportedUnlessItWasImmediate_INC01() {
    for (state, event, step) in allSteps(Operations.self) where step.answer == .moved && step.next == .quiescent {
      XCTAssertTrue(step.effects.contains(.giveUpWork), "\(state) \(event)")
      XCTAssertEqual(step.effects.contains(.reportQuiescent), event != .suspendNow, "\(state) \(event)")
    }
    for state in Operations.State.allCases {
      XCTAssertEqual(Operations.step(state, .suspendNow).next, .quiescent, "\(state)")
    }
  }

  func testADrainIsCalledOffByResuming() {
    for state in Self.draining {
      let step = Operations.step(state, .resume)
      XCTAssertEqual(step.next, .running)
      XCTAssertEqual(Array(step.effects), [.cancelDeadline])
    }
  }
}
