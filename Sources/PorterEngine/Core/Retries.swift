import PorterPlatform
import PorterStore

/// Repeats work because the store could not be read, or because the relay or the server did not answer. Each kind of
/// work has its own timer, with a delay that grows with each failure of that kind. Threads: the engine's.
final class Retries {
  private let timers: Timers
  private let storeAccess: StoreAccess
  private let log: Log
  private var attempts = NamedBackoffs()
  private var readings = NamedBackoffs()

  init(timers: Timers, storeAccess: StoreAccess, log: Log) {
    self.timers = timers
    self.storeAccess = storeAccess
    self.log = log
  }

  /// Calls `again` by the timer `name`, unless that is already set: simultaneous failures count as one attempt.
  func retry(_ name: String, _ again: @escaping () -> Void) {
    guard !timers.isSet(name) else { return }
    retryInstead(name, again)
  }

  /// Like `retry`, but replaces the timer's previous action.
  func retryInstead(_ name: String, _ again: @escaping () -> Void) {
    timers.set(name, after: attempts.next(name), again)
  }

  /// An attempt succeeded: the next failure counts as the first.
  func reset(_ name: String) { attempts.reset(name) }

  /// Returns what `look` finds in the store. Nil if the store cannot be read now; `again` is then called later by the
  /// timer `name`.
  ///
  /// A brief disk failure or an unavailable lock must not be mistaken for a missing record: due work would be forgotten
  /// or, as with a token, the record would be made anew.
  func read<Value>(
    orLater name: String, _ again: @escaping () -> Void, _ look: (Store) throws(StoreError) -> Value
  ) -> Value? {
    guard let store = storeAccess.store else { return nil }
    do throws(StoreError) {
      let value = try look(store)
      readings.reset(name)
      return value
    } catch {
      log(.warning, "the store could not be read", ["due": name, "error": error.description])
      later(name, again)
      return nil
    }
  }

  /// Calls `again` by the timer `name`, as after a failed read.
  func later(_ name: String, _ again: @escaping () -> Void) {
    timers.set(name, after: readings.next(name), again)
  }
}

/// One back-off per timer name, reset only by a success under that name.
struct NamedBackoffs {
  private var backoffs = [String: Backoff]()

  mutating func next(_ name: String) -> Span {
    backoffs[name, default: Backoff(first: Durations.firstRetry, last: Durations.lastRetry)].next()
  }

  mutating func reset(_ name: String) {
    guard !backoffs.isEmpty else { return }
    backoffs[name] = nil
  }
}
