import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

extension NotificationServer {
  /// Takes notifications until the relay has none left that are due, or the turn has taken its share, and remembers when to
  /// ask for the others. They are acknowledged after they are stored: a crash in between repeats a hint, and loses none.
  func takeNotifications() throws(ServerError) {
    let end = clock.now() + ServerTimes.longestTurn
    for number in 0..<ServerTimes.longestService where number == 0 || clock.now() < end {
      let due = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
        try notifiers.dueNotifications(limit: ServerTimes.slice)
      }
      times.heldNotification = due.nextIn.map { clock.now() + .milliseconds(Int64($0)) }
      let pending = due.notifications
      guard !pending.isEmpty else { return }
      try state.transaction { () throws(ServerError) in
        for notification in pending { try take(notification) }
      }
      try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in try notifiers.acknowledge(pending)
      }
    }
    times.hasMoreAtRelay = true
  }

  /// For each verified token that watches the notifier.
  private func take(_ notification: RelayNotification) throws(ServerError) {
    let sizes = Box.overhead...NotificationBundle.maximumMetadataCount
    guard sizes ~= notification.metadata.count else {
      log(.warning, "a notification has the wrong size", ["bytes": "\(notification.metadata.count)"])
      return
    }
    for (subscription, token) in try state.watchers(of: notification.notifier) {
      let next = try raise(.message, of: token)
      guard next == .active else {
        log(.info, "a notification for a token that receives none", ["token": "\(token.number)", "state": next.name])
        continue
      }
      try state.save(notification, for: subscription, token: token.number)
    }
  }

  /// Queues `checkMessages` pushes whose period is over.
  func wakeDevices() throws(ServerError) {
    let wall = clock.wall()
    let due = try state.tokensToWake(at: wall, limit: ServerTimes.slice)
    guard !due.isEmpty else { return }
    try state.transaction { () throws(ServerError) in
      for token in due {
        _ = try raise(.wakeDue, of: token)
        try state.noteWake(of: token.number, at: wall)
      }
    }
    if due.count == ServerTimes.slice { times.hasMoreToDo = true }
  }
}
