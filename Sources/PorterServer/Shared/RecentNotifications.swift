import PorterPlatform
import PorterRelay

/// Notifications that a server has acknowledged to the relay within the last minute. A cluster that lost nodes can undo
/// what it has acknowledged (relay-cluster.md, What 2.9 does not keep), and the relay does not give them again. So they
/// are taken once more after such trouble.
struct RecentNotifications {
  private static let span = Span.seconds(60)
  private static let most = 4_096
  /// How long the cluster must have answered before they are taken again, or how long after the trouble began.
  private static let quiet = Span.seconds(5)
  private static let longest = Span.seconds(20)

  private var acknowledged: [(notification: RelayNotification, at: Moment)] = []
  /// The first one kept. Those before it are removed when they make up half of all.
  private var start = 0
  private var trouble: (first: Moment, last: Moment)?
  private var again: ArraySlice<RelayNotification> = []
  /// Notifications taken again too early, with the time to take them once more.
  private var later: [(notification: RelayNotification, at: Moment)] = []

  var hasMore: Bool { !again.isEmpty }

  mutating func note(_ notifications: [RelayNotification], now: Moment) {
    acknowledged.append(contentsOf: notifications.map { ($0, now) })
    while let first = acknowledged[start...].first,
      now - first.at > Self.span || acknowledged.count - start > Self.most
    { start += 1 }
    guard start * 2 > acknowledged.count else { return }
    acknowledged.removeFirst(start)
    start = 0
  }

  /// Call when the cluster did not answer.
  mutating func noteTrouble(now: Moment) { trouble = (trouble?.first ?? now, now) }

  /// The notifications to take again now, at most `limit`: the newest of each notifier, for which the device's process
  /// fetches everything.
  mutating func take(limit: Int, now: Moment) -> [RelayNotification] {
    if let trouble, now - trouble.last >= Self.quiet || now - trouble.first >= Self.longest {
      self.trouble = nil
      var newest: [RelayIdentifier: RelayNotification] = [:]
      let late = acknowledged[start...].filter { now - $0.at <= Self.span }.map(\.notification)
      for notification in late { newest[notification.notifier] = notification }
      again += late.filter { newest[$0.notifier] == $0 && !again.contains($0) }
    }
    again += later.filter { $0.at <= now }.map(\.notification)
    later.removeAll { $0.at <= now }
    let taken = again.prefix(limit)
    again = again.dropFirst(limit)
    return Array(taken)
  }

  /// Takes back notifications that were not stored, or whose token is still being subscribed.
  mutating func giveBack(_ notifications: [RelayNotification], now: Moment) {
    later += notifications.map { ($0, now + Self.quiet) }
  }
}
