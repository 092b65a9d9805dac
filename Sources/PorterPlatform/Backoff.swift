/// Pauses between attempts at one thing, each twice as long as the one before, up to a limit.
///
/// Use one value per purpose. If shared between two, the failures of one would slow down the other, and the successes
/// of one would speed up the other.
package struct Backoff: Hashable, Sendable {
  private let first: Span
  private let last: Span
  private var pause: Span

  package init(first: Span, last: Span) {
    (self.first, self.last) = (first, last)
    pause = first
  }

  /// How long to wait before the next attempt.
  package mutating func next() -> Span {
    defer { pause = min(last, pause + pause) }
    return pause
  }

  /// Call after an attempt has succeeded.
  package mutating func reset() { pause = first }
}
