/// Schedules checks, after a failure of the cluster, for whether accepted messages are still there.
///
/// There are several checks: what is restored early survives a second failure soon after, such as that of the relay
/// that remembers it, and only the last check is certain. A node that was cut off considers itself leader for 10
/// seconds, and may undo what the others have until it follows one of them.
struct RestoreSchedule {
  static let pauses = [Duration.seconds(2), .seconds(6), .seconds(15)]
  /// Failures that follow each other more closely than the pauses postpone no check for longer: a relay remembers what
  /// it has accepted for two minutes.
  static let longest = Duration.seconds(10)
  /// After an unfinished check.
  static let again = Duration.seconds(5)

  private var looks: [ContinuousClock.Instant] = []
  /// Set by the first failure since the last check.
  private var latest: ContinuousClock.Instant?
  private var lastTrouble: ContinuousClock.Instant?

  /// Counts from the last failure. `trouble` is its time, if there was one; nothing changes if it is known.
  mutating func note(trouble: ContinuousClock.Instant?) {
    guard let trouble, lastTrouble.map({ trouble > $0 }) ?? true else { return }
    lastTrouble = trouble
    looks = Self.pauses.map { trouble + $0 }
    latest = latest ?? trouble + Self.longest
  }

  /// Some were not checked. If there was another failure, it has already set later times.
  mutating func noteUnfinished(at now: ContinuousClock.Instant) {
    if looks.isEmpty { looks = [now + Self.again] }
  }

  /// Whether a check is due; consumes it.
  mutating func takeDue(at now: ContinuousClock.Instant) -> Bool {
    let left = looks.filter { $0 > now }
    guard left.count < looks.count || latest.map({ $0 <= now }) ?? false else { return false }
    (looks, latest) = (left, nil)
    return true
  }
}
