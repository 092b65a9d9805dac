import Foundation
import Synchronization

/// Random choices from a seed.
struct Dice {
  private var state: UInt64

  init(seed: UInt64, stream: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ stream &* 0xd1b5_4a32_d192_ed03 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func number(in range: ClosedRange<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
  mutating func chance(_ percent: Int) -> Bool { number(in: 0...99) < percent }
  mutating func element<Value>(of values: [Value]) -> Value { values[number(in: 0...(values.count - 1))] }
}

/// The events that happened, and the ones that should not have.
final class Tally: Sendable {
  private let counts = Mutex<[String: Int]>([:])
  private let problems = Mutex<[String]>([])

  func count(_ what: String, _ number: Int = 1) { counts.withLock { $0[what, default: 0] += number } }

  func problem(_ text: String) {
    problems.withLock { $0.append(text) }
    print("torture: \(text)")
  }

  var found: [String] { problems.withLock { $0 } }
  func number(of what: String) -> Int { counts.withLock { $0[what] ?? 0 } }

  var description: String {
    counts.withLock { counts in
      counts.sorted { $0.key < $1.key }.map { "  \($0.value) \($0.key)" }.joined(separator: "\n")
    }
  }
}

/// The processes that may be frozen and killed. Only children of this process are ever signalled.
final class ProcessTable: Sendable {
  private let running = Mutex<Set<Int32>>([])
  private let killed = Mutex<Set<Int32>>([])

  func enter(_ process: Int32) {
    killed.withLock { _ = $0.remove(process) }
    running.withLock { _ = $0.insert(process) }
  }

  /// Killed by the torture, not by itself.
  func wasKilled(_ process: Int32) -> Bool { killed.withLock { $0.contains(process) } }

  /// Call it before the process is waited for.
  func leave(_ process: Int32) {
    running.withLock {
      $0.remove(process)
      _ = Self.send(SIGCONT, to: process)
    }
  }

  func random(_ dice: inout Dice) -> Int32? {
    running.withLock { $0.isEmpty ? nil : dice.element(of: $0.sorted()) }
  }

  func signal(_ process: Int32, _ signal: Int32) -> Bool {
    if signal == SIGKILL { killed.withLock { _ = $0.insert(process) } }
    return running.withLock { $0.contains(process) && Self.send(signal, to: process) }
  }

  func thaw() {
    running.withLock { for process in $0 { _ = Self.send(SIGCONT, to: process) } }
  }

  /// A process number that was reused in the meantime does not belong to a child of this process.
  private static func send(_ signal: Int32, to process: Int32) -> Bool {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return false }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 1, fields[0] != "Z", Int32(fields[1]) == getpid() else { return false }
    return kill(process, signal) == 0
  }
}
