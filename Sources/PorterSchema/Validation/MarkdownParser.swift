/// Parses the marks in message texts: `*bold*` or `**bold**`, `_italic_`, `~strike~`, `` `snippet` ``, `#secret#`,
/// `!1 red!`, `!- small!`, web addresses and `@mentions`. A mark counts only at the start of a word, and only if no
/// space follows it or precedes the closing one; marks do not nest.
///
/// Generic so that a test can count how often a byte is read.
struct MarkdownParser<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
  /// Indexed from 0.
  private let bytes: Bytes
  private var position = 0
  private var found: [FormattedText] = []
  private var plainStart = 0

  init(_ bytes: Bytes) { self.bytes = bytes }

  mutating func runs() -> [FormattedText] {
    while position < bytes.count {
      if let (run, end) = formatted() {
        flushPlain()
        found.append(run)
        position = end
        plainStart = end
      } else {
        skipWord()
      }
      while position < bytes.count, isSpace(bytes[position]) { position += 1 }
    }
    flushPlain()
    return found
  }

  private mutating func flushPlain() {
    guard plainStart < position else { return }
    found.append(FormattedText(nil, text(plainStart, position)))
    plainStart = position
  }

  private func text(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

  private mutating func skipWord() { position = endOfWord(position) }

  private func endOfWord(_ start: Int) -> Int {
    bytes[start...].firstIndex(where: isSpace) ?? bytes.count
  }

  private func formatted() -> (FormattedText, end: Int)? {
    switch bytes[position] {
    case UInt8(ascii: "*"): return bold()
    case UInt8(ascii: "_"): return enclosed(.italic)
    case UInt8(ascii: "~"): return enclosed(.strikeThrough)
    case UInt8(ascii: "`"): return enclosed(.snippet)
    case UInt8(ascii: "#"): return secret()
    case UInt8(ascii: "!"): return colored()
    case UInt8(ascii: "@"): return mention()
    case UInt8(ascii: "h"), UInt8(ascii: "H"): return address()
    default: return nil
    }
  }

  /// The next occurrence of `mark` at or after `start`. Each opening contains its mark, so the search for a closing
  /// mark stops at the next opening at the latest: of all unclosed marks, only the last is searched for to the end.
  private func closing(_ mark: UInt8, from start: Int) -> Int? {
    start < bytes.count ? bytes[start...].firstIndex(of: mark) : nil
  }

  private func isTight(_ start: Int, _ end: Int) -> Bool {
    start < end && !isSpace(bytes[start]) && !isSpace(bytes[end - 1])
  }

  private func enclosed(_ format: FormattedText.Format) -> (FormattedText, end: Int)? {
    let start = position + 1
    guard let end = closing(bytes[position], from: start), isTight(start, end) else { return nil }
    return (FormattedText(format, text(start, end)), end + 1)
  }

  /// A text that opens with two marks must close with two.
  private func bold() -> (FormattedText, end: Int)? {
    let start = position + 2
    guard start <= bytes.count, bytes[position + 1] == bytes[position] else { return enclosed(.bold) }
    guard let end = doubleClosing(from: start), isTight(start, end) else { return nil }
    return (FormattedText(.bold, text(start, end)), end + 2)
  }

  private func doubleClosing(from start: Int) -> Int? {
    var search = start
    while let mark = closing(UInt8(ascii: "*"), from: search), mark + 1 < bytes.count {
      if bytes[mark + 1] == bytes[mark] { return mark }
      search = mark + 1
    }
    return nil
  }

  /// Several marks on each side count as one: `##secret##`. Surplus marks on one side belong to the secret, never to
  /// the visible text.
  private func secret() -> (FormattedText, end: Int)? {
    let mark = UInt8(ascii: "#")
    let start = bytes[position...].firstIndex { $0 != mark } ?? bytes.count
    guard let firstClosing = closing(mark, from: start), isTight(start, firstClosing) else { return nil }
    let end = bytes[firstClosing...].firstIndex { $0 != mark } ?? bytes.count
    return (FormattedText(.secret, text(position + 1, end - 1)), end)
  }

  private func colored() -> (FormattedText, end: Int)? {
    let label = position + 1
    let labelEnd = bytes[label...].prefix(8).firstIndex(of: UInt8(ascii: " "))
    guard let labelEnd, let format = Self.color(named: text(label, labelEnd)) else { return nil }
    let start = labelEnd + 1
    guard let end = closing(UInt8(ascii: "!"), from: start), isTight(start, end) else { return nil }
    return (FormattedText(format, text(start, end)), end + 1)
  }

  private static func color(named name: String) -> FormattedText.Format? {
    switch name {
    case "1", "r", "red": .colored(.red)
    case "2", "g", "green": .colored(.green)
    case "3", "b", "blue": .colored(.blue)
    case "4", "y", "yellow": .colored(.yellow)
    case "5", "c", "cyan": .colored(.cyan)
    case "6", "m", "magenta": .colored(.magenta)
    case "-": .small
    default: nil
    }
  }

  /// `@name` or `@'name with spaces'`.
  private func mention() -> (FormattedText, end: Int)? {
    let start = position + 1
    guard start < bytes.count else { return nil }
    let quote = UInt8(ascii: "'")
    if bytes[start] == quote {
      guard let end = closing(quote, from: start + 1), isTight(start + 1, end) else { return nil }
      return (FormattedText(.mention(text(start + 1, end)), text(position, end + 1)), end + 1)
    }
    let end = withoutTrailingPunctuation(start, endOfWord(start))
    guard end > start, bytes[start] != UInt8(ascii: "@") else { return nil }
    return (FormattedText(.mention(text(start, end)), text(position, end)), end)
  }

  private func address() -> (FormattedText, end: Int)? {
    let word = bytes[position..<endOfWord(position)]
    // A bracket closed inside belongs to the address; one opened before it does not.
    let marks = word.contains(UInt8(ascii: "(")) ? addressMarks : addressMarks.union([UInt8(ascii: ")")])
    let end = withoutTrailing(marks, position, word.endIndex)
    for scheme in ["https://", "http://"] where end - position > scheme.utf8.count {
      // Setting bit 5 makes ASCII letters lower case and leaves `:` and `/` as they are.
      if zip(word, scheme.utf8).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) {
        return (FormattedText(.uri, text(position, end)), end)
      }
    }
    return nil
  }

  /// Handles any script: marks that end a sentence after a name are not part of it.
  private func withoutTrailingPunctuation(_ start: Int, _ end: Int) -> Int {
    var end = end
    while true {
      end = withoutTrailing(sentenceMarks, start, end)
      // The last character, from its first byte.
      guard end > start, bytes[end - 1] >= 0x80,
        let first = bytes[start..<end].lastIndex(where: { !(0x80..<0xc0).contains($0) }),
        String(decoding: bytes[first..<end], as: UTF8.self).unicodeScalars.allSatisfy(\.isPunctuation)
      else { return end }
      end = first
    }
  }

  /// A sentence's full stop after an address is not part of it.
  private func withoutTrailing(_ marks: Set<UInt8>, _ start: Int, _ end: Int) -> Int {
    var end = end
    while end > start, marks.contains(bytes[end - 1]) { end -= 1 }
    return end
  }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

private let addressMarks = Set(".,;:?'\"".utf8)
private let sentenceMarks = Set(".,;:!?)'\"".utf8)
