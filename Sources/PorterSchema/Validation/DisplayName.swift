/// Names shown to others.
package enum DisplayName {
  /// The maximum length, in Unicode scalars.
  package static let maximumLength = 50

  /// The nearest allowed name; empty if nothing of it is allowed. A name is allowed if this returns it unchanged.
  ///
  /// It starts with a letter, a number or a symbol; spaces are single and inside; there are at most three punctuation
  /// marks in a row. `'` is left out, because it quotes names in commands; so are invisible characters, because they
  /// make two names look alike.
  package static func sanitized(_ name: String) -> String {
    var valid = String.UnicodeScalarView()
    var previous = Kind.start
    var marksInARow = 0
    var length = 0
    for scalar in name.unicodeScalars where length < maximumLength {
      let kind = Kind(scalar)
      guard isAllowed(kind, after: previous, marksInARow) else { continue }
      valid.append(kind == .space ? " " : scalar)
      length += 1
      marksInARow = kind == .mark ? marksInARow + 1 : 0
      previous = kind
    }
    while valid.last == " " { valid.removeLast() }
    return String(valid)
  }

  /// Letters, symbols and marks that fonts draw as blank, although Unicode does not class them as ignorable: the empty
  /// Braille pattern, the object replacement, two blank hieroglyphs, the Khitan filler, the null notehead.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{2800}", "\u{FFFC}", "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}": true
    default: false
    }
  }

  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isDefaultIgnorableCodePoint || isBlank(scalar)
  }

  private enum Kind {
    case start, base, combining, mark, space, hidden

    init(_ scalar: Unicode.Scalar) {
      guard !isInvisible(scalar) else {
        self = .hidden
        return
      }
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
        .letterNumber, .otherNumber, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
        self = .base
      case .nonspacingMark, .spacingMark, .enclosingMark: self = .combining
      case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation:
        self = scalar == "'" ? .hidden : .mark
      case .spaceSeparator, .lineSeparator, .paragraphSeparator: self = .space
      case .control: self = (0x09...0x0d).contains(scalar.value) ? .space : .hidden
      case .format, .surrogate, .privateUse, .unassigned: self = .hidden
      @unknown default: self = .hidden
      }
    }
  }

  private static func isAllowed(_ kind: Kind, after previous: Kind, _ marksInARow: Int) -> Bool {
    switch (kind, previous) {
    case (.base, _): true
    case (.combining, .base), (.combining, .combining): true
    case (.mark, .base), (.mark, .combining), (.mark, .space): true
    case (.mark, .mark): marksInARow < 3
    case (.space, .base), (.space, .combining), (.space, .mark): true
    case (.start, _), (.hidden, _), (.combining, _), (.mark, _), (.space, _): false
    }
  }
}
