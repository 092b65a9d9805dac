import PorterJSON

/// The answer of `chat_migrate_init`. Only `ok` comes with a controller.
package enum MigrationResult: Hashable, Sendable {
  /// A migration to apply, and whether it can be undone.
  package struct Step: Hashable, Sendable {
    package var name: String
    package var canBeUndone: Bool
    package init(name: String, canBeUndone: Bool) {
      self.name = name
      self.canBeUndone = canBeUndone
    }
  }

  package enum Obstacle: Hashable, Sendable {
    /// The store is older than the library, and the confirmation did not allow changing it.
    case upgrade([Step])
    /// The store is newer, and these of its migrations cannot be undone.
    case noWayDown([String])
  }

  case ok
  case invalidConfirmation
  case errorNotADatabase(file: String)
  case errorMigration(file: String, Obstacle)
  case errorSQL(file: String, reason: String)
  case agentError(AgentError)
  /// Failures that the interface has no word for, as `errorNotADatabase` or `errorSQL` with the member `np`.
  case nightporter(file: String, NightporterError)

  /// Includes a notification that an extension shows for a store that does not open.
  package func json(notice: JSONValue?) -> JSONValue {
    guard case .object(var members) = json else { return json }
    members["notice"] = notice
    return .object(members)
  }

  package var json: JSONValue {
    switch self {
    case .ok: .tagged("ok")
    case .invalidConfirmation: .tagged("invalidConfirmation")
    case .errorNotADatabase(let file): .tagged("errorNotADatabase", ["dbFile": .string(file)])
    case .errorMigration(let file, let obstacle):
      .tagged("errorMigration", ["dbFile": .string(file), "migrationError": obstacle.json])
    case .errorSQL(let file, let reason):
      .tagged("errorSQL", ["dbFile": .string(file), "migrationSQLError": .string(reason)])
    case .agentError(let error): .tagged("agentError", ["agentError": error.json])
    case .nightporter(let file, let error) where error.isNotADatabase:
      .tagged("errorNotADatabase", ["dbFile": .string(file), "np": error.json["np"]])
    case .nightporter(let file, let error):
      .tagged(
        "errorSQL", ["dbFile": .string(file), "migrationSQLError": .string(error.message), "np": error.json["np"]])
    }
  }
}

extension MigrationResult.Obstacle {
  var json: JSONValue {
    switch self {
    case .upgrade(let steps):
      .tagged(
        "upgrade",
        [
          "upMigrations": .array(
            steps.map { .compact(["upName": .string($0.name), "withDown": .bool($0.canBeUndone)]) })
        ])
    case .noWayDown(let names):
      .tagged("migrationError", ["mtrError": .tagged("noDown", ["dbMigrations": .array(names.map(JSONValue.string))])])
    }
  }
}
