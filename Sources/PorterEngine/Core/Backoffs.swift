import PorterPlatform

/// How long the engine waits before it tries something again: one back-off for each purpose, which only a success of that
/// purpose ends.
struct Backoffs {
  var outbox = Self.new
  var serverRequests = Self.new
  var mailboxes = Self.new
  var subscribing = Self.new
  var replies = Self.new
  /// Asking the notification server about the token.
  var token = Self.new
  /// Asking the relay or the notification server about a connection's push subscription.
  var pushSubscriptions = Self.new
  /// Reading the store for the work of a timer, by the timer's name.
  private var reading: [String: Backoff] = [:]

  private static let new = Backoff(first: Durations.firstRetry, last: Durations.lastRetry)

  mutating func nextReading(_ name: String) -> Span { reading[name, default: Self.new].next() }

  mutating func resetReading(_ name: String) {
    guard !reading.isEmpty else { return }
    reading[name] = nil
  }
}

extension Engine {
  /// Calls `again` by the timer `name`, unless that is due already: what fails together counts as one attempt.
  func retry(_ name: String, _ backoff: WritableKeyPath<Backoffs, Backoff>, _ again: @escaping (Engine) -> () -> Void) {
    guard !timers.isSet(name) else { return }
    timers.set(name, after: backoffs[keyPath: backoff].next()) { [weak self] in self.map { again($0)() } }
  }

  /// The embedded relay's file is in use by another process. It may be free again at any moment, unlike a network, so that
  /// what waits for the relay is tried again soon, however often it has failed.
  func relayFileIsBusy() {
    guard !timers.isSet(TimerName.busyRelay) else { return }
    timers.set(TimerName.busyRelay, after: Durations.busyRelayRetry) { [weak self] in
      for name in TimerName.relayRetries { self?.timers.hasten(name) }
    }
  }
}
