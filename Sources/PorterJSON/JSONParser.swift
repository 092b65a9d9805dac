/// The reason a text is not JSON, and the byte position. Never quotes the text: it may contain a secret.
package struct JSONError: Error, Hashable, Sendable {
  package enum Reason: String, Sendable {
    case unexpectedEnd, unexpectedCharacter, invalidNumber, invalidEscape, invalidUTF8, controlCharacter, tooDeep,
      trailingText
  }
  package var reason: Reason
  package var offset: Int
}

extension JSONValue {
  /// Parses strict RFC 8259. Nesting deeper than 64 is rejected, so that no input can exhaust the stack.
  package init(parsing text: some StringProtocol) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }

  package init(parsing bytes: [UInt8]) throws(JSONError) {
    var parser = JSONParser(text: bytes)
    self = try parser.document()
  }
}

/// The parser's input: a protocol, so that a test can count how often a byte is read. Not a collection, which yields
/// its elements through coroutines: each one allocates where the compiler has not specialized it.
protocol JSONText {
  var count: Int { get }
  /// Counted from 0.
  func byte(at position: Int) -> UInt8
  func bytes(_ range: Range<Int>) -> ArraySlice<UInt8>
  /// The position of the first quotation mark, backslash or control character at or after `start`, or the end.
  func endOfPlainText(from start: Int) -> Int
}

extension [UInt8]: JSONText {
  func byte(at position: Int) -> UInt8 { self[position] }
  func bytes(_ range: Range<Int>) -> ArraySlice<UInt8> { self[range] }

  /// Most of a payload is scanned here, eight bytes at a time.
  func endOfPlainText(from start: Int) -> Int {
    withUnsafeBytes { text in
      var end = start
      while end &+ 8 <= text.count, !Self.hasEnd(text.loadUnaligned(fromByteOffset: end, as: UInt64.self)) { end &+= 8 }
      while end < text.count {
        let byte = text[end]
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
        end &+= 1
      }
      return end
    }
  }

  /// Whether one of the eight bytes is a quotation mark, a backslash or a control character: a byte smaller than a
  /// bound borrows from its highest bit, which the byte itself does not have set.
  private static func hasEnd(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotation = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let borrowed =
      (word &- ones &* 0x20) & ~word | (quotation &- ones) & ~quotation | (backslash &- ones) & ~backslash
    return borrowed & (ones &* 0x80) != 0
  }
}

extension ArraySlice<UInt8> {
  fileprivate var isASCII: Bool {
    withUnsafeBytes { text in
      var (place, seen): (Int, UInt64) = (0, 0)
      while place &+ 8 <= text.count {
        seen |= text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        place &+= 8
      }
      while place < text.count {
        seen |= UInt64(text[place])
        place &+= 1
      }
      return seen & 0x8080_8080_8080_8080 == 0
    }
  }
}

struct JSONParser<Text: JSONText> {
  private let text: Text
  private var position = 0
  private static var deepest: Int { 64 }

  init(text: Text) { self.text = text }

  mutating func document() throws(JSONError) -> JSONValue {
    let value = try value(depth: 0)
    skipSpace()
    guard position == text.count else { throw failure(.trailingText) }
    return value
  }

