import NIOCore
import PorterServer

/// The state of a push service as a whole, judged by its answers, and how long it is left alone. Time comes with each
/// call.
struct ServiceStanding: Equatable {
  enum State: Equatable {
    /// It has not answered yet.
    case new
    case answering
    /// It could not be reached, did not answer, or reported that it cannot work now.
    case failing(ProviderFailure)
    /// It has accepted nothing yet, and refused a push because of its VAPID token.
    case refusingKey
  }

  private(set) var state = State.new
  /// It has accepted a push with the operator's key: a later refusal of the token concerns one subscription, which its
  /// client created with another key.
  private(set) var hasAccepted = false
  /// The time at which the last push to it ended.
  private(set) var heard: NIODeadline?
  private var backoff = Backoff()
  /// A key refused before any was accepted is retried soon: it may be a single client's fault.
  private var keyPausedUntil: NIODeadline?
  private static let keyPause = TimeAmount.seconds(30)

  /// It has answered, and not failed since.
  var isProven: Bool { state == .answering }

  /// Its state can be dropped without losing anything.
  var isForgettable: Bool {
    switch state {
    case .new, .answering: !hasAccepted
    case .failing, .refusingKey: false
    }
  }

  /// Nil if it may be sent something.
  func pauseLeft(_ now: NIODeadline) -> TimeAmount? {
    let key = keyPausedUntil.flatMap { $0 > now ? $0 - now : nil }
    return [backoff.left(now), key].compactMap { $0 }.max()
  }

  mutating func accepted(_ now: NIODeadline) {
    answered(now)
    hasAccepted = true
    keyPausedUntil = nil
  }

  /// The answer concerns one push.
  mutating func answered(_ now: NIODeadline) {
    state = .answering
    heard = now
    backoff.succeeded()
  }

  /// Returns how long the service is left alone; `asked` is the time it asked for.
  mutating func failed(_ now: NIODeadline, _ failure: ProviderFailure, asked: TimeAmount?) -> TimeAmount {
    state = .failing(failure)
    heard = now
    return backoff.failed(now, atLeast: asked ?? .zero)
  }

  /// A push was refused because of its VAPID token, and a new token does not help. Returns how long the whole service
  /// is left alone; nil if the refusal concerns only that push's subscription.
  mutating func refusedKey(_ now: NIODeadline) -> TimeAmount? {
    guard !hasAccepted else {
      answered(now)
      return nil
    }
    heard = now
    if let left = pauseLeft(now) { return left }
    state = .refusingKey
    backoff.succeeded()
    keyPausedUntil = now + Self.keyPause
    return Self.keyPause
  }
}
