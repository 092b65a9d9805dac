import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

extension NotificationServer {
  /// Serves requests, then stores a slice of the due notifications, and remembers when to ask for the rest. Returns
  /// them for acknowledgement.
  func askRelay() throws(ServerError) -> [RelayNotification] {
    let pending = try receive(serving: serveRequests)
    guard !pending.isEmpty else { return [] }
    try state.transaction(.normal) { () throws(ServerError) in
      for notification in pending { try take(notification) }
    }
    given = []
    return pending
  }

  /// Returns a slice of the due notifications, after a call of `serving` if there may be requests. The same exchange
  /// acknowledges those of the previous turn, if that has not been done yet.
  ///
  /// They stay in `given` until they are stored: a clustered relay does not give them again for some seconds.
  func receive(serving: () throws(ServerError) -> Void) throws(ServerError) -> [RelayNotification] {
    let stored = unacknowledged
    let (due, requests) = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try notifiers.acknowledgeAndGet(
        stored, limit: max(1, ServerTimes.slice - given.count),
        mailbox: (recipient: mailbox.recipient, key: identity.recipientKey))
    }
    unacknowledged = []
    let known = Set(given.map(\.nonce))
    given += due.notifications.filter { !known.contains($0.nonce) }
    times.heldNotification = due.nextIn.map { clock.now() + .milliseconds(Int64($0)) }
    // First: they may say which token a notification is for, and whether it receives any.
    switch requests {
    case .auth: throw .mailboxUnknown
    case .waiting: try serving()
    case .subscribed: break
    }
    return given
  }

  /// Acknowledges notifications once they are on disk: a failure before this point repeats a hint, but loses none.
  /// Their pushes are already on their way.
  ///
  /// A relay on the network is asked again in any case, since it may have given fewer than it has. That request
  /// acknowledges these, so that each turn needs one exchange.
  func settle(_ notifications: [RelayNotification]) throws(ServerError) {
    guard !notifications.isEmpty else { return }
    try state.synchronize()
    unacknowledged = notifications
    if port.isLocal { try acknowledge() }
    if notifications.count >= ServerTimes.slice || !port.isLocal { times.hasMoreAtRelay = true }
  }

  func acknowledge() throws(ServerError) {
    let stored = unacknowledged
    try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in try notifiers.acknowledge(stored) }
    unacknowledged = []
  }

  /// Acknowledges the rest, which would otherwise be pushed again after the next start.
  package func leave() {
    guard !unacknowledged.isEmpty, !times.hasRelayFailed else { return }
    do throws(ServerError) { try acknowledge() } catch {
      log(.warning, "notifications are not acknowledged", ["reason": "\(error)"])
    }
  }

  /// Stores it for each verified token that watches the notifier, except tokens that already have it, or a later one
  /// whose push is due.
  func take(_ notification: RelayNotification, except known: Set<Int64> = []) throws(ServerError) {
    guard NotificationBundle.metadataCounts ~= notification.metadata.count else {
      log(.warning, "a notification has the wrong size", ["bytes": "\(notification.metadata.count)"])
      return
    }
    for (subscription, token) in try state.watchers(of: notification.notifier) where !known.contains(token.number) {
      if try state.isCovered(notification, of: subscription) { continue }
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
    let due = try state.dueWakes(at: clock.wall(), limit: ServerTimes.slice)
    try wakeDevices(due)
    if due.count == ServerTimes.slice { times.hasMoreToDo = true }
  }

  func wakeDevices(_ due: [DueWake]) throws(ServerError) {
    guard !due.isEmpty else { return }
    let wall = clock.wall()
    // Whatever a power failure undoes is due again.
    try state.transaction(.normal) { () throws(ServerError) in
      for wake in due {
        try state.drop(wake)
        switch wake.owner {
        case .token(let token): _ = try raise(.wakeDue, of: token)
        // It gets the next wake-up, if it is repaired by then.
        case .damaged: try state.scheduleWake(of: wake.number, at: wall)
        case .ended: break
        }
      }
    }
  }
}
