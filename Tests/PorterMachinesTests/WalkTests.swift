import Foundation
import PorterMachines
import PropertyTesting
import PythonPeer
import XCTest

/// An independent interpreter of SCXML walks the same files, and must arrive where the compiled machines arrive.
final class WalkTests: XCTestCase {
  /// Of each machine. Without the variable 100,000 steps in all, since the peer takes a third of a millisecond for
  /// each; `make verify` walks 100,000 steps of every machine.
  private let steps =
    ProcessInfo.processInfo.environment["PORTER_WALK_STEPS"].flatMap { Int($0) } ?? 100_000 / MachineCatalog.all.count

  func testRandomWalksAgreeWithPythonStatemachine() throws {
    let interpreter = try peerInterpreter()
    let seed = PropertySeed.current
    var generator = SplitMix64(state: seed)
    var input: [String] = []
    var expected: [[String]] = []
    for machine in MachineCatalog.all {
      let (events, lines) = walk(machine, &generator)
      input.append("\(events.count)")
      input += events
      expected.append(lines)
    }
    let files = MachineCatalog.all.map { packageRoot.appendingPathComponent("spec/machines/\($0.name).scxml").path }
    let script = packageRoot.appendingPathComponent("Tests/PorterMachinesTests/Peer/walk.py").path
    let result = try runProgram(
      interpreter, ["-B", script] + files, input: input.joined(separator: "\n") + "\n", limit: 1_800)
    XCTAssertEqual(result.status, 0, result.errors)
    let peer = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var position = 0
    for (machine, lines) in zip(MachineCatalog.all, expected) {
      let theirs = Array(peer.dropFirst(position).prefix(lines.count))
      position += lines.count
      let difference = zip(lines, theirs).enumerated().first { $0.element.0 != $0.element.1 }
      if let (step, (ours, theirs)) = difference {
        XCTFail("\(machine.name), line \(step): ours '\(ours)', theirs '\(theirs)' (PORTER_SEED=\(seed))")
        return
      }
      XCTAssertEqual(theirs.count, lines.count, "\(machine.name): the peer said less")
    }
    XCTAssertEqual(peer.count, position + 1, "the peer said more")
  }

  /// Events, and the answers expected of the peer.
  private func walk(_ machine: MachineDescription, _ generator: inout SplitMix64) -> (events: [String], lines: [String])
  {
    var state = machine.initial
    var events: [String] = []
    var lines = [machine.states[Int(state)]]
    let moving = machine.states.indices.map { state in
      machine.events.indices.filter { machine.step(state: UInt8(state), event: UInt8($0))?.kind == .moved }
    }
    for _ in 0..<steps {
      if machine.isFinal[Int(state)] {
        state = machine.initial
        lines.append("restart")
      }
      // Every other event is one that causes a transition, so that a walk gets about.
      let candidates = Bool.random(using: &generator) ? moving[Int(state)] : Array(machine.events.indices)
      guard let event = candidates.randomElement(using: &generator),
        let step = machine.step(state: state, event: UInt8(event))
      else { continue }
      state = step.next
      events.append(machine.events[event])
      lines.append(([machine.states[Int(state)]] + peerWords(machine, step)).joined(separator: " "))
    }
    return (events, lines)
  }

  /// An answer in the peer's form, which names timers as the file does.
  private func peerWords(_ machine: MachineDescription, _ step: CodedStep) -> [String] {
    let reason = step.reason.map { ["\(step.kind).\(machine.reasons[Int($0)])"] } ?? []
    return reason
      + step.effects.map { effect in
        switch machine.timers[Int(effect)] {
        case .start(let id, let milliseconds, let event): "start:\(id):\(milliseconds):\(machine.events[Int(event)])"
        case .cancel(let id): "cancel:\(id)"
        case nil: machine.effects[Int(effect)]
        }
      }
  }
}
