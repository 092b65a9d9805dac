import Glibc

/// A JetStream answer, as far as it is used here: JSON from a trusted peer, of which single members are read.
struct Reply {
  /// Sequence numbers and counts are added and compared, and never come near this. A higher one is damage.
  static let mostNumber: UInt64 = 1 << 62

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Nil if nothing failed.
  var errorCode: Int? { start(of: "\"error\":").flatMap { _ in number("err_code").map { Int(clamping: $0) } ?? 0 } }
  var errorText: String { text("description") ?? String(decoding: bytes.prefix(200), as: UTF8.self) }

  /// Whether the answering node has no room for the request. It has done nothing; if it no longer leads, the leader
  /// may.
  var lacksRoom: Bool {
    guard let errorCode else { return false }
    return JetStream.Code.full.contains(errorCode)
      || errorCode == JetStream.Code.storeFailed && errorText.hasPrefix("maximum bytes")
  }

  /// Nil also beyond `mostNumber`.
  func number(_ name: String) -> UInt64? {
    guard var index = start(of: "\"\(name)\":") else { return nil }
    while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    var value: UInt64?
    while index < bytes.count, let digit = Self.digit(bytes[index]) {
      let (product, isOver) = (value ?? 0).multipliedReportingOverflow(by: 10)
      guard !isOver, product <= Self.mostNumber - digit else { return nil }
      value = product + digit
      index += 1
    }
    return value
  }

  func isTrue(_ name: String) -> Bool {
    guard var index = start(of: "\"\(name)\":") else { return false }
    while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    return bytes[index...].starts(with: "true".utf8)
  }

  /// Does not decode escapes.
  func text(_ name: String) -> String? {
    guard let range = quoted(name) else { return nil }
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// A time such as `2026-11-25T21:07:42.123456789Z`, in milliseconds since 1970.
  func time(_ name: String) -> Int64? {
    guard let text = text(name), text.hasSuffix("Z") else { return nil }
    let parts = text.dropLast().split(omittingEmptySubsequences: false) { "-T:.".contains($0) }
    let numbers = parts.prefix(6).compactMap { Int64($0) }
    guard numbers.count == 6, parts.allSatisfy({ $0.utf8.count <= 9 }), 6...7 ~= parts.count,
      0...9_999 ~= numbers[0], 1...12 ~= numbers[1]
    else { return nil }
    // Days since 1 March of the year 0: leap day is then the last day of a year.
    let (year, month) = numbers[1] > 2 ? (numbers[0], numbers[1] - 3) : (numbers[0] - 1, numbers[1] + 9)
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + numbers[2] - 1
    let seconds = (days - 719_468) * 86_400 + numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
    let fraction = parts.count == 7 ? Int64((parts[6] + "000").prefix(3)) : 0
    return fraction.map { seconds * 1_000 + $0 }
  }

  /// A list of strings without escapes; empty for `null`.
  func texts(_ name: String) -> [String] {
    guard let begin = start(of: "\"\(name)\":["), let end = bytes[begin...].firstIndex(of: UInt8(ascii: "]")) else {
      return []
    }
    let quote = UInt8(ascii: "\"")
    // Alternates between the text outside and inside quotes.
    return bytes[begin..<end].split(separator: quote, omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String(decoding: $0.element, as: UTF8.self) }
  }

  /// Standard base64. Each answer to a relay has a record of several kB, so four characters are decoded at a time,
  /// through a table.
  func data(_ name: String) -> [UInt8]? {
    guard var range = quoted(name) else { return nil }
    while let last = range.last, bytes[last] == UInt8(ascii: "=") { range.removeLast() }
    // One character beyond whole groups is less than a byte.
    guard range.count % 4 != 1 else { return nil }
    var wrong: UInt8 = 0
    let decoded = [UInt8](unsafeUninitializedCapacity: range.count / 4 * 3 + 2) { target, count in
      bytes.withUnsafeBufferPointer { source in
        Self.sextets.withUnsafeBufferPointer { sextets in
          var index = range.lowerBound
          while index < range.upperBound {
            let length = min(4, range.upperBound - index)
            var bits: UInt32 = 0
            for place in 0..<length {
              let sextet = sextets[Int(source[index + place])]
              wrong |= sextet
              bits |= UInt32(sextet) << UInt32(26 - 6 * place)
            }
            for place in 0..<(length * 6 / 8) {
              target[count] = UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * place))
              count += 1
            }
            index += length
          }
        }
      }
    }
    return wrong & Self.noSextet == 0 ? decoded : nil
  }

  private func quoted(_ name: String) -> Range<Int>? {
    guard var begin = start(of: "\"\(name)\":") else { return nil }
    while begin < bytes.count, bytes[begin] == UInt8(ascii: " ") { begin += 1 }
    guard begin < bytes.count, bytes[begin] == UInt8(ascii: "\"") else { return nil }
    guard let end = bytes[(begin + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    return begin + 1..<end
  }

  /// The position where the first value of a member begins. `member` starts with the name's opening quote. Values that
  /// are read contain no quotes.
  private func start(of member: String) -> Int? {
    let length = member.utf8.count
    return bytes.withUnsafeBytes { all in
      guard let first = all.baseAddress else { return nil }
      var index = 0
      // Most of an answer is base64, which has no quotes.
      while index + length <= all.count, let quote = memchr(first + index, 0x22, all.count - length - index + 1) {
        if memcmp(quote, member, length) == 0 { return UnsafeRawPointer(quote) - first + length }
        index = UnsafeRawPointer(quote) - first + 1
      }
      return nil
    }
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? UInt64(byte - UInt8(ascii: "0")) : nil
  }

  private static let noSextet: UInt8 = 0x80
  /// By byte.
  private static let sextets: [UInt8] = {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    var sextets = [UInt8](repeating: noSextet, count: 256)
    for (value, character) in alphabet.enumerated() { sextets[Int(character)] = UInt8(value) }
    return sextets
  }()
}
