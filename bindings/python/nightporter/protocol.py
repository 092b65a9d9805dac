"""The objects of the interface. Written by tools/generate_types.py from spec/protocol/*.schema.json."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union


class NotificationCategory(TypedDict):
    identifier: "NotificationCategory_identifier"
    placeholder: str
    placeholderKey: str
    actions: list["CategoryAction"]


class CategoryAction(TypedDict):
    identifier: "CategoryAction_identifier"
    action: "CategoryAction_action"
    title: str
    titleKey: str
    foreground: bool
    authenticationRequired: bool
    destructive: bool
    textInput: bool


class Categories(TypedDict):
    """What np_categories gives: the categories of notifications with their actions."""

    categories: list["NotificationCategory"]


class ErrorType_noActiveUser(TypedDict):
    type: Literal["noActiveUser"]


class ErrorType_userUnknown(TypedDict):
    type: Literal["userUnknown"]


class ErrorType_userExists(TypedDict):
    type: Literal["userExists"]
    contactName: str


class ErrorType_differentActiveUser(TypedDict):
    type: Literal["differentActiveUser"]
    commandUserId: int
    activeUserId: int


class ErrorType_cantDeleteActiveUser(TypedDict):
    type: Literal["cantDeleteActiveUser"]
    userId: int


class ErrorType_cantHideLastUser(TypedDict):
    type: Literal["cantHideLastUser"]
    userId: int


class ErrorType_hiddenUserAlwaysMuted(TypedDict):
    type: Literal["hiddenUserAlwaysMuted"]
    userId: int


class ErrorType_emptyUserPassword(TypedDict):
    type: Literal["emptyUserPassword"]
    userId: int


class ErrorType_userAlreadyHidden(TypedDict):
    type: Literal["userAlreadyHidden"]
    userId: int


class ErrorType_userNotHidden(TypedDict):
    type: Literal["userNotHidden"]
    userId: int


class ErrorType_invalidDisplayName(TypedDict):
    type: Literal["invalidDisplayName"]
    displayName: str
    validName: str


class ErrorType_chatNotStarted(TypedDict):
    type: Literal["chatNotStarted"]


class ErrorType_chatNotStopped(TypedDict):
    type: Literal["chatNotStopped"]


class ErrorType_chatStoreChanged(TypedDict):
    type: Literal["chatStoreChanged"]


class ErrorType_invalidConnReq(TypedDict):
    type: Literal["invalidConnReq"]


class ErrorType_unsupportedConnReq(TypedDict):
    type: Literal["unsupportedConnReq"]


class ErrorType_contactNotReady(TypedDict):
    type: Literal["contactNotReady"]
    contact: "Contact"


class ErrorType_contactNotActive(TypedDict):
    type: Literal["contactNotActive"]
    contact: "Contact"


class ErrorType_invalidChatItemUpdate(TypedDict):
    type: Literal["invalidChatItemUpdate"]


class ErrorType_invalidChatItemDelete(TypedDict):
    type: Literal["invalidChatItemDelete"]


class ErrorType_noCurrentCall(TypedDict):
    type: Literal["noCurrentCall"]


class ErrorType_commandError(TypedDict):
    type: Literal["commandError"]
    message: str


class ErrorType_internalError(TypedDict):
    type: Literal["internalError"]
    message: str


class AgentError_CMD_cmdErr_PROHIBITED(TypedDict):
    type: Literal["PROHIBITED"]


class AgentError_CMD_cmdErr_SYNTAX(TypedDict):
    type: Literal["SYNTAX"]


class AgentError_CMD_cmdErr_NO_CONN(TypedDict):
    type: Literal["NO_CONN"]


class AgentError_CMD_cmdErr_SIZE(TypedDict):
    type: Literal["SIZE"]


class AgentError_CMD_cmdErr_LARGE(TypedDict):
    type: Literal["LARGE"]


class AgentError_CMD(TypedDict):
    type: Literal["CMD"]
    cmdErr: "AgentError_CMD_cmdErr"
    errContext: str


class AgentError_CONN_connErr_NOT_FOUND(TypedDict):
    type: Literal["NOT_FOUND"]


class AgentError_CONN_connErr_DUPLICATE(TypedDict):
    type: Literal["DUPLICATE"]


class AgentError_CONN_connErr_SIMPLEX(TypedDict):
    type: Literal["SIMPLEX"]


class AgentError_CONN_connErr_NOT_ACCEPTED(TypedDict):
    type: Literal["NOT_ACCEPTED"]


class AgentError_CONN_connErr_NOT_AVAILABLE(TypedDict):
    type: Literal["NOT_AVAILABLE"]


class AgentError_CONN(TypedDict):
    type: Literal["CONN"]
    connErr: "AgentError_CONN_connErr"
    errContext: str


class AgentError_NO_USER(TypedDict):
    type: Literal["NO_USER"]


class AgentError_SMP(TypedDict):
    """The relay refused."""

    type: Literal["SMP"]
    serverAddress: str
    smpErr: "ServerAnswer"


class AgentError_NTF(TypedDict):
    """The notification server refused."""

    type: Literal["NTF"]
    serverAddress: str
    ntfErr: "ServerAnswer"


class AgentError_BROKER(TypedDict):
    """A server could not be asked."""

    type: Literal["BROKER"]
    brokerAddress: str
    brokerErr: "BrokerError"


class AgentError_AGENT(TypedDict):
    """A contact's message was wrong."""

    type: Literal["AGENT"]
    agentErr: "MessageError"


class AgentError_INTERNAL(TypedDict):
    type: Literal["INTERNAL"]
    internalErr: str


class AgentError_CRITICAL(TypedDict):
    type: Literal["CRITICAL"]
    offerRestart: bool
    criticalErr: str


class AgentError_INACTIVE(TypedDict):
    type: Literal["INACTIVE"]


class ServerAnswer_BLOCK(TypedDict):
    type: Literal["BLOCK"]


class ServerAnswer_SESSION(TypedDict):
    type: Literal["SESSION"]


class ServerAnswer_AUTH(TypedDict):
    type: Literal["AUTH"]


class ServerAnswer_CRYPTO(TypedDict):
    type: Literal["CRYPTO"]


class ServerAnswer_QUOTA(TypedDict):
    type: Literal["QUOTA"]


class ServerAnswer_NO_MSG(TypedDict):
    type: Literal["NO_MSG"]


class ServerAnswer_LARGE_MSG(TypedDict):
    type: Literal["LARGE_MSG"]


class ServerAnswer_EXPIRED(TypedDict):
    type: Literal["EXPIRED"]


class ServerAnswer_SERVICE(TypedDict):
    type: Literal["SERVICE"]


class ServerAnswer_INTERNAL(TypedDict):
    type: Literal["INTERNAL"]


class ServerAnswer_CMD_cmdErr_SYNTAX(TypedDict):
    type: Literal["SYNTAX"]


class ServerAnswer_CMD_cmdErr_PROHIBITED(TypedDict):
    type: Literal["PROHIBITED"]


class ServerAnswer_CMD_cmdErr_UNKNOWN(TypedDict):
    type: Literal["UNKNOWN"]


class ServerAnswer_CMD(TypedDict):
    type: Literal["CMD"]
    cmdErr: "ServerAnswer_CMD_cmdErr"


class ServerAnswer_STORE(TypedDict):
    type: Literal["STORE"]
    storeErr: str


class BrokerError_RESPONSE(TypedDict):
    type: Literal["RESPONSE"]
    respErr: str


class BrokerError_UNEXPECTED(TypedDict):
    type: Literal["UNEXPECTED"]
    respErr: str


class BrokerError_NETWORK_networkError(TypedDict):
    type: Literal["connectError"]
    connectError: str


class BrokerError_NETWORK(TypedDict):
    type: Literal["NETWORK"]
    networkError: "BrokerError_NETWORK_networkError"


class BrokerError_HOST(TypedDict):
    type: Literal["HOST"]


class BrokerError_TRANSPORT_transportErr_version(TypedDict):
    type: Literal["version"]


class BrokerError_TRANSPORT(TypedDict):
    type: Literal["TRANSPORT"]
    transportErr: "BrokerError_TRANSPORT_transportErr_version"


class BrokerError_TIMEOUT(TypedDict):
    type: Literal["TIMEOUT"]


class MessageError_A_MESSAGE(TypedDict):
    type: Literal["A_MESSAGE"]


class MessageError_A_VERSION(TypedDict):
    type: Literal["A_VERSION"]


class MessageError_A_DUPLICATE(TypedDict):
    type: Literal["A_DUPLICATE"]


