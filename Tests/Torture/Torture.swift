import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import Synchronization
import XCTest

/// Applications and extensions on one store, people who write to it, and a system that freezes and kills all of them at
/// random, on disks that fail.
///
/// The seed fixes what each process is asked to do and what its disk does, but not when the kernel schedules it.
final class Torture: Sendable {
  let seed: UInt64
  let end: Date
  let place: Place
  let tally = Tally()
  let processes = ProcessTable()
  private let pushes = Mutex<[JSONValue]>([])
  private let notified = Mutex<[String: Bool]>([:])
  private let nth = Mutex<[Int: Int]>([:])

  /// Where everything is, once the people know each other.
  struct Place: Sendable {
    var directory: URL
    var store: String
    /// The tortured store's key; empty: it is plain.
    var key: String
    var people: [Person]
    var faultyLibrary: String
  }

  /// A person who writes to the tortured store.
  struct Person: Sendable {
    var name: String
    var store: String
    var key: String
    /// The contact ids: of the tortured store's user here, and of this person there.
    var contact: Int64
    var contactThere: Int64
  }

  init(seed: UInt64, seconds: Double, place: Place) {
    self.seed = seed
    self.place = place
    end = Date(timeIntervalSinceNow: seconds)
  }

  var goesOn: Bool { Date() < end }

  // MARK: Running

  /// Runs all loops until time is up; afterwards none of their processes is left.
  func run(receiving night: Night) {
    var loops: [@Sendable () -> Void] = []
    for index in 0..<2 { loops.append { [self] in ApplicationLoop(self, index).run() } }
    for index in 0..<3 { loops.append { [self] in ExtensionLoop(self, index).run() } }
    for (index, person) in place.people.enumerated() {
      loops.append { [self] in PersonLoop(self, person, index).run() }
    }
    loops.append { [self] in torment() }
    let done = DispatchGroup()
    for loop in loops {
      done.enter()
      let thread = Thread {
        loop()
        done.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    while goesOn {
      if let push = try? night.nextPush(within: 0.2) {
        tally.count("pushes")
        pushes.withLock { $0.append(push) }
      }
    }
    done.wait()
    countStrikes()
  }

  /// The oldest push that was not handed out yet; now and then one that was (INC-36).
  func takePush(_ dice: inout Dice) -> JSONValue? {
    pushes.withLock { pushes in
      guard let first = pushes.first else { return nil }
      if pushes.count > 40 { pushes.removeFirst(pushes.count - 40) }
      if dice.chance(20) { return dice.element(of: pushes) }
      pushes.removeFirst()
      return first
    }
  }

  /// A notification that an extension answered with. If recording it as shown failed it is shown again, under the same
  /// identifier, which replaces the first; otherwise never.
  func shown(_ identifier: String, byHealthy healthy: Bool) {
    let isFirst = notified.withLock { notified in
      defer { notified[identifier] = healthy }
      guard let before = notified[identifier] else { return true }
      if before && healthy { problemOfRepetition(identifier) }
      return false
    }
    if !isFirst { tally.count("notifications shown again") }
  }

  private func problemOfRepetition(_ identifier: String) {
    tally.problem("shown twice, though each time it was recorded: \(identifier)")
  }

  /// Freezes and kills.
  private func torment() {
    var dice = Dice(seed: seed, stream: 99)
    while goesOn {
      usleep(UInt32(dice.number(in: 20_000...300_000)))
      guard let victim = processes.random(&dice) else { continue }
      if dice.chance(25) {
        if processes.signal(victim, SIGKILL) { tally.count("killed") }
        continue
      }
      guard processes.signal(victim, SIGSTOP) else { continue }
      tally.count("frozen")
      usleep(UInt32(dice.number(in: 5_000...(dice.chance(10) ? 1_500_000 : 250_000))))
      if dice.chance(25) {
        if processes.signal(victim, SIGKILL) { tally.count("killed while frozen") }
      } else {
        _ = processes.signal(victim, SIGCONT)
      }
    }
    processes.thaw()
  }

  // MARK: Disks that fail

  /// Numbers are those of the C enum; what the disk does is in `faulty_vfs.c`.
  private static let operations: [(name: String, number: Int)] = [
    ("read", 0), ("write", 1), ("sync", 2), ("lock", 7), ("lock of the index", 8),
  ]

  /// For half of the processes: a disk on which one operation in some hundreds fails, or the nth read, write, sync or
  /// lock, for one n after the other.
  func environment(_ dice: inout Dice, touching store: String) -> [String: String] {
    guard dice.chance(50) else { return [:] }
    tally.count("processes with a faulty disk")
    // The relay's file, too, in some processes: every process that uses it opens it.
    let hasFaultyRelay = dice.chance(30)
    let path = hasFaultyRelay ? place.directory.lastPathComponent : URL(fileURLWithPath: store).lastPathComponent + "_"
    return [
      "LD_PRELOAD": place.faultyLibrary, "PORTER_FAULTS": faults(&dice) + " " + path,
      "PORTER_FAULTS_TALLY": struckFile.path,
    ]
  }

  private func faults(_ dice: inout Dice) -> String {
    if dice.chance(50) {
      let chance = dice.element(of: [300, 1_000, 3_000, 10_000, 40_000])
      return "chance \(chance) \(dice.number(in: 1...1_000_000_000))"
    }
    let operation = dice.element(of: Self.operations)
    let number = nth.withLock { nth in
      nth[operation.number, default: 0] += 1
      return nth[operation.number, default: 1]
    }
    return "\(dice.chance(50) ? "nth" : "broken") \(operation.number) \(number) \(dice.chance(20) ? 1 : 0)"
  }

  private var struckFile: URL { place.directory.appendingPathComponent("struck") }

  /// Counts the failures, by the letters that the disks have left.
  func countStrikes() {
    let letters = (try? String(contentsOf: struckFile, encoding: .utf8)) ?? ""
    let names: [(Character, String)] = [
      ("r", "reads"), ("w", "writes"), ("s", "syncs"), ("l", "locks"), ("h", "locks of the index"),
    ]
    var others = letters.count
    for (letter, name) in names {
      let number = letters.count { $0 == letter }
      tally.count("failed \(name)", number)
      others -= number
    }
    tally.count("failed operations of other sorts", others)
  }
}

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

/// What happened, and what should not have.
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

  func enter(_ process: Int32) { running.withLock { _ = $0.insert(process) } }

  /// To be called before the process is waited for.
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
    running.withLock { $0.contains(process) && Self.send(signal, to: process) }
  }

  func thaw() {
    running.withLock { for process in $0 { _ = Self.send(SIGCONT, to: process) } }
  }

  /// A process number that was reused meanwhile does not belong to a child of this process.
  private static func send(_ signal: Int32, to process: Int32) -> Bool {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return false }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 1, fields[0] != "Z", Int32(fields[1]) == getpid() else { return false }
    return kill(process, signal) == 0
  }
}
