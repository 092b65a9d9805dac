import NIOCore

/// Subscriptions whose pushes are refused, each left alone for longer each time. Clients create them, so only a limited
/// number is remembered; beyond it they start anew.
struct RefusedSubscriptions {
  private let most: Int
  /// Keyed by the hash of the endpoint, which may be long.
  private var backoffs: [Int: Backoff] = [:]

  init(most: Int) { self.most = most }

  /// Nil if it may be sent something.
  func pauseLeft(_ endpoint: String, _ now: NIODeadline) -> TimeAmount? {
    backoffs.isEmpty ? nil : backoffs[endpoint.hashValue]?.left(now)
  }

  /// Returns how long the subscription is left alone.
  mutating func refused(_ endpoint: String, _ now: NIODeadline) -> TimeAmount {
    let key = endpoint.hashValue
    if backoffs.count >= most, backoffs[key] == nil { backoffs.removeAll() }
    return backoffs[key, default: Backoff()].failed(now)
  }

  mutating func answered(_ endpoint: String) {
    if !backoffs.isEmpty { backoffs[endpoint.hashValue] = nil }
  }
}
