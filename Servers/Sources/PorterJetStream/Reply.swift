/// What JetStream's answers say, as far as it is used here: JSON from a trusted peer, of which single members are read.
struct Reply {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Nil if nothing failed.
  var errorCode: Int? { start(of: "\"error\":").flatMap { _ in number("err_code").map { Int(clamping: $0) } ?? 0 } }
  var errorText: String { text("description") ?? String(decoding: bytes.prefix(200), as: UTF8.self) }

  /// Whether what was asked for did not happen, since there is no room for it.
  var lacksRoom: Bool {
    guard let errorCode else { return false }
    return JetStream.Code.full.contains(errorCode)
      || errorCode == JetStream.Code.storeFailed && errorText.hasPrefix("maximum bytes")
  }

  func number(_ name: String) -> UInt64? {
    guard var index = start(of: "\"\(name)\":") else { return nil }
    while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    var value: UInt64?
    while index < bytes.count, let digit = Self.digit(bytes[index]) {
      let (product, isOver) = (value ?? 0).multipliedReportingOverflow(by: 10)
      guard !isOver else { return nil }
      value = product &+ digit
      index += 1
    }
    return value
  }

  func isTrue(_ name: String) -> Bool {
    guard var index = start(of: "\"\(name)\":") else { return false }
    while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    return bytes[index...].starts(with: "true".utf8)
  }

  /// Without escapes.
  func text(_ name: String) -> String? {
    guard let range = quoted(name) else { return nil }
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// A time such as `2026-11-25T21:07:42.123456789Z`, in milliseconds since 1970.
  func time(_ name: String) -> Int64? {
    guard let text = text(name), text.hasSuffix("Z") else { return nil }
    let parts = text.dropLast().split(omittingEmptySubsequences: false) { "-T:.".contains($0) }
    let numbers = parts.prefix(6).compactMap { Int64($0) }
    guard numbers.count == 6, parts.allSatisfy({ $0.utf8.count <= 9 }), 6...7 ~= parts.count, 1...12 ~= numbers[1]
    else { return nil }
    // Days since the first of March of the year 0, whose leap day is its last.
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
    // What is between the quotes, and what is between the texts.
    return bytes[begin..<end].split(separator: quote, omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String(decoding: $0.element, as: UTF8.self) }
  }

  /// Standard base64.
  func data(_ name: String) -> [UInt8]? {
    guard let range = quoted(name) else { return nil }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(range.count * 3 / 4)
    var (bits, count): (UInt32, Int) = (0, 0)
    for byte in bytes[range] where byte != UInt8(ascii: "=") {
      guard let value = Self.sextet(byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return decoded
  }

  private func quoted(_ name: String) -> Range<Int>? {
    guard var begin = start(of: "\"\(name)\":") else { return nil }
    while begin < bytes.count, bytes[begin] == UInt8(ascii: " ") { begin += 1 }
    guard begin < bytes.count, bytes[begin] == UInt8(ascii: "\"") else { return nil }
    guard let end = bytes[(begin + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    return begin + 1..<end
  }

  /// Where the first value of this name begins. Values that are read have no quotes in them.
  private func start(of member: String) -> Int? {
    let member = Array(member.utf8)
    guard bytes.count >= member.count else { return nil }
    var index = 0
    while index <= bytes.count - member.count {
      if bytes[index] == member[0], bytes[index..<index + member.count].elementsEqual(member) {
        return index + member.count
      }
      index += 1
    }
    return nil
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? UInt64(byte - UInt8(ascii: "0")) : nil
  }

  private static func sextet(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
