import PorterJSON

/// A profile of this store's owner. A store may hold several; one is active.
package struct UserRecord: Hashable, Sendable {
  package var id: Int64
  /// The contact row that represents the user.
  package var contactID: Int64
  package var localDisplayName: String
  package var profile: ProfileRecord
  package var isActive: Bool
  /// Increases each time the profile becomes active, so that the most recently used one sorts last.
  package var activeOrder: Int64
  /// Set for a hidden profile, which is shown only to a user with its password.
  package var viewPassword: PasswordHash?
  package var showsNotifications: Bool
  package var sendsReceipts: Bool

  /// Both are base64url.
  package struct PasswordHash: Hashable, Sendable {
    package var hash: String
    package var salt: String
    package init(hash: String, salt: String) {
      self.hash = hash
      self.salt = salt
    }
  }

  package init(
    id: Int64, contactID: Int64, localDisplayName: String, profile: ProfileRecord, isActive: Bool, activeOrder: Int64,
    viewPassword: PasswordHash? = nil, showsNotifications: Bool = true, sendsReceipts: Bool = true
  ) {
    self.id = id
    self.contactID = contactID
    self.localDisplayName = localDisplayName
    self.profile = profile
    self.isActive = isActive
    self.activeOrder = activeOrder
    self.viewPassword = viewPassword
    self.showsNotifications = showsNotifications
    self.sendsReceipts = sendsReceipts
  }

  /// The `User` shape.
  package var json: JSONValue {
    .compact([
      "userId": .integer(id),
      "agentUserId": .integer(id),
      "userContactId": .integer(contactID),
      "localDisplayName": .string(localDisplayName),
      "profile": profile.json,
      "fullPreferences": (profile.profile.preferences ?? Preferences()).fullJSON,
      "activeUser": .bool(isActive),
      "activeOrder": .integer(activeOrder),
      "viewPwdHash": viewPassword.map { .compact(["hash": .string($0.hash), "salt": .string($0.salt)]) },
      "showNtfs": .bool(showsNotifications),
      "sendRcptsContacts": .bool(sendsReceipts),
      "sendRcptsSmallGroups": .bool(sendsReceipts),
      "autoAcceptMemberContacts": .bool(false),
      "userChatRelay": .bool(false),
      "clientService": .bool(false),
    ])
  }
}

/// A row of the profile list.
package struct UserSummary: Hashable, Sendable {
  package var user: UserRecord
  package var unreadCount: Int64

  package init(user: UserRecord, unreadCount: Int64) {
    self.user = user
    self.unreadCount = unreadCount
  }

  /// The `UserInfo` shape.
  package var json: JSONValue { .compact(["user": user.json, "unreadCount": .integer(unreadCount)]) }
}
