import PorterCrypto
import PorterPlatform

/// A connection's ratchet, with the data authenticated with each of its messages.
package struct StoredRatchet: Sendable {
  package var ratchet: Ratchet
  package let associatedData: [UInt8]

  package init(ratchet: Ratchet, associatedData: [UInt8]) {
    self.ratchet = ratchet
    self.associatedData = associatedData
  }
}

/// A ratchet is read, stepped and written inside one transaction and never kept in memory between two, so that no
/// process can continue from a stale one (INC-05, INC-10).
extension Store {
  /// For sending. Opens nothing, so no skipped key is read.
  package func ratchet(connectionID: Int64) throws(StoreError) -> StoredRatchet? {
    let core = try first(
      "SELECT ratchet, associated_data FROM connections WHERE connection_id = ? AND ratchet IS NOT NULL",
      [.integer(connectionID)]
    ) { (ratchet: $0.blob(0), associatedData: $0.blob(1)) }
    guard let core else { return nil }
    return StoredRatchet(
      ratchet: try Self.undamaged { () throws(CryptoError) in try Ratchet(toSend: core.ratchet) },
      associatedData: core.associatedData)
  }

  /// For opening `message` and sending afterwards, as read by the running transaction.
  package func ratchet(
    of connection: StoredConnection, opening message: ArraySlice<UInt8>
  ) throws(StoreError) -> StoredRatchet? {
    guard let reading = connection.reading, reading.newestSkippedKey == nil else {
      return try ratchet(connectionID: connection.id, opening: message)
    }
    guard let ratchet = reading.ratchet else { return nil }
    return StoredRatchet(
      ratchet: try Self.undamaged { () throws(CryptoError) in
        try Ratchet(serialized: ratchet, found: nil, newest: nil)
      }, associatedData: reading.associatedData ?? [])
  }

  /// Of the skipped keys, reads only the message's own.
  package func ratchet(connectionID: Int64, opening message: ArraySlice<UInt8>) throws(StoreError) -> StoredRatchet? {
    let core = try first(
      """
      SELECT ratchet, associated_data, sequence, stored,
        (SELECT max(sequence) FROM skipped_keys WHERE connection_id = ?1)
      FROM connections LEFT JOIN skipped_keys INDEXED BY skipped_keys_name
        ON skipped_keys.connection_id = ?1 AND substr(stored, 1, \(SkippedKey.nameCount)) = ?2
      WHERE connections.connection_id = ?1 AND ratchet IS NOT NULL
      """, [.integer(connectionID), .blob(SkippedKey.name(opening: message) ?? [])]
    ) { (row) throws(StoreError) in
      var found: SkippedKey?
      if let sequence = row.optionalInteger(2) {
        found = SkippedKey(sequence: sequence, stored: row.blob(3))
        if found == nil { throw .damaged(.connection) }
      }
      return (ratchet: row.blob(0), associatedData: row.blob(1), found: found, newest: row.optionalInteger(4))
    }
    guard let core else { return nil }
    return StoredRatchet(
      ratchet: try Self.undamaged { () throws(CryptoError) in
        try Ratchet(serialized: core.ratchet, found: core.found, newest: core.newest)
      }, associatedData: core.associatedData)
  }

  private static func undamaged(_ load: () throws(CryptoError) -> Ratchet) throws(StoreError) -> Ratchet {
    do throws(CryptoError) { return try load() } catch { throw .damaged(.connection) }
  }

  /// Writes only what changed.
  package func save(_ stored: StoredRatchet, connectionID: Int64) throws(StoreError) {
    let changes = stored.ratchet.changes
    try run(
      "UPDATE connections SET ratchet = ?, associated_data = ? WHERE connection_id = ?",
      [.blob(changes.core.exposeForStorage()), .blob(stored.associatedData), .integer(connectionID)])
    for sequence in changes.removed {
      try run(
        "DELETE FROM skipped_keys WHERE connection_id = ? AND sequence = ?",
        [.integer(connectionID), .integer(sequence)])
    }
    if !changes.added.isEmpty, changes.firstKept > 0 {
      try run(
        "DELETE FROM skipped_keys WHERE connection_id = ? AND sequence < ?",
        [.integer(connectionID), .integer(changes.firstKept)])
    }
    for key in changes.added {
      try run(
        "INSERT INTO skipped_keys (connection_id, sequence, stored) VALUES (?, ?, ?)",
        [.integer(connectionID), .integer(key.sequence), .blob(key.exposeForStorage())])
    }
  }
}
