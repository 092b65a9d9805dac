import Foundation
import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting

/// The parts of answers and events.
struct Parts {
  var number: Int64
  var words: String
  var flag: Bool
  var user: UserRecord
  var contact: ContactRecord
  var connection: ConnectionRecord
  var pending: PendingConnectionRecord
  var item: ChatItemInChat
  var chat: ChatRecord
  var reaction: ReactionInChat
  var errors: [ChatError]

  static var any: Generator<Parts> {
    Generator { choices in
      Parts(
        number: choices.draw(Make.id), words: choices.draw(Make.text), flag: choices.flag(),
        user: choices.draw(Make.user), contact: choices.draw(Make.contact), connection: choices.draw(Make.connection),
        pending: choices.draw(Make.pending), item: choices.draw(Make.itemInChat), chat: choices.draw(Make.chat),
        reaction: choices.draw(Make.reactionInChat),
        errors: choices.draw(Make.chatError.array(0...2)))
    }
  }
}

enum Samples {
  /// The responses that the public package declares, each once or more.
  static func publicResponses(_ parts: Parts) -> [Response] {
    let (user, contact, pending) = (parts.user, parts.contact, parts.pending)
    // Not left to chance: every kind must appear.
    var (before, after) = (contact.profile.profile, user.profile.profile)
    (before.peerType, after.peerType) = (.human, .bot)
    let change = ProfileChange(
      from: before, to: after, successes: parts.number, failures: 0, changedContacts: [contact])
    let invitations: [InvitationPlan] = [.ok, .ownLink, .connecting(nil), .connecting(contact), .known(contact)]
    let addresses: [AddressPlan] = [
      .ok, .ownLink, .connectingConfirmReconnect, .connectingProhibit(contact), .known(contact),
    ]
    let plans =
      invitations.map(ConnectionPlan.invitation) + addresses.map(ConnectionPlan.address)
      + [.error(.nightporter(.invitationUsed))]
    let requests = EveryCase.requests(parts)
    return [
      .activeUser(user), .usersList([UserSummary(user: user, unreadCount: parts.number)]),
      .userProfileUpdated(user, change), .userProfileNoChange(user), .chatStarted, .chatRunning, .chatStopped,
      .cmdOk(user), .cmdOk(nil), .apiChats(user, [parts.chat]), .newChatItems(user, [parts.item]),
      .invitation(user, link: parts.words, pending), .sentConfirmation(user, pending),
      .sentConfirmation(user, pending, incognito: before), .sentInvitation(user, pending),
      .sentInvitation(user, pending, incognito: before), .userContactLinkCreated(user, link: parts.words),
      .userContactLinkDeleted(user), .acceptingContactRequest(user, contact),
      .contactAlreadyExists(user, contact), .contactPrefsUpdated(user, from: contact, to: contact), .groupsList(user),
      .contactsList(user, [contact]), .contactDeleted(user, contact),
      .contactConnectionDeleted(user, pending), .chatItemUpdated(user, parts.item),
      .chatItemNotChanged(user, parts.item), .chatItemReaction(user, isAdded: parts.flag, parts.reaction),
      .chatItemsDeleted(user, [ChatItemDeletion(deleted: parts.item, remaining: parts.flag ? parts.item : nil)]),
    ] + plans.map { .connectionPlan(user, link: parts.words, $0) }
      + requests.map { .contactRequestRejected(user, $0) }
      + EveryCase.addresses(parts).flatMap { [.userContactLink(user, $0), .userContactLinkUpdated(user, $0)] }
  }

