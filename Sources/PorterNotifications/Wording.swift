/// A phrase in one language: one text, or one for each plural category that the language needs.
package enum Wording: Hashable, Sendable {
  case plain(String)
  /// Missing forms are worded as `other`.
  case plural([PluralCategory: String], other: String)

  static func plural(
    zero: String? = nil, one: String? = nil, two: String? = nil, few: String? = nil, many: String? = nil, other: String
  ) -> Wording {
    let forms: [(PluralCategory, String?)] = [(.zero, zero), (.one, one), (.two, two), (.few, few), (.many, many)]
    return .plural(
      Dictionary(uniqueKeysWithValues: forms.compactMap { name, text in text.map { (name, $0) } }), other: other)
  }

  func form(_ category: PluralCategory) -> String {
    switch self {
    case .plain(let text): text
    case .plural(let forms, let other): forms[category] ?? other
    }
  }
}

/// A wording's text, parsed: `%@` and `%d` are the next argument, `%2$@` the second one, `%%` is a percent sign.
struct Template {
  enum Part: Hashable {
    case literal(String)
    case argument(Int, Phrase.Parameter)
  }

  private(set) var parts: [Part] = []
  /// The type that each place names.
  private var places: [(argument: Int, parameter: Phrase.Parameter)] {
    parts.compactMap { if case .argument(let index, let parameter) = $0 { (index, parameter) } else { nil } }
  }

  /// Nil if a `%` begins nothing known, or places with and without numbers are mixed.
  init?(_ text: String) {
    var literal = String.UnicodeScalarView()
    var rest = Substring(text).unicodeScalars
    var (next, hasNumbers) = (0, false)
    while let scalar = rest.popFirst() {
      guard scalar == "%" else {
        literal.append(scalar)
        continue
      }
      if rest.first == "%" {
        literal.append(rest.removeFirst())
        continue
      }
      let number = Self.takeNumber(&rest)
      let parameter: Phrase.Parameter
      switch rest.popFirst() {
      case "@"?: parameter = .text
      case "d"?: parameter = .count
      default: return nil
      }
      if next > 0, hasNumbers != (number != nil) { return nil }
      hasNumbers = number != nil
      if !literal.isEmpty { parts.append(.literal(String(literal))) }
      literal = String.UnicodeScalarView()
      parts.append(.argument(number ?? next, parameter))
      next += 1
    }
    if !literal.isEmpty { parts.append(.literal(String(literal))) }
  }

  /// Takes `2$`, as an index from 0; takes nothing else.
  private static func takeNumber(_ text: inout Substring.UnicodeScalarView) -> Int? {
    guard let digit = text.first, (0x31...0x39).contains(digit.value), text.dropFirst().first == "$" else { return nil }
    text.removeFirst(2)
    return Int(digit.value) - 0x31
  }

  /// Whether each text has one place, and the count one, or none if the form `mayOmitCount`.
  func fits(_ parameters: [Phrase.Parameter], mayOmitCount: Bool) -> Bool {
    var used = Set<Int>()
    for place in places {
      guard place.argument < parameters.count, parameters[place.argument] == place.parameter,
        used.insert(place.argument).inserted
      else { return false }
    }
    return parameters.indices.allSatisfy { used.contains($0) || (parameters[$0] == .count && mayOmitCount) }
  }
}
