import PorterPlatform
import Synchronization

/// A clock whose time passes only during pauses.
final class PausedClock: Clock {
  private let time = Mutex(Int64(1_000_000_000_000))
  private let count = Atomic<Int>(0)
  private let appointment = Mutex<(pause: Int, work: @Sendable () -> Void)?>(nil)

  var pauses: Int { count.load(ordering: .relaxed) }

  /// Runs the work during a pause: the one with this number, counting from now.
  func atPause(_ number: Int, _ work: @escaping @Sendable () -> Void) {
    appointment.withLock { $0 = (pauses + number, work) }
  }

  func now() -> Moment { time.withLock { Moment(nanoseconds: $0) } }
  func wall() -> WallTime { WallTime(milliseconds: time.withLock { $0 } / 1_000_000) }
  func pause(_ span: Span) {
    let number = count.add(1, ordering: .relaxed).newValue
    time.withLock { $0 += span.nanoseconds }
    let due = appointment.withLock { appointment in
      guard let found = appointment, found.pause == number else { return nil as (@Sendable () -> Void)? }
      appointment = nil
      return found.work
    }
    due?()
  }
}