  static func publicEvents(_ parts: Parts) -> [Event] {
    let (user, contact, item) = (parts.user, parts.contact, parts.item)
    let statuses: [SubscriptionStatus] = [.active, .pending, .noSubscription, .removed(reason: parts.words)]
    let deletion = ChatItemDeletion(deleted: item, remaining: parts.flag ? item : nil)
    return [
      .contactConnecting(user, contact), .contactSndReady(user, contact), .contactConnected(user, contact),
      .contactConnected(user, contact, incognito: user.profile.profile), .acceptingContactRequest(user, contact),
      .contactUpdated(user, from: contact, to: contact), .contactDeletedByContact(user, contact),
      .newChatItems(user, [item]), .chatItemUpdated(user, item), .chatItemsStatusesUpdated(user, [item]),
      .chatItemsDeleted(user, [deletion], byUser: parts.flag, isTimed: !parts.flag),
      .chatItemReaction(user, isAdded: parts.flag, parts.reaction),
      .messageError(user, severity: "warning", message: parts.words), .chatErrors(parts.errors),
    ] + statuses.map { .subscriptionStatus(server: parts.words, $0, connections: [parts.words]) }
      + EveryCase.requests(parts).map { .receivedContactRequest(user, $0) }
  }

  /// The remaining responses; with those above, all of them.
  static func otherResponses(_ parts: Parts) -> [Response] {
    let (user, contact, pending) = (parts.user, parts.contact, parts.pending)
    let message = NotificationMessage(
      id: parts.words, timestamp: contact.created,
      flags: .init(notification: parts.flag, more: parts.flag ? nil : true))
    let entity = ConnectionEntity(connection: parts.connection, contact: parts.flag ? contact : nil)
    let notified = [message, nil].map { expected in
      NotifiedConnection(
        user: user, agentConnectionID: parts.words, queueID: parts.number, entity: entity, expected: expected)
    }
    let received: [ReceivedNotification] =
      [.information(message), .information(nil)] + EveryCase.agentErrors(parts.words).map(ReceivedNotification.error)
    let place = NavigationInfo(afterUnread: parts.number, afterTotal: parts.number)
    let failures = ServerTestFailure.Step.allCases.map { ServerTestFailure(step: $0, error: .inactive) }
    let tokens = PushProvider.allCases.map { DeviceToken(provider: $0, token: parts.words) }
    return [
      .userPrivacy(user: user, updated: user), .apiChat(user, parts.chat, nil), .apiChat(user, parts.chat, place),
      .itemsReadForChat(user, parts.chat.info), .contactAliasUpdated(user, contact),
      .connectionAliasUpdated(user, pending), .ntfConns(notified), .connNtfMessages(received),
      .serverTestResult(user, server: parts.words, failure: nil), .callInvitations([]),
      .callInvitations(callInvitations(parts)), .ntfScope(scope(parts)), .ntfScopes([scope(parts)]),
      .ntfScopePushes(handedPushes(parts)),
    ] + responseReports(parts, isRepeat: parts.flag).map(Response.notificationResponse)
      + AppSettings.samples.map(Response.appSettings)
      + tokens.map { .ntfToken($0, .active, .instant, server: parts.words) }
      + NotificationMode.allCases.map { .ntfToken(tokens[0], .new, $0, server: parts.words) }
      + TokenStatus.allCases.map(Response.ntfTokenStatus)
      + failures.map { .serverTestResult(user, server: parts.words, failure: $0) }
  }

  /// A notification's other members are checked against its schema where they are created.
  private static var categories: [JSONValue] {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let schema = try? String(
      contentsOf: root.appendingPathComponent("spec/protocol/notification.schema.json"), encoding: .utf8)
    let parsed = schema.flatMap { try? JSONValue(parsing: $0) }
    return parsed?["properties"]?["categoryIdentifier"]?["enum"]?.arrayValue ?? []
  }

  static func otherEvents(_ parts: Parts) -> [Event] {
    let message = NotificationMessage(id: parts.words, timestamp: parts.contact.created)
    let entity = ConnectionEntity(connection: parts.connection, contact: parts.flag ? parts.contact : nil)
    var address = parts.connection
    address.kind = .address
    let ended = responseReports(parts, isRepeat: false).filter { ![.waiting, .applying].contains($0.outcome) }
    let presented = categories.map { category in
      PresentedNotification(
        content: [
          "identifier": .string(parts.words), "title": .string(parts.words), "body": .string(parts.words),
          "categoryIdentifier": category, "userInfo": [:], "sound": "default",
        ], presentation: parts.flag ? ["sound", "banner", "list"] : [])
    }
    let tokens = TokenStatus.allCases.map { Event.ntfTokenStatus($0, reason: parts.flag ? parts.words : nil) }
    return [
      .ntfMessage(parts.user, entity, message), .chatSuspended, .eventsLost(parts.number),
      .notifications(
        parts.flag ? parts.user : nil, presented, withdrawals: parts.flag ? [parts.words] : [], badge: parts.number),
    ]
      + ended.map(Event.ntfResponse) + tokens
      + EveryCase.addresses(parts).map {
        .ntfMessage(parts.user, ConnectionEntity(connection: address, contact: nil, address: $0), message)
      } + EveryCase.requests(parts).map { .contactRequestWithdrawn(parts.user, $0) }
      + callEvents(parts) + handedPushes(parts).map(Event.applicationPush)
  }

