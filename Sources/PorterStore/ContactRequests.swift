import PorterMachines
import PorterPlatform

/// A person's request to become a contact.
package struct StoredContactRequest: Sendable {
  package var id: Int64
  package var userID: Int64
  package var addressID: Int64
  /// The name that the person chose for this address.
  package var person: [UInt8]
  /// A state of the machine `contact_request`.
  package var state: String
  package var displayName: String
  package var fullName: String
  /// The whole profile as JSON; nil if there are only names.
  package var profile: String?
  /// The mailbox of the person's invitation.
  package var mailbox: [UInt8]
  /// Nil once it can no longer be used.
  package var invitation: String?
  /// The profile to show to this person instead of the user's own, as JSON.
  package var incognito: String?
  package var repeats: Int64
  package var contactID: Int64?
  package var createdAt: WallTime
  package var updatedAt: WallTime
}

/// The content of a request.
package struct NewContactRequest: Sendable {
  package var person: [UInt8]
  package var displayName: String
  package var fullName: String
  package var profile: String?
  package var mailbox: [UInt8]
  package var invitation: String
  package var incognito: String?

  package init(
    person: [UInt8], displayName: String, fullName: String, profile: String?, mailbox: [UInt8], invitation: String
  ) {
    self.person = person
    self.displayName = displayName
    self.fullName = fullName
    self.profile = profile
    self.mailbox = mailbox
    self.invitation = invitation
  }
}

extension Store {
  private static let requestColumns = """
    request_id, user_id, address_id, person, state, display_name, full_name, profile, mailbox, invitation, incognito,
    repeats, contact_id, created_at, updated_at
    """

  private static func contactRequest(_ row: borrowing Row) -> StoredContactRequest {
    StoredContactRequest(
      id: row.integer(0), userID: row.integer(1), addressID: row.integer(2), person: row.blob(3), state: row.text(4),
      displayName: row.text(5), fullName: row.text(6), profile: row.optionalText(7), mailbox: row.blob(8),
      invitation: row.optionalText(9), incognito: row.optionalText(10), repeats: row.integer(11),
      contactID: row.optionalInteger(12), createdAt: WallTime(milliseconds: row.integer(13)),
      updatedAt: WallTime(milliseconds: row.integer(14)))
  }

  private func contactRequests(
    _ condition: String, _ bindings: [Binding]
  ) throws(StoreError) -> [StoredContactRequest] {
    try rows("SELECT \(Self.requestColumns) FROM contact_requests \(condition)", bindings) { Self.contactRequest($0) }
  }

  package func contactRequest(_ id: Int64) throws(StoreError) -> StoredContactRequest {
    guard let found = try contactRequests("WHERE request_id = ?", [.integer(id)]).first else {
      throw .notFound(.request)
    }
    return found
  }

  /// This person's request; identifies repeats.
  package func contactRequest(addressID: Int64, person: [UInt8]) throws(StoreError) -> StoredContactRequest? {
    try contactRequests("WHERE address_id = ? AND person = ?", [.integer(addressID), .blob(person)]).first
  }

  /// The latest request whose invitation has this mailbox.
  package func contactRequest(invitationMailbox mailbox: [UInt8]) throws(StoreError) -> StoredContactRequest? {
    try contactRequests("WHERE mailbox = ? ORDER BY request_id DESC LIMIT 1", [.blob(mailbox)]).first
  }

  package func contactRequest(contactID: Int64) throws(StoreError) -> StoredContactRequest? {
    try contactRequests("WHERE contact_id = ? LIMIT 1", [.integer(contactID)]).first
  }

  /// Requests in this state, oldest first.
  package func contactRequests(userID: Int64, in state: String) throws(StoreError) -> [StoredContactRequest] {
    try contactRequests(
      "WHERE user_id = ? AND state = ? ORDER BY request_id", [.integer(userID), .text(state)])
  }

  /// Requests in this state in order, starting with number `first`.
  package func contactRequests(
    in state: String, from first: Int64, atMost limit: Int
  ) throws(StoreError) -> [StoredContactRequest] {
    try contactRequests(
      "WHERE state = ? AND request_id >= ? ORDER BY request_id LIMIT ?",
      [.text(state), .integer(first), .integer(Int64(limit))])
  }

  package func contactRequests(addressID: Int64) throws(StoreError) -> [StoredContactRequest] {
    try contactRequests("WHERE address_id = ? ORDER BY request_id", [.integer(addressID)])
  }

  package func countContactRequests(addressID: Int64, in state: String) throws(StoreError) -> Int64 {
    try integer(
      "SELECT count(*) FROM contact_requests WHERE address_id = ? AND state = ?", [.integer(addressID), .text(state)])
      ?? 0
  }

  // All of these are part of the caller's transaction.