class MessageError_A_PROHIBITED(TypedDict):
    type: Literal["A_PROHIBITED"]
    prohibitedErr: str


class MessageError_A_LINK(TypedDict):
    type: Literal["A_LINK"]
    linkErr: str


class MessageError_A_CRYPTO_cryptoErr_DECRYPT_CB(TypedDict):
    type: Literal["DECRYPT_CB"]


class MessageError_A_CRYPTO_cryptoErr_RATCHET_HEADER(TypedDict):
    type: Literal["RATCHET_HEADER"]


class MessageError_A_CRYPTO(TypedDict):
    type: Literal["A_CRYPTO"]
    cryptoErr: "MessageError_A_CRYPTO_cryptoErr"


class MessageError_A_QUEUE(TypedDict):
    type: Literal["A_QUEUE"]
    queueErr: str


class StoreError_duplicateName(TypedDict):
    type: Literal["duplicateName"]


class StoreError_userNotFound(TypedDict):
    type: Literal["userNotFound"]
    userId: int


class StoreError_userNotFoundByName(TypedDict):
    type: Literal["userNotFoundByName"]
    contactName: str


class StoreError_contactNotFound(TypedDict):
    type: Literal["contactNotFound"]
    contactId: int


class StoreError_contactNotFoundByName(TypedDict):
    type: Literal["contactNotFoundByName"]
    contactName: str


class StoreError_contactNotReady(TypedDict):
    type: Literal["contactNotReady"]
    contactName: str


class StoreError_duplicateContactLink(TypedDict):
    type: Literal["duplicateContactLink"]


class StoreError_userContactLinkNotFound(TypedDict):
    type: Literal["userContactLinkNotFound"]


class StoreError_contactRequestNotFound(TypedDict):
    type: Literal["contactRequestNotFound"]
    contactRequestId: int


class StoreError_groupNotFound(TypedDict):
    type: Literal["groupNotFound"]
    groupId: int


class StoreError_groupNotFoundByName(TypedDict):
    type: Literal["groupNotFoundByName"]
    groupName: str


class StoreError_noteFolderNotFound(TypedDict):
    type: Literal["noteFolderNotFound"]
    noteFolderId: int


class StoreError_connectionNotFound(TypedDict):
    type: Literal["connectionNotFound"]
    agentConnId: str


class StoreError_connectionNotFoundById(TypedDict):
    type: Literal["connectionNotFoundById"]
    connId: int


class StoreError_pendingConnectionNotFound(TypedDict):
    type: Literal["pendingConnectionNotFound"]
    connId: int


class StoreError_profileNotFound(TypedDict):
    type: Literal["profileNotFound"]
    profileId: int


class StoreError_chatItemNotFound(TypedDict):
    type: Literal["chatItemNotFound"]
    itemId: int


class StoreError_badChatItem(TypedDict):
    type: Literal["badChatItem"]
    itemId: int


class StoreError_invalidQuote(TypedDict):
    type: Literal["invalidQuote"]


class StoreError_uniqueID(TypedDict):
    type: Literal["uniqueID"]


class StoreError_largeMsg(TypedDict):
    type: Literal["largeMsg"]


class StoreError_internalError(TypedDict):
    type: Literal["internalError"]
    message: str


class StoreError_dBException(TypedDict):
    type: Literal["dBException"]
    message: str


class StoreError_dBBusyError(TypedDict):
    """Another process held the store for too long; the text names it."""

    type: Literal["dBBusyError"]
    message: str


class DatabaseError_errorEncrypted(TypedDict):
    type: Literal["errorEncrypted"]


class DatabaseError_errorPlaintext(TypedDict):
    type: Literal["errorPlaintext"]


class DatabaseError_errorNoFile(TypedDict):
    type: Literal["errorNoFile"]
    dbFile: str


class DatabaseError_errorExport_sqliteError_errorNotADatabase(TypedDict):
    type: Literal["errorNotADatabase"]


class DatabaseError_errorExport_sqliteError_error(TypedDict):
    type: Literal["error"]
    dbError: str


class DatabaseError_errorExport(TypedDict):
    type: Literal["errorExport"]
    sqliteError: "DatabaseError_errorExport_sqliteError"


class DatabaseError_errorOpen_sqliteError_errorNotADatabase(TypedDict):
    type: Literal["errorNotADatabase"]


class DatabaseError_errorOpen_sqliteError_error(TypedDict):
    type: Literal["error"]
    dbError: str


class DatabaseError_errorOpen(TypedDict):
    type: Literal["errorOpen"]
    sqliteError: "DatabaseError_errorOpen_sqliteError"


class Detail(TypedDict):
    """What Nightporter says beyond the shape of the interface. code is stable; advice says what to do."""

    code: "Detail_code"
    advice: str
    position: NotRequired[int]
    expected: NotRequired[str]
    bytes: NotRequired[int]
    limit: NotRequired[int]
    what: NotRequired[str]
    key: NotRequired[str]
    holder: NotRequired[str]
    file: NotRequired[str]
    page: NotRequired[int]


class Error_error(TypedDict):
    type: Literal["error"]
    errorType: "ErrorType"
    np: NotRequired["Detail"]


class Error_errorAgent(TypedDict):
    type: Literal["errorAgent"]
    agentError: "AgentError"
    agentConnId: str
    np: NotRequired["Detail"]


class Error_errorStore(TypedDict):
    type: Literal["errorStore"]
    storeError: "StoreError"
    np: NotRequired["Detail"]


class Error_errorDatabase(TypedDict):
    type: Literal["errorDatabase"]
    databaseError: "DatabaseError"
    np: NotRequired["Detail"]


class Event_contactConnecting(TypedDict):
    type: Literal["contactConnecting"]
    user: "User"
    contact: "Contact"


class Event_contactSndReady(TypedDict):
    type: Literal["contactSndReady"]
    user: "User"
    contact: "Contact"


class Event_contactConnected(TypedDict):
    type: Literal["contactConnected"]
    user: "User"
    contact: "Contact"
    userCustomProfile: NotRequired["Profile"]


class Event_receivedContactRequest(TypedDict):
    type: Literal["receivedContactRequest"]
    user: "User"
    contactRequest: "UserContactRequest"


class Event_acceptingContactRequest(TypedDict):
    """A request was accepted: by the address itself, or by the user while the relay could not be reached."""

    type: Literal["acceptingContactRequest"]
    user: "User"
    contact: "Contact"


class Event_contactRequestWithdrawn(TypedDict):
    """The person has taken the request back."""

    type: Literal["contactRequestWithdrawn"]
    user: "User"
    contactRequest: "UserContactRequest"


class Event_contactDeletedByContact(TypedDict):
    type: Literal["contactDeletedByContact"]
    user: "User"
    contact: "Contact"


class Event_contactUpdated(TypedDict):
    type: Literal["contactUpdated"]
    user: "User"
    fromContact: "Contact"
    toContact: "Contact"


class Event_newChatItems(TypedDict):
    type: Literal["newChatItems"]
    user: "User"
    chatItems: list["ChatItemInChat"]


class Event_notifications_notifications(TypedDict):
    notification: "Notification"
    presentation: list[Literal["sound", "banner", "list"]]


class Event_notifications(TypedDict):
    """What an app on screen shows of what the events before it are about, which counts as shown; and what it
    removes, since it was read, deleted or is over. The next answer to a push or round names that once more. The
    profile is the active one where something is removed, and left out while none is active, such as after the
    last one was deleted.
    """

    type: Literal["notifications"]
    user: NotRequired["User"]
    notifications: list["Event_notifications_notifications"]
    withdrawals: list[str]
    badge: int


class Event_chatItemUpdated(TypedDict):
    type: Literal["chatItemUpdated"]
    user: "User"
    chatItem: "ChatItemInChat"


class Event_chatItemsStatusesUpdated(TypedDict):
    type: Literal["chatItemsStatusesUpdated"]
    user: "User"
    chatItems: list["ChatItemInChat"]


class Event_chatItemsDeleted(TypedDict):
    type: Literal["chatItemsDeleted"]
    user: "User"
    chatItemDeletions: list["ChatItemDeletion"]
    byUser: bool
    timed: bool


class Event_chatItemReaction(TypedDict):
    type: Literal["chatItemReaction"]
    user: "User"
    added: bool
    reaction: "ReactionInChat"


class Event_ntfMessage_ntfMessage(TypedDict):
    msgId: str
    msgTs_: NotRequired[str]


class Event_ntfMessage(TypedDict):
    """The message that a push spoke of has been taken from the relay and acknowledged."""

    type: Literal["ntfMessage"]
    user: "User"
    connEntity: "ConnectionEntity"
    ntfMessage: "Event_ntfMessage_ntfMessage"


