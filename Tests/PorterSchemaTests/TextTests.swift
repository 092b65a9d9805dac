import PorterJSON
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterSchema

final class MarkdownTests: XCTestCase {
  func testMarks() {
    assertRuns("plain", nil)
    assertRuns("a *b c* d", [.init(nil, "a "), .init(.bold, "b c"), .init(nil, " d")])
    assertRuns("**strong**", [.init(.bold, "strong")])
    assertRuns(
      "_it_ ~no~ `x = *y*`",
      [
        .init(.italic, "it"), .init(nil, " "), .init(.strikeThrough, "no"), .init(nil, " "),
        .init(.snippet, "x = *y*"),
      ])
    assertRuns("pin: #12 34#", [.init(nil, "pin: "), .init(.secret, "12 34")])
    assertRuns(
      "!1 red! !- tiny! !green leaf!",
      [
        .init(.colored(.red), "red"), .init(nil, " "), .init(.small, "tiny"), .init(nil, " "),
        .init(.colored(.green), "leaf"),
      ])
    assertRuns(
      "@alice, @'bob b.'!",
      [
        .init(.mention("alice"), "@alice"), .init(nil, ", "), .init(.mention("bob b."), "@'bob b.'"), .init(nil, "!"),
      ])
    assertRuns("@アリス。", [.init(.mention("アリス"), "@アリス"), .init(nil, "。")])
    assertRuns("@alice؟!", [.init(.mention("alice"), "@alice"), .init(nil, "؟!")])
    assertRuns("@。", nil)
  }

  func testWebAddresses() {
    assertRuns(
      "see https://a.example/b, ok",
      [
        .init(nil, "see "), .init(.uri, "https://a.example/b"), .init(nil, ", ok"),
      ])
    assertRuns("HTTP://a.example/wiki/B_(c)", [.init(.uri, "HTTP://a.example/wiki/B_(c)")])
    assertRuns("https://a.example/d!", [.init(.uri, "https://a.example/d!")])
    assertRuns("https:// and http://", nil)
    assertRuns("_https://a.example", nil)
  }

  func testTextsWithoutMarks() {
    for text in [
      "a * b * c", "*a * b", "a*b* c", "* a*", "**a* b", "** a **", "***", "**", "*", "#", "##", "# a #", "!9 a!", "!",
      "!1", "!1 ", "@", "@'a", "@ a", "_", "``", "!1  a!", "2 * 3 * 4",
    ] { assertRuns(text, nil) }
  }

  /// Too many marks on one side hide more, not less.
  func testUnevenSecretsHideTheirMarksToo() {
    assertRuns("##a### b", [.init(.secret, "#a##"), .init(nil, " b")])
  }

  func testNothingButMarksIsLost() {
    forAll(Generator.one(of: [Make.marked, Generator<String>.text(0...40)]), runs: 5_000) { text in
      guard let runs = FormattedText.parse(text) else { return }
      try expect(runs.allSatisfy { !$0.text.isEmpty }, "an empty run")
      for (run, next) in zip(runs, runs.dropFirst()) {
        try expect(run.format != nil || next.format != nil, "two plain runs in a row")
      }
      // Removing the runs' characters from the text leaves only marks.
      var rest = Array(text.utf8)[...]
      for byte in runs.flatMap({ Array($0.text.utf8) }) {
        while let first = rest.first, first != byte {
          try expect("*_~`#!- 123456rgbycmlanuewotdhig".utf8.contains(first), "lost byte \(first)")
          rest.removeFirst()
        }
        try expect(!rest.isEmpty, "a byte that was not there")
        rest.removeFirst()
      }
      try expect(rest.allSatisfy { "*_~`#!".utf8.contains($0) }, "lost the end")
    }
  }

  /// Also where marks open and none closes.
  func testWorkGrowsWithTheLengthOnly() {
    let units = [
      "*a ", "_a ~b ", "#a ", "!1 a ", "@'a ", "**a ", "**a* ", "`a *b ", "h", "https:// ", "* ", "*", "#", "@。",
    ]
    let texts =
      units.map { String(repeating: $0, count: 5_000 / $0.utf8.count) }
      + ["@a" + String(repeating: "。", count: 1_500)]
      + ["**a *b _c ~d `e #f !1 g @'h " + String(repeating: "word ", count: 1_000)]
    for text in texts {
      let bytes = CountedBytes(text)
      var parser = MarkdownParser(bytes)
      _ = parser.runs()
      XCTAssertLessThanOrEqual(bytes.reads, 16 * bytes.count, String(text.prefix(30)))
    }
  }

