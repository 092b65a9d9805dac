import NIOCore
import Synchronization

/// The allowance of one key: `rate` per second, with bursts of up to `burst`.
public struct Allowance: Sendable, Equatable {
  public var rate: Double
  public var burst: Double

  public init(rate: Double, burst: Double) {
    self.rate = rate
    self.burst = burst
  }
}

/// Counts each key's actions in bounded memory. A key that was idle for as long as its allowance takes to fill up is
/// forgotten. When there are too many keys, the older half is forgotten, which can only favour a key.
public final class RateLimiter<Key: Hashable & Sendable>: Sendable {
  private struct Bucket {
    var level: Double
    var moment: NIODeadline
  }

  private struct State {
    var recent: [Key: Bucket] = [:]
    var earlier: [Key: Bucket] = [:]
    var turn: NIODeadline
  }

  private let allowance: Allowance
  private let capacity: Int
  private let state: Mutex<State>

  public init(_ allowance: Allowance, capacity: Int = 100_000, now: NIODeadline = .now()) {
    self.allowance = allowance
    self.capacity = capacity
    state = Mutex(State(turn: now))
  }

  /// Nil if the key may proceed; otherwise the number of seconds until it may. An action that costs more than is left
  /// may proceed too, or large ones would never get a chance beside small ones: the next one waits for longer.
  public func take(_ key: Key, cost: Double = 1, now: NIODeadline = .now()) -> Int? {
    state.withLock { state in
      turn(&state, now)
      var bucket = state.recent[key] ?? state.earlier[key] ?? Bucket(level: allowance.burst, moment: now)
      let seconds = Double((now - bucket.moment).nanoseconds) / 1e9
      bucket.level = min(allowance.burst, bucket.level + max(0, seconds) * allowance.rate)
      bucket.moment = now
      defer { state.recent[key] = bucket }
      guard bucket.level < 1 else {
        bucket.level -= cost
        return nil
      }
      guard allowance.rate > 0 else { return 300 }
      return min(300, max(1, Int(((1 - bucket.level) / allowance.rate).rounded(.up))))
    }
  }

  var count: Int { state.withLock { $0.recent.count + $0.earlier.count } }

  private func turn(_ state: inout State, _ now: NIODeadline) {
    let full = allowance.rate > 0 ? allowance.burst / allowance.rate : 300
    let isOld = now - state.turn > .nanoseconds(Int64(min(full, 3_600) * 1e9))
    guard isOld || state.recent.count >= capacity / 2 else { return }
    state.earlier = state.recent
    state.recent = [:]
    state.turn = now
  }
}
