extension FormattedText {
  /// Whether the text mentions this name: as `@name` at the start of a word, or as `@'name'`.
  ///
  /// A name may contain punctuation, and a sentence may continue after a name with punctuation, in many scripts without
  /// a space in between: `@alice、元気?`. So the whole word is checked first, and then whether what follows the name
  /// cannot be part of it.
  package static func mentions(_ name: String, in text: String) -> Bool {
    guard !name.isEmpty, let runs = parse(text) else { return false }
    for (index, run) in runs.enumerated() {
      guard case .mention(let found)? = run.format else { continue }
      if found == name { return true }
      // In quotation marks, the name is everything between them.
      guard run.text == "@" + found else { continue }
      var word = found[...].unicodeScalars
      if index + 1 < runs.count, runs[index + 1].format == nil {
        word += runs[index + 1].text.unicodeScalars.prefix { !$0.properties.isWhitespace }
      }
      if word.starts(with: name.unicodeScalars), mayFollow(word.dropFirst(name.unicodeScalars.count)) { return true }
    }
    return false
  }

  /// Whether a name can end before this: at the end of its word, before marks that end it, or before marks of a script
  /// that puts no space after them. `@alice.b` is another name.
  private static func mayFollow(_ rest: Substring.UnicodeScalarView) -> Bool {
    guard let next = rest.first else { return true }
    if next.properties.isWhitespace { return true }
    let marks = rest.prefix { $0.isPunctuation }
    return !marks.isEmpty && (marks.endIndex == rest.endIndex || marks.contains { !$0.isASCII })
  }
}

extension Unicode.Scalar {
  var isPunctuation: Bool {
    switch properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation:
      true
    default: false
    }
  }
}
