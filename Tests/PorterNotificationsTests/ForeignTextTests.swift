import PorterNotifications
import PorterSchema
import PropertyTesting
import XCTest

/// Other people's names and texts cannot disturb what is shown around them.
final class ForeignTextTests: XCTestCase {
  private func title(_ name: String, _ language: StringTable.Shipped = .english) -> String {
    let event = Sample.message(in: .contact(id: 1, name: name))
    return (try? ContentBuilder.content(for: event, NotificationPolicy()).get())?.title.text(in: StringTable(language))
      ?? ""
  }

  private func body(_ text: String) -> String {
    (try? ContentBuilder.content(for: Sample.message(.text(text)), NotificationPolicy()).get())?.body.text(in: .english)
      ?? ""
  }

  private func request(_ name: String, _ language: StringTable.Shipped) -> String {
    let event = Sample.event(.contactRequest(id: 3, name: name), .contactRequest(user: 1, id: 3))
    return (try? ContentBuilder.content(for: event, NotificationPolicy()).get())?.title.text(in: StringTable(language))
      ?? ""
  }

  /// Where both directions meet, a name is isolated; elsewhere that would change nothing.
  func testNamesAreIsolatedWhereDirectionsMeet() {
    XCTAssertEqual(request("Alice", .english), "Alice wants to connect!")
    XCTAssertEqual(request("דנה", .english), "\u{2068}דנה\u{2069} wants to connect!")
    XCTAssertEqual(request("Alice", .arabic), "\u{2068}Alice\u{2069} يريد التواصل معك!")
    XCTAssertEqual(request("دانة", .arabic), "\u{2068}دانة\u{2069} يريد التواصل معك!")
    XCTAssertEqual(request("Alice", .japanese), "Aliceが接続を希望しています！")
    let group = Sample.message(in: .group(id: 1, name: "דנה", member: "Bob"))
    let shown = try? ContentBuilder.content(for: group, NotificationPolicy()).get()
    XCTAssertEqual(shown?.title.text(in: .english), "#\u{2068}דנה\u{2069} \u{2068}Bob\u{2069}:")
  }

  func testANameHasNoMarksOfDirection() {
    for mark in [
      "\u{202a}", "\u{202b}", "\u{202c}", "\u{202d}", "\u{202e}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
    ] {
      XCTAssertEqual(title("a\(mark)b"), "ab:")
      XCTAssertEqual(title("ד\(mark)נ"), "\u{2068}דנ\u{2069}:")
    }
  }

  func testANameIsOneLineOfVisibleCharacters() {
    XCTAssertEqual(title("a\nb\r\n\t c\u{85}\u{2028}d  "), "a b c d:")
    XCTAssertEqual(title("a\u{0}\u{7}\u{1b}[31mb\u{9f}"), "a[31mb:")
    XCTAssertEqual(title("a\u{200b}\u{ad}\u{3164}\u{2800}b\u{fff9}"), "ab:")
    for nothing in [
      "", " ", "\u{0}\u{1}\u{1f}", "\u{200b}", "\u{202e}\u{2069}", "\u{3164}\u{2800}", "\u{200d}\u{fe0f}",
    ] {
      XCTAssertEqual(title(nothing), "Somebody:")
      XCTAssertEqual(title(nothing, .japanese), "だれか:")
    }
  }

  /// A body consists of lines, each ending in the same way on every platform.
  func testATextHasNoControlCharactersButThoseOfItsLines() {
    XCTAssertEqual(body("a\u{b}b\u{c}c\u{85}d"), "a\nb\nc\nd")
    XCTAssertEqual(body("a\tb\r\nc\nd"), "a\tb\r\nc\nd")
    XCTAssertEqual(body("a\u{0}\u{7}\u{1b}[31mb\u{9f}"), "a[31mb")
    XCTAssertEqual(body("a\u{2067}b\u{b}c\u{2069}"), "a\u{2067}b\u{2069}\nc")
  }

  /// Characters that look invisible but shape their neighbours stay.
  func testScriptsAndEmojiKeepTheirShapes() {
    for name in ["می‌خواهم", "क्ष", "👨‍👩‍👧‍👦", "❤️", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "한국", "é"] {
      XCTAssertTrue(title(name).contains(name), name)
    }
  }

  func testAccentsDoNotPileUp() {
    let pile = "a" + String(repeating: "\u{301}", count: 300) + "b"
    XCTAssertEqual(title(pile), "a" + String(repeating: "\u{301}", count: 8) + "b:")
    XCTAssertEqual(body(pile), "a" + String(repeating: "\u{301}", count: 8) + "b")
  }

  func testALongNameIsCutBetweenCharacters() {
    XCTAssertEqual(title(String(repeating: "日", count: 64)), String(repeating: "日", count: 64) + ":")
    XCTAssertEqual(title(String(repeating: "日", count: 65)), String(repeating: "日", count: 63) + "…:")
    let family = "👨‍👩‍👧‍👦"
    let shown = title(String(repeating: family, count: 65))
    XCTAssertTrue(shown.hasSuffix("…:"))
    XCTAssertTrue(shown.dropLast(2).allSatisfy { String($0) == family })
  }

  /// Isolates in a text are closed at its end, and close nothing around it.
  func testIsolatesOfATextAreBalanced() {
    XCTAssertEqual(body("a\u{2069}b"), "ab")
    XCTAssertEqual(body("a\u{2067}b"), "a\u{2067}b\u{2069}")
    XCTAssertEqual(body("a\u{2067}b\nc\u{2069}"), "a\u{2067}b\u{2069}\nc")
    XCTAssertEqual(body("\u{2068}Dana\u{2069} came"), "\u{2068}Dana\u{2069} came")
    XCTAssertEqual(body("\u{202e}evil"), "evil")
    let nested = body(String(repeating: "\u{2067}", count: 1_000) + "a" + String(repeating: "b", count: 3_000))
    XCTAssertEqual(nested.unicodeScalars.count { $0 == "\u{2067}" }, nested.unicodeScalars.count { $0 == "\u{2069}" })
    XCTAssertLessThanOrEqual(nested.utf8.count, 2_048)
  }

  func testInWhateverIsShownEveryIsolateIsClosed() {
    let pieces = [
      "a", "ד", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}", "\u{202e}", "\n", "e\u{301}", "👨‍👩‍👧", "\u{200d}", "%@",
      " ",
    ]
    let texts = Generator<String>.element(of: pieces).array(0...60)
    forAll(both(texts, Generator.element(of: StringTable.Shipped.allCases)), runs: 300) { chosen, language in
      let text = String(repeating: chosen.joined(), count: 40)
      for event in [
        Sample.message(.text(text), in: .group(id: 1, name: text, member: text)),
        Sample.message(.init(.report(text: text, reason: .spam)), in: .contact(id: 1, name: text)),
        Sample.event(.many(.init(count: 3, .chats([.contact(id: 1, name: text), Sample.club])))),
      ] {
        let content = try ContentBuilder.content(for: event, NotificationPolicy()).get()
        let (title, body) = (
          content.title.text(in: StringTable(language)), content.body.text(in: StringTable(language))
        )
        try expect(!title.contains(where: \.isNewline), title)
        for line in (title + "\n" + body).split(whereSeparator: \.isNewline) {
          var open = 0
          for scalar in line.unicodeScalars {
            if (0x2066...0x2068).contains(scalar.value) { open += 1 } else if scalar.value == 0x2069 { open -= 1 }
            try expect(open >= 0 && !(0x202a...0x202e).contains(scalar.value), "closed what it did not open")
          }
          try expect(open == 0, "left open: \(line)")
        }
      }
    }
  }
}