  private func failure(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: position) }

  private var current: UInt8? { position < text.count ? text.byte(at: position) : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    skipSpace()
    guard let byte = current else { throw failure(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw failure(.unexpectedCharacter)
    }
  }

  private mutating func literal(_ literal: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    let end = position + literal.utf8CodeUnitCount
    let expected = UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    guard end <= text.count else { throw failure(.unexpectedEnd) }
    guard text.bytes(position..<end).elementsEqual(expected) else { throw failure(.unexpectedCharacter) }
    position = end
    return value
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
    guard depth < Self.deepest else { throw failure(.tooDeep) }
    position += 1
    var members = UniqueMembers<String, JSONValue>()
    skipSpace()
    if current == UInt8(ascii: "}") {
      position += 1
      return JSONObject(members)
    }
    while true {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw failure(current == nil ? .unexpectedEnd : .unexpectedCharacter) }
      let name = try string()
      skipSpace()
      try expect(UInt8(ascii: ":"))
      members.set(name, to: try value(depth: depth + 1))
      skipSpace()
      if current == UInt8(ascii: ",") {
        position += 1
      } else {
        try expect(UInt8(ascii: "}"))
        return JSONObject(members)
      }
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    guard depth < Self.deepest else { throw failure(.tooDeep) }
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if current == UInt8(ascii: "]") {
      position += 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if current == UInt8(ascii: ",") {
        position += 1
      } else {
        try expect(UInt8(ascii: "]"))
        return elements
      }
    }
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard let found = current else { throw failure(.unexpectedEnd) }
    guard found == byte else { throw failure(.unexpectedCharacter) }
    position += 1
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    var isInteger = true
    if current == UInt8(ascii: "-") { position += 1 }
    let leadingZero = current == UInt8(ascii: "0")
    let wholeDigits = skipDigits()
    guard wholeDigits > 0, !(leadingZero && wholeDigits > 1) else { throw failure(.invalidNumber) }
    if current == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      guard skipDigits() > 0 else { throw failure(.invalidNumber) }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() > 0 else { throw failure(.invalidNumber) }
    }
    let digits = String(decoding: text.bytes(start..<position), as: UTF8.self)
    if isInteger, let integer = Int64(digits) { return .integer(integer) }
    guard let number = Double(digits), number.isFinite else { throw failure(.invalidNumber) }
    return .number(number)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = current, byte >= 48, byte <= 57 { position += 1 }
    return position - start
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    position = text.endOfPlainText(from: start)
    if current == UInt8(ascii: "\"") {
      defer { position += 1 }
      return try decoded(text.bytes(start..<position))
    }
    var buffer = Array(text.bytes(start..<position))
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return try decoded(buffer[...])
      case UInt8(ascii: "\\"): try escape(into: &buffer)
      case 0..<0x20: throw failure(.controlCharacter)
      default:
        buffer.append(byte)
        position += 1
      }
    }
    throw failure(.unexpectedEnd)
  }

  /// Most texts are ASCII, and need no check of each byte.
  private func decoded(_ slice: ArraySlice<UInt8>) throws(JSONError) -> String {
    if slice.isASCII {
      return String(unsafeUninitializedCapacity: slice.count) { $0.initialize(fromContentsOf: slice) }
    }
    guard let text = String(validating: slice, as: UTF8.self) else { throw failure(.invalidUTF8) }
    return text
  }

  private mutating func escape(into buffer: inout [UInt8]) throws(JSONError) {
    position += 1
    guard let byte = current else { throw failure(.unexpectedEnd) }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
    case UInt8(ascii: "b"): buffer.append(0x08)
    case UInt8(ascii: "f"): buffer.append(0x0c)
    case UInt8(ascii: "n"): buffer.append(0x0a)
    case UInt8(ascii: "r"): buffer.append(0x0d)
    case UInt8(ascii: "t"): buffer.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = try unicodeEscape()
      buffer.append(contentsOf: Array(String(Character(scalar)).utf8))
    default: throw failure(.invalidEscape)
    }
  }

  /// A lone surrogate has no UTF-8 form and is rejected.
  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let first = try fourHexDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xd800..<0xdc00).contains(first), current == UInt8(ascii: "\\"), position + 1 < text.count,
      text.byte(at: position + 1) == UInt8(ascii: "u")
    else { throw failure(.invalidEscape) }
    position += 2
    let second = try fourHexDigits()
    guard (0xdc00..<0xe000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw failure(.invalidEscape) }
    return scalar
  }

  private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
    guard position + 4 <= text.count else { throw failure(.unexpectedEnd) }
    var value: UInt32 = 0
    for place in position..<position + 4 {
      let byte = text.byte(at: place)
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw failure(.invalidEscape)
      }
      value = value << 4 | UInt32(digit)
    }
    position += 4
    return value
  }
}
