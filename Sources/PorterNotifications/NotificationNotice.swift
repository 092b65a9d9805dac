/// What keeps messages from being shown, for a user who would otherwise hear nothing. It names no profile and no contact: where
/// the store cannot be read, it is not known whom the message is for.
package enum NotificationNotice: Hashable, Sendable, CaseIterable {
  /// Something came, and there was no time to look into it.
  case event
  /// The device has not been unlocked since it was started.
  case locked
  /// The user stopped the chat.
  case appStopped
  /// The store has no key, or another one.
  case noPassphrase
  /// The store is older or newer than the program.
  case migration
  /// The store is damaged, or fails.
  case database

  /// One for all notices, so that a later one replaces an earlier one.
  package static let identifier = "np:notice"

  package var content: NotificationContent {
    NotificationContent(
      identifier: Self.identifier, title: .phrase(title), body: .phrase(advice), category: .connectionEvent)
  }

  private var title: Phrase {
    switch self {
    case .event: .encryptedMessage
    case .locked: .encryptedLocked
    case .appStopped: .encryptedStopped
    case .noPassphrase: .encryptedNoPassphrase
    case .migration: .encryptedMigration
    case .database: .encryptedDatabase
    }
  }

  private var advice: Phrase {
    switch self {
    case .event: .openToReceive
    case .locked: .unlockToReceive
    case .appStopped: .startToReceive
    case .noPassphrase: .openForPassphrase
    case .migration: .openToUpdate
    case .database: .openToRepair
    }
  }
}