  private static func scope(_ parts: Parts) -> ScopeRecord {
    ScopeRecord(
      userID: parts.number, name: parts.words, address: parts.words, publicKey: parts.words, serviceKey: parts.words,
      version: 1, commands: parts.flag ? [parts.words] : nil, unsettled: parts.number, created: parts.contact.created)
  }

  private static func handedPushes(_ parts: Parts) -> [HandedPush] {
    HandedPush.Outcome.allCases.map { outcome in
      HandedPush(
        id: parts.number, userID: parts.number, scope: parts.words, outcome: outcome,
        envelope: ["id": .string(parts.words), "version": 2, "command": .string(parts.words), "expires": 1],
        arrived: parts.contact.created)
    }
  }

  private static func callInvitations(_ parts: Parts) -> [CallInvitation] {
    CallMedia.allCases.map { media in
      CallInvitation(
        user: parts.user, contact: parts.contact, type: CallType(media: media, encrypts: parts.flag),
        sharedKey: parts.flag ? parts.words : nil, uuid: parts.words, calledAt: parts.contact.created)
    }
  }

  private static func callEvents(_ parts: Parts) -> [Event] {
    let (user, contact) = (parts.user, parts.contact)
    let session = MediaSession(session: parts.words, candidates: parts.words)
    let offer = CallOffer(type: CallType(media: .video, encrypts: true), session: session)
    return callInvitations(parts).map(Event.callInvitation) + [
      .callOffer(user, contact, offer, sharedKey: parts.flag ? parts.words : nil, asksConfirmation: parts.flag),
      .callAnswer(user, contact, session), .callExtraInfo(user, contact, candidates: parts.words),
      .callEnded(user, contact),
    ]
  }

  private static func responseReports(_ parts: Parts, isRepeat: Bool) -> [ResponseReport] {
    let outcomes: [ResponseReport.Outcome] =
      [.waiting, .applying, .applied] + ResponseReport.Reason.allCases.map { .stale($0) }
    return outcomes.flatMap { outcome in
      NotificationAction.allCases.map { action in
        ResponseReport(
          id: parts.number, action: action, outcome: outcome, userID: parts.flag ? parts.number : nil,
          chatID: parts.flag ? parts.words : nil, contactRequestID: parts.flag ? parts.number : nil, isRepeat: isRepeat)
      }
    }
  }

  /// Conversations that cover every case of a message or a contact.
  static func everyChat(_ parts: Parts) -> [ChatRecord] {
    let text =
      "*a* _b_ ~c~ `d` #e# !- f! https://g.example @h "
      + ["r", "g", "b", "y", "c", "m"].map { "!\($0) i! " }.joined()
    var items: [ChatItemRecord] = []
    for content in EveryCase.contents(text, parts.words, parts.number) {
      for direction in MessageDirection.allCases {
        var item = parts.item.item
        (item.content, item.direction) = (content, direction)
        items.append(item)
      }
    }
    for isLive in [true, false] {
      var item = parts.item.item
      (item.isLive, item.deleted) = (isLive, isLive ? nil : item.created)
      item.timed = .init(seconds: parts.number, deletedAt: isLive ? nil : item.created)
      item.reactions = [.emoji("👍"), .unknown(tag: "wave", json: ["type": "wave"])].map {
        ReactionCount(reaction: $0, userReacted: isLive, total: 1)
      }
      items.append(item)
    }
    for direction in MessageDirection.allCases {
      for status in CallItem.Status.allCases {
        var item = parts.item.item
        (item.direction, item.call) = (direction, CallItem(status: status, duration: parts.number))
        items.append(item)
      }
    }
    for status in EveryCase.itemStatuses(parts.words) {
      items.append(parts.item.item)
      items[items.count - 1].status = status
    }
    return [ChatRecord(info: .direct(parts.contact), items: items, stats: parts.chat.stats)]
      + contacts(parts).map { ChatRecord(info: .direct($0), items: [], stats: parts.chat.stats) }
      + [ChatRecord(info: .contactConnection(parts.pending), items: [], stats: parts.chat.stats)]
      + EveryCase.requests(parts).map { ChatRecord(info: .contactRequest($0), items: [], stats: parts.chat.stats) }
  }