class Event_applicationPush(TypedDict):
    """A push of the host's own, through a scope. It comes again, with the same pushId, when the app ends before the
    host has taken it.
    """

    type: Literal["applicationPush"]
    applicationPush: "ApplicationPush"


class Event_callInvitation(TypedDict):
    type: Literal["callInvitation"]
    callInvitation: "RcvCallInvitation"


class Event_callOffer(TypedDict):
    """The contact has accepted. askConfirmation: it cannot encrypt the media, and our host can."""

    type: Literal["callOffer"]
    user: "User"
    contact: "Contact"
    callType: "CallType"
    offer: "WebRTCSession"
    sharedKey: NotRequired[str]
    askConfirmation: bool


class Event_callAnswer(TypedDict):
    type: Literal["callAnswer"]
    user: "User"
    contact: "Contact"
    answer: "WebRTCSession"


class Event_callExtraInfo_extraInfo(TypedDict):
    rtcIceCandidates: str


class Event_callExtraInfo(TypedDict):
    type: Literal["callExtraInfo"]
    user: "User"
    contact: "Contact"
    extraInfo: "Event_callExtraInfo_extraInfo"


class Event_callEnded(TypedDict):
    """The contact has hung up, or the invitation's time was up."""

    type: Literal["callEnded"]
    user: "User"
    contact: "Contact"


class Event_ntfResponse(TypedDict):
    """What the user did with a notification was carried out, or could not be; where to navigate."""

    type: Literal["ntfResponse"]
    responseId: int
    action: "NotificationAction"
    outcome: Literal["applied", "stale"]
    reason: NotRequired["StaleReason"]
    userId: NotRequired[int]
    chatId: NotRequired[str]
    contactRequestId: NotRequired[int]


class Event_chatSuspended(TypedDict):
    """Nothing of the store is open or locked any more."""

    type: Literal["chatSuspended"]


class Event_ntfTokenStatus(TypedDict):
    """The device token has another status at the notification server."""

    type: Literal["ntfTokenStatus"]
    status: "TokenStatus"
    reason: NotRequired[str]


class Event_subscriptionStatus(TypedDict):
    """Connections whose push subscription has another status at the notification server."""

    type: Literal["subscriptionStatus"]
    server: str
    subscriptionStatus: "SubscriptionStatus"
    connections: list[str]


class Event_messageError(TypedDict):
    """A message did not open. It is kept with the reason, and not shown."""

    type: Literal["messageError"]
    user: "User"
    severity: str
    errorMessage: str


class Event_chatErrors(TypedDict):
    """What kept a part of a command from being done, while the rest was: a damaged record."""

    type: Literal["chatErrors"]
    chatErrors: list["Error"]


class Event_eventsLost(TypedDict):
    """The host did not read for so long that this many of the oldest events gave way."""

    type: Literal["eventsLost"]
    count: int


class MigrationResult_ok(TypedDict):
    type: Literal["ok"]


class MigrationResult_invalidConfirmation(TypedDict):
    type: Literal["invalidConfirmation"]


class MigrationResult_errorNotADatabase(TypedDict):
    type: Literal["errorNotADatabase"]
    dbFile: str
    notice: NotRequired[dict[str, Any]]
    np: NotRequired["Detail"]


class MigrationResult_errorMigration_migrationError_upgrade_upMigrations(TypedDict):
    upName: str
    withDown: bool


class MigrationResult_errorMigration_migrationError_upgrade(TypedDict):
    """The store is older than the library."""

    type: Literal["upgrade"]
    upMigrations: list["MigrationResult_errorMigration_migrationError_upgrade_upMigrations"]


class MigrationResult_errorMigration_migrationError_migrationError_mtrError_noDown(TypedDict):
    type: Literal["noDown"]
    dbMigrations: list[str]


class MigrationResult_errorMigration_migrationError_migrationError(TypedDict):
    type: Literal["migrationError"]
    mtrError: "MigrationResult_errorMigration_migrationError_migrationError_mtrError_noDown"


class MigrationResult_errorMigration(TypedDict):
    type: Literal["errorMigration"]
    dbFile: str
    notice: NotRequired[dict[str, Any]]
    migrationError: "MigrationResult_errorMigration_migrationError"


class MigrationResult_errorSQL(TypedDict):
    type: Literal["errorSQL"]
    dbFile: str
    notice: NotRequired[dict[str, Any]]
    migrationSQLError: str
    np: NotRequired["Detail"]


class MigrationResult_agentError(TypedDict):
    type: Literal["agentError"]
    notice: NotRequired[dict[str, Any]]
    agentError: "AgentError"


class Notification_titleArguments(TypedDict):
    """A phrase within the phrase."""

    key: str


class Notification_bodyArguments(TypedDict):
    """A phrase within the phrase."""

    key: str


class Notification_userInfo(TypedDict):
    """What a tap needs to find its way."""

    chatId: NotRequired[str]
    contactRequestId: NotRequired[int]
    userId: NotRequired[int]
    agentConnId: NotRequired[str]


class Notification(TypedDict):
    """An element of `notifications` in the answer of np_receive_push."""

    identifier: str
    title: str
    titleKey: NotRequired[str]
    titleArguments: NotRequired[list[Union[str, int, "Notification_titleArguments"]]]
    body: str
    bodyKey: NotRequired[str]
    bodyArguments: NotRequired[list[Union[str, int, "Notification_bodyArguments"]]]
    categoryIdentifier: "Notification_categoryIdentifier"
    targetContentIdentifier: NotRequired[str]
    threadIdentifier: NotRequired[str]
    userInfo: "Notification_userInfo"
    sound: NotRequired[Literal["default"]]
    badge: NotRequired[int]


class TraceStep(TypedDict):
    """One step of a machine on the way to the outcome."""

    us: int
    machine: str
    event: str
    state: str


class PushAnswer(TypedDict):
    """What np_receive_push and np_background_refresh give."""

    outcome: "PushAnswer_outcome"
    reason: str
    work: Literal["ran", "partial", "skipped"]
    holders: NotRequired[list[str]]
    notifications: list["Notification"]
    withdrawals: list[str]
    applicationPushes: NotRequired[list["ApplicationPush"]]
    badge: NotRequired[int]
    recorded: NotRequired[bool]
    quiescent: bool
    nextRefreshMs: NotRequired[int]
    trace: list["TraceStep"]


class Response_activeUser(TypedDict):
    type: Literal["activeUser"]
    user: "User"


class Response_usersList(TypedDict):
    type: Literal["usersList"]
    users: list["UserInfo"]


class Response_userPrivacy(TypedDict):
    type: Literal["userPrivacy"]
    user: "User"
    updatedUser: "User"


class Response_userProfileUpdated_updateSummary(TypedDict):
    updateSuccesses: int
    updateFailures: int
    changedContacts: list["Contact"]


class Response_userProfileUpdated(TypedDict):
    type: Literal["userProfileUpdated"]
    user: "User"
    fromProfile: "Profile"
    toProfile: "Profile"
    updateSummary: "Response_userProfileUpdated_updateSummary"


class Response_userProfileNoChange(TypedDict):
    type: Literal["userProfileNoChange"]
    user: "User"


class Response_chatStarted(TypedDict):
    type: Literal["chatStarted"]


class Response_chatRunning(TypedDict):
    type: Literal["chatRunning"]


class Response_chatStopped(TypedDict):
    type: Literal["chatStopped"]


class Response_cmdOk(TypedDict):
    type: Literal["cmdOk"]
    user_: NotRequired["User"]


class Response_apiChats(TypedDict):
    type: Literal["apiChats"]
    user: "User"
    chats: list["Chat"]


class Response_apiChat(TypedDict):
    type: Literal["apiChat"]
    user: "User"
    chat: "Chat"
    navInfo: NotRequired["NavigationInfo"]


class Response_itemsReadForChat(TypedDict):
    type: Literal["itemsReadForChat"]
    user: "User"
    chatInfo: "ChatInfo"


class Response_newChatItems(TypedDict):
    type: Literal["newChatItems"]
    user: "User"
    chatItems: list["ChatItemInChat"]


class Response_chatItemUpdated(TypedDict):
    type: Literal["chatItemUpdated"]
    user: "User"
    chatItem: "ChatItemInChat"


class Response_chatItemNotChanged(TypedDict):
    type: Literal["chatItemNotChanged"]
    user: "User"
    chatItem: "ChatItemInChat"


class Response_chatItemsDeleted(TypedDict):
    type: Literal["chatItemsDeleted"]
    user: "User"
    chatItemDeletions: list["ChatItemDeletion"]
    byUser: bool
    timed: bool


