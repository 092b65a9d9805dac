/// When it is looked, after a failure of the cluster, whether what was accepted is still there.
///
/// More than once: what is restored early outlives a second failure soon after, such as that of the relay that remembers it, and only
/// the last look is certain. A node that was cut off believes for 10 seconds that it leads, and may undo what the others have until it
/// follows one of them.
struct RestoreSchedule {
  static let pauses = [Duration.seconds(2), .seconds(6), .seconds(15)]
  /// After a look that was not finished.
  static let again = Duration.seconds(5)

  private var looks: [ContinuousClock.Instant] = []

  /// It counts from the last failure.
  mutating func noteTrouble(at now: ContinuousClock.Instant) { looks = Self.pauses.map { now + $0 } }

  /// Some were not looked for. A failure meanwhile has set later times.
  mutating func noteUnfinished(at now: ContinuousClock.Instant) {
    if looks.isEmpty { looks = [now + Self.again] }
  }

  /// Whether one is due; it is taken.
  mutating func takeDue(at now: ContinuousClock.Instant) -> Bool {
    let left = looks.filter { $0 > now }
    defer { looks = left }
    return left.count < looks.count
  }
}
