import PorterJSON

/// The answer to a command that succeeded.
package enum Response: Hashable, Sendable {
  case activeUser(UserRecord)
  case usersList([UserSummary])
  /// `user` issued the command, `updated` is the one whose settings changed; they may be the same.
  case userPrivacy(user: UserRecord, updated: UserRecord)
  case userProfileUpdated(UserRecord, ProfileChange)
  case userProfileNoChange(UserRecord)

  case chatStarted
  case chatRunning
  case chatStopped
  case cmdOk(UserRecord?)

  case apiChats(UserRecord, [ChatRecord])
  case apiChat(UserRecord, ChatRecord, NavigationInfo?)
  case itemsReadForChat(UserRecord, ChatInfo)
  case newChatItems(UserRecord, [ChatItemInChat])
  case chatItemUpdated(UserRecord, ChatItemInChat)
  case chatItemNotChanged(UserRecord, ChatItemInChat)
  case chatItemsDeleted(UserRecord, [ChatItemDeletion])
  case chatItemReaction(UserRecord, isAdded: Bool, ReactionInChat)

  case invitation(UserRecord, link: String, PendingConnectionRecord)
  /// `incognito` is the profile that the other side sees instead of the user's own.
  case sentConfirmation(UserRecord, PendingConnectionRecord, incognito: Profile? = nil)
  case sentInvitation(UserRecord, PendingConnectionRecord, incognito: Profile? = nil)
  case contactAlreadyExists(UserRecord, ContactRecord)
  case connectionPlan(UserRecord, link: String, ConnectionPlan)
  case contactsList(UserRecord, [ContactRecord])
  case contactDeleted(UserRecord, ContactRecord)
  case contactConnectionDeleted(UserRecord, PendingConnectionRecord)
  case contactAliasUpdated(UserRecord, ContactRecord)
  case contactPrefsUpdated(UserRecord, from: ContactRecord, to: ContactRecord)
  /// Groups are not supported; the list is always empty.
  case groupsList(UserRecord)
  case connectionAliasUpdated(UserRecord, PendingConnectionRecord)

  case userContactLinkCreated(UserRecord, link: String)
  case userContactLink(UserRecord, AddressRecord)
  case userContactLinkUpdated(UserRecord, AddressRecord)
  case userContactLinkDeleted(UserRecord)
  case acceptingContactRequest(UserRecord, ContactRecord)
  case contactRequestRejected(UserRecord, UserContactRequest)

  case ntfToken(DeviceToken, TokenStatus, NotificationMode, server: String)
  case ntfTokenStatus(TokenStatus)
  case ntfConns([NotifiedConnection])
  case connNtfMessages([ReceivedNotification])
  case serverTestResult(UserRecord, server: String, failure: ServerTestFailure?)
  case ntfScope(ScopeRecord)
  case ntfScopes([ScopeRecord])
  case ntfScopePushes([HandedPush])

  case appSettings(AppSettings)
  /// From `np_notification_response`.
  case notificationResponse(ResponseReport)

  case callInvitations([CallInvitation])

  package var json: JSONValue {
    switch self {
    case .activeUser(let user): .about(user, "activeUser")
    case .usersList(let users): .tagged("usersList", ["users": .array(users.map(\.json))])
    case .userPrivacy(let user, let updated): .about(user, "userPrivacy", ["updatedUser": updated.json])
    case .userProfileUpdated(let user, let change): .about(user, "userProfileUpdated", change.members)
    case .userProfileNoChange(let user): .about(user, "userProfileNoChange")
    case .chatStarted: .tagged("chatStarted")
    case .chatRunning: .tagged("chatRunning")
    case .chatStopped: .tagged("chatStopped")
    case .cmdOk(let user): .tagged("cmdOk", ["user_": user?.json])
    case .apiChats(let user, let chats): .about(user, "apiChats", ["chats": .array(chats.map(\.json))])
    case .apiChat(let user, let chat, let place):
      .about(user, "apiChat", ["chat": chat.json, "navInfo": place?.json])
    case .itemsReadForChat(let user, let chat): .about(user, "itemsReadForChat", ["chatInfo": chat.json])
    case .newChatItems(let user, let items): .about(user, "newChatItems", ["chatItems": .array(items.map(\.json))])
    case .chatItemUpdated(let user, let item): .about(user, "chatItemUpdated", ["chatItem": item.json])
    case .chatItemNotChanged(let user, let item): .about(user, "chatItemNotChanged", ["chatItem": item.json])
    case .chatItemsDeleted(let user, let deletions):
      .itemsDeleted(user, deletions, byUser: true, isTimed: false)
    case .chatItemReaction(let user, let isAdded, let reaction):
      .about(user, "chatItemReaction", ["added": .bool(isAdded), "reaction": reaction.json])
    case .invitation(let user, let link, let connection):
      .about(
        user, "invitation",
        ["connLinkInvitation": .compact(["connFullLink": .string(link)]), "connection": connection.json])
    case .sentConfirmation(let user, let connection, let incognito):
      .about(user, "sentConfirmation", ["connection": connection.json, "customUserProfile": incognito?.json])
    case .sentInvitation(let user, let connection, let incognito):
      .about(user, "sentInvitation", ["connection": connection.json, "customUserProfile": incognito?.json])
    case .contactAlreadyExists(let user, let contact):
      .about(user, "contactAlreadyExists", ["contact": contact.json])
    case .connectionPlan(let user, let link, let plan):
      .about(
        user, "connectionPlan",
        ["connLink": .compact(["connFullLink": .string(link)]), "connectionPlan": plan.json])
    case .contactsList(let user, let contacts):
      .about(user, "contactsList", ["contacts": .array(contacts.map(\.json))])
    case .contactDeleted(let user, let contact): .about(user, "contactDeleted", ["contact": contact.json])
    case .contactConnectionDeleted(let user, let connection):
      .about(user, "contactConnectionDeleted", ["connection": connection.json])
    case .contactPrefsUpdated(let user, let from, let to):
      .about(user, "contactPrefsUpdated", ["fromContact": from.json, "toContact": to.json])
    case .groupsList(let user): .about(user, "groupsList", ["groups": .array([])])
    case .contactAliasUpdated(let user, let contact):
      .about(user, "contactAliasUpdated", ["toContact": contact.json])
    case .connectionAliasUpdated(let user, let connection):
      .about(user, "connectionAliasUpdated", ["toConnection": connection.json])
    case .userContactLinkCreated(let user, let link):
      .about(user, "userContactLinkCreated", ["connLinkContact": .compact(["connFullLink": .string(link)])])
    case .userContactLink(let user, let address): .about(user, "userContactLink", ["contactLink": address.json])
    case .userContactLinkUpdated(let user, let address):
      .about(user, "userContactLinkUpdated", ["contactLink": address.json])
    case .userContactLinkDeleted(let user): .about(user, "userContactLinkDeleted")
    case .acceptingContactRequest(let user, let contact):
      .about(user, "acceptingContactRequest", ["contact": contact.json])
    case .contactRequestRejected(let user, let request):
      .about(user, "contactRequestRejected", ["contactRequest": request.json])
    case .ntfToken(let token, let status, let mode, let server):
      .tagged(
        "ntfToken",
        [
          "token": token.json, "status": .string(status.rawValue), "ntfMode": .string(mode.rawValue),
          "ntfServer": .string(server),
        ])
    case .ntfTokenStatus(let status): .tagged("ntfTokenStatus", ["status": .string(status.rawValue)])
    case .ntfConns(let connections): .tagged("ntfConns", ["ntfConns": .array(connections.map(\.json))])
    case .connNtfMessages(let messages):
      .tagged("connNtfMessages", ["receivedMsgs": .array(messages.map(\.json))])
    case .serverTestResult(let user, let server, let failure):
      .about(user, "serverTestResult", ["testServer": .string(server), "testFailure": failure?.json])
    case .ntfScope(let scope): .tagged("ntfScope", ["scope": scope.json])
    case .ntfScopes(let scopes): .tagged("ntfScopes", ["scopes": .array(scopes.map(\.json))])
    case .ntfScopePushes(let pushes):
      .tagged("ntfScopePushes", ["applicationPushes": .array(pushes.map(\.json))])
    case .appSettings(let settings): .tagged("appSettings", ["appSettings": settings.json])
    case .notificationResponse(let report): report.answerJSON
    case .callInvitations(let calls):
      .tagged("callInvitations", ["callInvitations": .array(calls.map(\.json))])
    }
  }
}

