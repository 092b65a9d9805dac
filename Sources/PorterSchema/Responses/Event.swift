import PorterJSON

/// What happens without being asked for; read with `chat_recv_msg_wait`.
package enum Event: Hashable, Sendable {
  case contactConnecting(UserRecord, ContactRecord)
  case contactSndReady(UserRecord, ContactRecord)
  case contactConnected(UserRecord, ContactRecord)
  case contactUpdated(UserRecord, from: ContactRecord, to: ContactRecord)
  case contactDeletedByContact(UserRecord, ContactRecord)

  case newChatItems(UserRecord, [ChatItemInChat])
  case chatItemUpdated(UserRecord, ChatItemInChat)
  case chatItemsStatusesUpdated(UserRecord, [ChatItemInChat])
  case chatItemsDeleted(UserRecord, [ChatItemDeletion], byUser: Bool)

  /// The message that a push spoke of has been taken from the relay and acknowledged.
  case ntfMessage(UserRecord, ConnectionEntity, NotificationMessage)
  /// Nothing of the store is open or locked any more.
  case chatSuspended
  case subscriptionStatus(server: String, SubscriptionStatus, connections: [String])

  /// `severity` is `warning` or `error`.
  case messageError(UserRecord, severity: String, message: String)
  case chatErrors([ChatError])
  /// The host did not read for so long that this many of the oldest events gave way.
  case eventsLost(Int64)

  /// As a host reads it.
  package var envelope: JSONValue { .compact(["result": json]) }

  package var json: JSONValue {
    switch self {
    case .contactConnecting(let user, let contact): .about(user, "contactConnecting", ["contact": contact.json])
    case .contactSndReady(let user, let contact): .about(user, "contactSndReady", ["contact": contact.json])
    case .contactConnected(let user, let contact): .about(user, "contactConnected", ["contact": contact.json])
    case .contactUpdated(let user, let from, let to):
      .about(user, "contactUpdated", ["fromContact": from.json, "toContact": to.json])
    case .contactDeletedByContact(let user, let contact):
      .about(user, "contactDeletedByContact", ["contact": contact.json])
    case .newChatItems(let user, let items): .about(user, "newChatItems", ["chatItems": .array(items.map(\.json))])
    case .chatItemUpdated(let user, let item): .about(user, "chatItemUpdated", ["chatItem": item.json])
    case .chatItemsStatusesUpdated(let user, let items):
      .about(user, "chatItemsStatusesUpdated", ["chatItems": .array(items.map(\.json))])
    case .chatItemsDeleted(let user, let deletions, let byUser):
      .about(
        user, "chatItemsDeleted",
        ["chatItemDeletions": .array(deletions.map(\.json)), "byUser": .bool(byUser), "timed": false])
    case .ntfMessage(let user, let entity, let message):
      .about(user, "ntfMessage", ["connEntity": entity.json, "ntfMessage": message.acknowledgementJSON])
    case .chatSuspended: .tagged("chatSuspended")
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

  /// As it crosses the C interface.
  package var text: String { JSONValue.compact(["result": json]).text }
}

/// A message that went, and what is left in its place, if something is.
package struct ChatItemDeletion: Hashable, Sendable {
  package var deleted: ChatItemInChat
  package var remaining: ChatItemInChat?

  package init(deleted: ChatItemInChat, remaining: ChatItemInChat?) {
    self.deleted = deleted
    self.remaining = remaining
  }

  package var json: JSONValue { .compact(["deletedChatItem": deleted.json, "toChatItem": remaining?.json]) }
}

/// Whether connections hear from the relay.
package enum SubscriptionStatus: Hashable, Sendable {
  case active, pending, noSubscription
  case removed(reason: String)

  /// As a host reads it.
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
