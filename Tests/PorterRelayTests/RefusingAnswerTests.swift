import XCTest

@testable import PorterRelay

final class RefusingAnswerTests: XCTestCase {
  /// A mailbox that does not exist among others that do.
  func testAnAnswerRefusesIfOneOfItsEntriesDoes() throws {
    let position = try XCTUnwrap(RelayPosition(bytes: [UInt8](repeating: 0, count: RelayPosition.count)))
    let due = RelayDueNotifications(notifications: [], nextIn: nil)
    for entries in [[RelaySubscription.subscribed, .auth], [.auth], [.waiting, .subscribed], []] {
      let answers: [RelayAnswer] = [
        .subscriptions(entries), .acknowledgedNotifications(due, entries), .listening(position, entries),
      ]
      for answer in answers { XCTAssertEqual(answer.refuses, entries.contains(.auth), "\(answer)") }
    }
  }

  func testOnlyAWrongKeyIsARefusal() {
    XCTAssertTrue(RelayAnswer.failed(.auth).refuses)
    for error in [RelayError.quota, .noMessage, .size, .syntax, .version] {
      XCTAssertFalse(RelayAnswer.failed(error).refuses, "\(error)")
    }
    XCTAssertFalse(RelayAnswer.done.refuses)
  }
}
