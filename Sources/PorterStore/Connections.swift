import PorterCrypto
import PorterPlatform

extension Store {
  static let connectionColumns = """
    connections.connection_id, connections.user_id, connections.contact_id, agent_id, status, initiated, recipient_id,
    recipient_key, sender_id, secured, peer_sender_id, peer_key, invitation, link, peer_public_key, notifier_id,
    notifier_key, notifier_secret, subscription, connections.created_at, connections.updated_at, notifier_box_key,
    incognito, address_mailbox, address_key, address_person, connections.local_alias,
    (SELECT max(entry_id) FROM ledger
      WHERE ledger.connection_id = connections.connection_id AND ledger.state = 'announced'), epoch, owner
    """
  static let connectionColumnCount: Int32 = 30

  /// Reads the two columns starting at `column`.
  static func ownership(_ row: borrowing Row, at column: Int32) -> OwnershipRecord {
    OwnershipRecord(epoch: row.integer(column), storedOwner: row.optionalText(column + 1))
  }

  package func connection(_ id: Int64) throws(StoreError) -> StoredConnection {
    guard let found = try connections("WHERE connection_id = ?", [.integer(id)]).first else {
      throw .notFound(.connection)
    }
    return found
  }

  package func connection(contactID: Int64) throws(StoreError) -> StoredConnection {
    guard let found = try currentConnection(contactID: contactID) else { throw .notFound(.connection) }
    return found
  }

  /// Works even if the connection's record is otherwise damaged.
  package func agentID(contactID: Int64) throws(StoreError) -> [UInt8]? {
    try rows("SELECT agent_id FROM connections WHERE contact_id = ?", [.integer(contactID)]) { $0.blob(0) }.first
  }

  /// The profile that has this connection. Works even if the connection's record is otherwise damaged.
  package func userID(agentID: [UInt8]) throws(StoreError) -> Int64? {
    try integer("SELECT user_id FROM connections WHERE agent_id = ?", [.blob(agentID)])
  }

  /// Nil for a contact whose conversation alone is kept.
  package func currentConnection(contactID: Int64) throws(StoreError) -> StoredConnection? {
    try connections("WHERE contact_id = ?", [.integer(contactID)]).first
  }

  package func connection(peerSenderID: [UInt8]) throws(StoreError) -> StoredConnection? {
    try connections("WHERE peer_sender_id = ?", [.blob(peerSenderID)]).first
  }

  /// The user's newest connection requested through this address of another user.
  package func connection(userID: Int64, addressMailbox: [UInt8]) throws(StoreError) -> StoredConnection? {
    try connections(
      "WHERE address_mailbox = ? AND user_id = ? ORDER BY connection_id DESC LIMIT 1",
      [.blob(addressMailbox), .integer(userID)]
    ).first
  }

  package func connection(agentID: [UInt8]) throws(StoreError) -> StoredConnection? {
    try connections("WHERE agent_id = ?", [.blob(agentID)]).first
  }

  /// All connections except damaged ones, which are reported when requested individually: one damaged record does not
  /// affect the others (INC-44, INC-66).
  package func connections() throws(StoreError) -> [StoredConnection] { try readable("ORDER BY connection_id") }

  package func connectionID(recipientID: [UInt8]) throws(StoreError) -> Int64? {
    try integer("SELECT connection_id FROM connections WHERE recipient_id = ?", [.blob(recipientID)])
  }

  /// Our ends of these mailboxes, without the rest of their connections; the key is nil if damaged.
  package func recipientEnds(
    from first: Int64, through last: Int64
  ) throws(StoreError) -> [(id: Int64, recipientID: [UInt8], key: SigningKeyPair?)] {
    try rows(
      """
      SELECT connection_id, recipient_id, recipient_key FROM connections WHERE connection_id BETWEEN ? AND ?
      ORDER BY connection_id
      """, [.integer(first), .integer(last)]
    ) { (id: $0.integer(0), recipientID: $0.blob(1), key: SigningKeyPair(stored: $0.blob(2))) }
  }

  /// Includes damaged connections.
  package func connectionIDs() throws(StoreError) -> [Int64] {
    try rows("SELECT connection_id FROM connections ORDER BY connection_id") { $0.integer(0) }
  }

  /// The connections of one profile, including damaged ones.
  package func connectionIDs(userID: Int64) throws(StoreError) -> [Int64] {
    try rows(
      "SELECT connection_id FROM connections WHERE user_id = ? ORDER BY connection_id", [.integer(userID)]
    ) { $0.integer(0) }
  }

  /// Connections in this state of their push subscription.
  package func connectionIDs(subscription state: String) throws(StoreError) -> [Int64] {
    try rows("SELECT connection_id FROM connections WHERE subscription = ? ORDER BY connection_id", [.text(state)]) {
      $0.integer(0)
    }
  }

