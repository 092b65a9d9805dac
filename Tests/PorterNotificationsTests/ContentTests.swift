import PorterJSON
import PorterNotifications
import PorterSchema
import PropertyTesting
import XCTest

typealias Event = NotificationEvent

enum Sample {
  static let alice = Event.Chat.contact(id: 5, name: "Alice")
  static let club = Event.Chat.group(id: 7, name: "Book club", member: "Bob")
  static let carol = Event.Chat.contact(id: 6, name: "Carol")
  static let owner = Event.Owner(id: 1)

  static func message(
    _ content: MessageContent = .text("See you at *eight*"), in chat: Event.Chat = alice, message: String = "bXNn",
    filter: NotificationFilter = .all, mentions: Bool = false, fileName: String? = nil
  ) -> Event {
    Event(
      identifier: .message(connection: "Y29ubg", message: message), owner: owner,
      kind: .message(.init(chat: chat, content: content, fileName: fileName, mentionsUser: mentions)), filter: filter)
  }

  static func event(_ kind: Event.Kind, _ identifier: NotificationIdentifier = .connection("Y29ubg")) -> Event {
    Event(identifier: identifier, owner: owner, kind: kind)
  }

  /// One event of each kind, with its name in the golden file.
  static let everyKind: [(String, Event)] = [
    ("contact request", event(.contactRequest(id: 3, name: "Alice"), .contactRequest(user: 1, id: 3))),
    ("contact connected", event(.contactConnected(id: 5, name: "Alice"), .contactConnected(user: 1, contact: 5))),
    ("message", message()),
    ("message in a group", message(in: club)),
    ("message with a secret", message(.text("pin #12 34# for #x#"))),
    ("message, a link", message(.init(.link(text: "https://a.example", preview: [:])))),
    ("message, voice", message(.init(.voice(text: "", duration: 75)))),
    ("message, voice with text", message(.init(.voice(text: "listen", duration: 75)))),
    ("message, file", message(.init(.file(text: "")), fileName: "map.pdf")),
    ("message, image without text", message(.init(.image(text: "", image: "data:")))),
    ("message, report", message(.init(.report(text: "buy now", reason: .spam)))),
    ("message, report without text", message(.init(.report(text: "", reason: .spam)))),
    ("message, unknown kind", message(.init(.unknown(tag: "poll", text: "Which?", json: [:])))),
    ("message, empty", message(.text(""))),
    ("message, blank", message(.text(" \n "))),
    ("video call", event(.call(alice, .video), .call(user: 1, chat: "@5", message: "bXNn"))),
    ("audio call", event(.call(alice, .audio), .call(user: 1, chat: "@5", message: "bXNn"))),
    ("missed call", event(.missedCall(alice), .call(user: 1, chat: "@5", message: "bXNn"))),
    ("connection event", event(.connection(.chat(alice)), .message(connection: "Y29ubg", message: "bXNn"))),
    ("connection event in a group", event(.connection(.chat(club)))),
    ("connection event, no contact yet", event(.connection(.newContact))),
    ("connection event, address", event(.connection(.address))),
    ("connection event, file sent", event(.connection(.file(.sent)))),
    ("connection event, file received", event(.connection(.file(.received)))),
    ("many messages of a chat", event(.many(.init(count: 8, .chat(alice))), .many(user: 1, chat: "@5"))),
    ("many messages of a group", event(.many(.init(count: 8, .chat(club))), .many(user: 1, chat: "#7"))),
    ("many messages, one chat left", event(.many(.init(count: 1, .chats([alice]))), .many(user: 1, chat: nil))),
    ("many messages of two chats", event(.many(.init(count: 20, .chats([alice, club]))), .many(user: 1, chat: nil))),
    (
      "many messages of three chats",
      event(.many(.init(count: 21, .chats([alice, club, carol]))), .many(user: 1, chat: nil))
    ),
    (
      "many messages of four chats",
      event(.many(.init(count: 102, .chats([alice, club, carol, alice]))), .many(user: 1, chat: nil))
    ),
    ("many requests", event(.manyRequests(.init(from: ["Alice", "Bob", "Carol", "Dave"])), .manyRequests(user: 1))),
    ("many requests, one left", event(.manyRequests(.init(from: ["Alice"])), .manyRequests(user: 1))),
    ("many requests, two left", event(.manyRequests(.init(from: ["Alice", "Bob"])), .manyRequests(user: 1))),
    (
      "many requests, three left",
      event(.manyRequests(.init(from: ["Alice", "Bob", "\u{200b}"])), .manyRequests(user: 1))
    ),
    ("a name in Hebrew", message(in: .contact(id: 5, name: "דנה"))),
    ("a group in Hebrew", message(in: .group(id: 7, name: "דנה", member: "Bob"))),
    ("a name that cannot be seen", message(in: .contact(id: 5, name: "\u{200b}\u{1}\u{202e}\u{2066}"))),
    (
      "a request without a visible name",
      event(.contactRequest(id: 3, name: "\u{7f}\u{3164}"), .contactRequest(user: 1, id: 3))
    ),
  ]
}

