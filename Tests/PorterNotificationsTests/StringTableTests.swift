import Foundation
import PorterNotifications
import PorterSchema
import PropertyTesting
import XCTest

/// Wordings shipped with the library and wordings from hosts.
final class StringTableTests: XCTestCase {
  private func table(_ json: String, file: StaticString = #filePath, line: UInt = #line) throws -> StringTable {
    try XCTUnwrap(StringTable.parsed(json), file: file, line: line)
  }

  private func error(_ json: String) -> NightporterError? {
    do throws(ChatError) {
      _ = try StringTable.parsed(json)
      return nil
    } catch {
      guard case .nightporter(let reason) = error else { return nil }
      return reason
    }
  }

  private func text(_ phrase: Phrase, _ arguments: [ShownText.Argument], _ table: StringTable) -> String {
    ShownText.phrase(phrase, arguments).text(in: table)
  }

  private func samples(_ phrase: Phrase, count: Int = 5) -> [ShownText.Argument] {
    phrase.parameters.enumerated().map { index, type in type == .count ? .count(count) : .text("N\(index)") }
  }

  /// The reference was made by Babel, an independent implementation.
  func testCountsFallIntoTheCategoriesOfCLDR() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("golden/plurals.txt")
    var checked = 0
    for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
      let (language, rest) = try XCTUnwrap(line.firstIndex(of: ":").map { (line[..<$0], line[$0...].dropFirst(2)) })
      for part in rest.split(separator: ";") {
        let words = part.split(separator: " ")
        let category = try XCTUnwrap(PluralCategory(rawValue: String(words[0])))
        for range in words[1].split(separator: ",") {
          let ends = range.split(separator: "-").compactMap { Int($0) }
          for number in ends[0]...ends[ends.count - 1] {
            XCTAssertEqual(
              PluralRule(language: String(language)).category(of: number), category, "\(language) \(number)")
            checked += 1
          }
        }
      }
    }
    XCTAssertGreaterThan(checked, 11_000)
  }

  func testATagChoosesTheLanguageThatShips() throws {
    for (tag, expected) in [
      ("ja", "新しいメッセージ"), ("ja-JP", "新しいメッセージ"), ("AR_eg", "رسالة جديدة"), ("en-GB", "new message"),
      ("de", "new message"), ("jam", "new message"),
    ] {
      XCTAssertEqual(text(.newMessageBody, [], try table(#"{"language":"\#(tag)"}"#)), expected, tag)
    }
    XCTAssertNil(try StringTable.parsed("{}"))
  }

  func testATableThatDoesNotParseLeavesItsLanguage() {
    for (json, expected) in [
      (#"{"language":"ja-JP","strings":{"a phrase of the past":"x"}}"#, "新しいメッセージ"),
      (#"{"language":"ar","strings":{"Somebody":"%@"}}"#, "رسالة جديدة"),
      (#"{"language":"de","strings":{"a phrase of the past":"x"}}"#, "new message"),
      (#"{"strings":{"a phrase of the past":"x"}}"#, "new message"), (#"{"language":7}"#, "new message"),
      ("[]", "new message"), ("nonsense", "new message"),
    ] {
      XCTAssertNotNil(error(json), json)
      XCTAssertEqual(text(.newMessageBody, [], StringTable.shipped(insteadOf: json)), expected, json)
    }
  }

  func testArabicUsesAllSixForms() {
    let expected = [
      0: "لا رسائل جديدة", 1: "رسالة جديدة واحدة", 2: "رسالتان جديدتان", 3: "3 رسائل جديدة", 11: "11 رسالة جديدة",
      100: "100 رسالة جديدة", 103: "103 رسائل جديدة",
    ]
    for (count, wording) in expected {
      XCTAssertEqual(text(.newMessages, [.count(count)], StringTable(.arabic)), wording)
    }
  }

  func testAHostsFormsGoByItsOwnLanguage() throws {
    let russian = try table(
      #"{"language":"ru","strings":{"%d new messages":{"one":"%d новое сообщение","few":"%d новых сообщения","#
        + #""many":"%d новых сообщений","other":"%d нового сообщения"}}}"#)
    for (count, wording) in [
      1: "1 новое сообщение", 3: "3 новых сообщения", 11: "11 новых сообщений", 21: "21 новое сообщение",
    ] {
      XCTAssertEqual(text(.newMessages, [.count(count)], russian), wording)
    }
    XCTAssertEqual(
      text(.fromChats, [.count(1)], russian), "From 1 chat", "what is missing is English, with English forms")
    XCTAssertEqual(text(.fromChats, [.count(21)], russian), "From 21 chats")
  }

  /// A missing form is worded as `other`.
  func testAFormThatIsMissingIsOther() throws {
    let polish = try table(#"{"language":"pl","strings":{"From %d chats":{"other":"Czaty: %d"}}}"#)
    for count in [0, 1, 2, 5] { XCTAssertEqual(text(.fromChats, [.count(count)], polish), "Czaty: \(count)") }
    let german = try table(#"{"language":"de","strings":{"From %d chats":"Chats: %d"}}"#)
    XCTAssertEqual(text(.fromChats, [.count(1)], german), "Chats: 1")
  }

  func testPlacesMayChangeTheirOrder() throws {
    let table = try table(##"{"language":"de","strings":{"#%@ %@:":"%2$@ in %1$@, 100 %%:"}}"##)
    XCTAssertEqual(text(.fromMember, [.text("Club"), .text("%@ %1$@")], table), "%@ %1$@ in Club, 100 %:")
  }

  /// Every phrase has a wording in every shipped language, in all forms, with each argument in it.
  func testEveryShippedWordingFits() throws {
    for language in StringTable.Shipped.allCases {
      for phrase in Phrase.allCases {
        for count in [0, 1, 2, 3, 11, 100] {
          let shown = text(phrase, samples(phrase, count: count), StringTable(language))
          XCTAssertFalse(shown.isEmpty || shown.contains("%"), "\(language) \(phrase.rawValue): \(shown)")
          for (index, type) in phrase.parameters.enumerated() where type == .text {
            XCTAssertTrue(shown.contains("N\(index)"), "\(language) \(phrase.rawValue): \(shown)")
          }
          if count > 2, phrase.isPlural { XCTAssertTrue(shown.contains("\(count)"), "\(language): \(shown)") }
          if language != .english, ![.fromContact, .fromMember].contains(phrase) {
            XCTAssertNotEqual(shown, text(phrase, samples(phrase, count: count), .english), "not translated")
          }
        }
      }
    }
  }

  /// Shipped wordings obey the rules for hosts' wordings.
  func testShippedPlaceholdersAreThoseOfThePhrase() throws {
    for phrase in Phrase.allCases where !phrase.isPlural {
      for language in StringTable.Shipped.allCases {
        let shown = text(phrase, phrase.parameters.map { _ in .text("\u{f8ff}") }, StringTable(language))
        XCTAssertEqual(
          shown.count { $0 == "\u{f8ff}" || $0.unicodeScalars.contains("\u{f8ff}") }, phrase.parameters.count)
      }
    }
  }

  func testThePageListsEveryPhrase() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let page = try String(contentsOf: root.appendingPathComponent("spec/protocol/strings.md"), encoding: .utf8)
    let listed = page.split(separator: "\n").compactMap { line in
      line.hasPrefix("| `") ? line.dropFirst(3).split(separator: "` |").first.map(String.init) : nil
    }
    XCTAssertEqual(listed.sorted(), Phrase.allCases.map(\.rawValue).sorted())
  }

  func testAWrongTableIsRefusedByTheNameOfItsMember() {
    let long = String(repeating: "x", count: 1_025)
    let cases: [(json: String, key: String?)] = [
      ("", nil), ("[]", nil), ("null", nil), (#"{"language":"en""#, nil),
      ("{\"strings\":{}}" + long.padding(toLength: 70_000, withPad: " ", startingAt: 0), nil),
      (#"{"languages":"en"}"#, "languages"), (#"{"language":7}"#, "language"), (#"{"language":""}"#, "language"),
      (#"{"language":"e n"}"#, "language"), (#"{"strings":[]}"#, "strings"),
      (#"{"strings":{"hello":"hallo"}}"#, "hello"), (#"{"strings":{"Somebody":7}}"#, "Somebody"),
      (#"{"strings":{"Somebody":""}}"#, "Somebody"), (#"{"strings":{"Somebody":"\#(long)"}}"#, "Somebody"),
      (#"{"strings":{"Somebody":"%@"}}"#, "Somebody"), (#"{"strings":{"Somebody":"50 %"}}"#, "Somebody"),
      (#"{"strings":{"Somebody":{"other":"a"}}}"#, "Somebody"),
      (#"{"strings":{"From: %@":"Von"}}"#, "From: %@"), (#"{"strings":{"From: %@":"Von %d"}}"#, "From: %@"),
      (#"{"strings":{"From: %@":"Von %@ %@"}}"#, "From: %@"), (#"{"strings":{"From: %@":"Von %2$@"}}"#, "From: %@"),
      (#"{"strings":{"From: %@":"Von %1$@ %1$@"}}"#, "From: %@"), (#"{"strings":{"From: %@":"Von %s"}}"#, "From: %@"),
      (#"{"strings":{"From: %@ and %@":"Von %1$@ und %@"}}"#, "From: %@ and %@"),
      (#"{"strings":{"From %d chats":{"one":"einem"}}}"#, "From %d chats"),
      (#"{"strings":{"From %d chats":{"some":"%d","other":"%d"}}}"#, "From %d chats"),
      (#"{"strings":{"From %d chats":{"one":1,"other":"%d"}}}"#, "From %d chats"),
      (#"{"strings":{"From %d chats":{"other":"vielen"}}}"#, "From %d chats"),
      (#"{"strings":{"From %d chats":{"other":"%@"}}}"#, "From %d chats"),
      // In Russian the form `one` applies to 21 as well.
      (#"{"language":"ru","strings":{"From %d chats":{"one":"из чата","other":"из %d"}}}"#, "From %d chats"),
    ]
    for (json, key) in cases {
      guard case .stringsInvalid(let found, _)? = error(json) else {
        XCTFail("accepted: \(json.prefix(80))")
        continue
      }
      XCTAssertEqual(found, key, String(json.prefix(80)))
    }
    XCTAssertNil(
      error(#"{"language":"de","strings":{"From %d chats":{"one":"aus einem Chat","other":"aus %d Chats"}}}"#))
  }

  func testWhateverAHostGivesIsAnswered() {
    let pieces = [
      "{", "}", "\"strings\":", "\"language\":", "\"en\"", "\"Somebody\":", "\"From: %@\":", "\"%@\"", "\"%9$@\"",
      "\"%$d\"", "[", "]",
      ",", "7", "null", "\"%d new messages\":", "{\"other\":\"%d\"}", "\u{0}", "\u{feff}",
    ]
    forAll(Generator<String>.element(of: pieces).array(0...12), runs: 400) { chosen in
      let json = chosen.joined()
      if let table = try? StringTable.parsed(json) {
        for phrase in Phrase.allCases { try expect(!self.text(phrase, self.samples(phrase), table).isEmpty, json) }
      }
    }
  }
}
