import PorterCrypto
import PorterPlatform
import PorterRelay

/// Notifications to acknowledge to the relay. They are gathered for a moment, because each exchange that acknowledges
/// some waits for another answer of the cluster. A relay gives them again after 5 seconds.
struct GatheredAcknowledgements {
  static let span = Span.milliseconds(250)

  private var notifications: [RelayNotification] = []
  private var nonces: Set<BoxNonce> = []
  /// When the first was added.
  private var since: Moment?

  var due: Moment? { since.map { $0 + Self.span } }

  func isDue(now: Moment) -> Bool { due.map { $0 <= now } ?? false || notifications.count >= ServerTimes.slice }
  func has(_ notification: RelayNotification) -> Bool { nonces.contains(notification.nonce) }

  mutating func add(_ new: [RelayNotification], now: Moment) {
    guard !new.isEmpty else { return }
    notifications += new
    nonces.formUnion(new.map(\.nonce))
    since = since ?? now
  }

  mutating func takeAll() -> [RelayNotification] {
    defer { self = GatheredAcknowledgements() }
    return notifications
  }
}