/// How a profile changed, and how many contacts could be notified.
package struct ProfileChange: Hashable, Sendable {
  package var from: Profile
  package var to: Profile
  package var successes: Int64
  package var failures: Int64
  package var changedContacts: [ContactRecord]

  package init(from: Profile, to: Profile, successes: Int64, failures: Int64, changedContacts: [ContactRecord]) {
    self.from = from
    self.to = to
    self.successes = successes
    self.failures = failures
    self.changedContacts = changedContacts
  }

  var members: KeyValuePairs<String, JSONValue?> {
    [
      "fromProfile": from.json,
      "toProfile": to.json,
      "updateSummary": .compact([
        "updateSuccesses": .integer(successes),
        "updateFailures": .integer(failures),
        "changedContacts": .array(changedContacts.map(\.json)),
      ]),
    ]
  }
}

extension JSONValue {
  /// A tagged value that begins with the user it belongs to.
  static func about(
    _ user: UserRecord, _ tag: String, _ members: KeyValuePairs<String, JSONValue?> = [:]
  ) -> JSONValue {
    var object = JSONObject([("type", .string(tag)), ("user", user.json)])
    for case (let name, let value?) in members { object[name] = value }
    return .object(object)
  }
}

/// The target of an invitation link.
package enum InvitationPlan: Hashable, Sendable {
  case ok
  case ownLink
  case connecting(ContactRecord?)
  case known(ContactRecord)

  /// The `InvitationLinkPlan` shape.
  package var json: JSONValue {
    switch self {
    case .ok: .tagged("ok")
    case .ownLink: .tagged("ownLink")
    case .connecting(let contact): .tagged("connecting", ["contact_": contact?.json])
    case .known(let contact): .tagged("known", ["contact": contact.json])
    }
  }
}

