import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// The file in which a server that shares its state works. It holds the documents being worked on, and nothing needed
/// afterwards, so that one implementation of the server's work serves both kinds of state.
extension ServerState {
  /// Empties the file.
  func beginWork() throws(ServerError) {
    try storage { () throws(SQLiteError) in
      for table in ["token", "wake", "request"] { try database.run("DELETE FROM \(table)") }
    }
  }

  // MARK: In

  func load(_ document: TokenDocument) throws(ServerError) {
    let number = Binding.integer(TokenDocument.number(document.id))
    try storage { () throws(SQLiteError) in
      // No two documents have the same series, and the file assigns none of these.
      try database.run(
        """
        INSERT INTO token (number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code,
          state, period, used_at, used_age, registered_at, wake_series)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, ?14, CASE ?12 WHEN 0 THEN 0 ELSE ?1 END)
        """,
        [
          number, .blob(document.id), .text(document.provider), .blob(document.pushToken),
          .integer(document.generation), .blob(document.signingKey), .blob(document.clientBoxKey),
          .blob(document.boxKey), .blob(document.pushKey), .blob(document.code), .text(document.state),
          .integer(document.period), .integer(document.usedAt), .integer(document.registeredAt),
        ])
      for each in document.subscriptions {
        try database.run(
          "INSERT INTO subscription (token, notifier, key, status) VALUES (?1, ?2, ?3, ?4)",
          [number, .blob(each.notifier), .blob(each.seed), .text(each.status)])
      }
      for each in document.notifications {
        try database.run(
          """
          INSERT INTO notification (token, subscription, seconds, nonce, metadata, milliseconds)
          SELECT ?1, number, ?3, ?4, ?5, ?6 FROM subscription WHERE token = ?1 AND notifier = ?2
          """,
          [
            number, .blob(each.notifier), .integer(each.milliseconds / 1_000), .blob(each.nonce),
            .blob(each.metadata), .integer(each.milliseconds),
          ])
      }
      for each in document.pushes {
        try database.run(
          "INSERT INTO push (sequence, token, kind, version, provider, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
          [
            .integer(TokenDocument.sequence(each.kind, of: document.id)), number, .text(each.kind),
            .integer(each.version), .text(each.provider), .integer(each.dueAt),
          ])
      }
      if let wake = document.wake {
        try database.run(
          "INSERT INTO wake (due_at, token, series, woken_at) VALUES (?1, ?2, ?2, ?3)",
          [.integer(wake.dueAt), number, .integer(wake.wokenAt)])
      }
      for each in document.answers {
        try load(
          each.json, to: .blob(each.correlation), signer: .blob(document.signingKey), at: .integer(each.answeredAt))
      }
    }
  }

  /// Loads a request that was carried out; nil for a forgotten answer.
  func load(_ answer: [UInt8]?, to correlation: CorrelationID, signer: [UInt8]) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try load(answer, to: .blob(correlation.bytes), signer: .blob(signer), at: 0)
    }
  }

  private func load(
    _ answer: [UInt8]?, to correlation: Binding, signer: Binding, at time: Binding
  ) throws(SQLiteError) {
    try database.run(
      "INSERT OR REPLACE INTO request (correlation, signer, answer, answered_at) VALUES (?1, ?2, ?3, ?4)",
      [correlation, signer, .optional(answer), time])
  }

  /// Replaces the identity with the cluster's.
  func load(_ identity: [[UInt8]]) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("DELETE FROM identity")
      try database.run(
        """
        INSERT INTO identity (number, box_key, recipient_key, service_key, recipient, sender)
        VALUES (1, ?1, ?2, ?3, ?4, ?5)
        """,
        identity.prefix(3).map { .blob($0) } + (0..<2).map { .optional(identity.count == 5 ? identity[3 + $0] : nil) })
    }
  }

  // MARK: Out

  /// Every document now in the file.
  func documents() throws(ServerError) -> [TokenDocument] {
    try storage { () throws(SQLiteError) in
      let found = try database.rows(
        """
        SELECT number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state,
          period, used_age, registered_at FROM token ORDER BY number
        """
      ) { row in
        var document = TokenDocument()
        document.id = row.blob(1)
        document.provider = row.text(2)
        document.pushToken = row.blob(3)
        document.generation = row.integer(4)
        document.signingKey = row.blob(5)
        document.clientBoxKey = row.blob(6)
        document.boxKey = row.blob(7)
        document.pushKey = row.blob(8)
        document.code = row.blob(9)
        document.state = row.text(10)
        document.period = row.integer(11)
        document.usedAt = row.integer(12)
        document.registeredAt = row.integer(13)
        return (number: row.integer(0), document: document)
      }
      var documents: [TokenDocument] = []
      for (number, document) in found { documents.append(try completed(document, .integer(number))) }
      return documents
    }
  }

  private func completed(_ token: TokenDocument, _ number: Binding) throws(SQLiteError) -> TokenDocument {
    var document = token
    document.subscriptions = try database.rows(
      "SELECT notifier, key, status FROM subscription WHERE token = ?1 ORDER BY number", [number]
    ) { row in
      // One that was added here still has the public half.
      let seed = Array(row.blob(1).prefix(SigningKeyPair.seedCount))
      return .init(notifier: row.blob(0), seed: seed, status: row.text(2))
    }
    document.notifications = try database.rows(
      """
      SELECT subscription.notifier, milliseconds, nonce, metadata FROM notification
      JOIN subscription ON subscription.number = notification.subscription
      WHERE notification.token = ?1 ORDER BY sequence
      """, [number]
    ) { .init(notifier: $0.blob(0), milliseconds: $0.integer(1), nonce: $0.blob(2), metadata: $0.blob(3)) }
    document.pushes = try database.rows(
      "SELECT kind, version, provider, due_at FROM push WHERE token = ?1 ORDER BY kind", [number]
    ) { .init(kind: $0.text(0), version: $0.integer(1), provider: $0.text(2), dueAt: $0.integer(3)) }
    document.wake = try database.first(
      """
      SELECT due_at, woken_at FROM wake
      WHERE token = ?1 AND series = (SELECT wake_series FROM token WHERE number = ?1)
      """, [number]
    ) { .init(dueAt: $0.integer(0), wokenAt: $0.integer(1)) }
    document.answers = try database.rows(
      """
      SELECT correlation, answer, answered_at FROM request WHERE signer = ?1 AND answer IS NOT NULL AND answered_at > 0
      ORDER BY answered_at, correlation
      """, [.blob(document.signingKey)]
    ) { .init(correlation: $0.blob(0), json: $0.blob(1), answeredAt: $0.integer(2)) }
    return document
  }
}
