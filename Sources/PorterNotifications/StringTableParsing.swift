import PorterJSON
import PorterSchema

/// A host's string table, as `np_set_strings` takes it: `{"language": …, "strings": {key: text or {category: text}}}`.
extension StringTable {
  /// Limit of the whole text, in bytes: a hundred phrases in six forms, several times over.
  package static let maximumBytes = 65_536
  /// Limit of one wording. A platform shows about 200 characters of a notification's text.
  static let maximumWording = 1_024

  /// Nil for `{}`: no table, so the next in line decides. Nothing is taken from a table with an error.
  package static func parsed(_ text: String) throws(ChatError) -> StringTable? {
    guard text.utf8.count <= maximumBytes else {
      throw .nightporter(.stringsInvalid(key: nil, "a table of at most 65536 bytes"))
    }
    guard case .object(let table)? = try? JSONValue(parsing: text) else {
      throw .nightporter(.stringsInvalid(key: nil, "a JSON object with the members language and strings"))
    }
    if table.members.isEmpty { return nil }
    for (name, _) in table.members where name != "language" && name != "strings" {
      throw .nightporter(.stringsInvalid(key: bounded(name), "no other members than language and strings"))
    }
    let language = try language(table["language"])
    var own = [Phrase: Wording]()
    guard let strings = (table["strings"] ?? .object(JSONObject())).objectValue else {
      throw .nightporter(.stringsInvalid(key: "strings", "an object"))
    }
    let rule = PluralRule(language: language)
    for (key, value) in strings.members {
      guard let phrase = Phrase(rawValue: key) else {
        throw .nightporter(.stringsInvalid(key: bounded(key), "one of the phrases that spec/protocol/strings.md lists"))
      }
      own[phrase] = try wording(value, phrase, rule)
    }
    return StringTable(language: language, own: own)
  }

  /// For a table that does not parse, such as one of a version with other phrases: the shipped wordings in its
  /// language.
  package static func shipped(insteadOf text: String) -> StringTable {
    guard case .object(let table)? = try? JSONValue(parsing: text), let tag = try? language(table["language"]) else {
      return .english
    }
    return StringTable(language: tag, own: [:])
  }

  private static func language(_ value: JSONValue?) throws(ChatError) -> String {
    guard let value else { return Shipped.english.rawValue }
    guard let tag = value.stringValue, (2...35).contains(tag.utf8.count), tag.utf8.allSatisfy(isTagByte) else {
      throw .nightporter(.stringsInvalid(key: "language", "a language tag such as ar or pt-BR"))
    }
    return tag
  }

  private static func isTagByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func wording(
    _ value: JSONValue, _ phrase: Phrase, _ rule: PluralRule
  ) throws(ChatError) -> Wording {
    if let text = value.stringValue {
      try check(text, phrase, mayOmitCount: false)
      return phrase.isPlural ? .plural([:], other: text) : .plain(text)
    }
    guard phrase.isPlural, let forms = value.objectValue else {
      throw .nightporter(
        .stringsInvalid(key: phrase.rawValue, phrase.isPlural ? "a text, or one for each plural form" : "a text"))
    }
    var texts = [PluralCategory: String]()
    for (name, value) in forms.members {
      guard let category = PluralCategory(rawValue: name) else {
        throw .nightporter(
          .stringsInvalid(key: phrase.rawValue, "the plural forms zero, one, two, few, many and other"))
      }
      guard let text = value.stringValue else {
        throw .nightporter(.stringsInvalid(key: phrase.rawValue, "texts as plural forms"))
      }
      // A form for several numbers must contain the number.
      try check(text, phrase, mayOmitCount: category != .other && rule.isOneNumber(category))
      texts[category] = text
    }
    guard let other = texts.removeValue(forKey: .other) else {
      throw .nightporter(.stringsInvalid(key: phrase.rawValue, "the plural form other"))
    }
    return .plural(texts, other: other)
  }

  private static func check(_ text: String, _ phrase: Phrase, mayOmitCount: Bool) throws(ChatError) {
    guard (1...maximumWording).contains(text.utf8.count) else {
      throw .nightporter(.stringsInvalid(key: phrase.rawValue, "a text of 1 to 1024 bytes"))
    }
    guard let template = Template(text), template.fits(phrase.parameters, mayOmitCount: mayOmitCount) else {
      throw .nightporter(
        .stringsInvalid(key: phrase.rawValue, "each placeholder of the key once: %@, %d, or numbered as in %2$@"))
    }
  }

  /// Bounds a host's key for an error, since it may be anything.
  private static func bounded(_ key: String) -> String {
    String(String.UnicodeScalarView(key.unicodeScalars.prefix(80)))
  }
}