class Response_chatItemReaction(TypedDict):
    type: Literal["chatItemReaction"]
    user: "User"
    added: bool
    reaction: "ReactionInChat"


class Response_invitation(TypedDict):
    type: Literal["invitation"]
    user: "User"
    connLinkInvitation: "CreatedConnLink"
    connection: "PendingContactConnection"


class Response_sentConfirmation(TypedDict):
    type: Literal["sentConfirmation"]
    user: "User"
    connection: "PendingContactConnection"
    customUserProfile: NotRequired["Profile"]


class Response_contactPrefsUpdated(TypedDict):
    type: Literal["contactPrefsUpdated"]
    user: "User"
    fromContact: "Contact"
    toContact: "Contact"


class Response_groupsList(TypedDict):
    type: Literal["groupsList"]
    user: "User"
    groups: list[Any]


class Response_sentInvitation(TypedDict):
    type: Literal["sentInvitation"]
    user: "User"
    connection: "PendingContactConnection"
    customUserProfile: NotRequired["Profile"]


class Response_userContactLinkCreated(TypedDict):
    type: Literal["userContactLinkCreated"]
    user: "User"
    connLinkContact: "CreatedConnLink"


class Response_userContactLink(TypedDict):
    type: Literal["userContactLink"]
    user: "User"
    contactLink: "UserContactLink"


class Response_userContactLinkUpdated(TypedDict):
    type: Literal["userContactLinkUpdated"]
    user: "User"
    contactLink: "UserContactLink"


class Response_userContactLinkDeleted(TypedDict):
    type: Literal["userContactLinkDeleted"]
    user: "User"


class Response_acceptingContactRequest(TypedDict):
    type: Literal["acceptingContactRequest"]
    user: "User"
    contact: "Contact"


class Response_contactRequestRejected(TypedDict):
    type: Literal["contactRequestRejected"]
    user: "User"
    contactRequest: "UserContactRequest"


class Response_contactAlreadyExists(TypedDict):
    type: Literal["contactAlreadyExists"]
    user: "User"
    contact: "Contact"


class Response_connectionPlan(TypedDict):
    type: Literal["connectionPlan"]
    user: "User"
    connLink: "CreatedConnLink"
    connectionPlan: "ConnectionPlan"


class Response_contactsList(TypedDict):
    type: Literal["contactsList"]
    user: "User"
    contacts: list["Contact"]


class Response_contactDeleted(TypedDict):
    type: Literal["contactDeleted"]
    user: "User"
    contact: "Contact"


class Response_contactConnectionDeleted(TypedDict):
    type: Literal["contactConnectionDeleted"]
    user: "User"
    connection: "PendingContactConnection"


class Response_contactAliasUpdated(TypedDict):
    type: Literal["contactAliasUpdated"]
    user: "User"
    toContact: "Contact"


class Response_connectionAliasUpdated(TypedDict):
    type: Literal["connectionAliasUpdated"]
    user: "User"
    toConnection: "PendingContactConnection"


class Response_ntfToken(TypedDict):
    type: Literal["ntfToken"]
    token: "DeviceToken"
    status: "TokenStatus"
    ntfMode: Literal["INSTANT", "PERIODIC"]
    ntfServer: str


class Response_ntfTokenStatus(TypedDict):
    type: Literal["ntfTokenStatus"]
    status: "TokenStatus"


class Response_ntfConns(TypedDict):
    type: Literal["ntfConns"]
    ntfConns: list["NtfConnection"]


class Response_connNtfMessages(TypedDict):
    type: Literal["connNtfMessages"]
    receivedMsgs: list["ReceivedNtfMessage"]


class Response_ntfScope(TypedDict):
    type: Literal["ntfScope"]
    scope: "Scope"


class Response_ntfScopes(TypedDict):
    type: Literal["ntfScopes"]
    scopes: list["Scope"]


class Response_ntfScopePushes(TypedDict):
    type: Literal["ntfScopePushes"]
    applicationPushes: list["ApplicationPush"]


class Response_serverTestResult_testFailure(TypedDict):
    testStep: Literal["connect", "createQueue", "deleteQueue", "disconnect"]
    testError: "AgentError"


class Response_serverTestResult(TypedDict):
    type: Literal["serverTestResult"]
    user: "User"
    testServer: str
    testFailure: NotRequired["Response_serverTestResult_testFailure"]


class Response_appSettings_appSettings(TypedDict):
    notificationPreviewMode: Literal["message", "contact", "hidden"]
    appLock: bool


class Response_appSettings(TypedDict):
    type: Literal["appSettings"]
    appSettings: "Response_appSettings_appSettings"


class Response_notificationResponse(TypedDict):
    """Of np_notification_response."""

    type: Literal["notificationResponse"]
    responseId: int
    action: "NotificationAction"
    outcome: Literal["waiting", "applying", "applied", "stale"]
    reason: NotRequired["StaleReason"]
    repeated: bool
    refresh: NotRequired[bool]


class Response_callInvitations(TypedDict):
    type: Literal["callInvitations"]
    callInvitations: list["RcvCallInvitation"]


class ClaimState(TypedDict):
    connection: int
    state: str
    epoch: NotRequired[int]


class NotificationState_token(TypedDict):
    """Left out without a device token."""

    status: str
    mode: str
    reason: NotRequired[str]
    reasonTs: NotRequired[str]


class NotificationState(TypedDict):
    """How the pushes are. Left out while the store is closed."""

    token: NotRequired["NotificationState_token"]
    subscriptions: dict[str, int]


class PresenceState(TypedDict):
    """The process of the other role."""

    role: Literal["app", "extension"]
    state: str
    working: bool
    phase: NotRequired[str]
    instance: NotRequired[str]
    process: NotRequired[int]


class ChannelState(TypedDict):
    """This process's end of the channel to others; left out while it is closed."""

    name: str
    sent: int
    received: int
    rejected: int
    repeated: int


class OwnerState(TypedDict):
    role: str
    instance: str
    process: int
    connections: int
    self: bool


class State_operations(TypedDict):
    """How much work of each kind is under way, and the number of the cycle in which it began; a cycle ends when the
    controller is quiescent.
    """

    cycle: int
    notifications: int
    receiving: int
    delivery: int
    sending: int
    database: int


class State_blocked(TypedDict):
    """What may not begin now. In the background that is the network; it is both while the chat is suspended, or
    about to be.
    """

    network: bool
    database: bool


class State_busy(TypedDict):
    """Only when the engine has been at one thing for a second and could not be asked: what that is, and for how
    long. Then quiescent is false, eventsWaiting, pushesWaiting and presence.working are current, and the rest is
    as it was when it began. Left out are unread, relay, notifications, channel, owners, nextRefreshMs, the
    machine token_status, and phase, instance and process of presence.
    """

    doing: str
    milliseconds: int


class State(TypedDict):
    """What np_state gives."""

    role: Literal["app", "extension", "share"]
    quiescent: bool
    holds: list[str]
    operations: "State_operations"
    blocked: "State_blocked"
    machines: dict[str, str]
    instance: str
    unread: NotRequired[int]
    relay: NotRequired[str]
    notifications: NotRequired["NotificationState"]
    presence: "PresenceState"
    channel: NotRequired["ChannelState"]
    claims: list["ClaimState"]
    owners: NotRequired[list["OwnerState"]]
    nextRefreshMs: NotRequired[int]
    eventsWaiting: int
    pushesWaiting: int
    busy: NotRequired["State_busy"]


class User_viewPwdHash(TypedDict):
    """Of a hidden profile; base64url."""

    hash: str
    salt: str


class User(TypedDict):
    """A profile of the store's owner."""

    userId: int
    agentUserId: int
    userContactId: int
    localDisplayName: str
    profile: "LocalProfile"
    fullPreferences: "FullPreferences"
    activeUser: bool
    activeOrder: int
    viewPwdHash: NotRequired["User_viewPwdHash"]
    showNtfs: bool
    sendRcptsContacts: bool
    sendRcptsSmallGroups: bool
    autoAcceptMemberContacts: bool
    userChatRelay: bool
    clientService: bool


class UserInfo(TypedDict):
    user: "User"
    unreadCount: int


class Profile(TypedDict):
    """What a person shows to contacts."""

    displayName: str
    fullName: str
    shortDescr: NotRequired[str]
    image: NotRequired[str]
    preferences: NotRequired["Preferences"]
    contactLink: NotRequired[str]
    peerType: NotRequired[Literal["human", "bot"]]


