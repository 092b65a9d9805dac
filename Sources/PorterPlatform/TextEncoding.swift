/// base64url (RFC 4648 §5) and lower-case hexadecimal, the two encodings of the interface.
package enum TextEncoding {
  private static let base64URLAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let hexAlphabet = Array("0123456789abcdef".utf8)
  private static let base64URLValues: [UInt8] = {
    var values = [UInt8](repeating: 0xff, count: 256)
    for (value, character) in base64URLAlphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  /// Without padding.
  package static func base64URL(_ bytes: some Collection<UInt8>) -> String { base64URL(all: Array(bytes)) }

  /// Not generic, as below.
  private static func base64URL(all bytes: [UInt8]) -> String {
    var text = [UInt8]()
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var accumulator: UInt32 = 0
    var bits = 0
    for byte in bytes {
      accumulator = accumulator << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(base64URLAlphabet[Int(accumulator >> UInt32(bits) & 0x3f)])
      }
    }
    if bits > 0 { text.append(base64URLAlphabet[Int(accumulator << UInt32(6 - bits) & 0x3f)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Accepts up to two trailing `=`; nil for any other character, or for a text whose unused bits are not zero.
  package static func base64URLDecoded(_ text: some StringProtocol) -> [UInt8]? { base64URLDecoded(Array(text.utf8)) }

  /// Not generic, so that the compiler knows the types: a push's payload has 4,000 characters.
  private static func base64URLDecoded(_ text: [UInt8]) -> [UInt8]? {
    var characters = text[...]
    while characters.last == UInt8(ascii: "="), text.count - characters.count < 2 { characters.removeLast() }
    guard characters.count % 4 != 1 else { return nil }
    var bytes = [UInt8]()
    bytes.reserveCapacity(characters.count * 3 / 4)
    var accumulator: UInt32 = 0
    var bits = 0
    for character in characters {
      let value = base64URLValues[Int(character)]
      guard value != 0xff else { return nil }
      accumulator = accumulator << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
      }
    }
    return accumulator & ((1 << UInt32(bits)) - 1) == 0 ? bytes : nil
  }

  package static func hex(_ bytes: some Collection<UInt8>) -> String { hex(all: Array(bytes)) }

  private static func hex(all bytes: [UInt8]) -> String {
    var text = [UInt8]()
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(hexAlphabet[Int(byte >> 4)])
      text.append(hexAlphabet[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Lower case only, as device tokens are written; nil for anything else.
  package static func hexDecoded(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.count % 2 == 0 else { return nil }
    var bytes = [UInt8]()
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text.utf8 {
      let value: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = character - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
