import Foundation

/// Up to four changes to otherwise valid bytes: bits, bytes, lengths, repeats, moved pieces. Edited input gets past a
/// parser's first check, where noise does not.
package struct Edits: Sendable, CustomStringConvertible {
  struct Edit: Sendable {
    let kind: UInt8
    /// A fraction of the length, in 65,536ths.
    let place: UInt16
    let byte: UInt8
  }

  let edits: [Edit]

  /// Bytes that parsers treat specially.
  private static let special: [UInt8] = [0, 1, 0x7f, 0x80, 0xff] + Array("\"\\{}[],:-0e\n\r ".utf8)

  package func applied(to original: [UInt8]) -> [UInt8] {
    var bytes = original
    for edit in edits where !bytes.isEmpty {
      let place = (Int(edit.place) * bytes.count) >> 16
      let end = min(bytes.count, place + 1 + Int(edit.byte % 24))
      switch edit.kind {
      case 0: bytes[place] ^= 1 << (edit.byte % 8)
      case 1: bytes[place] = edit.byte
      case 2: bytes[place] = Self.special[Int(edit.byte) % Self.special.count]
      case 3: bytes.insert(edit.byte, at: place)
      case 4: bytes.insert(Self.special[Int(edit.byte) % Self.special.count], at: place)
      case 5: bytes.removeSubrange(place..<end)
      case 6: bytes.removeLast(bytes.count - place)
      case 7: bytes.insert(contentsOf: bytes[place..<end], at: (place &* 31 &+ Int(edit.byte)) % (bytes.count + 1))
      default: bytes.insert(contentsOf: [UInt8](repeating: bytes[place], count: 1 + Int(edit.byte)), at: place)
      }
    }
    return bytes
  }

  package var description: String { edits.map { "\($0.kind)@\($0.place):\($0.byte)" }.joined(separator: " ") }

  /// PORTER_FUZZ_RUNS, if it is set.
  package static func runs(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["PORTER_FUZZ_RUNS"].flatMap { Int($0) } ?? usual
  }
}

extension Generator where Value == Edits {
  package static var edits: Generator {
    Generator<Edits.Edit> { choices in
      Edits.Edit(
        kind: UInt8(choices.number(below: 9)), place: UInt16(choices.number(below: 65_536)),
        byte: UInt8(choices.number(below: 256)))
    }.array(0...4).map(Edits.init(edits:))
  }
}
