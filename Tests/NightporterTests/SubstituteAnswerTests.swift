import PorterCrypto
import PorterJSON
import PorterNotifications
import PorterPlatform
import PorterPush
import XCTest

@testable import PorterEngine

/// The engine hangs after it has settled what a push shows, and time is up: the caller's answer has that content.
final class SubstituteAnswerTests: XCTestCase {
  /// The answer to a message push of which only `content` is known.
  private func answer(_ content: PushContent) throws -> (answer: JSON, givesNotice: Bool) {
    let pending = PendingPush(identifier: nil, payload: "")
    pending.begin()
    let run = PushRun(text: "", started: Moment(nanoseconds: 0), due: Moment(nanoseconds: 1), number: 1, pending)
    run.payload = .message(nonce: try XCTUnwrap(BoxNonce(bytes: [UInt8](repeating: 0, count: 24))), ciphertext: [])
    run.content = content
    XCTAssertTrue(run.stageAnswer())
    var notice = PushContent()
    notice.notifications = [NotificationNotice.event.content.json(in: .english)]
    let givesNotice = pending.answerWithoutEngine(notice) { _ in .init(text: "not staged", givesNotice: true) }
    return (JSON(try XCTUnwrap(pending.answer.wait(atMost: .zero))), givesNotice)
  }

  /// A withdrawal says nothing about what arrived.
  func testAnAnswerThatOnlyWithdrawsHasANotice() throws {
    var content = PushContent()
    content.withdrawals = ["shown"]
    let (answer, givesNotice) = try answer(content)
    XCTAssertEqual(answer.titles, ["Encrypted message or another app event"], answer.description)
    XCTAssertEqual(answer["withdrawals"].elements.map(\.text), ["shown"])
    XCTAssertTrue(givesNotice, "to be withdrawn when the store is read")
  }

  func testAnAnswerThatShowsSomethingHasNone() throws {
    var content = PushContent()
    content.notifications = [["identifier": "message", "title": "bob"]]
    let (answer, givesNotice) = try answer(content)
    XCTAssertEqual(answer.titles, ["bob"], answer.description)
    XCTAssertFalse(givesNotice)
  }
}
