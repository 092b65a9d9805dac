import PorterSchema

/// Makes text from other people fit to show.
enum MessageText {
  /// Limits of a text, and of a name. The limit in bytes keeps a text of few but long characters from costing much.
  private struct Limit {
    var characters: Int
    var bytes: Int

    /// A push's whole payload is at most 4096 bytes, so no platform shows more; half of it fills a phone's screen, and
    /// leaves room for the title. A message of 16 KB would only cost memory, of which an extension has little.
    static let body = Limit(characters: .max, bytes: 2_048)
    /// Ours are at most 50 characters; a contact's program may allow more.
    static let name = Limit(characters: 64, bytes: 512)
  }

  /// The text of a message, with `...` for the parts its author marked as secret: anyone holding the phone can read a
  /// notification.
  static func body(_ content: MessageContent, fileName: String?) -> ShownText {
    let text = withoutSecrets(content.text)
    switch content.kind {
    case .voice(_, let duration) where text.isEmpty: return .phrase(.voiceMessage, [.text(clock(duration))])
    case .report(_, let reason):
      let reported = cleanBody(text)
      return .phrase(.report, [isBlank(reported) ? .phrase(Phrase(reason)) : .text(reported)])
    case .text, .link, .image, .video, .voice, .file, .unknown: break
    }
    let shown = cleanBody(text.isEmpty ? fileName ?? "" : text)
    return isBlank(shown) ? .phrase(.newMessageBody) : .verbatim(shown)
  }

  static func withoutSecrets(_ text: String) -> String {
    guard let runs = FormattedText.parse(text) else { return text }
    return runs.map { $0.format == .secret ? "..." : $0.text }.joined()
  }

  /// One line, containing nothing that could pass for more than a name. Nil if none of it is visible.
  static func name(_ name: String) -> String? {
    var cleaned = CleanText(limit: Limit.name.bytes)
    for scalar in name.unicodeScalars where !cleaned.isFull {
      if scalar.properties.isWhitespace || scalar.value == 0x85 {
        cleaned.appendSpace()
      } else if !isControl(scalar), !DisplayName.isInvisible(scalar) || cleaned.shapes(scalar) {
        cleaned.append(scalar)
      }
    }
    let shown = shortened(cleaned.trimmed, .name)
    return isBlank(shown) ? nil : shown
  }

  /// Minutes and seconds.
  private static func clock(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(twoDigits(seconds / 60)):\(twoDigits(seconds % 60))"
  }

  /// Removes control characters except tabs and line ends. Marks of direction end with their line, and close nothing
  /// outside it.
  private static func cleanBody(_ text: String) -> String {
    var cleaned = CleanText(limit: Limit.body.bytes)
    for scalar in text.unicodeScalars where !cleaned.isFull {
      if let shown = lineBreak(scalar) {
        cleaned.closeIsolates()
        cleaned.append(shown)
      } else if Direction.isOpening(scalar) {
        cleaned.openIsolate(scalar)
      } else if Direction.isClosing(scalar) {
        cleaned.closeIsolate()
      } else if !isControl(scalar) {
        cleaned.append(scalar)
      }
    }
    cleaned.closeIsolates()
    return shortened(cleaned.text, .body)
  }

  /// The replacement for a character that ends a line or, like a tab, a run of text. Nil for any other character.
  private static func lineBreak(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x09, 0x0a, 0x0d, 0x2028, 0x2029: scalar
    case 0x0b, 0x0c, 0x85: "\n"
    default: nil
    }
  }

  /// Control characters, and marks that change the direction of all text after them.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x202a...0x202e, 0xfff9...0xfffb: true
    default: false
    }
  }

  private static func isBlank(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || DisplayName.isInvisible($0) }
  }

  /// Cuts between characters, with an ellipsis. Isolates left open by the cut are closed after it.
  private static func shortened(_ text: String, _ limit: Limit) -> String {
    guard text.utf8.count > limit.bytes || text.count > limit.characters else { return text }
    let ellipsis = "…"
    var kept = ""
    var (bytes, count, open) = (ellipsis.utf8.count, 1, 0)
    for character in text {
      var opened = open
      for scalar in character.unicodeScalars {
        if Direction.isOpening(scalar) { opened += 1 } else if Direction.isClosing(scalar) { opened -= 1 }
      }
      bytes += character.utf8.count
      count += 1
      if bytes + opened * CleanText.closingBytes > limit.bytes || count > limit.characters { break }
      open = opened
      kept.append(character)
    }
    return kept + String(repeating: "\u{2069}", count: open) + ellipsis
  }
}

extension Phrase {
  init(_ reason: MessageContent.ReportReason) {
    switch reason {
    case .spam: self = .spam
    case .content: self = .inappropriateContent
    case .community: self = .guidelinesViolation
    case .profile: self = .inappropriateProfile
    case .other: self = .anotherReason
    }
  }
}
