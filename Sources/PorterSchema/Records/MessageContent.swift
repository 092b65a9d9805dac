import PorterJSON

/// The content of a message. This library sends and understands text; the other kinds are those of the interface, so
/// that a message of a newer or richer sender is kept whole and shown as well as possible.
package enum MessageContent: Hashable, Sendable {
  package enum ReportReason: String, Hashable, Sendable, CaseIterable {
    case spam, content, community, profile, other
  }

  case text(String)
  /// `preview` is an object of the `LinkPreview` shape.
  case link(text: String, preview: JSONValue)
  case image(text: String, image: String)
  /// `duration` in seconds, here and below.
  case video(text: String, image: String, duration: Int64)
  case voice(text: String, duration: Int64)
  case file(text: String)
  case report(text: String, reason: ReportReason)
  /// `json` is the whole object as received.
  case unknown(tag: String, text: String, json: JSONValue)

  package var text: String {
    switch self {
    case .text(let text), .link(let text, _), .image(let text, _), .video(let text, _, _), .voice(let text, _),
      .file(let text), .report(let text, _), .unknown(_, let text, _):
      text
    }
  }

  /// The `MsgContent` shape.
  package var json: JSONValue {
    switch self {
    case .text(let text): .tagged("text", ["text": .string(text)])
    case .link(let text, let preview): .tagged("link", ["text": .string(text), "preview": preview])
    case .image(let text, let image): .tagged("image", ["text": .string(text), "image": .string(image)])
    case .video(let text, let image, let duration):
      .tagged("video", ["text": .string(text), "image": .string(image), "duration": .integer(duration)])
    case .voice(let text, let duration):
      .tagged("voice", ["text": .string(text), "duration": .integer(duration)])
    case .file(let text): .tagged("file", ["text": .string(text)])
    case .report(let text, let reason):
      .tagged("report", ["text": .string(text), "reason": .string(reason.rawValue)])
    case .unknown(let tag, let text, let json):
      .tagged("unknown", ["tag": .string(tag), "text": .string(text), "json": json])
    }
  }

  /// Parses the content of a message's body. A known kind whose members do not fit becomes `unknown` with its text, so
  /// that an odd message is still shown. Nil without `type` and `text`.
  package init?(json: JSONValue) {
    guard let tag = json["type"]?.stringValue, let text = json["text"]?.stringValue else { return nil }
    switch tag {
    case "text": self = .text(text)
    case "file": self = .file(text: text)
    case "unknown": self = .unknown(tag: json["tag"]?.stringValue ?? tag, text: text, json: json["json"] ?? json)
    default: self = Self.rich(tag: tag, text: text, json: json) ?? .unknown(tag: tag, text: text, json: json)
    }
  }

  private static func rich(tag: String, text: String, json: JSONValue) -> MessageContent? {
    let image = json["image"]?.stringValue
    let duration = json["duration"]?.integerValue
    switch tag {
    case "link": return linkPreview(json["preview"]).map { .link(text: text, preview: $0) }
    case "image": return image.map { .image(text: text, image: $0) }
    case "video":
      guard let image, let duration else { return nil }
      return .video(text: text, image: image, duration: duration)
    case "voice": return duration.map { .voice(text: text, duration: $0) }
    case "report":
      let reason = (json["reason"]?.stringValue).flatMap(ReportReason.init)
      return reason.map { .report(text: text, reason: $0) }
    default: return nil
    }
  }

  private static func linkPreview(_ preview: JSONValue?) -> JSONValue? {
    guard let preview, ["uri", "title", "description", "image"].allSatisfy({ preview[$0]?.stringValue != nil }) else {
      return nil
    }
    return preview
  }
}
