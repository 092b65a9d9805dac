import PropertyTesting
import XCTest

@testable import PorterJSON

final class JSONErrorTests: XCTestCase {
  /// Each kind of error, with its byte offset.
  func testEveryErrorHasAReasonAndAPosition() {
    let errors: [(String, JSONError.Reason, Int)] = [
      ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
      ("[1,", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1), ("{\"a\"", .unexpectedEnd, 4),
      ("{\"a\":", .unexpectedEnd, 5), ("{\"a\":1", .unexpectedEnd, 6), ("\"a", .unexpectedEnd, 2),
      ("\"a\\", .unexpectedEnd, 3), ("\"\\u12", .unexpectedEnd, 3), ("tru", .unexpectedEnd, 0),
      ("x", .unexpectedCharacter, 0), ("trux", .unexpectedCharacter, 0), ("True", .unexpectedCharacter, 0),
      ("[1 2]", .unexpectedCharacter, 3), ("[,1]", .unexpectedCharacter, 1), ("[1,]", .unexpectedCharacter, 3),
      ("{a:1}", .unexpectedCharacter, 1), ("{\"a\" 1}", .unexpectedCharacter, 5),
      ("{\"a\":1,}", .unexpectedCharacter, 7),
      ("{1:2}", .unexpectedCharacter, 1), ("'a'", .unexpectedCharacter, 0), ("NaN", .unexpectedCharacter, 0),
      ("+1", .unexpectedCharacter, 0), (".5", .unexpectedCharacter, 0), ("\u{FEFF}1", .unexpectedCharacter, 0),
      ("/**/1", .unexpectedCharacter, 0), ("-", .invalidNumber, 1), ("01", .invalidNumber, 2),
      ("-01", .invalidNumber, 3),
      ("1.", .invalidNumber, 2), ("1.e1", .invalidNumber, 2), ("1e", .invalidNumber, 2), ("1e+", .invalidNumber, 3),
      ("1e999", .invalidNumber, 5), ("-1e999", .invalidNumber, 6), ("\"\\x\"", .invalidEscape, 3),
      ("\"\\u12G4\"", .invalidEscape, 3), ("\"\\ud800\"", .invalidEscape, 7), ("\"\\udc00\"", .invalidEscape, 7),
      ("\"\\ud800\\u0041\"", .invalidEscape, 13), ("\"\\ud800\\n\"", .invalidEscape, 7),
      ("\"a\nb\"", .controlCharacter, 2), ("\"\\n\u{1F}\"", .controlCharacter, 3), ("1 1", .trailingText, 2),
      ("{}x", .trailingText, 2), ("null\u{0}", .trailingText, 4), ("0x10", .trailingText, 1),
    ]
    for (text, reason, offset) in errors {
      XCTAssertThrowsError(try JSONValue(parsing: text), text) { error in
        XCTAssertEqual((error as? JSONError)?.reason, reason, text)
        XCTAssertEqual((error as? JSONError)?.offset, offset, text)
      }
    }
  }

  func testNestingEndsAt64() throws {
    func nested(_ open: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
    }
    XCTAssertNoThrow(try JSONValue(parsing: nested("[", "]", 64)))
    XCTAssertNoThrow(try JSONValue(parsing: nested("{\"a\":", "}", 64)))
    for text in [nested("[", "]", 65), nested("{\"a\":", "}", 65), String(repeating: "[", count: 1_000_000)] {
      XCTAssertThrowsError(try JSONValue(parsing: text)) { XCTAssertEqual(($0 as? JSONError)?.reason, .tooDeep) }
    }
  }

  func testBytesThatAreNotUTF8AreRefused() {
    for bytes: [UInt8] in [[0x80], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff]] {
      for escape in [[], Array(#"\n"#.utf8)] {
        let text = [UInt8(ascii: "\"")] + escape + bytes + [UInt8(ascii: "\"")]
        XCTAssertThrowsError(try JSONValue(parsing: text)) { error in
          XCTAssertEqual((error as? JSONError)?.reason, .invalidUTF8, "\(bytes)")
        }
      }
    }
  }

  func testNumbersAtTheEdges() throws {
    let numbers: [(String, JSONValue)] = [
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("-0", .integer(0)), ("-0.0", .number(-0.0)),
      ("1E2", .number(100)), ("1e-2", .number(0.01)), ("5e-324", .number(.leastNonzeroMagnitude)),
      ("1e-999", .number(0)),
      ("0", .integer(0)), ("0.0", .number(0)), ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
    ]
    for (text, value) in numbers { XCTAssertEqual(try JSONValue(parsing: text), value, text) }
  }

