private import Foundation
package import PorterServer
import Synchronization

/// The outcomes of pushes.
package final class Outcomes: Sendable {
  private let outcomes = Mutex<[Int: [PushOutcome]]>([:])
  private let ended = DispatchSemaphore(value: 0)

  package init() {}

  package func note(_ number: Int) -> @Sendable (PushOutcome) -> Void {
    { outcome in
      self.outcomes.withLock { $0[number, default: []].append(outcome) }
      self.ended.signal()
    }
  }

  /// Waits for this many more to end, a minute at most; returns all that have ended, each with the outcomes reported.
  package func wait(_ count: Int) -> [Int: [PushOutcome]] {
    let end = DispatchTime.now() + .seconds(60)
    for _ in 0..<count where ended.wait(timeout: end) == .timedOut { break }
    return outcomes.withLock { $0 }
  }
}
