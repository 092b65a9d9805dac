import PorterNotifications
import PorterPlatform
import PropertyTesting
import XCTest

private typealias Item = BurstPlan.Item

/// When many messages arrive: the notifications that stand for them, and which of those make a sound.
final class BurstTests: XCTestCase {
  /// Messages as `1a 1a 2b`: profile and chat; `1?` is a contact request, `1-` another notification of the profile.
  private func items(_ text: String) -> [BurstPlan.Item] {
    text.split(separator: " ").enumerated().map { index, word in
      let chat = word.last.flatMap { $0 == "-" || $0 == "?" ? nil : $0.unicodeScalars.first.map { Int64($0.value) } }
      return BurstPlan.Item(
        id: Int64(index), user: Int64(String(word.first ?? "0")) ?? 0, chat: chat, isRequest: word.hasSuffix("?"))
    }
  }

  /// As `1a*8` for a chat's summary, `1*20` for a profile's, `1?*8` for one of its contact requests, and just the chat for a single message.
  private func described(_ plan: BurstPlan) -> String {
    func name(_ chat: Int64?) -> String { chat.flatMap { Unicode.Scalar(UInt32($0)) }.map { String($0) } ?? "-" }
    return plan.notifications.map { notification in
      switch notification {
      case .single(let item): "\(item.user)\(item.isRequest ? "?" : name(item.chat))"
      case .requests(let user, let items): "\(user)?*\(items.count)"
      case .summary(let user, let chat, let items): "\(user)\(chat.map { name($0) } ?? "")*\(items.count)"
      }
    }.joined(separator: " ")
  }

  private func times(_ count: Int, _ word: String) -> String {
    Array(repeating: word, count: count).joined(separator: " ")
  }

