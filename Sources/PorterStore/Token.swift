import PorterCrypto
import PorterPlatform

extension Store {
  package func token() throws(StoreError) -> StoredToken? {
    try first(
      """
      SELECT provider, device_token, server, status, mode, server_token_id, signing_key, box_key, push_secret,
        reply_recipient_id, reply_recipient_key, reply_sender_id, verification_code, repair_reason, repair_at FROM token
      """
    ) { (row) throws(StoreError) in
      guard let signingKey = SigningKeyPair(stored: row.blob(6)), let boxKey = BoxSecretKey(stored: row.blob(7)) else {
        throw .damaged(.token)
      }
      var mailbox: StoredToken.ReplyMailbox?
      if let recipient = row.optionalBlob(9), let key = row.optionalBlob(10).flatMap({ SigningKeyPair(stored: $0) }),
        let sender = row.optionalBlob(11)
      {
        mailbox = .init(recipientID: recipient, recipientKey: key, senderID: sender)
      }
      return StoredToken(
        provider: row.text(0), deviceToken: row.blob(1), server: row.text(2), status: row.text(3), mode: row.text(4),
        serverTokenID: row.optionalBlob(5), signingKey: signingKey, boxKey: boxKey,
        pushSecret: row.optionalBlob(8).flatMap { BoxSharedKey(stored: $0) },
        verificationCode: row.optionalBlob(12).map { SecretBytes($0) }, replyMailbox: mailbox,
        repair: row.optionalText(13).map { .init(reason: $0, at: WallTime(milliseconds: row.integer(14))) })
    }
  }

  /// Part of the caller's transaction.
  package func save(_ token: StoredToken, at time: WallTime) throws(StoreError) {
    if try overview().pushSecret != token.pushSecret { noteSilence() }
    try run(
      """
      INSERT OR REPLACE INTO token (token_id, provider, device_token, server, status, mode, server_token_id, signing_key,
        box_key, push_secret, reply_recipient_id, reply_recipient_key, reply_sender_id, verification_code, repair_reason,
        repair_at, updated_at)
      VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(token.provider), .blob(token.deviceToken), .text(token.server), .text(token.status), .text(token.mode),
        .optional(token.serverTokenID), .blob(token.signingKey.exposeForStorage()),
        .blob(token.boxKey.exposeForStorage()), .optional(token.pushSecret?.exposeForStorage()),
        .optional(token.replyMailbox?.recipientID), .optional(token.replyMailbox?.recipientKey.exposeForStorage()),
        .optional(token.replyMailbox?.senderID), .optional(token.verificationCode?.exposeForStorage()),
        .optional(token.repair?.reason), .optional(token.repair?.at.milliseconds), .integer(time.milliseconds),
      ])
  }

  /// Also deletes the reply mailbox, which is queued for deletion at the relay. Part of the caller's transaction.
  package func deleteToken() throws(StoreError) {
    try run(
      """
      INSERT OR IGNORE INTO deleted_mailboxes (recipient_id, recipient_key)
      SELECT reply_recipient_id, reply_recipient_key FROM token WHERE reply_recipient_id IS NOT NULL
      """)
    try run("DELETE FROM token")
    noteSilence()
  }

  // MARK: Requests in the background

  /// Part of the caller's transaction.
  package func insertServerRequest(
    mailbox: [UInt8], key: SigningKeyPair? = nil, body: [UInt8], deduplication: [UInt8]
  ) throws(StoreError) {
    try run(
      "INSERT INTO server_outbox (mailbox, sender_key, body, deduplication) VALUES (?, ?, ?, ?)",
      [.blob(mailbox), .optional(key?.exposeForStorage()), .blob(body), .blob(deduplication)])
  }

  package func serverRequests() throws(StoreError) -> [ServerOutboxEntry] {
    try rows("SELECT request_id, mailbox, sender_key, body, deduplication FROM server_outbox ORDER BY request_id") {
      ServerOutboxEntry(
        id: $0.integer(0), mailbox: $0.blob(1), key: $0.optionalBlob(2).flatMap { SigningKeyPair(stored: $0) },
        body: $0.blob(3), deduplication: $0.blob(4))
    }
  }

  package func finishServerRequest(_ id: Int64) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run("DELETE FROM server_outbox WHERE request_id = ?", [.integer(id)])
    }
  }
}
