import PorterJSON

/// The content of a message. This library sends and understands text; the other kinds are those of the interface, so
/// that a message from a newer or richer sender is kept whole and shown as well as possible.
package struct MessageContent: Hashable, Sendable {
  package enum ReportReason: String, Hashable, Sendable, CaseIterable {
    case spam, content, community, profile, other
  }

  package enum Kind: Hashable, Sendable {
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
  }

  package var kind: Kind
  /// Members that are not part of the kind, exactly as received: they are kept, and passed on.
  package var others: JSONObject

  package init(_ kind: Kind, others: JSONObject = JSONObject()) {
    self.kind = kind
    self.others = others
  }

  package static func text(_ text: String) -> MessageContent { MessageContent(.text(text)) }

  package var text: String {
    switch kind {
    case .text(let text), .link(let text, _), .image(let text, _), .video(let text, _, _), .voice(let text, _),
      .file(let text), .report(let text, _), .unknown(_, let text, _):
      text
    }
  }

  /// The `MsgContent` shape.
  package var json: JSONValue {
    guard !others.members.isEmpty, case .object(var object) = kind.json else { return kind.json }
    object.merge(others)
    return .object(object)
  }

  /// Parses the content of a message's body. A known kind whose members do not fit becomes `unknown` with its text, so
  /// that an odd message is still shown. Nil without `type` and `text`.
  package init?(json: JSONValue) {
    guard case .object(let object) = json, let tag = json["type"]?.stringValue, let text = json["text"]?.stringValue
    else { return nil }
    guard let (kind, known) = Kind.known(tag: tag, text: text, json: json) else {
      self.init(.unknown(tag: tag, text: text, json: json))
      return
    }
    // All known members are present.
    guard object.members.count > known.count else {
      self.init(kind)
      return
    }
    self.init(
      kind, others: JSONObject(object.members.filter { !known.contains($0.name) }.map { ($0.name, $0.value) }))
  }
}

extension MessageContent.Kind {
  fileprivate var json: JSONValue {
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

  /// A kind known to this library, and the names of its members, all of which the object has.
  fileprivate static func known(tag: String, text: String, json: JSONValue) -> (MessageContent.Kind, [String])? {
    let image = json["image"]?.stringValue
    let duration = json["duration"]?.integerValue
    switch tag {
    case "text": return (.text(text), ["type", "text"])
    case "file": return (.file(text: text), ["type", "text"])
    case "link":
      guard let preview = linkPreview(json["preview"]) else { return nil }
      return (.link(text: text, preview: preview), ["type", "text", "preview"])
    case "image": return image.map { (.image(text: text, image: $0), ["type", "text", "image"]) }
    case "video":
      guard let image, let duration else { return nil }
      return (.video(text: text, image: image, duration: duration), ["type", "text", "image", "duration"])
    case "voice": return duration.map { (.voice(text: text, duration: $0), ["type", "text", "duration"]) }
    case "report":
      let reason = (json["reason"]?.stringValue).flatMap(MessageContent.ReportReason.init)
      return reason.map { (.report(text: text, reason: $0), ["type", "text", "reason"]) }
    case "unknown":
      guard let tag = json["tag"]?.stringValue, let whole = json["json"] else { return nil }
      return (.unknown(tag: tag, text: text, json: whole), ["type", "text", "tag", "json"])
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
