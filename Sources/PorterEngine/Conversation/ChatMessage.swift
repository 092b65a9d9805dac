import PorterJSON
import PorterPlatform
import PorterSchema

/// What one side says to the other, inside the encryption; JSON in the manner of SimpleX's chat protocol.
enum ChatMessage: Equatable, Sendable {
  /// Who I am. `replyMailbox` is where the joining side wants its answers; the inviting side leaves it out.
  case information(displayName: String, fullName: String, replyMailbox: [UInt8]?)
  /// The joining side's answer to who the inviting side is: the connection works both ways.
  case greeted
  case content(MessageContent, sharedID: [UInt8], sentAt: WallTime)
  /// An event of a later version: kept in the ledger, not shown.
  case unknown(event: String)

  /// Whether the receiver's notification server is to be told; SimpleX's flag `T`.
  var notifies: Bool {
    switch self {
    case .content: true
    case .information, .greeted, .unknown: false
    }
  }

  var bytes: [UInt8] { json.utf8 }

  private var json: JSONValue {
    switch self {
    case .information(let displayName, let fullName, let replyMailbox):
      [
        "event": "x.info",
        "params": .compact([
          "profile": ["displayName": .string(displayName), "fullName": .string(fullName)],
          "reply": replyMailbox.map { .string(TextEncoding.base64URL($0)) },
        ]),
      ]
    case .content(let content, let sharedID, let sentAt):
      [
        "event": "x.msg.new", "msgId": .string(TextEncoding.base64URL(sharedID)),
        "params": ["content": content.json, "sentAt": .string(sentAt.iso8601)],
      ]
    case .greeted: ["event": "x.ok", "params": [:]]
    case .unknown(let event): ["event": .string(event), "params": [:]]
    }
  }

  /// Nil for what is no message of this protocol at all.
  init?(bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let event = json["event"]?.stringValue, let params = json["params"]
    else { return nil }
    switch event {
    case "x.info":
      guard let profile = params["profile"], let displayName = profile["displayName"]?.stringValue else { return nil }
      let reply = params["reply"]?.stringValue.flatMap { TextEncoding.base64URLDecoded($0) }
      guard reply == nil || reply?.count == 24 else { return nil }
      self = .information(
        displayName: displayName, fullName: profile["fullName"]?.stringValue ?? "", replyMailbox: reply)
    case "x.msg.new":
      guard let sharedID = json["msgId"]?.stringValue.flatMap({ TextEncoding.base64URLDecoded($0) }),
        let content = params["content"].flatMap({ MessageContent(json: $0) })
      else { return nil }
      let sentAt = params["sentAt"]?.stringValue.flatMap { WallTime(iso8601: $0) }
      self = .content(content, sharedID: sharedID, sentAt: sentAt ?? WallTime(milliseconds: 0))
    case "x.ok": self = .greeted
    default: self = .unknown(event: event)
    }
  }
}
