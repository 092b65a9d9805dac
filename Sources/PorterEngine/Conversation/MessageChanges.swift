import PorterJSON
import PorterPlatform
import PorterSchema

/// Attributes of a message besides its content.
struct MessageTraits: Equatable, Sendable {
  /// Still being written; edits complete it.
  var isLive = false
  /// How long it is kept after it was read.
  var secondsToLive: Int64?
  /// Names that it mentions.
  var mentions: [String] = []

  init(isLive: Bool = false, secondsToLive: Int64? = nil, mentions: [String] = []) {
    self.isLive = isLive
    self.secondsToLive = secondsToLive
    self.mentions = mentions
  }

  /// Malformed traits are left out, so that the message itself is still shown.
  init(json: JSONValue) {
    isLive = json["live"]?.boolValue ?? false
    secondsToLive = (json["ttl"]?.integerValue).flatMap { $0 > 0 ? min($0, SendOptions.longestLife) : nil }
    if case .object(let names)? = json["mentions"] { mentions = names.members.map(\.name) }
  }

  /// What the mentions add to a message, which other members of fixed size leave room for.
  var mentionBytes: Int { mentionsJSON?.text.utf8.count ?? 0 }

  /// As in SimpleX groups, where each name maps to a member.
  var mentionsJSON: JSONValue? {
    guard !mentions.isEmpty else { return nil }
    return .object(JSONObject(mentions.map { ($0, JSONValue.object(JSONObject())) }))
  }

  /// Whether a message with these traits mentions the user of this name: in its list, or as `@name` in its text.
  func mention(_ name: String, in content: MessageContent) -> Bool {
    mentions.contains(name) || FormattedText.mentions(name, in: content.text)
  }
}

extension ChatMessage {
  /// SimpleX's `x.msg.update`.
  struct Edit: Equatable, Sendable {
    var sharedID: [UInt8]
    var content: MessageContent
    var traits = MessageTraits()

    var json: JSONValue {
      [
        "event": "x.msg.update",
        "params": .compact([
          "msgId": .string(TextEncoding.base64URL(sharedID)), "content": content.json,
          "ttl": traits.secondsToLive.map { .integer($0) }, "live": traits.isLive ? .bool(true) : nil,
          "mentions": traits.mentionsJSON,
        ]),
      ]
    }

    init(sharedID: [UInt8], content: MessageContent, traits: MessageTraits = MessageTraits()) {
      (self.sharedID, self.content, self.traits) = (sharedID, content, traits)
    }

    init?(json: JSONValue) {
      guard let sharedID = ChatMessage.sharedID(json),
        let content = json["content"].flatMap({ MessageContent(json: $0) })
      else { return nil }
      self.init(sharedID: sharedID, content: content, traits: MessageTraits(json: json))
    }
  }

  /// SimpleX's `x.msg.react`.
  struct Reaction: Equatable, Sendable {
    var sharedID: [UInt8]
    var reaction: MessageReaction
    var isAdded: Bool

    var json: JSONValue {
      [
        "event": "x.msg.react",
        "params": [
          "msgId": .string(TextEncoding.base64URL(sharedID)), "reaction": reaction.json, "add": .bool(isAdded),
        ],
      ]
    }

    init(sharedID: [UInt8], reaction: MessageReaction, isAdded: Bool) {
      (self.sharedID, self.reaction, self.isAdded) = (sharedID, reaction, isAdded)
    }

    init?(json: JSONValue) {
      guard let sharedID = ChatMessage.sharedID(json), let isAdded = json["add"]?.boolValue,
        let reaction = json["reaction"].flatMap({ MessageReaction(json: $0) })
      else { return nil }
      self.init(sharedID: sharedID, reaction: reaction, isAdded: isAdded)
    }
  }

  /// An event that carries only the ID of its message.
  static func about(_ sharedID: [UInt8], _ event: String) -> JSONValue {
    ["event": .string(event), "params": ["msgId": .string(TextEncoding.base64URL(sharedID))]]
  }

  static func sharedID(_ params: JSONValue) -> [UInt8]? {
    // Our IDs have 12 bytes; overlong ones are not stored.
    params["msgId"]?.stringValue.flatMap { TextEncoding.base64URLDecoded($0) }.flatMap {
      (1...64).contains($0.count) ? $0 : nil
    }
  }
}