  func testPlans() {
    let cases: [(line: UInt, items: String, shown: String, hidden: String)] = [
      (#line, "", "", ""),
      (#line, "1a 1b 1-", "1a 1b 1-", "1a 1b 1-"),
      (#line, times(7, "1a"), times(7, "1a"), times(7, "1a")),
      (#line, times(8, "1a"), "1a*8", "1*8"),
      // Other chats keep their notifications; where chats are hidden, all of the profile's are bundled.
      (#line, "1b " + times(8, "1a") + " 1-", "1b 1a*8 1-", "1*9 1-"),
      (#line, times(4, "1a") + " 1b " + times(4, "1a") + " 2c", "1b 1a*8 2c", "1*9 2c"),
      (#line, times(8, "1a 1b"), "1a*8 1b*8", "1*16"),
      (
        #line, times(7, "1a") + " " + times(7, "1b") + " " + times(5, "1c"),
        times(7, "1a") + " " + times(7, "1b") + " " + times(5, "1c"),
        times(7, "1a") + " " + times(7, "1b") + " " + times(5, "1c")
      ),
      (#line, times(7, "1a") + " " + times(7, "1b") + " " + times(6, "1c"), "1*20", "1*20"),
      // A chat with a summary of its own is not in its profile's summary, and each profile has its own.
      (#line, times(12, "1a") + " 1b 1c 1d 1e 2f 2g 2h 2i", "1a*12 1*4 2*4", "1*16 2*4"),
      // What is left of a chat belongs to that chat.
      (#line, times(7, "1a") + " " + times(14, "1b"), "1a*7 1b*14", "1*21"),
      (#line, times(20, "1a") + " 1b 2c 1b 2c 2d", "1a*20 1b*2 2*3", "1*22 2*3"),
      // A summary of one message would say less than the message.
      (#line, times(50, "1a") + " 2b", "1a*50 2b", "1*50 2b"),
      // Notifications other than messages do not count, and are never bundled.
      (#line, times(19, "1-") + " 1a", times(19, "1-") + " 1a", times(19, "1-") + " 1a"),
    ]
    for (line, items, shown, hidden) in cases {
      XCTAssertEqual(described(BurstPlan(self.items(items), hidesChats: false)), shown, line: line)
      XCTAssertEqual(described(BurstPlan(self.items(items), hidesChats: true)), hidden, line: line)
    }
  }

  /// The requests on screen count: strangers ask one by one.
  func testPlansOfRequests() {
    let cases: [(line: UInt, items: String, onScreen: [Int64: Int], shown: String)] = [
      (#line, times(7, "1?"), [1: 0], times(7, "1?")),
      (#line, times(8, "1?"), [1: 0], "1?*8"),
      (#line, "1?", [1: 6], "1?"),
      (#line, "1?", [1: 7], "1?*1"),
      (#line, "1? 2? 1- 1a 1?", [1: 6, 2: 6], "2? 1- 1a 1?*2"),
      // They do not count as messages, nor messages as requests.
      (#line, times(7, "1?") + " " + times(7, "1a"), [1: 0], times(7, "1?") + " " + times(7, "1a")),
      (#line, times(8, "1?") + " " + times(8, "1a"), [1: 0], "1?*8 1a*8"),
    ]
    for (line, items, onScreen, shown) in cases {
      for hides in [false, true] where !hides || !items.contains("a") {
        let plan = BurstPlan(self.items(items), hidesChats: hides, requestsShown: onScreen)
        XCTAssertEqual(described(plan), shown, line: line)
      }
    }
  }

  func testEveryItemIsInExactlyOneNotification() {
    let words = Generator<String>.element(of: ["1a", "1a", "1a", "1b", "1c", "2d", "2e", "3f", "1-", "1?", "1?", "2?"])
    forAll(both(words.array(0...60), Generator.element(of: [true, false])), runs: 500) { words, hides in
      let items = self.items(words.joined(separator: " "))
      let plan = BurstPlan(items, hidesChats: hides)
      try expect(plan.notifications.flatMap(\.items).map(\.id).sorted() == items.map(\.id), "\(words)")
      for notification in plan.notifications {
        guard case .summary(let user, let chat, let parts) = notification else { continue }
        try expect(parts.count > 1 && parts.allSatisfy { $0.user == user && $0.chat != nil }, "\(words)")
        try expect(chat == nil || (!hides && parts.allSatisfy { $0.chat == chat }), "\(words)")
      }
      // However many arrive, a person sees a bounded number.
      let messages = plan.notifications.count { $0.items.contains { $0.chat != nil } }
      try expect(messages < 20, "\(messages) for \(words)")
      let requests = plan.notifications.count { $0.items.contains { $0.isRequest } }
      try expect(requests <= 2 * 7, "\(requests) for \(words)")
    }
  }

  func testAChatMakesOneSoundInThirtySeconds() {
    func at(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }
    var rule = SoundRule(last: [1: at(100), 2: at(101), 3: at(70)], now: at(130))
    XCTAssertTrue(rule.takeSound(for: [1]), "30 s are over")
    XCTAssertFalse(rule.takeSound(for: [1]), "once in an answer")
    XCTAssertFalse(rule.takeSound(for: [2]))
    XCTAssertTrue(rule.takeSound(for: [1, 2, 3]), "for the third")
    XCTAssertTrue(rule.takeSound(for: [4]), "never heard before")
    XCTAssertFalse(rule.takeSound(for: [3, 4]))
    XCTAssertEqual(rule.sounding, [1, 3, 4])
    XCTAssertTrue(rule.takeSound(of: nil, mayHavePlaceholder: false))
    XCTAssertFalse(rule.takeSound(of: nil, mayHavePlaceholder: false), "all that are not known make one")
    XCTAssertFalse(rule.takeSound(of: 5, mayHavePlaceholder: true), "its placeholder was one of them")
    XCTAssertTrue(rule.takeSound(of: 5, mayHavePlaceholder: false))
    XCTAssertEqual(rule.sounding, [1, 3, 4, SoundRule.unknown, 5])
    var none = SoundRule(last: [:], now: at(0))
    XCTAssertFalse(none.takeSound(for: []))
  }
}