class LocalProfile(TypedDict):
    """A profile as it is stored."""

    profileId: int
    displayName: str
    fullName: str
    shortDescr: NotRequired[str]
    image: NotRequired[str]
    preferences: NotRequired["Preferences"]
    contactLink: NotRequired[str]
    peerType: NotRequired[Literal["human", "bot"]]
    localAlias: str


class Preference(TypedDict):
    allow: Literal["always", "yes", "no"]


class TimedMessagesPreference(TypedDict):
    allow: Literal["always", "yes", "no"]
    ttl: NotRequired[int]


class Preferences(TypedDict):
    """Only what is set, exactly as it was."""

    timedMessages: NotRequired["TimedMessagesPreference"]
    fullDelete: NotRequired["Preference"]
    reactions: NotRequired["Preference"]
    voice: NotRequired["Preference"]
    files: NotRequired["Preference"]
    calls: NotRequired["Preference"]
    sessions: NotRequired["Preference"]
    commands: NotRequired[list[Any]]


class FullPreferences(TypedDict):
    timedMessages: "TimedMessagesPreference"
    fullDelete: "Preference"
    reactions: "Preference"
    voice: "Preference"
    files: "Preference"
    calls: "Preference"
    sessions: "Preference"
    commands: list[Any]


class ContactUserPreference_enabled(TypedDict):
    forUser: bool
    forContact: bool


class ContactUserPreference_userPreference(TypedDict):
    type: Literal["user"]
    preference: "Preference"


class ContactUserPreference(TypedDict):
    enabled: "ContactUserPreference_enabled"
    userPreference: "ContactUserPreference_userPreference"
    contactPreference: "Preference"


class ContactUserPreferences(TypedDict):
    """What both sides' preferences come to."""

    timedMessages: "ContactUserPreference"
    fullDelete: "ContactUserPreference"
    reactions: "ContactUserPreference"
    voice: "ContactUserPreference"
    files: "ContactUserPreference"
    calls: "ContactUserPreference"
    sessions: "ContactUserPreference"
    commands: NotRequired[list[Any]]


class ConnectionStatus_new(TypedDict):
    type: Literal["new"]


class ConnectionStatus_prepared(TypedDict):
    type: Literal["prepared"]


class ConnectionStatus_joined(TypedDict):
    type: Literal["joined"]


class ConnectionStatus_requested(TypedDict):
    type: Literal["requested"]


class ConnectionStatus_accepted(TypedDict):
    type: Literal["accepted"]


class ConnectionStatus_sndReady(TypedDict):
    type: Literal["sndReady"]


class ConnectionStatus_ready(TypedDict):
    type: Literal["ready"]


class ConnectionStatus_deleted(TypedDict):
    type: Literal["deleted"]


class ConnectionStatus_failed(TypedDict):
    type: Literal["failed"]
    connError: str


class Connection_peerChatVRange(TypedDict):
    minVersion: int
    maxVersion: int


class Connection(TypedDict):
    """A two-way connection."""

    connId: int
    agentConnId: str
    connChatVersion: int
    peerChatVRange: "Connection_peerChatVRange"
    connLevel: int
    viaGroupLink: bool
    customUserProfileId: NotRequired[int]
    connType: Literal["contact", "user_contact"]
    connStatus: "ConnectionStatus"
    contactConnInitiated: bool
    localAlias: str
    entityId: NotRequired[int]
    pqSupport: bool
    pqEncryption: bool
    authErrCounter: int
    quotaErrCounter: int
    createdAt: str


class CreatedConnLink(TypedDict):
    """An invitation. It holds keys: anyone who has it can accept it."""

    connFullLink: str


class PendingContactConnection(TypedDict):
    """A connection without a contact yet."""

    pccConnId: int
    pccAgentConnId: str
    pccConnStatus: "ConnectionStatus"
    viaContactUri: bool
    customUserProfileId: NotRequired[int]
    connLinkInv: NotRequired["CreatedConnLink"]
    localAlias: str
    createdAt: str
    updatedAt: str


class ChatSettings(TypedDict):
    enableNtfs: Literal["none", "all", "mentions"]
    sendRcpts: NotRequired[bool]
    favorite: bool


class Contact(TypedDict):
    contactId: int
    localDisplayName: str
    profile: "LocalProfile"
    activeConn: NotRequired["Connection"]
    contactUsed: bool
    contactStatus: Literal["active", "deleted", "deletedByUser"]
    chatSettings: "ChatSettings"
    userPreferences: "Preferences"
    mergedPreferences: "ContactUserPreferences"
    createdAt: str
    updatedAt: str
    chatTs: NotRequired[str]
    contactGrpInvSent: bool
    chatTags: list[int]
    customData: NotRequired[dict[str, Any]]
    chatDeleted: bool


class ChatInfo_direct(TypedDict):
    type: Literal["direct"]
    contact: "Contact"


class ChatInfo_contactConnection(TypedDict):
    type: Literal["contactConnection"]
    contactConnection: "PendingContactConnection"


class ChatInfo_contactRequest(TypedDict):
    type: Literal["contactRequest"]
    contactRequest: "UserContactRequest"


class ChatStats(TypedDict):
    unreadCount: int
    unreadMentions: int
    reportsCount: int
    minUnreadItemId: int
    unreadChat: bool


class SendError_auth(TypedDict):
    type: Literal["auth"]


class SendError_quota(TypedDict):
    type: Literal["quota"]


class SendError_expired(TypedDict):
    type: Literal["expired"]


class SendError_other(TypedDict):
    type: Literal["other"]
    sndError: str


class ChatItemStatus_sndNew(TypedDict):
    type: Literal["sndNew"]


class ChatItemStatus_sndSent(TypedDict):
    type: Literal["sndSent"]
    sndProgress: Literal["complete"]


class ChatItemStatus_sndRcvd(TypedDict):
    type: Literal["sndRcvd"]
    msgRcptStatus: Literal["ok"]
    sndProgress: Literal["complete"]


class ChatItemStatus_sndErrorAuth(TypedDict):
    type: Literal["sndErrorAuth"]


class ChatItemStatus_sndError(TypedDict):
    type: Literal["sndError"]
    agentError: "SendError"


class ChatItemStatus_rcvNew(TypedDict):
    type: Literal["rcvNew"]


class ChatItemStatus_rcvRead(TypedDict):
    type: Literal["rcvRead"]


class ChatItemMeta_itemDeleted(TypedDict):
    type: Literal["deleted"]
    deletedTs: NotRequired[str]
    chatType: Literal["direct"]


class ChatItemMeta(TypedDict):
    itemId: int
    itemTs: str
    itemText: str
    itemStatus: "ChatItemStatus"
    itemSharedMsgId: NotRequired[str]
    itemDeleted: NotRequired["ChatItemMeta_itemDeleted"]
    itemEdited: bool
    itemTimed: NotRequired["Timed"]
    itemLive: NotRequired[Literal[True]]
    userMention: bool
    hasLink: bool
    deletable: bool
    editable: bool
    showGroupAsSender: bool
    createdAt: str
    updatedAt: str


class LinkPreview(TypedDict):
    uri: str
    title: str
    description: str
    image: str
    content: NotRequired[dict[str, Any]]


class MessageContent_text(TypedDict):
    type: Literal["text"]
    text: str


class MessageContent_link(TypedDict):
    type: Literal["link"]
    text: str
    preview: "LinkPreview"


class MessageContent_image(TypedDict):
    type: Literal["image"]
    text: str
    image: str


class MessageContent_video(TypedDict):
    type: Literal["video"]
    text: str
    image: str
    duration: int


class MessageContent_voice(TypedDict):
    type: Literal["voice"]
    text: str
    duration: int


class MessageContent_file(TypedDict):
    type: Literal["file"]
    text: str


class MessageContent_report(TypedDict):
    type: Literal["report"]
    text: str
    reason: Literal["spam", "content", "community", "profile", "other"]


class MessageContent_unknown(TypedDict):
    """Of a kind that this library does not know; json is the whole object as it came."""

    type: Literal["unknown"]
    tag: str
    text: str
    json: dict[str, Any]


class ChatItemContent_sndMsgContent(TypedDict):
    type: Literal["sndMsgContent"]
    msgContent: "MessageContent"


class ChatItemContent_rcvMsgContent(TypedDict):
    type: Literal["rcvMsgContent"]
    msgContent: "MessageContent"


class ChatItemContent_sndCall(TypedDict):
    type: Literal["sndCall"]
    status: "CallItemStatus"
    duration: int


class ChatItemContent_rcvCall(TypedDict):
    type: Literal["rcvCall"]
    status: "CallItemStatus"
    duration: int


