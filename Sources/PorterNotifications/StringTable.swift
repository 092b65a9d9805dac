/// The wordings of all phrases in one language: a host's, and below them the shipped ones.
package struct StringTable: Hashable, Sendable {
  /// A language with shipped wordings.
  package enum Shipped: String, Hashable, Sendable, CaseIterable {
    case english = "en"
    case arabic = "ar"
    case japanese = "ja"

    /// The tag's language, or English.
    init(tag: String) {
      let language = tag.lowercased().prefix { $0 != "-" && $0 != "_" }
      self = Self(rawValue: String(language)) ?? .english
    }

    func wording(_ phrase: Phrase) -> Wording {
      switch self {
      case .english: phrase.english
      case .arabic: phrase.arabic
      case .japanese: phrase.japanese
      }
    }
  }

  /// BCP 47, as given by the host.
  package let language: String
  let shipped: Shipped
  private let own: [Phrase: Wording]
  private let rule: PluralRule

  package init(_ shipped: Shipped = .english) { self.init(language: shipped.rawValue, own: [:]) }

  /// Phrases missing from `own` are worded as in the shipped language.
  init(language: String, own: [Phrase: Wording]) {
    self.language = language
    self.own = own
    shipped = Shipped(tag: language)
    rule = PluralRule(language: language)
  }

  package static let english = StringTable()

  /// Wordings that are not valid templates never get into a table, and the shipped ones are tested.
  func text(_ phrase: Phrase, _ arguments: [ShownText.Argument]) -> String {
    let (wording, rule) =
      own[phrase].map { ($0, self.rule) } ?? (shipped.wording(phrase), PluralRule(language: shipped.rawValue))
    var count = 0
    for case .count(let number) in arguments { count = number }
    guard let template = Template(wording.form(rule.category(of: count))) else { return phrase.rawValue }
    return fill(template, arguments)
  }

  /// Only the template is searched for places, so a name that reads `%@` stays a name.
  private func fill(_ template: Template, _ arguments: [ShownText.Argument]) -> String {
    let texts = arguments.map { argument in
      switch argument {
      case .text(let text): text
      case .phrase(let phrase): text(phrase, [])
      case .count(let count): String(count)
      }
    }
    let literals = template.parts.map { part in if case .literal(let text) = part { text } else { "" } }
    let isolates = (literals + texts).contains { Direction.mayMatter(in: $0) }
    var filled = ""
    for part in template.parts {
      switch part {
      case .literal(let text): filled += text
      case .argument(let index, _) where index < texts.count:
        if isolates, case .count = arguments[index] {
          filled += texts[index]
        } else {
          filled += isolates ? Direction.isolated(texts[index]) : texts[index]
        }
      case .argument: break
      }
    }
    return filled
  }
}
