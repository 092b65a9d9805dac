import Synchronization

/// Asks a busy thread to stop, and bounds its remaining waits while it releases its resources.
///
/// Raised from any thread; lowered by the thread it is meant for, once that thread has noticed. Every wait for a lock
/// and every long computation checks it, and gives up as if the wait had timed out: the work is rolled back, and its
/// caller decides what to do next. Unlike a late interrupt, the signal leaves nothing behind that could affect later
/// work.
package final class StopSignal: Sendable {
  /// A deadline by which everything must have ended, whether or not a stop is requested.
  package enum DeadlineKind: Sendable, CaseIterable {
    /// A push's answer.
    case push
    /// A suspension that the engine has begun.
    case drain
    /// A suspension that has not reached the engine yet.
    case command
  }

  private static let none = Int64.max

  /// A bare function in a mutex is converted by each access, and keeps all the conversions.
  private struct Interruption {
    let interrupt: @Sendable () -> Void
  }

  private let clock: any Clock
  private let requests = Atomic<Int>(0)
  private let push = Atomic<Int64>(none)
  private let drain = Atomic<Int64>(none)
  private let command = Atomic<Int64>(none)
  /// The end of all waiting while the thread releases its resources; `none` otherwise.
  private let releaseEnd = Atomic<Int64>(none)
  /// How often a wait or a computation was cut off, or was asked to end.
  private let cutsSoFar = Atomic<Int>(0)
  private let interruption = Mutex<Interruption?>(nil)
  /// Whether the thread is executing a command, and has committed part of it.
  private let isAnswering = Atomic<Bool>(false)
  private let hasCommitted = Atomic<Bool>(false)

  package init(clock: any Clock) { self.clock = clock }

  // MARK: From any thread

  /// Counted: it takes as many calls of `lower` to undo it.
  package func raise() {
    requests.add(1, ordering: .sequentiallyConsistent)
    cutsSoFar.add(1, ordering: .sequentiallyConsistent)
    interruption.withLock { $0?.interrupt() }
  }

  package func lower() { requests.subtract(1, ordering: .sequentiallyConsistent) }

  package func set(_ kind: DeadlineKind, _ moment: Moment?) {
    let time = moment?.nanoseconds ?? Self.none
    switch kind {
    case .push: push.store(time, ordering: .relaxed)
    case .drain: drain.store(time, ordering: .relaxed)
    case .command: command.store(time, ordering: .relaxed)
    }
  }

  // MARK: From the thread that is busy

  /// Whether to stop. Never while the thread is releasing its resources: that is what it was asked to do.
  package var isRaised: Bool {
    guard !isReleasing else { return false }
    if requests.load(ordering: .relaxed) > 0 { return true }
    let first = firstDeadline
    return first != Self.none && clock.now().nanoseconds >= first
  }

  /// Like `isRaised`, for a wait that is then cut off.
  package var cutsOff: Bool {
    guard isRaised else { return false }
    cutsSoFar.add(1, ordering: .relaxed)
    return true
  }

  /// Changes when something is cut off, whose failure then says nothing about the store.
  package var cuts: Int { cutsSoFar.load(ordering: .relaxed) }

  /// Whether a stop is requested that this thread has not yet acted on.
  package var isStopRequested: Bool { requests.load(ordering: .relaxed) > 0 }

  /// Whether to skip whatever can just as well be done later.
  package var skipsOptionalWork: Bool { isReleasing || isRaised }

  private var isReleasing: Bool { releaseEnd.load(ordering: .relaxed) != Self.none }

  /// Whether to stop reading. Not in a command that has committed: its caller would take stored changes for refused,
  /// and ask again.
  package var stopsReading: Bool { !hasCommitted.load(ordering: .relaxed) && cutsOff }

  /// Executes a command. Once part of it is committed, its remaining reads are not cut off.
  package func answering<Result>(_ body: () -> Result) -> Result {
    isAnswering.store(true, ordering: .relaxed)
    defer {
      isAnswering.store(false, ordering: .relaxed)
      hasCommitted.store(false, ordering: .relaxed)
    }
    return body()
  }

  package func noteCommit() {
    if isAnswering.load(ordering: .relaxed) { hasCommitted.store(true, ordering: .relaxed) }
  }

  /// Whether there is this much time left before something must have ended. Also asked during a release, when nothing
  /// stops the thread any longer: for work that can just as well be left to other processes.
  package func leaves(_ span: Span) -> Bool {
    guard !isStopRequested else { return false }
    let first = firstDeadline
    return first == Self.none || clock.now() + span < Moment(nanoseconds: first)
  }

  private var firstDeadline: Int64 {
    min(push.load(ordering: .relaxed), drain.load(ordering: .relaxed), command.load(ordering: .relaxed))
  }

  /// The end of a wait that would otherwise end at `end`.
  package func limit(_ end: Moment) -> Moment { min(end, Moment(nanoseconds: releaseEnd.load(ordering: .relaxed))) }

  /// Runs `body` without stopping it; all its waits for other processes together end after `span`. A nested call uses
  /// the outer budget.
  package func withReleaseBudget<Result>(_ span: Span, _ body: () -> Result) -> Result {
    guard !isReleasing else { return body() }
    releaseEnd.store((clock.now() + span).nanoseconds, ordering: .relaxed)
    defer { releaseEnd.store(Self.none, ordering: .relaxed) }
    return body()
  }

  /// For work that does not check the signal itself: calls `interrupt`, on the raising thread, while `body` runs and at
  /// no other time.
  package func interrupting<Result, Failure: Error>(
    by interrupt: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    interruption.withLock { $0 = Interruption(interrupt: interrupt) }
    defer { interruption.withLock { $0 = nil } }
    return try body()
  }
}
