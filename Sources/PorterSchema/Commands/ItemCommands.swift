import PorterJSON

/// How a command that sends treats its messages.
package struct SendOptions: Hashable, Sendable {
  /// The message is still being written; edits complete it.
  package var isLive: Bool
  /// The messages disappear after so many seconds.
  package var secondsToLive: Int64?

  package init(isLive: Bool = false, secondsToLive: Int64? = nil) {
    self.isLive = isLive
    self.secondsToLive = secondsToLive
  }

  /// Ten years: more is as good as unbounded, and sums of it stay within range.
  package static let longestLife: Int64 = 315_360_000
}

/// What a message says from now on.
package struct UpdatedMessage: Hashable, Sendable {
  package var content: MessageContent
  /// Names that it mentions.
  package var mentions: [String]

  package init(_ content: MessageContent, mentions: [String] = []) {
    self.content = content
    self.mentions = mentions
  }
}

/// What deleting a message means; SimpleX's `CIDeleteMode`.
package enum ItemDeletion: String, Hashable, Sendable, CaseIterable {
  /// For both sides.
  case broadcast
  /// Here only.
  case `internal`
  /// Here only, and it stays to be seen that there was one.
  case internalMark
  /// Of a group's history.
  case history
}

extension Command {
  static let itemRules: [Rule] = [
    Rule("/_update item") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      let item = try cursor.spaceAndNumber("a message's id")
      let isLive = try cursor.onOffOption("live") ?? false
      if cursor.skip(" text ") {
        return .updateItem(chat, item, UpdatedMessage(.text(try cursor.nonEmptyRest("a text"))), live: isLive)
      }
      guard cursor.skip(" json ") else { throw cursor.failure("json and a message, or text and a text") }
      let json = try cursor.members(of: try cursor.json("a message"), ["msgContent", "mentions"])
      guard let content = json["msgContent"].flatMap(MessageContent.init(json:)) else {
        throw cursor.failure("msgContent with type and text")
      }
      return .updateItem(chat, item, UpdatedMessage(content, mentions: try mentionedNames(json, cursor)), live: isLive)
    },
    Rule("/_delete item") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      try cursor.expectSpace(before: "messages' ids")
      let items = try cursor.numbers("a message's id")
      guard let mode = ItemDeletion.allCases.first(where: { cursor.skipWord(" \($0.rawValue)") }) else {
        throw cursor.failure("a space and broadcast, internal, internalMark or history")
      }
      return .deleteItems(chat, items, mode)
    },
    Rule("/_reaction") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      let item = try cursor.spaceAndNumber("a message's id")
      try cursor.expectSpace(before: "on or off")
      let isAdded = try cursor.onOff()
      let start = cursor
      let json = try cursor.spaceAndJSON("a reaction")
      guard let reaction = MessageReaction(json: json), reaction.isKnown, json.hasNoMembers(but: reaction.json)
      else {
        throw start.failure("a reaction: type emoji and one of \(MessageReaction.emojis.joined(separator: " "))")
      }
      return .react(chat, item, add: isAdded, reaction)
    },
    Rule("/_set receipts contacts") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      try cursor.expectSpace(before: "on or off")
      let isOn = try cursor.onOff()
      return .setReceipts(user, isOn, overridesContacts: try cursor.onOffOption("clear_overrides") ?? false)
    },
  ]

  /// The keys of `mentions`. What they map to are members of groups.
  static func mentionedNames(_ json: JSONObject, _ cursor: CommandCursor) throws(ChatError) -> [String] {
    let mentions = try cursor.optional(json, "mentions", "an object of numbers") { (value) -> JSONObject? in
      guard case .object(let object) = value, object.members.allSatisfy({ $0.value.integerValue != nil }) else {
        return nil
      }
      return object
    }
    return mentions?.members.map(\.name) ?? []
  }
}
