import PorterMachines
import XCTest

/// For tests that explore every possible course of events.
extension XCTestCase {
  func allSteps<M: Machine>(_ machine: M.Type) -> [(state: M.State, event: M.Event, step: MachineStep<M>)] {
    M.State.allCases.flatMap { state in M.Event.allCases.map { (state, $0, M.step(state, $0)) } }
  }

  /// Visits everything reachable.
  func explore<World: Hashable>(_ start: World, _ next: (World) -> [World]) {
    var seen: Set<World> = [start]
    var open = [start]
    while let world = open.popLast() {
      for other in next(world) where seen.insert(other).inserted { open.append(other) }
    }
  }
}

/// A machine, and whether one of its timers is running.
struct TimedWorld<State: MachineCode>: Hashable {
  var state: State
  var armed = false
}
