import PorterJSON
import PorterPlatform

/// A reaction to a message. A reaction unknown to this version is kept, and shown by hosts that know it.
package enum MessageReaction: Hashable, Sendable {
  case emoji(String)
  /// `json` is the whole object as received.
  case unknown(tag: String, json: JSONValue)

  /// The reactions in SimpleX's interface.
  package static let emojis = ["👍", "👎", "😀", "😂", "😢", "❤", "🚀", "✅"]

  /// Whether it may be sent.
  package var isKnown: Bool {
    switch self {
    case .emoji(let emoji): Self.emojis.contains(emoji)
    case .unknown: false
    }
  }

  /// The `MsgReaction` shape.
  package var json: JSONValue {
    switch self {
    case .emoji(let emoji): .tagged("emoji", ["emoji": .string(emoji)])
    case .unknown(let tag, let json): .tagged("unknown", ["tag": .string(tag), "json": json])
    }
  }

  /// Nil without a `type`, or if too long to be a reaction.
  package init?(json: JSONValue) {
    guard let tag = json["type"]?.stringValue, json.utf8.count <= Self.longest else { return nil }
    switch tag {
    case "emoji":
      guard let emoji = json["emoji"]?.stringValue, !emoji.isEmpty, emoji.count == 1 else { return nil }
      self = .emoji(emoji)
    case "unknown":
      guard let inner = json["tag"]?.stringValue, let whole = json["json"], case .object = whole else { return nil }
      self = .unknown(tag: inner, json: whole)
    default:
      guard case .object = json else { return nil }
      self = .unknown(tag: tag, json: json)
    }
  }

  private static let longest = 512
}

/// The number of sides of a conversation with the same reaction.
package struct ReactionCount: Hashable, Sendable {
  package var reaction: MessageReaction
  package var userReacted: Bool
  package var total: Int64

  package init(reaction: MessageReaction, userReacted: Bool, total: Int64) {
    self.reaction = reaction
    self.userReacted = userReacted
    self.total = total
  }

  /// The `CIReactionCount` shape.
  package var json: JSONValue {
    .compact(["reaction": reaction.json, "userReacted": .bool(userReacted), "totalReacted": .integer(total)])
  }
}

/// A reaction with its message.
package struct ReactionInChat: Hashable, Sendable {
  package var info: ChatInfo
  /// Which side reacted.
  package var direction: MessageDirection
  /// Includes the reaction.
  package var item: ChatItemRecord
  package var sentAt: WallTime
  package var reaction: MessageReaction

  package init(
    info: ChatInfo, direction: MessageDirection, item: ChatItemRecord, sentAt: WallTime, reaction: MessageReaction
  ) {
    self.info = info
    self.direction = direction
    self.item = item
    self.sentAt = sentAt
    self.reaction = reaction
  }

  /// The `ACIReaction` shape.
  package var json: JSONValue {
    .compact([
      "chatInfo": info.json,
      "chatReaction": .compact([
        "chatDir": .tagged(direction == .sent ? "directSnd" : "directRcv"), "chatItem": item.json,
        "sentAt": .string(sentAt.iso8601), "reaction": reaction.json,
      ]),
    ])
  }
}