  /// A condition on connections joined with their users and contacts, 0 or 1: the chat or the profile is muted, or the
  /// profile is hidden. Scopes' pushes are the host's own: only a hidden profile leaves them to the app alone.
  static let isSilenced = """
    (users.view_hash IS NOT NULL OR coalesce(contacts.notifications, 'all') = 'none'
      OR users.show_notifications = 0 AND connections.connection_id NOT IN (SELECT connection_id FROM scopes))
    """

  /// Connections that do not notify the user.
  package func silencedConnectionIDs() throws(StoreError) -> Set<Int64> {
    Set(
      try rows(
        """
        SELECT connections.connection_id FROM connections JOIN users ON users.user_id = connections.user_id
        LEFT JOIN contacts ON contacts.contact_id = connections.contact_id WHERE \(Self.isSilenced)
        """
      ) { $0.integer(0) })
  }

  /// The number of connections in each state of their push subscription.
  package func subscriptionCounts() throws(StoreError) -> [(state: String, count: Int64)] {
    try rows("SELECT subscription, count(*) FROM connections GROUP BY subscription ORDER BY subscription") {
      (state: $0.text(0), count: $0.integer(1))
    }
  }

  package struct SubscriptionRepairs {
    /// The name of an event of `subscription`.
    package let reason: String
    package let count: Int64
    /// When the last of them happened.
    package let at: WallTime
  }

  /// Why subscriptions last had to be recreated, by reason.
  package func subscriptionRepairs() throws(StoreError) -> [SubscriptionRepairs] {
    try rows(
      """
      SELECT repair_reason, count(*), max(repair_at) FROM connections WHERE repair_reason IS NOT NULL
      GROUP BY repair_reason ORDER BY repair_reason
      """
    ) { SubscriptionRepairs(reason: $0.text(0), count: $0.integer(1), at: WallTime(milliseconds: $0.integer(2))) }
  }

  private func readable(_ condition: String) throws(StoreError) -> [StoredConnection] {
    let found = try rows("SELECT \(Self.connectionColumns) FROM connections \(condition)") {
      (row) throws(StoreError) -> StoredConnection? in
      do throws(StoreError) { return try StoredConnection(row) } catch .damaged { return nil }
    }
    return found.compactMap { $0 }
  }

  private func connections(_ condition: String, _ bindings: [Binding]) throws(StoreError) -> [StoredConnection] {
    try rows("SELECT \(Self.connectionColumns) FROM connections \(condition)", bindings) { (row) throws(StoreError) in
      try StoredConnection(row)
    }
  }

