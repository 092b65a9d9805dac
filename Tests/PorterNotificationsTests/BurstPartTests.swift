import PorterNotifications
import PorterSchema
import XCTest

/// What a summary says about its chats, given the user's current settings for them.
final class BurstPartTests: XCTestCase {
  private typealias Burst = NotificationEvent.Burst

  private func chat(_ name: String) -> NotificationEvent.Chat {
    .contact(id: Int64(name.unicodeScalars.first?.value ?? 0), name: name)
  }

  /// From texts like `a all 5 1`: chat, filter, messages, and how many of them mention the user. `?` is a chat whose
  /// record is damaged.
  private func parts(_ text: String) -> [Burst.Part] {
    text.split(separator: ", ").map { part in
      let words = part.split(separator: " ").map(String.init)
      return Burst.Part(
        chat: words[0] == "?" ? nil : chat(words[0]), filter: NotificationFilter(rawValue: words[1]) ?? .all,
        count: Int(words[2]) ?? 0, mentions: Int(words[3]) ?? 0)
    }
  }

  private func described(_ burst: Burst?) -> String {
    switch burst?.scope {
    case nil: "nothing"
    case .chat(.contact(_, let name))?: "\(burst?.count ?? 0) of \(name)"
    case .chats(let chats)?: "\(burst?.count ?? 0) from \(chats.map(name).joined(separator: " "))"
    case .chat?: "a group"
    }
  }

  private func name(_ chat: NotificationEvent.Chat) -> String {
    guard case .contact(_, let name) = chat else { return "a group" }
    return name
  }

  func testASummaryCountsAndNamesWhatMayBeShown() {
    let cases: [(line: UInt, parts: String, shown: String, hidden: String)] = [
      (#line, "", "nothing", "nothing"),
      (#line, "a all 9 0", "9 of a", "9 from a"),
      (#line, "a none 9 3", "nothing", "nothing"),
      (#line, "a mentions 9 0", "nothing", "nothing"),
      (#line, "a mentions 9 2", "2 of a", "2 from a"),
      (#line, "a all 5 0, b none 6 6, c all 7 0", "12 from a c", "12 from a c"),
      (#line, "a all 5 0, b none 6 6", "5 of a", "5 from a"),
      (#line, "a none 5 1, b mentions 6 0", "nothing", "nothing"),
      (#line, "a mentions 5 1, b all 6 0", "7 from a b", "7 from a b"),
      // New messages come first, one by one, then those already there.
      (#line, "b all 1 0, a all 1 1, b all 1 0, a all 5 0, c none 3 0", "8 from b a", "8 from b a"),
      (#line, "a mentions 1 1, a mentions 5 2", "3 of a", "3 from a"),
      // It belongs to another chat, though that cannot be named.
      (#line, "? all 5 0, a all 4 0", "9 from a", "9 from a"),
    ]
    for (line, parts, shown, hidden) in cases {
      for (hidesChats, said) in [(false, shown), (true, hidden)] {
        let burst = Burst(of: self.parts(parts), to: .init(id: 1), hidesChats: hidesChats)
        XCTAssertEqual(described(burst), said, line: line)
      }
    }
  }

  func testASummaryOfAMutedOrHiddenProfileSaysNothing() {
    let parts = parts("a all 5 5, b all 4 0")
    for owner in [
      NotificationEvent.Owner(id: 1, showsNotifications: false), NotificationEvent.Owner(id: 1, isHidden: true),
    ] {
      XCTAssertNil(Burst(of: parts, to: owner, hidesChats: false))
    }
  }
}
