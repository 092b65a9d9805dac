import PorterJSON

/// A run of a message's text in one format.
package struct FormattedText: Hashable, Sendable {
  package enum Color: String, Hashable, Sendable, CaseIterable {
    case red, green, yellow, blue, magenta, cyan
  }

  package enum Format: Hashable, Sendable {
    case bold, italic, strikeThrough, snippet, secret, small, uri
    case colored(Color)
    case mention(String)

    package var isLink: Bool { self == .uri }

    package var json: JSONValue {
      switch self {
      case .bold: .tagged("bold")
      case .italic: .tagged("italic")
      case .strikeThrough: .tagged("strikeThrough")
      case .snippet: .tagged("snippet")
      case .secret: .tagged("secret")
      case .small: .tagged("small")
      case .uri: .tagged("uri")
      case .colored(let color): .tagged("colored", ["color": .string(color.rawValue)])
      case .mention(let name): .tagged("mention", ["memberName": .string(name)])
      }
    }
  }

  package var format: Format?
  /// Without the marks that set the format.
  package var text: String

  package init(_ format: Format?, _ text: String) {
    self.format = format
    self.text = text
  }

  package var json: JSONValue { .compact(["format": format?.json, "text": .string(text)]) }

  /// The runs of a text, or nil if none of them has a format. Takes time proportional to the text's length.
  package static func parse(_ text: String) -> [FormattedText]? {
    var parser = MarkdownParser(Array(text.utf8))
    let runs = parser.runs()
    return runs.contains { $0.format != nil } ? runs : nil
  }

  /// The answer of `chat_parse_markdown`.
  package static func parseAnswer(_ text: String) -> JSONValue {
    .compact(["formattedText": parse(text).map { .array($0.map(\.json)) }])
  }
}