  func testTheAnswer() {
    XCTAssertEqual(FormattedText.parseAnswer("plain").text, "{}")
    XCTAssertEqual(
      FormattedText.parseAnswer("*a* b").text,
      #"{"formattedText":[{"format":{"type":"bold"},"text":"a"},{"text":" b"}]}"#)
  }

  private func assertRuns(_ text: String, _ runs: [FormattedText]?, line: UInt = #line) {
    XCTAssertEqual(FormattedText.parse(text), runs, text, line: line)
  }
}

final class DisplayNameTests: XCTestCase {
  func testExamples() {
    let names = [
      "alice": "alice", " alice  b ": "alice b", "@alice": "alice", "#alice": "alice", "'alice'": "alice", "": "",
      "...": "", "a....b": "a...b", "José 🙂": "José 🙂", "a\u{0}b": "ab", "a\nb": "a b", "e\u{301}": "e\u{301}",
      "\u{301}a": "a", "a\u{202E}b": "ab", "a \u{301}b": "a b", "1": "1",
    ]
    for (given, valid) in names { XCTAssertEqual(DisplayName.sanitized(given), valid, given) }
    XCTAssertEqual(DisplayName.sanitized(String(repeating: "a", count: 80)).count, 50)
  }

  /// Letters, symbols and marks that are invisible: they do not make a name on their own, nor turn a name into another.
  func testInvisibleCharactersAreLeftOut() {
    let blanks: [Unicode.Scalar] = [
      "\u{3164}", "\u{FFA0}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{034F}", "\u{180B}", "\u{FE00}",
      "\u{FE0F}", "\u{E0100}", "\u{200D}", "\u{00AD}", "\u{2800}", "\u{FFFC}", "\u{13441}", "\u{13442}", "\u{16FE4}",
      "\u{1D159}",
    ]
    for blank in blanks {
      let code = "U+" + String(blank.value, radix: 16, uppercase: true)
      XCTAssertEqual(DisplayName.sanitized("\(blank)"), "", code)
      XCTAssertEqual(DisplayName.sanitized("\(blank) \(blank)"), "", code)
      XCTAssertEqual(DisplayName.sanitized("alice\(blank)"), "alice", code)
      XCTAssertEqual(DisplayName.sanitized("\(blank)al\(blank)ice \(blank)"), "alice", code)
    }
    for name in ["\u{1100}\u{1161}", "\u{28FF}", "\u{13000}", "ᠠ", "ក"] {
      XCTAssertEqual(DisplayName.sanitized(name), name)
    }
  }

  /// No name contains a character that Unicode calls ignorable, whatever its category.
  func testNoIgnorableCharacterIsInAName() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isDefaultIgnorableCodePoint else { continue }
      XCTAssertEqual(DisplayName.sanitized("a\(scalar)"), "a", "U+" + String(value, radix: 16, uppercase: true))
    }
  }

  func testValidNamesAreUnchangedAndFitACommand() {
    forAll(Generator<String>.text(0...80), runs: 2_000) { name in
      let valid = DisplayName.sanitized(name)
      try expectEqual(DisplayName.sanitized(valid), valid)
      try expect(valid.unicodeScalars.count <= DisplayName.maximumLength)
      try expect(!valid.contains("'") && !valid.contains("\n") && !valid.contains("  "))
      try assume(!valid.isEmpty)
      try expectEqual(
        try Command(parsing: "@'\(valid)' hello"), .sendByName(valid, ComposedMessage(.text("hello"))))
      try expectEqual(try Command(parsing: "/create user '\(valid)'"), .createUser(Profile(displayName: valid)))
    }
  }
}

