extension JSONValue {
  /// Compact JSON text.
  package var text: String { String(decoding: utf8, as: UTF8.self) }

  package var utf8: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}

private struct JSONWriter {
  var bytes: [UInt8] = []
  private static let hexDigits = Array("0123456789abcdef".utf8)

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: append("null")
    case .bool(let value): append(value ? "true" : "false")
    case .integer(let value): append(String(value))
    case .number(let value):
      // JSON has no infinities; our values are always finite, and other writers use null.
      append(value.isFinite ? "\(value)" : "null")
    case .string(let value): write(value)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(element)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(member.name)
        bytes.append(UInt8(ascii: ":"))
        write(member.value)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { write(escaping: $0) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Runs that need no escape are copied in one piece.
  private mutating func write(escaping text: UnsafeBufferPointer<UInt8>) {
    var written = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[written..<index]))
      written = index + 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0a: append("\\n")
      case 0x0d: append("\\r")
      case 0x09: append("\\t")
      default:
        append("\\u00")
        bytes.append(Self.hexDigits[Int(byte >> 4)])
        bytes.append(Self.hexDigits[Int(byte & 15)])
      }
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[written...]))
  }
}