/// The target of an address link. SimpleX's `contactViaAddress`, a contact without a connection, cannot occur: each
/// contact here is created with its connection.
package enum AddressPlan: Hashable, Sendable {
  case ok
  case ownLink
  /// Already asked, but not answered: asking again changes nothing for the other side.
  case connectingConfirmReconnect
  /// The other side has accepted; the contact is about to be connected.
  case connectingProhibit(ContactRecord)
  case known(ContactRecord)

  /// The `ContactAddressPlan` shape.
  package var json: JSONValue {
    switch self {
    case .ok: .tagged("ok")
    case .ownLink: .tagged("ownLink")
    case .connectingConfirmReconnect: .tagged("connectingConfirmReconnect")
    case .connectingProhibit(let contact): .tagged("connectingProhibit", ["contact": contact.json])
    case .known(let contact): .tagged("known", ["contact": contact.json])
    }
  }
}

/// The target of a link.
package enum ConnectionPlan: Hashable, Sendable {
  case invitation(InvitationPlan)
  case address(AddressPlan)
  /// Connecting would fail with this error.
  case error(ChatError)

  package var json: JSONValue {
    switch self {
    case .invitation(let plan): .tagged("invitationLink", ["invitationLinkPlan": plan.json])
    case .address(let plan): .tagged("contactAddress", ["contactAddressPlan": plan.json])
    case .error(let error): .tagged("error", ["chatError": error.json])
    }
  }
}

/// The step at which the test of a server failed.
package struct ServerTestFailure: Hashable, Sendable {
  package enum Step: String, Hashable, Sendable, CaseIterable {
    case connect, createQueue, deleteQueue, disconnect
  }
  package var step: Step
  package var error: AgentError

  package init(step: Step, error: AgentError) {
    self.step = step
    self.error = error
  }

  package var json: JSONValue { .compact(["testStep": .string(step.rawValue), "testError": error.json]) }
}

/// A command's answer as it crosses the C interface: exactly one of `result` and `error`.
package enum Answer: Hashable, Sendable {
  case result(Response)
  case error(ChatError)

  package var json: JSONValue {
    switch self {
    case .result(let response): .compact(["result": response.json])
    case .error(let error): .compact(["error": error.json])
    }
  }

  package var text: String { json.text }
}
