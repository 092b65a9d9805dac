import PorterPlatform
import PorterSchema

/// When a background round is due. A value; the intervals are those of SimpleX's app.
struct RefreshSchedule: Equatable {
  /// The minimum between two rounds, and the time until the first one of a process.
  static let least = Span.seconds(600)

  /// How the device is notified otherwise; nil without a token.
  var mode: NotificationMode?
  /// When this process's last round that looked into everything ended.
  var lastRound: Moment?
  /// When the next round is due; nil while none is planned.
  private(set) var due: Moment?

  /// The time between two rounds: the more pushes notify of, the rarer the rounds.
  var interval: Span {
    switch mode {
    case .instant: .seconds(2_400)
    case .periodic: .seconds(1_200)
    case nil: Self.least
    }
  }

  mutating func planNext(at now: Moment) {
    let isDue = lastRound.map { now - $0 >= interval } ?? true
    due = now + (isDue ? Self.least : interval)
  }

  mutating func planSoon(at now: Moment) { due = now + Self.least }

  mutating func cancel() { due = nil }

  /// The time from now until the next round, in whole seconds; while none is planned, until it would be.
  func next(at now: Moment) -> Span {
    guard let due else { return interval }
    return .seconds((max(.zero, due - now).milliseconds + 999) / 1_000)
  }
}
