/// base64url (RFC 4648 §5) and lower-case hexadecimal, the interface's two encodings.
package enum TextEncoding {
  // The generic functions only make an array; the work is done where the compiler knows the types: a push's payload has
  // 4,000 characters.

  /// Without padding.
  package static func base64URL(_ bytes: some Collection<UInt8>) -> String { base64URL(Array(bytes)) }

  /// Three bytes become four characters.
  private static func base64URL(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer { bytes in
      String(unsafeUninitializedCapacity: (bytes.count &* 4 &+ 2) / 3) { text in
        var count = 0
        func append(_ value: UInt32) {
          text[count] = base64URLCharacter(UInt8(truncatingIfNeeded: value))
          count &+= 1
        }
        var place = 0
        while place &+ 3 <= bytes.count {
          let group = UInt32(bytes[place]) &<< 16 | UInt32(bytes[place &+ 1]) &<< 8 | UInt32(bytes[place &+ 2])
          append(group &>> 18)
          append(group &>> 12)
          append(group &>> 6)
          append(group)
          place &+= 3
        }
        switch bytes.count &- place {
        case 1:
          let rest = UInt32(bytes[place]) &<< 16
          append(rest &>> 18)
          append(rest &>> 12)
        case 2:
          let rest = UInt32(bytes[place]) &<< 16 | UInt32(bytes[place &+ 1]) &<< 8
          append(rest &>> 18)
          append(rest &>> 12)
          append(rest &>> 6)
        default: break
        }
        return count
      }
    }
  }

  /// Accepts up to two trailing `=`; nil for any other character, or for a text whose unused bits are not zero.
  package static func base64URLDecoded(_ text: some StringProtocol) -> [UInt8]? { decoded(String(text)) }

  private static func decoded(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { decoded($0) }
  }

  package static func base64URLDecoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    text.withUnsafeBufferPointer { decoded($0) }
  }

  /// Four characters become three bytes. A character that stands for no value has bits that no value has.
  private static func decoded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var end = text.count
    while end > 0, text[end - 1] == UInt8(ascii: "="), text.count - end < 2 { end -= 1 }
    guard end % 4 != 1 else { return nil }
    var seen: UInt32 = 0
    var unused: UInt32 = 0
    let bytes = base64URLValues.withUnsafeBufferPointer { values in
      [UInt8](unsafeUninitializedCapacity: end * 3 / 4) { bytes, count in
        let value = { UInt32(truncatingIfNeeded: values[Int(truncatingIfNeeded: text[$0])]) }
        var place = 0
        while place &+ 4 <= end {
          let (first, second, third, fourth) = (value(place), value(place &+ 1), value(place &+ 2), value(place &+ 3))
          seen |= first | second | third | fourth
          let group = first &<< 18 | second &<< 12 | third &<< 6 | fourth
          bytes[count] = UInt8(truncatingIfNeeded: group &>> 16)
          bytes[count &+ 1] = UInt8(truncatingIfNeeded: group &>> 8)
          bytes[count &+ 2] = UInt8(truncatingIfNeeded: group)
          place &+= 4
          count &+= 3
        }
        var (rest, bits): (UInt32, UInt32) = (0, 0)
        while place < end {
          seen |= value(place)
          rest = rest &<< 6 | value(place)
          bits &+= 6
          place &+= 1
          guard bits >= 8 else { continue }
          bits &-= 8
          bytes[count] = UInt8(truncatingIfNeeded: rest &>> bits)
          count &+= 1
        }
        unused = rest & ((1 &<< bits) &- 1)
      }
    }
    return seen < 64 && unused == 0 ? bytes : nil
  }

  /// Indexed by character; 255 for one that stands for no value.
  private static let base64URLValues: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for value in UInt8(0)..<64 { values[Int(base64URLCharacter(value))] = value }
    return values
  }()

  /// For a value below 64. The text is part of the program, so no global has to be initialised.
  private static func base64URLCharacter(_ value: UInt8) -> UInt8 {
    let characters: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return characters.utf8Start[Int(truncatingIfNeeded: value & 0x3f)]
  }

  package static func hex(_ bytes: some Collection<UInt8>) -> String { hex(Array(bytes)) }

  private static func hex(_ bytes: [UInt8]) -> String {
    var text = [UInt8]()
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(hexCharacter(byte >> 4))
      text.append(hexCharacter(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func hexCharacter(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ (value &- 10)
  }

  /// Lower case only, as device tokens are written; nil for anything else.
  package static func hexDecoded(_ text: some StringProtocol) -> [UInt8]? { hexDecoded(Array(text.utf8)) }

  private static func hexDecoded(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var bytes = [UInt8]()
    bytes.reserveCapacity(text.count / 2)
    var high: UInt8?
    for character in text {
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
