import PorterCrypto
import PorterPlatform
import PorterStore

/// Mailboxes: creating, securing and deleting them.
extension RelayFile {
  /// The part of a mailbox that governs permissions.
  struct Mailbox: Equatable {
    let number: Int64
    let recipientKey: SigningPublicKey
    let senderKey: SigningPublicKey?
  }

  /// Which end of a mailbox an entity names.
  enum End {
    case recipient
    case sender
  }

  func mailbox(_ end: End, _ entity: RelayIdentifier?) throws(RelayError) -> Mailbox? {
    guard let entity else { return nil }
    let sql =
      switch end {
      case .recipient: "SELECT number, recipient_key, sender_key FROM mailbox WHERE recipient = ?1"
      case .sender: "SELECT number, recipient_key, sender_key FROM mailbox WHERE sender = ?1"
      }
    return try storage { () throws(SQLiteError) in
      try database.first(sql, [.blob(entity.bytes)]) { (row) throws(SQLiteError) in
        guard let recipientKey = SigningPublicKey(bytes: row.blob(1)) else { throw SQLiteError(kind: .corrupt) }
        return Mailbox(
          number: row.integer(0), recipientKey: recipientKey,
          senderKey: row.optionalBlob(2).flatMap { SigningPublicKey(bytes: $0) })
      }
    }
  }

  /// The mailbox whose recipient sent the request. Signatures are checked before a transaction begins, so that no other
  /// process waits for that.
  func authorizedMailbox(_ request: RelayRequest) throws(RelayError) -> Mailbox {
    let mailbox = try mailbox(.recipient, request.entity)
    try authorize(request, key: mailbox?.recipientKey)
    guard let mailbox else { throw .auth }
    try admit(request, isOpen: false)
    return mailbox
  }

  /// `isOpen`: anyone may make such requests to the mailbox.
  func admit(_ request: RelayRequest, isOpen: Bool) throws(RelayError) {
    if let admission, let entity = request.entity { try admission(entity, isOpen) }
  }

  /// Inside a transaction: throws `auth` if the mailbox was deleted after its recipient's signature was checked. It may
  /// have been secured for a sender.
  func confirm(_ mailbox: Mailbox, _ recipient: RelayIdentifier?) throws(RelayError) {
    guard try isCurrent(mailbox, recipient) else { throw .auth }
  }

  /// Inside a transaction: whether the recipient still has the mailbox, whoever its sender is.
  func isCurrent(_ mailbox: Mailbox, _ recipient: RelayIdentifier?) throws(RelayError) -> Bool {
    let current = try self.mailbox(.recipient, recipient)
    return current?.number == mailbox.number && current?.recipientKey == mailbox.recipientKey
  }

  func createMailbox(
    _ request: RelayRequest, recipientKey: SigningPublicKey, senderKey: SigningPublicKey?
  ) throws(RelayError) -> RelayAnswer {
    // The signature proves that the creator has the key; otherwise an attacker could occupy someone else's key.
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: recipientKey)
    let recipient = try RelayIdentifier.generate(randomness: randomness)
    let sender = try RelayIdentifier.generate(randomness: randomness)
    return try commit(.full) { () throws(RelayError) in
      if let existing = try self.existing(recipientKey: recipientKey, senderKey: senderKey) { return existing }
      try storage { () throws(SQLiteError) in
        try database.run(
          """
          INSERT INTO mailbox(recipient, recipient_key, sender, sender_key, created_at) VALUES(?1, ?2, ?3, ?4, ?5)
          """,
          [
            .blob(recipient.bytes), .blob(recipientKey.bytes), .blob(sender.bytes), .optional(senderKey?.bytes),
            .integer(clock.wall().milliseconds),
          ])
      }
      return .mailbox(recipient: recipient, sender: sender)
    }
  }

  /// The mailbox that this key created earlier: its creator was killed before it saw the answer.
  private func existing(
    recipientKey: SigningPublicKey, senderKey: SigningPublicKey?
  ) throws(RelayError) -> RelayAnswer? {
    let found = try storage { () throws(SQLiteError) in
      try database.first(
        "SELECT recipient, sender, sender_key FROM mailbox WHERE recipient_key = ?1", [.blob(recipientKey.bytes)]
      ) { (row) throws(SQLiteError) in
        guard let recipient = RelayIdentifier(bytes: row.blob(0)), let sender = RelayIdentifier(bytes: row.blob(1))
        else { throw SQLiteError(kind: .corrupt) }
        return (recipient: recipient, sender: sender, senderKey: row.optionalBlob(2))
      }
    }
    guard let found else { return nil }
    guard senderKey == nil || senderKey?.bytes == found.senderKey else { throw .auth }
    return .mailbox(recipient: found.recipient, sender: found.sender)
  }

  func secureMailbox(_ request: RelayRequest, senderKey: SigningPublicKey) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    if mailbox.senderKey == senderKey { return .done }
    return try commit(.full) { () throws(RelayError) in
      // Securing is final: the current sender must not be displaced.
      let changed = try storage { () throws(SQLiteError) in
        try database.run(
          """
          UPDATE mailbox SET sender_key = ?3
          WHERE number = ?1 AND recipient_key = ?2 AND (sender_key IS NULL OR sender_key = ?3)
          """, [.integer(mailbox.number), .blob(mailbox.recipientKey.bytes), .blob(senderKey.bytes)])
      }
      guard changed == 1 else { throw .auth }
      return .done
    }
  }

  func deleteMailbox(_ request: RelayRequest) throws(RelayError) -> RelayAnswer {
    let mailbox = try authorizedMailbox(request)
    return try commit(.full) { () throws(RelayError) in
      try confirm(mailbox, request.entity)
      if try hasFew(mailbox) {
        try storage { () throws(SQLiteError) in
          try database.run("DELETE FROM mailbox WHERE number = ?1", [.integer(mailbox.number)])
        }
      } else {
        try forget(mailbox)
      }
      return .done
    }
  }

  /// Whether a mailbox has no more messages, including those that are remembered, than others can wait for.
  private func hasFew(_ mailbox: Mailbox) throws(RelayError) -> Bool {
    let most = 2 * Int64(RelayLimits.undelivered)
    return try storage { () throws(SQLiteError) in
      try database.integer(
        "SELECT count(*) FROM (SELECT 1 FROM message WHERE mailbox = ?1 LIMIT ?2)",
        [.integer(mailbox.number), .integer(most + 1)]) ?? 0 <= most
    }
  }

  /// Deletes what can be used of a mailbox; `sweep` removes what remains of its messages.
  private func forget(_ mailbox: Mailbox) throws(RelayError) {
    let number = Binding.integer(mailbox.number)
    func unusable(_ count: Int) -> Binding { .blob(randomness.bytes(count)) }
    try storage { () throws(SQLiteError) in
      try database.run(
        "DELETE FROM message INDEXED BY message_waiting WHERE mailbox = ?1 AND body IS NOT NULL", [number])
      try database.run("DELETE FROM notifier WHERE mailbox = ?1", [number])
      try database.run("DELETE FROM subscription WHERE mailbox = ?1", [number])
      try database.run(
        """
        UPDATE mailbox SET recipient = ?2, recipient_key = ?3, sender = ?4, sender_key = ?5, check_key = NULL
        WHERE number = ?1
        """, [number, unusable(24), unusable(32), unusable(24), unusable(32)])
      try database.run("INSERT INTO deleted_mailbox(mailbox) VALUES(?1)", [number])
    }
    sweepSoon()
  }
}
