import PorterCrypto
import PorterPlatform

/// A connection's ratchet, with the data authenticated beside each of its messages.
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
  package func ratchet(connectionID: Int64) throws(StoreError) -> StoredRatchet? {
    let core = try first(
      "SELECT ratchet, associated_data FROM connections WHERE connection_id = ? AND ratchet IS NOT NULL",
      [.integer(connectionID)]
    ) { (ratchet: $0.blob(0), associatedData: $0.blob(1)) }
    guard let core else { return nil }
    let skipped = try rows(
      "SELECT sequence, stored FROM skipped_keys WHERE connection_id = ?", [.integer(connectionID)]
    ) {
      (row) throws(StoreError) in
      guard let key = SkippedKey(sequence: row.integer(0), stored: row.blob(1)) else { throw .damaged(.connection) }
      return key
    }
    do throws(CryptoError) {
      return StoredRatchet(
        ratchet: try Ratchet(serialized: core.ratchet, skippedKeys: skipped), associatedData: core.associatedData)
    } catch {
      throw .damaged(.connection)
    }
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
    for key in changes.added {
      try run(
        "INSERT INTO skipped_keys (connection_id, sequence, stored) VALUES (?, ?, ?)",
        [.integer(connectionID), .integer(key.sequence), .blob(key.exposeForStorage())])
    }
  }
}
