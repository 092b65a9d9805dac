import PorterCrypto
import PorterPlatform
import PorterStore

/// Messages: send, get, acknowledge.
extension RelayFile {
  // MARK: Send

  func send(
    _ request: RelayRequest, attempt: RelayIdentifier, notify: Bool, body: [UInt8]
  ) throws(RelayError) -> Reply {
    let checked = try authorizedBySender(request, attempt)
    try admit(request, isOpen: checked.senderKey == nil)
    let message = RelayMessage(
      identifier: try .generate(randomness: randomness), timestamp: clock.wall(), notify: notify, body: body)
    return try commit(.full) { () throws(RelayError) in
      // While this process waited to write, another may have sent the same message, and its recipient may have secured
      // the mailbox: `auth` would tell the sender that it has no recipient.
      let isUnchanged = try self.mailbox(.sender, request.entity) == checked
      let mailbox = isUnchanged ? checked : try authorizedBySender(request, attempt)
      if let waits = try isWaiting(attempt: attempt, in: mailbox) {
        // The sender may have been killed between commit and wake-up, and is therefore resending.
        return waits ? try reply(waking: try recipients(of: mailbox), of: mailbox, notify) : Reply(answer: .done)
      }
      try sweep()
      try requireRoom(in: mailbox)
      let recipients = try recipients(of: mailbox)
      try insert(message, attempt: attempt, into: mailbox, recipients)
      return try reply(waking: recipients, of: mailbox, notify)
    }
  }

  private func authorizedBySender(_ request: RelayRequest, _ attempt: RelayIdentifier) throws(RelayError) -> Mailbox {
    let mailbox = try mailbox(.sender, request.entity)
    // A sender without an answer repeats the request, and the recipient may have secured the mailbox in the meantime.
    // Only that sender knows the attempt.
    let isKnown = request.signature == nil ? try isWaiting(attempt: attempt, in: mailbox) != nil : false
    if !isKnown { try authorizeSender(request, of: mailbox) }
    guard let mailbox else { throw .auth }
    return mailbox
  }

  private func reply(waking recipients: [Listener], of mailbox: Mailbox, _ notify: Bool) throws(RelayError) -> Reply {
    let names = recipients.map(\.name)
    // A service may also be the recipient.
    let services = notify ? try services(of: mailbox).filter { !names.contains($0) } : []
    return Reply(answer: .done, recipients: names, services: services)
  }

  /// A secured mailbox requires its sender's signature. An unsecured one rejects any: a sender that takes it for
  /// secured should learn that anyone can send.
  private func authorizeSender(_ request: RelayRequest, of mailbox: Mailbox?) throws(RelayError) {
    if let mailbox, mailbox.senderKey == nil, request.signature == nil { return }
    try authorize(request, key: mailbox?.senderKey)
  }

  /// Nil if the attempt is new; otherwise whether its message is still waiting.
  private func isWaiting(attempt: RelayIdentifier, in mailbox: Mailbox?) throws(RelayError) -> Bool? {
    try storage { () throws(SQLiteError) in
      try database.first(
        "SELECT body IS NOT NULL FROM message WHERE mailbox = ?1 AND attempt = ?2",
        [.integer(mailbox?.number ?? 0), .blob(attempt.bytes)]
      ) { $0.flag(0) }
    }
  }

  private func requireRoom(in mailbox: Mailbox) throws(RelayError) {
    if try countWaiting(in: mailbox) < RelayLimits.undelivered { return }
    try storage { () throws(SQLiteError) in
      // Only what waits: a mailbox may have many more that are remembered.
      try database.run(
        """
        DELETE FROM message INDEXED BY message_waiting
        WHERE mailbox = ?1 AND body IS NOT NULL AND stored_at < ?2
        """,
        [.integer(mailbox.number), .integer(try oldestKept())])
    }
    guard try countWaiting(in: mailbox) < RelayLimits.undelivered else { throw .quota }
  }

  private func countWaiting(in mailbox: Mailbox) throws(RelayError) -> Int64 {
    try storage { () throws(SQLiteError) in
      try database.integer(
        "SELECT count(*) FROM message INDEXED BY message_waiting WHERE mailbox = ?1 AND body IS NOT NULL",
        [.integer(mailbox.number)]) ?? 0
    }
  }

