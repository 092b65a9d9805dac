import PorterPlatform

/// When a server looks at a queue of work next. One that it has found empty has nothing more until it adds something
/// itself, what it has postponed comes back, or other servers have added or left something: for that it looks once a
/// second.
struct WorkLooks {
  static let interval = Span.seconds(1)
  /// Items that were postponed beyond this many are found by looking.
  private static let mostPostponed = 1_024

  private var next: [String: Moment] = [:]
  /// When items come back that were postponed.
  private var postponed: Set<Moment> = []

  var nextPostponed: Moment? { postponed.min() }

  func isDue(_ queue: String, now: Moment) -> Bool { now >= next[queue] ?? now }

  /// Call when the queue gave less than was asked for.
  mutating func noteEmpty(_ queue: String, now: Moment) { next[queue] = now + Self.interval }

  /// Call before adding work.
  mutating func noteWork(_ queue: String) { next[queue] = nil }

  mutating func notePostponed(until time: Moment) {
    if postponed.count < Self.mostPostponed { postponed.insert(time) }
  }

  /// Call in each turn: what was postponed until now may be in any queue.
  mutating func takePostponed(now: Moment) {
    guard let first = nextPostponed, first <= now else { return }
    postponed = postponed.filter { $0 > now }
    next = [:]
  }
}
