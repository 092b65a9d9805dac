import PorterCrypto
import PorterPlatform

/// A relay's notifiers, for a notification service, which learns that a message is waiting, but not which or from whom.
///
/// The relay knows the service by its key. Subscribed notifiers stay with it across the service's restarts.
package struct RelayNotifierClient: Sendable {
  private let client: RelayClient
  private let service: SigningKeyPair
  private let version = RelayVersion()

  package init(port: any RelayPort, randomness: any Randomness, service: SigningKeyPair) {
    client = RelayClient(port: port, randomness: randomness)
    self.service = service
  }

  /// Takes over these notifiers' notifications, and wakes this process (`RelayPort.wakeDescriptor`) when one arrives.
  /// One result per notifier, in order; `auth` for a disabled one, or one whose mailbox was deleted.
  ///
  /// An empty list subscribes to everything taken over earlier, as after a restart.
  @discardableResult
  package func subscribe(
    _ notifiers: [(notifier: RelayIdentifier, key: SigningKeyPair)]
  ) throws(RelayError) -> [RelaySubscription] {
    let publicKey = service.publicKey
    return try client.exchangeBatch(notifiers, key: service) { .subscribeNotifiers(service: publicKey, $0) }
  }

  /// The oldest notifications not yet acknowledged, at most `limit` (and never more than `RelayLimits.batch`). A
  /// notification disappears when its message is acknowledged, because nothing is left to fetch.
  package func pendingNotifications(limit: Int = RelayLimits.batch) throws(RelayError) -> [RelayNotification] {
    let command = RelayCommand.notifications(
      service: service.publicKey, limit: UInt16(clamping: min(limit, RelayLimits.batch)))
    guard case .notifications(let notifications) = try client.exchange(command, entity: nil, key: service) else {
      throw .answer
    }
    return notifications
  }

  /// Like `pendingNotifications`, without those that the relay withholds while their recipient is listening.
  package func dueNotifications(limit: Int = RelayLimits.batch) throws(RelayError) -> RelayDueNotifications {
    let command = RelayCommand.dueNotifications(
      service: service.publicKey, limit: UInt16(clamping: min(limit, RelayLimits.batch)))
    return try version.exchange(
      .dueNotifications,
      { () throws(RelayError) in
        guard case .dueNotifications(let due) = try client.exchange(command, entity: nil, key: service) else {
          throw .answer
        }
        return due
      },
      // An earlier relay withholds nothing.
      orEarlier: { () throws(RelayError) in
        RelayDueNotifications(notifications: try pendingNotifications(limit: limit), nextIn: nil)
      })
  }

  /// Has the relay delete the stored notifications, returns those that are then due, and reports whether something is
  /// waiting in the service's own mailbox: all in one exchange if the relay supports it. Anything that reached the
  /// mailbox before one of the notifications was due is seen. `waiting` also means that the relay was not asked.
  package func acknowledgeAndGet(
    _ stored: [RelayNotification], limit: Int = RelayLimits.batch,
    mailbox: (recipient: RelayIdentifier, key: SigningKeyPair)
  ) throws(RelayError) -> (due: RelayDueNotifications, mailbox: RelaySubscription) {
    let last = stored.suffix(RelayLimits.batch)
    try acknowledge(Array(stored.dropLast(last.count)))
    return try version.exchange(
      .acknowledgeAndGetNotifications,
      { () throws(RelayError) in try exchange(acknowledging: last.map(\.nonce), limit: limit, mailbox) },
      orEarlier: { () throws(RelayError) in
        try acknowledge(Array(last))
        return (try dueNotifications(limit: limit), .waiting)
      })
  }

  private func exchange(
    acknowledging nonces: [BoxNonce], limit: Int, _ mailbox: (recipient: RelayIdentifier, key: SigningKeyPair)
  ) throws(RelayError) -> (due: RelayDueNotifications, mailbox: RelaySubscription) {
    let publicKey = service.publicKey
    var due: RelayDueNotifications?
    let results = try client.exchangeBatch(
      [mailbox], key: service,
      {
        .acknowledgeAndGetNotifications(
          service: publicKey, limit: UInt16(clamping: min(limit, RelayLimits.batch)), acknowledged: nonces,
          mailboxes: $0)
      },
      results: { (answer) throws(RelayError) in
        guard case .acknowledgedNotifications(let found, let results) = answer else { throw .answer }
        due = found
        return results
      })
    guard let due, let result = results.first else { throw .answer }
    return (due, result)
  }

  /// Has the relay delete them. One that no longer exists is not an error.
  package func acknowledge(_ notifications: [RelayNotification]) throws(RelayError) {
    var rest = notifications.map(\.nonce)[...]
    while !rest.isEmpty {
      let nonces = Array(rest.prefix(RelayLimits.batch))
      rest = rest.dropFirst(RelayLimits.batch)
      try client.expectDone(
        .acknowledgeNotifications(service: service.publicKey, nonces), entity: nil, key: service)
    }
  }
}
