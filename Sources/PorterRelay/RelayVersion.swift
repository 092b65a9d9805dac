import Synchronization

/// Whether a relay knows the commands that came after the first twelve. An earlier one answers `syntax`, and is then
/// asked in the words that it knows.
final class RelayVersion: Sendable {
  /// How many requests go the earlier way before the relay is asked anew: it may have been brought up to date.
  private static let memory = 1_000

  private let earlierLeft = Mutex(0)

  func exchange<Answer>(
    _ current: () throws(RelayError) -> Answer, orEarlier earlier: () throws(RelayError) -> Answer
  ) throws(RelayError) -> Answer {
    let isEarlier = earlierLeft.withLock { left in
      defer { left = max(0, left - 1) }
      return left > 0
    }
    if isEarlier { return try earlier() }
    do throws(RelayError) { return try current() } catch {
      guard error == .syntax else { throw error }
      earlierLeft.withLock { $0 = Self.memory }
      return try earlier()
    }
  }
}
