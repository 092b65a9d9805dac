import PorterMachines
import PorterPlatform

/// Limiting and bundling of notifications.
extension Store {
  /// When each of these chats last made a sound since `boot`; earlier sounds are long past.
  package func lastSounds(contacts: Set<Int64>, boot: String) throws(StoreError) -> [Int64: Moment] {
    var sounds = [Int64: Moment]()
    for contact in contacts {
      sounds[contact] = try integer(
        "SELECT sounded_at FROM connections WHERE contact_id = ? AND sounded_boot = ?",
        [.integer(contact), .text(boot)]
      ).map { Moment(nanoseconds: $0) }
    }
    return sounds
  }

  /// Part of the transaction that records the notification as shown.
  package func noteSound(contact: Int64, at moment: Moment, boot: String) throws(StoreError) {
    try run(
      "UPDATE connections SET sounded_at = ?, sounded_boot = ? WHERE contact_id = ?",
      [.integer(moment.nanoseconds), .text(boot), .integer(contact)])
  }

  /// When a notification about a contact not yet known last made a sound since `boot`.
  package func lastSoundOfUnknown(boot: String) throws(StoreError) -> Moment? {
    guard let parts = try setting(Self.unknownSound)?.split(separator: " "), parts.count == 2, parts[0] == boot,
      let time = Int64(parts[1])
    else { return nil }
    return Moment(nanoseconds: time)
  }

  /// Part of the transaction that records the notification as shown.
  package func noteSoundOfUnknown(at moment: Moment, boot: String) throws(StoreError) {
    try run(
      "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
      [.text(Self.unknownSound), .text("\(boot) \(moment.nanoseconds)")])
  }

  private static let unknownSound = "unknownSound"

  /// Records that the entry is shown as part of a summary. Part of the transaction that records it as shown.
  package func setSummary(_ summary: String, entryID: Int64) throws(StoreError) {
    try run("UPDATE ledger SET summary = ? WHERE entry_id = ?", [.text(summary), .integer(entryID)])
  }

  /// A summary's messages that are still unread, by chat, latest first.
  package func summaryParts(_ summary: String) throws(StoreError) -> [SummaryPart] {
    try rows(
      """
      SELECT ledger.contact_id, connections.user_id, count(*), coalesce(sum(items.mentions_user), 0)
      FROM ledger JOIN connections ON connections.connection_id = ledger.connection_id
        LEFT JOIN items ON items.item_id = ledger.item_id
      WHERE ledger.summary = ? AND ledger.state IN (?, ?) AND ledger.contact_id IS NOT NULL
      GROUP BY ledger.contact_id ORDER BY max(ledger.entry_id) DESC
      """,
      [
        .text(summary), .text(PorterMachines.LedgerEntry.State.presented.name),
        .text(PorterMachines.LedgerEntry.State.outdated.name),
      ]
    ) { (row) throws(StoreError) in
      SummaryPart(
        contactID: row.integer(0), userID: row.integer(1), count: Int(row.integer(2)), mentions: Int(row.integer(3)))
    }
  }

  /// A profile's contact requests on screen, latest first: with a notification of their own, or in a summary.
  package func requestsOnScreen(userID: Int64) throws(StoreError) -> [ShownRequest] {
    try shownRequests("addresses.user_id = ?1", .integer(userID))
  }

  /// A summary's contact requests that are undecided, latest first.
  package func requestsOnScreen(summary: String) throws(StoreError) -> [ShownRequest] {
    try shownRequests("ledger.summary = ?1", .text(summary))
  }

  private func shownRequests(_ condition: String, _ binding: Binding) throws(StoreError) -> [ShownRequest] {
    try rows(
      """
      SELECT ledger.entry_id, contact_requests.request_id, contact_requests.user_id, display_name, ledger.summary,
        connections.agent_id
      FROM addresses JOIN contact_requests ON contact_requests.address_id = addresses.address_id
          AND contact_requests.state = ?2
        JOIN ledger ON ledger.request_id = contact_requests.request_id
        JOIN connections ON connections.connection_id = ledger.connection_id
      WHERE \(condition) AND ledger.kind = 'request' AND ledger.state = ?3 AND ledger.removal_due = 0
      ORDER BY ledger.entry_id DESC
      """,
      [
        binding, .text(PorterMachines.ContactRequest.State.received.name),
        .text(PorterMachines.LedgerEntry.State.presented.name),
      ]
    ) { (row) throws(StoreError) in
      ShownRequest(
        entryID: row.integer(0), requestID: row.integer(1), userID: row.integer(2), name: row.text(3),
        summary: row.optionalText(4), agentID: row.blob(5))
    }
  }
}

/// A contact request on screen.
package struct ShownRequest: Hashable, Sendable {
  package var entryID: Int64
  package var requestID: Int64
  package var userID: Int64
  package var name: String
  /// The summary it is part of.
  package var summary: String?
  /// The agent's name of its address's connection.
  package var agentID: [UInt8]
}

package struct SummaryPart: Hashable, Sendable {
  package var contactID: Int64
  package var userID: Int64
  package var count: Int
  /// How many of the messages mention the user.
  package var mentions: Int
}
