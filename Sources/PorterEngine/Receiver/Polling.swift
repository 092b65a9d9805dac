import PorterPlatform
import PorterStore

/// Decides when to look into all mailboxes without any sign that something waits: a day after the last time. That time
/// is stored, so that an app which is constantly suspended and activated polls as well. Threads: the engine's.
final class Polling {
  private static let interval = Span.days(1)
  /// The interval between two writes of the time; more frequent polls are not written more often.
  private static let precision = Span.seconds(3_600)

  private let context: EngineContext
  private let poll: () -> Void

  init(_ context: EngineContext, poll: @escaping () -> Void) {
    self.context = context
    self.poll = poll
  }

  /// All mailboxes were asked.
  func ended() {
    let now = context.clock.wall()
    // From the store: an extension may have made a poll due since.
    let stored = Self.time(of: (try? context.store?.setting(Setting.lastPoll)) ?? nil)
    if stored.map({ Self.time(from: $0, to: now) > Self.precision }) ?? true {
      try? context.store?.setSettings([Setting.lastPoll: String(now.milliseconds)])
    }
    schedule(after: Self.interval)
  }

  /// The chat is active again, and starts no work on its own.
  func resume() {
    let last = context.retries.read(
      orLater: TimerName.poll, poll, { (store) throws(StoreError) in try store.setting(Setting.lastPoll) })
    guard let last else { return }
    guard let time = Self.time(of: last) else { return poll() }
    let since = Self.time(from: time, to: context.clock.wall())
    if since >= Self.interval { poll() } else { schedule(after: Self.interval - since) }
  }

  /// An extension could not take everything: the app looks at its next opportunity.
  func makeDue() {
    try? context.store?.setSettings([Setting.lastPoll: nil])
  }

  private func schedule(after span: Span) {
    context.timers.set(TimerName.poll, after: span, poll)
  }

  private static func time(of stored: String?) -> WallTime? {
    stored.flatMap { Int64($0) }.map { WallTime(milliseconds: $0) }
  }

  /// A time in the future comes from a clock that was set back since: treated as long ago, as is one before 1970.
  private static func time(from last: WallTime, to now: WallTime) -> Span {
    now < last || last.milliseconds < 0 ? interval : .milliseconds(now.milliseconds &- last.milliseconds)
  }
}
