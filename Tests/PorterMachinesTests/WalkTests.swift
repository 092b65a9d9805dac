import Foundation
import PorterMachines
import PropertyTesting
import PythonPeer
import XCTest

/// An independent SCXML interpreter runs the same files, and must reach the same states as the compiled machines.
final class WalkTests: XCTestCase {
  /// Steps for each machine. A table is compared pair by pair; a walk shows in addition that nothing is carried from
  /// one event to the next. `make verify` walks 100,000 steps.
  private let steps = ProcessInfo.processInfo.environment["PORTER_WALK_STEPS"].flatMap { Int($0) } ?? 500

  func testEveryPairAgreesWithPythonStatemachine() throws {
    var count = 0
    let scripts = MachineCatalog.all.map { machine in
      let pairs = machine.allAnswers.filter { !machine.isFinal[Int($0.state)] }
      count += pairs.count
      return Script(
        events: pairs.map { "\(machine.states[Int($0.state)]) \(machine.events[Int($0.event)])" },
        lines: [machine.states[Int(machine.initial)]] + pairs.map { line(machine, $0.step) })
    }
    let all = MachineCatalog.all.map { machine in
      machine.isFinal.filter { !$0 }.count * machine.events.count
    }
    XCTAssertEqual(count, all.reduce(0, +), "every state answers every event")
    try compare(scripts)
  }

  func testRandomWalksAgreeWithPythonStatemachine() throws {
    let seed = PropertySeed.current
    var generator = SplitMix64(state: seed)
    try compare(MachineCatalog.all.map { walk($0, &generator) }, "PORTER_SEED=\(seed)")
  }

  /// The events that a machine receives, and the answers expected of the peer.
  private struct Script {
    var events: [String] = []
    var lines: [String]
  }

  /// One script for each machine.
  private func compare(_ scripts: [Script], _ note: String = "") throws {
    let input = scripts.flatMap { ["\($0.events.count)"] + $0.events }
    let files = MachineCatalog.all.map { packageRoot.appendingPathComponent("spec/machines/\($0.name).scxml").path }
    let script = packageRoot.appendingPathComponent("Tests/PorterMachinesTests/Peer/walk.py").path
    let result = try runProgram(
      try peerInterpreter(), ["-B", script] + files, input: input.joined(separator: "\n") + "\n", limit: 1_800)
    XCTAssertEqual(result.status, 0, result.errors)
    let peer = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var position = 0
    for (machine, lines) in zip(MachineCatalog.all, scripts.map(\.lines)) {
      let theirs = Array(peer.dropFirst(position).prefix(lines.count))
      position += lines.count
      let difference = zip(lines, theirs).enumerated().first { $0.element.0 != $0.element.1 }
      if let (step, (ours, theirs)) = difference {
        XCTFail("\(machine.name), line \(step): ours '\(ours)', theirs '\(theirs)' \(note)")
        return
      }
      XCTAssertEqual(theirs.count, lines.count, "\(machine.name): the peer said less")
    }
    XCTAssertEqual(peer.count, position + 1, "the peer said more")
  }

  private func walk(_ machine: MachineDescription, _ generator: inout SplitMix64) -> Script {
    var state = machine.initial
    var script = Script(lines: [machine.states[Int(state)]])
    let moving = machine.states.indices.map { state in
      machine.events.indices.filter { machine.step(state: UInt8(state), event: UInt8($0))?.kind == .moved }
    }
    for _ in 0..<steps {
      if machine.isFinal[Int(state)] {
        state = machine.initial
        script.lines.append("restart")
      }
      // Every other event is one that causes a transition, so that a walk gets around.
      let candidates = Bool.random(using: &generator) ? moving[Int(state)] : Array(machine.events.indices)
      guard let event = candidates.randomElement(using: &generator),
        let step = machine.step(state: state, event: UInt8(event))
      else { continue }
      state = step.next
      script.events.append(machine.events[event])
      script.lines.append(line(machine, step))
    }
    return script
  }

  /// A step in the peer's form, which names timers as the file does.
  private func line(_ machine: MachineDescription, _ step: CodedStep) -> String {
    let reason = step.reason.map { ["\(step.kind).\(machine.reasons[Int($0)])"] } ?? []
    let effects = step.effects.map { effect in
      switch machine.timers[Int(effect)] {
      case .start(let id, let milliseconds, let event): "start:\(id):\(milliseconds):\(machine.events[Int(event)])"
      case .cancel(let id): "cancel:\(id)"
      case nil: machine.effects[Int(effect)]
      }
    }
    return ([machine.states[Int(step.next)]] + reason + effects).joined(separator: " ")
  }
}
