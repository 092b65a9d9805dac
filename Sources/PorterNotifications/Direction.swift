/// Text of both directions in one line. A name is isolated from the surrounding phrase, so that it cannot change the
/// order in which that is shown.
enum Direction {
  /// Puts FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE around the text. It has no marks of this kind that are left
  /// open, or that close one opened outside: `MessageText` ensures this.
  static func isolated(_ text: String) -> String {
    var isolated = "\u{2068}"
    for character in text {
      // An isolate ends with its line, so each line has its own.
      if character.isNewline { isolated += "\u{2069}\(character)\u{2068}" } else { isolated.append(character) }
    }
    return isolated + "\u{2069}"
  }

  /// Whether a text has right-to-left characters, or marks of that direction. If nothing in a line has, isolation
  /// changes nothing, and the line is left plain.
  static func mayMatter(in text: String) -> Bool { text.unicodeScalars.contains(where: isRightToLeft) }

  /// The blocks that Unicode reserves for right-to-left scripts, and the marks of the bidirectional algorithm.
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0590...0x08ff, 0xfb1d...0xfdff, 0xfe70...0xfeff, 0x10800...0x10fff, 0x1e800...0x1efff: true
    case 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  static func isOpening(_ scalar: Unicode.Scalar) -> Bool { (0x2066...0x2068).contains(scalar.value) }
  static func isClosing(_ scalar: Unicode.Scalar) -> Bool { scalar.value == 0x2069 }
}
