import PorterMachines
import PropertyTesting
import XCTest

/// Two processes and one connection: each runs the machine as the engine does, and may be frozen between any two steps.
final class OwnershipMachineTests: XCTestCase {
  /// The next move of one process; a list of moves is an interleaving.
  private enum Move: CaseIterable {
    case want, proceed, commit, suspect, finish
  }

  /// The connection's row in the store.
  private struct Row {
    var epoch = 0
    var commits: [(epoch: Int, process: Int)] = []
  }

  private struct Process {
    let number: Int
    var machine = MachineRunner<Ownership>()
    var epochSeen = 0
    var claim: Int?
    /// Effects still to be carried out; a frozen process has some.
    var due: [Ownership.Effect] = []

    mutating func raise(_ event: Ownership.Event) { due += machine.handle(event).effects }

    /// Carries out one effect, with the store's content at that moment.
    mutating func proceed(_ row: inout Row) {
      guard !due.isEmpty else { return }
      switch due.removeFirst() {
      case .readOwner:
        epochSeen = row.epoch
        raise(.ownerYields)
      case .takeEpoch:
        guard row.epoch == epochSeen else { return raise(.raced) }
        row.epoch += 1
        claim = row.epoch
        raise(.granted)
      case .checkEpoch: raise(claim == row.epoch ? .confirmed : .displaced)
      case .discardWork, .forget: claim = nil
      case .reload: raise(.reloaded)
      case .beginWork, .skipWork, .refuseWork: break
      }
    }

    /// The transaction that asserts the epoch.
    mutating func commit(_ row: inout Row) {
      guard machine.state == .held || machine.state == .stale, let claim else { return }
      if row.epoch == claim { row.commits.append((claim, number)) } else { raise(.displaced) }
    }
  }

  func testNoEpochIsUsedByTwoProcesses_INC04_INC05() {
    let moves = both(Generator<Int>.number(0...1), Generator<Move>.element(of: Move.allCases)).array(0...60)
    forAll(moves, runs: 2_000) { moves in
      var row = Row()
      var processes = [Process(number: 0), Process(number: 1)]
      for (number, move) in moves {
        switch move {
        case .want where processes[number].due.isEmpty: processes[number].raise(.want)
        case .suspect where processes[number].due.isEmpty: processes[number].raise(.suspected)
        case .finish where processes[number].due.isEmpty: processes[number].raise(.finished)
        case .want, .suspect, .finish: break
        case .proceed: processes[number].proceed(&row)
        case .commit where processes[number].due.isEmpty: processes[number].commit(&row)
        case .commit: break
        }
        let owners = Dictionary(grouping: row.commits, by: \.epoch).mapValues { Set($0.map(\.process)) }
        try expect(owners.values.allSatisfy { $0.count == 1 }, "\(row.commits)")
        let epochs = row.commits.map(\.epoch)
        try expect(epochs == epochs.sorted(), "an epoch that is over commits nothing")
        for process in processes where process.machine.state == .held { try expect(process.claim != nil) }
      }
      // Whatever happened, the next process to claim it gets it, without waiting for the other.
      for number in 0...1 {
        while !processes[number].due.isEmpty { processes[number].proceed(&row) }
        processes[number].raise(.want)
        while !processes[number].due.isEmpty { processes[number].proceed(&row) }
        try expectEqual(processes[number].machine.state, .held)
        try expectEqual(processes[number].claim, row.epoch)
      }
    }
  }

  /// INC-05: from `lost`, nothing can be committed until the changes have been reloaded and a new claim made.
  func testADisplacedOwnerReloadsBeforeItOwnsAgain_INC05() {
    for state in [Ownership.State.held, .stale] {
      let step = Ownership.step(state, .displaced)
      XCTAssertEqual(step.next, .lost)
      XCTAssertEqual(Array(step.effects), [.discardWork, .reload])
    }
    for event in Ownership.Event.allCases {
      let next = Ownership.step(.lost, event).next
      XCTAssertTrue(next == .lost || next == .free, "\(event)")
    }
    XCTAssertEqual(Ownership.step(.lost, .want).answer, .refused(.reloading))
  }

  /// INC-07: no state waits for another process; every effect that asks something asks the process's own store.
  func testAYieldingClaimReportsTheOwnerAndNeverWaits_INC19() {
    let step = Ownership.step(.claiming, .ownerPrevails)
    XCTAssertEqual(step.next, .free)
    XCTAssertEqual(Array(step.effects), [.skipWork])
    for effect in Ownership.Effect.allCases { XCTAssertNil(Ownership.timer(effect), "nothing is timed: \(effect)") }
  }
}
