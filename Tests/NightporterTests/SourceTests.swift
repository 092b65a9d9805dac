import Foundation
import PorterCrypto
import PorterInbox
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore
import XCTest

@testable import PorterEngine

/// A push whose messages come from a source other than mailboxes: claims, the fenced transaction, the ledger,
/// presentation, the deadline and releasing belong to the engine, and apply to it as well.
final class SourceTests: XCTestCase {
  private let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
  private let inbox = Inbox()
  private var pair: Pair?

  override func setUpWithError() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 5000000").assert("cmdOk")
    pair.alice.event("chatSuspended")
    self.pair = pair
  }

  override func tearDown() { pair = nil }

  private func makeExtension() throws -> Controller {
    let configuration = Configuration(
      prefix: try XCTUnwrap(pair).alice.prefix, role: .extension, confirmation: .error
    ).receiving(from: inbox)
    let (result, controller) = Controller.open(configuration)
    return try XCTUnwrap(controller, "\(result)")
  }

  /// The answer of an extension started for this push alone; it always ends quiescent.
  private func present(
    _ push: String? = nil, deadline: Span = .seconds(5), file: StaticString = #filePath, line: UInt = #line
  ) throws -> JSON {
    let service = try makeExtension()
    defer { service.stop() }
    let answer = JSON(service.receivePush(push ?? wake, deadline: deadline))
    XCTAssertTrue(answer["quiescent"].flag, answer.description, file: file, line: line)
    return answer
  }

  private func hint(_ identifier: String) throws -> String {
    let nonce = try XCTUnwrap(BoxNonce(bytes: [UInt8](repeating: 7, count: 24)))
    // Long enough to pass for a sealed one.
    return try PushPayload.message(nonce: nonce, ciphertext: Array(identifier.utf8)).encoded().text
  }

  private func store() throws -> Database {
    try Database(path: try XCTUnwrap(pair).folder.file("alice_chat.db"))
  }

  func testWhatWaitsIsShownInOrderAndAcknowledged() throws {
    inbox.put("first", "one")
    inbox.put("second", "two")
    let answer = try present()
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.bodies, ["one", "two"])
    XCTAssertEqual(answer["badge"].number, 2)
    XCTAssertEqual(inbox.acknowledged, ["first", "second"])
    let pair = try XCTUnwrap(pair)
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(pair.texts(pair.alice), ["one", "two"])
  }

  func testINC34ARepeatedPushIsNothingNew() throws {
    let push = try hint("an identifier that is long enough")
    inbox.put("an identifier that is long enough", "hello")
    XCTAssertEqual(try present(push).bodies, ["hello"])
    let second = try present(push)
    XCTAssertEqual(second["outcome"].text, "nothingNew", second.description)
    XCTAssertEqual(second.bodies, [])
    XCTAssertEqual(second["badge"].number, 1)
  }

  /// INC-34: the source delivers the message again because its acknowledgement was lost.
  func testINC34AMessageThatComesAgainIsNotShownAgain() throws {
    inbox.put("first", "hello")
    inbox.set(.losesAcknowledgements)
    XCTAssertEqual(try present().bodies, ["hello"])
    XCTAssertEqual(inbox.waiting, ["first"])
    inbox.set(.answers)
    let second = try present()
    XCTAssertEqual(second["outcome"].text, "nothingNew", second.description)
    XCTAssertEqual(inbox.waiting, [])
    XCTAssertEqual(try store().integer("SELECT count(*) FROM items"), 1)
  }

  /// INC-31: a source that does not answer costs the push its time, and nothing else.
  func testINC31ASourceThatNeverAnswersExpires() throws {
    inbox.put("first", "hello")
    inbox.set(.neverAnswers)
    var answer = JSON("")
    // On a busy machine the engine may miss the 100 ms that it has at the end.
    for turn in 0..<5 where turn == 0 || answer.isLate {
      let service = try makeExtension()
      defer { service.stop() }
      answer = JSON(service.receivePush(wake, deadline: .milliseconds(600)))
      awaitThat("the push has ended") { JSON(service.state())["quiescent"].flag }
    }
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    XCTAssertEqual(inbox.waiting, ["first"])
    inbox.set(.answers)
    XCTAssertEqual(try present().bodies, ["hello"])
  }

  func testASourceThatCannotBeReachedIsOffline() throws {
    inbox.put("first", "hello")
    inbox.set(.isUnreachable)
    XCTAssertEqual(try present()["outcome"].text, "offline")
    inbox.set(.answers)
    XCTAssertEqual(try present().bodies, ["hello"])
  }

  /// INC-04: another process claims the connection while the source is being asked. A message fetched under the old
  /// epoch is not committed.
  func testINC04AStaleClaimCommitsNothing() throws {
    inbox.put("first", "hello")
    let other = try store()
    let path = other.path
    inbox.beforeNextAnswer {
      let changed = try? Database(path: path).run("UPDATE connections SET epoch = epoch + 1")
      XCTAssertEqual(changed, 1)
    }
    let answer = try present()
    XCTAssertEqual(answer["outcome"].text, "yielded", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertEqual(inbox.waiting, ["first"])
    XCTAssertEqual(try other.integer("SELECT count(*) FROM ledger WHERE message_id = CAST('first' AS BLOB)"), 0)
    XCTAssertEqual(try present().bodies, ["hello"])
  }

  /// Another process has the connection. If the message has not arrived by the end of the push, there is a placeholder,
  /// which the message replaces; if it has, the other process shows it.
  func testAConnectionOfAnotherProcessHasAPlaceholderUnlessItsMessageCame() throws {
    let identifier = "an identifier that is long enough"
    let push = try hint(identifier)
    inbox.put(identifier, "hello")
    let other = try store()
    let path = other.path
    inbox.beforeNextAnswer { _ = try? Database(path: path).run("UPDATE connections SET epoch = epoch + 1") }
    let early = try present(push)
    XCTAssertEqual(early["outcome"].text, "yielded", early.description)
    XCTAssertEqual(early.placeholders, ["message received"])
    let late = try present(push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late.identifiers, early.identifiers)

    inbox.put("another one that is long enough", "more")
    inbox.beforeNextAnswer { [inbox] in
      let changed = try? Database(path: path).run(
        """
        INSERT INTO ledger (connection_id, message_id, message_at, state, kind, created_at)
        VALUES (1, CAST('another one that is long enough' AS BLOB), 0, 'presented', 'message', 0);
        """)
      XCTAssertEqual(changed, 1)
      _ = try? Database(path: path).run("UPDATE connections SET epoch = epoch + 1")
      inbox.set(.isUnreachable)
    }
    let silent = try present(try hint("another one that is long enough"))
    XCTAssertEqual(silent.titles, [], "it came, and is shown already: \(silent)")
  }

  /// INC-41: it is kept with its reason, and its neighbours are shown.
  func testINC41AMessageThatDoesNotOpenIsQuarantined() throws {
    inbox.put("first", "")
    inbox.put("second", "hello")
    XCTAssertEqual(try present().bodies, ["hello"])
    XCTAssertEqual(
      try store().integer("SELECT count(*) FROM ledger WHERE state = 'quarantined' AND reason = 'not a text'"), 1)
    XCTAssertEqual(inbox.waiting, [])
  }

  /// The store fails in the middle of the transaction: nothing of the message is left, and it is shown later.
  func testAFailedCommitLeavesTheMessageAtItsSource() throws {
    inbox.put("first", "hello")
    let other = try store()
    try other.execute(
      """
      CREATE TRIGGER fails BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'no entry'); END
      """)
    let answer = try present()
    XCTAssertEqual(answer["outcome"].text, "failed", answer.description)
    XCTAssertEqual(try other.integer("SELECT count(*) FROM items"), 0)
    XCTAssertEqual(inbox.waiting, ["first"])
    try other.execute("DROP TRIGGER fails")
    XCTAssertEqual(try present().bodies, ["hello"])
  }
}