  private static func contacts(_ parts: Parts) -> [ContactRecord] {
    var contacts: [ContactRecord] = []
    func add(_ change: (inout ContactRecord) -> Void) {
      var contact = parts.contact
      change(&contact)
      contacts.append(contact)
    }
    for status in EveryCase.connectionStatuses(parts.words) {
      add {
        $0.connection = parts.connection
        $0.connection?.status = status
      }
    }
    for status in ContactRecord.Status.allCases { add { $0.status = status } }
    for filter in NotificationFilter.allCases { add { $0.settings.notifications = filter } }
    for type in Profile.PeerType.allCases { add { $0.profile.profile.peerType = type } }
    for allowed in FeatureAllowed.allCases {
      let all = Dictionary(uniqueKeysWithValues: Preferences.Feature.allCases.map { ($0, allowed) })
      add {
        $0.userPreferences = Preferences(allowed: all, timedMessagesSeconds: parts.number)
        $0.profile.profile.preferences = $0.userPreferences
      }
    }
    return contacts
  }
}

extension AppSettings {
  static var samples: [AppSettings] {
    let written = PreviewMode.allCases.map { #"{"notificationPreviewMode":"\#($0.rawValue)","appLock":true}"# }
    return [.defaults] + written.compactMap { AppSettings(text: $0) }
  }
}

extension EveryCase {
  static func requests(_ parts: Parts) -> [UserContactRequest] {
    [nil, parts.number].map {
      UserContactRequest(
        id: parts.number, person: parts.words, addressID: parts.number, contactID: $0, profile: parts.contact.profile,
        created: parts.contact.created, updated: parts.contact.updated)
    }
  }

  static func addresses(_ parts: Parts) -> [AddressRecord] {
    let settings: [JSONValue] = [
      ["businessAddress": false],
      [
        "businessAddress": false, "autoAccept": ["acceptIncognito": .bool(parts.flag)],
        "autoReply": ["type": "text", "text": .string(parts.words)],
      ],
    ]
    return settings.compactMap { try? AddressSettings(checking: $0) }.map {
      AddressRecord(id: parts.number, link: parts.words, settings: $0)
    }
  }

  static func connectionStatuses(_ words: String) -> [ConnectionStatus] {
    [.new, .prepared, .joined, .requested, .accepted, .sndReady, .ready, .deleted, .failed(reason: words)]
  }

  static func sendErrors(_ words: String) -> [SendError] { [.authentication, .quota, .expired, .other(words)] }

  static func itemStatuses(_ words: String) -> [ChatItemStatus] {
    [.sndNew, .sndSent, .sndRcvd, .sndErrorAuth, .rcvNew, .rcvRead]
      + sendErrors(words).map { .sndError($0) }
  }

  static func contents(_ text: String, _ words: String, _ number: Int64) -> [MessageContent] {
    let preview: JSONValue = ["uri": "https://a.b", "title": "t", "description": "d", "image": ""]
    let poll: JSONValue = ["type": "poll", "text": .string(text), "options": []]
    let kinds: [MessageContent.Kind] =
      [
        .text(text), .link(text: text, preview: preview), .image(text: text, image: words),
        .video(text: text, image: words, duration: number), .voice(text: text, duration: number), .file(text: text),
        .unknown(tag: "poll", text: text, json: poll),
      ] + MessageContent.ReportReason.allCases.map { .report(text: text, reason: $0) }
    return kinds.map { MessageContent($0) }
  }
}
