import Synchronization

/// Tells a thread that is busy to leave off, and how long it may still wait for anybody while it lets go.
///
/// Raised from any thread, lowered by the thread that it is meant for, once it has heard. Whatever waits for a lock or
/// computes for long looks at it, and gives up as if the wait had been in vain: what it was about is rolled back, and is
/// up to its caller again. Nothing is left behind that could hit what begins later, as an interrupt that comes late does.
package final class StopSignal: Sendable {
  /// By when everything has to have ended, whether or not somebody asks.
  package enum Due: Sendable, CaseIterable {
    /// A push's answer.
    case push
    /// A suspension that the engine has begun.
    case drain
    /// A suspension that the engine was not told of yet.
    case command
  }

  private static let none = Int64.max

  private let clock: any Clock
  private let demands = Atomic<Int>(0)
  private let push = Atomic<Int64>(none)
  private let drain = Atomic<Int64>(none)
  private let command = Atomic<Int64>(none)
  /// The end of all waiting while the thread lets go; `none` while it does not.
  private let patience = Atomic<Int64>(none)
  private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

  package init(clock: any Clock) { self.clock = clock }

  // MARK: From any thread

  /// Counts: as many calls of `lower` take it back.
  package func raise() {
    demands.add(1, ordering: .sequentiallyConsistent)
    interruption.withLock { $0?() }
  }

  package func lower() { demands.subtract(1, ordering: .sequentiallyConsistent) }

  package func set(_ due: Due, _ moment: Moment?) {
    let time = moment?.nanoseconds ?? Self.none
    switch due {
    case .push: push.store(time, ordering: .relaxed)
    case .drain: drain.store(time, ordering: .relaxed)
    case .command: command.store(time, ordering: .relaxed)
    }
  }

  // MARK: From the thread that is busy

  /// Whether to leave off. Never while it is letting go: that is what it was to do.
  package var isRaised: Bool {
    guard !isLettingGo else { return false }
    if demands.load(ordering: .relaxed) > 0 { return true }
    let first = firstDue
    return first != Self.none && clock.now().nanoseconds >= first
  }

  /// Whether somebody waits for this thread to let go, and it does not yet.
  package var isDemanded: Bool { demands.load(ordering: .relaxed) > 0 }

  /// Whether there is no time for what could as well be done later.
  package var isPressing: Bool { isLettingGo || isRaised }

  private var isLettingGo: Bool { patience.load(ordering: .relaxed) != Self.none }

  /// Whether there is this much time until something has to have ended. Also asked while the thread lets go, when nothing
  /// stops it any more: for what could as well be left to others.
  package func leaves(_ span: Span) -> Bool {
    guard !isDemanded else { return false }
    let first = firstDue
    return first == Self.none || clock.now() + span < Moment(nanoseconds: first)
  }

  private var firstDue: Int64 {
    min(push.load(ordering: .relaxed), drain.load(ordering: .relaxed), command.load(ordering: .relaxed))
  }

  /// The end of a wait that would otherwise be over at `end`.
  package func limit(_ end: Moment) -> Moment { min(end, Moment(nanoseconds: patience.load(ordering: .relaxed))) }

  /// Nothing in `body` is stopped; all its waiting for others together ends after `span`. Within another such time, that
  /// one counts.
  package func whileLettingGo<Result>(waitingAtMost span: Span, _ body: () -> Result) -> Result {
    guard !isLettingGo else { return body() }
    patience.store((clock.now() + span).nanoseconds, ordering: .relaxed)
    defer { patience.store(Self.none, ordering: .relaxed) }
    return body()
  }

  /// For work that does not look by itself: `interrupt` is called, from the thread that raises, while `body` runs and at
  /// no other time.
  package func interrupting<Result, Failure: Error>(
    by interrupt: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    interruption.withLock { $0 = interrupt }
    defer { interruption.withLock { $0 = nil } }
    return try body()
  }
}