final class ContentTests: XCTestCase {
  /// One file per language. The marks around isolated names are written as ‹ and ›.
  func testEveryNotificationInEveryPreviewModeAndLanguage() throws {
    for language in StringTable.Shipped.allCases {
      var text = ""
      for (name, event) in Sample.everyKind {
        text += "\(name)\n"
        for mode in PreviewMode.allCases {
          let content = try ContentBuilder.content(for: event, NotificationPolicy(previewMode: mode)).get()
          text += "  \(mode.rawValue)\n\(described(content, StringTable(language)))"
        }
      }
      for notice in NotificationNotice.allCases {
        text += "notice, \(notice)\n\(described(notice.content, StringTable(language)))"
      }
      XCTAssertFalse(text.contains("\u{2068}\u{2069}"), "an empty name")
      text = text.replacing("\u{2068}", with: "‹").replacing("\u{2069}", with: "›")
      try assertGolden(text, "notifications.\(language.rawValue).txt")
    }
  }

  /// What a host registers with its platform: a line for each category without its actions, and one for each action.
  func testEveryCategoryWithItsActions() throws {
    for language in [StringTable.Shipped.english, .arabic, .japanese] {
      var text = "\(language.rawValue)\n"
      for category in NotificationCategories.json(in: StringTable(language))["categories"]?.arrayValue ?? [] {
        guard case .object(let members) = category else { return XCTFail(category.text) }
        text += JSONValue.object(JSONObject(members.members.filter { $0.name != "actions" })).text + "\n"
        for action in category["actions"]?.arrayValue ?? [] { text += "  \(action.text)\n" }
      }
      try assertGolden(text, "categories.\(language.rawValue).txt")
    }
  }

  /// INC-47: when the key arrives late, the message replaces what was shown without it.
  func testINC47TheTextReplacesThePlaceholder() throws {
    let identifier = NotificationIdentifier.message(connection: "Y29ubg", message: "bXNn")
    let early = Sample.event(.connection(.chat(Sample.alice)), identifier)
    let late = Sample.message()
    let shown = try [early, late].map { try ContentBuilder.content(for: $0, NotificationPolicy()).get() }
    XCTAssertEqual(shown[0].identifier, shown[1].identifier)
    XCTAssertEqual(shown[0].body.text(in: .english), "message received")
    XCTAssertEqual(shown[1].body.text(in: .english), "See you at eight")
  }

  func testDifferentThingsHaveDifferentIdentifiers() {
    let identifiers: [NotificationIdentifier] = [
      .message(connection: "a", message: "b"), .message(connection: "b", message: "a"), .connection("a"),
      .contactRequest(user: 1, id: 2), .contactRequest(user: 2, id: 1), .manyRequests(user: 1),
      .many(user: 1, chat: nil), .contactConnected(user: 1, contact: 2),
      .call(user: 1, chat: "@2", message: "a"), .call(user: 1, chat: "@2", message: "b"),
      .call(user: 1, chat: "#2", message: "a"),
    ]
    XCTAssertEqual(Set(identifiers.map(\.description)).count, identifiers.count)
  }

  /// INC-61: content without a count leaves the icon alone.
  func testINC61NoBadgeIsNotABadgeOfZero() throws {
    var content = try ContentBuilder.content(for: Sample.message(), NotificationPolicy()).get()
    XCTAssertNil(content.json()["badge"])
    content.badge = 0
    XCTAssertEqual(content.json()["badge"], 0)
  }

