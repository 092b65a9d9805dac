import PorterJSON

extension Command {
  static let settingsRules: [Rule] = [
    Rule("/_save app settings") { (cursor) throws(ChatError) in .saveAppSettings(try appSettings(&cursor)) },
    Rule("/_get app settings") { (cursor) throws(ChatError) in
      .getAppSettings(cursor.isAtEnd ? AppSettings() : try appSettings(&cursor))
    },
  ]

  private static func appSettings(_ cursor: inout CommandCursor) throws(ChatError) -> AppSettings {
    guard case .object(let members) = try cursor.spaceAndJSON("settings") else {
      throw cursor.failure("settings as a JSON object")
    }
    guard let settings = AppSettings(members) else {
      throw cursor.failure("notificationPreviewMode (message, contact or hidden) and appLock (true or false)")
    }
    return settings
  }
}