  /// Part of the caller's transaction.
  package func insertConnection(_ new: NewConnection, at time: WallTime) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO connections (user_id, contact_id, agent_id, status, initiated, recipient_id, recipient_key, sender_id,
        secured, peer_sender_id, peer_key, invitation, link, created_at, updated_at, incognito, address_mailbox,
        address_key, address_person)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?15, ?16, ?17, ?18)
      """,
      [
        .integer(new.userID), .optional(new.contactID), .blob(new.agentID), .text(new.status), .flag(new.isInitiated),
        .blob(new.recipientID), .blob(new.recipientKey.exposeForStorage()), .blob(new.senderID), .flag(new.isSecured),
        .optional(new.peerSenderID), .blob(new.peerKey.exposeForStorage()),
        .optional(new.invitation?.exposeForStorage()), .optional(new.link), .integer(time.milliseconds),
        .optional(new.incognito), .optional(new.request?.mailbox), .optional(new.request?.key),
        .optional(new.request?.person),
      ])
  }

  /// Records that the invitation was used, and erases its secret in the same transaction so that it cannot be used
  /// again.
  package func accept(
    connectionID: Int64, contactID: Int64, peerSenderID: [UInt8], peerPublicKey: [UInt8]?
  ) throws(StoreError) {
    try run(
      """
      UPDATE connections SET contact_id = ?, peer_sender_id = ?, peer_public_key = ?, invitation = NULL, link = NULL
      WHERE connection_id = ?
      """, [.integer(contactID), .blob(peerSenderID), .optional(peerPublicKey), .integer(connectionID)])
    // A repeat of the request that this answers must not hold up what follows.
    try run(
      "DELETE FROM outbox WHERE connection_id = ? AND purpose = ?",
      [.integer(connectionID), .text(OutboxEntry.requestPurpose)])
  }

  package func setContact(connectionID: Int64, contactID: Int64) throws(StoreError) {
    try run(
      "UPDATE connections SET contact_id = ? WHERE connection_id = ?", [.integer(contactID), .integer(connectionID)])
  }

  package func setStatus(connectionID: Int64, _ status: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE connections SET status = ?, updated_at = ? WHERE connection_id = ?",
      [.text(status), .integer(time.milliseconds), .integer(connectionID)])
  }

  package func setConnectionAlias(_ id: Int64, _ alias: String) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try run("UPDATE connections SET local_alias = ? WHERE connection_id = ?", [.text(alias), .integer(id)])
    }
  }

  /// Durable, since the message that asks for it does not come again once it is acknowledged.
  package func setSecured(connectionID: Int64) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try run("UPDATE connections SET secured = 1 WHERE connection_id = ?", [.integer(connectionID)])
    }
  }

  // MARK: Push subscriptions

  // All of these are part of the caller's transaction.

  /// Called before the request to the relay, so that the same keys are used again after a kill in between.
  package func setNotifierKeys(connectionID: Int64, key: SigningKeyPair, boxKey: BoxSecretKey) throws(StoreError) {
    try run(
      """
      UPDATE connections SET notifier_id = NULL, notifier_secret = NULL, notifier_key = ?, notifier_box_key = ?
      WHERE connection_id = ?
      """, [.blob(key.exposeForStorage()), .blob(boxKey.exposeForStorage()), .integer(connectionID)])
  }

  package func setNotifier(connectionID: Int64, id: [UInt8], secret: BoxSharedKey) throws(StoreError) {
    try run(
      """
      UPDATE connections SET notifier_id = ?, notifier_secret = ?, notifier_box_key = NULL WHERE connection_id = ?
      """, [.blob(id), .blob(secret.exposeForStorage()), .integer(connectionID)])
    if try isSilent(connectionID: connectionID) { noteSilence() }
  }

  package func setSubscription(connectionID: Int64, _ state: String) throws(StoreError) {
    try run("UPDATE connections SET subscription = ? WHERE connection_id = ?", [.text(state), .integer(connectionID)])
  }

  package func setSubscriptionRepair(connectionID: Int64, reason: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE connections SET repair_reason = ?, repair_at = ? WHERE connection_id = ?",
      [.text(reason), .integer(time.milliseconds), .integer(connectionID)])
  }

  /// The id stays until there is a new one: it identifies pushes still in transit.
  package func clearNotifier(connectionID: Int64) throws(StoreError) {
    try run(
      """
      UPDATE connections SET notifier_key = NULL, notifier_box_key = NULL, notifier_secret = NULL
      WHERE connection_id = ?
      """, [.integer(connectionID)])
  }

  // MARK: Deleting

  /// Queues a connection's mailbox for deletion by the engine. Part of the caller's transaction.
  package func queueMailboxDeletion(of connectionID: Int64) throws(StoreError) {
    try run(
      """
      INSERT OR IGNORE INTO deleted_mailboxes (recipient_id, recipient_key)
      SELECT recipient_id, recipient_key FROM connections WHERE connection_id = ?
      """, [.integer(connectionID)])
  }

  /// Queues a mailbox that was created but never used.
  package func queueMailboxDeletion(recipientID: [UInt8], key: SigningKeyPair) throws(StoreError) {
    try run(
      "INSERT OR IGNORE INTO deleted_mailboxes (recipient_id, recipient_key) VALUES (?, ?)",
      [.blob(recipientID), .blob(key.exposeForStorage())])
  }

  /// Deletes a connection with its keys, ratchet, waiting outbox entries, and ledger entries. Part of the caller's
  /// transaction.
  package func deleteConnection(_ id: Int64) throws(StoreError) {
    let contactID = try integer("SELECT contact_id FROM connections WHERE connection_id = ?", [.integer(id)])
    if let contactID {
      // The chat's unread items go with it. For a damaged contact, what counts is unknown.
      do throws(StoreError) { _ = try setUnread(contact(contactID), to: 0, mentions: 0) } catch .damaged {}
    }
    try keepNumbers()
    try run("DELETE FROM connections WHERE connection_id = ?", [.integer(id)])
  }

  /// Omits mailboxes with damaged keys, which cannot be used for a request.
  package func deletedMailboxes() throws(StoreError) -> [(id: [UInt8], key: SigningKeyPair)] {
    let found = try rows("SELECT recipient_id, recipient_key FROM deleted_mailboxes") { row in
      SigningKeyPair(stored: row.blob(1)).map { (id: row.blob(0), key: $0) }
    }
    return found.compactMap { $0 }
  }

  package func forgetDeletedMailbox(_ id: [UInt8]) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run("DELETE FROM deleted_mailboxes WHERE recipient_id = ?", [.blob(id)])
    }
  }
}
