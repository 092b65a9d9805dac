import NIOCore

/// Pauses between consecutive failed attempts, each twice as long as the one before: 30 s, 1 min, … 1 h.
struct Backoff: Equatable {
  private static let first = TimeAmount.seconds(30)
  private static let longest = TimeAmount.hours(1)

  private(set) var failures = 0
  private(set) var until: NIODeadline?

  /// Nil if an attempt may be made.
  func left(_ now: NIODeadline) -> TimeAmount? { until.flatMap { $0 > now ? $0 - now : nil } }

  /// The next failure counts as the first. A pause still lasts until its end.
  mutating func succeeded() { failures = 0 }

  /// Returns the length of the pause. Failures during a pause belong to the attempt before it.
  mutating func failed(_ now: NIODeadline, atLeast asked: TimeAmount = .zero) -> TimeAmount {
    if let left = left(now) { return left }
    let pause = max(min(Self.longest, Self.first * (1 << min(failures, 10))), asked)
    failures += 1
    until = now + pause
    return pause
  }
}
