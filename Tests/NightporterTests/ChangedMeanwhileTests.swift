import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import Nightporter

/// Another process is changing a command's subject at this moment: the command decides by the result, not by what it
/// read before.
final class ChangedMeanwhileTests: XCTestCase {
  /// The other process commits when the command waits for it.
  private final class WaitingClock: Clock {
    private let waited = Mutex<(@Sendable () -> Void)?>(nil)

    func now() -> Moment { SystemClock().now() }
    func wall() -> WallTime { SystemClock().wall() }
    func pause(_ span: Span) {
      waited.withLock {
        $0?()
        $0 = nil
      }
      SystemClock().pause(span)
    }
    func onPause(_ action: @escaping @Sendable () -> Void) { waited.withLock { $0 = action } }
    var hasWaited: Bool { waited.withLock { $0 == nil } }
  }

  /// Used by one thread at a time.
  private struct OtherProcess: @unchecked Sendable {
    let database: Database

    init(_ host: Host) throws { database = try Database(path: host.prefix + "_chat.db") }

    func commit() { XCTAssertNoThrow(try database.execute("COMMIT")) }
  }

  private let clock = WaitingClock()
  /// Also holds the folder.
  private var pair: Pair?

  override func tearDown() { pair = nil }

  /// Alice has one message of bob's.
  private func meet() throws -> (pair: Pair, alice: Host, item: Int) {
    let pair = try Pair()
    self.pair = pair
    pair.send("hello", from: pair.bob)
    pair.alice.event("newChatItems")
    awaitRest(of: pair.alice)
    pair.alice.free()
    let configuration = Configuration(
      prefix: pair.alice.prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let alice = Host(try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), pair.alice.prefix)
    alice.send("/_start").assert("chatStarted")
    awaitRest(of: alice)
    let item = alice.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
    return (pair, alice, item)
  }

  /// The command's answer while another process commits `sql`.
  private func answer(
    to command: String, of host: Host, while sql: String, file: StaticString = #filePath, line: UInt = #line
  ) throws -> JSON {
    let other = try OtherProcess(host)
    defer { try? other.database.close() }
    try other.database.execute("BEGIN IMMEDIATE")
    try other.database.execute(sql)
    clock.onPause { other.commit() }
    let answer = host.send(command, arrives: false)
    XCTAssertTrue(clock.hasWaited, "the command has not waited: \(answer)", file: file, line: line)
    return answer
  }

  private func count(_ sql: String, _ host: Host) throws -> Int64 {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    return try database.integer(sql) ?? -1
  }

  private static let markDeleted = "UPDATE items SET deleted_at = 1, live = 0"

  func testAReactionToAMessageThatIsBeingDeletedIsRefused() throws {
    let (_, alice, item) = try meet()
    let react = #"/_reaction @1 \#(item) on {"type":"emoji","emoji":"👍"}"#
    let marked = try answer(to: react, of: alice, while: Self.markDeleted)
    XCTAssertTrue(marked["error"].exists, marked.description)
    let removed = try answer(to: react, of: alice, while: "DELETE FROM items")
    XCTAssertEqual(removed.errorTag, "chatItemNotFound", removed.description)
    XCTAssertEqual(try count("SELECT count(*) FROM reactions", alice), 0)
    XCTAssertEqual(try count("SELECT count(*) FROM outbox", alice), 0)
  }

  func testAMessageThatIsBeingDeletedIsNotQuoted() throws {
    let (_, alice, item) = try meet()
    let message = #"{"quotedItemId":\#(item),"msgContent":{"type":"text","text":"and you"},"mentions":{}}"#
    let answer = try answer(to: "/_send @1 json [\(message)]", of: alice, while: "DELETE FROM items")
    XCTAssertEqual(answer.errorTag, "chatItemNotFound", answer.description)
    XCTAssertEqual(try count("SELECT count(*) FROM items", alice), 0)
    XCTAssertEqual(try count("SELECT count(*) FROM outbox", alice), 0)
  }

  /// Its author has deleted it, and it stays in the chat, marked: its text is not sent out again.
  func testAMessageThatIsBeingMarkedAsDeletedIsNotQuoted() throws {
    let (_, alice, item) = try meet()
    let message = #"{"quotedItemId":\#(item),"msgContent":{"type":"text","text":"and you"},"mentions":{}}"#
    let answer = try answer(to: "/_send @1 json [\(message)]", of: alice, while: Self.markDeleted)
    XCTAssertEqual(answer.errorTag, "invalidQuote", answer.description)
    XCTAssertEqual(try count("SELECT count(*) FROM items", alice), 1)
    XCTAssertEqual(try count("SELECT count(*) FROM outbox", alice), 0)
  }

  func testAnEditAndADeletionForBothOfAMessageThatIsBeingDeletedAreRefused() throws {
    let (pair, alice, _) = try meet()
    let own = alice.send("/_send @1 text mine", arrives: false)["result"]["chatItems"][0]["chatItem"]["meta"]["itemId"]
      .number
    try awaitQuiet([alice, pair.bob], relay: pair.folder.file("relay.db"))
    let edit = #"/_update item @1 \#(own) json {"msgContent":{"type":"text","text":"ours"},"mentions":{}}"#
    for (command, error) in [
      (edit, "invalidChatItemUpdate"), ("/_delete item @1 \(own) broadcast", "invalidChatItemDelete"),
    ] {
      let refused = try answer(to: command, of: alice, while: Self.markDeleted)
      XCTAssertEqual(refused.errorTag, error, refused.description)
      let other = try OtherProcess(alice)
      try other.database.execute("UPDATE items SET deleted_at = NULL")
      try other.database.close()
    }
    XCTAssertEqual(try count("SELECT count(*) FROM outbox", alice), 0)
    XCTAssertEqual(pair.texts(pair.bob), ["hello", "mine"])
  }
}
