import Synchronization

/// Versions that this process has found to be valid, by their subjects. A version that is valid and the last of its
/// subject stays valid, as long as the stream undoes nothing, so it need not be compared with those before it again.
final class ConfirmedVersions: Sendable {
  private struct Confirmed {
    let number: UInt64
    /// Before it was read.
    let since: ContinuousClock.Instant
  }

  private let most: Int
  private let confirmed = Mutex<[String: Confirmed]>([:])

  init(most: Int = 4_096) { self.most = most }

  func note(_ subject: String, _ number: UInt64, since: ContinuousClock.Instant) {
    confirmed.withLock { confirmed in
      if confirmed.count >= most { confirmed = [:] }
      confirmed[subject] = Confirmed(number: number, since: since)
    }
  }

  /// Since when it is known to be valid; nil if it is not.
  func since(_ subject: String, _ number: UInt64) -> ContinuousClock.Instant? {
    confirmed.withLock { $0[subject] }.flatMap { $0.number == number ? $0.since : nil }
  }
}
