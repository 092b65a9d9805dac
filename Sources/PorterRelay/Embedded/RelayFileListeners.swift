import PorterPlatform
import PorterStore

/// Listeners: the processes that can be woken, whether they answer, and what becomes due when they leave.
extension RelayFile {
  func number(ofListener name: String) throws(SQLiteError) -> Int64 {
    try database.run("INSERT OR IGNORE INTO listener(name) VALUES(?1)", [.text(name)])
    guard let number = try existingNumber(ofListener: name) else { throw SQLiteError(kind: .corrupt) }
    return number
  }

  private func existingNumber(ofListener name: String) throws(SQLiteError) -> Int64? {
    try database.integer("SELECT number FROM listener WHERE name = ?1", [.text(name)])
  }

  func listeners() throws(RelayError) -> [String] {
    try storage { () throws(SQLiteError) in try database.rows("SELECT name FROM listener") { $0.text(0) } }
  }

  // MARK: Leaving

  /// Removes listeners with all their subscriptions. Notifications withheld for them alone become due. Those that a
  /// service took while they listened become due again if they did not fetch the messages. Returns the services to
  /// notify.
  func forget(listeners: [String]) throws(RelayError) -> [String] {
    guard !listeners.isEmpty else { return [] }
    return try commit(.normal) { () throws(RelayError) in
      var services: Set<String> = []
      for name in listeners {
        guard let number = try storage({ () throws(SQLiteError) in try existingNumber(ofListener: name) }) else {
          continue
        }
        services.formUnion(try makeDue(leaving: number))
        try storage { () throws(SQLiteError) in
          try database.run("DELETE FROM listener WHERE number = ?1", [.integer(number)])
        }
      }
      try storage { () throws(SQLiteError) in
        try database.run(
          """
          UPDATE notification SET held_until = 0 WHERE held_until > 0 AND held_until > ?1
            AND NOT EXISTS(SELECT 1 FROM subscription WHERE subscription.mailbox = notification.mailbox)
          """, [.integer(clock.now().nanoseconds)])
      }
      return services.subtracting(listeners).sorted()
    }
  }

  /// Marks the listener as unreachable until it shows a sign of life. Notifications withheld for it alone become due,
  /// as when it leaves. Returns the services to notify.
  func noteAbsence(of listener: String) throws(RelayError) -> [String] {
    try commit(.normal) { () throws(RelayError) in
      guard let number = try storage({ () throws(SQLiteError) in try existingNumber(ofListener: listener) }) else {
        return []
      }
      let services = try makeDue(leaving: number)
      try storage { () throws(SQLiteError) in
        try database.run(
          "UPDATE listener SET unanswered_since = ?2 WHERE number = ?1", [.integer(number), .integer(.min)])
        try database.run(
          """
          UPDATE notification SET held_until = 0 WHERE held_until > 0 AND held_until > ?1
            AND NOT \(Self.isListenedTo("notification.mailbox"))
          """, [.integer(clock.now().nanoseconds)])
      }
      return services.subtracting([listener]).sorted()
    }
  }

  /// Makes due what a service has, or had, of this listener's. Returns the services to wake.
  private func makeDue(leaving listener: Int64) throws(RelayError) -> Set<String> {
    let hasRenewed = try renewNotifications(leaving: listener)
    return try storage { () throws(SQLiteError) in
      let hasTaken = try makeTakenDue(leaving: listener)
      return hasRenewed || hasTaken ? try services(ofMailboxesOf: listener) : []
    }
  }

  /// The services of its mailboxes in which a notification is waiting.
  private func services(ofMailboxesOf listener: Int64) throws(SQLiteError) -> Set<String> {
    Set(
      try database.rows(
        """
        SELECT DISTINCT listener.name FROM subscription
        CROSS JOIN notification ON notification.mailbox = subscription.mailbox
        CROSS JOIN notifier ON notifier.mailbox = notification.mailbox
        CROSS JOIN service_subscription ON service_subscription.service = notifier.service
        CROSS JOIN listener ON listener.number = service_subscription.listener WHERE subscription.listener = ?1
        """, [.integer(listener)]
      ) { $0.text(0) })
  }

  /// Whether a process that can be woken listens to the mailbox.
  static func isListenedTo(_ mailbox: String, except listener: String = "-1") -> String {
    """
    EXISTS(
      SELECT 1 FROM subscription JOIN listener ON listener.number = subscription.listener
      WHERE subscription.mailbox = \(mailbox) AND listener.number <> \(listener)
        AND (listener.unanswered_since IS NULL OR listener.unanswered_since > \(Int64.min)))
    """
  }

  /// The service's push for such a message was left to this listener, which is leaving without fetching it. Messages
  /// fetched by another process need no other push. Returns whether there were any others.
  private func makeTakenDue(leaving listener: Int64) throws(SQLiteError) -> Bool {
    let taken = """
      taken_notification WHERE mailbox IN (SELECT mailbox FROM subscription WHERE listener = ?1)
        AND NOT \(Self.isListenedTo("taken_notification.mailbox", except: "?1"))
      """
    guard try database.integer("SELECT EXISTS(SELECT 1 FROM \(taken))", [.integer(listener)]) == 1 else { return false }
    let count = try database.run(
      """
      INSERT OR IGNORE INTO notification(message, mailbox, sent_at, nonce, metadata)
      SELECT message, mailbox, sent_at, nonce, metadata FROM \(taken) AND \(Self.isStillThere)
      """, [.integer(listener)])
    try database.run("DELETE FROM \(taken)", [.integer(listener)])
    return count > 0
  }

  private static let isStillThere =
    "EXISTS(SELECT 1 FROM message WHERE number = taken_notification.message AND body IS NOT NULL)"

  /// Listeners that have not fetched a message whose notification the service has taken.
  func listenersOwing(to service: [UInt8]) throws(RelayError) -> [String] {
    try storage { () throws(SQLiteError) in
      try database.rows(
        """
        SELECT DISTINCT listener.name FROM taken_notification
        CROSS JOIN notifier ON notifier.mailbox = taken_notification.mailbox AND notifier.service = ?1
        CROSS JOIN subscription ON subscription.mailbox = taken_notification.mailbox
        CROSS JOIN listener ON listener.number = subscription.listener
        WHERE \(Self.isStillThere)
        """, [.blob(service)]
      ) { $0.text(0) }
    }
  }

  // MARK: Signs of life

  /// Gives these listeners one pause from now to answer; see `NotificationHold`. Part of the transaction that stores
  /// the message.
  func noteUnansweredWakeUp(of listeners: [Listener], at now: Moment) throws(RelayError) {
    try storage { () throws(SQLiteError) in
      for listener in listeners where listener.hold.unansweredSince == nil {
        try database.run(
          "UPDATE listener SET unanswered_since = ?2 WHERE number = ?1",
          [.integer(listener.number), .integer(now.nanoseconds)])
      }
    }
  }

  func isUnanswered(_ listener: String) throws(RelayError) -> Bool {
    try storage { () throws(SQLiteError) in
      try database.integer(
        "SELECT 1 FROM listener WHERE name = ?1 AND unanswered_since IS NOT NULL", [.text(listener)]) != nil
    }
  }

  /// Inside a transaction.
  func noteSignOfLife(of listener: String) throws(RelayError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE listener SET unanswered_since = NULL WHERE name = ?1 AND unanswered_since IS NOT NULL",
        [.text(listener)])
    }
  }
}
