import PorterJSON

/// The other side of a conversation.
package enum ChatInfo: Hashable, Sendable {
  case direct(ContactRecord)
  case contactConnection(PendingConnectionRecord)
  case contactRequest(UserContactRequest)

  package var json: JSONValue {
    switch self {
    case .direct(let contact): .tagged("direct", ["contact": contact.json])
    case .contactConnection(let connection): .tagged("contactConnection", ["contactConnection": connection.json])
    case .contactRequest(let request): .tagged("contactRequest", ["contactRequest": request.json])
    }
  }
}

package struct ChatStats: Hashable, Sendable {
  package var unreadCount: Int64
  /// How many of them mention the user.
  package var unreadMentions: Int64
  /// The first unread message; 0 if there is none.
  package var minimumUnreadItemID: Int64
  /// Whether it was marked unread by hand.
  package var isMarkedUnread: Bool

  package init(
    unreadCount: Int64 = 0, unreadMentions: Int64 = 0, minimumUnreadItemID: Int64 = 0, isMarkedUnread: Bool = false
  ) {
    self.unreadCount = unreadCount
    self.unreadMentions = unreadMentions
    self.minimumUnreadItemID = minimumUnreadItemID
    self.isMarkedUnread = isMarkedUnread
  }

  package var json: JSONValue {
    .compact([
      "unreadCount": .integer(unreadCount),
      "unreadMentions": .integer(unreadMentions),
      "reportsCount": .integer(0),
      "minUnreadItemId": .integer(minimumUnreadItemID),
      "unreadChat": .bool(isMarkedUnread),
    ])
  }
}

/// A conversation with some of its messages, oldest first.
package struct ChatRecord: Hashable, Sendable {
  package var info: ChatInfo
  package var items: [ChatItemRecord]
  package var stats: ChatStats

  package init(info: ChatInfo, items: [ChatItemRecord], stats: ChatStats) {
    self.info = info
    self.items = items
    self.stats = stats
  }

  /// The `AChat` shape.
  package var json: JSONValue {
    .compact(["chatInfo": info.json, "chatItems": .array(items.map(\.json)), "chatStats": stats.json])
  }
}

/// A message with the conversation it belongs to.
package struct ChatItemInChat: Hashable, Sendable {
  package var info: ChatInfo
  package var item: ChatItemRecord

  package init(info: ChatInfo, item: ChatItemRecord) {
    self.info = info
    self.item = item
  }

  /// The `AChatItem` shape.
  package var json: JSONValue { .compact(["chatInfo": info.json, "chatItem": item.json]) }
}

/// The number of messages in a conversation that follow a page of it.
package struct NavigationInfo: Hashable, Sendable {
  package var afterUnread: Int64
  package var afterTotal: Int64

  package init(afterUnread: Int64, afterTotal: Int64) {
    self.afterUnread = afterUnread
    self.afterTotal = afterTotal
  }

  package var json: JSONValue { .compact(["afterUnread": .integer(afterUnread), "afterTotal": .integer(afterTotal)]) }
}
