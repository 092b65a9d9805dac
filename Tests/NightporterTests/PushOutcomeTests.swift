import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// Outcomes of a push that only a damaged relay, a hostile sender or a busy store can cause.
final class PushOutcomeTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// Alice's app sleeps with nothing unread, and bob has written; then the relay's file is changed.
  private func push(changing statement: String) throws -> (answer: JSON, pair: Pair) {
    let pair = try Pair()
    let relay = try Database(path: pair.folder.file("relay.db"))
    defer { try? relay.close() }
    for _ in 0..<2_000 where try relay.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") != 0 {
      usleep(10_000)
    }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    try relay.execute(statement)
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    let answer = notifier.push(wake, deadline: 30_000)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    return (answer, pair)
  }

  /// INC-41: a message that does not open is quarantined and never shown.
  func testINC41AMessageThatDoesNotOpenIsQuarantined() throws {
    let (answer, pair) = try push(changing: damageToWaitingMessages)
    XCTAssertEqual(answer["outcome"].text, "quarantined", answer.description)
    XCTAssertEqual(answer.bodies, [])
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM ledger WHERE state = 'quarantined'"), 1)
  }

  /// The relay has lost a mailbox. Nothing can be fetched from it, and the push does not wait for it.
  func testAMailboxThatTheRelayDoesNotKnowIsUnknown() throws {
    let (answer, _) = try push(changing: "DELETE FROM mailbox WHERE number = (SELECT min(number) FROM mailbox)")
    XCTAssertEqual(answer["outcome"].text, "unknown", answer.description)
    XCTAssertEqual(answer.bodies, [])
  }

  /// INC-18: the store cannot be opened while another process is giving it a key.
  func testAStoreThatIsBusyWhenItIsToBeOpenedIsLeftToItsHolder() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    notifier.send("/_app suspend 0").assert("cmdOk")
    let lock = try OpeningLock(
      file: pair.alice.prefix + "_chat.db", .exclusive, creates: true, timeout: .seconds(1))
    let answer = notifier.push(wake, deadline: 30_000)
    XCTAssertEqual(answer["outcome"].text, "yielded", answer.description)
    XCTAssertEqual(answer["work"].text, "skipped", "INC-19: \(answer)")
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    withExtendedLifetime(lock) {}
  }

  /// The store's holder, such as an app that was frozen while it gave the store another key, may fetch nothing: the
  /// user gets a notice.
  func testAMessageWhoseStoreIsBusyHasANotice() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let prefix = station.alice.prefix
    let notifier = try XCTUnwrap(Host.open(prefix, isExtension: true).host)
    notifier.send("/_app suspend 0").assert("cmdOk")
    let lock = try OpeningLock(file: prefix + "_chat.db", .exclusive, creates: true, timeout: .seconds(1))
    let answer = notifier.push(push, deadline: 30_000)
    XCTAssertEqual(answer["outcome"].text, "yielded", answer.description)
    XCTAssertEqual(answer.identifiers, ["np:notice"], answer.description)
    XCTAssertFalse(answer.description.contains("bob"), answer.description)
    withExtendedLifetime(lock) {}
  }
}
