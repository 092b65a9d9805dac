import PorterSchema

/// The events `notifications` of an app on screen, and the badge they last gave the host. Threads: the engine's.
final class ScreenEvents {
  private let context: EngineContext
  /// Nil if unknown: before the app came to the screen, the answers of other processes set the badge.
  private var badge: Int64?

  init(_ context: EngineContext) { self.context = context }

  func lacks(badge: Int64) -> Bool { self.badge != badge }

  func forgetBadge() { badge = nil }

  func post(
    _ user: UserRecord?, _ notifications: [PresentedNotification], withdrawals: [String] = [], badge: Int64
  ) {
    let event = Event.notifications(user, notifications, withdrawals: withdrawals, badge: badge)
    if context.events.postUnlessBehind(event) { self.badge = badge }
  }
}
