import PorterJSON
import PorterPlatform

package enum MessageDirection: String, Hashable, Sendable, CaseIterable {
  case sent, received
}

/// The reason a message could not be delivered.
package enum SendError: Hashable, Sendable {
  case authentication, quota, expired
  case other(String)

  var json: JSONValue {
    switch self {
    case .authentication: .tagged("auth")
    case .quota: .tagged("quota")
    case .expired: .tagged("expired")
    case .other(let reason): .tagged("other", ["sndError": .string(reason)])
    }
  }
}

package enum ChatItemStatus: Hashable, Sendable {
  case sndNew, sndSent, sndRcvd, sndErrorAuth
  case sndError(SendError)
  case rcvNew, rcvRead

  package var json: JSONValue {
    switch self {
    case .sndNew: .tagged("sndNew")
    case .sndSent: .tagged("sndSent", ["sndProgress": "complete"])
    case .sndRcvd: .tagged("sndRcvd", ["msgRcptStatus": "ok", "sndProgress": "complete"])
    case .sndErrorAuth: .tagged("sndErrorAuth")
    case .sndError(let error): .tagged("sndError", ["agentError": error.json])
    case .rcvNew: .tagged("rcvNew")
    case .rcvRead: .tagged("rcvRead")
    }
  }
}

/// The message that another message replies to.
package struct QuoteRecord: Hashable, Sendable {
  /// The quoted message's direction, as this side sees it.
  package var direction: MessageDirection
  /// The quoted message's item here, if it is known.
  package var itemID: Int64?
  package var sharedID: String
  package var sentAt: WallTime
  package var content: MessageContent

  package init(
    direction: MessageDirection, itemID: Int64?, sharedID: String, sentAt: WallTime, content: MessageContent
  ) {
    self.direction = direction
    self.itemID = itemID
    self.sharedID = sharedID
    self.sentAt = sentAt
    self.content = content
  }

  /// The `CIQuote` shape.
  package var json: JSONValue {
    .compact([
      "chatDir": .tagged(direction == .sent ? "directSnd" : "directRcv"),
      "itemId": itemID.map(JSONValue.integer),
      "sharedMsgId": .string(sharedID),
      "sentAt": .string(sentAt.iso8601),
      "content": content.json,
      "formattedText": FormattedText.parse(content.text).map { .array($0.map(\.json)) },
    ])
  }
}

/// A message in a direct conversation.
package struct ChatItemRecord: Hashable, Sendable {
  package var id: Int64
  package var direction: MessageDirection
  package var content: MessageContent
  package var quote: QuoteRecord?
  package var status: ChatItemStatus
  /// base64url; both sides' name for the message.
  package var sharedID: String?
  /// When the sender's relay accepted it, for a received message; when it was written, for a sent one.
  package var timestamp: WallTime
  package var created: WallTime
  package var updated: WallTime
  package var isEdited: Bool
  package var deleted: WallTime?
  /// Still being written.
  package var isLive: Bool
  /// How long it stays, once its time runs, and until when.
  package var timed: Timed?
  /// By name, or in its list of mentions.
  package var mentionsUser: Bool
  package var reactions: [ReactionCount]
  /// Whether the user may still edit it, and delete it for both sides.
  package var isChangeable: Bool

  package struct Timed: Hashable, Sendable {
    package var seconds: Int64
    package var deletedAt: WallTime?

    package init(seconds: Int64, deletedAt: WallTime?) {
      self.seconds = seconds
      self.deletedAt = deletedAt
    }

    /// The `CITimed` shape.
    package var json: JSONValue {
      .compact(["ttl": .integer(seconds), "deleteAt": deletedAt.map { .string($0.iso8601) }])
    }
  }
  /// Instead of a message's content.
  package var call: CallItem?

  package init(
    id: Int64, direction: MessageDirection, content: MessageContent, quote: QuoteRecord? = nil, status: ChatItemStatus,
    sharedID: String? = nil, timestamp: WallTime, created: WallTime, updated: WallTime, isEdited: Bool = false,
    deleted: WallTime? = nil, isLive: Bool = false, timed: Timed? = nil, mentionsUser: Bool = false,
    reactions: [ReactionCount] = [], isChangeable: Bool = false
  ) {
    self.id = id
    self.direction = direction
    self.content = content
    self.quote = quote
    self.status = status
    self.sharedID = sharedID
    self.timestamp = timestamp
    self.created = created
    self.updated = updated
    self.isEdited = isEdited
    self.deleted = deleted
    self.isLive = isLive
    self.timed = timed
    self.mentionsUser = mentionsUser
    self.reactions = reactions
    self.isChangeable = isChangeable
  }

  /// The `ChatItem` shape.
  package var json: JSONValue {
    let formatted = FormattedText.parse(content.text)
    return .compact([
      "chatDir": .tagged(direction == .sent ? "directSnd" : "directRcv"),
      "meta": metadata(hasLink: formatted?.contains { $0.format?.isLink ?? false } ?? false),
      "content": call?.json(direction)
        ?? .tagged(direction == .sent ? "sndMsgContent" : "rcvMsgContent", ["msgContent": content.json]),
      "quotedItem": quote?.json,
      "mentions": .object(JSONObject()),
      "formattedText": formatted.map { .array($0.map(\.json)) },
      "reactions": .array(reactions.map(\.json)),
    ])
  }

  private func metadata(hasLink: Bool) -> JSONValue {
    .compact([
      "itemId": .integer(id),
      "itemTs": .string(timestamp.iso8601),
      "itemText": .string(content.text),
      "itemStatus": status.json,
      "itemSharedMsgId": sharedID.map(JSONValue.string),
      "itemDeleted": deleted.map { .tagged("deleted", ["deletedTs": .string($0.iso8601), "chatType": "direct"]) },
      "itemEdited": .bool(isEdited),
      "itemTimed": timed?.json,
      "itemLive": isLive ? .bool(true) : nil,
      "userMention": .bool(mentionsUser),
      "hasLink": .bool(hasLink),
      "deletable": .bool(isChangeable),
      "editable": .bool(isChangeable),
      "showGroupAsSender": .bool(false),
      "createdAt": .string(created.iso8601),
      "updatedAt": .string(updated.iso8601),
    ])
  }
}
