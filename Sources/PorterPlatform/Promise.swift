#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A mutex with a condition to wait on, which the standard library's `Mutex` does not offer.
///
/// `@unchecked Sendable`: the two POSIX objects are meant to be shared between threads, and `value` is accessed only
/// under the lock.
package final class Monitor<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // Deadlines must not follow a step of the wall clock (INC-14).
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Like `withLock`, and wakes every waiter.
  package func signal<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    // Unlocked first: a waiter that wakes finds the mutex free, and does not go back to sleep.
    defer {
      pthread_mutex_unlock(mutex)
      pthread_cond_broadcast(condition)
    }
    return body(&value)
  }

  /// Waits until `take` returns a value, for at most `span` (nil: without limit). Checks once more after the time is
  /// up, so that a value arriving at that very moment is not lost.
  package func wait<Result>(atMost span: Span?, _ take: (inout Value) -> Result?) -> Result? {
    // A check that does not wait needs no clock.
    if let span, span <= .zero { return withLock(take) }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let end = span.map { Self.monotonicNow() + $0 }
    while true {
      if let result = take(&value) { return result }
      guard let end else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      let left = end - Self.monotonicNow()
      guard left > .zero else { return nil }
      var time = timespec()
      #if canImport(Darwin)
        time.tv_sec = Int(left.nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(left.nanoseconds % 1_000_000_000)
        pthread_cond_timedwait_relative_np(condition, mutex, &time)
      #else
        time.tv_sec = Int(end.nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(end.nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
      #endif
    }
  }

  private static func monotonicNow() -> Moment {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}

/// A value that is given once and awaited on another thread. A second attempt to give it is refused and reported: that
/// is how a push that expires while it finishes still ends exactly once (INC-31).
package final class Promise<Value: Sendable>: Sendable {
  private let monitor = Monitor<Value?>(nil)

  package init() {}

  /// False if there already was a value; that value stays.
  @discardableResult
  package func fulfil(_ value: Value) -> Bool {
    monitor.signal { held in
      guard held == nil else { return false }
      held = value
      return true
    }
  }

  /// Nil if the time ran out first.
  package func wait(atMost span: Span? = nil) -> Value? { monitor.wait(atMost: span) { $0 } }

  package var isFulfilled: Bool { monitor.withLock { $0 != nil } }
}
