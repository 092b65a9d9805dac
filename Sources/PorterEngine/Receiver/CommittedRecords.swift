import PorterSchema
import PorterStore

/// A committed message, with the records that were read for it, so that what follows needs not read them again.
struct CommittedMessage {
  /// As the commit left it.
  let connection: StoredConnection
  /// Nil when it is a repeat, when nothing is shown of it, or when they could not be read.
  let records: Records?
  /// A contact calls, and the user is to know now.
  var rings = false

  struct Records {
    let user: StoredUser
    let contact: StoredContact
    let item: StoredItem?
  }
}

/// Records that one push has read, for what it shows.
struct KnownRecords {
  private var connections: [Int64: StoredConnection] = [:]
  private var users: [Int64: StoredUser] = [:]
  private var contacts: [Int64: StoredContact] = [:]

  /// The last message's records replace those of earlier ones. Items are not kept: another process may edit or delete one
  /// before it is shown.
  mutating func note(_ committed: CommittedMessage) {
    connections[committed.connection.id] = committed.connection
    guard let records = committed.records else { return }
    users[records.user.id] = records.user
    contacts[records.contact.id] = records.contact
  }

  mutating func connection(_ id: Int64, _ store: Store) throws(StoreError) -> StoredConnection {
    try Self.known(id, &connections) { (id) throws(StoreError) in try store.connection(id) }
  }

  mutating func user(_ id: Int64, _ store: Store) throws(StoreError) -> StoredUser {
    try Self.known(id, &users) { (id) throws(StoreError) in try store.user(id) }
  }

  mutating func contact(_ id: Int64, _ store: Store) throws(StoreError) -> StoredContact {
    try Self.known(id, &contacts) { (id) throws(StoreError) in try store.contact(id) }
  }

  private static func known<Record>(
    _ id: Int64, _ records: inout [Int64: Record], _ read: (Int64) throws(StoreError) -> Record
  ) throws(StoreError) -> Record {
    if let record = records[id] { return record }
    let record = try read(id)
    records[id] = record
    return record
  }
}
