import PorterSchema

/// Why an extension cannot say what a push is about.
package enum Obstacle: Hashable, Sendable, CaseIterable {
  case noPassphrase, migration, database, keychain, unexpected
  /// The user has stopped the app: what arrives waits until it is started.
  case appStopped
  /// Nothing is wrong, and nothing is known either.
  case unknownEvent

  /// Nil for a store that opened.
  package init?(_ result: MigrationResult) {
    switch result {
    case .ok: return nil
    case .invalidConfirmation: self = .unknownEvent
    case .errorNotADatabase, .nightporter(_, .storeKeyMissing), .nightporter(_, .storeKeyWrong),
      .nightporter(_, .storeKeyNotRaw), .nightporter(_, .storeKeyForgotten):
      self = .noPassphrase
    case .errorMigration: self = .migration
    case .errorSQL, .nightporter: self = .database
    case .agentError: self = .unexpected
    }
  }

  package var title: Phrase {
    switch self {
    case .noPassphrase: .noPassphrase
    case .migration: .migrationError
    case .database: .databaseError
    case .keychain: .keychainError
    case .unexpected: .unexpectedError
    case .appStopped: .appStopped
    case .unknownEvent: .anyEvent
    }
  }

  /// One identifier for all: a second push that meets an obstacle takes the first one's place.
  package var content: NotificationContent {
    NotificationContent(
      identifier: "np:obstacle", title: .phrase(title), body: .none, category: .connectionEvent)
  }
}
