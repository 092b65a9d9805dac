import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Detects changes to the system's wall clock by its distance from a clock that cannot be set. A server's decisions do
/// not depend on the wall clock, but certificates, provider tokens and times shown to people do.
public final class ClockWatch: Sendable {
  public struct Reading: Sendable {
    var wall: Int
    var steady: Int

    /// Both in seconds.
    public init(wall: Int, steady: Int) {
      self.wall = wall
      self.steady = steady
    }

    /// From two clocks whose seconds do not start together. Rounded so that their distance stays the same while neither
    /// is set.
    init(wall: (seconds: Int, nanoseconds: Int), steady: (seconds: Int, nanoseconds: Int)) {
      let distance = (wall.seconds - steady.seconds) * 1_000_000_000 + wall.nanoseconds - steady.nanoseconds
      self.init(wall: steady.seconds + (distance + 500_000_000) / 1_000_000_000, steady: steady.seconds)
    }
  }

  /// The result of a look, to be logged.
  public enum Finding: Sendable, Equatable {
    case moved(seconds: Int)
    /// It shows the time again that it would have shown.
    case returned
    /// It has not been moved since, and is taken to be right.
    case settled
  }

  private struct State {
    /// The distance of the wall clock from the other one.
    var distance: Int
    /// The last distance found wrong, and since when.
    var moved: (distance: Int, since: Int)?
  }

  /// Corrections that a running system makes.
  private static let tolerance = 30
  /// After this time, a clock that stays where it was set is no longer reported.
  private static let patience = 60

  private let read: @Sendable () -> Reading
  private let state: Mutex<State>

  public init(read: @escaping @Sendable () -> Reading = ClockWatch.system) {
    self.read = read
    let first = read()
    state = Mutex(State(distance: first.wall - first.steady))
  }

  /// The current problem; nil if there is none.
  public var problem: String? {
    state.withLock { state in state.moved.map { "clock: moved by \($0.distance - state.distance) s" } }
  }

  /// Called every few seconds. Nil if nothing has changed.
  public func look() -> Finding? {
    let now = read()
    let distance = now.wall - now.steady
    return state.withLock { state in
      guard abs(distance - state.distance) > Self.tolerance else {
        defer { state.moved = nil }
        return state.moved == nil ? nil : .returned
      }
      if let moved = state.moved, abs(distance - moved.distance) <= Self.tolerance {
        guard now.steady - moved.since >= Self.patience else { return nil }
        state = State(distance: distance)
        return .settled
      }
      state.moved = (distance, now.steady)
      return .moved(seconds: distance - state.distance)
    }
  }

  @Sendable public static func system() -> Reading {
    #if canImport(Darwin)
      let steady = CLOCK_MONOTONIC
    #else
      let steady = CLOCK_BOOTTIME
    #endif
    var (wall, other) = (timespec(), timespec())
    clock_gettime(CLOCK_REALTIME, &wall)
    clock_gettime(steady, &other)
    return Reading(
      wall: (wall.tv_sec, wall.tv_nsec), steady: (other.tv_sec, other.tv_nsec))
  }
}

extension LogWriter {
  /// Logs one line for the result of a look at the clock.
  public func note(_ finding: ClockWatch.Finding?) {
    switch finding {
    case .moved(let seconds): self(.warning, "the system's clock was moved", ["seconds": String(seconds)])
    case .returned: self(.info, "the system's clock is back")
    case .settled: self(.info, "the system's clock is taken to be right")
    case nil: break
    }
  }
}
