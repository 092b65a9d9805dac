import NIOCore
import PorterServer

/// What a push service's answers say of it as a whole, and for how long it is left alone. Time comes with each call.
struct ServiceStanding: Equatable {
  enum State: Equatable {
    /// It has not answered yet.
    case new
    case answering
    /// It could not be reached, did not answer, or said that it cannot work now.
    case failing
    /// It has accepted nothing yet, and refused a push for its VAPID token.
    case refusingKey
  }

  private(set) var state = State.new
  /// It has accepted a push with the operator's key: a later refusal of the token is about one subscription, which its client made
  /// with another key.
  private(set) var hasAccepted = false
  /// When the last push to it ended.
  private(set) var heard: NIODeadline?
  private var backoff = Backoff()
  /// A key that is refused where none was accepted is tried again soon: it may be a single client's fault.
  private var keyPausedUntil: NIODeadline?
  private static let keyPause = TimeAmount.seconds(30)

  /// It has answered, and not failed since.
  var isProven: Bool { state == .answering }

  /// Nothing is lost when it is as new.
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

  /// With something that is about one push.
  mutating func answered(_ now: NIODeadline) {
    state = .answering
    heard = now
    backoff.succeeded()
  }

  /// Returns for how long it is left alone; `asked` is what it has asked for.
  mutating func failed(_ now: NIODeadline, asked: TimeAmount?) -> TimeAmount {
    state = .failing
    heard = now
    return backoff.failed(now, atLeast: asked ?? .zero)
  }

  /// A push was refused for its VAPID token, and a new one does not help. Returns for how long the whole service is left alone; nil:
  /// it is about that push's subscription.
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
