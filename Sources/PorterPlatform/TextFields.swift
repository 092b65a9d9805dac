/// Reads the fields of a short text, first to last. By bytes, since finding characters costs a hundred times as much,
/// and one at a time: an array of the fields would cost a push more than the fields do.
package struct TextFields {
  /// Nil after the last field.
  private var rest: ArraySlice<UInt8>?
  private let separator: UInt8

  package init(_ text: ArraySlice<UInt8>, separator: UInt8) {
    rest = text
    self.separator = separator
  }

  package init(_ text: String, separator: UInt8) { self.init(Array(text.utf8)[...], separator: separator) }

  /// Whether the last field was taken.
  package var isAtEnd: Bool { rest == nil }

  /// The text before the next separator, possibly empty; nil after the last field.
  package mutating func next() -> String? {
    guard let text = rest else { return nil }
    var end = text.startIndex
    while end < text.endIndex, text[end] != separator { end += 1 }
    rest = end < text.endIndex ? text[(end + 1)...] : nil
    return String(decoding: text[..<end], as: UTF8.self)
  }
}