class CallType_capabilities(TypedDict):
    encryption: bool


class CallType(TypedDict):
    media: Literal["audio", "video"]
    capabilities: "CallType_capabilities"


class WebRTCSession(TypedDict):
    """Opaque to everything but the two hosts."""

    rtcSession: str
    rtcIceCandidates: str


class RcvCallInvitation(TypedDict):
    """A call that a contact makes."""

    user: "User"
    contact: "Contact"
    callType: "CallType"
    sharedKey: NotRequired[str]
    callUUID: str
    callTs: str


class Format_bold(TypedDict):
    type: Literal["bold"]


class Format_italic(TypedDict):
    type: Literal["italic"]


class Format_strikeThrough(TypedDict):
    type: Literal["strikeThrough"]


class Format_snippet(TypedDict):
    type: Literal["snippet"]


class Format_secret(TypedDict):
    type: Literal["secret"]


class Format_small(TypedDict):
    type: Literal["small"]


class Format_uri(TypedDict):
    type: Literal["uri"]


class Format_colored(TypedDict):
    type: Literal["colored"]
    color: Literal["red", "green", "yellow", "blue", "magenta", "cyan"]


class Format_mention(TypedDict):
    type: Literal["mention"]
    memberName: str


class FormattedText(TypedDict):
    """A run of text with one look."""

    format: NotRequired["Format"]
    text: str


class QuotedItem_chatDir_directSnd(TypedDict):
    type: Literal["directSnd"]


class QuotedItem_chatDir_directRcv(TypedDict):
    type: Literal["directRcv"]


class QuotedItem(TypedDict):
    """What a message answers. Without itemId, the quoted message is not here, or lies far back."""

    chatDir: Union["QuotedItem_chatDir_directSnd", "QuotedItem_chatDir_directRcv"]
    itemId: NotRequired[int]
    sharedMsgId: str
    sentAt: str
    content: "MessageContent"
    formattedText: NotRequired[list["FormattedText"]]


class ChatItem_chatDir_directSnd(TypedDict):
    type: Literal["directSnd"]


class ChatItem_chatDir_directRcv(TypedDict):
    type: Literal["directRcv"]


class ChatItem(TypedDict):
    """A message."""

    chatDir: Union["ChatItem_chatDir_directSnd", "ChatItem_chatDir_directRcv"]
    meta: "ChatItemMeta"
    content: "ChatItemContent"
    quotedItem: NotRequired["QuotedItem"]
    mentions: dict[str, Any]
    formattedText: NotRequired[list["FormattedText"]]
    reactions: list["ReactionCount"]


class Timed(TypedDict):
    """A message that disappears."""

    ttl: int
    deleteAt: NotRequired[str]


class MessageReaction_emoji(TypedDict):
    type: Literal["emoji"]
    emoji: str


class MessageReaction_unknown(TypedDict):
    type: Literal["unknown"]
    tag: str
    json: dict[str, Any]


class ReactionCount(TypedDict):
    reaction: "MessageReaction"
    userReacted: bool
    totalReacted: int


class ReactionInChat_chatReaction_chatDir_directSnd(TypedDict):
    type: Literal["directSnd"]


class ReactionInChat_chatReaction_chatDir_directRcv(TypedDict):
    type: Literal["directRcv"]


class ReactionInChat_chatReaction(TypedDict):
    chatDir: "ReactionInChat_chatReaction_chatDir"
    chatItem: "ChatItem"
    sentAt: str
    reaction: "MessageReaction"


class ReactionInChat(TypedDict):
    chatInfo: "ChatInfo"
    chatReaction: "ReactionInChat_chatReaction"


class Chat(TypedDict):
    """A conversation with some of its messages, oldest first."""

    chatInfo: "ChatInfo"
    chatItems: list["ChatItem"]
    chatStats: "ChatStats"


class ChatItemInChat(TypedDict):
    chatInfo: "ChatInfo"
    chatItem: "ChatItem"


class ChatItemDeletion(TypedDict):
    deletedChatItem: "ChatItemInChat"
    toChatItem: NotRequired["ChatItemInChat"]


class NavigationInfo(TypedDict):
    afterUnread: int
    afterTotal: int


class DeviceToken(TypedDict):
    pushProvider: Literal["apns_dev", "apns_prod", "apns_test", "webpush", "apns_null"]
    token: str


class NtfMessage(TypedDict):
    """Names a message at the relay."""

    msgId: str
    msgTs: str
    flags: NotRequired["NtfMessageFlags"]


class NtfMessageFlags(TypedDict):
    """Of a message that was fetched."""

    notification: bool
    more: NotRequired[bool]


class ConnectionEntity_rcvDirectMsgConnection(TypedDict):
    type: Literal["rcvDirectMsgConnection"]
    entityConnection: "Connection"
    contact: NotRequired["Contact"]


class ConnectionEntity_userContactConnection_userContact(TypedDict):
    userContactLinkId: int
    connReqContact: str


class ConnectionEntity_userContactConnection(TypedDict):
    """The user's address."""

    type: Literal["userContactConnection"]
    entityConnection: "Connection"
    userContact: "ConnectionEntity_userContactConnection_userContact"


class NtfConnection(TypedDict):
    """A connection that a push says got something."""

    user: "User"
    agentConnId: str
    agentDbQueueId: int
    connEntity: "ConnectionEntity"
    expectedMsg_: NotRequired["NtfMessage"]


class ReceivedNtfMessage_info(TypedDict):
    type: Literal["info"]
    ntfMsgInfo: NotRequired["NtfMessage"]


class ReceivedNtfMessage_error(TypedDict):
    type: Literal["error"]
    ntfMsgError: "AgentError"


class InvitationLinkPlan_ok(TypedDict):
    type: Literal["ok"]


class InvitationLinkPlan_ownLink(TypedDict):
    type: Literal["ownLink"]


class InvitationLinkPlan_connecting(TypedDict):
    type: Literal["connecting"]
    contact_: NotRequired["Contact"]


class InvitationLinkPlan_known(TypedDict):
    type: Literal["known"]
    contact: "Contact"


class ContactAddressPlan_ok(TypedDict):
    type: Literal["ok"]


class ContactAddressPlan_ownLink(TypedDict):
    type: Literal["ownLink"]


class ContactAddressPlan_connectingConfirmReconnect(TypedDict):
    """Asked already, and not answered."""

    type: Literal["connectingConfirmReconnect"]


class ContactAddressPlan_connectingProhibit(TypedDict):
    """The other side has accepted, and is about to be connected."""

    type: Literal["connectingProhibit"]
    contact: "Contact"


class ContactAddressPlan_known(TypedDict):
    type: Literal["known"]
    contact: "Contact"


class ConnectionPlan_invitationLink(TypedDict):
    type: Literal["invitationLink"]
    invitationLinkPlan: "InvitationLinkPlan"


class ConnectionPlan_contactAddress(TypedDict):
    type: Literal["contactAddress"]
    contactAddressPlan: "ContactAddressPlan"


class ConnectionPlan_error(TypedDict):
    """Connecting would fail with this."""

    type: Literal["error"]
    chatError: "Error"


class AddressSettings_autoAccept(TypedDict):
    acceptIncognito: bool


class AddressSettings(TypedDict):
    """Exactly as they were set."""

    businessAddress: NotRequired[bool]
    autoAccept: NotRequired["AddressSettings_autoAccept"]
    autoReply: NotRequired["MessageContent"]


class UserContactLink(TypedDict):
    """The user's address."""

    userContactLinkId: int
    connLinkContact: "CreatedConnLink"
    shortLinkDataSet: bool
    shortLinkLargeDataSet: bool
    addressSettings: "AddressSettings"


class Scope(TypedDict):
    """A mailbox through which a service of the host's sends pushes of its own."""

    userId: int
    name: str
    address: str
    publicKey: str
    serviceKey: str
    version: int
    commands: NotRequired[list[str]]
    unsettled: int
    createdAt: str


class ApplicationPush(TypedDict):
    """A push of the host's own."""

    pushId: int
    userId: int
    scope: str
    outcome: Literal["current", "expired", "unknownVersion", "unknownCommand"]
    envelope: "ApplicationEnvelope"
    arrivedAt: str


class ApplicationEnvelope(TypedDict):
    """What the service sent."""

    id: str
    version: int
    command: str
    expires: int
    sender: NotRequired[str]
    url: NotRequired[str]
    data: NotRequired[Any]


class UserContactRequest_cReqChatVRange(TypedDict):
    minVersion: int
    maxVersion: int


