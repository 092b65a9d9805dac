import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// The two ends of the server's mailbox at the relay.
struct ServerMailbox: Sendable {
  let recipient: RelayIdentifier
  let sender: RelayIdentifier
}

/// The server's identity towards its clients and the relay.
struct Identity: Sendable {
  let boxKey: BoxKeyPair
  let recipientKey: SigningKeyPair
  let serviceKey: SigningKeyPair
  /// Nil until the relay has made the mailbox.
  var mailbox: ServerMailbox?

  var link: NotificationServerLink? {
    mailbox.flatMap { NotificationServerLink(key: boxKey.publicKey, mailbox: $0.sender.bytes) }
  }
}

extension ServerState {
  /// The address of the server that owns this state. Throws `neverRan` if there is no such server yet.
  package var link: NotificationServerLink {
    get throws(ServerError) {
      guard let link = try identity()?.link else { throw .neverRan }
      return link
    }
  }

  func identity() throws(ServerError) -> Identity? {
    try database.firstRow(
      "SELECT box_key, recipient_key, service_key, recipient, sender FROM identity"
    ) { (row) throws(ServerError) in
      guard let boxKey = BoxSecretKey(stored: row.blob(0)), let recipientKey = SigningKeyPair(stored: row.blob(1)),
        let serviceKey = SigningKeyPair(stored: row.blob(2))
      else { throw .damaged(.identity) }
      var identity = Identity(
        boxKey: BoxKeyPair(secretKey: boxKey), recipientKey: recipientKey, serviceKey: serviceKey, mailbox: nil)
      if let recipient = row.optionalBlob(3), let sender = row.optionalBlob(4) {
        guard let recipient = RelayIdentifier(bytes: recipient), let sender = RelayIdentifier(bytes: sender) else {
          throw .damaged(.identity)
        }
        identity.mailbox = ServerMailbox(recipient: recipient, sender: sender)
      }
      return identity
    }
  }

  /// Stores the keys on disk before the relay sees them: for the same key it returns the same mailbox.
  func makeIdentity(randomness: any Randomness) throws(ServerError) -> Identity {
    let identity = try newIdentity(randomness: randomness)
    try storage { () throws(SQLiteError) in
      try database.run(
        "INSERT INTO identity (number, box_key, recipient_key, service_key) VALUES (1, ?1, ?2, ?3)",
        [
          .blob(identity.boxKey.secretKey.exposeForStorage()), .blob(identity.recipientKey.exposeForStorage()),
          .blob(identity.serviceKey.exposeForStorage()),
        ])
    }
    return identity
  }

  /// Creates an identity without storing it.
  func newIdentity(randomness: any Randomness) throws(ServerError) -> Identity {
    try ServerError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      Identity(
        boxKey: try .generate(randomness: randomness), recipientKey: try .generate(randomness: randomness),
        serviceKey: try .generate(randomness: randomness), mailbox: nil)
    }
  }

  func save(_ mailbox: ServerMailbox) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE identity SET recipient = ?1, sender = ?2",
        [.blob(mailbox.recipient.bytes), .blob(mailbox.sender.bytes)])
    }
  }
}

extension Database {
  /// Like `first`, for rows that may turn out to be damaged.
  func firstRow<Value>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(ServerError) -> Value
  ) throws(ServerError) -> Value? {
    var value: Value?
    try query(sql, bindings, throwing: ServerError.self) { (row) throws(ServerError) in
      if value == nil { value = try map(row) }
    }
    return value
  }

  /// Like `rows`, for rows that may turn out to be damaged.
  func allRows<Value>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(ServerError) -> Value
  ) throws(ServerError) -> [Value] {
    var values: [Value] = []
    try query(sql, bindings, throwing: ServerError.self) { (row) throws(ServerError) in values.append(try map(row)) }
    return values
  }
}