  private func insert(
    _ message: RelayMessage, attempt: RelayIdentifier, into mailbox: Mailbox, _ recipients: [Listener]
  ) throws(RelayError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO message(mailbox, identifier, attempt, sent_at, notify, body, stored_at)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """,
        [
          .integer(mailbox.number), .blob(message.identifier.bytes), .blob(attempt.bytes),
          .integer(message.timestamp.milliseconds), .flag(message.notify), .blob(message.body),
          .integer(try now()),
        ])
    }
    if message.notify {
      try insertNotification(of: message, number: database.lastInsertedRow, in: mailbox, recipients)
    }
  }

  // MARK: Get and acknowledge

  /// Changes no message: each stays available for the next request until it is acknowledged (INC-34). `listener` is the
  /// requesting process, if it listens.
  func getMessage(
    _ request: RelayRequest, withAge: Bool = false, listener: String? = nil
  ) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    guard var message = try oldestMessage(in: mailbox) else {
      if let listener, try isUnanswered(listener) {
        try commit(.normal) { () throws(RelayError) in try noteSignOfLife(of: listener) }
      }
      throw .noMessage
    }
    if !withAge { message.age = nil }
    return .message(message)
  }

  func acknowledge(
    _ request: RelayRequest, message: RelayIdentifier, listener: String? = nil
  ) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    return try drop(message, from: mailbox, listener) ? .done : .failed(.noMessage)
  }

  /// The next message is read once the first is dropped. A process killed before it gets the answer asks again.
  func acknowledgeAndGet(
    _ request: RelayRequest, message: RelayIdentifier, listener: String? = nil
  ) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    let wasThere = try drop(message, from: mailbox, listener)
    return .acknowledged(wasThere: wasThere, next: try oldestMessage(in: mailbox))
  }

  /// Includes its age. The file's own age is read in the same statement, again for each message.
  private func oldestMessage(in mailbox: Mailbox) throws(RelayError) -> RelayMessage? {
    try storage { () throws(SQLiteError) in
      let oldest = try database.first(
        """
        SELECT message.identifier, sent_at, notify, body, stored_at, number, boot, moment, age.age,
          EXISTS (SELECT 1 FROM notification WHERE message = number)
        FROM message INDEXED BY message_waiting LEFT JOIN age
        WHERE mailbox = ?1 AND body IS NOT NULL ORDER BY number LIMIT 1
        """, [.integer(mailbox.number)]
      ) { (row) throws(SQLiteError) in
        let age = try self.age(stored: row.isNull(6) ? nil : RelayAge.stored(in: row, from: 6))
        return (number: row.integer(5), notifies: row.flag(9), read: try message(in: row, age: age))
      }
      guard let oldest, oldest.read.isExpired else {
        given = oldest.map { Given(message: $0.read.message.identifier, number: $0.number, notifies: $0.notifies) }
        return oldest?.read.message
      }
      return try oldestKeptMessage(in: mailbox)
    }
  }

  /// Skips messages past their retention. Rarely needed.
  private func oldestKeptMessage(in mailbox: Mailbox) throws(SQLiteError) -> RelayMessage? {
    try database.first(
      """
      SELECT identifier, sent_at, notify, body, stored_at FROM message INDEXED BY message_waiting
      WHERE mailbox = ?1 AND body IS NOT NULL AND stored_at >= ?2 ORDER BY number LIMIT 1
      """, [.integer(mailbox.number), .integer(try oldestKept())]
    ) { (row) throws(SQLiteError) in try message(in: row, age: try now()).message }
  }

  /// `age` is the file's.
  private func message(
    in row: borrowing Row, age: Int64
  ) throws(SQLiteError) -> (message: RelayMessage, isExpired: Bool) {
    guard let identifier = RelayIdentifier(bytes: row.blob(0)) else { throw SQLiteError(kind: .corrupt) }
    let storedAt = row.integer(4)
    let message = RelayMessage(
      identifier: identifier, timestamp: WallTime(milliseconds: row.integer(1)), notify: row.flag(2),
      body: row.blob(3), age: UInt32(clamping: age &- storedAt))
    return (message, storedAt < Self.oldestKept(at: age))
  }

  /// Returns whether it was there. Committed without a sync: a power failure can only undo it, and then the message is
  /// delivered again, which the recipient's ledger recognises. The log keeps its order, so this never undoes anything
  /// earlier.
  private func drop(
    _ message: RelayIdentifier, from mailbox: Mailbox, _ listener: String?
  ) throws(RelayError) -> Bool {
    // Usually the message given last.
    let given = given.flatMap { $0.message == message ? $0 : nil }
    var number = given?.number
    if number == nil { number = try self.number(of: message, in: mailbox) }
    guard let number else {
      if let listener { try commit(.normal) { () throws(RelayError) in try noteSignOfLife(of: listener) } }
      return false
    }
    try saveForMany()
    let (sql, bindings) = Self.dropping(message, number, from: mailbox)
    guard let listener else {
      // Two transactions of one statement each. Usually the service already has the notification, and only the first is
      // needed. A process killed between them leaves a notification that is given to no service, because its message is
      // gone.
      guard try commit(.normal, sql, bindings) > 0 else { return false }
      if given?.notifies != false { try commit(.normal, Self.dropNotification, [.integer(number)]) }
      return true
    }
    return try commit(.normal) { () throws(RelayError) in
      try noteSignOfLife(of: listener)
      return try storage { () throws(SQLiteError) in
        try database.run(Self.dropNotification, [.integer(number)])
        try database.run("DELETE FROM taken_notification WHERE message = ?1", [.integer(number)])
        return try database.run(sql, bindings) > 0
      }
    }
  }

  private static let dropNotification = "DELETE FROM notification WHERE message = ?1"

  /// After its mailbox was deleted, its number may belong to another message.
  private static func dropping(
    _ message: RelayIdentifier, _ number: Int64, from mailbox: Mailbox
  ) -> (String, [Binding]) {
    (
      "UPDATE message SET body = NULL WHERE number = ?1 AND mailbox = ?2 AND identifier = ?3 AND body IS NOT NULL",
      [.integer(number), .integer(mailbox.number), .blob(message.bytes)]
    )
  }

  private func number(of message: RelayIdentifier, in mailbox: Mailbox) throws(RelayError) -> Int64? {
    try storage { () throws(SQLiteError) in
      try database.integer(
        """
        SELECT number FROM message INDEXED BY message_waiting
        WHERE mailbox = ?1 AND body IS NOT NULL AND identifier = ?2
        """, [.integer(mailbox.number), .blob(message.bytes)])
    }
  }
}