final class AddressTests: XCTestCase {
  func testServerAddressesReadBack() {
    forAll(both(Generator<[UInt8]>.bytes(32...32), Generator<[UInt8]>.bytes(24...24))) { key, mailbox in
      let address = ServerAddress(key: key, mailbox: mailbox)
      try expectEqual(ServerAddress(parsing: "\(address)"), address)
    }
    XCTAssertNil(ServerAddress(parsing: "ntf:AAAA@AAAA"))
    XCTAssertNil(ServerAddress(parsing: "ntf://AAAA@AAAA"))
    forAll(Generator<String>.text(0...60)) { try expect(ServerAddress(parsing: "ntf:" + $0) == nil) }
  }

  func testRelayAddresses() {
    XCTAssertEqual(RelayAddress(parsing: "embedded:relay.db"), .embedded(path: "relay.db"))
    XCTAssertEqual(RelayAddress(parsing: "/var/relay.db"), .embedded(path: "/var/relay.db"))
    XCTAssertEqual(RelayAddress(parsing: "relay.db"), .embedded(path: "relay.db"))
    XCTAssertEqual(RelayAddress(parsing: "./a:b"), .embedded(path: "./a:b"))
    for text in ["", "embedded:", "nats://host", "smp://a@b", "a\u{0}b"] {
      XCTAssertNil(RelayAddress(parsing: text), text)
    }
  }

  func testServerAnswers() {
    let address = ServerAddress(key: [UInt8](repeating: 0, count: 32), mailbox: [UInt8](repeating: 0, count: 24))
    let (key, mailbox) = (String(repeating: "A", count: 43), String(repeating: "A", count: 32))
    XCTAssertEqual(
      TextChecks.server("\(address)").text,
      #"{"serverAddress":{"serverProtocol":"ntf","hostnames":["\#(mailbox)"],"port":"","keyHash":"\#(key)","#
        + #""basicAuth":""},"parseError":""}"#)
    XCTAssertEqual(TextChecks.server("embedded:/r")["serverAddress"]?["hostnames"], ["/r"])
    let refused = TextChecks.server("smp://key@host")
    XCTAssertNil(refused["serverAddress"])
    XCTAssertFalse(refused["parseError"]?.stringValue?.isEmpty ?? true)
  }

  func testJSONLength() {
    XCTAssertEqual(TextChecks.jsonLength(""), 0)
    XCTAssertEqual(TextChecks.jsonLength("a\"b\\\n\u{1}é"), 1 + 2 + 1 + 2 + 2 + 6 + 2)
    forAll(Generator<String>.text(0...40)) {
      try expectEqual(TextChecks.jsonLength($0), JSONValue($0).text.utf8.count - 2)
    }
  }

  func testTrackersAreRemovedFromWebAddresses() {
    let cases: [(String, safe: String?, eager: String?)] = [
      ("https://a.example/p", nil, nil),
      ("https://a.example/p?q=x&utm_source=y#top", "https://a.example/p?q=x#top", "https://a.example/p?q=x#top"),
      ("https://a.example/p?fbclid=1", "https://a.example/p", "https://a.example/p"),
      ("https://a.example/p/a12?name=x", nil, "https://a.example/p/a12"),
      ("https://a.example/p/a12?name=x&v=3", nil, "https://a.example/p/a12?v=3"),
      ("https://a.example/p?name=x", nil, nil),
      ("https://a.example/#/?utm_source=y", nil, nil),
    ]
    for (text, safe, eager) in cases {
      XCTAssertEqual(WebAddress(text, keepsUnknownParameters: true)?.sanitized, safe, text)
      XCTAssertEqual(WebAddress(text, keepsUnknownParameters: false)?.sanitized, eager, text)
    }
    XCTAssertEqual(
      WebAddress.parseAnswer("HTTPS://a.example", safe: true).text, #"{"uriInfo":{"scheme":"https"},"parseError":""}"#)
    for text in ["", "a.example", "ftp://a", "https:", "https://", "https:///x", "https://a b", "https://u@"] {
      XCTAssertEqual(
        WebAddress.parseAnswer(text, safe: true).text, #"{"parseError":"expected an http or https address"}"#, text)
    }
    forAll(Generator<String>.text(of: "htps:/?&=#a1@ é", 0...40), runs: 1_000) { text in
      guard let sanitized = WebAddress("https://a/" + text, keepsUnknownParameters: false)?.sanitized else { return }
      try expect(WebAddress(sanitized, keepsUnknownParameters: false)?.sanitized == nil, sanitized)
    }
  }
}
