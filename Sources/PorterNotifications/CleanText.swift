/// Text from other people, copied character by character without anything that would disturb its surroundings.
struct CleanText {
  /// U+2069 in UTF-8.
  static let closingBytes = 3
  /// Limit of accents on one letter. Scripts need a handful; hundreds cover the lines above and below.
  private static let maximumMarks = 8
  private static let maximumIsolates = 16

  private var scalars = String.UnicodeScalarView()
  private var bytes = 0
  private var marks = 0
  private var openIsolates = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Anything more would only be cut off.
  var isFull: Bool { bytes > limit }

  var text: String { String(scalars) }

  var trimmed: String {
    var scalars = scalars
    while scalars.last == " " { scalars.removeLast() }
    return String(scalars)
  }

  mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      marks += 1
      guard marks <= Self.maximumMarks else { return }
    default: marks = 0
    }
    scalars.append(scalar)
    bytes += UTF8.width(scalar)
  }

  /// Appends one space between words.
  mutating func appendSpace() {
    guard let last = scalars.last, last != " " else { return }
    append(" ")
  }

  /// Whether an invisible character shapes the one before it: joiners in scripts and in emoji, variants, and the
  /// letters of a flag.
  func shapes(_ scalar: Unicode.Scalar) -> Bool {
    guard let last = scalars.last, last != " " else { return false }
    switch scalar.value {
    case 0x200c, 0x200d: return last.value != 0x200c && last.value != 0x200d
    case 0xfe00...0xfe0f, 0xe0100...0xe01ef, 0x180b...0x180d: return !last.properties.isVariationSelector
    case 0xe0020...0xe007f: return last.value == 0x1f3f4 || (0xe0020...0xe007e).contains(last.value)
    default: return false
    }
  }

  // MARK: Isolates

  mutating func openIsolate(_ scalar: Unicode.Scalar) {
    guard openIsolates < Self.maximumIsolates else { return }
    openIsolates += 1
    append(scalar)
  }

  /// A mark that closes nothing in this text would close something around it.
  mutating func closeIsolate() {
    guard openIsolates > 0 else { return }
    openIsolates -= 1
    append("\u{2069}")
  }

  mutating func closeIsolates() {
    while openIsolates > 0 { closeIsolate() }
  }
}
