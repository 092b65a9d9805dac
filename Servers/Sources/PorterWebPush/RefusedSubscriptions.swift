import NIOCore

/// Subscriptions whose pushes are refused, each left alone for longer each time. Clients make them, so that only so many are
/// remembered; those beyond that begin anew.
struct RefusedSubscriptions {
  private let most: Int
  /// By the hash of the endpoint, which may be long.
  private var backoffs: [Int: Backoff] = [:]

  init(most: Int) { self.most = most }

  /// Nil if it may be sent something.
  func pauseLeft(_ endpoint: String, _ now: NIODeadline) -> TimeAmount? {
    backoffs.isEmpty ? nil : backoffs[endpoint.hashValue]?.left(now)
  }

  /// Returns for how long it is left alone.
  mutating func refused(_ endpoint: String, _ now: NIODeadline) -> TimeAmount {
    let key = endpoint.hashValue
    if backoffs.count >= most, backoffs[key] == nil { backoffs.removeAll() }
    return backoffs[key, default: Backoff()].failed(now)
  }

  mutating func answered(_ endpoint: String) {
    if !backoffs.isEmpty { backoffs[endpoint.hashValue] = nil }
  }
}
