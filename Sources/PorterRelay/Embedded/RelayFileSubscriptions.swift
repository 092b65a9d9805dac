import PorterCrypto
import PorterPlatform
import PorterStore

/// Subscriptions: which socket to wake for what. Committed without a sync, because no socket survives a power failure
/// either.
extension RelayFile {
  /// A process subscribed to a mailbox.
  struct Listener {
    let number: Int64
    let name: String
    let hold: NotificationHold
  }

  /// The processes to wake for a message in this mailbox.
  ///
  /// Read in the transaction that stores the message. A subscription checks in its own transaction for waiting
  /// messages, so one of the two sees the other, whichever comes first.
  func recipients(of mailbox: Mailbox) throws(RelayError) -> [Listener] {
    try storage { () throws(SQLiteError) in
      try database.rows(
        """
        SELECT listener.number, listener.name, listener.unanswered_since
        FROM subscription JOIN listener ON listener.number = subscription.listener WHERE subscription.mailbox = ?1
        """, [.integer(mailbox.number)]
      ) { row in
        let since = row.optionalInteger(2).map { Moment(nanoseconds: $0) }
        return Listener(number: row.integer(0), name: row.text(1), hold: NotificationHold(unansweredSince: since))
      }
    }
  }

  /// The sockets of this mailbox's notification service, for a message that notifies. Read in the same transaction.
  func services(of mailbox: Mailbox) throws(RelayError) -> [String] {
    try storage { () throws(SQLiteError) in
      try database.rows(
        """
        SELECT DISTINCT listener.name FROM notifier
        JOIN service_subscription ON service_subscription.service = notifier.service
        JOIN listener ON listener.number = service_subscription.listener WHERE notifier.mailbox = ?1
        """, [.integer(mailbox.number)]
      ) { $0.text(0) }
    }
  }

  func subscribe(
    _ request: RelayRequest, entries: [RelayCommand.Entry], listener: String?
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .syntax }
    let mailboxes = try authorizedMailboxes(entries, of: request)
    return try commit(.normal) { () throws(RelayError) in
      .subscriptions(try subscribe(entries, mailboxes, listener))
    }
  }

  /// The mailbox of each entry signed by its key.
  func authorizedMailboxes(
    _ entries: [RelayCommand.Entry], of request: RelayRequest
  ) throws(RelayError) -> [Mailbox?] {
    var mailboxes: [Mailbox?] = []
    for entry in entries {
      let mailbox = try mailbox(.recipient, entry.entity)
      mailboxes.append(
        try isAuthorized(entry, of: request, key: mailbox?.recipientKey) ? mailbox : nil)
    }
    return mailboxes
  }

  /// Inside a transaction. Without a listener, only reports what is waiting.
  func subscribe(
    _ entries: [RelayCommand.Entry], _ mailboxes: [Mailbox?], _ listener: String?
  ) throws(RelayError) -> [RelaySubscription] {
    if let listener { try noteSignOfLife(of: listener) }
    let number = try storage { () throws(SQLiteError) in
      try listener.map { (name) throws(SQLiteError) in try self.number(ofListener: name) }
    }
    var results: [RelaySubscription] = []
    for (entry, mailbox) in zip(entries, mailboxes) {
      guard let mailbox, try isCurrent(mailbox, entry.entity) else {
        results.append(.auth)
        continue
      }
      if let number { try note(number, listensTo: mailbox) }
      results.append(try state(of: mailbox))
    }
    return results
  }

  private func note(_ listener: Int64, listensTo mailbox: Mailbox) throws(RelayError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "INSERT OR IGNORE INTO subscription(mailbox, listener) VALUES(?1, ?2)",
        [.integer(mailbox.number), .integer(listener)])
    }
  }

  /// Whether something is waiting in the mailbox.
  func state(of mailbox: Mailbox) throws(RelayError) -> RelaySubscription {
    try storage { () throws(SQLiteError) in
      let waits = try database.integer(
        """
        SELECT EXISTS(SELECT 1 FROM message INDEXED BY message_waiting
        WHERE mailbox = ?1 AND body IS NOT NULL AND stored_at >= ?2)
        """, [.integer(mailbox.number), .integer(try oldestKept())])
      return waits == 1 ? .waiting : .subscribed
    }
  }

  func subscribeNotifiers(
    _ request: RelayRequest, service: SigningPublicKey, entries: [RelayCommand.Entry], listener: String?
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: service)
    var keys: [[UInt8]?] = []
    for entry in entries {
      let key = try storage { () throws(SQLiteError) in
        try database.first("SELECT key FROM notifier WHERE identifier = ?1", [.blob(entry.entity.bytes)]) { $0.blob(0) }
      }
      keys.append(
        try isAuthorized(entry, of: request, key: key.flatMap { SigningPublicKey(bytes: $0) }) ? key : nil)
    }
    return try commit(.normal) { () throws(RelayError) in
      try storage { () throws(SQLiteError) in
        guard let listener else { return }
        try database.run(
          """
          INSERT OR IGNORE INTO service_subscription(service, listener)
          SELECT ?1, ?2 WHERE (SELECT count(*) FROM service_subscription WHERE listener = ?2) < ?3
          """,
          [.blob(service.bytes), .integer(try number(ofListener: listener)), .integer(RelayLimits.listenerServices)])
      }
      var results: [RelaySubscription] = []
      for (entry, key) in zip(entries, keys) {
        results.append(try key.map { (key) throws(RelayError) in try take(entry.entity, key: key, service) } ?? .auth)
      }
      return .subscriptions(results)
    }
  }

  /// Assigns the notifier to the service; an existing assignment to it is not rewritten.
  private func take(
    _ notifier: RelayIdentifier, key: [UInt8], _ service: SigningPublicKey
  ) throws(RelayError) -> RelaySubscription {
    try storage { () throws(SQLiteError) in
      let found = try database.first(
        """
        SELECT mailbox, service, EXISTS(SELECT 1 FROM notification WHERE notification.mailbox = notifier.mailbox)
        FROM notifier WHERE identifier = ?1 AND key = ?2
        """, [.blob(notifier.bytes), .blob(key)]
      ) { (mailbox: $0.integer(0), service: $0.optionalBlob(1), waits: $0.flag(2)) }
      guard let found else { return .auth }
      if found.service != service.bytes {
        try database.run(
          "UPDATE notifier SET service = ?2 WHERE mailbox = ?1", [.integer(found.mailbox), .blob(service.bytes)])
      }
      return found.waits ? .waiting : .subscribed
    }
  }

  private func isAuthorized(
    _ entry: RelayCommand.Entry, of request: RelayRequest, key: SigningPublicKey?
  ) throws(RelayError) -> Bool {
    try isAuthorized(
      entry.signature,
      of: RelayRequest.signedBytes(correlation: request.correlation, entry: entry.entity, of: request.command), key: key
    )
  }

  func isAuthorized(_ signature: [UInt8], of bytes: [UInt8], key: SigningPublicKey?) throws(RelayError) -> Bool {
    do throws(RelayError) {
      try authorize(signature, of: bytes, key: key)
      return true
    } catch {
      if error == .auth { return false }
      throw error
    }
  }
}
