/// The spelling of a machine file's names in each output.
enum Names {
  /// `[a-z][A-Za-z0-9]*`
  static func isWord(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
    return text.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0)
    }
  }

  /// `[a-z][a-z0-9_]*`
  static func isMachineName(_ text: String) -> Bool {
    guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
    return text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
  }

  /// Words joined by dots.
  static func isEventName(_ text: String) -> Bool {
    let tokens = text.split(separator: ".", omittingEmptySubsequences: false)
    return tokens.allSatisfy { isWord($0) }
  }

  /// `verify.authError` → `verifyAuthError`
  static func camel(_ name: String) -> String {
    let words = name.split(whereSeparator: { $0 == "." || $0 == "_" })
    return words.enumerated().map { $0.offset == 0 ? String($0.element) : capitalised($0.element) }.joined()
  }

  /// `app_phase` → `AppPhase`
  static func type(_ name: String) -> String { capitalised(camel(name)) }

  /// `verify.authError` → `VERIFY_AUTH_ERROR`
  static func upperSnake(_ name: String) -> String {
    var result = ""
    for character in name {
      if character == "." || character == "_" {
        result += "_"
      } else {
        if character.isUppercase { result += "_" }
        result += character.uppercased()
      }
    }
    return result
  }

  /// A Swift case, with backticks where the language needs them.
  static func swiftCase(_ name: String) -> String {
    let word = camel(name)
    return swiftKeywords.contains(word) ? "`\(word)`" : word
  }

  static func capitalised(_ word: some StringProtocol) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  private static let swiftKeywords: Set<String> = [
    "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum", "extension",
    "fallthrough", "false", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
    "nil", "operator", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
