import PorterPlatform

/// A mailbox through which one of the host's services sends its own pushes.
package struct StoredScope: Sendable {
  package var id: Int64
  package var userID: Int64
  /// Its mailbox, with its keys.
  package var connectionID: Int64
  package var name: String
  package var address: String
  /// The key with which the service signs.
  package var serviceKey: [UInt8]
  /// The newest envelope version that the host knows.
  package var version: Int64
  /// The commands that the host knows, as a JSON list; nil for all.
  package var commands: String?
  /// The relay's time of the scope's newest message.
  package var newestAt: WallTime
  package var createdAt: WallTime
}

/// The host's settings for a scope.
package struct ScopeSettings: Sendable {
  package var name: String
  package var serviceKey: [UInt8]
  package var version: Int64
  package var commands: String?

  package init(name: String, serviceKey: [UInt8], version: Int64, commands: String?) {
    self.name = name
    self.serviceKey = serviceKey
    self.version = version
    self.commands = commands
  }
}

extension Store {
  private static let scopeColumns =
    "scope_id, user_id, connection_id, name, address, service_key, version, commands, newest_at, created_at"

  private func scopes(_ condition: String, _ bindings: [Binding]) throws(StoreError) -> [StoredScope] {
    try rows("SELECT \(Self.scopeColumns) FROM scopes WHERE \(condition) ORDER BY scope_id", bindings) { row in
      StoredScope(
        id: row.integer(0), userID: row.integer(1), connectionID: row.integer(2), name: row.text(3),
        address: row.text(4), serviceKey: row.blob(5), version: row.integer(6), commands: row.optionalText(7),
        newestAt: WallTime(milliseconds: row.integer(8)), createdAt: WallTime(milliseconds: row.integer(9)))
    }
  }

  package func scopes(userID: Int64) throws(StoreError) -> [StoredScope] {
    try scopes("user_id = ?", [.integer(userID)])
  }

  package func scope(userID: Int64, name: String) throws(StoreError) -> StoredScope? {
    try scopes("user_id = ? AND name = ?", [.integer(userID), .text(name)]).first
  }

  package func scope(connectionID: Int64) throws(StoreError) -> StoredScope? {
    try scopes("connection_id = ?", [.integer(connectionID)]).first
  }

  package func scope(_ id: Int64) throws(StoreError) -> StoredScope {
    guard let found = try scopes("scope_id = ?", [.integer(id)]).first else { throw .notFound(.scope) }
    return found
  }

  // All of these are part of the caller's transaction.

  /// The user must not have a scope of this name yet.
  package func insertScope(
    _ settings: ScopeSettings, userID: Int64, connectionID: Int64, address: String, at time: WallTime
  ) throws(StoreError) {
    _ = try insert(
      """
      INSERT INTO scopes (user_id, connection_id, name, address, service_key, version, commands, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(userID), .integer(connectionID), .text(settings.name), .text(address), .blob(settings.serviceKey),
        .integer(settings.version), .optional(settings.commands), .integer(time.milliseconds),
      ])
  }

  package func update(scope id: Int64, _ settings: ScopeSettings) throws(StoreError) {
    try run(
      "UPDATE scopes SET service_key = ?, version = ?, commands = ? WHERE scope_id = ?",
      [.blob(settings.serviceKey), .integer(settings.version), .optional(settings.commands), .integer(id)])
  }

  package func noteNewest(_ time: WallTime, scope id: Int64) throws(StoreError) {
    try run(
      "UPDATE scopes SET newest_at = max(newest_at, ?) WHERE scope_id = ?", [.integer(time.milliseconds), .integer(id)])
  }
}
