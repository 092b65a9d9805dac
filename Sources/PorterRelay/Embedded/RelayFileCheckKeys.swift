import PorterCrypto
import PorterStore

/// Asking about many mailboxes without a signature for each.
extension RelayFile {
  /// Writes nothing. A nonexistent mailbox, one without a key and a tag by a different key get the same answer, after
  /// the same work.
  func checkByKeys(_ request: RelayRequest, _ entries: [RelayCommand.Tagged]) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .syntax }
    let decoy = try someCheckKey()
    // So that SQLite takes its locks once, not for each mailbox.
    return try database.transaction(.deferred, throwing: RelayError.self) { () throws(RelayError) in
      let oldest = try storage { () throws(SQLiteError) in try oldestKept() }
      var results: [RelaySubscription] = []
      for entry in entries {
        let found = try checked(entry.entity, oldest)
        let isProven = (found?.key ?? decoy).verifies(entry.tag, correlation: request.correlation, entry.entity)
        guard let found, found.key != nil, isProven else {
          results.append(.auth)
          continue
        }
        results.append(found.waits ? .waiting : .subscribed)
      }
      return .subscriptions(results)
    }
  }

  private func checked(
    _ recipient: RelayIdentifier, _ oldest: Int64
  ) throws(RelayError) -> (key: RelayCheckKey?, waits: Bool)? {
    try storage { () throws(SQLiteError) in
      try database.first(
        """
        SELECT check_key, EXISTS(SELECT 1 FROM message INDEXED BY message_waiting
          WHERE mailbox = mailbox.number AND body IS NOT NULL AND stored_at >= ?2)
        FROM mailbox WHERE recipient = ?1
        """, [.blob(recipient.bytes), .integer(oldest)]
      ) { (key: $0.optionalBlob(0).flatMap { RelayCheckKey(bytes: $0) }, waits: $0.flag(1)) }
    }
  }

  /// Not synced: a key lost in a power failure is shared again.
  func shareCheckKeys(_ request: RelayRequest, _ entries: [RelayCommand.SharedKey]) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .syntax }
    guard Set(entries.map(\.entity)).count == entries.count else { throw .syntax }
    var mailboxes: [Mailbox?] = []
    for entry in entries {
      let mailbox = try mailbox(.recipient, entry.entity)
      let signed = RelayRequest.signedBytes(correlation: request.correlation, sharing: entry.key, of: entry.entity)
      mailboxes.append(try isAuthorized(entry.signature, of: signed, key: mailbox?.recipientKey) ? mailbox : nil)
    }
    return try commit(.normal) { () throws(RelayError) in
      var results: [RelaySubscription] = []
      for (entry, mailbox) in zip(entries, mailboxes) {
        results.append(
          try mailbox.map { (mailbox) throws(RelayError) in try share(entry.key, mailbox) } ?? .auth)
      }
      return .subscriptions(results)
    }
  }

  private func share(_ key: RelayCheckKey, _ mailbox: Mailbox) throws(RelayError) -> RelaySubscription {
    let changed = try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE mailbox SET check_key = ?3 WHERE number = ?1 AND recipient_key = ?2",
        [.integer(mailbox.number), .blob(mailbox.recipientKey.bytes), .blob(key.bytes)])
    }
    return changed == 1 ? try state(of: mailbox) : .auth
  }
}
