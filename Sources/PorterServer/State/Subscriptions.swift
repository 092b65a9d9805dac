import PorterCrypto
import PorterMachines
import PorterPush
import PorterRelay
import PorterStore

/// A stored subscription.
struct SubscriptionRecord: Sendable {
  let number: Int64
  let token: Int64
  let notifier: RelayIdentifier
  let key: SigningKeyPair
  let status: SubscriptionStatus
}

extension ServerState {
  private static let subscriptionColumns = "SELECT token, number, notifier, key, status FROM subscription"

  private static func subscription(_ row: borrowing Row) throws(ServerError) -> SubscriptionRecord {
    // A work file has the seed.
    let stored = row.blob(3)
    guard let notifier = RelayIdentifier(bytes: row.blob(2)),
      let key = SigningKeyPair(stored: stored) ?? SigningKeyPair(seed: stored),
      let status = SubscriptionStatus(rawValue: row.text(4))
    else { throw .damaged(.subscription) }
    return SubscriptionRecord(
      number: row.integer(1), token: row.integer(0), notifier: notifier, key: key, status: status)
  }

  /// The undamaged ones among the next `limit` subscriptions numbered above `number`, and the last number read; nil
  /// after the last subscription.
  func subscriptions(
    after number: Int64, limit: Int
  ) throws(ServerError) -> (records: [SubscriptionRecord], last: Int64?) {
    var (count, last) = (0, number)
    let records = try readableRows(
      Self.subscriptionColumns + " WHERE number > ?1 ORDER BY number LIMIT ?2",
      [.integer(number), .integer(Int64(limit))]
    ) { (row) throws(ServerError) in
      (count, last) = (count + 1, row.integer(1))
      return try Self.subscription(row)
    }
    return (records, count < limit ? nil : last)
  }

  func subscription(number: Int64) throws(ServerError) -> SubscriptionRecord? {
    try database.firstRow(Self.subscriptionColumns + " WHERE number = ?1", [.integer(number)], Self.subscription)
  }

  func subscriptions(token: Int64) throws(ServerError) -> [SubscriptionRecord] {
    try database.allRows(Self.subscriptionColumns + " WHERE token = ?1", [.integer(token)], Self.subscription)
  }

  /// The active subscriptions, each with its token. Reads no keys of either.
  func watchers(of notifier: RelayIdentifier) throws(ServerError) -> [(subscription: Int64, token: TokenStatus)] {
    try readableRows(
      """
      SELECT token.number, token.generation, token.state, subscription.number FROM subscription
      CROSS JOIN token ON token.number = subscription.token
      WHERE subscription.notifier = ?1 AND subscription.status = ?2
      """, [.blob(notifier.bytes), .text(SubscriptionStatus.active.rawValue)]
    ) { (row) throws(ServerError) in (subscription: row.integer(3), token: try Self.tokenStatus(row)) }
  }

  /// How many other active tokens have an active subscription.
  func watcherCount(of notifier: RelayIdentifier, except token: Int64) throws(ServerError) -> Int {
    let count = try storage { () throws(SQLiteError) in
      try database.integer(
        """
        SELECT count(*) FROM subscription CROSS JOIN token ON token.number = subscription.token
        WHERE subscription.notifier = ?1 AND subscription.status = ?2 AND subscription.token <> ?3 AND token.state = ?4
        """,
        [
          .blob(notifier.bytes), .text(SubscriptionStatus.active.rawValue), .integer(token),
          .text(ServerToken.State.active.name),
        ])
    }
    return Int(clamping: count ?? 0)
  }

  func subscriptionStatus(token: Int64, notifier: [UInt8]) throws(ServerError) -> SubscriptionStatus? {
    try database.firstRow(
      "SELECT status FROM subscription WHERE token = ?1 AND notifier = ?2", [.integer(token), .blob(notifier)]
    ) { (row) throws(ServerError) in
      guard let status = SubscriptionStatus(rawValue: row.text(0)) else { throw .damaged(.subscription) }
      return status
    }
  }

  func subscriptionCount(token: Int64) throws(ServerError) -> Int {
    Int(
      try storage { () throws(SQLiteError) in
        try database.integer("SELECT count(*) FROM subscription WHERE token = ?1", [.integer(token)]) ?? 0
      })
  }

  /// A repeat replaces the key and status.
  func save(_ credentials: NotifierCredentials, status: SubscriptionStatus, token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO subscription (token, notifier, key, status) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (token, notifier) DO UPDATE SET key = excluded.key, status = excluded.status
        """,
        [
          .integer(token), .blob(credentials.notifier), .blob(credentials.key.exposeForStorage()),
          .text(status.rawValue),
        ])
    }
  }

  func save(_ status: SubscriptionStatus, ofSubscription number: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE subscription SET status = ?2 WHERE number = ?1", [.integer(number), .text(status.rawValue)])
    }
  }

  func deleteSubscription(token: Int64, notifier: [UInt8]) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "DELETE FROM subscription WHERE token = ?1 AND notifier = ?2", [.integer(token), .blob(notifier)])
    }
  }

  func deleteSubscriptions(token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("DELETE FROM subscription WHERE token = ?1", [.integer(token)])
    }
  }
}
