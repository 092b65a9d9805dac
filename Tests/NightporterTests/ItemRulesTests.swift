import PorterPlatform
import XCTest

@testable import PorterEngine
@testable import PorterStore

/// Who may change a message, and until when.
final class ItemRulesTests: XCTestCase {
  private typealias Subject = ItemRules.Subject
  private typealias Verdict = ItemRules.Verdict

  private func subject(_ author: ItemRules.Side, deleted: Bool = false, hours: Int64 = 0) -> Subject {
    Subject(author: author, isDeleted: deleted, age: .seconds(hours * 3_600))
  }

  func testEditsAndDeletions() {
    let rules: [(name: String, of: (Subject) -> Verdict)] = [
      ("edit", ItemRules.edit), ("delete for both", ItemRules.deleteForBoth),
      ("contact edits", ItemRules.contactEdits),
      ("contact deletes", { ItemRules.contactDeletes($0, inFull: false) }),
      ("contact deletes in full", { ItemRules.contactDeletes($0, inFull: true) }),
    ]
    let other = Verdict.refused(.notTheAuthor)
    let deleted = Verdict.refused(.alreadyDeleted)
    let overtaken = Verdict.ignored(.alreadyDeleted)
    let old = Verdict.refused(.tooOld)
    let table: [(Subject, [Verdict])] = [
      (subject(.user), [.allowed, .allowed, other, other, other]),
      (subject(.user, hours: 23), [.allowed, .allowed, other, other, other]),
      (subject(.user, hours: 24), [old, old, other, other, other]),
      (subject(.user, deleted: true), [deleted, deleted, other, other, other]),
      (subject(.contact), [other, other, .allowed, .allowed, .allowed]),
      (subject(.contact, hours: 77), [other, other, .allowed, .allowed, .allowed]),
      (subject(.contact, hours: 78), [other, other, .allowed, old, old]),
      (subject(.contact, deleted: true), [other, other, overtaken, overtaken, .allowed]),
      (subject(.contact, deleted: true, hours: 78), [other, other, overtaken, overtaken, overtaken]),
    ]
    for (subject, expected) in table {
      for (rule, verdict) in zip(rules, expected) {
        XCTAssertEqual(rule.of(subject), verdict, "\(rule.name): \(subject)")
      }
    }
  }

  /// The age of the user's own message: within the boot in which it was sent, no wall clock counts (INC-14). In a later
  /// boot the wall clock alone knows how long the device was off, and the message is no younger than the boot.
  func testTheAgeOfOnesOwnMessage() {
    let day: Int64 = 86_400
    let table: [(sent: (boot: String, second: Int64)?, now: (boot: String, second: Int64), wall: Int64, age: Int64)] = [
      (("a", 100), ("a", 160), 60, 60),
      (("a", 100), ("a", 160), 365 * day, 60),
      (("a", 100), ("a", 160), -365 * day, 60),
      (("a", 900), ("b", 30), 60, 60),
      (("a", 900), ("b", 2 * day), 60, 2 * day),
      (("a", 900), ("b", 30), -365 * day, 30),
      (("a", 900), ("b", 30), 2 * day, 2 * day),
      (nil, ("a", 160), 60, 60),
      (nil, ("a", 160), -60, 0),
    ]
    for (sent, now, wall, age) in table {
      let item = StoredItem(
        id: 1, contactID: 1, isSent: true, content: "", status: "sndSent", itemAt: WallTime(milliseconds: 1_000_000),
        sentMoment: sent.map { Self.moment($0.boot, $0.second) })
      let reading = ClockReading(
        wall: WallTime(milliseconds: 1_000_000 + wall * 1_000), sinceBoot: Self.moment(now.boot, now.second))
      XCTAssertEqual(item.age(at: reading), .seconds(age), "\(String(describing: sent)) \(now) \(wall)")
    }
  }

  private static func moment(_ boot: String, _ second: Int64) -> BootMoment {
    BootMoment(boot: boot, moment: Moment(nanoseconds: second * 1_000_000_000))
  }

  func testReceipts() {
    XCTAssertEqual(ItemRules.contactConfirms(nil), .ignored(.unknownMessage))
    XCTAssertEqual(ItemRules.contactConfirms(subject(.user, hours: 9_999)), .allowed)
    XCTAssertEqual(ItemRules.contactConfirms(subject(.contact)), .refused(.notTheAuthor))
  }

  func testReactions() {
    let table: [(adds: Bool, isThere: Bool, count: Int, isAllowed: Bool, isDeleted: Bool, Verdict)] = [
      (true, false, 0, true, false, .allowed),
      (true, false, 2, true, false, .allowed),
      (true, false, 3, true, false, .refused(.tooManyReactions)),
      (true, true, 1, true, false, .ignored(.nothingToChange)),
      (true, true, 3, true, false, .ignored(.nothingToChange)),
      (false, true, 3, true, false, .allowed),
      (false, false, 0, true, false, .ignored(.nothingToChange)),
      (true, false, 0, false, false, .refused(.notAllowed)),
      (false, true, 1, false, false, .refused(.notAllowed)),
      (true, false, 0, true, true, .ignored(.alreadyDeleted)),
    ]
    for (adds, isThere, count, isAllowed, isDeleted, expected) in table {
      let verdict = ItemRules.react(
        adds: adds, isThere: isThere, reactions: count, isAllowed: isAllowed, isDeleted: isDeleted)
      XCTAssertEqual(verdict, expected, "\((adds, isThere, count, isAllowed, isDeleted))")
    }
  }
}

extension StoredItem {
  fileprivate init(
    id: Int64, contactID: Int64, isSent: Bool, content: String, status: String, itemAt: WallTime,
    sentMoment: BootMoment?
  ) {
    self.init(
      id: id, contactID: contactID, isSent: isSent, content: content, status: status, itemAt: itemAt, createdAt: itemAt,
      updatedAt: itemAt, isEdited: false, isLive: false, mentionsUser: false, hasOvertaken: false, reactions: [],
      sentMoment: sentMoment)
  }
}
