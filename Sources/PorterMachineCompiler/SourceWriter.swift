/// Indented lines of text.
struct SourceWriter {
  private(set) var text = ""
  private var depth = 0
  private let unit = "  "

  mutating func line(_ line: String = "") {
    text += line.isEmpty ? "\n" : String(repeating: unit, count: depth) + line + "\n"
  }

  mutating func block(_ head: String, _ tail: String = "}", _ body: (inout SourceWriter) -> Void) {
    line(head)
    depth += 1
    body(&self)
    depth -= 1
    line(tail)
  }

  /// A block whose body is not indented: the cases of a switch.
  mutating func flat(_ head: String, _ tail: String = "}", _ body: (inout SourceWriter) -> Void) {
    line(head)
    body(&self)
    line(tail)
  }

  mutating func indented(_ body: (inout SourceWriter) -> Void) {
    depth += 1
    body(&self)
    depth -= 1
  }

  /// Words folded at 120 columns, each line after `prefix`.
  mutating func folded(_ words: String, prefix: String) {
    let width = 120 - depth * unit.count - prefix.count
    var current = ""
    for word in words.split(separator: " ") {
      if !current.isEmpty && current.count + 1 + word.count > width {
        line(prefix + current)
        current = ""
      }
      current += current.isEmpty ? String(word) : " " + word
    }
    if !current.isEmpty { line(prefix + current) }
  }
}
