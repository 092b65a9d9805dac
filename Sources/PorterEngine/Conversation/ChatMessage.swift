import PorterJSON
import PorterPlatform
import PorterSchema

/// A message from one side to the other, inside the encryption; JSON in the style of SimpleX's chat protocol.
enum ChatMessage: Equatable, Sendable {
  /// The sender's profile. `replyMailbox` is where the joining side wants its answers; the inviting side omits it.
  case information(Profile, replyMailbox: [UInt8]?)
  /// The joining side's answer to the inviting side's profile: the connection works both ways.
  case greeted
  case content(Content)
  case call(CallSignal)
  /// A message was edited.
  case edit(Edit)
  /// A message is deleted.
  case removal(sharedID: [UInt8])
  case reaction(Reaction)
  /// A message has arrived.
  case receipt(sharedID: [UInt8])
  /// The sender has deleted the connection, and no longer reads anything.
  case left
  /// An event of a later version: kept in the ledger, not shown.
  case unknown(event: String)

  struct Content: Equatable, Sendable {
    var content: MessageContent
    /// The message's ID, shared by both sides.
    var sharedID: [UInt8]
    var sentAt: WallTime
    var quote: Quote?
    var traits = MessageTraits()
  }

  /// Whether to notify the receiver's notification server; SimpleX's flag `T`.
  var notifies: Bool {
    switch self {
    // The answer connects the receiving side, which notifies its user.
    case .content, .greeted: true
    case .call(let signal): signal.notifies
    // As in SimpleX: a message that is not shown again with a sound wakes no device.
    case .information, .left, .unknown, .edit, .removal, .reaction, .receipt: false
    }
  }

  var bytes: [UInt8] { json.utf8 }

  private var json: JSONValue {
    switch self {
    case .information(let profile, let replyMailbox):
      [
        "event": "x.info",
        "params": .compact([
          "profile": profile.json,
          "reply": replyMailbox.map { .string(TextEncoding.base64URL($0)) },
        ]),
      ]
    case .content(let content):
      [
        "event": "x.msg.new", "msgId": .string(TextEncoding.base64URL(content.sharedID)),
        "params": .compact([
          "content": content.content.json, "sentAt": .string(content.sentAt.iso8601), "quote": content.quote?.json,
          "ttl": content.traits.secondsToLive.map { .integer($0) }, "live": content.traits.isLive ? .bool(true) : nil,
          "mentions": content.traits.mentionsJSON,
        ]),
      ]
    case .call(let signal): signal.json
    case .edit(let edit): edit.json
    case .removal(let sharedID): Self.about(sharedID, "x.msg.del")
    case .reaction(let reaction): reaction.json
    case .receipt(let sharedID): Self.about(sharedID, "x.msg.rcpt")
    case .left: ["event": "x.direct.del", "params": [:]]
    case .greeted: ["event": "x.ok", "params": [:]]
    case .unknown(let event): ["event": .string(event), "params": [:]]
    }
  }

  /// Nil if the bytes are not a message of this protocol at all.
  init?(bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let event = json["event"]?.stringValue, let params = json["params"]
    else { return nil }
    switch event {
    case "x.info":
      guard let profile = params["profile"].flatMap({ Profile(json: $0) }) else { return nil }
      let reply = params["reply"]?.stringValue.flatMap { TextEncoding.base64URLDecoded($0) }
      guard reply == nil || reply?.count == 24 else { return nil }
      self = .information(profile, replyMailbox: reply)
    case "x.msg.new":
      guard let sharedID = Self.sharedID(json), let content = params["content"].flatMap({ MessageContent(json: $0) })
      else { return nil }
      let sentAt = params["sentAt"]?.stringValue.flatMap { WallTime(iso8601: $0) }
      self = .content(
        Content(
          content: content, sharedID: sharedID, sentAt: sentAt ?? WallTime(milliseconds: 0),
          // A malformed quote is left out, so that the message itself is still shown.
          quote: params["quote"].flatMap { Quote(json: $0) }, traits: MessageTraits(json: params)))
    case "x.msg.update":
      guard let edit = Edit(json: params) else { return nil }
      self = .edit(edit)
    case "x.msg.del":
      guard let sharedID = Self.sharedID(params) else { return nil }
      self = .removal(sharedID: sharedID)
    case "x.msg.react":
      guard let reaction = Reaction(json: params) else { return nil }
      self = .reaction(reaction)
    case "x.msg.rcpt":
      guard let sharedID = Self.sharedID(params) else { return nil }
      self = .receipt(sharedID: sharedID)
    case "x.call.inv", "x.call.offer", "x.call.answer", "x.call.extra", "x.call.end":
      guard let signal = CallSignal(event: event, params) else { return nil }
      self = .call(signal)
    case "x.direct.del": self = .left
    case "x.ok": self = .greeted
    default: self = .unknown(event: event)
    }
  }
}
