#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A span of time in nanoseconds.
package struct Span: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
  package static func microseconds(_ count: Int64) -> Span { Span(nanoseconds: saturating(count, by: 1_000)) }
  package static func milliseconds(_ count: Int64) -> Span { Span(nanoseconds: saturating(count, by: 1_000_000)) }
  package static func seconds(_ count: Int64) -> Span { Span(nanoseconds: saturating(count, by: 1_000_000_000)) }
  package static func days(_ count: Int64) -> Span { .seconds(saturating(count, by: 86_400)) }
  package static let zero = Span(nanoseconds: 0)

  package var milliseconds: Int64 { nanoseconds / 1_000_000 }
  package var microseconds: Int64 { nanoseconds / 1_000 }

  package static func < (left: Span, right: Span) -> Bool { left.nanoseconds < right.nanoseconds }
  package static func + (left: Span, right: Span) -> Span { Span(nanoseconds: left.nanoseconds &+ right.nanoseconds) }
  package static func - (left: Span, right: Span) -> Span { Span(nanoseconds: left.nanoseconds &- right.nanoseconds) }

  /// Hosts pass durations through the C interface, so an absurd one must not trap. A quarter of the range, 73 years, is
  /// as good as unbounded, and leaves room to add several of them.
  private static func saturating(_ count: Int64, by factor: Int64) -> Int64 {
    let (product, overflow) = count.multipliedReportingOverflow(by: factor)
    guard !overflow else { return count < 0 ? .min / 4 : .max / 4 }
    return min(max(product, .min / 4), .max / 4)
  }
}

/// A point in time since boot that advances while the device sleeps (`CLOCK_BOOTTIME`). Decisions use this; a step of
/// the wall clock changes none of them (INC-14).
package struct Moment: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
  package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
  package static func + (moment: Moment, span: Span) -> Moment {
    let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return Moment(nanoseconds: overflow ? .max : sum)
  }
  package static func - (left: Moment, right: Moment) -> Span {
    Span(nanoseconds: left.nanoseconds &- right.nanoseconds)
  }
  package static let distantFuture = Moment(nanoseconds: .max)
}

/// Milliseconds since 1970-01-01 UTC. Shown to people and put into messages; never used to decide which process may
/// act.
package struct WallTime: Hashable, Comparable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }
  package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
  package var seconds: Int64 { milliseconds.quotientRoundedDown(by: 1_000) }
}

/// A moment and the boot it belongs to, as stored: in another boot it means nothing.
package struct BootMoment: Hashable, Sendable {
  package var boot: String
  package var moment: Moment

  package init(boot: String, moment: Moment) {
    self.boot = boot
    self.moment = moment
  }
}

/// The port for time. Safe from any thread.
package protocol Clock: Sendable {
  func now() -> Moment
  func wall() -> WallTime
  /// Lets this much time pass on the calling thread; less when a signal arrives. Callers check their condition again.
  func pause(_ span: Span)
}

/// The system's clocks. Safe from any thread.
package struct SystemClock: Clock {
  package init() {}

  package func now() -> Moment {
    #if canImport(Darwin)
      // Darwin's CLOCK_MONOTONIC advances during sleep, as CLOCK_BOOTTIME does on Linux.
      Moment(nanoseconds: Self.read(CLOCK_MONOTONIC))
    #else
      Moment(nanoseconds: Self.read(CLOCK_BOOTTIME) &+ Self.slept)
    #endif
  }

  package func wall() -> WallTime {
    WallTime(milliseconds: Self.read(CLOCK_REALTIME) / 1_000_000 &+ Self.step &+ Self.slept / 1_000_000)
  }

  package func pause(_ span: Span) {
    guard span > .zero else { return }
    var time = timespec(
      tv_sec: Int(span.nanoseconds / 1_000_000_000), tv_nsec: Int(span.nanoseconds % 1_000_000_000))
    nanosleep(&time, nil)
  }

  #if DEBUG
    /// For tests, in debug builds only: the number of milliseconds by which this process's wall clock is off (INC-14).
    private static let step = read("PORTER_WALL_STEP")
    /// For scenarios, in debug builds only: the number of milliseconds the device slept before this process started.
    private static let slept = read("PORTER_SLEPT") &* 1_000_000

    private static func read(_ variable: String) -> Int64 {
      getenv(variable).flatMap { Int64(String(cString: $0)) } ?? 0
    }
  #else
    private static let step: Int64 = 0
    private static let slept: Int64 = 0
  #endif

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

extension Int64 {
  func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
