import PorterJSON

/// Events that occur without a command; read with `chat_recv_msg_wait`.
package enum Event: Hashable, Sendable {
  /// A contact has followed our invitation, or accepted our request, and is not connected yet.
  case contactConnecting(UserRecord, ContactRecord)
  /// Messages sent to such a contact from now on are on their way without further steps of the handshake.
  case contactSndReady(UserRecord, ContactRecord)
  /// `incognito` is the profile that the contact sees instead of the user's own.
  case contactConnected(UserRecord, ContactRecord, incognito: Profile? = nil)
  case receivedContactRequest(UserRecord, UserContactRequest)
  /// A request was accepted: by the address itself, or by the user while the relay could not be reached.
  case acceptingContactRequest(UserRecord, ContactRecord)
  /// The other person withdrew the request.
  case contactRequestWithdrawn(UserRecord, UserContactRequest)
  case contactUpdated(UserRecord, from: ContactRecord, to: ContactRecord)
  case contactDeletedByContact(UserRecord, ContactRecord)

  case newChatItems(UserRecord, [ChatItemInChat])
  /// Ours: the notifications an app on screen shows for the events it just received. They count as shown. No user while
  /// no profile is active.
  case notifications(UserRecord?, [PresentedNotification], withdrawals: [String] = [], badge: Int64)
  case chatItemUpdated(UserRecord, ChatItemInChat)
  case chatItemsStatusesUpdated(UserRecord, [ChatItemInChat])
  /// `isTimed`: whether they were disappearing messages.
  case chatItemsDeleted(UserRecord, [ChatItemDeletion], byUser: Bool, isTimed: Bool)
  case chatItemReaction(UserRecord, isAdded: Bool, ReactionInChat)

  /// The message that a push announced has been fetched from the relay and acknowledged. Other messages cause no such
  /// event.
  case ntfMessage(UserRecord, ConnectionEntity, NotificationMessage)
  /// One of the host's own pushes. It is repeated, with the same id, if the app ends before the host has taken it.
  case applicationPush(HandedPush)
  case callInvitation(CallInvitation)
  /// The contact has accepted, and offers a media session. `asksConfirmation`: it cannot encrypt the media, but our
  /// host can.
  case callOffer(UserRecord, ContactRecord, CallOffer, sharedKey: String?, asksConfirmation: Bool)
  case callAnswer(UserRecord, ContactRecord, MediaSession)
  case callExtraInfo(UserRecord, ContactRecord, candidates: String)
  case callEnded(UserRecord, ContactRecord)

  /// The user's response to a notification was carried out, or could not be; includes where to navigate.
  case ntfResponse(ResponseReport)
  /// The store has no open files or locks left.
  case chatSuspended
  /// The device token's status at the notification server has changed. `reason` is why it last needed repair: an event
  /// of the machine `token_status`, left out if it never needed any.
  case ntfTokenStatus(TokenStatus, reason: String?)
  /// Connections whose push subscription has changed status at the notification server `server`.
  case subscriptionStatus(server: String, SubscriptionStatus, connections: [String])

  /// A message could not be opened, and is kept with this reason. `severity` is `error`.
  case messageError(UserRecord, severity: String, message: String)
  /// The errors that prevented a part of a command, while the rest was carried out.
  case chatErrors([ChatError])
  /// The host did not read for so long that this many of the oldest events were dropped.
  case eventsLost(Int64)

  /// The form that hosts read.
  package var envelope: JSONValue { .compact(["result": json]) }

  package var json: JSONValue {
    switch self {
    case .contactConnecting(let user, let contact): .about(user, "contactConnecting", ["contact": contact.json])
    case .contactSndReady(let user, let contact): .about(user, "contactSndReady", ["contact": contact.json])
    case .contactConnected(let user, let contact, let incognito):
      .about(user, "contactConnected", ["contact": contact.json, "userCustomProfile": incognito?.json])
    case .receivedContactRequest(let user, let request):
      .about(user, "receivedContactRequest", ["contactRequest": request.json])
    case .acceptingContactRequest(let user, let contact):
      .about(user, "acceptingContactRequest", ["contact": contact.json])
    case .contactRequestWithdrawn(let user, let request):
      .about(user, "contactRequestWithdrawn", ["contactRequest": request.json])
    case .contactUpdated(let user, let from, let to):
      .about(user, "contactUpdated", ["fromContact": from.json, "toContact": to.json])
    case .contactDeletedByContact(let user, let contact):
      .about(user, "contactDeletedByContact", ["contact": contact.json])
    case .newChatItems(let user, let items): .about(user, "newChatItems", ["chatItems": .array(items.map(\.json))])
    case .notifications(let user, let notifications, let withdrawals, let badge):
      .tagged(
        "notifications",
        [
          "user": user?.json, "notifications": .array(notifications.map(\.json)),
          "withdrawals": .array(withdrawals.map { .string($0) }),
          "badge": .integer(badge),
        ])
    case .chatItemUpdated(let user, let item): .about(user, "chatItemUpdated", ["chatItem": item.json])
    case .chatItemsStatusesUpdated(let user, let items):
      .about(user, "chatItemsStatusesUpdated", ["chatItems": .array(items.map(\.json))])
    case .chatItemsDeleted(let user, let deletions, let byUser, let isTimed):
      .itemsDeleted(user, deletions, byUser: byUser, isTimed: isTimed)
    case .chatItemReaction(let user, let isAdded, let reaction):
      .about(user, "chatItemReaction", ["added": .bool(isAdded), "reaction": reaction.json])
    case .ntfMessage(let user, let entity, let message):
      .about(user, "ntfMessage", ["connEntity": entity.json, "ntfMessage": message.acknowledgementJSON])
    case .applicationPush(let push): .tagged("applicationPush", ["applicationPush": push.json])
    case .callInvitation(let call): .tagged("callInvitation", ["callInvitation": call.json])
    case .callOffer(let user, let contact, let offer, let sharedKey, let asksConfirmation):
      .about(
        user, "callOffer",
        [
          "contact": contact.json, "callType": offer.type.json, "offer": offer.session.json,
          "sharedKey": sharedKey.map { .string($0) }, "askConfirmation": .bool(asksConfirmation),
        ])
    case .callAnswer(let user, let contact, let answer):
      .about(user, "callAnswer", ["contact": contact.json, "answer": answer.json])
    case .callExtraInfo(let user, let contact, let candidates):
      .about(
        user, "callExtraInfo",
        ["contact": contact.json, "extraInfo": ["rtcIceCandidates": .string(candidates)]])
    case .callEnded(let user, let contact): .about(user, "callEnded", ["contact": contact.json])
    case .ntfResponse(let report): report.eventJSON
    case .chatSuspended: .tagged("chatSuspended")
    case .ntfTokenStatus(let status, let reason):
      .tagged(
        "ntfTokenStatus", ["status": .string(status.rawValue), "reason": reason.map(JSONValue.string)])
    case .subscriptionStatus(let server, let status, let connections):
      .tagged(
        "subscriptionStatus",
        [
          "server": .string(server), "subscriptionStatus": status.json,
          "connections": .array(connections.map(JSONValue.string)),
        ])
    case .messageError(let user, let severity, let message):
      .about(user, "messageError", ["severity": .string(severity), "errorMessage": .string(message)])
    case .chatErrors(let errors): .tagged("chatErrors", ["chatErrors": .array(errors.map(\.json))])
    case .eventsLost(let count): .tagged("eventsLost", ["count": .integer(count)])
    }
  }

  /// The text that crosses the C interface.
  package var text: String { JSONValue.compact(["result": json]).text }
}

