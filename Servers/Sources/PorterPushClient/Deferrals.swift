import NIOCore

/// How long pushes that a peer defers are left alone: as long as it asks, a day at most, or twice as long each time.
///
/// Counted by device. Clients create devices, so only a limited number is remembered; beyond it some start anew.
struct Deferrals {
  /// For a peer that does not say how long.
  private let longest: TimeAmount
  private static let longestAsked = TimeAmount.hours(24)
  private let most: Int
  /// Keyed by the hash of the push token.
  private var counts: [Int: Int] = [:]

  init(longest: TimeAmount, most: Int) { (self.longest, self.most) = (longest, most) }

  /// In seconds.
  mutating func next(_ token: String, asked: TimeAmount?) -> Int {
    let key = token.hashValue
    if counts.count >= most, counts[key] == nil { counts.remove(at: counts.startIndex) }
    let count = counts[key, default: 0]
    counts[key] = count + 1
    let pause = asked.map { min($0, Self.longestAsked) } ?? min(longest, .seconds(1 << Int64(min(count, 16))))
    return max(1, Int(pause.nanoseconds / 1_000_000_000))
  }

  /// A push to the device has got its answer.
  mutating func end(_ token: String) {
    if !counts.isEmpty { counts[token.hashValue] = nil }
  }
}
