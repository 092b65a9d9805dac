import PorterSchema
import PorterStore

/// A committed message with the records read for it, so that later steps need not read them again.
struct CommittedMessage {
  /// As the commit left it.
  let connection: StoredConnection
  /// Nil for a repeat, when nothing of the message is shown, or when the records could not be read.
  let records: Records?
  /// A contact is calling, and the user must be notified now.
  var rings = false

  struct Records {
    let user: StoredUser
    let contact: StoredContact
    let item: StoredItem?
  }
}

/// Records that one push has read, for what it shows.
struct KnownRecords {
  /// Records by number. The last one has its own place: usually it is the only one.
  private struct Known<Record> {
    // Separate properties, not a pair, whose type would be built in each process.
    private var lastID: Int64 = 0
    private var last: Record?
    private var others = [Int64: Record]()

    subscript(id: Int64) -> Record? {
      if let last, lastID == id { return last }
      return others.isEmpty ? nil : others[id]
    }

    mutating func note(_ record: Record, _ id: Int64) {
      if let last, lastID != id { others[lastID] = last }
      (lastID, last) = (id, record)
    }
  }

  private var connections = Known<StoredConnection>()
  private var users = Known<StoredUser>()
  private var contacts = Known<StoredContact>()

  /// The last message's records replace earlier ones. Items are not kept: another process may edit or delete one before
  /// it is shown.
  mutating func note(_ committed: CommittedMessage) {
    connections.note(committed.connection, committed.connection.id)
    guard let records = committed.records else { return }
    users.note(records.user, records.user.id)
    contacts.note(records.contact, records.contact.id)
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
    _ id: Int64, _ records: inout Known<Record>, _ read: (Int64) throws(StoreError) -> Record
  ) throws(StoreError) -> Record {
    if let record = records[id] { return record }
    let record = try read(id)
    records.note(record, id)
    return record
  }
}
