/// Names of the settings in the store.
enum Setting {
  static let relay = "relay"
  static let server = "ntfServer"
  static let appSettings = "appSettings"
  static let previewMode = "ntfPreviewMode"
  static let appLock = "appLock"
  static let strings = "ntfStrings"
}
