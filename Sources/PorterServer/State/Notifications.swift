import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// The subject of a push.
package enum PushKind: String, Hashable, Sendable {
  case verification, message, wake
}

/// A push that is due.
struct DuePush: Sendable {
  let token: Int64
  let kind: PushKind
  let version: Int64
}

extension ServerState {
  // MARK: Notifications

  /// Replaces the subscription's earlier one, and keeps the token's newest.
  func save(_ notification: RelayNotification, for subscription: SubscriptionRecord) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT OR REPLACE INTO notification (token, subscription, seconds, nonce, metadata)
        VALUES (?1, ?2, ?3, ?4, ?5)
        """,
        [
          .integer(subscription.token), .integer(subscription.number),
          .integer(max(0, notification.timestamp.seconds)), .blob(notification.nonce.bytes),
          .blob(notification.metadata),
        ])
      try database.run(
        """
        DELETE FROM notification WHERE token = ?1 AND sequence NOT IN
          (SELECT sequence FROM notification WHERE token = ?1 ORDER BY sequence DESC LIMIT ?2)
        """, [.integer(subscription.token), .integer(Int64(NotificationBundle.maximumEntries))])
    }
  }

  /// A token's newest notifications, oldest first.
  func notifications(token: Int64) throws(ServerError) -> [NotificationBundle.Entry] {
    try database.allRows(
      """
      SELECT subscription.notifier, seconds, nonce, metadata FROM notification
      JOIN subscription ON subscription.number = notification.subscription
      WHERE notification.token = ?1 ORDER BY sequence
      """, [.integer(token)]
    ) { (row) throws(ServerError) in
      guard let nonce = BoxNonce(bytes: row.blob(2)) else { throw .damaged(.notification) }
      return NotificationBundle.Entry(
        notifier: row.blob(0), seconds: row.integer(1), metadataNonce: nonce, sealedMetadata: row.blob(3))
    }
  }

  /// For notifications older than any message a relay keeps.
  func deleteNotifications(before time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("DELETE FROM notification WHERE seconds < ?1", [.integer(time.seconds)])
    }
  }

  // MARK: Pushes

  func enqueue(_ kind: PushKind, token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO push (token, kind) VALUES (?1, ?2)
        ON CONFLICT (token, kind) DO UPDATE SET version = version + 1
        """, [.integer(token), .text(kind.rawValue)])
    }
  }

  /// The push that has waited longest.
  func duePush(provider: String) throws(ServerError) -> DuePush? {
    try database.firstRow(
      """
      SELECT push.token, kind, version FROM push CROSS JOIN token ON token.number = push.token
      WHERE provider = ?1 ORDER BY sequence LIMIT 1
      """, [.text(provider)]
    ) { (row) throws(ServerError) in
      guard let kind = PushKind(rawValue: row.text(1)) else { throw .damaged(.notification) }
      return DuePush(token: row.integer(0), kind: kind, version: row.integer(2))
    }
  }

  /// Removes it unless it has become due again meanwhile.
  func remove(_ push: DuePush) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "DELETE FROM push WHERE token = ?1 AND kind = ?2 AND version = ?3",
        [.integer(push.token), .text(push.kind.rawValue), .integer(push.version)])
    }
  }

  func removePushes(token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("DELETE FROM push WHERE token = ?1", [.integer(token)])
    }
  }
}
