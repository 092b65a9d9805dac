/// Schedules checks, after a failure of the cluster, for whether accepted messages are still there.
///
/// There are several checks: what is restored early survives a second failure soon after, such as that of the relay
/// that remembers it, and only the last check is certain. A node that was cut off considers itself leader for 10
/// seconds, and may undo what the others have until it follows one of them.
struct RestoreSchedule {
  static let pauses = [Duration.seconds(2), .seconds(6), .seconds(15)]
  /// After an unfinished check.
  static let again = Duration.seconds(5)

  private var looks: [ContinuousClock.Instant] = []

  /// Counts from the last failure.
  mutating func noteTrouble(at now: ContinuousClock.Instant) { looks = Self.pauses.map { now + $0 } }

  /// Some were not checked. If there was another failure, it has already set later times.
  mutating func noteUnfinished(at now: ContinuousClock.Instant) {
    if looks.isEmpty { looks = [now + Self.again] }
  }

  /// Whether a check is due; consumes it.
  mutating func takeDue(at now: ContinuousClock.Instant) -> Bool {
    let left = looks.filter { $0 > now }
    defer { looks = left }
    return left.count < looks.count
  }
}
