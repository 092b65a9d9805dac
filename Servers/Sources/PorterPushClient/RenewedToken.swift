public import NIOCore

/// The token that identifies the sender of requests. All requests carry it until it is renewed.
public struct RenewedToken {
  private let renewal: TimeAmount
  private let shortestLife: TimeAmount
  private let make: (Int64) -> String?
  /// `seconds`: since 1970, by the wall clock.
  private var made: (text: String, at: NIODeadline, seconds: Int64)?
  private var refused: NIODeadline?
  /// The wall clock may be set by so much without a new token, in seconds.
  private static let tolerance: Int64 = 30
  /// The number of the token that `current` returns.
  public private(set) var number = 0

  /// A token refused as expired is replaced, but no more often than `shortestLife`. `make` receives the seconds since
  /// 1970, and returns nil when out of memory.
  public init(renewal: TimeAmount, shortestLife: TimeAmount, make: @escaping (Int64) -> String?) {
    self.renewal = renewal
    self.shortestLife = shortestLife
    self.make = make
  }

  public mutating func current(_ clock: any PushClock) -> String? {
    let (now, seconds) = (clock.now, clock.seconds)
    if let made {
      if isClockSet(since: made.at, made.seconds, now, seconds) {
        refused = nil
      } else if now - made.at < renewal {
        return made.text
      }
    }
    guard let text = make(seconds) else { return nil }
    made = (text, now, seconds)
    number += 1
    return text
  }

  /// Whether the wall clock was set since then, so that the token's age is not what the peer sees.
  private func isClockSet(since start: NIODeadline, _ startSeconds: Int64, _ now: NIODeadline, _ seconds: Int64) -> Bool
  {
    abs(seconds - startSeconds - (now - start).nanoseconds / 1_000_000_000) > Self.tolerance
  }

  /// The peer reports token `number` as expired. Returns whether there is, or will be, another one: not if the one
  /// before was refused in the same way a short time ago, which indicates a wrong clock.
  public mutating func isReplaced(after number: Int, _ now: NIODeadline) -> Bool {
    guard number == self.number, made != nil else { return true }
    if let refused, now - refused < shortestLife { return false }
    refused = now
    made = nil
    return true
  }
}
