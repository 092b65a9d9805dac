import Foundation
import Synchronization

/// Failing disks.
extension Torture {
  /// Numbers are those of the C enum; the disk's behaviour is in `faulty_vfs.c`.
  fileprivate static let operations: [(name: String, number: Int)] = [
    ("read", 0), ("write", 1), ("sync", 2), ("lock", 7), ("lock of the index", 8),
  ]

  /// For half of the processes: a disk on which one operation in some hundreds fails, or the nth read, write, sync or
  /// lock, for one n after the other.
  /// With `haltsAtTimes` some also end themselves at a difficult point.
  func environment(_ dice: inout Dice, touching store: String, haltsAtTimes: Bool = false) -> [String: String] {
    var environment = disk(&dice, touching: store)
    if haltsAtTimes, dice.chance(15) { environment["PORTER_HALT_AT"] = dice.element(of: Self.points) }
    return environment
  }

  private static let points = [
    "beforeFetch", "afterFetch", "insideCommit", "afterCommit", "beforeAcknowledge", "afterAcknowledge", "beforeJoin",
    "responseKept",
    "responseKept", "responseBegun", "responseBegun", "insideResponse", "insideResponse", "responseEnded",
    "responseEnded",
  ]

  private func disk(_ dice: inout Dice, touching store: String) -> [String: String] {
    guard dice.chance(50) else { return [:] }
    tally.count("processes with a faulty disk")
    // The relay's file too in some processes: every process that uses it opens it.
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

  /// Counts the failures by the letters that the disks have left.
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
