import PorterJSON
import PorterPlatform

/// Which of a conversation's messages may notify: all, none, or those that mention the user.
package enum NotificationFilter: String, Hashable, Sendable, CaseIterable {
  case none, all, mentions
}

package struct ChatSettings: Hashable, Sendable {
  package var notifications: NotificationFilter
  package var sendsReceipts: Bool?
  package var isFavorite: Bool

  package init(notifications: NotificationFilter = .all, sendsReceipts: Bool? = nil, isFavorite: Bool = false) {
    self.notifications = notifications
    self.sendsReceipts = sendsReceipts
    self.isFavorite = isFavorite
  }

  package var json: JSONValue {
    .compact([
      "enableNtfs": .string(notifications.rawValue),
      "sendRcpts": sendsReceipts.map(JSONValue.bool),
      "favorite": .bool(isFavorite),
    ])
  }
}

package struct ContactRecord: Hashable, Sendable {
  package enum Status: String, Hashable, Sendable, CaseIterable {
    /// `deleted`: by the contact.
    case active, deleted, deletedByUser
  }

  package var id: Int64
  /// Unique among a user's contacts; the name in `@name text`.
  package var localDisplayName: String
  package var profile: ProfileRecord
  package var connection: ConnectionRecord?
  package var isUsed: Bool
  package var status: Status
  package var settings: ChatSettings
  /// The features the user allows this contact in particular.
  package var userPreferences: Preferences
  /// The features the user allows contacts in general.
  package var usersPreferences: Preferences
  /// The host's own data.
  package var customData: JSONObject?
  package var created: WallTime
  package var updated: WallTime
  package var lastItem: WallTime?
  package var isChatDeleted: Bool

  package init(
    id: Int64, localDisplayName: String, profile: ProfileRecord, connection: ConnectionRecord?, isUsed: Bool = true,
    status: Status = .active, settings: ChatSettings = ChatSettings(), userPreferences: Preferences = Preferences(),
    usersPreferences: Preferences = Preferences(), customData: JSONObject? = nil, created: WallTime, updated: WallTime,
    lastItem: WallTime? = nil, isChatDeleted: Bool = false
  ) {
    self.id = id
    self.localDisplayName = localDisplayName
    self.profile = profile
    self.connection = connection
    self.isUsed = isUsed
    self.status = status
    self.settings = settings
    self.userPreferences = userPreferences
    self.usersPreferences = usersPreferences
    self.customData = customData
    self.created = created
    self.updated = updated
    self.lastItem = lastItem
    self.isChatDeleted = isChatDeleted
  }

  /// The displayed name: the alias given on this side, or else the contact's own name.
  package var shownName: String {
    profile.localAlias.isEmpty ? profile.profile.displayName : profile.localAlias
  }

  /// The `Contact` shape.
  package var json: JSONValue {
    .compact([
      "contactId": .integer(id),
      "localDisplayName": .string(localDisplayName),
      "profile": profile.json,
      "activeConn": connection?.json,
      "contactUsed": .bool(isUsed),
      "contactStatus": .string(status.rawValue),
      "chatSettings": settings.json,
      "userPreferences": userPreferences.json,
      "mergedPreferences": usersPreferences.overridden(by: userPreferences).merged(
        with: profile.profile.preferences ?? Preferences()),
      "createdAt": .string(created.iso8601),
      "updatedAt": .string(updated.iso8601),
      "chatTs": lastItem.map { .string($0.iso8601) },
      "contactGrpInvSent": .bool(false),
      "chatTags": .array([]),
      "chatDeleted": .bool(isChatDeleted),
      "customData": customData.map(JSONValue.object),
    ])
  }
}
