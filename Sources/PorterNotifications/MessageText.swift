import PorterSchema

/// Makes text from other people fit to be shown.
enum MessageText {
  /// Longest body, in bytes of UTF-8. A push's whole payload is 4096 bytes at most, so no platform shows more than
  /// that; half of it fills a phone's screen, and leaves room for the title. A message of 16 KB would only cost memory,
  /// of which an extension has little.
  static let maximumBody = 2_048
  /// Longest name. Ours are at most 50 characters; a contact's program may allow more.
  static let maximumName = 64

  /// The text of a message, with `...` for what its author marked as secret: anyone holding the phone can read a
  /// notification.
  static func body(_ content: MessageContent, fileName: String?) -> ShownText {
    let text = withoutSecrets(content.text)
    switch content {
    case .voice(_, let duration) where text.isEmpty: return .phrase(.voiceMessage, [.text(clock(duration))])
    case .report(_, let reason):
      let reported = text.isEmpty ? reason.rawValue : text
      return .phrase(.report, [.text(clean(reported, maximumBody, keepsLines: true))])
    case .text, .link, .image, .video, .voice, .file, .unknown: break
    }
    let shown = clean(text.isEmpty ? fileName ?? "" : text, maximumBody, keepsLines: true)
    let isBlank = shown.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    return isBlank ? .phrase(.newMessageBody) : .verbatim(shown)
  }

  static func withoutSecrets(_ text: String) -> String {
    guard let runs = FormattedText.parse(text) else { return text }
    return runs.map { $0.format == .secret ? "..." : $0.text }.joined()
  }

  /// One line, containing nothing that could pass for more than a name.
  static func name(_ name: String) -> String { clean(name, maximumName, keepsLines: false) }

  /// Minutes and seconds.
  private static func clock(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(twoDigits(seconds / 60)):\(twoDigits(seconds % 60))"
  }

  /// Without control characters, and cut between characters to at most `limit` bytes, including the ellipsis.
  private static func clean(_ text: String, _ limit: Int, keepsLines: Bool) -> String {
    var cleaned = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09...0x0d, 0x85, 0x2028, 0x2029: cleaned.append(keepsLines ? scalar : " ")
      case 0..<0x20, 0x7f...0x9f: continue
      // Marks that change the direction of all text after them, including the rest of the title.
      case 0x202a...0x202e,
        0x2066...0x2069 where !keepsLines:
        continue
      default: cleaned.append(scalar)
      }
      bytes += UTF8.width(scalar)
      if bytes > limit { break }
    }
    return shortened(String(cleaned), limit)
  }

  private static func shortened(_ text: String, _ limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let ellipsis = "…"
    var kept = ""
    var bytes = ellipsis.utf8.count
    for character in text {
      bytes += character.utf8.count
      if bytes > limit { break }
      kept.append(character)
    }
    return kept + ellipsis
  }
}