  func testTheJSONCarriesWhatATranslationNeeds() throws {
    let request = Sample.event(.contactRequest(id: 3, name: "Alice"), .contactRequest(user: 1, id: 3))
    let hidden = try ContentBuilder.content(for: request, NotificationPolicy(previewMode: .hidden)).get()
    XCTAssertEqual(
      hidden.json().text,
      #"{"identifier":"np:request:1:3","title":"Somebody wants to connect!","titleKey":"%@ wants to connect!","#
        + #""titleArguments":[{"key":"Somebody"}],"body":"Accept contact request from this contact?","#
        + #""bodyKey":"Accept contact request from %@?","bodyArguments":[{"key":"this contact"}],"#
        + #""categoryIdentifier":"NTF_CAT_CONTACT_REQUEST","userInfo":{"chatId":"<@3","contactRequestId":3,"#
        + #""userId":1},"sound":"default"}"#)
    let message = try ContentBuilder.content(for: Sample.message(), NotificationPolicy()).get()
    XCTAssertNil(message.json()["bodyKey"], "a message's own text is not translated")
  }

  func testNothingHiddenShowsInHiddenMode() {
    forAll(both(Generator.element(of: Sample.everyKind.map(\.1)), Generator<String>.text(1...20))) { event, secret in
      let name = "NAME" + secret
      var event = event
      switch event.kind {
      case .contactRequest(let id, _): event.kind = .contactRequest(id: id, name: name)
      case .contactConnected(let id, _): event.kind = .contactConnected(id: id, name: name)
      case .message(var message):
        message.chat = .group(id: 1, name: name, member: name)
        message.content = .text(name)
        message.fileName = name
        event.kind = .message(message)
      case .call(_, let media): event.kind = .call(.contact(id: 1, name: name), media)
      case .missedCall: event.kind = .missedCall(.contact(id: 1, name: name))
      case .connection(.chat): event.kind = .connection(.chat(.contact(id: 1, name: name)))
      case .connection: break
      case .manyRequests(let requests): event.kind = .manyRequests(.init(from: requests.names.map { _ in name }))
      case .many(let burst):
        event.kind = .many(.init(count: burst.count, .chats([.contact(id: 1, name: name)])))
      }
      let policy = NotificationPolicy(previewMode: .hidden)
      let text = try ContentBuilder.content(for: event, policy).get().json().text
      try expect(!text.contains("NAME"), text)
    }
  }

  func testBodiesAndNamesAreBounded() {
    forAll(Generator<String>.text(0...4_000), runs: 60) { text in
      let chat = Event.Chat.contact(id: 1, name: text)
      let content = try ContentBuilder.content(for: Sample.message(.text(text), in: chat), NotificationPolicy()).get()
      try expect(
        content.body.text(in: .english).utf8.count <= 2_048, "body of \(content.body.text(in: .english).utf8.count)")
      let title = content.title.text(in: .english)
      try expect(title.count <= 64 + 3 && title.utf8.count <= 512 + 7, "title of \(title.count)")
      try expect(!content.title.text(in: .english).contains { $0.isNewline }, "a title of two lines")
      let controls = content.json().text.unicodeScalars.filter { $0.value < 0x20 || $0.value == 0x7f }
      try expect(controls.isEmpty, "control characters")
    }
  }

  func testLongTextsEndInAnEllipsisAndStayWholeCharacters() throws {
    let family = "👨‍👩‍👧‍👦"
    let long = String(repeating: family, count: 300)
    let content = try ContentBuilder.content(for: Sample.message(.text(long)), NotificationPolicy()).get()
    let body = content.body.text(in: .english)
    XCTAssertTrue(body.hasSuffix("…"))
    XCTAssertTrue(body.dropLast().allSatisfy { String($0) == family })
    let exact = String(repeating: "a", count: 2_048)
    XCTAssertEqual(
      try ContentBuilder.content(for: Sample.message(.text(exact)), NotificationPolicy()).get().body.text(in: .english),
      exact)
  }

  /// A name that reads like a placeholder is only a name.
  func testNamesFillNoPlaceholders() throws {
    let event = Sample.message(in: .group(id: 1, name: "%@ %d", member: "%@"))
    let content = try ContentBuilder.content(for: event, NotificationPolicy()).get()
    XCTAssertEqual(content.title.text(in: .english), "#%@ %d %@:")
  }

  func testEachPhraseGetsAsManyArgumentsAsItHasPlaces() {
    func check(_ text: ShownText) {
      guard case .phrase(let phrase, let arguments) = text else { return }
      let types = arguments.map { argument -> Phrase.Parameter in if case .count = argument { .count } else { .text } }
      XCTAssertEqual(types, phrase.parameters, phrase.rawValue)
    }
    for (_, event) in Sample.everyKind {
      for mode in PreviewMode.allCases {
        let content = try? ContentBuilder.content(for: event, NotificationPolicy(previewMode: mode)).get()
        check(content?.title ?? .none)
        check(content?.body ?? .none)
      }
    }
  }

  private func described(_ content: NotificationContent, _ strings: StringTable) -> String {
    var lines = [content.title.text(in: strings)]
    if !content.body.text(in: strings).isEmpty { lines.append(content.body.text(in: strings)) }
    var details = [content.category.rawValue, content.identifier]
    if let target = content.targetContentIdentifier { details.append("target \(target)") }
    if let thread = content.threadIdentifier { details.append("thread \(thread)") }
    details.append(content.userInfo.json.text)
    lines.append("(\(details.joined(separator: ", ")))")
    return lines.map { "    \($0)\n" }.joined()
  }
}
