import PorterPlatform

/// A user's address.
package struct StoredAddress: Sendable {
  package var id: Int64
  package var userID: Int64
  /// The address's mailbox, with its keys.
  package var connectionID: Int64
  package var link: String
  /// JSON, exactly as it was set.
  package var settings: String
  package var createdAt: WallTime
}

extension Store {
  private static let addressColumns = "address_id, user_id, connection_id, link, settings, created_at"

  private static func address(_ row: borrowing Row) -> StoredAddress {
    StoredAddress(
      id: row.integer(0), userID: row.integer(1), connectionID: row.integer(2), link: row.text(3),
      settings: row.text(4), createdAt: WallTime(milliseconds: row.integer(5)))
  }

  package func address(userID: Int64) throws(StoreError) -> StoredAddress? {
    try address("user_id = ?", userID)
  }

  package func address(connectionID: Int64) throws(StoreError) -> StoredAddress? {
    try address("connection_id = ?", connectionID)
  }

  package func address(_ id: Int64) throws(StoreError) -> StoredAddress? { try address("address_id = ?", id) }

  private func address(_ condition: String, _ value: Int64) throws(StoreError) -> StoredAddress? {
    try first("SELECT \(Self.addressColumns) FROM addresses WHERE \(condition)", [.integer(value)]) {
      Self.address($0)
    }
  }

  /// Part of the caller's transaction. The user must not have an address yet.
  package func insertAddress(
    userID: Int64, connectionID: Int64, link: String, settings: String, at time: WallTime
  ) throws(StoreError) {
    _ = try insert(
      "INSERT INTO addresses (user_id, connection_id, link, settings, created_at) VALUES (?, ?, ?, ?, ?)",
      [
        .integer(userID), .integer(connectionID), .text(link), .text(settings), .integer(time.milliseconds),
      ])
  }

  package func setAddressSettings(_ id: Int64, _ settings: String) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try run("UPDATE addresses SET settings = ? WHERE address_id = ?", [.text(settings), .integer(id)])
    }
  }
}