  func testEscapes() throws {
    XCTAssertEqual(
      try JSONValue(parsing: #""\"\\\/\b\f\n\r\tA\u00e9\u20AC\uD83D\uDE00\u0000""#),
      .string("\"\\/\u{8}\u{C}\n\r\tAé€😀\u{0}"))
    XCTAssertEqual(JSONValue.string("\u{0}\u{1F}\u{7F}\"\\/\n").text, "\"\\u0000\\u001f\u{7F}\\\"\\\\/\\n\"")
  }

  /// Any bytes are a value or a typed error; parsing never traps, and a parsed value survives a round trip.
  func testAnyBytesAreAValueOrATypedError() {
    forAll(Generator<[UInt8]>.bytes(0...40), runs: 5_000) { try Self.readOrRefuse($0) }
  }

  /// Whole documents with a few bytes changed, removed or doubled, which get far deeper into the parser than noise.
  func testSpoiledDocumentsAreAValueOrATypedError() {
    let spoiled = Generator<[UInt8]> { choices in
      var bytes = choices.draw(Generator<JSONValue>.json()).utf8
      choices.repeated(1...4) { _ in
        guard !bytes.isEmpty else { return }
        let place = Int(choices.number(below: UInt64(bytes.count)))
        switch choices.number(below: 4) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(bytes[place], at: place)
        case 2: bytes[place] = UInt8(choices.number(below: 256))
        default: bytes.removeLast(bytes.count - place)
        }
      }
      return bytes
    }
    forAll(spoiled, runs: 10_000) { try Self.readOrRefuse($0) }
  }

  /// A text read once for each of its bytes would be read a thousand times as often here.
  func testWorkGrowsWithTheLengthOnly() {
    let texts = [
      "{" + (0..<200).map { "\"name\($0)\":1" }.joined(separator: ",")
        + String(repeating: ",\"name199\":2", count: 200) + "}",
      "[" + String(repeating: "1,", count: 2_000) + "1]", "\"" + String(repeating: "\\u00e9", count: 1_000) + "\"",
      String(repeating: "1", count: 2_000), String(repeating: " ", count: 5_000) + "1",
      String(repeating: "[", count: 5_000),
    ]
    for text in texts {
      let bytes = CountedBytes(text)
      var parser = JSONParser(text: bytes)
      _ = try? parser.document()
      XCTAssertLessThanOrEqual(bytes.reads, 12 * bytes.count, String(text.prefix(20)))
    }
  }

  /// Scanning eight bytes at a time gives the same result as one at a time: each byte, in each place of a word and past
  /// the last one.
  func testPlainTextEndsAtTheFirstByteThatIsNotPlain() {
    for byte in UInt8.min...UInt8.max {
      let ends = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
      for (place, neighbour) in (0..<21).flatMap({ place in
        [UInt8](arrayLiteral: 0x21, 0x5d, 0x7f, 0x80, 0xff).map { (place, $0) }
      }) {
        var text = [UInt8](repeating: neighbour, count: 21)
        text[place] = byte
        for start in 0...place { XCTAssertEqual(text.endOfPlainText(from: start), ends ? place : text.count) }
        XCTAssertEqual(text.endOfPlainText(from: place + 1), text.count)
      }
    }
    XCTAssertEqual([UInt8]().endOfPlainText(from: 0), 0)
  }

  /// Names are looked up by hash: comparing each with all others would take more than a million comparisons.
  func testAnObjectOfManyNamesComparesEachAFewTimes() {
    var members = UniqueMembers<CountedName, Int>()
    let comparisons = CountedName.Comparisons()
    for value in 0..<1_000 { members.set(CountedName("name\(value)", comparisons), to: value) }
    for value in 0..<1_000 { members.set(CountedName("name999", comparisons), to: value) }
    XCTAssertEqual(members.elements.count, 1_000)
    XCTAssertLessThanOrEqual(comparisons.count, 100_000)
  }

  /// Making, merging and comparing objects of many names: if each name were compared with all others, this would take
  /// minutes.
  func testObjectsOfManyNamesAreMadeMergedAndComparedInLinearTime() {
    let members = (0..<200_000).map { ("a\u{301}\u{316}\($0)", JSONValue.integer(Int64($0))) }
    var object = JSONObject(members + [("a\u{301}\u{316}7", "the last one counts")])
    XCTAssertEqual(object.members.count, members.count)
    XCTAssertEqual(object.members[7].value, "the last one counts")
    let backwards = JSONObject(object.members.reversed().map { ($0.name, $0.value) })
    XCTAssertEqual(object, backwards)
    object.merge(JSONObject(members))
    XCTAssertEqual(object.members[7].value, 7)
    XCTAssertNotEqual(object, backwards)
  }

  private struct CountedName: Hashable {
    final class Comparisons {
      var count = 0
    }

    let text: String
    let comparisons: Comparisons

    init(_ text: String, _ comparisons: Comparisons) { (self.text, self.comparisons) = (text, comparisons) }

    static func == (left: CountedName, right: CountedName) -> Bool {
      left.comparisons.count += 1
      return left.text == right.text
    }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
  }

  private static func readOrRefuse(_ bytes: [UInt8]) throws {
    do {
      let value = try JSONValue(parsing: bytes)
      try expectEqual(try JSONValue(parsing: value.utf8), value)
    } catch let error as JSONError {
      try expect((0...bytes.count).contains(error.offset), "offset \(error.offset) of \(bytes.count)")
    }
  }
}

extension CountedBytes: JSONText {
  package func byte(at position: Int) -> UInt8 { self[position] }
  package func bytes(_ range: Range<Int>) -> ArraySlice<UInt8> { range.map { self[$0] }[...] }
  package func endOfPlainText(from start: Int) -> Int {
    (start..<count).first { [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(self[$0]) || self[$0] < 0x20 } ?? count
  }
}