class UserContactRequest(TypedDict):
    """A person who asks, through the user's address, to become a contact."""

    contactRequestId: int
    agentInvitationId: str
    contactId_: NotRequired[int]
    userContactLinkId_: NotRequired[int]
    cReqChatVRange: "UserContactRequest_cReqChatVRange"
    localDisplayName: str
    profileId: int
    profile: "LocalProfile"
    createdAt: str
    updatedAt: str
    pqSupport: bool


class SubscriptionStatus_active(TypedDict):
    type: Literal["active"]


class SubscriptionStatus_pending(TypedDict):
    type: Literal["pending"]


class SubscriptionStatus_removed(TypedDict):
    type: Literal["removed"]
    subError: str


class SubscriptionStatus_noSub(TypedDict):
    type: Literal["noSub"]


NotificationCategory_identifier: TypeAlias = Literal[
    "NTF_CAT_CONTACT_REQUEST",
    "NTF_CAT_CONTACT_CONNECTED",
    "NTF_CAT_MESSAGE_RECEIVED",
    "NTF_CAT_CALL_INVITATION",
    "NTF_CAT_CONNECTION_EVENT",
    "NTF_CAT_MANY_EVENTS",
    "NTF_CAT_CHECK_MESSAGE",
]

CategoryAction_identifier: TypeAlias = Literal[
    "NTF_ACT_ACCEPT_CONTACT",
    "NTF_ACT_ACCEPT_CONTACT_INCOGNITO",
    "NTF_ACT_REJECT_CONTACT",
    "NTF_ACT_ACCEPT_CALL",
    "NTF_ACT_REJECT_CALL",
    "NTF_ACT_MARK_READ",
    "NTF_ACT_REPLY",
]

# The word in answers and events.
CategoryAction_action: TypeAlias = Literal[
    "acceptContact",
    "acceptContactIncognito",
    "rejectContact",
    "acceptCall",
    "rejectCall",
    "markRead",
    "reply",
]

ErrorType: TypeAlias = Union[
    "ErrorType_noActiveUser",
    "ErrorType_userUnknown",
    "ErrorType_userExists",
    "ErrorType_differentActiveUser",
    "ErrorType_cantDeleteActiveUser",
    "ErrorType_cantHideLastUser",
    "ErrorType_hiddenUserAlwaysMuted",
    "ErrorType_emptyUserPassword",
    "ErrorType_userAlreadyHidden",
    "ErrorType_userNotHidden",
    "ErrorType_invalidDisplayName",
    "ErrorType_chatNotStarted",
    "ErrorType_chatNotStopped",
    "ErrorType_chatStoreChanged",
    "ErrorType_invalidConnReq",
    "ErrorType_unsupportedConnReq",
    "ErrorType_contactNotReady",
    "ErrorType_contactNotActive",
    "ErrorType_invalidChatItemUpdate",
    "ErrorType_invalidChatItemDelete",
    "ErrorType_noCurrentCall",
    "ErrorType_commandError",
    "ErrorType_internalError",
]

AgentError: TypeAlias = Union[
    "AgentError_CMD",
    "AgentError_CONN",
    "AgentError_NO_USER",
    "AgentError_SMP",
    "AgentError_NTF",
    "AgentError_BROKER",
    "AgentError_AGENT",
    "AgentError_INTERNAL",
    "AgentError_CRITICAL",
    "AgentError_INACTIVE",
]

AgentError_CMD_cmdErr: TypeAlias = Union[
    "AgentError_CMD_cmdErr_PROHIBITED",
    "AgentError_CMD_cmdErr_SYNTAX",
    "AgentError_CMD_cmdErr_NO_CONN",
    "AgentError_CMD_cmdErr_SIZE",
    "AgentError_CMD_cmdErr_LARGE",
]

AgentError_CONN_connErr: TypeAlias = Union[
    "AgentError_CONN_connErr_NOT_FOUND",
    "AgentError_CONN_connErr_DUPLICATE",
    "AgentError_CONN_connErr_SIMPLEX",
    "AgentError_CONN_connErr_NOT_ACCEPTED",
    "AgentError_CONN_connErr_NOT_AVAILABLE",
]

ServerAnswer: TypeAlias = Union[
    "ServerAnswer_BLOCK",
    "ServerAnswer_SESSION",
    "ServerAnswer_AUTH",
    "ServerAnswer_CRYPTO",
    "ServerAnswer_QUOTA",
    "ServerAnswer_NO_MSG",
    "ServerAnswer_LARGE_MSG",
    "ServerAnswer_EXPIRED",
    "ServerAnswer_SERVICE",
    "ServerAnswer_INTERNAL",
    "ServerAnswer_CMD",
    "ServerAnswer_STORE",
]

ServerAnswer_CMD_cmdErr: TypeAlias = Union[
    "ServerAnswer_CMD_cmdErr_SYNTAX",
    "ServerAnswer_CMD_cmdErr_PROHIBITED",
    "ServerAnswer_CMD_cmdErr_UNKNOWN",
]

BrokerError: TypeAlias = Union[
    "BrokerError_RESPONSE",
    "BrokerError_UNEXPECTED",
    "BrokerError_NETWORK",
    "BrokerError_HOST",
    "BrokerError_TRANSPORT",
    "BrokerError_TIMEOUT",
]

MessageError: TypeAlias = Union[
    "MessageError_A_MESSAGE",
    "MessageError_A_VERSION",
    "MessageError_A_DUPLICATE",
    "MessageError_A_PROHIBITED",
    "MessageError_A_LINK",
    "MessageError_A_CRYPTO",
    "MessageError_A_QUEUE",
]

MessageError_A_CRYPTO_cryptoErr: TypeAlias = Union[
    "MessageError_A_CRYPTO_cryptoErr_DECRYPT_CB",
    "MessageError_A_CRYPTO_cryptoErr_RATCHET_HEADER",
]

StoreError: TypeAlias = Union[
    "StoreError_duplicateName",
    "StoreError_userNotFound",
    "StoreError_userNotFoundByName",
    "StoreError_contactNotFound",
    "StoreError_contactNotFoundByName",
    "StoreError_contactNotReady",
    "StoreError_duplicateContactLink",
    "StoreError_userContactLinkNotFound",
    "StoreError_contactRequestNotFound",
    "StoreError_groupNotFound",
    "StoreError_groupNotFoundByName",
    "StoreError_noteFolderNotFound",
    "StoreError_connectionNotFound",
    "StoreError_connectionNotFoundById",
    "StoreError_pendingConnectionNotFound",
    "StoreError_profileNotFound",
    "StoreError_chatItemNotFound",
    "StoreError_badChatItem",
    "StoreError_invalidQuote",
    "StoreError_uniqueID",
    "StoreError_largeMsg",
    "StoreError_internalError",
    "StoreError_dBException",
    "StoreError_dBBusyError",
]

DatabaseError: TypeAlias = Union[
    "DatabaseError_errorEncrypted",
    "DatabaseError_errorPlaintext",
    "DatabaseError_errorNoFile",
    "DatabaseError_errorExport",
    "DatabaseError_errorOpen",
]

DatabaseError_errorExport_sqliteError: TypeAlias = Union[
    "DatabaseError_errorExport_sqliteError_errorNotADatabase",
    "DatabaseError_errorExport_sqliteError_error",
]

DatabaseError_errorOpen_sqliteError: TypeAlias = Union[
    "DatabaseError_errorOpen_sqliteError_errorNotADatabase",
    "DatabaseError_errorOpen_sqliteError_error",
]

Detail_code: TypeAlias = Literal[
    "commandSyntax",
    "commandTooLarge",
    "textNotUTF8",
    "notSupported",
    "controllerInvalid",
    "storeClosed",
    "storeReadOnly",
    "storeFull",
    "storeDamaged",
    "storeMissing",
    "storeNotADatabase",
    "storeKeyMissing",
    "storeKeyWrong",
    "storeKeyInvalid",
    "storeKeyForgotten",
    "storeKeyNotRaw",
    "storeKeyNoMemory",
    "storeNotSealed",
    "storeFormatNewer",
    "storeCipherUnavailable",
    "storePageDamaged",
    "storeCutOff",
    "ownershipLost",
    "ownedElsewhere",
    "roleNotAllowed",
    "relayMissing",
    "relayUnavailable",
    "networkStopped",
    "notificationServerMissing",
    "messageTooLarge",
    "invitationUsed",
    "invitationOwn",
    "profileShown",
    "stringsInvalid",
    "responseInvalid",
    "responsesTooMany",
    "scopeNotFound",
    "scopesTooMany",
]

