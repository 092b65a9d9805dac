import PorterJSON
import PorterPlatform

/// A host's request through `chat_send_cmd`. `spec/protocol/commands.md` has the grammar and the answers.
package enum Command: Hashable, Sendable {
  // Profiles.
  case showActiveUser
  /// Without a profile, the engine creates one.
  case createUser(Profile?)
  case listUsers
  case setActiveUser(Int64, password: SecretText?)
  case hideUser(Int64, password: SecretText)
  case unhideUser(Int64, password: SecretText)
  case muteUser(Int64)
  case unmuteUser(Int64)
  case deleteUser(Int64, deletesMailboxes: Bool, password: SecretText?)
  case updateProfile(Int64, Profile)

  // Life of the controller.
  case startChat(mainApp: Bool, sendsFiles: Bool)
  case stopChat
  case checkRunning
  case activateChat(restores: Bool)
  /// Zero means immediately, and without the event.
  case suspendChat(Span)
  /// Whether an extension keeps its store's files open between two pushes, without a lock on them.
  case setDozing(Bool)
  case setPhase(HostPhase)
  case resubscribeAll
  case setFilePaths(FilePaths)
  case encryptFiles(Bool)
  case setNetwork(NetworkSettings)
  /// The host's view of the network; nothing here depends on it.
  case setNetworkInformation
  case deleteStorage
  case encryptStorage(currentKey: SecretText, newKey: SecretText)

  // Push notifications.
  case getToken
  case registerToken(DeviceToken, NotificationMode)
  case verifyToken(DeviceToken, nonce: [UInt8], code: [UInt8])
  case checkToken(DeviceToken)
  case deleteToken(DeviceToken)
  case notifiedConnections(nonce: [UInt8], sealed: [UInt8])
  case connectionMessages([ConnectionMessageRequest])
  case testNotificationServer(ServerAddress)
  /// A scope for the host's own pushes; like all of these, for the active profile.
  case subscribeScope(ScopeRequest)
  case listScopes
  case deleteScope(String)
  case listApplicationPushes(scope: String)
  case settleApplicationPushes([Int64])

  // Conversations.
  case getChats(user: Int64, pendingConnections: Bool, ChatListPage, ChatListQuery)
  case getChat(ChatReference, ChatPage, search: String?)
  case readChat(ChatReference)
  case readItems(ChatReference, [Int64])
  case readUser(Int64)
  case markUnread(ChatReference, Bool)
  case setChatSettings(ChatReference, ChatSettings)
  case send(ChatReference, [ComposedMessage], SendOptions = SendOptions())
  /// To the active user's contact with that name.
  case sendByName(String, ComposedMessage)
  case deleteChat(ChatReference, ChatDeletion, notifies: Bool)
  case updateItem(ChatReference, Int64, UpdatedMessage, live: Bool)
  case deleteItems(ChatReference, [Int64], ItemDeletion)
  case react(ChatReference, Int64, add: Bool, MessageReaction)
  /// Whether contacts learn that their messages arrived; a setting of the profile.
  case setReceipts(Int64, Bool, overridesContacts: Bool)

  // Contacts.
  /// Incognito: the other side sees a profile made up for it.
  case addContact(user: UserSelection, incognito: Bool = false)
  case connect(user: UserSelection, link: SecretText, incognito: Bool = false)
  case connectionPlan(user: Int64, link: SecretText)
  case listContacts(UserSelection)
  case setContactAlias(Int64, String)
  case setConnectionAlias(Int64, String)
  /// The host's own data; nil removes it.
  case setCustomData(Int64, JSONObject?)
  /// The features the user allows this contact in particular.
  case setContactPreferences(Int64, Preferences)
  /// Groups are not supported; the answer is an empty list.
  case listGroups(Int64)

  // The user's address, and the requests that come through it.
  case createAddress(UserSelection)
  case showAddress(UserSelection)
  case deleteAddress(UserSelection)
  /// Whether contacts see the address in the user's profile.
  case setProfileAddress(Int64, Bool)
  case setAddressSettings(Int64, AddressSettings)
  case acceptContact(Int64, incognito: Bool)
  case rejectContact(Int64)

  // The app's settings.
  case saveAppSettings(AppSettings)
  /// With the app's own defaults for settings that were never saved.
  case getAppSettings(AppSettings)

  // Calls.
  case getCalls
  case call(Int64, CallCommand)
}

/// The profile a command concerns.
package enum UserSelection: Hashable, Sendable {
  case active
  case id(Int64)
}

package enum HostPhase: String, Hashable, Sendable, CaseIterable {
  case active, background, suspended
}

/// A conversation, as commands name it.
package enum ChatReference: Hashable, Sendable {
  case contact(Int64)
  case pendingConnection(Int64)
  case group(Int64)
  case noteFolder(Int64)
}

/// The host's file locations. There are no files here, so they have no effect.
package struct FilePaths: Hashable, Sendable {
  package var files: String
  package var temporary: String
  package var assets: String

  package init(files: String, temporary: String, assets: String) {
    self.files = files
    self.temporary = temporary
    self.assets = assets
  }
}

/// The settings of `/_network`. An absent member changes nothing.
package struct NetworkSettings: Hashable, Sendable {
  package var relay: RelayAddress?
  /// Takes effect only if the store names no relay yet.
  package var defaultRelay: RelayAddress?
  package var notificationServer: ServerAddress?

  package init(
    relay: RelayAddress? = nil, defaultRelay: RelayAddress? = nil, notificationServer: ServerAddress? = nil
  ) {
    self.relay = relay
    self.defaultRelay = defaultRelay
    self.notificationServer = notificationServer
  }
}

/// The conversations of a list to return.
package enum ChatListPage: Hashable, Sendable {
  case last(Int64)
  case after(WallTime, count: Int64)
  case before(WallTime, count: Int64)
}

package enum ChatListQuery: Hashable, Sendable {
  /// Both may be given; a conversation that matches either is returned.
  case filters(favorite: Bool, unread: Bool)
  case search(String)

  package static let all = ChatListQuery.filters(favorite: false, unread: false)
}

/// The messages of a conversation to return.
package enum ChatPage: Hashable, Sendable {
  case last(Int64)
  case after(Int64, count: Int64)
  case before(Int64, count: Int64)
  case around(Int64, count: Int64)
  /// Around the first unread message.
  case initial(Int64)
}

package struct ComposedMessage: Hashable, Sendable {
  package var content: MessageContent
  package var quotedItemID: Int64?
  /// The names it mentions.
  package var mentions: [String]

  package init(_ content: MessageContent, quotedItemID: Int64? = nil, mentions: [String] = []) {
    self.content = content
    self.quotedItemID = quotedItemID
    self.mentions = mentions
  }
}

/// The part of a conversation to delete.
package enum ChatDeletion: String, Hashable, Sendable, CaseIterable {
  case full, entity, messages
}

/// Asks for the message that a push announced.
package struct ConnectionMessageRequest: Hashable, Sendable {
  package var agentConnectionID: String
  package var queueID: Int64
  package var timestamp: WallTime

  package init(agentConnectionID: String, queueID: Int64, timestamp: WallTime) {
    self.agentConnectionID = agentConnectionID
    self.queueID = queueID
    self.timestamp = timestamp
  }
}
