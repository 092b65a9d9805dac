import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

extension NotificationServer {
  /// Takes a slice of the notifications that are due, and remembers when to ask for the others. They are acknowledged after they
  /// are stored: a crash in between repeats a hint, and loses none.
  func takeNotifications() throws(ServerError) {
    let due = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try notifiers.dueNotifications(limit: ServerTimes.slice)
    }
    times.heldNotification = due.nextIn.map { clock.now() + .milliseconds(Int64($0)) }
    let pending = due.notifications
    guard !pending.isEmpty else { return }
    try state.transaction { () throws(ServerError) in
      for notification in pending { try take(notification) }
    }
    try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in try notifiers.acknowledge(pending) }
    times.hasMoreAtRelay = true
  }

  /// For each verified token that watches the notifier, except tokens that have it already.
  func take(_ notification: RelayNotification, except known: Set<Int64> = []) throws(ServerError) {
    let sizes = Box.overhead...NotificationBundle.maximumMetadataCount
    guard sizes ~= notification.metadata.count else {
      log(.warning, "a notification has the wrong size", ["bytes": "\(notification.metadata.count)"])
      return
    }
    for (subscription, token) in try state.watchers(of: notification.notifier) where !known.contains(token.number) {
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
    let due = try state.dueWakes(at: wall, limit: ServerTimes.slice)
    guard !due.isEmpty else { return }
    try state.transaction { () throws(ServerError) in
      for wake in due {
        try state.drop(wake)
        if let token = wake.token { _ = try raise(.wakeDue, of: token) }
      }
    }
    if due.count == ServerTimes.slice { times.hasMoreToDo = true }
  }
}
