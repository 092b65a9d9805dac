import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

extension NotificationServer {
  /// Stores a slice of the notifications that are due, and remembers when to ask for the others. Returns them, to be acknowledged.
  func takeNotifications() throws(ServerError) -> [RelayNotification] {
    let due = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try notifiers.dueNotifications(limit: ServerTimes.slice)
    }
    times.heldNotification = due.nextIn.map { clock.now() + .milliseconds(Int64($0)) }
    let pending = due.notifications
    guard !pending.isEmpty else { return [] }
    try state.transaction(.normal) { () throws(ServerError) in
      for notification in pending { try take(notification) }
    }
    return pending
  }

  /// After they are on the disk: a failure before this point repeats a hint, and loses none. Their pushes are on their way meanwhile.
  func acknowledge(_ notifications: [RelayNotification]) throws(ServerError) {
    guard !notifications.isEmpty else { return }
    try state.synchronize()
    try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try notifiers.acknowledge(notifications)
    }
    // A relay on the network may have given fewer than it has.
    if notifications.count == ServerTimes.slice || !port.isLocal { times.hasMoreAtRelay = true }
  }

  /// For each verified token that watches the notifier, except tokens that have it already.
  func take(_ notification: RelayNotification, except known: Set<Int64> = []) throws(ServerError) {
    guard NotificationBundle.metadataCounts ~= notification.metadata.count else {
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
    // What a power failure undoes is due again.
    try state.transaction(.normal) { () throws(ServerError) in
      for wake in due {
        try state.drop(wake)
        switch wake.owner {
        case .token(let token): _ = try raise(.wakeDue, of: token)
        // It gets the next one, if it is mended by then.
        case .damaged: try state.scheduleWake(of: wake.number, at: wall)
        case .ended: break
        }
      }
    }
    if due.count == ServerTimes.slice { times.hasMoreToDo = true }
  }
}
