import PorterPlatform

/// Time as of a message that a cluster has just stored, counted onward by this machine's time since boot.
package struct ClusterTime: Sendable {
  /// How far a clock may be off if it is kept synchronized.
  private static let tolerance: Int64 = 60_000

  private let milliseconds: Int64
  private let moment: Moment

  package init(milliseconds: Int64, moment: Moment) { (self.milliseconds, self.moment) = (milliseconds, moment) }

  package func value(at now: Moment) -> Int64 { milliseconds &+ (now - moment).milliseconds }

  /// How many seconds this machine's wall clock is ahead of the cluster's; nil if that is less than a minute.
  package func difference(now: Moment, wall: WallTime) -> Int64? {
    let difference = wall.milliseconds &- value(at: now)
    return abs(difference) < Self.tolerance ? nil : difference / 1_000
  }
}