# The member `error` of what chat_send_cmd gives, and an element of the event chatErrors.
Error: TypeAlias = Union[
    "Error_error",
    "Error_errorAgent",
    "Error_errorStore",
    "Error_errorDatabase",
]

# The member `result` of what chat_recv_msg and chat_recv_msg_wait give.
Event: TypeAlias = Union[
    "Event_contactConnecting",
    "Event_contactSndReady",
    "Event_contactConnected",
    "Event_receivedContactRequest",
    "Event_acceptingContactRequest",
    "Event_contactRequestWithdrawn",
    "Event_contactDeletedByContact",
    "Event_contactUpdated",
    "Event_newChatItems",
    "Event_notifications",
    "Event_chatItemUpdated",
    "Event_chatItemsStatusesUpdated",
    "Event_chatItemsDeleted",
    "Event_chatItemReaction",
    "Event_ntfMessage",
    "Event_applicationPush",
    "Event_callInvitation",
    "Event_callOffer",
    "Event_callAnswer",
    "Event_callExtraInfo",
    "Event_callEnded",
    "Event_ntfResponse",
    "Event_chatSuspended",
    "Event_ntfTokenStatus",
    "Event_subscriptionStatus",
    "Event_messageError",
    "Event_chatErrors",
    "Event_eventsLost",
]

# A controller comes with `ok` only.
MigrationResult: TypeAlias = Union[
    "MigrationResult_ok",
    "MigrationResult_invalidConfirmation",
    "MigrationResult_errorNotADatabase",
    "MigrationResult_errorMigration",
    "MigrationResult_errorSQL",
    "MigrationResult_agentError",
]

MigrationResult_errorMigration_migrationError: TypeAlias = Union[
    "MigrationResult_errorMigration_migrationError_upgrade",
    "MigrationResult_errorMigration_migrationError_migrationError",
]

Notification_categoryIdentifier: TypeAlias = Literal[
    "NTF_CAT_CONTACT_REQUEST",
    "NTF_CAT_CONTACT_CONNECTED",
    "NTF_CAT_MESSAGE_RECEIVED",
    "NTF_CAT_CALL_INVITATION",
    "NTF_CAT_CONNECTION_EVENT",
    "NTF_CAT_MANY_EVENTS",
]

# A final state of the machine `push`.
PushAnswer_outcome: TypeAlias = Literal[
    "presented",
    "nothingNew",
    "yielded",
    "verified",
    "locked",
    "offline",
    "expired",
    "unknown",
    "quarantined",
    "stopped",
    "wrongSchema",
    "failed",
]

# The member `result` of what chat_send_cmd gives.
Response: TypeAlias = Union[
    "Response_activeUser",
    "Response_usersList",
    "Response_userPrivacy",
    "Response_userProfileUpdated",
    "Response_userProfileNoChange",
    "Response_chatStarted",
    "Response_chatRunning",
    "Response_chatStopped",
    "Response_cmdOk",
    "Response_apiChats",
    "Response_apiChat",
    "Response_itemsReadForChat",
    "Response_newChatItems",
    "Response_chatItemUpdated",
    "Response_chatItemNotChanged",
    "Response_chatItemsDeleted",
    "Response_chatItemReaction",
    "Response_invitation",
    "Response_sentConfirmation",
    "Response_contactPrefsUpdated",
    "Response_groupsList",
    "Response_sentInvitation",
    "Response_userContactLinkCreated",
    "Response_userContactLink",
    "Response_userContactLinkUpdated",
    "Response_userContactLinkDeleted",
    "Response_acceptingContactRequest",
    "Response_contactRequestRejected",
    "Response_contactAlreadyExists",
    "Response_connectionPlan",
    "Response_contactsList",
    "Response_contactDeleted",
    "Response_contactConnectionDeleted",
    "Response_contactAliasUpdated",
    "Response_connectionAliasUpdated",
    "Response_ntfToken",
    "Response_ntfTokenStatus",
    "Response_ntfConns",
    "Response_connNtfMessages",
    "Response_ntfScope",
    "Response_ntfScopes",
    "Response_ntfScopePushes",
    "Response_serverTestResult",
    "Response_appSettings",
    "Response_notificationResponse",
    "Response_callInvitations",
]

ConnectionStatus: TypeAlias = Union[
    "ConnectionStatus_new",
    "ConnectionStatus_prepared",
    "ConnectionStatus_joined",
    "ConnectionStatus_requested",
    "ConnectionStatus_accepted",
    "ConnectionStatus_sndReady",
    "ConnectionStatus_ready",
    "ConnectionStatus_deleted",
    "ConnectionStatus_failed",
]

ChatInfo: TypeAlias = Union[
    "ChatInfo_direct",
    "ChatInfo_contactConnection",
    "ChatInfo_contactRequest",
]

SendError: TypeAlias = Union[
    "SendError_auth",
    "SendError_quota",
    "SendError_expired",
    "SendError_other",
]

ChatItemStatus: TypeAlias = Union[
    "ChatItemStatus_sndNew",
    "ChatItemStatus_sndSent",
    "ChatItemStatus_sndRcvd",
    "ChatItemStatus_sndErrorAuth",
    "ChatItemStatus_sndError",
    "ChatItemStatus_rcvNew",
    "ChatItemStatus_rcvRead",
]

# This library sends text; the other kinds are kept and shown as well as possible.
MessageContent: TypeAlias = Union[
    "MessageContent_text",
    "MessageContent_link",
    "MessageContent_image",
    "MessageContent_video",
    "MessageContent_voice",
    "MessageContent_file",
    "MessageContent_report",
    "MessageContent_unknown",
]

ChatItemContent: TypeAlias = Union[
    "ChatItemContent_sndMsgContent",
    "ChatItemContent_rcvMsgContent",
    "ChatItemContent_sndCall",
    "ChatItemContent_rcvCall",
]

CallItemStatus: TypeAlias = Literal[
    "pending",
    "missed",
    "rejected",
    "accepted",
    "negotiated",
    "progress",
    "ended",
    "error",
]

Format: TypeAlias = Union[
    "Format_bold",
    "Format_italic",
    "Format_strikeThrough",
    "Format_snippet",
    "Format_secret",
    "Format_small",
    "Format_uri",
    "Format_colored",
    "Format_mention",
]

MessageReaction: TypeAlias = Union["MessageReaction_emoji", "MessageReaction_unknown"]

ReactionInChat_chatReaction_chatDir: TypeAlias = Union[
    "ReactionInChat_chatReaction_chatDir_directSnd",
    "ReactionInChat_chatReaction_chatDir_directRcv",
]

TokenStatus: TypeAlias = Literal[
    "NEW",
    "REGISTERED",
    "INVALID",
    "INVALID,BAD",
    "INVALID,TOPIC",
    "INVALID,EXPIRED",
    "INVALID,UNREGISTERED",
    "CONFIRMED",
    "ACTIVE",
    "EXPIRED",
]

ConnectionEntity: TypeAlias = Union[
    "ConnectionEntity_rcvDirectMsgConnection",
    "ConnectionEntity_userContactConnection",
]

ReceivedNtfMessage: TypeAlias = Union["ReceivedNtfMessage_info", "ReceivedNtfMessage_error"]

InvitationLinkPlan: TypeAlias = Union[
    "InvitationLinkPlan_ok",
    "InvitationLinkPlan_ownLink",
    "InvitationLinkPlan_connecting",
    "InvitationLinkPlan_known",
]

ContactAddressPlan: TypeAlias = Union[
    "ContactAddressPlan_ok",
    "ContactAddressPlan_ownLink",
    "ContactAddressPlan_connectingConfirmReconnect",
    "ContactAddressPlan_connectingProhibit",
    "ContactAddressPlan_known",
]

# What a link leads to.
ConnectionPlan: TypeAlias = Union[
    "ConnectionPlan_invitationLink",
    "ConnectionPlan_contactAddress",
    "ConnectionPlan_error",
]

# What a user can do with a notification.
NotificationAction: TypeAlias = Literal[
    "open",
    "acceptContact",
    "acceptContactIncognito",
    "rejectContact",
    "acceptCall",
    "rejectCall",
    "markRead",
    "reply",
]

# Why there was nothing left to carry a response out on.
StaleReason: TypeAlias = Literal[
    "noSuchUser",
    "noSuchChat",
    "noSuchMessage",
    "noSuchRequest",
    "noSuchCall",
    "otherUser",
    "otherStore",
    "contactNotReady",
    "refused",
]

SubscriptionStatus: TypeAlias = Union[
    "SubscriptionStatus_active",
    "SubscriptionStatus_pending",
    "SubscriptionStatus_removed",
    "SubscriptionStatus_noSub",
]
