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
  /// Its place in the queue; kept when it falls due again.
  let sequence: Int64
  let token: Int64
  let kind: PushKind
  let version: Int64
}

extension ServerState {
  // MARK: Notifications

  /// Whether a push that is due names a later message of the same mailbox: a device that fetches that one fetches this
  /// one too. Servers that share tokens store notifications in another order than a relay gives them, and
  /// a relay repeats those that were not acknowledged.
  func isCovered(_ notification: RelayNotification, of subscription: Int64) throws(ServerError) -> Bool {
    try storage { () throws(SQLiteError) in
      try database.integer(
        """
        SELECT 1 FROM notification JOIN push ON push.token = notification.token AND push.kind = 'message'
        WHERE notification.subscription = ?1 AND notification.milliseconds > ?2
        """, [.integer(subscription), .integer(notification.timestamp.milliseconds)]) != nil
    }
  }

  /// Replaces the subscription's earlier notification, and keeps only the token's newest.
  func save(_ notification: RelayNotification, for subscription: Int64, token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT OR REPLACE INTO notification (token, subscription, seconds, nonce, metadata, milliseconds)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """,
        [
          .integer(token), .integer(subscription),
          .integer(max(0, notification.timestamp.seconds)), .blob(notification.nonce.bytes),
          .blob(notification.metadata), .integer(max(0, notification.timestamp.milliseconds)),
        ])
      try database.run(
        """
        DELETE FROM notification WHERE token = ?1 AND sequence NOT IN
          (SELECT sequence FROM notification WHERE token = ?1 ORDER BY sequence DESC LIMIT ?2)
        """, [.integer(token), .integer(Int64(NotificationBundle.maximumEntries))])
    }
  }

  private static let allEntries =
    """
    SELECT notification.token, subscription.notifier, seconds, nonce, metadata FROM notification
    JOIN subscription ON subscription.number = notification.subscription
    """
  private static let entries = allEntries + " WHERE notification.token = ?1 ORDER BY sequence"

  private static func entry(_ row: borrowing Row) throws(ServerError) -> NotificationBundle.Entry {
    let (notifier, metadata) = (row.blob(1), row.blob(4))
    guard let nonce = BoxNonce(bytes: row.blob(3)), RelayIdentifier(bytes: notifier) != nil,
      NotificationBundle.metadataCounts ~= metadata.count
    else { throw .damaged(.notification) }
    return NotificationBundle.Entry(
      notifier: notifier, seconds: row.integer(2), metadataNonce: nonce, sealedMetadata: metadata)
  }

  /// A token's newest notifications, oldest first.
  func notifications(token: Int64) throws(ServerError) -> [NotificationBundle.Entry] {
    try readableRows(Self.entries, [.integer(token)], Self.entry)
  }

  /// Throws if any of the token's notifications is damaged.
  func checkNotifications(token: Int64) throws(ServerError) {
    _ = try database.allRows(Self.entries, [.integer(token)], Self.entry)
  }

  /// How many of all notifications are damaged.
  func damagedNotifications() throws(ServerError) -> Int {
    var count = 0
    try database.query(Self.allEntries, throwing: ServerError.self) { (row) throws(ServerError) in
      do throws(ServerError) { _ = try Self.entry(row) } catch .damaged { count += 1 }
    }
    return count
  }

  /// Deletes some of the oldest notifications, if they are older than any message a relay keeps. Returns how many, at
  /// most `limit`.
  func deleteNotifications(before time: WallTime, limit: Int) throws(ServerError) -> Int {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        DELETE FROM notification WHERE seconds < ?1
          AND sequence IN (SELECT sequence FROM notification ORDER BY sequence LIMIT ?2)
        """, [.integer(time.seconds), .integer(Int64(limit))])
    }
  }

  // MARK: Pushes

  func enqueue(_ kind: PushKind, token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO push (token, kind, provider) SELECT number, ?2, provider FROM token WHERE number = ?1
        ON CONFLICT (token, kind) DO UPDATE SET version = version + 1
        """, [.integer(token), .text(kind.rawValue)])
    }
  }

  /// The pushes that have waited longest, except deferred ones.
  func duePushes(provider: String, limit: Int) throws(ServerError) -> [DuePush] {
    try readableRows(
      """
      SELECT token, sequence, kind, version FROM push INDEXED BY push_provider
      WHERE provider = ?1 AND due_at = 0 ORDER BY sequence LIMIT ?2
      """, [.text(provider), .integer(Int64(limit))]
    ) { (row) throws(ServerError) in
      guard let kind = PushKind(rawValue: row.text(2)) else { throw .damaged(.notification) }
      return DuePush(sequence: row.integer(1), token: row.integer(0), kind: kind, version: row.integer(3))
    }
  }

  /// Removes the push unless it has become due again in the meantime.
  func remove(_ push: DuePush) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "DELETE FROM push WHERE token = ?1 AND kind = ?2 AND version = ?3",
        [.integer(push.token), .text(push.kind.rawValue), .integer(push.version)])
    }
  }

  // MARK: Later

  /// Defers the push, even if it has become due again in the meantime.
  func postpone(_ push: DuePush, until time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE push SET due_at = ?2 WHERE sequence = ?1", [.integer(push.sequence), .integer(time.milliseconds)])
    }
  }

  /// Milliseconds since 1970; nil if no push is deferred.
  func nextDeferredPush() throws(ServerError) -> Int64? {
    try storage { () throws(SQLiteError) in
      try database.integer("SELECT min(due_at) FROM push INDEXED BY push_deferred WHERE due_at > 0")
    }
  }

  /// Whether the time is further away than any push is deferred: the wall clock was set back.
  func isBeyond(_ time: Int64, _ now: WallTime) -> Bool {
    time > now.milliseconds &+ ServerTimes.longestDeferral.milliseconds
  }

  /// Makes deferred pushes due now. Returns how many, at most `limit`.
  func releaseDeferredPushes(at time: WallTime, limit: Int) throws(ServerError) -> Int {
    try storage { () throws(SQLiteError) in
      let beyond = time.milliseconds &+ ServerTimes.longestDeferral.milliseconds
      let due = try database.rows(
        """
        SELECT sequence FROM push INDEXED BY push_deferred WHERE due_at > 0 AND (due_at <= ?1 OR due_at > ?2)
        ORDER BY due_at LIMIT ?3
        """, [.integer(time.milliseconds), .integer(beyond), .integer(Int64(limit))]
      ) { $0.integer(0) }
      try release(due)
      return due.count
    }
  }

  /// Makes these due now, however long they were deferred.
  func makeDue(_ sequences: some Sequence<Int64>) throws(ServerError) {
    try storage { () throws(SQLiteError) in try release(sequences) }
  }

  private func release(_ sequences: some Sequence<Int64>) throws(SQLiteError) {
    for sequence in sequences {
      try database.run("UPDATE push SET due_at = 0 WHERE sequence = ?1", [.integer(sequence)])
    }
  }

  func removePushes(token: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("DELETE FROM push WHERE token = ?1", [.integer(token)])
    }
  }
}

extension NotificationBundle {
  static var metadataCounts: ClosedRange<Int> { Box.overhead...maximumMetadataCount }
}
