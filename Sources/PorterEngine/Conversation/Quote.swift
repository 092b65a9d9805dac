import PorterJSON
import PorterPlatform
import PorterSchema

/// A quoted message in its transmitted form: the message's ID and time, which side wrote it, and its content.
struct Quote: Equatable, Sendable {
  var sharedID: [UInt8]
  var sentAt: WallTime
  /// Whether the quoting side wrote it.
  var isOwn: Bool
  var content: MessageContent

  /// SimpleX's `QuotedMsg`.
  var json: JSONValue {
    [
      "content": content.json,
      "msgRef": [
        "msgId": .string(TextEncoding.base64URL(sharedID)), "sent": .bool(isOwn), "sentAt": .string(sentAt.iso8601),
      ],
    ]
  }

  init(sharedID: [UInt8], sentAt: WallTime, isOwn: Bool, content: MessageContent) {
    (self.sharedID, self.sentAt, self.isOwn, self.content) = (sharedID, sentAt, isOwn, content)
  }

  init?(json: JSONValue) {
    guard let reference = json["msgRef"], let content = json["content"].flatMap({ MessageContent(json: $0) }),
      let sharedID = reference["msgId"]?.stringValue.flatMap({ TextEncoding.base64URLDecoded($0) }),
      let sentAt = reference["sentAt"]?.stringValue.flatMap({ WallTime(iso8601: $0) }),
      let isOwn = reference["sent"]?.boolValue
    else { return nil }
    self.init(sharedID: sharedID, sentAt: sentAt, isOwn: isOwn, content: content)
  }

  /// The stored form: with the quoted item's local id, if known.
  func stored(itemID: Int64?) -> String {
    JSONValue.compact(["itemId": itemID.map { .integer($0) }, "quote": json]).text
  }
}

extension QuoteRecord {
  /// Nil if malformed. `isSent`: whether the quoting item is sent.
  init?(stored: String, isSent: Bool) {
    guard let json = try? JSONValue(parsing: stored), let quote = json["quote"].flatMap({ Quote(json: $0) }) else {
      return nil
    }
    self.init(
      direction: quote.isOwn == isSent ? .sent : .received, itemID: json["itemId"]?.integerValue,
      sharedID: TextEncoding.base64URL(quote.sharedID), sentAt: quote.sentAt, content: quote.content)
  }
}
