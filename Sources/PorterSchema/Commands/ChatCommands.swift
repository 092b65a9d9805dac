import PorterJSON
import PorterPlatform

extension Command {
  static let chatRules: [Rule] = [
    Rule("/_get chats") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      let pending = try cursor.onOffOption("pcc") ?? false
      let page = try listPage(&cursor)
      let query = cursor.isAtEnd ? .all : try ChatListQuery(json: try cursor.spaceAndJSON("a query"), at: cursor)
      return .getChats(user: user, pendingConnections: pending, page, query)
    },
    Rule("/_get chat") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      if cursor.skip(" content=") { throw .nightporter(.notSupported("messages by kind")) }
      let page = try chatPage(&cursor)
      return .getChat(chat, page, search: cursor.skip(" search=") ? cursor.rest() : nil)
    },
    Rule("/_read chat items") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      try cursor.expectSpace(before: "messages' ids")
      return .readItems(chat, try cursor.numbers("a message's id"))
    },
    Rule("/_read chat") { (cursor) throws(ChatError) in .readChat(try cursor.chatReference()) },
    Rule("/_read user") { (cursor) throws(ChatError) in .readUser(try cursor.spaceAndNumber("a profile's id")) },
    Rule("/_unread chat") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      try cursor.expectSpace(before: "on or off")
      return .markUnread(chat, try cursor.onOff())
    },
    Rule("/_settings") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      let json = try cursor.spaceAndJSON("settings")
      let object = try cursor.members(of: json, ["enableNtfs", "sendRcpts", "favorite"])
      guard let filter = (object["enableNtfs"]?.stringValue).flatMap(NotificationFilter.init),
        let favorite = object["favorite"]?.boolValue
      else { throw cursor.failure("enableNtfs (none, all or mentions) and favorite") }
      let receipts = try cursor.optional(object, "sendRcpts", "true or false") { $0.boolValue }
      return .setChatSettings(
        chat, ChatSettings(notifications: filter, sendsReceipts: receipts, isFavorite: favorite))
    },
    Rule("/_send") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      var options = SendOptions(isLive: try cursor.onOffOption("live") ?? false)
      if cursor.skip(" ttl=") {
        let start = cursor
        let seconds = try cursor.number("a number of seconds")
        guard (1...SendOptions.longestLife).contains(seconds) else {
          throw start.failure("between 1 and \(SendOptions.longestLife) seconds")
        }
        options.secondsToLive = seconds
      }
      if try cursor.onOffOption("sign") ?? false { throw .nightporter(.notSupported("signed messages")) }
      if cursor.skip(" text ") {
        return .send(chat, [ComposedMessage(.text(try cursor.nonEmptyRest("a text")))], options)
      }
      guard cursor.skip(" json ") else { throw cursor.failure("json and messages, or text and a text") }
      return .send(chat, try composedMessages(&cursor), options)
    },
    Rule("/_delete") { (cursor) throws(ChatError) in
      let chat = try cursor.chatReference()
      let mode = ChatDeletion.allCases.first { cursor.skipWord(" \($0.rawValue)") } ?? .full
      return .deleteChat(chat, mode, notifies: try cursor.onOffOption("notify") ?? true)
    },
  ]

  /// `@name text`, after the `@`.
  static func sendByName(_ cursor: inout CommandCursor) throws(ChatError) -> Command {
    let name = try cursor.name("a contact's name")
    guard cursor.skip(" ") else { throw cursor.failure("a space and a text") }
    return .sendByName(name, ComposedMessage(.text(try cursor.nonEmptyRest("a text"))))
  }

  private static func listPage(_ cursor: inout CommandCursor) throws(ChatError) -> ChatListPage {
    let isAfter = cursor.skip(" after=")
    if isAfter || cursor.skip(" before=") {
      let start = cursor
      guard let time = WallTime(iso8601: try cursor.word("a timestamp")) else { throw start.failure("a timestamp") }
      let count = try count(&cursor)
      return isAfter ? .after(time, count: count) : .before(time, count: count)
    }
    return .last(cursor.skip(" count=") ? try cursor.number("a count") : defaultListCount)
  }

  private static let defaultListCount: Int64 = 5_000

  private static func count(_ cursor: inout CommandCursor) throws(ChatError) -> Int64 {
    guard cursor.skip(" count=") else { throw cursor.failure("a space and count=") }
    return try cursor.number("a count")
  }

  private static func chatPage(_ cursor: inout CommandCursor) throws(ChatError) -> ChatPage {
    if cursor.skip(" count=") { return .last(try cursor.number("a count")) }
    if cursor.skip(" initial=") { return .initial(try cursor.number("a count")) }
    let what = "a message's id"
    if cursor.skip(" after=") { return .after(try cursor.number(what), count: try count(&cursor)) }
    if cursor.skip(" before=") { return .before(try cursor.number(what), count: try count(&cursor)) }
    if cursor.skip(" around=") { return .around(try cursor.number(what), count: try count(&cursor)) }
    throw cursor.failure("count=, after=, before=, around= or initial=")
  }

  private static func composedMessages(_ cursor: inout CommandCursor) throws(ChatError) -> [ComposedMessage] {
    let value = try cursor.json("messages")
    // A single message may come without the brackets.
    let elements = value.arrayValue ?? [value]
    guard !elements.isEmpty else { throw cursor.failure("one message at least") }
    var messages: [ComposedMessage] = []
    for element in elements { messages.append(try ComposedMessage(json: element, at: cursor)) }
    return messages
  }
}

extension ComposedMessage {
  fileprivate init(json: JSONValue, at cursor: CommandCursor) throws(ChatError) {
    let object = try cursor.members(of: json, ["fileSource", "quotedItemId", "msgContent", "mentions"])
    if let file = object["fileSource"], file != .null { throw .nightporter(.notSupported("files")) }
    guard let content = object["msgContent"].flatMap(MessageContent.init(json:)) else {
      throw cursor.failure("msgContent with type and text")
    }
    self.init(
      content, quotedItemID: try cursor.optional(object, "quotedItemId", "a message's id") { $0.integerValue },
      mentions: try Command.mentionedNames(object, cursor))
  }
}

extension ChatListQuery {
  /// Unknown input is refused, never left out: a partly read query would find other chats.
  fileprivate init(json: JSONValue, at cursor: CommandCursor) throws(ChatError) {
    switch json["type"]?.stringValue {
    case "filters":
      let object = try cursor.members(of: json, ["type", "favorite", "unread"])
      let filter = { (name) throws(ChatError) in
        try cursor.optional(object, name, "true or false") { $0.boolValue } ?? false
      }
      self = .filters(favorite: try filter("favorite"), unread: try filter("unread"))
    case "search":
      let object = try cursor.members(of: json, ["type", "search"])
      self = .search(try cursor.optional(object, "search", "a text") { $0.stringValue } ?? "")
    default: throw cursor.failure("a query of type filters or search")
    }
  }
}
