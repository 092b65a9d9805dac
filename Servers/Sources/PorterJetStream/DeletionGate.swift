import Synchronization

/// How many deletions of each stream are under way at a time. A node of 2.9 that deletes a subject's first message looks for its next one through
/// all in between: were all asked for that are due, whatever a relay asks for next would wait behind them, and time out.
final class DeletionGate: Sendable {
  private static let fewest = 16
  /// More would only wait for each other at a node that is as slow as that.
  private static let most = 64
  private let underWay: Mutex<[String: Int]> = Mutex([:])

  /// As many as may begin; each has to end. `late`: for how long the first one has been due.
  func begin(_ wanted: Int, _ stream: String, late: Duration = .zero) -> Int {
    // More of them, if they become more than are deleted.
    let room = late < .seconds(2) ? Self.fewest << max(0, Int(late.components.seconds)) : Self.most
    return underWay.withLock { underWay in
      let begun = max(0, min(wanted, room - underWay[stream, default: 0]))
      underWay[stream, default: 0] += begun
      return begun
    }
  }

  func end(_ count: Int, _ stream: String) { underWay.withLock { $0[stream, default: 0] -= count } }
}
