import PorterJSON

/// An app's settings, kept in the store. The core reads two of them, because it decides what a notification may show
/// (INC-45); all others are the app's own, and returned unchanged.
package struct AppSettings: Hashable, Sendable {
  package enum PreviewMode: String, Hashable, Sendable, CaseIterable {
    case message, contact, hidden
  }

  private var members: JSONObject

  package init() { members = JSONObject() }

  /// Nil if a member that the core reads has an unknown value: what may be shown is never guessed.
  package init?(_ members: JSONObject) {
    self.members = members
    let mode = members[Self.previewMode] ?? .null
    guard mode == .null || mode.stringValue.flatMap(PreviewMode.init) != nil else { return nil }
    let lock = members[Self.appLock] ?? .null
    guard lock == .null || lock.boolValue != nil else { return nil }
  }

  package init?(text: String) {
    guard case .object(let members)? = try? JSONValue(parsing: text) else { return nil }
    self.init(members)
  }

  package var previewMode: PreviewMode? { members[Self.previewMode]?.stringValue.flatMap(PreviewMode.init) }
  package var hasAppLock: Bool? { members[Self.appLock]?.boolValue }

  /// These settings, with missing ones taken from `others`.
  package func completed(with others: AppSettings) -> AppSettings {
    var result = self
    for (name, value) in others.members.members where (members[name] ?? .null) == .null {
      result.members[name] = value
    }
    return result
  }

  /// The defaults where neither the store nor the app sets a value.
  package static let defaults = AppSettings(
    members: JSONObject([(previewMode, .string(PreviewMode.message.rawValue)), (appLock, .bool(false))]))

  private init(members: JSONObject) { self.members = members }

  package var json: JSONValue { .object(members) }

  private static let previewMode = "notificationPreviewMode"
  private static let appLock = "appLock"
}
