import PorterPlatform
import PorterStore

/// How long the engine waits before it tries something again: one back-off for each purpose, which only a success of that
/// purpose ends.
struct Backoffs {
  var serverRequests = Self.new
  var replies = Self.new
  /// Asking the notification server about the token.
  var token = Self.new
  /// Asking the relay or the notification server about a connection's push subscription.
  var pushSubscriptions = Self.new

  private static let new = Backoff(first: Durations.firstRetry, last: Durations.lastRetry)
}

extension Engine {
  /// Calls `again` by the timer `name`, unless that is due already: what fails together counts as one attempt.
  func retry(_ name: String, _ backoff: WritableKeyPath<Backoffs, Backoff>, _ again: @escaping (Engine) -> () -> Void) {
    guard !timers.isSet(name) else { return }
    timers.set(name, after: backoffs[keyPath: backoff].next()) { [weak self] in self.map { again($0)() } }
  }

  func read<Value>(
    _ look: (Store) throws(StoreError) -> Value, orLater name: String,
    _ again: @escaping (Engine) -> () -> Void
  ) -> Value? {
    context.retries.read(look, orLater: name) { [weak self] in self.map { again($0)() } }
  }

  func later(_ name: String, _ again: @escaping (Engine) -> () -> Void) {
    context.retries.later(name) { [weak self] in self.map { again($0)() } }
  }
}
