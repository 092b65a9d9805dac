/// Names of the settings in the store.
enum Setting {
  static let relay = "relay"
  static let server = "ntfServer"
  static let appSettings = "appSettings"
  static let previewMode = "ntfPreviewMode"
  static let appLock = "appLock"
  /// When all mailboxes were last checked, in milliseconds since 1970.
  static let lastPoll = "lastPoll"
  /// The newest entry of the ledger whose event an app's host has taken.
  static let toldThrough = "toldThrough"
  /// The name of the app's last opening of the store.
  static let opening = "opening"
  static let strings = "ntfStrings"
}
