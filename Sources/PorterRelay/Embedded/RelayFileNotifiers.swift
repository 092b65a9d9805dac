import PorterCrypto
import PorterPlatform
import PorterStore

/// Notifiers: credentials, and the notifications waiting for a service.
extension RelayFile {
  private struct Notifier {
    let identifier: RelayIdentifier
    let key: [UInt8]
    let recipientBoxKey: [UInt8]
    let relayBoxKey: BoxPublicKey
  }

  // MARK: Recipient's side

  func enableNotifier(
    _ request: RelayRequest, notifierKey: SigningPublicKey, boxKey: BoxPublicKey
  ) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    let identifier = try RelayIdentifier.generate(randomness: randomness)
    let relayKeys = try RelayError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      try BoxKeyPair.generate(randomness: randomness)
    }
    let shared: BoxSharedKey
    // A low-order key is the client's mistake, or an attack.
    do throws(CryptoError) { shared = try relayKeys.secretKey.agree(with: boxKey) } catch { throw .syntax }
    return try commit(.full) { () throws(RelayError) in
      try confirm(mailbox, request.entity)
      if let existing = try notifier(of: mailbox), existing.key == notifierKey.bytes,
        existing.recipientBoxKey == boxKey.bytes
      {
        return .notifier(existing.identifier, boxKey: existing.relayBoxKey)
      }
      // The earlier notifier's notifications could not be opened with the new key, so they are deleted with it.
      try storage { () throws(SQLiteError) in
        try database.run("DELETE FROM notifier WHERE mailbox = ?1", [.integer(mailbox.number)])
        try database.run(
          """
          INSERT INTO notifier(mailbox, identifier, key, recipient_box_key, relay_box_key, shared_key)
          VALUES(?1, ?2, ?3, ?4, ?5, ?6)
          """,
          [
            .integer(mailbox.number), .blob(identifier.bytes), .blob(notifierKey.bytes), .blob(boxKey.bytes),
            .blob(relayKeys.publicKey.bytes), .blob(shared.exposeForStorage()),
          ])
      }
      return .notifier(identifier, boxKey: relayKeys.publicKey)
    }
  }

  private func notifier(of mailbox: Mailbox) throws(RelayError) -> Notifier? {
    try storage { () throws(SQLiteError) in
      try database.first(
        "SELECT identifier, key, recipient_box_key, relay_box_key FROM notifier WHERE mailbox = ?1",
        [.integer(mailbox.number)]
      ) { (row) throws(SQLiteError) in
        guard let identifier = RelayIdentifier(bytes: row.blob(0)), let relayBoxKey = BoxPublicKey(bytes: row.blob(3))
        else { throw SQLiteError(kind: .corrupt) }
        return Notifier(
          identifier: identifier, key: row.blob(1), recipientBoxKey: row.blob(2), relayBoxKey: relayBoxKey)
      }
    }
  }

  func disableNotifier(_ request: RelayRequest) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    return try commit(.full) { () throws(RelayError) in
      try confirm(mailbox, request.entity)
      try storage { () throws(SQLiteError) in
        try database.run("DELETE FROM notifier WHERE mailbox = ?1", [.integer(mailbox.number)])
      }
      return .done
    }
  }

  /// A service is given the oldest of its notifications, `RelayLimits.batch` at a time: these are among them.
  private static let mostRenewed: Int64 = 1_024

  // MARK: Writing one

  /// Part of the transaction that stores the message, if its mailbox has a notifier. While one of `recipients` is
  /// listening, the notification is withheld for a moment.
  func insertNotification(
    of message: RelayMessage, number: Int64, in mailbox: Mailbox, _ recipients: [Listener]
  ) throws(RelayError) {
    let notifier = try storage { () throws(SQLiteError) in
      try database.first("SELECT shared_key, service FROM notifier WHERE mailbox = ?1", [.integer(mailbox.number)]) {
        (row) throws(SQLiteError) in
        guard let key = BoxSharedKey(stored: row.blob(0)) else { throw SQLiteError(kind: .corrupt) }
        return (key: key, service: row.optionalBlob(1))
      }
    }
    guard let notifier else { return }
    let (nonce, sealed) = try seal(
      RelayMessageMetadata(message: message.identifier, timestamp: message.timestamp), with: notifier.key)
    let now = clock.now()
    let end = NotificationHold.end(at: now, listeners: recipients.map(\.hold))
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO notification(message, mailbox, sent_at, nonce, metadata, held_until, service)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """,
        [
          .integer(number), .integer(mailbox.number), .integer(message.timestamp.milliseconds), .blob(nonce.bytes),
          .blob(sealed), .integer(end?.nanoseconds ?? 0), .optional(notifier.service),
        ])
    }
    guard end != nil else { return }
    try noteUnansweredWakeUp(of: recipients, at: now)
  }

  private func seal(
    _ metadata: RelayMessageMetadata, with shared: BoxSharedKey
  ) throws(RelayError) -> (nonce: BoxNonce, sealed: [UInt8]) {
    try RelayError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      let nonce = try BoxNonce.generate(randomness: randomness)
      return (nonce, try metadata.sealed(with: shared, nonce: nonce))
    }
  }

  /// Reseals the oldest notifications of mailboxes without another listener under new nonces, so that an acknowledgement
  /// already on its way, for a push left to this listener, does not delete them. Returns whether there were any. Part
  /// of the caller's transaction.
  func renewNotifications(leaving listener: Int64) throws(RelayError) -> Bool {
    let found = try storage { () throws(SQLiteError) in
      try database.rows(
        """
        SELECT notification.message, message.identifier, message.sent_at, notifier.shared_key
        FROM subscription CROSS JOIN notification ON notification.mailbox = subscription.mailbox
        CROSS JOIN message ON message.number = notification.message
        CROSS JOIN notifier ON notifier.mailbox = notification.mailbox
        WHERE subscription.listener = ?1 AND message.body IS NOT NULL
          AND NOT \(Self.isListenedTo("notification.mailbox", except: "?1"))
        ORDER BY notification.message LIMIT ?2
        """, [.integer(listener), .integer(Self.mostRenewed)]
      ) { (row) throws(SQLiteError) in
        guard let identifier = RelayIdentifier(bytes: row.blob(1)), let shared = BoxSharedKey(stored: row.blob(3))
        else { throw SQLiteError(kind: .corrupt) }
        let timestamp = WallTime(milliseconds: row.integer(2))
        return (row.integer(0), RelayMessageMetadata(message: identifier, timestamp: timestamp), shared)
      }
    }
    for (message, metadata, shared) in found {
      let (nonce, sealed) = try seal(metadata, with: shared)
      try storage { () throws(SQLiteError) in
        try database.run(
          "UPDATE notification SET nonce = ?2, metadata = ?3 WHERE message = ?1",
          [.integer(message), .blob(nonce.bytes), .blob(sealed)])
      }
    }
    return !found.isEmpty
  }

  // MARK: Service's side

  func notifications(
    _ request: RelayRequest, service: SigningPublicKey, limit: UInt16
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: service)
    return .notifications(try waiting(for: service, limit: limit, withholding: nil))
  }

  /// Notifications that are not withheld, and when the next withheld one is due.
  func dueNotifications(
    _ request: RelayRequest, service: SigningPublicKey, limit: UInt16
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: service)
    return .dueNotifications(try dueNotifications(for: service, limit: limit))
  }

  private func dueNotifications(
    for service: SigningPublicKey, limit: UInt16
  ) throws(RelayError) -> RelayDueNotifications {
    // One time for both queries, so that a notification cannot fall between them.
    let now = clock.now()
    let nextEnd = try storage { () throws(SQLiteError) in
      try database.integer(
        """
        SELECT min(held_until) FROM notification
        WHERE held_until > 0 AND held_until > ?2 AND held_until <= ?3 AND service = ?1
        """, [.blob(service.bytes)] + Self.withheld(at: now))
    }
    let remainder = nextEnd.flatMap { NotificationHold.remainder(until: Moment(nanoseconds: $0), at: now) }
    return RelayDueNotifications(
      notifications: try waiting(for: service, limit: limit, withholding: now),
      // Rounded up, so that the next request does not come too early.
      nextIn: remainder.map { UInt32(clamping: $0.milliseconds &+ 1) })
  }

  /// The bounds of `NotificationHold.remainder`, for a query.
  private static func withheld(at now: Moment) -> [Binding] {
    [.integer(now.nanoseconds), .integer((now + NotificationHold.pause).nanoseconds)]
  }

  private func waiting(
    for service: SigningPublicKey, limit: UInt16, withholding now: Moment?
  ) throws(RelayError) -> [RelayNotification] {
    let withheld = now.map { Self.withheld(at: $0) } ?? [.integer(0), .integer(0)]
    return try storage { () throws(SQLiteError) in
      try database.rows(
        """
        SELECT notifier.identifier, notification.sent_at, notification.nonce, notification.metadata
        FROM notification INDEXED BY notification_service
        CROSS JOIN notifier ON notifier.mailbox = notification.mailbox
        CROSS JOIN message ON message.number = notification.message
        WHERE notification.service = ?1 AND message.stored_at >= ?2
          AND message.body IS NOT NULL AND NOT (notification.held_until > ?4 AND notification.held_until <= ?5)
        ORDER BY notification.message LIMIT ?3
        """,
        [.blob(service.bytes), .integer(try oldestKept()), .integer(Int64(min(Int(limit), RelayLimits.batch)))]
          + withheld
      ) { (row) throws(SQLiteError) in
        guard let identifier = RelayIdentifier(bytes: row.blob(0)), let nonce = BoxNonce(bytes: row.blob(2))
        else { throw SQLiteError(kind: .corrupt) }
        return RelayNotification(
          notifier: identifier, timestamp: WallTime(milliseconds: row.integer(1)), nonce: nonce,
          metadata: row.blob(3))
      }
    }
  }

  /// Without a sync: if a power failure undoes it, a hint is repeated. Those of recipients who listen are kept, in case
  /// they stop before fetching.
  func acknowledgeNotifications(
    _ request: RelayRequest, service: SigningPublicKey, nonces: [BoxNonce]
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: service)
    try delete(nonces, of: service)
    return .done
  }

  /// Both in one exchange. The mailboxes come last: a message that arrived in one of them before a notification was due
  /// is seen.
  func acknowledgeAndGetNotifications(
    _ request: RelayRequest, _ service: SigningPublicKey, limit: UInt16, _ nonces: [BoxNonce],
    _ entries: [RelayCommand.Entry]
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: service)
    if !nonces.isEmpty { try delete(nonces, of: service) }
    let due = try dueNotifications(for: service, limit: limit)
    return .acknowledgedNotifications(due, try states(of: entries, of: request))
  }

  private func delete(_ nonces: [BoxNonce], of service: SigningPublicKey) throws(RelayError) {
    try commit(.normal) { () throws(RelayError) in
      try storage { () throws(SQLiteError) in
        for nonce in nonces {
          try database.run(
            """
            INSERT OR REPLACE INTO taken_notification(message, mailbox, sent_at, nonce, metadata)
            SELECT message, mailbox, sent_at, nonce, metadata FROM notification
            WHERE nonce = ?1 AND service = ?2 AND \(Self.isListenedTo("notification.mailbox"))
            """, [.blob(nonce.bytes), .blob(service.bytes)])
          try database.run(
            "DELETE FROM notification WHERE nonce = ?1 AND service = ?2",
            [.blob(nonce.bytes), .blob(service.bytes)])
        }
      }
    }
  }
}
