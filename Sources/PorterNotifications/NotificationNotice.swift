/// The reason why messages cannot be shown, for a user who would otherwise get no notification. It names no profile and
/// no contact: if the store cannot be read, the message's recipient is unknown.
package enum NotificationNotice: Hashable, Sendable, CaseIterable {
  /// Something arrived, and there was no time to examine it.
  case event
  /// The device has not been unlocked since it started.
  case locked
  /// The user stopped the chat.
  case appStopped
  /// The store's key is missing, or a different one.
  case noPassphrase
  /// The store is older or newer than the program.
  case migration
  /// The store is damaged, or fails.
  case database

  /// The same for all notices, so a later one replaces an earlier one.
  package static let identifier = "np:notice"

  package var content: NotificationContent {
    NotificationContent(
      identifier: Self.identifier, title: .phrase(title), body: .phrase(advice), category: .connectionEvent)
  }

  package func content(isHeard: Bool) -> NotificationContent {
    var content = content
    content.isHeard = isHeard
    return content
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
