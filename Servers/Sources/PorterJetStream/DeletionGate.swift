import Synchronization

/// Limits the concurrent deletions of each stream. A node of 2.9 that deletes a subject's first message scans all
/// messages up to the subject's next one. If all due deletions were requested together, the relay's next request would
/// wait behind them and time out.
final class DeletionGate: Sendable {
  private static let fewest = 16
  /// With more, they would only wait for each other on a node that slow.
  private static let most = 64
  private let underWay: Mutex<[String: Int]> = Mutex([:])

  /// The number of deletions that may begin; the caller must end each. `late`: how long the first one has been due.
  func begin(_ wanted: Int, _ stream: String, late: Duration = .zero) -> Int {
    // More of them if they become due faster than they are deleted.
    let room = late < .seconds(2) ? Self.fewest << max(0, Int(late.components.seconds)) : Self.most
    return underWay.withLock { underWay in
      let begun = max(0, min(wanted, room - underWay[stream, default: 0]))
      underWay[stream, default: 0] += begun
      return begun
    }
  }

  func end(_ count: Int, _ stream: String) { underWay.withLock { $0[stream, default: 0] -= count } }
}
