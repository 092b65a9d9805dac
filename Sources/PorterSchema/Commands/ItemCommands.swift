import PorterJSON

/// How a sending command treats its messages.
package struct SendOptions: Hashable, Sendable {
  /// Whether the message is still being written; edits complete it.
  package var isLive: Bool
  /// The number of seconds after which the messages disappear.
  package var secondsToLive: Int64?

  package init(isLive: Bool = false, secondsToLive: Int64? = nil) {
    self.isLive = isLive
    self.secondsToLive = secondsToLive
  }

  /// Ten years: more is effectively unlimited, and sums stay within range.
  package static let longestLife: Int64 = 315_360_000
}

/// The new contents of a message.
package struct UpdatedMessage: Hashable, Sendable {
  package var content: MessageContent
  /// The names it mentions.
  package var mentions: [String]

  package init(_ content: MessageContent, mentions: [String] = []) {
    self.content = content
    self.mentions = mentions
  }
}

/// The effect of deleting a message; SimpleX's `CIDeleteMode`.
package enum ItemDeletion: String, Hashable, Sendable, CaseIterable {
  /// For both sides.
  case broadcast
  /// On this side only.
  case `internal`
  /// On this side only, leaving a mark that there was a message.
  case internalMark
  /// From a group's history.
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

  /// The keys of `mentions`. Their values are members of groups.
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