  package func insertContactRequest(
    _ new: NewContactRequest, userID: Int64, addressID: Int64, state: String, at time: WallTime
  ) throws(StoreError) -> Int64 {
    try insert(
      """
      INSERT INTO contact_requests (user_id, address_id, person, state, display_name, full_name, profile, mailbox,
        invitation, incognito, created_at, updated_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)
      """,
      [
        .integer(userID), .integer(addressID), .blob(new.person), .text(state), .text(new.displayName),
        .text(new.fullName), .optional(new.profile), .blob(new.mailbox), .text(new.invitation),
        .optional(new.incognito), .integer(time.milliseconds),
      ])
  }

  package func refreshContactRequest(_ id: Int64, _ new: NewContactRequest, at time: WallTime) throws(StoreError) {
    try run(
      """
      UPDATE contact_requests SET display_name = ?, full_name = ?, profile = ?, mailbox = ?, invitation = ?,
        repeats = repeats + 1, updated_at = ? WHERE request_id = ?
      """,
      [
        .text(new.displayName), .text(new.fullName), .optional(new.profile), .blob(new.mailbox),
        .text(new.invitation), .integer(time.milliseconds), .integer(id),
      ])
  }

  package func setContactRequest(_ id: Int64, state: String, at time: WallTime) throws(StoreError) {
    try run(
      "UPDATE contact_requests SET state = ?, updated_at = ? WHERE request_id = ?",
      [.text(state), .integer(time.milliseconds), .integer(id)])
  }

  package func setContactRequest(_ id: Int64, incognito: String?) throws(StoreError) {
    try run("UPDATE contact_requests SET incognito = ? WHERE request_id = ?", [.optional(incognito), .integer(id)])
  }

  package func setContactRequest(_ id: Int64, contactID: Int64) throws(StoreError) {
    try run("UPDATE contact_requests SET contact_id = ? WHERE request_id = ?", [.integer(contactID), .integer(id)])
  }

  package func eraseInvitation(ofContactRequest id: Int64) throws(StoreError) {
    try run("UPDATE contact_requests SET invitation = NULL WHERE request_id = ?", [.integer(id)])
  }

  /// Bounds what an address keeps. Of finished requests and of messages that showed nothing, keeps the newest `count`,
  /// which identify repeats; of rejected persons, `rejected`, with nothing beyond `count` but the name that each chose
  /// for this address. The cost does not depend on how many arrived.
  package func pruneAddress(
    _ address: StoredAddress, keeping count: Int64, rejected: Int64
  ) throws(StoreError) {
    try pruneRequests(address, keeping: count)
    try pruneRejected(address, keeping: count, names: rejected)
    try run(
      """
      DELETE FROM ledger WHERE entry_id IN (
        SELECT entry_id FROM ledger WHERE connection_id = ?1 AND removal_due = 0
          AND (request_id IS NULL OR request_id NOT IN (SELECT request_id FROM contact_requests))
        ORDER BY entry_id DESC LIMIT -1 OFFSET ?2)
      """, [.integer(address.connectionID), .integer(count)])
  }

  /// An accepted request is not finished until its contact is connected, is gone or has left: until then it records
  /// that the contact must be welcomed, or deleted if its mailbox is gone. There are as many of these as contacts.
  private func pruneRequests(_ address: StoredAddress, keeping count: Int64) throws(StoreError) {
    typealias Request = PorterMachines.ContactRequest.State
    let connected = [PorterMachines.Connection.State.ready, .left].map { "'\($0.name)'" }.joined(separator: ", ")
    try run(
      """
      DELETE FROM contact_requests WHERE request_id IN (
        SELECT request_id FROM contact_requests WHERE address_id = ?1 AND (state = ?3 OR state = ?4 AND NOT EXISTS (
          SELECT 1 FROM connections
          WHERE connections.contact_id = contact_requests.contact_id AND status NOT IN (\(connected))))
        ORDER BY request_id DESC LIMIT -1 OFFSET ?2)
      """,
      [.integer(address.id), .integer(count), .text(Request.withdrawn.name), .text(Request.accepted.name)])
  }

  private func pruneRejected(
    _ address: StoredAddress, keeping count: Int64, names: Int64
  ) throws(StoreError) {
    let older = """
      request_id IN (SELECT request_id FROM contact_requests WHERE address_id = ?1 AND state = ?2
        ORDER BY request_id DESC LIMIT -1 OFFSET ?3)
      """
    let state = Binding.text(PorterMachines.ContactRequest.State.rejected.name)
    try run("DELETE FROM contact_requests WHERE \(older)", [.integer(address.id), state, .integer(names)])
    try run(
      """
      UPDATE contact_requests SET display_name = '', full_name = '', profile = NULL, mailbox = x'', invitation = NULL,
        incognito = NULL
      WHERE display_name <> '' AND \(older)
      """, [.integer(address.id), state, .integer(count)])
  }
}