extension JSONValue {
  /// Used both in an answer and in an event.
  static func itemsDeleted(
    _ user: UserRecord, _ deletions: [ChatItemDeletion], byUser: Bool, isTimed: Bool
  ) -> JSONValue {
    .about(
      user, "chatItemsDeleted",
      ["chatItemDeletions": .array(deletions.map(\.json)), "byUser": .bool(byUser), "timed": .bool(isTimed)])
  }
}

/// A notification, and its presentation while its app is on screen.
package struct PresentedNotification: Hashable, Sendable {
  /// As in the answer to a push.
  package var content: JSONValue
  /// `sound`, `banner`, `list`.
  package var presentation: [String]

  package init(content: JSONValue, presentation: [String]) {
    self.content = content
    self.presentation = presentation
  }

  package var json: JSONValue {
    .compact(["notification": content, "presentation": .array(presentation.map(JSONValue.string))])
  }
}

/// A deleted message, with its replacement, if any.
package struct ChatItemDeletion: Hashable, Sendable {
  package var deleted: ChatItemInChat
  package var remaining: ChatItemInChat?

  package init(deleted: ChatItemInChat, remaining: ChatItemInChat?) {
    self.deleted = deleted
    self.remaining = remaining
  }

  package var json: JSONValue { .compact(["deletedChatItem": deleted.json, "toChatItem": remaining?.json]) }
}

/// Whether connections receive from the relay.
package enum SubscriptionStatus: Hashable, Sendable {
  case active, pending, noSubscription
  case removed(reason: String)

  /// The form that hosts read.
  package var envelope: JSONValue { .compact(["result": json]) }

  package var json: JSONValue {
    switch self {
    case .active: .tagged("active")
    case .pending: .tagged("pending")
    case .noSubscription: .tagged("noSub")
    case .removed(let reason): .tagged("removed", ["subError": .string(reason)])
    }
  }
}
