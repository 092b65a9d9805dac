private import Foundation
package import PorterServer
import Synchronization

/// What pushes came to.
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

  /// Waits for as many more to end, a minute at most; then all that have, each with what it was told.
  package func wait(_ count: Int) -> [Int: [PushOutcome]] {
    let end = DispatchTime.now() + .seconds(60)
    for _ in 0..<count where ended.wait(timeout: end) == .timedOut { break }
    return outcomes.withLock { $0 }
  }
}
