import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

extension NotificationServer {
  /// Until the relay has none left. They are acknowledged after they are on record: a crash between repeats a hint, and
  /// loses none.
  func takeNotifications() throws(ServerError) {
    while true {
      let pending = try ServerError.carryingRelay { () throws(RelayError) in try notifiers.pendingNotifications() }
      guard !pending.isEmpty else { return }
      try state.transaction { () throws(ServerError) in
        for notification in pending { try take(notification) }
      }
      try ServerError.carryingRelay { () throws(RelayError) in try notifiers.acknowledge(pending) }
    }
  }

  /// For each token that watches the notifier, and is proven.
  private func take(_ notification: RelayNotification) throws(ServerError) {
    let sizes = Box.overhead...NotificationBundle.maximumMetadataCount
    guard sizes ~= notification.metadata.count else {
      log(.warning, "a notification of a wrong size", ["bytes": "\(notification.metadata.count)"])
      return
    }
    for subscription in try state.subscriptions(to: notification.notifier) where subscription.status == .active {
      guard let token = try state.token(number: subscription.token) else { continue }
      let (_, next) = try raise(.message, token)
      guard next == .active else {
        log(.info, "a notification for a token that gets none", ["token": "\(token.number)", "state": next.name])
        continue
      }
      try state.save(notification, for: subscription)
    }
  }

  /// `checkMessages` pushes whose period is over.
  func wakeDevices() throws(ServerError) {
    let wall = clock.wall()
    for token in try state.tokensToWake(at: wall) {
      try state.transaction { () throws(ServerError) in
        _ = try raise(.wakeDue, token)
        try state.noteWake(of: token.number, at: wall)
      }
    }
  }
}
